"""The samples of a log as the report of a run, so that it is judged, recorded and verified as one."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from benchgate.aggregate import build_report
from benchgate.errors import EvalError, SampleError
from benchgate.gates.policy import log_policy
from benchgate.ids import RunPlan, system_digest, trial_seed
from benchgate.interop.asked import HARM
from benchgate.interop.sides import apart, check_apart, own
from benchgate.models import BenchScore, FailureMode, LogSource, RunDigests, TrialResult
from benchgate.registry import TASK_CLASS_PATTERN
from benchgate.taxonomy import RESERVED, Taxonomy
from benchgate.wire.canonical import digest
from benchgate.wire.files import is_same_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchgate.gates.policy import GatePolicy
    from benchgate.interop.log import Sample, Samples
    from benchgate.models import BenchRunReport

TAXONOMY: Final = Taxonomy(dict(RESERVED))


@dataclass(frozen=True, slots=True, kw_only=True)
class LogTerms:
    """
    What logs are read as.

    :param task_class: name of what was measured.
    :param score_range: the worst and the best score, which count as 0 and 1; the first may be the larger one.
    :param with_inputs: whether cases are the same only if their inputs are, and only if their targets are.
    :param apart: what was asked of one side alone, as :func:`benchgate.interop.sides.apart` has it.
    """

    task_class: str
    policy: GatePolicy
    score_range: tuple[float, float]
    with_inputs: tuple[bool, bool]
    apart: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls,
        task_class: str,
        options: Mapping[str, Any],
        with_inputs: tuple[bool, bool] = (True, True),
    ) -> LogTerms:
        """
        Return the terms under thresholds over the defaults of logs.

        :raises PolicyError: a value is wrong.
        """
        policy = log_policy(options)
        scaled = (0.0, 1.0)
        return cls(
            task_class=task_class,
            policy=policy.model_copy(update={"score_range": scaled}),
            score_range=policy.score_range or scaled,
            with_inputs=with_inputs,
        )


def task_class_of(logs: Sequence[Samples], wanted: str | None) -> str:
    """Return the name of what logs measured: as asked for, or as the last one has it, made a name of a task class."""
    name = wanted or next((log.header.task for log in reversed(logs) if log.header.task), "log")
    if not TASK_CLASS_PATTERN.fullmatch(name):
        name = re.sub(r"[^a-z0-9]+", "-", name.rpartition("/")[2].lower())[:60].strip("-")
    if TASK_CLASS_PATTERN.fullmatch(name):
        return name
    return f"log-{name}".strip("-")


def report_pair(
    before: Samples, after: Samples, terms: LogTerms, names: tuple[str | None, str | None]
) -> tuple[BenchRunReport, BenchRunReport]:
    """
    Return the reports of baseline and candidate.

    :param names: of the two; ``None`` for what the logs say, or their files.
    :raises EvalError: the logs have different metrics, or no case in common.
    :raises SampleError: a score is outside the range.
    """
    check_apart(before, after)
    terms = replace(terms, apart=apart(before, after))
    if before.metric != after.metric and "score" not in terms.apart:
        both = f"A:score={before.metric},B:score={after.metric}"
        why = f"the scores are {before.metric!r} and {after.metric!r}; name one, --metric NAME, or both, --map {both}"
        raise EvalError(why)
    if {one.case_id for one in before.samples}.isdisjoint(one.case_id for one in after.samples):
        why = f"no case is in both; is {after.case_field!r} the id of a run? --map case=FIELD"
        others = ", ".join(after.other_fields) or "none"
        raise EvalError(f"{before.path} and {after.path}: {why}; other fields: {others}")
    first, second = _names(before, after, names)
    baseline = report_of(before, terms, first)
    return baseline, report_of(after, terms, second, baseline=baseline)


def _names(
    before: Samples, after: Samples, names: tuple[str | None, str | None]
) -> tuple[str, str]:
    systems = (before.header.system, after.header.system)
    if is_same_file(before.path, after.path):
        # All that tells them apart is what was asked of them.
        systems = (", ".join(own(before, after)) or None, ", ".join(own(after, before)) or None)
    if None in systems or systems[0] == systems[1]:
        systems = (before.path.name, after.path.name)
        if systems[0] == systems[1]:
            systems = (str(before.path), str(after.path))
    return names[0] or str(systems[0]), names[1] or str(systems[1])


def report_of(
    log: Samples, terms: LogTerms, name: str, *, baseline: BenchRunReport | None = None
) -> BenchRunReport:
    """
    Return the report of one log.

    An error counts as score 0. A trial that other cases have and one lacks was not run, and one that is there more
    than once was run again; both make the run incomplete. A test that was not repeated beside others that were has one
    trial, and lacks none.

    :param baseline: that it is compared with.
    :raises SampleError: a score is outside the range, or a case has two clusters or two inputs.
    """
    cases: dict[str, list[Sample]] = defaultdict(list)
    for sample in log.samples:
        cases[sample.case_id].append(sample)
    trials = max(map(len, cases.values()))
    _check_direction(log, terms.score_range)
    of_baseline = None
    if baseline is not None:
        of_baseline = system_digest(baseline)
    plan = RunPlan(
        task_class=terms.task_class,
        case_ids=tuple(cases),
        scope="full",
        system=name,
        trial_count=trials,
        seed=0,
        digests=RunDigests(
            cases={case_id: _case_digest(log, rows, terms) for case_id, rows in cases.items()},
            rubric=_scorer(log, terms),
            scorer=_scorer(log, terms),
            taxonomy=TAXONOMY.digest,
            system=log.sha256,
            policy=terms.policy.digest,
            baseline=of_baseline,
        ),
    )
    clusters: dict[str, str] = {}
    for case_id, rows in cases.items():
        cluster = _only(log, case_id, "clusters", {row.cluster for row in rows})
        if cluster is not None:
            clusters[case_id] = cluster
    results: list[TrialResult] = []
    for case_id, rows in cases.items():
        of_case = trials
        if case_id in log.once:
            of_case = 1
        results += _results(log, terms, case_id, rows, of_case)
    report = build_report(
        plan, results, TAXONOMY, interrupted=log.header.ended_early, clusters=clusters
    )
    source = LogSource(
        tool=log.header.tool,
        version=log.header.version,
        sha256=log.sha256,
        metric=log.metric,
        score_range=terms.score_range,
        without=log.without,
        told=log.told,
        passed=next((name for role, name, _ in log.fields if role == "passed"), None),
    )
    return report.model_copy(update={"source": source})


def _scorer(log: Samples, terms: LogTerms) -> str:
    # Two penalties, and what passes, compare if they were read of one field, or of the one that is named for each side.
    harm = [
        role if role in terms.apart else f"{role} {name}"
        for role, name, _ in log.fields
        if role in (*HARM, "passed")
    ]
    rows = [one for one in log.told if not one.startswith("map ") and one not in terms.apart]
    unit = "{:g} to {:g}".format(*terms.score_range)
    metric = "" if "score" in terms.apart else log.metric
    return digest(["log", metric, unit, *harm, *rows])


def _check_direction(log: Samples, ends: tuple[float, float]) -> None:
    declared = "more"
    against = "less"
    if ends[0] > ends[1]:
        declared = "less"
        against = "more"
    if against not in log.directions:
        return
    case = log.directions[against]
    why = f"{against} of {log.metric!r} is better in case {case!r}, by what passed its threshold"
    if declared in log.directions:
        raise SampleError(log.path, f"{why}, but not in others: correct that case")
    step = f"--policy 'score_range=[{ends[1]:g}, {ends[0]:g}]'"
    raise SampleError(log.path, f"{why}: {step}")


def _only(log: Samples, case_id: str, what: str, values: set[str | None]) -> str | None:
    if len(values) > 1:
        pair = " and ".join(sorted(str(one) for one in values)[:2])
        why = f"case {case_id!r} has two {what}: {pair}; is it several? --map case=FIELD"
        raise SampleError(log.path, why)
    return next(iter(values))


def _case_digest(log: Samples, rows: list[Sample], terms: LogTerms) -> str:
    case_id = rows[0].case_id
    parts = [
        _only(log, case_id, what, {row.of[place] for row in rows})
        for place, what in enumerate(("inputs", "targets"))
    ]
    compared = zip(parts, terms.with_inputs, strict=True)
    return digest([case_id, *(part if is_compared else None for part, is_compared in compared)])


def _results(
    log: Samples, terms: LogTerms, case_id: str, rows: list[Sample], trials: int
) -> Iterator[TrialResult]:
    for trial in range(trials):
        row = None
        reruns = 0
        if trial < len(rows):
            row = rows[trial]
            reruns = row.reruns
        result = TrialResult(
            case_id=case_id,
            trial=trial,
            seed=trial_seed(terms.task_class, case_id, trial, 0),
            held_out=False,
            outcome="not_run",
            reruns=reruns,
        )
        if row is None:
            yield result.model_copy(update={"detail": "the log has no such trial"})
        elif row.score is None:
            mode = FailureMode(code="harness_error", detail=row.error, error=row.error_type)
            yield result.model_copy(update={"outcome": "harness_error", "failure_modes": (mode,)})
        else:
            scaled = _scaled(log, row, row.score, terms.score_range)
            # The gate asks whether a case newly fails of graded logs too: by the best score, unless a field says it.
            passed = scaled == 1.0
            if row.passed is not None:
                passed = row.passed
            score = BenchScore(passed=passed, score=scaled, safety_penalty=row.penalty)
            yield result.model_copy(update={"outcome": "scored", "score": score})


def _scaled(log: Samples, row: Sample, score: float, ends: tuple[float, float]) -> float:
    worst, best = ends
    if not min(ends) <= score <= max(ends):
        shown = f"the score of {row.case_id!r} is {score:g}, outside {worst:g} to {best:g}"
        why = f"{shown}; name the worst and the best score: --policy 'score_range=[WORST, BEST]'"
        raise SampleError(log.path, why)
    return (score - worst) / (best - worst)
