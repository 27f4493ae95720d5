"""What one process shows holds with workers: a bench that has everything, run once alone and once with ``-n2``."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from benchgate.cli import main
from benchgate.gates.exit_status import HELD

if TYPE_CHECKING:
    from tests.conftest import Bench

pytestmark = pytest.mark.slow

BOMB = "raise RuntimeError('planted code ran')\n"
# The system comes from a hook. It fails in 03 and hangs in 05; 01 and 02 answer in subclasses of plain types.
CONFTEST = """
    import enum, json, os, time
    from collections import OrderedDict
    import numpy
    import pytest
    from _pytest._code.code import ReprEntry

    class Text(str): ...
    class Answer(enum.StrEnum):
        RIGHT = "Q02"

    class Whisper:
        name = "whisper"
        def __call__(self, case):
            if case.case_id == "01":
                return OrderedDict(answer=Text("Q01"), figure=numpy.float64(0.5))
            if case.case_id == "02":
                return {"answer": Answer.RIGHT, Text("key"): (1, True)}
            if case.case_id == "03":
                raise ValueError("boom")
            if case.case_id == "05":
                time.sleep(60)
                open("woken", "w").close()
            return {"answer": "Q06"}

    @pytest.hookimpl(optionalhook=True)
    def pytest_bench_system(config, task_class):
        return Whisper()

    PROCESS = []

    def pytest_configure(config):
        PROCESS.append("worker" if hasattr(config, "workerinput") else "controller")

    def log(config, *what):
        worker = os.environ.get("PYTEST_XDIST_WORKER") if hasattr(config, "workerinput") else None
        with (config.rootpath / "log.jsonl").open("a") as file:
            file.write(json.dumps([worker, *what]) + "\\n")

    def pytest_bench_case_finished(config, result):
        log(config, "case", result.case_id, result.outcome)

    def pytest_bench_run_finished(config, report, decision):
        written = sorted(path.name for path in config.rootpath.glob(".benchgate/runs/echo/*/record.json"))
        log(config, "run", report.scope, decision and decision.outcome, written)

    def pytest_bench_gates(config, task_class):
        log(config, "gates", task_class.name)

    # What pytest-github-actions-annotate-failures reads of a report, and how.
    def pytest_runtest_logreport(report):
        of_interest = report.when == "call" and report.failed and "02" in report.nodeid
        if of_interest and "controller" in PROCESS:
            path, line, _ = report.location
            text = report.longrepr.reprcrash.message
            for entry in report.longrepr.reprtraceback.reprentries[:1]:
                if isinstance(entry, ReprEntry) and entry.reprfileloc is not None:
                    path, line = entry.reprfileloc.path, entry.reprfileloc.lineno
            crash = report.longrepr.reprcrash
            read = [path, line + 1, text, crash.path, crash.lineno, str(report.longrepr)]
            with open("annotations.jsonl", "a") as file:
                file.write(json.dumps(read) + "\\n")
"""
SCORING = """
    from benchgate import BenchScore

    def pytest_bench_score(case):
        if case.case_id == "06":
            return BenchScore(passed=True, score=0.25, breakdown={"by.hook": 1.0})
"""
RUBRIC = """
    import numpy

    class Text(str): ...

    if case.case_id == "02":
        return BenchScore(
            passed=False, score=numpy.float64(0.625), failure_modes=[Text("wrong")],
            safety_penalty=numpy.float64(2.0),
            breakdown={Text("zeal"): numpy.float64(0.5), "exact": 1.0, "care": 0.0, "speed": 1.0},
        )
"""
REASON = [
    "not passed, score 0.625: wrong",
    "  zeal: 0.5",
    "  care: 0",
    "  harm: 2",
    "  wrong: The answer is not the expected one.",
    "  output: .benchgate/runs/echo/<newest>/cases/02.json",
    "bench/echo/cases/02/case.toml:1",
]


@dataclass
class Session:
    """A session that has ended, with the folder in which it ran."""

    bench: Bench
    result: pytest.RunResult

    def lines(self, name: str) -> list[Any]:
        """Return a file of JSON lines that the conftest wrote."""
        return [json.loads(line) for line in (self.bench.root / name).read_text().splitlines()]

    @property
    def suite(self) -> Any:
        """The JUnit file."""
        return ET.parse(self.bench.root / "out.xml").find("testsuite")  # noqa: S314 - our own file

    @property
    def json_report(self) -> Any:
        """The file of pytest-json-report."""
        return json.loads((self.bench.root / "out.json").read_bytes())


REPORTS = ("--junitxml=out.xml", "--json-report", "--json-report-file=out.json")


def everything(bench: Bench, *workers: str) -> Session:
    """Run six cases: one passes, fails, raises, is malformed, hangs, and is scored by a hook."""
    for number in (4, 5, 6):
        bench.case(f"{number:02}")
    bench.case("05", timeout_seconds="0.2")
    bench.write("cases/04/case.toml", "[case\n")
    for folder in ("input", "expected", "input/deep/tests"):
        for name in ("conftest.py", "test_planted.py", "__init__.py"):
            bench.write(f"cases/01/{folder}/{name}", BOMB)
    bench.rubric(RUBRIC)
    bench.write("conftest.py", SCORING)
    bench.pytester.makeconftest(CONFTEST)
    bench.pytester.makepyfile(test_plain="def test_plain(): assert False")
    return Session(bench, bench.run(*REPORTS, *workers, apart=bool(workers)))


def held(bench: Bench, *workers: str) -> Session:
    """Run three cases that pass as they did in their baseline: too few to be better."""
    bench.run()
    bench.pin()
    given = (*REPORTS, "--bench-junit-gate", *workers)
    return Session(bench, bench.run(*given, apart=bool(workers)))


def once(kept: dict, bench: Bench, how: Any, workers: tuple[str, ...]) -> Session:
    """Return the session of a kind, which the first test that asks for it makes."""
    key = (how.__name__, workers)
    if key not in kept:
        kept[key] = how(bench, *workers)
    return kept[key]


@pytest.fixture(params=[(), ("-n2",)], ids=["alone", "workers"])
def session(request, bench, kept):
    return once(kept, bench, everything, request.param)


@pytest.fixture(params=[(), ("-n2",)], ids=["alone", "workers"])
def held_session(request, bench, kept):
    return once(kept, bench, held, request.param)


def test_each_case_ends_as_it_must(session):
    session.result.assert_outcomes(passed=2, failed=3, errors=1)
    assert session.result.ret == pytest.ExitCode.TESTS_FAILED
    assert session.bench.outcomes() == {
        "01": "scored",
        "02": "scored",
        "03": "harness_error",
        "04": "not_run",
        "05": "timeout",
        "06": "scored",
    }
    assert session.bench.record()["report"]["complete"] is False
    assert main(["verify", str(session.bench.out)]) == 0


def test_the_bench_option_governs_and_planted_files_are_not_imported(session):
    assert session.bench.record()["report"]["scope"] == "full"
    assert "test_plain" not in session.result.stdout.str()
    for stream in (session.result.stdout, session.result.stderr):
        stream.no_fnmatch_line("*planted code ran*")


def test_the_run_has_the_same_ids_as_alone(session, kept):
    report = session.bench.record()["report"]
    ids = {key: report[key] for key in ("run_id", "plan_id", "mean_score", "digests")}
    assert kept.setdefault("ids", ids) == ids


def test_a_failing_case_says_what_lost_points_and_what_its_code_means(session):
    lines = session.result.stdout.lines
    start = lines.index(REASON[0])
    assert lines[start : start + len(REASON)] == REASON


def test_reporters_get_the_reason_as_one_line_at_the_case(session):
    (annotation,) = session.lines("annotations.jsonl")
    path, line, text, crash_path, crash_line, whole = annotation
    assert (path, line) == ("bench/echo/cases/02/case.toml", 1)
    assert text == REASON[0]
    case_file = session.bench.path / "cases/02/case.toml"
    assert (crash_path, crash_line) == (str(case_file), 1)
    assert whole.splitlines() == REASON
    failure = session.suite.find("testcase[@name='02']/failure")
    assert failure.get("message") == text
    assert failure.text.splitlines() == REASON
    session.result.stdout.fnmatch_lines([f"FAILED bench/echo/cases/02/case.toml::02 - {text}"])


def test_junit_has_each_property_once(session):
    properties = {
        case.get("name"): sorted((p.get("name"), p.get("value")) for p in case.iter("property"))
        for case in session.suite.iter("testcase")
    }
    assert properties["01"] == [
        ("bench.cost_usd", "0.25"),
        ("bench.failure_modes", ""),
        ("bench.outcome", "scored"),
        ("bench.passed", "True"),
        ("bench.safety_penalty", "0.0"),
        ("bench.score", "1.0"),
    ]
    assert dict(properties["02"])["bench.failure_modes"] == "wrong"
    assert dict(properties["02"])["bench.score"] == "0.625"
    assert properties["03"] == [
        ("bench.failure_modes", "harness_error"),
        ("bench.outcome", "harness_error"),
        ("bench.passed", "False"),
    ]
    assert properties["04"] == [("bench.outcome", "not_run")]
    assert len(properties) == 6  # no gate: nobody asked for it


def test_the_json_report_has_a_section_and_metadata(session):
    (section,) = session.json_report["benchgate"]
    record = session.bench.record()
    assert section["run_id"] == record["report"]["run_id"]
    assert section["decision"] == record["decision"]
    tests = session.json_report["tests"]
    metadata = {test["nodeid"].partition("::")[2]: test.get("metadata") for test in tests}
    for case_id in ("01", "02", "03", "05", "06"):
        assert metadata[case_id]["benchgate"] == {**session.bench.result(case_id), "reruns": 0}
    assert metadata["04"] is None


def test_hooks_give_the_system_and_scores(session):
    assert session.bench.record()["report"]["system"] == "whisper"
    assert session.bench.result("06")["score"]["breakdown"] == {"by.hook": 1.0}
    assert session.bench.result("06")["score"]["score"] == 0.25
    digests = session.bench.record()["report"]["digests"]
    assert digests["scorer"] != digests["rubric"]


def test_observers_are_called_once_in_the_process_that_writes(session):
    calls = session.lines("log.jsonl")
    assert {call[0] for call in calls} == {None}
    cases = sorted((call[2], call[3]) for call in calls if call[1] == "case")
    assert cases == sorted(session.bench.outcomes().items())
    assert [call[1:] for call in calls if call[1] == "gates"] == [["gates", "echo"]]
    assert calls[-1][1:] == ["run", "full", "hold", ["record.json"]]


def test_a_system_that_hangs_times_out(session):
    assert not (session.bench.root / "woken").exists()
    mode = {"code": "timeout", "detail": "timed out after 0.2 s"}
    assert session.bench.result("05")["failure_modes"] == [mode]
    assert session.bench.result("05")["score"] is None
    session.result.stdout.fnmatch_lines(["*timeout (timed out after 0.2 s)*"])


def test_subclasses_of_builtins_survive_the_way_into_the_report(session):
    assert session.bench.trial("01")["output"] == {"answer": "Q01", "figure": 0.5}
    assert session.bench.trial("02")["output"] == {"answer": "Q02", "key": [1, True]}
    assert session.bench.result("02")["score"]["safety_penalty"] == 2.0


def test_a_held_run_exits_with_10_and_other_reporters_agree(held_session):
    result = held_session.result
    result.assert_outcomes(passed=3)  # the terminal counts cases alone
    assert result.ret == HELD
    result.stdout.fnmatch_lines(
        [
            "HOLD      `shout` may not replace `shout` yet: *",
            "next      *",
            "HELD the gate decided hold",
        ]
    )
    assert held_session.json_report["exitcode"] == HELD


def test_the_gate_of_a_held_run_is_one_failure_in_junit(held_session):
    suite = held_session.suite
    assert (suite.get("tests"), suite.get("failures")) == ("4", "1")
    (case,) = suite.findall("testcase[@name='gate']")
    assert case.get("classname") == "bench.echo"
    failure = case.find("failure")
    assert failure.get("message").startswith(
        "HOLD: `shout` may not replace `shout` yet: 3 cases are too few: at least 10 are needed"
    )
    assert "\nHOLD      `shout` may not replace `shout` yet: " in failure.text
    assert "next      add 7 cases" in failure.text
