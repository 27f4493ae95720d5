"""The gate in JUnit XML: it is no test case, so it goes into the properties of the suite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.pytest_plugin.controller import Controller
    from benchgate.runner.class_run import ClassRun


class JunitSuite:
    """Adds decision and head of each class to pytest's own report, if that accepts properties."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Add the properties before the reporter writes its file."""
        # Only a session-scoped fixture has a public way to these properties, and cases have no fixtures.
        plugins = session.config.pluginmanager.get_plugins()
        reporters = [plugin for plugin in plugins if hasattr(plugin, "add_global_property")]
        for reporter in reporters:
            for run in self._controller.runs.values():
                for name, value in _properties(run):
                    reporter.add_global_property(name, value)


def _properties(run: ClassRun) -> Iterator[tuple[str, str]]:
    prefix = f"bench.{run.ledger.bench.name}"
    if run.judgement is not None:
        decision = run.judgement.decision
        yield f"{prefix}.run_id", run.judgement.report.run_id
        yield f"{prefix}.cost_usd", str(run.judgement.report.total_cost_usd)
        yield f"{prefix}.decision", decision.outcome if decision else "not_evaluated"
    if run.published is not None and run.published.head is not None:
        yield f"{prefix}.head", run.published.head
