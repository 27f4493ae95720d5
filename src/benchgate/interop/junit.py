"""JUnit XML, of pytest and of others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast
from xml.etree.ElementTree import ParseError, XMLPullParser

from benchgate.errors import Unreadable
from benchgate.interop.log import Layout, Log, Row, ahead, moment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from xml.etree.ElementTree import Element

    from benchgate.interop.log import LogFile

PIECE: Final = 64 * 1024
"""Bytes that are parsed at once: their elements take many times as much memory."""

MOST_SUITES: Final = 8
"""Suites within each other whose names tell tests apart."""

RERUNS: Final = ("rerunFailure", "rerunError", "flakyFailure", "flakyError")
XFAIL: Final = "pytest.xfail"
FAILED: Final = frozenset({"failed", "failure", "fail"})
ERRED: Final = frozenset({"error", "errored"})
RAN: Final = frozenset({"run", "completed", "passed", "pass", "success", "ok"})
"""What ``status`` and ``result`` of a test say if it was run, in lower case; any other word, such as the ``notrun`` and
``disabled`` of GoogleTest, is that of a test without a result."""


def open_junit(file: LogFile) -> Log:
    """
    Open a JUnit file: a test is a case, by class name and name, and by its suites where several have one of that name.

    Passed is 1 and ``failure`` is 0, also where it was expected. ``error`` says that the test could not be run. A
    ``skipped`` test has no result, unless one of the two is beside it: pytest writes an ``error`` there if the fixture
    of a skipped test breaks as it is torn down.
    """
    first = _Reader(file)
    for _ in first.rows():
        pass
    file.file.seek(0)
    reader = _Reader(file, frozenset(first.several))
    _, rows = ahead(reader.rows())  # the head of the suite is known then
    return Log(
        tool="pytest" if reader.suite == "pytest" else "junit",
        rows=rows,
        layout=Layout(
            fields={
                "case": ("case",),
                "error": ("error",),
                "reruns": ("reruns",),
                "answer": ("failure",),
            },
            asks_for_trials=True,
        ),
        task=reader.suite if reader.suite != "pytest" else None,
        started=reader.started,
        unrun=lambda: reader.skipped,
    )


class _Reader:
    """
    Reads tests one by one; what was read is dropped.

    :param qualified: names whose suites are part of the case.
    :ivar several: names of tests that were read in several suites.
    """

    def __init__(self, file: LogFile, qualified: frozenset[str] = frozenset()) -> None:
        self._file = file
        self._qualified = qualified
        self._suites: list[str] = []
        self._suites_of: dict[str, tuple[str, ...]] = {}
        self.several: set[str] = set()
        self.suite: str | None = None
        self.started: datetime | None = None
        self.skipped: list[dict[str, Any]] = []
        # Counted, and not looked for among the parents at each end: elements may be nested as deep as a file is long.
        self._open_tests = 0

    def rows(self) -> Iterator[Row]:
        parser: XMLPullParser[Any] = XMLPullParser(("start", "end"))
        parents: list[Element] = []
        try:
            while chunk := self._file.file.read(PIECE):
                parser.feed(chunk)
                yield from self._read(parser, parents)
            parser.close()
            yield from self._read(parser, parents)
        except ParseError as error:
            raise Unreadable(self._file.path, f"no XML: {error}") from error

    def _read(self, parser: XMLPullParser[Any], parents: list[Element]) -> Iterator[Row]:
        for event in parser.read_events():
            kind, element = cast("tuple[str, Element]", event)
            name = _plain(element)
            if kind == "start":
                self._begin(element)
                parents.append(element)
                continue
            parents.pop()
            if name == "testsuite":
                self._suites.pop()
            if name == "testcase":
                self._open_tests -= 1
                yield from self._test(element)
            elif name in ("error", "failure") and parents and _plain(parents[-1]) == "testsuite":
                # What went wrong outside of any test is a case of its own.
                case = f"{parents[-1].get('name') or 'suite'} (the suite itself)"
                yield _row({"case": case, "error": _error(element)})
            # Whatever is no part of a test goes at once: properties may be larger than all else.
            if parents and not self._open_tests:
                parents[-1].remove(element)

    def _begin(self, element: Element) -> None:
        name = _plain(element)
        if name in ("testsuite", "testsuites"):
            self._head(element)
        if name == "testsuite":
            self._suites.append(element.get("name") or "")
        elif name == "testcase":
            self._open_tests += 1

    def _head(self, suite: Element) -> None:
        if not self.suite and _plain(suite) == "testsuite":
            self.suite = suite.get("name")
        stamp = suite.get("timestamp")
        if self.started is None and stamp:
            self.started = moment(stamp)

    def _case(self, name: str) -> str:
        """Return the id of a test, and keep in which suites it is."""
        suites = tuple(self._suites[:MOST_SUITES])
        if self._suites_of.setdefault(name, suites) != suites:
            self.several.add(name)
        if name not in self._qualified:
            return name
        return "::".join(part for part in (*suites, name) if part)

    def _test(self, test: Element) -> Iterator[Row]:
        children = {_plain(child): child for child in test}
        # jest-junit has one name in both.
        names = dict.fromkeys((test.get("classname"), test.get("name")))
        case = self._case("::".join(name for name in names if name))
        row: dict[str, Any] = {**test.attrib, "case": case, "passed": 1, "error": None}
        row["reruns"] = sum(_plain(child) in RERUNS for child in test)
        statuses = {(test.get(name) or "run").lower() for name in ("status", "result")}
        is_expected = "skipped" in children and children["skipped"].get("type") == XFAIL
        # What went wrong counts, whatever else is said of the test: error before failure before skipped.
        if "error" in children:
            row["error"] = _error(children["error"])
        elif not statuses.isdisjoint(ERRED):
            row["error"] = {"message": "its status is error", "type": "Error"}
        elif "failure" in children:
            said = children["failure"]
            texts = (said.get("type"), said.get("message") or said.text)
            row["failure"] = "\n".join(filter(None, texts))
            row["passed"] = 0
        elif is_expected or not statuses.isdisjoint(FAILED):
            row["passed"] = 0
        elif "skipped" in children or not statuses <= RAN:
            self.skipped.append(row)
            return
        yield _row(row)


def _row(fields: dict[str, Any]) -> Row:
    return Row(0, fields, metrics=("passed",))


def _error(element: Element) -> dict[str, str]:
    return {"message": element.get("message", ""), "type": element.get("type") or "Error"}


def _plain(element: Element) -> str:
    """Return the name of an element, without a namespace."""
    return str(element.tag).rpartition("}")[2]
