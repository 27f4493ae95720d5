"""Ids of runs and seeds of trials. Each is computed from what it identifies, so the same content has the same id."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from benchgate.wire.canonical import canonical_bytes, digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchgate.models import BenchRunReport, Isolation, RunDigests, Scope, Side, TrialResult
    from benchgate.models.case import Observer

MAX_FILE_ID: Final = 200
"""Longest case id, in bytes, that is the name of a file as it is."""

SCORE: Final = frozenset({"passed", "score", "breakdown", "failure_modes", "safety_penalty"})
"""The fields of a score that an id of a run covers: what the result is, and not what it cost."""


def run_id(task_class: str, results: Iterable[TrialResult]) -> str:
    """
    Return the id of a run: equal results have equal ids.

    It covers case id, trial number, outcome, score and failure codes of each trial. Times, costs, usage, paths and
    details are left out, because they differ between runs with equal results.
    """
    # The canonical JSON of one object, made in parts: that of thousands of trials would be the most of a session.
    whole = hashlib.sha256(b'{"results":[')
    comma = b""
    for result in sorted(results, key=lambda result: (result.case_id, result.trial)):
        score = None
        if result.score is not None:
            score = {name: getattr(result.score, name) for name in SCORE}
            score["breakdown"] = dict(result.score.breakdown)
        codes: list[str] = []
        if result.outcome != "not_run":
            codes = [mode.code for mode in result.failure_modes]
        row = (result.case_id, result.trial, result.outcome, score, codes)
        whole.update(comma + canonical_bytes(row))
        comma = b","
    whole.update(b'],"task_class":' + canonical_bytes(task_class) + b"}")
    return whole.hexdigest()


def trial_seed(task_class: str, case_id: str, trial: int, bench_seed: int) -> int:
    """Return the seed of a trial, 48 bits of SHA-256: the same whatever other cases run, and in which process."""
    text = f"{task_class}|{case_id}|{trial}|{bench_seed}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """What is to be run, and everything that its results depend on."""

    task_class: str
    case_ids: tuple[str, ...]
    scope: Scope
    system: str
    trial_count: int
    seed: int
    digests: RunDigests
    harness_version: str = field(default_factory=partial(version, "pytest-benchgate"))
    isolation_class: Isolation = "none"
    reads: tuple[str, ...] = ()
    observer: Observer | None = None

    @classmethod
    def of_report(cls, report: BenchRunReport, **own: Any) -> RunPlan:
        """Return what a run was planned as, by its report; ``own`` are fields that this does not say."""
        return cls(
            task_class=report.task_class,
            case_ids=tuple({result.case_id for result in report.per_case}),
            scope=report.scope,
            system=report.system,
            trial_count=report.trial_count,
            seed=report.seed,
            digests=report.digests,
            isolation_class=report.isolation_class,
            reads=report.reads,
            observer=report.observer,
            **own,
        )

    def plan_id(self) -> str:
        """Return the SHA-256 over the plan; without the baseline, which does not change the results."""
        digests = self.digests
        system: dict[str, Any] = {"name": self.system, "digest": digests.system}
        if digests.checkpoint is not None:
            system["checkpoint"] = digests.checkpoint
        if self.reads:
            system["reads"] = sorted(self.reads)
        if self.observer is not None:
            system["observer"] = self.observer.model_dump(mode="json")
        return digest(
            {
                "task_class": self.task_class,
                "cases": sorted(self.case_ids),
                "case_digests": dict(digests.cases),
                "rubric": digests.scorer,
                "taxonomy": digests.taxonomy,
                "system": system,
                "policy": digests.policy,
                "trials": self.trial_count,
                "seed": self.seed,
                "isolation_class": self.isolation_class,
                "harness_version": self.harness_version,
            }
        )


def system_digest(run: RunPlan | BenchRunReport) -> str:
    """Return the digest of the system of a run: of its name, of what it declares and of its checkpoint."""
    return digest([run.system, run.digests.system, run.digests.checkpoint])


def suite_version(cases: Mapping[str, str]) -> str:
    """Return the version of a set of cases: the first 12 hex digits of the digest over their digests."""
    return digest(dict(cases))[:12]


class TrialKey(NamedTuple):
    """What the result of a trial is filed under: equal keys are one trial, in whichever run and process."""

    task_class: str
    case_id: str
    trial: int
    seed: int
    side: Side = "candidate"

    @property
    def file_name(self) -> str:
        """The name of its file."""
        return trial_file_name(self.case_id, self.trial, self.side)


def trial_file_name(
    case_id: str, trial: int, side: Side = "candidate", *, suffix: str = ".json"
) -> str:
    """Return the name of the file of a trial by its key; what was recorded of its HTTP ends in ``.http.json``."""
    if "/" in case_id or "\0" in case_id or len(case_id.encode(errors="replace")) > MAX_FILE_ID:
        # Of a log of another harness: the folder of a case has no such name.
        name = hashlib.sha256(case_id.encode(errors="replace")).hexdigest()[:16]
        case_id = f"{re.sub(r'[^A-Za-z0-9_.=-]+', '_', case_id)[:80]}-{name}"
    # A malformed case may have an id such as a-t1, the name of case a's second trial: add its own trial.
    is_ambiguous = "-t" in case_id and re.search(r"-t\d+$", case_id) is not None
    # Or such as a-baseline, where that would not help; no id ends in the sign.
    shown = case_id
    if case_id.endswith("-baseline"):
        shown += "~"
    if side == "baseline":
        shown += "-baseline"
    if trial or is_ambiguous:
        shown += f"-t{trial}"
    return f"{shown}{suffix}"
