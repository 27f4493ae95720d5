"""
Recomputes a run's record from the facts in it.

Facts are the results of the trials, the severities, the policy, what the baseline was. Ids, aggregates, evidence,
decision and verdict follow from these and are recomputed. Some things follow from nothing in the record and are taken
as given: objections of further gates, the class's tier and the tiers' bars, and what the file of a baseline had that
is gone. docs/reference/facts.md says of each fact who contradicts it.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from benchgate.aggregate import aggregates, irregular, set_aside, stopped_early
from benchgate.artifacts.plan import plan_file
from benchgate.artifacts.trial_kinds import PlanFile, TrialFile, case_file_name
from benchgate.audit.chain import PLAN_FILE
from benchgate.errors import Unreadable, few
from benchgate.ids import RunPlan, run_id, suite_version, trial_seed
from benchgate.models import Aggregates
from benchgate.taxonomy import RAISABLE, RESERVED, Taxonomy
from benchgate.verify.agreement import digest_holds, other_digest, plain, same
from benchgate.verify.recheck_decision import recheck_decision
from benchgate.wire.canonical import digest, sha256_hex
from benchgate.wire.files import read_bytes
from benchgate.wire.parsing import MAX_JSON_BYTES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

    from benchgate.artifacts.run_kinds import RunRecord
    from benchgate.models import BenchRunReport, Side, TrialResult


_FIGURES: Final = set(Aggregates.model_fields)
OF_A_SESSION: Final = (
    "trial_count",
    "seed",
    "observer",
    "critical",
    "clusters",
    "retired",
    "source",
)
"""Fields of a report that both sides of a run have alike."""


def recheck_record(folder: Path, record: RunRecord) -> Iterator[str]:
    """Yield where a record, or a file beside it, differs from what the record's facts give."""
    # Forged facts may make any of the computations raise: that is a finding too.
    try:
        sides = _sides(record)
        names = [case_file_name(r, side) for side in sides for r in sides[side].report.per_case]
        parts = {"cases": record.case_files, "evidence": record.evidence_files}
        later = {os.path.join("cases", name) for name in names}
        yield from file_faults(folder, parts, record.plan_sha256, later)
        yield from _plan(folder, record)
        outputs: dict[str, Any] = {}
        if sorted(names) != sorted(record.case_files):
            yield "case_files: not one file for each result"
        for side, one in sides.items():
            faults = (*_report(one), *_identity(one), *_cases(folder / "cases", one, side, outputs))
            yield from (text if side == "candidate" else f"baseline: {text}" for text in faults)
        yield from _session(record)
        yield from recheck_decision(folder, record, outputs)
    except Exception as error:
        yield f"its facts cannot be rechecked: {type(error).__name__}: {error}"


def _sides(record: RunRecord) -> dict[Side, RunRecord]:
    """Return what is checked in the same way of each side: of a baseline that ran too, a record of its own."""
    if record.rerun is None:
        return {"candidate": record}
    baseline = record.model_copy(update={"report": record.rerun, "baseline": None})
    return {"candidate": record, "baseline": baseline}


def file_faults(
    folder: Path, parts: Mapping[str, Mapping[str, str]], plan_sha256: str, later: Collection[str]
) -> Iterator[str]:
    """
    Yield which files of a record's folder are not those that it names.

    :param parts: SHA-256 of each file, by folder and name.
    :param later: paths of those that are compared with their SHA-256 when they are read.
    """
    # The plan lies in the folder itself, beside files that others check.
    for part, digests in {**parts, "": {PLAN_FILE: plan_sha256}}.items():
        if os.path.islink(folder / part):
            yield f"{part}: is a symlink; a record must have its files in its own folder"
        else:
            yield from _part(folder, part, digests, later)


def _part(
    folder: Path, part: str, digests: Mapping[str, str], later: Collection[str]
) -> Iterator[str]:
    """Yield the same of one of these folders."""
    there: set[str] = set()
    if (folder / part).is_dir():
        there = set(os.listdir(folder / part))
    if not part:
        there &= {PLAN_FILE}
    for name, sha256 in digests.items():
        where = os.path.join(part, name)
        if name not in there or os.path.islink(os.path.join(folder, where)):
            yield f"{where}: missing, or a symlink"
        elif where not in later:
            yield from digest_holds(folder / where, sha256, where)
    for name in sorted(there - set(digests)):
        yield f"{os.path.join(part, name)}: not in the record: added later"


def _plan(folder: Path, record: RunRecord) -> Iterator[str]:
    stated = PlanFile.read_file(folder / PLAN_FILE, "plan of a run")
    baseline_system = None
    if record.rerun is not None:
        baseline_system = record.rerun.system
    expected = plan_file(
        RunPlan.of_report(record.report, harness_version=record.harness.benchgate),
        timeout=stated.timeout_seconds,
        started=record.started_at,
        resumes=record.resumes,
        replays=record.replays,
        baseline_system=baseline_system,
    )
    yield from same(PLAN_FILE, plain(expected), plain(stated))


def _report(record: RunRecord) -> Iterator[str]:
    report = record.report
    taxonomy = Taxonomy(record.severities)
    yield from same("report.scope", "full", report.scope)
    yield from same("report.digests.taxonomy", taxonomy.digest, report.digests.taxonomy)
    for code, severity in RESERVED.items():
        if code not in RAISABLE:
            yield from same(f"severities.{code}", severity, record.severities.get(code))
    case_ids = {result.case_id for result in report.per_case}
    yield from _not_run(report)
    for name, ids in (("clusters", set(report.clusters)), ("critical", set(report.critical))):
        if ids - case_ids:
            yield f"report.{name}: there is no case {few(ids - case_ids)}"
    if report.source is not None:
        yield from same("report.source.sha256", report.digests.system, report.source.sha256)
    terms: dict[str, Any] = {"bounded": True, "clusters": report.clusters}
    expected = aggregates(report.per_case, taxonomy, **terms)
    yield from same("report", plain(expected), report.model_dump(include=_FIGURES, mode="json"))
    yield from _held_out(report, taxonomy, terms)
    if report.complete:
        yield from _completeness(report)


def _held_out(
    report: BenchRunReport, taxonomy: Taxonomy, terms: Mapping[str, Any]
) -> Iterator[str]:
    """Yield where the figures of the held-out cases are not those that their results give."""
    held_out = [result for result in report.per_case if result.held_out]
    expected = None
    if held_out:
        expected = plain(aggregates(held_out, taxonomy, **terms))
    stated = None
    if report.held_out is not None:
        stated = plain(report.held_out)
    yield from same("report.held_out", expected, stated)


def _not_run(report: BenchRunReport) -> Iterator[str]:
    """Yield where it is not said as it must be which trials were not run, and why."""
    for result in report.per_case:
        if result.why is not None and result.outcome != "not_run":
            label = case_file_name(result).removesuffix(".json")
            yield f"report.per_case.{label}.why is {result.why!r} of a trial that was run"
    cases: set[str] = set()
    if stopped_early(report.per_case):
        cases = {result.case_id for result in report.per_case}
    yield from same("report.stopped", sorted(cases), sorted(report.stopped))


def _session(record: RunRecord) -> Iterator[str]:
    """Yield what a baseline that ran too has otherwise than the candidate, though they had it in common."""
    rerun = record.rerun
    report = record.report
    if rerun is None:
        return
    yield from same("baseline: report.parts", [], [plain(part) for part in rerun.parts])
    if rerun.source is not None and report.source is not None:
        return  # two logs have nothing in common but their cases
    expected = plain(report)
    stated = plain(rerun)
    for name in OF_A_SESSION:
        yield from same(f"baseline: report.{name}", expected.get(name), stated.get(name))
    for name in ("cases", "rubric"):
        where = f"baseline: report.digests.{name}"
        yield from same(where, expected["digests"][name], stated["digests"][name])
    # Only the right to the network is one of a system.
    levels = [one["isolation_class"].removesuffix("+network") for one in (expected, stated)]
    yield from same("baseline: report.isolation_class", *levels)
    if not rerun.isolation_class.startswith("sandbox"):
        yield from same("baseline: report.reads", [], stated.get("reads", []))


def _completeness(report: BenchRunReport) -> Iterator[str]:
    trials = range(report.trial_count)
    planned = {(case_id, trial) for case_id in report.digests.cases for trial in trials}
    keys = [(result.case_id, result.trial) for result in report.per_case]
    if report.source is not None:
        # Tests that were not repeated have one trial in a log, beside others with several.
        counts = Counter(case_id for case_id, _ in keys)
        planned = {key for key in planned if key[1] == 0 or counts[key[0]] > 1}
    if set(keys) != planned or len(keys) != len(planned) or not keys:
        yield f"report.complete: there are {len(keys)} results for {len(planned)} planned trials"
    if any(map(irregular, report.per_case)):
        yield "report.complete: a trial was left out, failed to be scored, or was run again"


def _identity(record: RunRecord) -> Iterator[str]:
    report = record.report
    digests = record.report.digests
    name = report.task_class
    yield from same("report.run_id", run_id(name, report.per_case), report.run_id)
    yield from same(
        "report.plan_id",
        RunPlan.of_report(report, harness_version=record.harness.benchgate).plan_id(),
        report.plan_id,
    )
    yield from same("report.suite.name", name, report.suite.name)
    yield from same("report.suite.version", suite_version(digests.cases), report.suite.version)
    yield from same("report.digests.policy", record.policy.digest, digests.policy)
    baseline = None
    if record.baseline is not None:
        baseline = record.baseline.sha256
    yield from same("report.digests.baseline", baseline, digests.baseline)
    for result in report.per_case:
        seed = trial_seed(name, result.case_id, result.trial, report.seed)
        label = case_file_name(result).removesuffix(".json")
        yield from same(f"report.per_case.{label}.seed", seed, result.seed)


def _cases(folder: Path, record: RunRecord, side: Side, outputs: dict[str, Any]) -> Iterator[str]:
    """
    Compare each result with the file of its trial.

    :param outputs: is filled with what the systems returned, by file name, as far as somebody asks.
    """
    report = record.report
    named = {case_file_name(result, side): result for result in report.per_case}
    scorers: set[str | None] = set()
    for name, result in named.items():
        path = os.path.join(folder, name)
        where = f"cases/{name}"
        try:
            data = read_bytes(path, limit=MAX_JSON_BYTES)
            recorded = record.case_files.get(name)  # None: that it is not named is said already
            if recorded is not None and sha256_hex(data) != recorded:
                yield f"{where}: {other_digest(name)}"
            case = TrialFile.parse(path, data, "file of a trial")
        except Unreadable as error:
            yield f"{where}: {error.why}"
            continue
        scorers.add(case.scorer)
        if record.subject.kind == "checkpoint":
            outputs[name] = case.output
        elif isinstance(case.output, dict) and "rl_payload" in case.output:
            # All that is asked of it; outputs may be large.
            outputs[name] = {"rl_payload": case.output["rl_payload"]}
        yield from same(f"{where}.task_class", case.task_class, report.task_class)
        yield from _trial(where, case, result)
    yield from _scorer(report, scorers)


def _trial(where: str, case: TrialFile, result: TrialResult) -> Iterator[str]:
    """Yield where the file of a trial has another result than the report."""
    yield from same(f"{where}.case_id", case.case_id, result.case_id)
    there = case.result
    if result.why == "set_aside":
        there = set_aside(there)  # its file has what it came to, which counts for nothing
    if there != result:
        yield from same(f"{where}.result", plain(there), plain(result))
    if result.observed is not None:
        seen = sha256_hex(json.dumps(case.output).encode())
        yield from same(f"{where}.result.observed.output", seen, result.observed.output)


def _scorer(report: BenchRunReport, scorers: set[str | None]) -> Iterator[str]:
    """Yield that a report does not name what scored its trials: one digest, or that of several."""
    digests = sorted(scorer for scorer in scorers if scorer is not None)
    if not digests:
        return
    expected = digests[0]
    if len(digests) > 1:
        expected = digest(digests)
    yield from same("report.digests.scorer", expected, report.digests.scorer)
