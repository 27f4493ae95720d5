"""The run that a candidate is compared with, and whether it may be."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchgate.aggregate import case_figures, irregular
from benchgate.errors import ArtifactError, Unreadable
from benchgate.gates.figures import Arm
from benchgate.gates.policy import GatePolicy
from benchgate.ids import run_id
from benchgate.models import BenchRunReport
from benchgate.wire.canonical import sha256_hex
from benchgate.wire.files import read_bytes
from benchgate.wire.model import WireModel

if TYPE_CHECKING:
    from collections.abc import Iterator


FILE_NAME: Final = "baseline.json"
MAX_BYTES: Final = 64 * 1024 * 1024


class BaselineRecord(WireModel):
    """What a comparison needs of a record: its report."""

    report: BenchRunReport


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineChoice:
    """
    Which file to compare with.

    :param path: ``None`` if there is nothing to compare with.
    :param binding: the decision has an effect on the exit status.
    :param requested: a gate was asked for by name, so a run that cannot be gated must not pass.
    """

    path: Path | None
    binding: bool
    requested: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """
    A baseline as it was read.

    :param problems: why nothing can be compared with it; empty if it can.
    """

    path: Path
    sha256: str | None
    report: BenchRunReport | None
    problems: tuple[str, ...]


def choose_baseline(choice: str | Path, class_path: Path) -> BaselineChoice:
    """
    Resolve ``auto``, ``pinned``, ``none`` or a path.

    :raises ArtifactError: the file that was asked for does not exist.
    """
    pinned = class_path / FILE_NAME
    if choice == "none":
        return BaselineChoice(path=None, binding=False, requested=False)
    if choice == "auto":
        there = os.path.lexists(pinned)  # a dangling link is a damaged baseline, not none
        return BaselineChoice(path=pinned if there else None, binding=there, requested=False)
    path = pinned if choice == "pinned" else Path(choice)
    if not path.is_file():
        raise ArtifactError(
            path, "no such baseline; a person makes one by copying a full run's record.json"
        )
    return BaselineChoice(path=path, binding=True, requested=True)


def read_baseline(path: Path) -> Baseline:
    """Read a baseline; what is wrong with it becomes a problem, not an error."""
    try:
        data = read_bytes(path, limit=MAX_BYTES)
    except Unreadable as error:
        return Baseline(path=path, sha256=None, report=None, problems=(error.why,))
    sha256 = sha256_hex(data)
    try:
        report = BaselineRecord.parse(path, data, "record of a run").report
    except Unreadable as error:
        return Baseline(path=path, sha256=sha256, report=None, problems=(error.why,))
    return Baseline(path=path, sha256=sha256, report=report, problems=tuple(_faults(report)))


class PolicyRecord(WireModel):
    """What a comparison needs of a record beside its report: the policy it was judged by."""

    policy: GatePolicy


def read_policy_of(path: Path) -> GatePolicy:
    """
    Return the policy that a run was recorded under.

    :raises Unreadable: the file is no record.
    """
    return PolicyRecord.read_file(path, "record of a run", limit=MAX_BYTES).policy


def _faults(report: BenchRunReport) -> Iterator[str]:
    if run_id(report.task_class, report.per_case) != report.run_id:
        yield "its results do not have the run_id that it claims: it was edited"
    if report.scope != "full":
        yield "it is not a full run"
    if not report.complete or any(irregular(result) for result in report.per_case):
        yield "it is incomplete"


def differences(baseline: BenchRunReport, candidate: BenchRunReport) -> tuple[str, ...]:
    """Return why two runs cannot be compared, a sentence for each difference."""
    return tuple(_differences(baseline, candidate))


def _differences(baseline: BenchRunReport, candidate: BenchRunReport) -> Iterator[str]:
    if baseline.task_class != candidate.task_class:
        yield f"its task class is {baseline.task_class!r}, not {candidate.task_class!r}"
        return
    before, after = _case_ids(baseline), _case_ids(candidate)
    if before - after:
        yield f"cases only in the baseline: {_some(before - after)}"
    if after - before:
        yield f"cases not in the baseline: {_some(after - before)}"
    old, new = baseline.digests, candidate.digests
    changed = {c for c in before & after if old.cases.get(c) != new.cases.get(c)}
    if changed:
        yield f"cases changed since: {_some(changed)}"
    if old.scorer != new.scorer:
        yield f"its rubric differs: {old.scorer[:12]}, now {new.scorer[:12]}"
    if baseline.isolation_class != candidate.isolation_class:
        yield f"its isolation class is {baseline.isolation_class!r}, not {candidate.isolation_class!r}"


def _case_ids(report: BenchRunReport) -> set[str]:
    return {result.case_id for result in report.per_case}


def _some(names: set[str]) -> str:
    shown = sorted(names)
    more = f" and {len(shown) - 5} more" if len(shown) > 5 else ""
    return ", ".join(shown[:5]) + more


def arm(report: BenchRunReport) -> Arm:
    """Return the case means of a run, sorted by case id."""
    cases = case_figures(report.per_case)
    return Arm(
        case_ids=tuple(case.case_id for case in cases),
        scores=tuple(case.score for case in cases),
        penalties=tuple(case.safety_penalty for case in cases),
        trials=tuple(case.trials for case in cases),
    )
