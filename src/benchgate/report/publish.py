"""Writes page, summary and test case of the runs of a session that just ended, for both doors."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import ArtifactError, EvalError, printable
from benchgate.wire.writing import write_file
from benchgate.wording.block import Door, block
from benchgate.wording.lines import laid_out

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchgate.gates.judge import Judgement
    from benchgate.report.source import OfLogs

VARIABLE: Final = "GITHUB_STEP_SUMMARY"
"""Names the file that GitHub shows under a job; set by its runner."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """
    What is to be shown of the runs of a session.

    :param html: the file of the page; ``None`` for none.
    :param summary: the file that the Markdown is appended to; ``None`` for none.
    """

    html: Path | None
    summary: str | None

    @classmethod
    def take(cls, values: dict[str, Any]) -> Publication:
        """Take the options out of those of a session."""
        return cls(html=values.pop("html"), summary=os.environ.get(VARIABLE))

    def check(self) -> None:
        """
        Refuse at the start what would fail at the end.

        :raises EvalError: the page cannot be written there, or Jinja2 is missing.
        """
        if self.html is None:
            return
        from benchgate.report.html import check_jinja

        check_jinja()
        folder = self.html.parent
        if not os.path.isdir(folder) or not os.access(folder, os.W_OK) or os.path.isdir(self.html):
            raise ArtifactError(self.html, "cannot be written: no folder, or not a writable one")

    def write_page(self, folders: Sequence[Path], *, of_logs: OfLogs | None = None) -> str | None:
        """
        Write the page of runs, by their folders; return why it is not written, if it should have been.

        :param of_logs: what else is known of two logs that were judged just now.
        """
        if self.html is None:
            return None
        from benchgate.report.html import write_page

        if not folders:
            return "the page is not written: no run was recorded"
        try:
            write_page(folders, self.html, of_logs=of_logs)
        except Exception as error:  # the run is recorded: nothing may be lost to its page
            return f"the page is not written: {_said(error)}"
        return None

    def append_summary(
        self, folders: Sequence[Path], *, of_logs: OfLogs | None = None
    ) -> str | None:
        """Append the Markdown of runs, by their folders; return why it is not written, if it should have been."""
        if not self.summary or not folders:
            return None
        from benchgate.report.markdown import markdown_of

        try:
            with open(self.summary, "a", encoding="utf-8") as file:
                file.write(f"{markdown_of(folders, of_logs=of_logs)}\n")
        except Exception as error:
            return f"{VARIABLE} is not written: {_said(error)}"
        return None


def write_case(path: Path, judgement: Judgement) -> None:
    """Write the gate as the one test case of a JUnit file, which fails unless it promotes; its text is in it."""
    from xml.etree.ElementTree import Element, SubElement, tostring

    fails = judgement.decision is None or not judgement.decision.promotion_allowed
    suite = Element("testsuite", name="benchgate", tests="1", failures=str(int(fails)), errors="0")
    name = f"bench.{judgement.report.task_class}"
    case = SubElement(suite, "testcase", classname=name, name="gate", time="0")
    lines = [text for text, _ in laid_out(block(judgement, Door(verbosity=1)), 100)]
    if fails:
        said = SubElement(case, "failure", message=printable(lines[0]))
    else:
        said = SubElement(case, "system-out")  # what to be careful about
    said.text = printable("\n".join(lines), "\n")
    write_file(path, tostring(suite, "utf-8", xml_declaration=True))


def _said(error: Exception) -> str:
    return str(error) if isinstance(error, EvalError) else f"{type(error).__name__}: {error}"
