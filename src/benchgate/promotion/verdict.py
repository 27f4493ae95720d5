"""
What would raise the trust in a task class: a run, held against a tier.

Read-only. A gate evaluates evidence and gives a verdict; the file of tiers is edited by people, and by nothing here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final, Literal, NoReturn

from pydantic import BeforeValidator, ValidationError

from benchgate.errors import PromotionGateError, PromotionMustBeHumanAuthorized
from benchgate.promotion.tiers import TIER_FILE, TIERS, Tier, TierConfig
from benchgate.registry import MIN_CASES, min_cases_fault
from benchgate.wire.model import Count, Sha256, UnitInterval, WireModel

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchgate.models import BenchRunReport

__all__ = [
    "PromotionGate",
    "PromotionVerdict",
    "TierBar",
    "TierConfig",
    "best_bound",
    "judge_tier",
    "promotion_lines",
]

# A bare Literal[True] takes 1 for True.
Approval = Annotated[
    Literal[True], BeforeValidator(lambda value: value if isinstance(value, bool) else None)
]
Recommendation = Literal["promote", "hold", "keep", "demote"]
ALL_MET: Final = ("all conditions met",)


class TierBar(WireModel):
    """
    What a tier asks of a run of one class.

    :param score_lower_bound_95: the run's lower bound must not be below it.
    :param passed_count: cases that must have passed.
    :param bronze_count: passed cases that the class asks for bronze; with fewer than ten it is a small bench, and
        nothing raises it above bronze.
    """

    score_lower_bound_95: UnitInterval
    passed_count: Count
    bronze_count: Count


class PromotionVerdict(WireModel):
    """
    Whether a run is evidence enough for a tier. It changes nothing: a person promotes.

    :param recommendation: for a higher tier ``promote`` or ``hold``; for the current one ``keep`` or ``demote``, but
        below bronze there is nothing: ``hold``.
    :param bar: what was asked, so that the verdict can be drawn again from the run alone.
    :param reasons: every failed condition with both numbers, in fixed order; else ``all conditions met``.
    """

    task_class: str
    run_id: Sha256
    current_tier: Tier
    target_tier: Tier
    sufficient: bool
    recommendation: Recommendation
    bar: TierBar
    chain_intact: bool
    reasons: tuple[str, ...]
    requires_human_approval: Approval = True


@dataclass(frozen=True, slots=True)
class PromotionGate:
    """Judges runs by the tiers of a project."""

    tiers: TierConfig

    def evaluate(
        self,
        task_class: str,
        current_tier: Tier,
        report: BenchRunReport,
        *,
        target_tier: Tier,
        min_cases: Mapping[str, int],
        chain_intact: bool,
    ) -> PromotionVerdict:
        """
        Judge whether a run is evidence enough for a tier; pure.

        With the current tier as target it judges whether the class still deserves it.

        :param min_cases: passed cases that each tier asks of this class, see :func:`~benchgate.register_task_class`.
        :param chain_intact: the run's record stands in a chain of records that holds.
        :raises PromotionGateError: an unknown tier, one below the current tier, or a report of another class.
        """
        for tier in (current_tier, target_tier):
            if tier not in TIERS:
                raise PromotionGateError(f"{tier!r} is no tier; known: {', '.join(TIERS)}")
        if report.task_class != task_class:
            raise PromotionGateError(
                f"the report is of task class {report.task_class!r}, not {task_class!r}"
            )
        asked = {**MIN_CASES, **min_cases}
        wrong = next(filter(None, (min_cases_fault(*item) for item in asked.items())), None)
        if wrong is not None:
            raise PromotionGateError(f"{task_class}: min_cases {wrong}")
        try:
            report = type(report).model_validate(report)
        except ValidationError as error:
            raise PromotionGateError(f"{task_class}: the report does not hold: {error}") from error
        bar = TierBar(
            score_lower_bound_95=self.tiers.threshold(target_tier),
            passed_count=asked[target_tier],
            bronze_count=asked["bronze"],
        )
        return judge_tier(report, current_tier, target_tier, bar, chain_intact=chain_intact)

    def apply(self, verdict: PromotionVerdict) -> NoReturn:
        """
        Refuse to promote.

        :raises PromotionMustBeHumanAuthorized: always; says how a person promotes.
        """
        raise PromotionMustBeHumanAuthorized(
            verdict.task_class, verdict.target_tier, TIER_FILE, promotion_lines(verdict)
        )


def judge_tier(
    report: BenchRunReport, current: Tier, target: Tier, bar: TierBar, *, chain_intact: bool
) -> PromotionVerdict:
    """
    Hold a run against a bar.

    :raises PromotionGateError: the target is below the current tier.
    """
    steps = TIERS.index(target) - TIERS.index(current)
    if steps < 0:
        raise PromotionGateError(
            f"{report.task_class} is {current}, above {target}; whether it should be demoted is asked with "
            f"{current} as the target"
        )
    failed = tuple(_failed(report, target, bar, chain_intact=chain_intact))
    wanted: Recommendation = "promote" if steps else "keep"
    unwanted: Recommendation = "hold" if steps or target == "bronze" else "demote"
    return PromotionVerdict(
        task_class=report.task_class,
        run_id=report.run_id,
        current_tier=current,
        target_tier=target,
        sufficient=not failed,
        recommendation=unwanted if failed else wanted,
        bar=bar,
        chain_intact=chain_intact,
        reasons=failed or ALL_MET,
    )


def _failed(
    report: BenchRunReport, target: Tier, bar: TierBar, *, chain_intact: bool
) -> Iterator[str]:
    if report.scope != "full":
        yield f"scope is {report.scope}; a full run is asked for"
    if not report.complete:
        yield "the run is incomplete"
    if bar.bronze_count < MIN_CASES["bronze"] and target != "bronze":
        asked = f"it asks for {bar.bronze_count} cases, not {MIN_CASES['bronze']}"
        yield f"a small bench stays at bronze: {asked}"
    yield from _score_failed(report, target, bar)
    if report.block_severity_failure_modes:
        codes = ", ".join(report.block_severity_failure_modes)
        yield f"failure modes of severity block: {codes}; none is allowed"
    held = report.held_out
    if held is not None and not held.mean_score >= bar.score_lower_bound_95:
        shown = _below(held.mean_score, bar.score_lower_bound_95)
        yield f"mean of the held-out cases (n={held.case_count}) {shown}"
    if not chain_intact:
        yield "the chain of records does not hold, or the run is in none"


def _score_failed(report: BenchRunReport, target: Tier, bar: TierBar) -> Iterator[str]:
    cases, bound = report.case_count, report.score_lower_bound_95
    if bound is None or not bound >= bar.score_lower_bound_95:
        best = best_bound(cases)
        reach = f"; unreachable at n={cases}: perfect scores give {best:.3f}"
        shown = _below(bound, bar.score_lower_bound_95)
        yield f"score_lower_bound_95 {shown}{reach if best < bar.score_lower_bound_95 else ''}"
    if not report.passed_count >= bar.passed_count:
        reach = f"; unreachable at n={cases}" if cases < bar.passed_count else ""
        asked = f"{report.passed_count} cases passed; {target} asks for {bar.passed_count}"
        yield f"{asked}{reach}"


def best_bound(cases: int) -> float:
    """
    Return the lower bound that perfect scores have: ``0.05 ** (1 / n)``.

    n perfect cases have a chance of at least 5 % as long as a case succeeds with at least this probability.
    """
    return 0.05 ** (1 / cases) if cases else 0.0


def _below(found: float | None, asked: float) -> str:
    if found is None:
        return f"is unknown; asked for is {asked:.3f}"
    digits = 3 if f"{found:.3f}" != f"{asked:.3f}" else 17  # never "0.700 < 0.700"
    return f"{found:.{digits}g} < {asked:.{digits}g}"


def promotion_lines(verdict: PromotionVerdict) -> str:
    """Return the TOML that a person merges into the file of tiers to follow a verdict."""
    import tomli_w

    target = TIERS.index(verdict.target_tier)
    followed = {
        "promote": verdict.target_tier,
        "demote": TIERS[max(0, target - 1)],
    }.get(verdict.recommendation, verdict.current_tier)
    return tomli_w.dumps({"current": {verdict.task_class: followed}})
