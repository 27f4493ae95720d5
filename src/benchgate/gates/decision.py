"""What the gate decides, and its reason codes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, Self

from pydantic import Field

from benchgate.gates.looks import JudgedLook
from benchgate.sentences.says import Says, joined
from benchgate.wire.model import DisplayText, Number, WireModel

if TYPE_CHECKING:
    from collections.abc import Iterable

PREFIX: Final = "checkpoint_promotion_blocked_"
Outcome = Literal["promote", "hold", "reject"]
Blocker = tuple[str, Says]
"""A code without its prefix, and a sentence with the numbers of this run."""


class Remark(WireModel):
    """
    A reason or a note.

    :param message: as the version that decided worded it, for those who read the file.
    :param says: the same as data; two sides, or two checks, may have one code.
    """

    code: DisplayText
    message: DisplayText
    says: tuple[Says, ...]

    @classmethod
    def of(cls, code: str, sentences: Iterable[Says]) -> Self:
        """Return what is said of a code."""
        every = tuple(sentences)
        return cls(code=code, message=joined(every), says=every)

    @property
    def text(self) -> str:
        """The sentence for people, as this version words it."""
        return _worded(self.says, self.message)


def _worded(said: tuple[Says, ...], written: str) -> str:
    """Return what sentences say; if this version lacks one of them, what the version that decided has written."""
    if said and all(one.is_known for one in said):
        return joined(said)
    return written


def by_code(blockers: Iterable[Blocker]) -> dict[str, list[Says]]:
    """Return what is said of each code: two sides, or two checks, may have the same one."""
    said: dict[str, list[Says]] = {}
    for code, sentence in blockers:
        said.setdefault(code, []).append(sentence)
    return said


class Objection(WireModel):
    """What a further gate says against a run."""

    gate: DisplayText
    text: DisplayText


class CheckpointPromotionDecision(WireModel):
    """
    The decision of the gate.

    :param outcome: ``promote``; ``reject`` if there is evidence against the candidate; else ``hold``.
    :param promotion_allowed: the outcome is ``promote``; a person may promote, nothing does it by itself.
    :param reason_codes: every failed condition, in fixed order; empty iff ``promote``.
    :param notes: codes of what a reader of the decision should know; they never block.
    :param remarks: a sentence for each reason, then for each note.
    :param minimum_detectable_effect: the difference that a comparison of this size would have detected.
    :param next_step: for a ``hold``, what to do first; for a rejection that may be chance, how to find out.
    :param step: the same as data; empty if there is nothing to do.
    :param look: how often the baseline was looked at; ``None`` if looks are not counted, or this is none.
    :param certificate: of a run that stopped early, why no result of the rest could have promoted it.
    """

    outcome: Outcome
    promotion_allowed: bool
    reason_codes: tuple[str, ...]
    notes: tuple[str, ...]
    remarks: tuple[Remark, ...]
    minimum_detectable_effect: Number | None
    next_step: DisplayText | None = None
    step: tuple[Says, ...] = ()
    look: JudgedLook | None = None
    certificate: tuple[Remark, ...] = Field(default=(), exclude_if=lambda found: not found)

    @property
    def advice(self) -> str:
        """The next step for people, as this version words it; empty if there is nothing to do."""
        return _worded(self.step, self.next_step or "")
