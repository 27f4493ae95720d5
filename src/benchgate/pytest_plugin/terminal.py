"""What a session prints: at its start what will be run, at its end what changed, the gate, failed trials and files."""

from __future__ import annotations

import os
from dataclasses import replace
from shutil import get_terminal_size
from typing import TYPE_CHECKING

import pytest

from benchgate.audit.runs import page_command, pin_command
from benchgate.errors import counted, printable
from benchgate.gates.choice import RERUN
from benchgate.gates.exit_status import HELD
from benchgate.options.places import misspelled
from benchgate.pytest_plugin.item_outcome import OF_BASELINE
from benchgate.pytest_plugin.workers import GROUPING
from benchgate.wording import details, tier
from benchgate.wording.block import Door, block, threshold_lines
from benchgate.wording.decision import shortened
from benchgate.wording.lines import Line, laid_out
from benchgate.wording.table import table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from benchgate.audit.store import Published
    from benchgate.pytest_plugin.controller import Controller
    from benchgate.runner.class_run import ClassRun

MARKUP = {"good": "green", "caution": "yellow", "bad": "red", "quiet": "light"}


class Terminal:
    """Header and summary."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller

    def pytest_report_header(self, config: pytest.Config) -> list[str]:
        """Say what each class is run with."""
        session = self._controller.session
        lines = [*misspelled(os.environ), *map(printable, session.trials.service.notes)]
        lines += [self._run_with(name, config.rootpath) for name in session.benches]
        dist = config.getoption("dist", "no")
        if dist in GROUPING:
            lines.append(f"benchgate: --dist={dist}: cases are handed out one by one, as with load")
        one_at_a_time = [run for run in session.requests.values() if run.settings.jobs == 1]
        systems = [system for run in one_at_a_time for system in run.systems.values()]
        waiting = {system.name for system in systems if system.concurrency == "async"}
        if waiting:
            names = ", ".join(sorted(waiting))
            hint = f"async: {names}; with --bench-jobs=N up to N of such trials run at once"
            lines.append(printable(f"benchgate: {hint}"))
        return lines

    def _run_with(self, name: str, root: Path) -> str:
        """Return what a class is run with."""
        session = self._controller.session
        request = session.requests[name]
        choice = self._controller.grounds[name].choice
        baseline = "none"
        if choice.system is not None:
            baseline = f"{RERUN}{choice.system}"
        elif choice.path is not None:
            baseline = _relative(choice.path, root)
        cases = counted(len(session.benches[name].folders), "case")
        trials = counted(session.settings_of[name].trials, "trial")
        system = request.systems["candidate"].name
        text = f"benchgate: {name}, system {system}, {cases}, {trials} each, baseline {baseline}"
        level = request.isolation("candidate")
        if level != "none":
            text += f", isolation {level}"
        reads = request.reads("candidate")
        if reads:
            text += f", reads {', '.join(reads)}"
        if name in session.watched:
            text += ", isolation none: -s, --pdb and --trace run trials here, and nothing is gated"
        return printable(text)

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """Count a trial of the baseline apart: it has passed no test, whatever its score."""
        if report.when == "call" and report.passed and OF_BASELINE in report.user_properties:
            return "baseline", "b", "BASELINE"
        return None

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Print the summary also where another reporter replaced pytest's, as pytest-rich does: it asks nobody."""
        plugins = session.config.pluginmanager
        stats = getattr(plugins.getplugin("terminalreporter"), "stats", None)
        if stats:
            # pytest looks through all of these for each failed test, to print what its teardown printed.
            stats[""] = [
                r for r in stats.get("", ()) if any("teardown" in s for s, _ in r.sections)
            ]
        if not plugins.hasplugin("terminalreporter") and not plugins.is_blocked("terminal"):
            self.pytest_terminal_summary(pytest.TerminalReporter(session.config))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print one section for each class: with ``-q`` its verdict and why, with ``-v`` all trials."""
        verbosity = terminalreporter.config.getoption("verbose")
        root = terminalreporter.config.rootpath
        page = self._controller.page
        for run in self._controller.runs.values():
            terminalreporter.write_sep("-", f"bench {run.name}")
            policy = run.request.bench.policy
            _write_all(
                terminalreporter, threshold_lines(policy, self._controller.session.threshold_places)
            )
            door = _door(run, root, verbosity, has_page=page is not None)
            _write_all(terminalreporter, _section(run, door))
            for line in _places(run, root, verbosity):
                _write(terminalreporter, line)
            for text in run.warnings:
                _write(terminalreporter, f"warning   {text}", yellow=True)
            word = "HELD" if run.exit_status == HELD else "FAILED"
            for failure in run.failures:
                _write(terminalreporter, f"{word} {shortened(failure)}", red=True)
        for nodeid in self._controller.unplanned:
            _write(terminalreporter, f"FAILED {nodeid}: nothing judges its class", red=True)
        if page is not None:
            _write(terminalreporter, f"page      {page}")


def _door(run: ClassRun, root: Path, verbosity: int, *, has_page: bool) -> Door:
    door = Door(prefix="--bench-", verbosity=verbosity, more="-v")
    published = run.published
    if published is None:
        return door
    page = ""
    if not has_page:
        page = page_command(published.folder, published.seq, root)
    return replace(
        door,
        page=page,
        pin=pin_command(published.folder, published.seq, root),
        files=_relative(published.folder, root),
    )


def _section(run: ClassRun, door: Door) -> Iterator[Line]:
    judgement = run.judgement
    is_all = door.verbosity > 0
    if judgement is not None:
        yield from block(judgement, door)
    if judgement is not None and is_all:
        yield Line("", "")
        yield from table(judgement)
        yield from (Line(None, text) for text in details(judgement))
    if run.tier_problem is not None and door.verbosity >= 0:
        for text in f"tier      not evaluated: {run.tier_problem}".split("\n"):
            yield Line(None, text, "caution")
    if run.published is not None and is_all:
        decision = judgement.decision if judgement else None
        yield from (Line(None, text) for text in tier(run.published.verdict, decision))


def _places(run: ClassRun, root: Path, verbosity: int) -> Iterator[str]:
    published = run.published
    if published is None:
        return
    if verbosity < 0:
        yield from _record_number(published)
        return
    if run.request.settings.resume != "none":
        yield f"resumes   {_resumed(run)}"
    if run.request.recording is not None:
        yield f"replays   {run.request.recording.replays}"
    if published.shard is not None:
        yield f"shard     {published.shard}"
    if run.recorded is not None:
        yield f"recorded  {_relative(run.recorded, root)}"
    if published.evidence is not None and verbosity > 0:
        yield f"evidence  {_relative(published.evidence, root)}"
        yield f"head      {run.name}={published.head}"


def _record_number(published: Published) -> Iterator[str]:
    if published.seq is not None:
        yield f"record    {published.seq}"


def _resumed(run: ClassRun) -> str:
    where = "the shard"  # whose folder goes on, and resumes no other run
    if run.store is not None and run.store.plan is not None and run.store.plan.resumes is not None:
        where = run.store.plan.resumes.folder
    elif not run.taken_over:
        return "nothing was left: this is a new run"
    total = sum(len(trials.keys) for trials in run.sides.values())
    return f"{where}: {run.taken_over} of {total} trials were finished there"


def _write_all(reporter: pytest.TerminalReporter, lines: Iterable[Line]) -> None:
    config = reporter.config
    # A plugin may have taken the place of pytest's reporter, to which the writer belongs.
    has_own = config.pluginmanager.has_plugin("terminalreporter")
    width = config.get_terminal_writer().fullwidth if has_own else get_terminal_size().columns
    for text, line in laid_out(lines, width):
        markup = {MARKUP[line.tone]: True} if line.tone in MARKUP else {}
        reporter.write_line(text, **markup, bold=line.strong)


def _write(reporter: pytest.TerminalReporter, text: str, **markup: bool) -> None:
    reporter.write_line(printable(text), **markup)


def _relative(path: Path, root: Path) -> str:
    relative = os.path.relpath(path, root)
    if relative.startswith(".."):
        return str(path)
    return relative
