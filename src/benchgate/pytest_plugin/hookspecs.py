"""
The hooks of benchgate.

Implementations in a shared conftest need ``@pytest.hookimpl(optionalhook=True)``, so that pytest does not refuse
them where benchgate is not installed. An implementation may take any subset of the arguments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.gates.decision import CheckpointPromotionDecision
    from benchgate.gates.judge import Gate
    from benchgate.models import BenchCase, BenchRunReport, BenchScore, TrialResult
    from benchgate.registry import System, TaskClass
    from benchgate.trials.executor import TrialExecutor


@pytest.hookspec(firstresult=True)
def pytest_bench_system(config: pytest.Config, task_class: TaskClass) -> System | None:
    """
    Return the system under test for a task class, or ``None`` to leave the choice to other implementations.

    Use it for a system that needs arguments, such as a model's name, or that several classes share.

    Called once for each class before the first case, in every process: under xdist also in the workers, which must
    return the same system. The first result counts. ``--bench-system`` takes precedence over it; without a result the
    class's default is used. Works in plugins and in the root ``conftest.py``; conftests of a bench are loaded too late.

    ::

        @pytest.hookimpl(optionalhook=True)
        def pytest_bench_system(config, task_class):
            if task_class.name == "vuln-remediation":
                return MyAgent(model=os.environ["AGENT_MODEL"])
    """


@pytest.hookspec(firstresult=True)
def pytest_bench_score(
    config: pytest.Config, case: BenchCase, harness_output: Mapping[str, Any]
) -> BenchScore | None:
    """
    Score one output in the rubric's place, or return ``None`` to leave it to the rubric.

    Called for each trial, in the process that runs it. A ``conftest.py`` of a task class scores only the cases of that
    class. The first result counts. The report has a digest of the code that scored, and the gate does not compare
    runs that were scored by different code.

    ::

        def pytest_bench_score(case, harness_output):
            if "draft" in case.tags:
                return BenchScore(passed=True, score=1.0)
    """


@pytest.hookspec
def pytest_bench_case_finished(config: pytest.Config, result: TrialResult) -> None:
    """
    Receive the result of a trial, for example to send it to a dashboard while the run goes on.

    Called once for each recorded trial, in the process that writes the report: under xdist the controller, in the
    order of arrival. Trials of a baseline that runs too are not told. Works in plugins and in the root
    ``conftest.py``. What it returns is ignored.

    ::

        def pytest_bench_case_finished(result):
            statsd.gauge(f"bench.{result.case_id}", result.score.score if result.score else 0)
    """


@pytest.hookspec
def pytest_bench_gates(config: pytest.Config, task_class: TaskClass) -> Sequence[Gate] | None:
    """
    Return further gates for a task class.

    Called once for each fully run class at the end of the session, in the process that writes the report. The
    gates of all implementations count. A gate gets the candidate's report and the baseline's (or ``None``) and returns
    ``None`` or an objection, as a sentence. An objection holds the promotion and fails the session; no gate overrules
    a built-in one. Works in plugins and in the root ``conftest.py`` only: a bench must not set its own policy.

    ::

        def pytest_bench_gates(task_class):
            def budget(report, baseline):
                if report.total_cost_usd > 5:
                    return f"cost {report.total_cost_usd:.2f} USD; allowed is 5"
            return [budget]
    """


@pytest.hookspec
def pytest_bench_run_finished(
    config: pytest.Config, report: BenchRunReport, decision: CheckpointPromotionDecision | None
) -> None:
    """
    Receive a finished run, for example to upload its artifacts.

    Called once for each class after its artifacts are written, in the process that wrote them. ``decision`` is
    ``None`` if only a part of the cases was run, which is not judged. Works in plugins and in the root ``conftest.py``.

    ::

        def pytest_bench_run_finished(report, decision):
            print(report.run_id, decision.outcome if decision else "not judged")
    """


@pytest.hookspec(firstresult=True)
def pytest_bench_executor(config: pytest.Config) -> TrialExecutor | None:
    """
    Return what runs the trials, or ``None`` to leave it to benchgate: one at a time, or ``--bench-jobs`` at once.

    Use it to run trials elsewhere, such as on a cluster. An executor gets requests that can be pickled, loads class,
    system and rubric by their names where it runs them, and returns futures of their records; see
    :class:`~benchgate.trials.executor.TrialExecutor`.

    Called once, after the systems were found, in every process that runs items: under xdist in the workers. The first
    result counts. Works in plugins and in the root ``conftest.py``.

    ::

        @pytest.hookimpl(optionalhook=True)
        def pytest_bench_executor(config):
            return ClusterExecutor(os.environ["CLUSTER"])
    """
