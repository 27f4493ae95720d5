"""Where trials run if not in this process: on a cluster, or in processes of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.errors import EvalError

if TYPE_CHECKING:
    from collections.abc import Collection
    from contextlib import ExitStack

    from benchgate.isolation.isolated import Isolated
    from benchgate.remote.cluster import Cluster
    from benchgate.runner.settings import RunRequest
    from benchgate.trials.executor import TrialExecutor


def connected(runs: Collection[RunRequest], stack: ExitStack) -> Cluster | None:
    """Return the cluster that was asked for, and have the stack close it; ``None`` without one."""
    given = next((run.settings for run in runs), None)
    if given is None or given.executor is None:
        return None
    from benchgate.remote.cluster import Cluster

    systems = [(run.bench, one) for run in runs for one in run.systems.values()]
    cluster = Cluster(given.executor, systems)
    stack.callback(cluster.close)
    cluster.open(may_be_mixed=given.allow_mixed_workers == "yes")
    return cluster


def isolated(run: RunRequest, own: TrialExecutor | None, stack: ExitStack) -> Isolated | None:
    """Start the processes of a class, and have the stack end them; ``None`` if it needs none."""
    level = run.settings.isolation
    if level == "none":
        return None
    if own is not None:
        raise EvalError(f"isolation={level}: an executor of one's own runs trials as it does")
    from benchgate.isolation.isolated import Isolated

    found = Isolated(run.bench, run.systems.values(), level, run.settings.jobs)
    stack.callback(found.close)
    return found
