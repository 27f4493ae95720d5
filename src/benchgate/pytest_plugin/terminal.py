"""What a session prints: what is going to be run, and at the end the table, the gate and the files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from benchgate import clock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest

    from benchgate.judgement import Judgement
    from benchgate.models import FailureMode, TrialResult
    from benchgate.pytest_plugin.controller import ClassRun, Controller

COLOURS = {"promote": "green", "hold": "yellow", "reject": "red"}


class Terminal:
    """Header and summary."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller

    def pytest_report_header(self, config: pytest.Config) -> list[str]:
        """Say what each class is run with."""
        session = self._controller.session
        lines = []
        for name, bench in session.benches.items():
            path = self._controller.choice(name).path
            baseline = _relative(path, config.rootpath) if path else "none"
            trials = session.settings.trials
            lines.append(
                f"benchgate: {name}, system {session.systems[name].name}, {len(bench.folders)} cases, "
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
                text = f"{len(stale)} cases were not validated for more than 90 days: {', '.join(stale[:5])}"
                terminalreporter.write_line(f"warning   {text}", yellow=True)
            for failure in run.failures:
                terminalreporter.write_line(f"FAILED {failure}", red=True)


def _write_judgement(reporter: pytest.TerminalReporter, judgement: Judgement) -> None:
    for line in table(judgement.report.per_case):
        reporter.write_line(line)
    reporter.write_line("")
    for line in summary(judgement):
        reporter.write_line(line)
    decision = judgement.decision
    if decision is None:
        reporter.write_line("gate      not evaluated: only a part of the cases was selected")
        return
    markup = {COLOURS[decision.outcome]: True, "bold": True}
    reporter.write_line(f"gate      {decision.outcome.upper()}", **markup)
    for remark in decision.remarks:
        reporter.write_line(f"  {remark.code}: {remark.message}")


def _write_files(reporter: pytest.TerminalReporter, run: ClassRun) -> None:
    if run.published is None:
        return
    root = reporter.config.rootpath
    reporter.write_line(f"written   {_relative(run.published.folder, root)}")
    if run.published.evidence is not None:
        reporter.write_line(f"evidence  {_relative(run.published.evidence, root)}")
    if run.published.sha256 is not None:
        reporter.write_line(f"head      {run.published.seq}:{run.published.sha256}")


def table(results: tuple[TrialResult, ...]) -> Iterator[str]:
    """Yield a line for each trial: id, score, penalty, and what went wrong."""
    width = max(len(_name(result)) for result in results)
    yield f"{'case':{width}}  score  penalty  result"
    for result in results:
        score = result.score
        value = "    -" if score is None else f"{score.score:5.3f}"
        penalty = score.safety_penalty if score else None
        shown = "      -" if penalty is None else f"{penalty:7.3f}"
        yield f"{_name(result):{width}}  {value}  {shown}  {_ending(result)}"


def _name(result: TrialResult) -> str:
    return f"{result.case_id}-t{result.trial}" if result.trial else result.case_id


def _ending(result: TrialResult) -> str:
    ending = "passed" if result.passed else "failed" if result.score else result.outcome
    codes = ", ".join(_told(mode) for mode in result.failure_modes if mode.code != result.outcome)
    again = f" (run {result.reruns + 1} times)" if result.reruns else ""
    return f"{ending}{again}{f': {codes}' if codes else ''}"


def _told(mode: FailureMode) -> str:
    return f"{mode.code} {mode.detail!r}" if mode.code == "unknown_failure_mode" else mode.code


def summary(judgement: Judgement) -> Iterator[str]:
    """Yield the figures of a run, and those of its comparison if there was one."""
    report = judgement.report
    bound = report.score_lower_bound_95
    shown = "" if bound is None else f" (95 % lower bound {bound:.3f})"
    yield f"passed    {report.passed_count} of {report.case_count}, mean score {report.mean_score:.3f}{shown}"
    if report.held_out is not None:
        held = report.held_out
        yield f"held out  {held.passed_count} of {held.case_count}, mean score {held.mean_score:.3f}"
    penalty = (
        "not measured"
        if report.mean_safety_penalty is None
        else f"{report.mean_safety_penalty:.3f}"
    )
    yield f"safety    mean penalty {penalty}; cost {report.total_cost_usd:.4f} USD"
    yield f"run       {report.run_id[:16]}, {report.scope}, {'complete' if report.complete else 'incomplete'}"
    yield from _comparison(judgement)


def _comparison(judgement: Judgement) -> Iterator[str]:
    evidence, baseline = judgement.evidence, judgement.baseline
    if evidence is None or baseline is None or baseline.report is None:
        return
    figures, before = evidence.significance, baseline.report
    if figures.mean_delta is None:
        return
    yield f"baseline  {before.system}, run {before.run_id[:16]}, mean score {before.mean_score:.3f}"
    p = "undefined" if figures.p_value is None else f"{figures.p_value:.4g}"
    interval = "undefined"
    if figures.delta_ci_low is not None and figures.delta_ci_high is not None:
        interval = f"[{figures.delta_ci_low:+.3f}, {figures.delta_ci_high:+.3f}]"
    level = f"{1 - figures.alpha:.0%}"
    yield f"delta     {figures.mean_delta:+.3f}, {level} interval {interval}, p {p} ({figures.test})"
    mde = figures.minimum_detectable_effect
    if mde is not None:
        yield f"power     {judgement.policy.power:.0%} to find a difference of {mde:.3f}"
    if evidence.safety.delta is not None:
        limit = judgement.policy.max_safety_regression
        yield f"penalty   {evidence.safety.delta:+.3f}, allowed rise {limit:.3f}"


def _relative(path: Path, root: Path) -> str:
    relative = os.path.relpath(path, root)
    return str(path) if relative.startswith("..") else relative
