"""What two logs answered to the same question, side by side, with the words in which they differ."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final, NamedTuple

from benchgate.errors import EvalError
from benchgate.models.texts import LogTexts, Said
from benchgate.report.outputs import MAX_CHARACTERS, MAX_SHOWN, difference

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from benchgate.models.texts import ReadTexts

MOST_WORDS: Final = 1500
"""Words of an answer that are compared: comparing takes the square of their number."""

ALIKE: Final = 0.3
"""Answers that share less than this are two texts: nothing in them is marked."""

WORDS: Final = re.compile(r"\s+|\w+|[^\w\s]")
OF_TESTS: Final = "failure"
"""The field that readers of tests put what a failure says into; a test has no question."""

NOTHING: Final = LogTexts({})
ELSEWHERE: Final = (
    "Questions and answers are in the logs: benchgate gate A B --html=page.html shows them."
)


class Piece(NamedTuple):
    """A part of an answer, and whether the other answer has something else there."""

    text: str
    is_changed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswersView:
    """
    What is shown of a case.

    :param before: the answer of the baseline in pieces, empty if it has none; ``after`` that of the candidate.
    :param field: that has the answers.
    :param is_same: both are the same text.
    :param difference: lines of a unified diff, of answers with several lines; ``note`` is what is left out of it.
    """

    question: str | None
    before: Sequence[Piece]
    after: Sequence[Piece]
    field: str
    is_same: bool
    difference: Sequence[str] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Answers:
    """
    The questions and answers of the cases that a page shows.

    :param note: what a reader has to know of them as a whole.
    """

    before: LogTexts = NOTHING
    after: LogTexts = NOTHING
    note: str = ""

    @classmethod
    def read(cls, read: ReadTexts, case_ids: AbstractSet[str]) -> Answers:
        """Read those of some cases; a log that cannot be read any more leaves a note."""
        try:
            before, after = read(case_ids)
        except EvalError as error:
            return cls(note=f"Questions and answers are not shown: {error}")
        note = _note(before, after)
        if len(case_ids) == MAX_SHOWN:
            note += f" They are shown of the first {MAX_SHOWN} cases."
        return cls(before, after, note)

    def of(self, case_id: str, trial: int) -> AnswersView | None:
        """Return what is shown of a case; ``None`` if the logs have no text of it."""
        was = _of_trial(self.before, case_id, trial)
        now = _of_trial(self.after, case_id, trial)
        question = now.question or was.question
        if question is None and was.answer is None and now.answer is None:
            return None
        if question is not None:
            question = _shortened(question)
        old = _shortened(was.answer or "")
        new = _shortened(now.answer or "")
        is_same = was.answer == now.answer
        lines: Sequence[str] = ()
        note = ""
        if not is_same and "\n" in old and "\n" in new:
            lines, note = difference(old, new)
        before, after = _marked(old, new)
        return AnswersView(
            question=question,
            before=before,
            after=after,
            field=_named(self.before.answer, self.after.answer) or "answer",
            is_same=is_same,
            difference=lines,
            note=note,
        )


def _of_trial(side: LogTexts, case_id: str, trial: int) -> Said:
    trials = side.trials.get(case_id, ())
    if not trials:
        return Said()
    if trial >= len(trials):
        return trials[0]  # a side with fewer trials has none of this number
    return trials[trial]


def _note(before: LogTexts, after: LogTexts) -> str:
    """Return which fields are shown, and how to show what nobody named a field for."""
    question = _named(before.question, after.question)
    answer = _named(before.answer, after.answer)
    if answer == OF_TESTS and not question:
        return "Of a test its failure is shown."
    if question and answer:
        return f"The question is the field {question} of the logs, the answer {answer}."
    if answer:
        return (
            f"The answer is the field {answer} of the logs; --map input=FIELD shows the question."
        )
    if question:
        text = f"The question is the field {question} of the logs"
        return f"{text}; --map answer=FIELD shows the answers beside each other."
    return "--map input=FIELD,answer=FIELD shows the question and both answers of a case."


def _named(before: str, after: str) -> str:
    return " and ".join(dict.fromkeys(filter(None, (before, after))))


def _shortened(text: str) -> str:
    more = len(text) - MAX_CHARACTERS
    if more <= 0:
        return text
    return f"{text[:MAX_CHARACTERS]}\n... {more} characters more in the log"


def _marked(old: str, new: str) -> tuple[list[Piece], list[Piece]]:
    """Return two texts in pieces, the words marked that the other one does not have there."""
    old_words = WORDS.findall(old)
    new_words = WORDS.findall(new)
    if not old or not new or max(len(old_words), len(new_words)) > MOST_WORDS:
        return _whole(old), _whole(new)
    matcher = SequenceMatcher(None, old_words, new_words, autojunk=False)
    blocks = matcher.get_matching_blocks()
    shared = sum(_count(old_words[start : start + size]) for start, _, size in blocks)
    if 2 * shared < ALIKE * (_count(old_words) + _count(new_words)):
        return _whole(old), _whole(new)
    before: list[Piece] = []
    after: list[Piece] = []
    for kind, start, end, other_start, other_end in matcher.get_opcodes():
        is_changed = kind != "equal"
        if end > start:
            before.append(Piece("".join(old_words[start:end]), is_changed))
        if other_end > other_start:
            after.append(Piece("".join(new_words[other_start:other_end]), is_changed))
    return before, after


def _whole(text: str) -> list[Piece]:
    """Return a text as one piece; nothing of an empty one."""
    if not text:
        return []
    return [Piece(text)]


def _count(words: Sequence[str]) -> int:
    """Return how many words are no blanks, which all texts share."""
    return sum(not word.isspace() for word in words)
