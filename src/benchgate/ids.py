"""Ids of runs and seeds of trials. Each is computed from what it identifies, so the same content has the same id."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.wire.canonical import digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchgate.models import BenchRunReport, IsolationClass, RunDigests, Scope, TrialResult


def run_id(task_class: str, results: Iterable[TrialResult]) -> str:
    """
    Return the id of a run: equal results have equal ids.

    It covers case id, trial number, outcome, score and failure codes of each trial. Times, paths and details are left
    out, because they differ between runs with equal results.
    """
    rows = [
        [
            result.case_id,
            result.trial,
            result.outcome,
            result.score.model_dump(mode="json") if result.score else None,
            [mode.code for mode in result.failure_modes],
        ]
        for result in sorted(results, key=lambda result: (result.case_id, result.trial))
    ]
    return digest({"task_class": task_class, "results": rows})


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
    harness_version: str
    isolation_class: IsolationClass = "none"

    def plan_id(self) -> str:
        """Return the SHA-256 over the plan; without the baseline, which does not change the results."""
        digests = self.digests
        system = {"name": self.system, "digest": digests.system}
        if digests.checkpoint is not None:
            system["checkpoint"] = digests.checkpoint
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
