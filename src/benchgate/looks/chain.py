"""
Counts the looks at a baseline in the chain of a class.

A look is a full run, complete or stopped early, that was compared with a baseline. Looks at one baseline have the same
rubric and the same results of it, or of what it was extended from; of a baseline that runs too, the same system and
cases; of a log, the same file. Results seen before are no further look, nor is completing a run that stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field

from benchgate.aggregate import outputs_digest
from benchgate.audit.chain import RECORD_FILE, numbered
from benchgate.errors import Unreadable
from benchgate.gates.looks import LookNumber
from benchgate.gates.run_diff import CASE, labels_of, since_pin
from benchgate.looks.tally import Looked, Tally
from benchgate.models import RunDigests
from benchgate.wire.canonical import digest
from benchgate.wire.model import Count, Sha256, Version, WireModel, empty_mapping

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from benchgate.gates.judge import Counter
    from benchgate.gates.policy import GatePolicy
    from benchgate.models import BenchRunReport


Counting = Callable[[Looked], LookNumber]
"""Returns the number of a look."""

COMPARED: Final = "baseline.json"
"""The evidence that a run has only if it was compared with a baseline."""


class SeenResult(WireModel):
    """The fields of a result that are a label of its case."""

    case_id: str
    held_out: bool = False


class SeenReport(WireModel):
    """The fields of a report that make it a look."""

    run_id: Sha256
    complete: bool
    digests: RunDigests
    source: Mapping[str, Any] | None = None
    stopped: tuple[Any, ...] = ()
    clusters: Mapping[str, str] = Field(default_factory=empty_mapping)
    critical: tuple[str, ...] = ()
    per_case: tuple[SeenResult, ...] = ()
    retired: Mapping[str, str] = Field(default_factory=empty_mapping)


class SeenBaseline(WireModel):
    """What a run was compared with: a file, by its digest, or a system that ran beside the candidate."""

    run_id: Sha256 | None = None
    sha256: Sha256 | None = None
    report: SeenReport | None = None
    outputs: Sha256 | None = None
    relabelled: tuple[str, ...] = ()


class SeenRecord(WireModel):
    """The fields of a record that make it a look."""

    schema_version: Version
    seq: Annotated[Count, Field(ge=1)]
    report: SeenReport | None = None
    baseline: SeenBaseline | None = None
    policy: Mapping[str, Any] = Field(default_factory=empty_mapping)
    evidence_files: Mapping[str, str] = Field(default_factory=empty_mapping)
    resumes: Mapping[str, Any] | None = None

    def looked(self, folder: Path) -> Looked | None:
        """Return what was looked at by the run in a folder; ``None`` if this is no look."""
        report, baseline = self.report, self.baseline
        if report is None or baseline is None or COMPARED not in self.evidence_files:
            return None
        beside = baseline.report
        before = beside.run_id if beside else baseline.run_id
        if not (report.complete or report.stopped) or before is None:
            return None
        looks = str(self.policy.get("looks", "count"))
        found = _looked(
            report, before, beside, looks, baseline.outputs, relabelled=baseline.relabelled
        )
        return found.model_copy(update={"folder": folder})


def looked_at(
    before: BenchRunReport, report: BenchRunReport, policy: GatePolicy, *, is_beside: bool
) -> Looked:
    """
    Return what a run looks at.

    :param is_beside: the baseline ran in the same session. A log is looked at as itself, too.
    """
    is_itself = is_beside or before.source is not None
    beside, outputs = before if is_itself else None, outputs_digest(before)
    changed = () if is_beside else since_pin(before, report)
    return _looked(report, before.run_id, beside, policy.looks, outputs, relabelled=changed)


def counter_of(count: Counting, policy: GatePolicy, *, is_beside: bool = False) -> Counter:
    """Return what numbers the look of a run at its baseline; ``is_beside`` as of :func:`looked_at`."""
    return lambda before, report: over_first(
        count(looked_at(before, report, policy, is_beside=is_beside)), report, policy
    )


def over_first(number: LookNumber, report: BenchRunReport, policy: GatePolicy) -> LookNumber:
    """
    Add to the number of a candidate's look the outcome over the first look's cases, if it had others.

    Earlier results of the candidate's system stand for those that it lacks. Nothing is added if there are none of some
    case, or the first look's record cannot be read.
    """
    if not number.earlier:
        return number
    from benchgate.artifacts.evidence_kinds import ArmReport
    from benchgate.artifacts.run_kinds import RunRecord
    from benchgate.gates.baseline import arm
    from benchgate.gates.decide import decide
    from benchgate.gates.decision import GateInput
    from benchgate.gates.looks import judged_at
    from benchgate.gates.vectors import weigh_arms

    first = ArmReport.read_or_none(number.earlier[0] / "evidence" / "baseline.json")
    records = [RunRecord.read_or_none(folder / RECORD_FILE) for folder in number.earlier]
    reports = [one.report for one in records if one and one.report.system == report.system]
    results = {
        case_id: tuple(rows)
        for one in (*reports, report)
        for case_id, rows in groupby(one.per_case, key=attrgetter("case_id"))
    }
    ids = (first and first.arm.case_ids) or ()
    if first is None or not ids or not results.keys() >= {*ids}:
        return number
    rows = tuple(result for case_id in ids for result in results[case_id])
    after = replace(arm(report.model_copy(update={"per_case": rows})), clusters=first.arm.clusters)
    look = int(number)  # of this number nothing more is known
    figures, blockers = weigh_arms(first.arm, after, judged_at(policy, look))
    inputs = GateInput(policy=policy, figures=figures, look=look, blockers=blockers)
    number.over_first = decide(inputs).outcome
    return number


def _looked(
    report: SeenReport | BenchRunReport,
    before: str,
    beside: SeenReport | BenchRunReport | None,
    looks: str,
    outputs: str | None,
    *,
    relabelled: Iterable[str],
) -> Looked:
    # Of a baseline that was observed again the outputs are the same: the best of many observations is sought there.
    digests, of = report.digests, outputs or before
    # Those of a pin may come and go: that is a change of labels.
    cases = digests.cases if beside else {}
    if beside is not None and beside.source is not None:
        # The cases of the baseline: a candidate that leaves one out begins no new count.
        cases, of = beside.digests.cases, str(beside.digests.system)
    elif beside is not None:
        # Results of a baseline that ran too are new each time; its system is what was looked at.
        of = str(digests.baseline)
    at = digest([dict(cases), digests.scorer, of])
    labels = {} if report.source else labels_of(report)
    there = digest([one for one in sorted(labels.items()) if one[0].startswith(CASE)])
    # Cases may come and go until the first look.
    costs = any(not text.startswith(CASE) for text in relabelled)
    of_cases: dict[str, Any] = {"labels": labels, "cases": there, "relabelled": costs}
    return Looked(at=at, results=(before, report.run_id), looks=looks, **of_cases)


class ChainLooks:
    """
    The looks in ``runs/<class>/``, in the order of the chain.

    :param runs: that folder; ``None`` if the records are only added one by one.
    :param resumes: number of the run that is completed; if that one stopped early, this is the same look.
    """

    def __init__(self, runs: Path | None = None, resumes: int | None = None) -> None:
        self._runs, self._resumes = runs, resumes
        self._stopped: dict[int | None, Looked] = {}
        self._tally = Tally()
        self._last = 0

    def number(self, looked: Looked) -> LookNumber:
        """
        Return the number of a look that follows the records that are there.

        A record that is no valid one counts as a look at every baseline; the chain is not valid then.

        :raises Unreadable: the disk fails while a record is read. Its look would be counted another way later, when it
            can be read again, so that nothing may be judged now.
        """
        for seq, folder in numbered(self._runs) if self._runs else ():
            if seq > self._last:
                self.add(folder / RECORD_FILE, later=True)
                self._last = seq
        return self._tally.number(self._same(looked, self._resumes))

    def _same(self, looked: Looked, resumes: int | None) -> Looked:
        before = self._stopped.get(resumes)
        is_same = before and (before.at, before.labels) == (looked.at, looked.labels)
        return before if before and is_same else looked

    def add(self, path: Path, *, later: bool = False) -> LookNumber | None:
        """
        Count the next record; return the number of its look, ``None`` if it is none.

        :param later: somebody counts again later, and has to come to the same.
        """
        try:
            record = SeenRecord.read_file(path, "record")
        except Unreadable as error:
            if later and not error.missing and isinstance(error.__cause__, OSError):
                raise
            self._tally.unknown += 1
            return None
        if looked := record.looked(path.parent):
            looked = self._same(looked, (record.resumes or {}).get("seq"))
            if record.report and record.report.stopped:
                self._stopped[record.seq] = looked
        return self._tally.add(looked) if looked else None
