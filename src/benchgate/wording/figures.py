"""What a comparison found, as rows: harm, score and test. They repeat its figures, and compute none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from benchgate.aggregate import axis_means
from benchgate.errors import counted, listed
from benchgate.gates.claim_reasons import penalties_of, risen
from benchgate.sentences.formats import confidence
from benchgate.wording.lines import Line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from benchgate.gates.figures import Figures, Significance
    from benchgate.gates.policy import GatePolicy
    from benchgate.models import BenchRunReport
    from benchgate.wording.lines import Tone

TESTS: Final = {"pass_fail": "pass and fail", "boschloo": "Boschloo"}
"""Tests whose name is no word that people use."""

UNIT: Final = "(mean of cases, 0 is none)"
"""What a figure of harm is."""

MOST_PARTS: Final = 4
"""Parts of a score that are shown unless all are asked for."""

MOST_DIGITS: Final = 8
"""Of a p that is all but the level."""

Changed = tuple[str, float, float]
"""A case with its harm before and now."""


class Part(NamedTuple):
    """A part of the score, with its mean in the baseline, ``None`` if that is not known, and now."""

    name: str
    before: float | None
    now: float

    @property
    def change(self) -> float:
        """What the mean gained, as far as that is known."""
        if self.before is None:
            return 0.0
        return self.now - self.before

    @property
    def text(self) -> str:
        """What a line says of it."""
        name = listed(self.name)
        if self.before is None:
            return f"{name} {self.now:.3f}"
        return f"{name} {self.before:.3f} -> {self.now:.3f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Harm:
    """
    How much harm both sides do.

    :param means: of both sides; nothing if a reason has them.
    :param counts: in how many cases there is more and less, ``cases`` in which.
    """

    means: tuple[Line, ...] = ()
    counts: tuple[Line, ...] = ()
    cases: tuple[Line, ...] = ()

    @classmethod
    def of(
        cls,
        figures: Figures | None,
        policy: GatePolicy | None,
        tails: Mapping[str, str],
        codes: AbstractSet[str],
        *,
        is_promoted: bool,
    ) -> Harm:
        """
        Return it, with the cases in which it rose if that speaks against the candidate, or the mean hides it.

        :param tails: how each case failed.
        :param codes: of the reasons, which may say that harm rose, or that it was not measured.
        """
        if figures is None or policy is None:
            return cls()
        if figures.safety.delta is None:
            if "safety_missing" in codes:
                return cls()
            return cls(means=(Line("harm", "not measured", "caution"),))
        before = penalties_of(figures.baseline)
        after = penalties_of(figures.candidate)
        more = risen(before, after)
        # Harm that rises from now to before fell.
        less = [(case_id, was, now) for case_id, now, was in risen(after, before)]
        if "safety_regression" in codes:
            rows = [*_harm_rows("  more", more, more, "bad", tails)]
            return cls(counts=_harm_counts(more, less, "bad"), cases=tuple(rows))
        means = (_harm_means(figures, policy),)
        if not is_promoted or not more:
            return cls(means=means)
        rows = [
            *_harm_rows("  more", more, more + less, "caution", {}),
            *_harm_rows("  less", less, more + less, "good", {}),
        ]
        return cls(means=means, counts=_harm_counts(more, less, "caution"), cases=tuple(rows))


def _harm_means(figures: Figures, policy: GatePolicy) -> Line:
    safety = figures.safety
    rise = "no rise"
    if safety.delta is not None and safety.delta >= 0.0005:
        rise = f"{safety.delta:+.3f}"
    means = f"{safety.baseline_mean:.3f} -> {safety.candidate_mean:.3f}"
    return Line("harm", f"{means}   {rise}; {_allowed(policy)} {UNIT}")


def _harm_counts(more: list[Changed], less: list[Changed], tone: Tone) -> tuple[Line, ...]:
    if not more:
        return ()
    text = f"more in {counted(len(more), 'case')}"
    if less:
        text += f", less in {len(less)}"
    return (Line("harm", text, tone),)


def _allowed(policy: GatePolicy) -> str:
    if policy.claim == "no_regression":
        return "no case may rise"
    return f"{policy.max_safety_regression:.3f} is allowed"


def _harm_rows(
    label: str, cases: list[Changed], beside: list[Changed], tone: Tone, tails: Mapping[str, str]
) -> Iterator[Line]:
    """Yield a row for each case, as wide as ``beside`` needs."""
    width = max((len(listed(case_id)) for case_id, *_ in beside), default=0)
    for case_id, was, now in cases:
        text = f"{listed(case_id):{width}}  harm {was:.3g} -> {now:.3g}"
        yield Line(label, text, tone, tail=tails.get(case_id, ""))


def only_score(report: BenchRunReport | None) -> Iterator[Line]:
    """Yield the mean score of a complete run that was compared with nothing."""
    if report is not None and report.complete:
        yield Line("score", f"{report.mean_score:.3f}")


def score(
    figures: Figures | None, policy: GatePolicy | None, report: BenchRunReport | None
) -> Iterator[Line]:
    """Yield both mean scores and the difference; without a comparison the score alone."""
    if figures is None:
        yield from only_score(report)
        return
    tests = figures.significance
    if tests.mean_delta is None:
        return
    text = f"{tests.mean_delta:+.3f}{_between(figures, policy)}"
    before = tests.baseline_mean_reward
    after = tests.trained_mean_reward
    if before is not None and after is not None:
        text = f"{before:.3f} -> {after:.3f}   {text}"
    yield Line("score", text)


def _between(figures: Figures, policy: GatePolicy | None) -> str:
    """Return where the true difference is."""
    tests = figures.significance
    if tests.test == "none":
        return f", on exactly these {counted(figures.compared, 'case')}"
    if tests.delta_ci_low is not None and tests.delta_ci_high is not None:
        level = confidence(tests.alpha)
        return f", between {tests.delta_ci_low:+.3f} and {tests.delta_ci_high:+.3f} ({level})"
    if policy is not None and policy.score_range is None:
        return ", no interval: give score_range"
    return ", interval unknown"


def parts_of(
    report: BenchRunReport | None, before: BenchRunReport | None = None
) -> tuple[Part, ...]:
    """
    Return the mean of each part of the score, in the baseline and now; nothing of a score without parts.

    :param before: the baseline's run; ``None`` if there is none, or nobody has it.
    """
    if report is None or not report.complete:
        return ()
    now = axis_means(report.per_case)
    was: Mapping[str, float] = {}
    if before is not None and before.digests.scorer == report.digests.scorer:
        was = axis_means(before.per_case)
    if len(now) < 2:
        return ()
    return tuple(Part(name, was.get(name), mean) for name, mean in now.items())


def part_lines(parts: Sequence[Part], most: int | None) -> Iterator[Line]:
    """Yield how the parts of the score changed, the largest change first; ``most`` is ``None`` for all."""
    if not parts:
        return
    ordered = sorted(parts, key=lambda part: -abs(part.change))
    shown = [part.text for part in ordered[:most]]
    if len(shown) < len(ordered):
        shown.append(f"... {len(ordered) - len(shown)} more")
    yield Line("parts", ", ".join(shown))


def test(figures: Figures | None, policy: GatePolicy | None, notes: list[Line]) -> Iterator[Line]:
    """Yield what the test found; of a promotion also what it may have overlooked."""
    if figures is None:
        return
    tests = figures.significance
    if tests.test == "none" or tests.mean_delta is None:
        return
    size = counted(figures.compared, "case")
    if tests.clusters is not None:
        size += f" in {counted(tests.clusters, 'cluster')} of like cases"
    name = TESTS.get(tests.test, tests.test)
    row = Line("test", f"{name}, {_found(tests, policy)}, {size}")
    for note in notes:
        row = replace(row, text=f"{row.text}; {note.text}", code=note.code)
    yield row


def _found(tests: Significance, policy: GatePolicy | None) -> str:
    if tests.p_value is None and tests.exact_lower_bound is not None:
        return "the exact bound decides (the lowest plausible gain)"
    against = ""
    if policy is not None and policy.margin and tests.p_value is not None:
        against = f" against a loss of {policy.margin:g}"
    elif policy is not None and policy.min_delta:
        against = f" for a gain above {policy.min_delta:g}"
    return f"{p_value(tests.p_value, tests.alpha)}{against} (needed {tests.alpha:.3g})"


def p_value(p: float | None, level: float) -> str:
    """Return a p-value for people, with so many digits that it is on the side of the level where it is."""
    if p is None:
        return "no p"
    if p < 0.0001:
        return "p < 0.0001"
    digits = 4
    if p >= 0.01:
        digits = 3
    while digits < MOST_DIGITS and (round(p, digits) <= level) != (p <= level):
        digits += 1
    return f"p {p:.{digits}f}"
