"""Checks whether the gate will accept the pinned baseline of a class, and whether a person's pin stands behind it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from benchgate.artifacts.pin import Pin, stated
from benchgate.artifacts.run_kinds import RunRecord
from benchgate.check.problem import Problem
from benchgate.errors import RegistrationError, Unreadable
from benchgate.gates.baseline import read_baseline
from benchgate.gates.choice import FILE_NAME, PIN_FILE
from benchgate.loader.case_folder import retired_cases
from benchgate.loader.observer import observer_digest
from benchgate.loader.rubric_source import rubric_digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from benchgate.models import BenchRunReport


def is_pinned(class_path: Path) -> bool:
    """Return whether a class has a baseline, readable or not."""
    return os.path.lexists(class_path / FILE_NAME)


def pin_of(class_path: Path) -> Pin | None:
    """Return the pin of a class's baseline; ``None`` if that was pinned by hand, so that no pin is of this record."""
    try:
        pin = Pin.read_file(class_path / PIN_FILE, "pin")
        record, sha256 = RunRecord.read_digested(class_path / FILE_NAME, "record")
    except Unreadable:
        return None
    is_here = pin.task_class == class_path.name
    is_of_it = stated(record, sha256).items() <= dict(pin).items() and pin.is_of(record)
    return pin if is_here and is_of_it else None


def baseline_problems(class_path: Path, cases: Mapping[str, str | None]) -> Iterator[Problem]:
    """
    Yield why the gate would refuse the baseline of a class, if it has one.

    :param cases: digest of each case on disk, ``None`` for those that cannot be read.
    """
    path = class_path / FILE_NAME
    if not is_pinned(class_path):
        if os.path.lexists(class_path / PIN_FILE):
            yield Problem(class_path / PIN_FILE, 1, f"there is no {FILE_NAME} beside it")
        return
    baseline = read_baseline(path)
    report = baseline.report
    known = {result.case_id for result in report.per_case} if report else set()
    cases = {case_id: cases[case_id] for case_id in known & cases.keys()}  # the gate names new ones
    others = () if report is None else differences(report, class_path, cases)
    for message in (*(one.text for one in baseline.problems), *others):
        yield Problem(path, 1, f"{message}; the gate will refuse it: make it again")


def differences(
    report: BenchRunReport,
    class_path: Path,
    cases: Mapping[str, str | None],
    what: str = "the baseline",
) -> Iterator[str]:
    """
    Yield how a run differs from its class as it is on disk now: in its cases and its rubric.

    :param cases: digest of each case on disk, ``None`` for those that cannot be read.
    :param what: what the run is called.
    """
    if report.task_class != class_path.name:
        yield f"its task class is {report.task_class!r}, not {class_path.name!r}"
        return
    recorded = {result.case_id for result in report.per_case}
    for case_id in sorted(recorded - cases.keys() - retired_cases(class_path).keys()):
        yield f"case {case_id!r} is in {what} only"
    for case_id in sorted(cases.keys() - recorded):
        yield f"case {case_id!r} is not in {what}"
    for case_id in sorted(recorded & cases.keys()):
        if cases[case_id] is not None and cases[case_id] != report.digests.cases.get(case_id):
            yield f"case {case_id!r} was changed since"
    yield from _rubric_difference(report, class_path)


def _rubric_difference(report: BenchRunReport, class_path: Path) -> Iterator[str]:
    try:
        now = rubric_digest(class_path)
    except RegistrationError:  # reported by the check of the sources
        return
    # If a hook scored, the gate compares the hook's digest, which cannot be computed from the class's sources.
    if report.digests.scorer == report.digests.rubric != now:
        yield f"its rubric differs: {report.digests.rubric[:12]}, now {now[:12]}"
    if report.observer and report.observer.source != observer_digest(class_path):
        yield "its observer differs from the one in observers/"
