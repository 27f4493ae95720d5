"""What is said of the baseline of a class: what a new one changes, and what is deployed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchgate.artifacts.run_kinds import RunRecord
from benchgate.check.pinned import pin_of
from benchgate.errors import Unreadable, counted
from benchgate.gates.baseline import FILE_NAME
from benchgate.gates.run_diff import changes
from benchgate.report.history import past_runs
from benchgate.wording.cases import change_rows, counts, other_lines, passing_rates
from benchgate.wording.lines import Line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from benchgate.report.history import PastRecord

MOST: Final = 5
"""Numbers of runs that are shown of each outcome, the newest."""


def pin_lines(target: Path, before: RunRecord | None, after: RunRecord) -> Iterator[Line]:
    """
    Yield two runs and how they differ.

    :param target: the file of the baseline, there or not.
    """
    damaged = f"{target} is no record that can be read"
    none = Line("pinned", damaged if target.exists() else "no baseline is pinned yet")
    yield from run_lines("pinned", before) if before else (none,)
    yield from run_lines("new", after)
    if before is None:
        return
    difference = changes(before.report, after.report)
    yield Line("changed", counts(difference))
    yield from change_rows(difference).values()
    yield from other_lines(difference, None)
    old, new = before.report.digests, after.report.digests
    for part in ("rubric", "scorer", "taxonomy", "policy"):
        then, now = getattr(old, part), getattr(new, part)
        if then != now:
            yield Line(None, f"{part} changed: {then[:12]}, now {now[:12]}")


def run_lines(title: str, record: RunRecord) -> Iterator[Line]:
    """Yield the figures of a run, when it ended and what the gate said of it."""
    report, bound = record.report, record.report.score_lower_bound_95
    at_least = "" if bound is None else f" (95% lower bound {bound:.3f})"
    passed = f"{report.system}: passed {report.passed_count} of {report.case_count}"
    yield Line(title, f"{passed}, mean score {report.mean_score:.3f}{at_least}")
    ended = f"{record.finished_at:%Y-%m-%d %H:%M} UTC"
    yield Line("", f"{ended}, run {report.run_id[:16]}, gate {record.decision.outcome}")


def sentence(before: RunRecord | None, after: RunRecord) -> str:
    """Return what a new baseline changes, and for how many cases."""
    new = after.report
    passed = f"{new.system} passes {new.passed_count} of {counted(new.case_count, 'case')}"
    if before is None:
        return f"{passed}; there was no baseline before that can be read"
    old, difference = before.report, changes(before.report, new)
    others = {"new": difference.new, "missing": difference.missing, "edited": difference.changed}
    parts = [counts(difference)]
    parts += [f"{counted(len(ids), 'case')} {how}" for how, ids in others.items() if ids]
    said = f"{passed}, {old.system} before {old.passed_count}"
    if difference.rates is not None:
        said = f"{passed}; {passing_rates(difference.rates)}"
    return f"{said}: {', '.join(parts)}"


def deployed(class_path: Path, runs: Path) -> Iterator[Line]:
    """
    Yield which run is the baseline of a class, since when, by whom and on what evidence, and how later runs ended.

    :param runs: the folder of the class's records, there or not.
    """
    path = class_path / FILE_NAME
    try:
        record, sha256 = RunRecord.read_digested(path, "record")
    except Unreadable as error:
        yield Line("baseline", f"{path}: {error.why}", "bad")
        return
    pin = pin_of(class_path)
    past = past_runs(runs) if runs.is_dir() else []
    where = "in" if f"{record.seq}:{sha256}" in {run.head for run in past} else "no record of"
    yield Line("baseline", f"run {record.seq}, SHA-256 {sha256[:16]}, {where} {runs}")
    if pin is None:
        yield Line("since", "unknown: pinned by hand, no baseline.pin.json is of this record")
    else:
        yield Line("since", f"{pin.at:%Y-%m-%d %H:%M} UTC, by {pin.by or 'nobody who was named'}")
        yield from (Line("reason", text) for text in (pin.reason,) if text)
        yield Line("change", pin.change)
    yield from run_lines("evidence", record)
    code = record.provenance
    if code.commit is not None:
        state = {None: ", unknown whether as committed", True: ", changed since", False: ""}
        yield Line("", f"commit {code.commit}{state[code.dirty]}, {code.job or 'no CI job'}")
    later = (run.record for run in past)
    yield Line(
        "later", _ends(run for run in later if run.baseline and run.baseline.sha256 == sha256)
    )


def _ends(records: Iterable[PastRecord]) -> str:
    ends: dict[str, list[int]] = {}
    for one in records:
        end = one.decision.outcome if one.report.complete else "incomplete"
        ends.setdefault(end, []).append(one.seq)
    counts = [
        f"{end} {len(numbers)} (run {', '.join(map(str, numbers[-MOST:]))})"
        for end, numbers in ends.items()
    ]
    return ", ".join(counts) or "no run was compared with it"
