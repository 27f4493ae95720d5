"""Sends the result of a trial, on its item's report, from the process that ran it to the one that judges."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from benchgate.errors import Unreadable
from benchgate.pytest_plugin.nodes import CaseItem
from benchgate.trials.executor import TrialRecord
from benchgate.trials.inputs import unscored

if TYPE_CHECKING:
    from collections.abc import Generator

    from benchgate.models import Outcome, Side, TrialResult
    from benchgate.pytest_plugin.session import BenchSession


PAYLOAD = "benchgate"
"""Attribute of a report that has a trial's result; workers send builtin types only, else execnet kills them."""


class Reports:
    """Puts results on reports: the one channel that survives a worker's crash."""

    def __init__(self, session: BenchSession) -> None:
        self._session = session
        self._is_worker = hasattr(session.config, "workerinput")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Put the result of an item on the report of the phase that ends it."""
        report = yield
        if isinstance(item, CaseItem):
            if report.when == "call" and item.result is not None:
                # Its own, for it may have run ahead of its turn, or waited for another to end.
                report.duration = item.result.duration_seconds
            report.sections = self._masked(item, report.sections)
            result = self._result(item, report)
            if report.when == "setup" and not report.passed:
                self._session.trials.over(item.nodeid)
            if result is not None:
                setattr(report, PAYLOAD, self._payload(item, result))
                if item.record is not None:
                    # What it printed and returned may be large, and pytest keeps items to the end.
                    item.record = replace(
                        item.record, output_json=None, printed="", observations=()
                    )
            if item.side == "baseline":
                excuse(report)
        return report

    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        """Say so when no trial comes next."""
        session = item.session
        if not isinstance(nextitem, CaseItem) or session.shouldstop or session.shouldfail:
            self._session.trials.service.pause()

    @pytest.hookimpl(trylast=True)
    def pytest_exception_interact(self) -> None:
        """Set the one timer again: pytest cancels it for each test that failed, as somebody may look at that."""
        self._session.trials.service.pause()

    def pytest_enter_pdb(self) -> None:
        """Let people debug for as long as they like."""
        self._session.trials.service.pause()

    @pytest.hookimpl(optionalhook=True)
    def pytest_json_runtest_metadata(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> dict[str, Any]:
        """Add the result to an item of pytest-json-report, which declares this hook only when it is used."""
        if call.when != "call" or not isinstance(item, CaseItem) or item.result is None:
            return {}
        return {"benchgate": item.result.model_dump(mode="json")}

    def _result(self, item: CaseItem, report: pytest.TestReport) -> TrialResult | None:
        """Return the result of an item if this phase is its last, else ``None``."""
        if report.when == "call" and item.result is not None:
            # A trial that passed, but failed as an item: a strict xfail, or a hook that failed after it.
            excused = hasattr(report, "wasxfail") or (item.result.passed and report.failed)
            return self._unscored(item, "skipped", report) if excused else item.result
        if report.when != "teardown" and not report.passed:
            return self._unscored(item, "skipped" if report.skipped else "not_run", report)
        return None

    def _payload(self, item: CaseItem, result: TrialResult) -> dict[str, Any]:
        """Return what the controller files of a trial."""
        rest: dict[str, Any] = {}
        ran = item.record
        if ran is None:
            ran = TrialRecord(result=result, output_json=None)
        elif result is ran.result:
            # What is reported may be another result than what was kept: of an expected failure, say.
            rest["file_sha256"] = ran.file_sha256
        rest |= {
            "output_json": ran.output_json,
            "observations": ran.observations,
            "scorer": ran.scorer or item.scored_by(),
            "worker": ran.worker,
        }
        return {
            "task_class": item.task_class,
            "side": item.side,
            # Text from a worker: execnet sends builtin types only.
            "result": result.model_dump_json() if self._is_worker else result,
            "rest": rest,
            "checkpoint": self._checkpoint(item.task_class, item.side),
        }

    def _unscored(self, item: CaseItem, outcome: Outcome, report: pytest.TestReport) -> TrialResult:
        why = None
        if outcome == "not_run" and item.obstacle is not None:
            why = item.obstacle.why
        return unscored(
            item.task_class,
            (item.case_id, item.trial),
            self._session.settings_of[item.task_class].seed,
            item.loaded,
            outcome=outcome,
            detail=first_line(report),
            why=why,
            usage=item.result.usage if item.result else item.used,
        )

    def _masked(self, item: CaseItem, sections: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """Return what an item printed without keys; pytest and others show it, and write it into files."""
        if not sections:
            return sections
        masker = self._session.benches[item.task_class].masker
        masker.look()  # another process may have run the trial
        return [(title, masker.text(text)) for title, text in sections]

    def _checkpoint(self, name: str, side: Side) -> str | None:
        """Return the digest of what this process hands over; ``None`` also if it cannot read the file."""
        try:
            return self._session.requests[name].systems[side].checkpoint_sha256()
        except Unreadable:
            return None


def excuse(report: pytest.TestReport) -> None:
    """Skip an item of the baseline that failed: what its run is worth is said by the gate, not by the exit status."""
    if report.failed:
        path, line, _ = report.location
        report.longrepr = (path, line or 0, first_line(report))
        report.outcome = "skipped"


def first_line(report: pytest.TestReport) -> str:
    """Return the reason of an xfail, a skip or a failure, on one line."""
    if hasattr(report, "wasxfail"):
        return f"xfail: {report.wasxfail}"
    if isinstance(report.longrepr, tuple):  # a skip: path, line, reason
        return str(report.longrepr[2])
    # Of an error; its text begins with source code.
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message.removeprefix("Failed: ") if crash else report.longreprtext
    return (text.strip() or f"failed in {report.when}").splitlines()[0]
