"""What a session prints: at its start what will be run, at its end the table, the gate and the files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from benchgate.errors import counted, printable
from benchgate.gates.baseline import RERUN
from benchgate.gates.exit_status import HELD
from benchgate.pytest_plugin.item_outcome import OF_BASELINE
from benchgate.wire.arguments import misspelled
from benchgate.wording import capped, gate, looks, summary, table, tier

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchgate.audit.store import Published
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
            choice = self._controller.choice(name)
            baseline = _relative(choice.path, config.rootpath) if choice.path else "none"
            if choice.system is not None:
                baseline = f"{RERUN}{choice.system}"
            cases, trials = len(bench.folders), session.settings_of[name].trials
            system = session.systems[name, "candidate"].name
            text = (
                f"benchgate: {name}, system {system}, {counted(cases, 'case')}, "
                f"{counted(trials, 'trial')} each, baseline {baseline}"
            )
            lines.append(printable(text))
        waiting = {
            system.name
            for (name, _), system in session.systems.items()
            if system.concurrency == "async" and session.settings_of[name].jobs == 1
        }
        if waiting:
            names = ", ".join(sorted(waiting))
            hint = (
                f"benchgate: async: {names}; with --bench-jobs=N up to N of such trials run at once"
            )
            lines.append(printable(hint))
        return lines

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """Count a trial of the baseline apart: it has passed no test, whatever its score."""
        of_baseline = report.when == "call" and OF_BASELINE in report.user_properties
        return ("baseline", "b", "BASELINE") if of_baseline and report.passed else None

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Print the summary also where another reporter replaced pytest's, as pytest-rich does: it asks nobody."""
        plugins = session.config.pluginmanager
        if not plugins.hasplugin("terminalreporter") and not plugins.is_blocked("terminal"):
            self.pytest_terminal_summary(pytest.TerminalReporter(session.config))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print one section for each class."""
        for run in self._controller.runs.values():
            terminalreporter.write_sep("-", f"bench {run.ledger.bench.name}")
            if run.judgement is not None:
                _write_judgement(terminalreporter, run.judgement)
            _write_files(terminalreporter, run)
            for text in run.warnings:
                _write(terminalreporter, f"warning   {text}", yellow=True)
            word = "HELD" if run.exit_status == HELD else "FAILED"
            for failure in run.failures:
                _write(terminalreporter, f"{word} {failure}", red=True)


def _write_judgement(reporter: pytest.TerminalReporter, judgement: Judgement) -> None:
    for line in table(judgement):
        _write(reporter, line)
    _write(reporter, "")
    for line in summary(judgement):
        _write(reporter, line)
    for line in capped(judgement, "--bench-", is_recorded=True):
        _write(reporter, line, yellow=True)
    for line in looks(judgement.decision):
        _write(reporter, line)
    decided, *remarks = gate(judgement.decision)
    outcome = judgement.decision.outcome if judgement.decision else None
    _write(reporter, decided, **({COLOURS[outcome]: True, "bold": True} if outcome else {}))
    for remark in remarks:
        _write(reporter, remark)


def _write_files(reporter: pytest.TerminalReporter, run: ClassRun) -> None:
    if run.tier_problem is not None:
        for line in f"tier      not evaluated: {run.tier_problem}".split("\n"):
            _write(reporter, line, yellow=True)
    if run.published is None:
        return
    for line in tier(run.published.verdict, run.judgement.decision if run.judgement else None):
        _write(reporter, line)
    for line in _places(run, reporter.config.rootpath, run.published):
        _write(reporter, line)


def _places(run: ClassRun, root: Path, published: Published) -> Iterator[str]:
    if run.resume != "none":
        yield f"resumes   {_resumed(run)}"
    if run.recording is not None:
        yield f"replays   {run.recording.source}"
    yield f"written   {_relative(published.folder, root)}"
    if published.evidence is not None:
        yield f"evidence  {_relative(published.evidence, root)}"
    if run.recorded is not None:
        yield f"recorded  {_relative(run.recorded, root)}"
    if published.head is not None:
        yield f"head      {run.ledger.bench.name}={published.head}"


def _resumed(run: ClassRun) -> str:
    if run.resumes is None:
        return "nothing was left: this is a new run"
    total = sum(len(ledger.planned) for ledger in run.ledgers.values())
    return f"{run.resumes.folder}: {run.taken_over} of {total} trials were finished there"


def _write(reporter: pytest.TerminalReporter, text: str, **markup: bool) -> None:
    reporter.write_line(printable(text), **markup)


def _relative(path: Path, root: Path) -> str:
    relative = os.path.relpath(path, root)
    return str(path) if relative.startswith("..") else relative
