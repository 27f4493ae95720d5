"""What is said of the baseline of a class: what a new one changes, and what is deployed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchgate.artifacts.pin import gate_said
from benchgate.artifacts.run_kinds import RunRecord
from benchgate.check.pinned import pin_of
from benchgate.errors import Unreadable, counted
from benchgate.gates.baseline import arm
from benchgate.gates.choice import FILE_NAME
from benchgate.gates.run_diff import changes
from benchgate.gates.unscored import too_many, unscored_baseline
from benchgate.report.history import past_runs
from benchgate.wording.cases import change_rows, counts, other_lines, passing_rates
from benchgate.wording.lines import Line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from benchgate.artifacts.pin import Extended, Pin
    from benchgate.looks.chain import RecordHead

MOST: Final = 5
"""Numbers of runs that are shown of each outcome, the newest."""


def pin_lines(
    target: Path,
    before: RunRecord | None,
    after: RunRecord,
    *,
    pinned: Pin | None = None,
    extends: Sequence[Extended] = (),
) -> Iterator[Line]:
    """
    Yield two runs and how they differ.

    :param target: the file of the baseline, there or not.
    :param pinned: the pin of the baseline; ``extends`` are the pins of what the run was extended from.
    """
    if before is None:
        none = f"{target} is no record that can be read"
        if not target.exists():
            none = "no baseline is pinned yet"
        yield Line("pinned", none)
    else:
        yield from run_lines("pinned", before, _extended(pinned))
    yield from run_lines("new", after, extends)
    yield from _error_lines(after)
    yield from _weight_lines(after)
    if before is None:
        return
    difference = changes(before.report, after.report)
    yield Line("changed", counts(difference))
    yield from change_rows(difference).values()
    yield from other_lines(difference, None)
    yield from _term_lines(before, after)


def _term_lines(before: RunRecord, after: RunRecord) -> Iterator[Line]:
    """Yield what two runs were scored and judged by, where that differs."""
    old = before.report.digests
    new = after.report.digests
    for part in ("rubric", "scorer"):
        then = getattr(old, part)
        now = getattr(new, part)
        if then != now:
            yield Line(None, f"{part} changed: {then[:12]}, now {now[:12]}")
    for code in sorted({*before.severities, *after.severities}):
        severity = before.severities.get(code, "none")
        severity_now = after.severities.get(code, "none")
        if severity != severity_now:
            yield Line(None, f"severity of {code} changed: {severity}, now {severity_now}")
    for key, value in after.policy:
        if value != getattr(before.policy, key):
            change = f"{before.policy.text(key)}, now {after.policy.text(key)}"
            yield Line(None, f"policy {key} changed: {change}")


def run_lines(title: str, record: RunRecord, extends: Sequence[Extended] = ()) -> Iterator[Line]:
    """Yield the figures of a run, when it ended and what the gate said of it, or of what it was extended from."""
    report = record.report
    bound = report.score_lower_bound_95
    at_least = ""
    if bound is not None:
        at_least = f" (95% lower bound {bound:.3f})"
    passed = f"{report.system}: passed {report.passed_count} of {report.case_count}"
    yield Line(title, f"{passed}, mean score {report.mean_score:.3f}{at_least}")
    ended = f"{record.finished_at:%Y-%m-%d %H:%M} UTC"
    yield Line("", f"{ended}, run {report.run_id[:16]}, gate {gate_said(record, extends)}")


def _error_lines(record: RunRecord) -> Iterator[Line]:
    """Yield how many trials of a baseline are errors, and that no run can be promoted over it if they are too many."""
    side = arm(record.report)
    errors = too_many(side, record.policy.max_unscored, record.report)
    if errors is not None:
        yield Line(
            "errors", f"{errors.text}: every run that is compared with it will be held", "bad"
        )
        return
    for _, note in unscored_baseline(side):
        yield Line("errors", note.text, "caution")


def _weight_lines(record: RunRecord) -> Iterator[Line]:
    """Yield which checkpoint a run is of, and the SHA-256 of what its system was handed."""
    subject = record.subject
    handed = record.report.digests.checkpoint
    if subject.kind == "checkpoint":
        yield Line("weights", f"checkpoint {subject.id}, SHA-256 {subject.digest}")
        if handed != subject.digest:
            yield Line("", f"but its system was handed SHA-256 {handed or 'of nothing'}", "bad")
    elif handed is not None:
        yield Line("weights", f"SHA-256 {handed}, of no checkpoint that was named")


def sentence(before: RunRecord | None, after: RunRecord) -> str:
    """Return what a new baseline changes, and for how many cases."""
    new = after.report
    passed = f"{new.system} passes {new.passed_count} of {counted(new.case_count, 'case')}"
    if before is None:
        return f"{passed}; there was no baseline before that can be read"
    old = before.report
    difference = changes(before.report, new)
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
    past = []
    if runs.is_dir():
        past = past_runs(runs)
    where = "no record of"
    if f"{record.seq}:{sha256}" in {run.head for run in past}:
        where = "in"
    yield Line("baseline", f"run {record.seq}, SHA-256 {sha256[:16]}, {where} {runs}")
    yield from _pin_lines(pin)
    yield from run_lines("evidence", record, _extended(pin))
    yield from _error_lines(record)
    yield from _weight_lines(record)
    code = record.provenance
    if code.commit is not None:
        state = {None: ", unknown whether as committed", True: ", changed since", False: ""}
        yield Line("", f"commit {code.commit}{state[code.dirty]}, {code.job or 'no CI job'}")
    later = (run.record for run in past)
    yield Line(
        "later", _ends(run for run in later if run.baseline and run.baseline.sha256 == sha256)
    )


def _pin_lines(pin: Pin | None) -> Iterator[Line]:
    """Yield since when a run is the baseline, by whom and why, and what that changed."""
    if pin is None:
        yield Line("since", "unknown: pinned by hand, no baseline.pin.json is of this record")
        return
    yield Line("since", f"{pin.at:%Y-%m-%d %H:%M} UTC, by {pin.by or 'nobody who was named'}")
    if pin.reason:
        yield Line("reason", pin.reason)
    if pin.new_series:
        yield Line("looks", f"counted anew: {pin.new_series}")
    yield Line("change", pin.change)
    for one in reversed(pin.extends):
        yield Line("extends", _pinned_before(one))


def _extended(pin: Pin | None) -> tuple[Extended, ...]:
    """Return the pins of what a baseline was extended from; none if it was pinned by hand."""
    if pin is None:
        return ()
    return pin.extends


def _pinned_before(one: Extended) -> str:
    """Return what the gate said of a baseline that was extended, and who pinned it, when and why."""
    if one.at is None:
        return f"{one.outcome}, pinned by hand"
    text = f"{one.outcome}, {one.at:%Y-%m-%d %H:%M} UTC, by {one.by or 'nobody who was named'}"
    if one.reason:
        text += f": {one.reason}"
    return text


def _ends(records: Iterable[RecordHead]) -> str:
    ends: dict[str, list[int]] = {}
    for one in records:
        end = "incomplete"
        if one.report.complete:
            end = one.decision.outcome
        ends.setdefault(end, []).append(one.seq)
    parts = [
        f"{end} {len(numbers)} (run {', '.join(map(str, numbers[-MOST:]))})"
        for end, numbers in ends.items()
    ]
    return ", ".join(parts) or "no run was compared with it"
