"""
Compares a run with the requirements of a trust tier and gives a verdict.

It changes nothing: the file of tiers is edited only by people.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, NoReturn

from pydantic import BeforeValidator

from benchgate.errors import PromotionGateError, PromotionMustBeHumanAuthorized
from benchgate.promotion.tiers import TIER_FILE, TIERS, Tier, TierConfig
from benchgate.registry import MIN_CASES, min_cases_faults
from benchgate.wire.model import Count, Sha256, UnitInterval, WireModel

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchgate.models import BenchRunReport

# A bare Literal[True] accepts 1.
Approval = Annotated[
    Literal[True], BeforeValidator(lambda value: value if isinstance(value, bool) else None)
]
Recommendation = Literal["promote", "hold", "keep", "demote"]


class TierBar(WireModel):
    """
    What a tier requires of a run of one class.

    :param score_lower_bound_95: smallest sufficient lower bound of the mean score.
    :param passed_count: number of cases that must pass.
    :param bronze_count: passed cases that the class requires for bronze. Below ten it is a small bench, which stays at
        bronze whatever its scores.
    """

    score_lower_bound_95: UnitInterval
    passed_count: Count
    bronze_count: Count


class PromotionVerdict(WireModel):
    """
    Whether a run is sufficient evidence for a tier. It changes nothing: a person promotes.

    :param recommendation: with a higher tier as target ``promote`` or ``hold``; with the current one ``keep`` or
        ``demote``. Bronze cannot be demoted: ``hold``.
    :param bar: what the tier required, so that the verdict can be recomputed from the run's record alone.
    :param chain_intact: the run's record is in an intact chain of records.
    :param reasons: every failed condition with both numbers, in fixed order; else ``all conditions met``.
    :param requires_human_approval: always true.
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

    def invites(self, outcome: str) -> bool:
        """Whether a person is asked to promote: only if that is also the ``outcome`` of the run's own decision."""
        return self.recommendation == outcome == "promote"


@dataclass(frozen=True, slots=True)
class PromotionGate:
    """Judges runs by the tiers of a project, as ``benchgate verdict`` does."""

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
        Judge whether a run is sufficient evidence for a tier; pure.

        Give the current tier as target to ask whether the class should keep it.

        :param min_cases: passed cases that each tier requires, see :func:`~benchgate.register_task_class`.
        :param chain_intact: the run's record is in an intact chain of records.
        :raises PromotionGateError: an unknown tier, a target below the current tier, an invalid number of cases, or a
            report that is invalid or of another class.
        """
        for tier in (current_tier, target_tier):
            if tier not in TIERS:
                raise PromotionGateError(f"{tier!r} is no tier; known: {', '.join(TIERS)}")
        if report.task_class != task_class:
            raise PromotionGateError(
                f"the report is of task class {report.task_class!r}, not {task_class!r}"
            )
        required = {**MIN_CASES, **min_cases}
        for fault in min_cases_faults(required):
            raise PromotionGateError(f"{task_class}: min_cases {fault}")
        try:
            report = type(report).model_validate(report.model_dump(warnings=False))
        except ValueError as error:
            raise PromotionGateError(f"{task_class}: the report is not valid: {error}") from error
        bar = TierBar(
            score_lower_bound_95=self.tiers.threshold(target_tier),
            passed_count=required[target_tier],
            bronze_count=required["bronze"],
        )
        return judge_tier(report, current_tier, target_tier, bar, chain_intact=chain_intact)

    def apply(self, verdict: PromotionVerdict) -> NoReturn:
        """
        Refuse to promote; exists so that code which tries gets an explanation instead of an AttributeError.

        :raises PromotionMustBeHumanAuthorized: always; the message says how a person promotes.
        """
        raise PromotionMustBeHumanAuthorized(
            verdict.task_class, verdict.target_tier, TIER_FILE, promotion_lines(verdict)
        )


def judge_tier(
    report: BenchRunReport, current: Tier, target: Tier, bar: TierBar, *, chain_intact: bool
) -> PromotionVerdict:
    """
    Compare a run with the requirements of a tier; used by ``benchgate verify`` to recompute a recorded verdict.

    :raises PromotionGateError: the target is below the current tier.
    """
    is_higher = TIERS.index(target) > TIERS.index(current)
    if TIERS.index(target) < TIERS.index(current):
        raise PromotionGateError(
            f"{report.task_class} is {current}, above {target}; whether it should be demoted is asked with "
            f"{current} as the target"
        )
    failed = tuple(_failed_conditions(report, target, bar, chain_intact=chain_intact))
    recommendation: Recommendation = "keep"
    if is_higher and not failed:
        recommendation = "promote"
    elif is_higher:
        recommendation = "hold"
    elif failed:
        recommendation = "hold" if target == "bronze" else "demote"  # nothing is below bronze
    return PromotionVerdict(
        task_class=report.task_class,
        run_id=report.run_id,
        current_tier=current,
        target_tier=target,
        sufficient=not failed,
        recommendation=recommendation,
        bar=bar,
        chain_intact=chain_intact,
        reasons=failed or ("all conditions met",),
    )


def _failed_conditions(
    report: BenchRunReport, target: Tier, bar: TierBar, *, chain_intact: bool
) -> Iterator[str]:
    if report.scope != "full":
        yield f"scope is {report.scope}; a full run is asked for"
    if not report.complete:
        yield "the run is incomplete"
    if bar.bronze_count < MIN_CASES["bronze"] and target != "bronze":
        asked = f"it asks for {bar.bronze_count} cases, not {MIN_CASES['bronze']}"
        yield f"a small bench stays at bronze: {asked}"
    yield from _failed_score_conditions(report, target, bar)
    if report.block_severity_failure_modes:
        codes = ", ".join(report.block_severity_failure_modes)
        yield f"failure modes of severity block: {codes}; none is allowed"
    held_out = report.held_out
    if held_out is not None and not held_out.mean_score >= bar.score_lower_bound_95:
        comparison = _below(held_out.mean_score, bar.score_lower_bound_95)
        yield f"mean of the held-out cases (n={held_out.case_count}) {comparison}"
    if not chain_intact:
        yield "the chain of records is not intact, or the run is not in it"


def _failed_score_conditions(report: BenchRunReport, target: Tier, bar: TierBar) -> Iterator[str]:
    cases = report.case_count
    bound = report.score_lower_bound_95
    asked = bar.score_lower_bound_95
    if bound is None or not bound >= asked:
        # The clusters are the sample; a case without one is one of its own.
        named = report.clusters.values()
        sources = cases - len(named) + len(set(named))
        best = best_bound(sources)
        said = f"score_lower_bound_95 {_below(bound, asked)}"
        if best < asked:
            said += f"; unreachable at n={sources}: perfect scores give {best:.3f}"
        yield said
    if report.passed_count < bar.passed_count:
        said = f"{report.passed_count} cases passed; {target} asks for {bar.passed_count}"
        if cases < bar.passed_count:
            said += f"; unreachable at n={cases}"
        yield said


def best_bound(cases: int) -> float:
    """
    Return the 95 % lower bound of the mean if all n scores are perfect: ``0.05 ** (1 / n)``.

    It is the success rate at which n successes in a row have a probability of 5 % (Clopper and Pearson 1934). Use it to
    see which tiers a bench of n cases can reach at all.
    """
    if not cases:
        return 0.0
    return float(0.05 ** (1 / cases))


def _below(figure: float | None, asked: float) -> str:
    if figure is None:
        return f"is unknown; asked for is {asked:.3f}"
    digits = 3
    if f"{figure:.3f}" == f"{asked:.3f}":
        digits = 17  # else it could print "0.700 < 0.700"
    return f"{figure:.{digits}g} < {asked:.{digits}g}"


def promotion_lines(verdict: PromotionVerdict) -> str:
    """Return the TOML that a person merges into the file of tiers to follow a verdict."""
    import tomli_w

    target = TIERS.index(verdict.target_tier)
    tiers = {"promote": verdict.target_tier, "demote": TIERS[max(0, target - 1)]}
    tier = tiers.get(verdict.recommendation, verdict.current_tier)
    return tomli_w.dumps({"current": {verdict.task_class: tier}})
