"""What a session prints: at its start what will be run, at its end the table, the gate and the files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from benchgate.wire import clock
from benchgate.wire.arguments import misspelled
from benchgate.wording import gate, summary, table, tier

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from benchgate.gates.judge import Judgement
    from benchgate.pytest_plugin.controller import Controller
    from benchgate.runner.class_run import ClassRun

COLOURS = {"promote": "green", "hold": "yellow", "reject": "red"}


class Terminal:
    """Header and summary."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller

    def pytest_report_header(self, config: pytest.Config) -> list[str]:
        """Say what each class is run with."""
        session = self._controller.session
        lines = list(misspelled(os.environ))
        for name, bench in session.benches.items():
            path = self._controller.choice(name).path
            baseline = _relative(path, config.rootpath) if path else "none"
            cases, trials = len(bench.folders), session.settings.trials
            lines.append(
                f"benchgate: {name}, system {session.systems[name].name}, {cases} case{'s' * (cases != 1)}, "
                f"{trials} trial{'s' * (trials > 1)} each, baseline {baseline}"
            )
        return lines

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print one section for each class."""
        for run in self._controller.runs.values():
            terminalreporter.write_sep("-", f"bench {run.ledger.bench.name}")
            if run.judgement is not None:
                _write_judgement(terminalreporter, run.judgement)
            _write_files(terminalreporter, run)
            if stale := run.ledger.stale(clock.now()):
                text = f"not validated for more than 90 days: {', '.join(stale[:5])}"
                terminalreporter.write_line(f"warning   {text}", yellow=True)
            for failure in run.failures:
                terminalreporter.write_line(f"FAILED {failure}", red=True)


def _write_judgement(reporter: pytest.TerminalReporter, judgement: Judgement) -> None:
    for line in table(judgement.report.per_case):
        reporter.write_line(line)
    reporter.write_line("")
    for line in summary(judgement):
        reporter.write_line(line)
    decided, *remarks = gate(judgement.decision)
    outcome = judgement.decision.outcome if judgement.decision else None
    reporter.write_line(decided, **({COLOURS[outcome]: True, "bold": True} if outcome else {}))
    for remark in remarks:
        reporter.write_line(remark)


def _write_files(reporter: pytest.TerminalReporter, run: ClassRun) -> None:
    if run.tier_problem is not None:
        reporter.write_line(f"tier      not evaluated: {run.tier_problem}", yellow=True)
    if run.published is None:
        return
    if run.published.verdict != "not_evaluated":
        for line in tier(run.published.verdict):
            reporter.write_line(line)
    root = reporter.config.rootpath
    reporter.write_line(f"written   {_relative(run.published.folder, root)}")
    if run.published.evidence is not None:
        reporter.write_line(f"evidence  {_relative(run.published.evidence, root)}")
    if run.published.head is not None:
        reporter.write_line(f"head      {run.ledger.bench.name}={run.published.head}")


def _relative(path: Path, root: Path) -> str:
    relative = os.path.relpath(path, root)
    return str(path) if relative.startswith("..") else relative
