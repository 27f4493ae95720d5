"""What a new baseline of a class changes, in lines for the person who decides and in a sentence for who reviews it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.errors import counted
from benchgate.gates.run_diff import changes
from benchgate.wording.block import change_lines
from benchgate.wording.lines import Line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchgate.artifacts.run_kinds import RunRecord


def pin_lines(target: Path, before: RunRecord | None, after: RunRecord) -> Iterator[Line]:
    """
    Yield two runs and how they differ.

    :param target: the file of the baseline, there or not.
    """
    if before is not None:
        yield from run_lines("pinned", before)
    elif target.exists():
        yield Line("pinned", f"{target} is no record that can be read")
    else:
        yield Line("pinned", "no baseline is pinned yet")
    yield from run_lines("new", after)
    if before is None:
        return
    yield from change_lines(changes(before.report, after.report))
    old, new = before.report.digests, after.report.digests
    for part in ("rubric", "scorer", "taxonomy", "policy"):
        then, now = getattr(old, part), getattr(new, part)
        if then != now:
            yield Line(None, f"{part} changed: {then[:12]}, now {now[:12]}")


def run_lines(title: str, record: RunRecord) -> Iterator[Line]:
    """Yield the figures of a run, when it ended and what the gate said of it."""
    report, bound = record.report, record.report.score_lower_bound_95
    at_least = "" if bound is None else f" (95 % lower bound {bound:.3f})"
    said = record.decision.outcome if record.decision else "not evaluated"
    passed = f"{report.system}: passed {report.passed_count} of {report.case_count}"
    yield Line(title, f"{passed}, mean score {report.mean_score:.3f}{at_least}")
    ended = f"{record.finished_at:%Y-%m-%d %H:%M} UTC"
    yield Line("", f"{ended}, run {report.run_id[:16]}, gate {said}")


def sentence(before: RunRecord | None, after: RunRecord) -> str:
    """Return what a new baseline changes, and for how many cases."""
    new = after.report
    passed = f"{new.system} passes {new.passed_count} of {counted(new.case_count, 'case')}"
    if before is None:
        return f"{passed}; there was no baseline before that can be read"
    old, difference = before.report, changes(before.report, new)
    others = {"new": difference.new, "missing": difference.missing, "edited": difference.changed}
    counts = [next(change_lines(difference)).text]
    counts += [f"{counted(len(ids), 'case')} {how}" for how, ids in others.items() if ids]
    return f"{passed}, {old.system} before {old.passed_count}: {', '.join(counts)}"
