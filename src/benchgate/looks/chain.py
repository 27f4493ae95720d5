"""
Counts the looks at a baseline in the chain of a class.

A look is a full run, complete or stopped early, that was compared with a baseline. Looks at one baseline are a series:
of a pin, all at runs of the same system that were scored by the same rubric; of a baseline that runs too, at the same
system; of a log, at the same file. Results seen before are no further look, nor is completing a run that stopped.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import AwareDatetime, Field

from benchgate.aggregate import outputs_digest
from benchgate.artifacts.trial_kinds import Resumed
from benchgate.audit.chain import RECORD_FILE, numbered
from benchgate.errors import Unreadable
from benchgate.gates.baseline import arm
from benchgate.gates.case_labels import CASE, THERE, LabelChange, labels_of
from benchgate.gates.decision import CheckpointPromotionDecision
from benchgate.gates.run_diff import since_pin
from benchgate.gates.run_side import BaselineFacts, RerunBaseline, SideHead
from benchgate.looks.tally import Counted, Looked, Tally
from benchgate.models import Aggregates, RunDigests
from benchgate.wire.canonical import digest
from benchgate.wire.model import Count, Sha256, Version, WireModel, empty_mapping

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from benchgate.artifacts.run_kinds import RunRecord
    from benchgate.gates.baseline import Baseline
    from benchgate.gates.judge import Counter
    from benchgate.gates.looks import KnownBy, RecordedLook
    from benchgate.gates.policy import GatePolicy
    from benchgate.models import BenchRunReport


Counting = Callable[[Looked], Counted]
"""Counts a look."""

COMPARED: Final = "baseline.json"
"""The evidence that a run has only if it was compared with a baseline."""


class SeenOutput(WireModel):
    """The output that an observer was asked about."""

    output: Any = None


class SeenResult(WireModel):
    """The fields of a result that are a label of its case, or say what was observed."""

    case_id: str
    trial: Count = 0
    held_out: bool = False
    observed: SeenOutput | None = None


class SeenPart(WireModel):
    """What looks at an extended baseline are counted by."""

    counted_by: Sha256


class ReportHead(Aggregates):
    """The figures of a report, and its fields that make it a look."""

    run_id: Sha256
    complete: bool
    system: str
    digests: RunDigests
    source: Mapping[str, Any] | None = None
    stopped: tuple[Any, ...] = ()
    clusters: Mapping[str, str] = Field(default_factory=empty_mapping)
    critical: tuple[str, ...] = ()
    per_case: tuple[SeenResult, ...] = ()
    retired: Mapping[str, str] = Field(default_factory=empty_mapping)
    observer: Mapping[str, Any] | None = None
    parts: tuple[SeenPart, ...] = ()


class SeenBaseline(WireModel):
    """What a run was compared with: a file, by its digest, or a system that ran beside the candidate, or a log."""

    sha256: Sha256 | None = None
    run: SideHead | None = None
    report: ReportHead | None = None
    place: str | None = None
    new_series: str | None = None


class SeenPolicy(WireModel):
    """How alpha is divided among looks."""

    looks: str = "count"


class RecordHead(WireModel):
    """The fields of a record that make it a look, and that a history shows: many records are read for these."""

    schema_version: Version
    seq: Annotated[Count, Field(ge=1)]
    finished_at: AwareDatetime
    report: ReportHead
    decision: CheckpointPromotionDecision
    baseline: SeenBaseline | None = None
    policy: SeenPolicy = Field(default_factory=SeenPolicy)
    evidence_files: Mapping[str, str] = Field(default_factory=empty_mapping)
    resumes: Resumed | None = None


def _look_in(record: RecordHead | RunRecord, folder: Path) -> Looked | None:
    """Return what was looked at by the run in a folder; ``None`` if this is no look."""
    report = record.report
    baseline = record.baseline
    if baseline is None or COMPARED not in record.evidence_files:
        return None
    before, place = _before(baseline)
    if not (report.complete or report.stopped) or before is None:
        return None
    looked = _looked(report, before, place, baseline.new_series)
    more = {
        "looks": record.policy.looks,
        "promoted": record.decision.promotion_allowed,
        "folder": folder,
    }
    return looked.model_copy(update=more)


def _before(
    baseline: SeenBaseline | BaselineFacts | RerunBaseline,
) -> tuple[ReportHead | BenchRunReport | SideHead | None, str | None]:
    """Return the side that a run was compared with, ``None`` if that could not be read, and of a log its place."""
    if isinstance(baseline, BaselineFacts):
        return baseline.run, None
    if isinstance(baseline, RerunBaseline):
        return baseline.report, baseline.place
    return baseline.report or baseline.run, baseline.place


def looked_at(
    baseline: Baseline, report: BenchRunReport, policy: GatePolicy, *, is_beside: bool
) -> Looked:
    """
    Return what a run looks at.

    :param is_beside: the baseline ran in the same session. A log is looked at as itself, too.
    """
    before: BenchRunReport | SideHead | None = baseline.facts.run
    if is_beside:
        before = baseline.report
    assert before is not None  # noqa: S101 - else there is nothing to look at
    looked = _looked(report, before, baseline.place, baseline.new_series)
    return looked.model_copy(update={"looks": policy.looks})


def counter_of(
    count: Counting, baseline: Baseline | None, policy: GatePolicy, *, is_beside: bool = False
) -> Counter:
    """Return what counts the look of a run at its baseline; ``is_beside`` as of :func:`looked_at`."""

    def counter(before: BenchRunReport, report: BenchRunReport) -> RecordedLook:
        assert baseline is not None  # noqa: S101 - that is where its report is from
        counted = count(looked_at(baseline, report, policy, is_beside=is_beside))
        if not counted.unlike:
            return counted.look
        from benchgate.looks.seen_cases import with_seen

        side = arm(baseline.facts.run or before, report)
        return with_seen(counted, side, report, is_beside=is_beside)

    return counter


def _looked(
    report: ReportHead | BenchRunReport,
    before: ReportHead | BenchRunReport | SideHead,
    place: str | None,
    new_series: str | None,
) -> Looked:
    """
    Return what a run looks at.

    :param before: the report of a baseline that ran too, or what a record has of one from a file.
    :param place: of a log; ``new_series`` as of :class:`~benchgate.gates.baseline.Baseline`.
    """
    said: dict[str, Any] = {
        "results": (before.run_id, report.run_id),
        "new_series": new_series,
    }
    log = _log_of(before)
    if log is not None:
        # Which of its rows are read plays no part, nor does their metric.
        alike = digest(["bytes", log])
        becomes: str | None = digest(["bytes", report.digests.system])
        if becomes == alike:
            # Of two sides in one file none takes the place of the other.
            becomes = None
        known = _known("file", place, alike)
        return Looked(**known, alike=alike, becomes=becomes, **said)
    if isinstance(before, SideHead):
        return Looked(**_at_pin(report, before), **said)
    # Results of a baseline that ran too are new each time; its system is what was looked at.
    known = _known("system", [report.digests.baseline, report.digests.scorer], "")
    return Looked(**known, labels=labels_of(report), **said)


def _log_of(before: ReportHead | BenchRunReport | SideHead) -> str | None:
    """Return the SHA-256 of the log that a baseline was read from; ``None`` if it was not."""
    if isinstance(before, SideHead):
        return before.log
    if before.source is None:
        return None
    return before.digests.system


def _at_pin(report: ReportHead | BenchRunReport, before: SideHead) -> dict[str, Any]:
    """Return by what a look at a baseline from a file is known, and what its labels are."""
    scorer = report.digests.scorer
    # Of a baseline that was observed again the outputs are the same: the best of many observations is sought there.
    alike = digest(["results", before.outputs or before.run_id, scorer])
    becomes = digest(["results", outputs_digest(report) or report.run_id, scorer])
    return {
        **_known("pin", [before.system, scorer], alike),
        "alike": alike,
        "becomes": becomes,
        "labels": labels_of(report),
        "relabelled": _is_relabelled(since_pin(before, report)),
    }


def place_of(file: Path, folder: Path) -> str:
    """Return where a file is, from a folder: what was moved together is the same file still."""
    return os.path.relpath(os.path.realpath(file), os.path.realpath(folder))


def at_file(place: str) -> dict[str, Any]:
    """Return by what a baseline is known that is a file; ``place`` is where that is."""
    return _known("file", place, "")


def _known(by: KnownBy, what: Any, alike: str) -> dict[str, Any]:
    """Return by what a baseline is known; of a record by an older version, which does not say it, what it was alike."""
    if what is None:
        return {"at": alike, "by": None}
    return {"at": digest([by, what]), "by": by}


def _is_relabelled(changes: Collection[LabelChange]) -> bool:
    """
    Return whether labels of cases changed that the baseline has.

    Cases may come and go until the first look, with whatever labels.
    """
    new = {
        change.case_id
        for change in changes
        if change.label == CASE and change.before is None and change.after == THERE
    }
    return any(change.label != CASE and change.case_id not in new for change in changes)


class ChainLooks:
    """
    The looks in ``runs/<class>/``, in the order of the chain.

    :param runs: that folder; ``None`` if the records are only added one by one.
    :param resumes: number of the run that is completed; if that one stopped early, this is the same look.
    """

    def __init__(self, runs: Path | None = None, resumes: int | None = None) -> None:
        self._runs = runs
        self._resumes = resumes
        self._stopped: dict[int | None, Looked] = {}
        self._tally = Tally()
        self._last = 0

    def number(self, looked: Looked) -> Counted:
        """
        Count a look that follows the records that are there.

        A record that is no valid one counts as a look at every baseline; the chain is not valid then.

        :raises Unreadable: the disk fails while records are listed or read. They would be counted another way later,
            when they can be read again, so that nothing may be judged now.
        """
        there: list[tuple[int, Path]] = []
        if self._runs is not None:
            there = numbered(self._runs)
        for seq, folder in there:
            if seq > self._last:
                self.add(folder / RECORD_FILE, later=True)
                self._last = seq
        return self._tally.number(self._same(looked, self._resumes))

    def _same(self, looked: Looked, resumes: int | None) -> Looked:
        """Return the look of the run that this one completes, if that stopped early and was the same look."""
        before = self._stopped.get(resumes)
        if before is None or (before.at, before.labels) != (looked.at, looked.labels):
            return looked
        return before

    def add(self, path: Path, *, later: bool = False) -> Counted | None:
        """
        Count the next record; return its look, ``None`` if it is none.

        :param later: somebody counts again later, and has to come to the same.
        """
        head = self.read(path, later=later)
        if head is None:
            return None
        return self.add_record(head[0], path.parent)

    def read(self, path: Path, *, later: bool = False) -> tuple[RecordHead, str] | None:
        """Return the head of the next record, and the record's SHA-256; ``None`` and count it if it is no valid one."""
        try:
            return RecordHead.read_digested(path, "record")
        except Unreadable as error:
            if later and not error.missing and isinstance(error.__cause__, OSError):
                raise
            self._tally.unknown += 1
            return None

    def add_record(self, record: RecordHead | RunRecord, folder: Path) -> Counted | None:
        """Count the next record, of which a head is enough; as :meth:`add`."""
        looked = _look_in(record, folder)
        if looked is None:
            return None
        resumes = None
        if record.resumes is not None:
            resumes = record.resumes.seq
        looked = self._same(looked, resumes)
        if record.report.stopped:
            self._stopped[record.seq] = looked
        return self._tally.add(looked)
