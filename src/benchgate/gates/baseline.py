"""Reads the baseline run, and checks that it is comparable with the candidate's run."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from pydantic import AwareDatetime, Field

from benchgate.aggregate import irregular, mean
from benchgate.cassettes.manifest import outputs_of
from benchgate.errors import Unreadable
from benchgate.gates.choice import FILE_NAME, MAX_AGE, PIN_FILE, RERUN
from benchgate.gates.decision import CheckpointPromotionDecision
from benchgate.gates.policy import GatePolicy
from benchgate.gates.run_side import (
    BaselineFacts,
    RerunBaseline,
    RunSide,
    case_ids,
    is_log,
    table_of,
)
from benchgate.gates.unscored import incompleteness
from benchgate.ids import run_id, system_digest
from benchgate.models import BenchRunReport, Isolation
from benchgate.sentences.says import names, says
from benchgate.wire import clock
from benchgate.wire.canonical import sha256_hex
from benchgate.wire.files import read_bytes
from benchgate.wire.model import Artifact, Text, WireModel
from benchgate.wire.parsing import MAX_JSON_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from benchgate.gates.figures import Arm, CaseFacts
    from benchgate.gates.run_side import CaseTable
    from benchgate.sentences.says import Says


class BaselineRecord(Artifact):
    """The part of a record that says what was judged, by what, and how; a baseline is whole or none."""

    report: BenchRunReport
    policy: GatePolicy
    decision: CheckpointPromotionDecision
    finished_at: AwareDatetime


class PinPart(WireModel):
    """The part of a pin that says whether a new series of looks began with it."""

    new_series: Text | None = Field(default=None, exclude_if=lambda reason: reason is None)


class PinnedSeries(Artifact, PinPart):
    """What a pin, and the pins of what its baseline was extended from, say about series of looks."""

    sha256: str
    extends: tuple[PinPart, ...] = Field(default=(), exclude_if=lambda pins: not pins)


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """
    A baseline that was read from a file, or that ran beside the candidate.

    :param path: of its file; else only a name, ``run:`` and the system.
    :param sha256: of its file; else of its system.
    :param problems: why no run can be compared with it; empty if it is usable.
    :param place: of a log, where its file is: by a path from the folder of the record, or from that of the ledger.
    :param new_series: why a person began a new series of looks with it; ``None`` if nobody did.
    :param outputs_at: where its outputs are, as ``--reobserve`` takes it; ``None`` if they are not kept.
    :param record: what was read of its file; ``None`` if that cannot be read, or if it ran too.
    """

    path: Path
    sha256: str | None
    report: BenchRunReport | None
    problems: tuple[Says, ...]
    place: str | None = None
    new_series: str | None = None
    outputs_at: str | None = None
    record: BaselineRecord | None = None

    @property
    def rerun(self) -> RerunBaseline | None:
        """What a record keeps of it if it ran in the same session; ``None`` if it has no results."""
        if self.report is None:
            return None
        return RerunBaseline(report=self.report, place=self.place, new_series=self.new_series)

    @cached_property
    def facts(self) -> BaselineFacts:
        """What a decision asks of it, and a record keeps if it is a file."""
        run = None
        if self.report is not None:
            run = RunSide.of(self.report)
        return BaselineFacts(
            path=os.fspath(self.path),
            sha256=self.sha256,
            problems=self.problems,
            outputs_at=self.outputs_at,
            new_series=self.new_series,
            run=run,
        )


def baseline_beside(report: BenchRunReport) -> Baseline:
    """Return as a baseline the run of a system that ran beside the candidate."""
    problems = [*_faults(report)]
    if not report.complete:
        problems.append(says("baseline.run_incomplete", parts=incompleteness(report)))
    path = Path(f"{RERUN}{report.system}")
    return Baseline(
        path=path, sha256=system_digest(report), report=report, problems=tuple(problems)
    )


def compared_with(baseline: BaselineFacts | RerunBaseline | None) -> BaselineFacts | None:
    """Return a baseline as a decision sees it, whether it is a file or ran in the same session."""
    if isinstance(baseline, RerunBaseline):
        return baseline_beside(baseline.report).facts
    return baseline


def read_baseline(path: Path) -> Baseline:
    """Read a baseline. Faults become ``problems``, not errors, so that the run is still recorded."""
    try:
        data = read_bytes(path, limit=MAX_JSON_BYTES)
    except Unreadable as error:
        problem = says("baseline.unreadable", why=error.why)
        return Baseline(path=path, sha256=None, report=None, problems=(problem,))
    sha256 = sha256_hex(data)
    try:
        record = BaselineRecord.parse(path, data, "record of a run")
    except Unreadable as error:
        problem = says("baseline.no_record", why=error.why)
        return Baseline(path=path, sha256=sha256, report=None, problems=(problem,))
    return Baseline(
        path=path,
        sha256=sha256,
        report=record.report,
        problems=tuple(_faults(record.report)),
        new_series=_new_series(path, sha256),
        outputs_at=_outputs_at(path),
        record=record,
    )


def _outputs_at(path: Path) -> str | None:
    kept = outputs_of(path)
    if kept is None:
        return None
    return os.fspath(kept)


def _new_series(path: Path, sha256: str) -> str | None:
    """Return why a person began a new series of looks with a pinned baseline, or with what it was extended from."""
    try:
        pin = PinnedSeries.read_file(path.with_name(PIN_FILE), "pin")
    except Unreadable:
        return None
    if path.name != FILE_NAME or pin.sha256 != sha256:
        return None
    begun = [part.new_series for part in (*pin.extends, pin) if part.new_series is not None]
    if not begun:
        return None
    return begun[-1]


def baseline_notes(baseline: Baseline, policy: GatePolicy, level: Isolation) -> Iterator[Says]:
    """Yield what to know of a baseline that was read: an old default, less isolation than now, and a high age."""
    record = baseline.record
    if record is None:
        return
    report = record.report
    before = report.isolation_class
    ended = [record.finished_at, *(part.finished_at for part in report.parts)]
    age = clock.now() - min(ended)
    if age >= MAX_AGE:
        yield says(
            "baseline.old", days=age.days, task_class=report.task_class, system=report.system
        )
    if "test" not in policy.model_fields_set and record.policy.test == "welch":
        yield says("baseline.welch")
    if rank(before) < rank(level):
        yield says("baseline.freer", now=level, before=before)


def _faults(report: BenchRunReport) -> Iterator[Says]:
    if run_id(report.task_class, report.per_case) != report.run_id:
        yield says("baseline.edited")
    if report.scope != "full":
        yield says("baseline.part")
    if not report.complete or any(irregular(result) for result in report.per_case):
        yield says("baseline.incomplete")


def differences(baseline: RunSide, candidate: BenchRunReport) -> Iterator[Says]:
    """Yield why a run cannot be compared with another one, a sentence for each difference."""
    if baseline.task_class != candidate.task_class:
        yield says("baseline.other_class", before=baseline.task_class, after=candidate.task_class)
        return
    yield from _other_cases(baseline, candidate)
    changed = _changed_cases(baseline, candidate)
    if changed:
        yield says("baseline.changed_cases", cases=names(changed))
    old = baseline.scorer
    now = candidate.digests.scorer
    if old != now:
        yield says("baseline.other_rubric", before=old[:12], after=now[:12])
    if rank(candidate.isolation_class) < rank(baseline.isolation_class):
        yield says(
            "baseline.isolation", before=baseline.isolation_class, after=candidate.isolation_class
        )


def _other_cases(baseline: RunSide, candidate: BenchRunReport) -> Iterator[Says]:
    """Yield which cases only one of two runs has, where that keeps them from being compared."""
    if is_log(baseline) and is_log(candidate):
        return  # policy.missing decides
    before = case_ids(baseline)
    after = case_ids(candidate)
    gone = before - after - candidate.retired.keys()
    if gone:
        yield says("baseline.gone_cases", cases=names(gone))
    new = after - before
    # Two runs are compared over the cases that both have; of a log nobody knows why it has others.
    has_none_in_common = new == after
    if new and (is_log(baseline) or is_log(candidate) or has_none_in_common):
        yield says("baseline.new_cases", cases=names(new))


def _changed_cases(baseline: RunSide, candidate: BenchRunReport) -> set[str]:
    """Return the cases of both runs whose files differ."""
    now = candidate.digests.cases
    both = case_ids(candidate)
    old = zip(baseline.table.ids, baseline.table.digests, strict=True)
    return {case_id for case_id, sha256 in old if case_id in both and sha256 != now.get(case_id)}


def rank(level: Isolation) -> int:
    """Return the place of a level of isolation: the more a trial is kept from, the higher."""
    return get_args(Isolation).index(level)


def arm(run: BenchRunReport | RunSide, like: BenchRunReport | None = None) -> Arm:
    """
    Return a run as one side of a comparison: the means of its cases, sorted by case id.

    :param like: the other side, which says what is critical, which cases are alike, and which there are now; a log says
        so itself.
    """
    from benchgate.gates.figures import Arm

    labelled = run
    if like is not None and not is_log(like) and not is_log(run):
        # Both sides go by the labels of today, or a label could count on one side alone.
        labelled = like
    known = case_ids(labelled)
    table = table_of(run)
    places = [place for place, case_id in enumerate(table.ids) if case_id in known]
    ids = tuple(table.ids[place] for place in places)
    trials = tuple(table.scores[place] for place in places)
    return Arm(
        case_ids=ids,
        scores=tuple(mean(scores) for scores in trials),
        penalties=_penalties(table, places),
        trials=trials,
        clusters=tuple(labelled.clusters.get(case_id) for case_id in ids),
        facts=tuple(_facts(table, places, frozenset(labelled.critical))),
    )


def _penalties(table: CaseTable, places: Iterable[int]) -> tuple[float | None, ...] | None:
    """Return the penalties of some cases; ``None`` if none of these has one."""
    if table.penalties is None:
        return None
    penalties = tuple(table.penalties[place] for place in places)
    if all(penalty is None for penalty in penalties):
        return None
    return penalties


def _facts(
    table: CaseTable, places: Iterable[int], critical: frozenset[str]
) -> Iterator[CaseFacts]:
    """Yield what a run knows of each of some cases besides score and penalty."""
    from benchgate.gates.figures import CaseFacts

    unknown = (None,) * len(table.ids)
    costs = table.costs_usd or unknown
    durations = table.durations_seconds or unknown
    for place in places:
        case_id = table.ids[place]
        # Not validated again: each value was in the result of a trial.
        yield CaseFacts.model_construct(
            passed=table.passed[place],
            critical=case_id in critical,
            cost_usd=costs[place],
            duration_seconds=durations[place],
            errors=table.errors.get(case_id, ()),
            timeouts=table.timeouts.get(case_id, ()),
            failed=table.failed.get(case_id, ()),
        )
