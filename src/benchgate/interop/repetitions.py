"""
Whether the tests of a log may be repetitions of others: who has five of a test has one observation and not five.

No name tells. ``test_sum[2-5]`` is the second of five of pytest-repeat, or page 2 of 5 of a parametrised test. Folding
tests that are cases hides one that newly fails, and counting repetitions as cases promotes by luck. So nothing is
folded by guess: a person says what it is.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from benchgate.errors import SampleError, counted
from benchgate.interop.roles import NONE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

ENDING: Final = re.compile(r"[\[-]\d+-(\d{1,6})\]$")
"""How a name of pytest-repeat ends: number and count."""


class Reading(NamedTuple):
    """Expressions that find the number of a repetition in a name, and in their groups the name without it."""

    trial: str
    case: str


class Repeated(NamedTuple):
    """Tests that may be repetitions: how they are read then, an example, and how many cases of how many trials."""

    reading: Reading
    example: str
    cases: int
    trials: int


class Typed(NamedTuple):
    """
    A map as somebody typed it.

    :param source: ``--map``, or the file that it is in. :param case: the field of the case.
    """

    fields: Mapping[str, str]
    source: str
    case: str

    def shown(self, more: Mapping[str, str]) -> str:
        """Return it with more in it, as it is typed; none of these expressions has a quote."""
        every = {**self.fields, **more}
        if self.source == "--map":
            return f"--map '{','.join(f'{role}={field}' for role, field in every.items())}'"
        texts = (f"{role} = '{field}'" for role, field in every.items())
        return f"in {self.source}: {' and '.join(texts)}"


class TwoReadings(SampleError):
    """A log whose tests are repetitions or cases, and nobody can tell."""

    _keep = "\n"


def repeat_of(count: int) -> Reading:
    """Return how names of pytest-repeat are read: ``x[2-5]``, and ``x[a-2-5]`` of a test with parameters."""
    return Reading(
        trial=rf"[\[-](\d+)-{count}\]$", case=rf"^(.*)(?:\[\d+-{count}\]|-\d+-{count}(\]))$"
    )


FLAKEFINDER: Final = Reading(
    trial=r"\[(\d+)(?:-[^\[]*)?\]$", case=r"^(.*)(?:\[\d+\]|(\[)\d+-([^\[]*\]))$"
)
"""How names of pytest-flakefinder are read: ``x[0]``, and ``x[0-a]`` of a test with parameters."""


def may_be_repeated(names: Iterable[str]) -> Repeated | None:
    """
    Return which tests may be repetitions; ``None`` if there are none, or if their counts differ.

    Of pytest-repeat, some tests may be marked; pytest-flakefinder repeats all, and of a single test with numbers, which
    is how most people write their cases, nobody needs to be asked.
    """
    every = sorted({*names})
    by_count: dict[int, list[str]] = defaultdict(list)
    for name in every:
        match = ENDING.search(name)
        if match is not None:
            by_count[int(match[1])].append(name)
    found = []
    for count, ending in by_count.items():
        reading = repeat_of(count)
        whole = _whole(reading, ending, range(1, count + 1))
        if whole and count > 1:
            found.append(Repeated(reading, min(whole.values())[0], len(whole), count))
    if found:
        return found[0] if len(found) == 1 else None
    folded = _folded(FLAKEFINDER, every)
    count = max(map(len, folded.values()), default=0)
    whole = _whole(FLAKEFINDER, every, range(count))
    if count < 2 or len(whole) < 2 or sum(map(len, whole.values())) < len(every):
        return None
    return Repeated(FLAKEFINDER, every[0], len(whole), count)


def _folded(reading: Reading, names: Sequence[str]) -> dict[str, list[str]]:
    """Return the names that a reading knows, by the name without its number."""
    folded: dict[str, list[str]] = defaultdict(list)
    for name in names:
        match = re.search(reading.case, name)
        if match is not None:
            folded["".join(part or "" for part in match.groups())].append(name)
    return folded


def _whole(reading: Reading, names: Sequence[str], numbers: range) -> dict[str, list[str]]:
    """Return those of :func:`_folded` that have each of the numbers once."""
    return {
        case: of_case
        for case, of_case in _folded(reading, names).items()
        if len(of_case) == len(numbers) and _numbers(reading, of_case) == {*numbers}
    }


def _numbers(reading: Reading, names: Sequence[str]) -> set[int]:
    found = (re.search(reading.trial, name) for name in names)
    return {int(match[1]) for match in found if match}


def ask(path: Path, typed: Typed, names: Sequence[str]) -> None:
    """
    Refuse a log whose tests may be repetitions.

    :param names: of all tests, those without a result too.
    :raises TwoReadings: it has some; the message has both readings, to be typed.
    """
    found = may_be_repeated(names)
    if found is None:
        return
    others = len({*names}) - found.cases * found.trials
    folds = {
        "trial": f"{typed.case}~{found.reading.trial}",
        "case": f"{typed.case}~{found.reading.case}",
    }
    plain = ""
    if others:
        plain = f", and {others} that are there once"
    count = found.cases * found.trials
    what = f"{count} tests have names such as {found.example!r}"
    why = (
        f"{what}: repetitions of a test, or cases of their own? No name tells; say which, by one of"
    )
    as_trials = f"{counted(found.cases, 'case')} of {found.trials} trials{plain}"
    as_cases = counted(len({*names}), "case")
    lines = (
        why,
        f"  {typed.shown(folds)}   {as_trials}",
        f"  {typed.shown({'trial': NONE})}   {as_cases}",
    )
    raise TwoReadings(path, "\n".join(lines))
