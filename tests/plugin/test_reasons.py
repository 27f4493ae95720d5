"""What a failing case says, and where clients find it: reason first, then what helps to understand it."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

import pytest

# What pytest-github-actions-annotate-failures reads of a report, and how.
ANNOTATE = """
    import json, pathlib
    from _pytest._code.code import ExceptionRepr, ReprEntry
    def pytest_runtest_logreport(report):
        if report.when == "call" and report.failed:
            path, line, _ = report.location
            text = ""
            if isinstance(report.longrepr, ExceptionRepr):
                text = report.longrepr.reprcrash.message
                for entry in report.longrepr.reprtraceback.reprentries[:1]:
                    if isinstance(entry, ReprEntry) and entry.reprfileloc is not None:
                        path, line = entry.reprfileloc.path, entry.reprfileloc.lineno
            crash = report.longrepr.reprcrash
            told = [path, line + 1, text, crash.path, crash.lineno, str(report.longrepr)]
            pathlib.Path("told.json").write_text(json.dumps(told))
"""
# What pytest-rich does on a terminal; so do others.
REPLACED = """
    import pytest
    @pytest.hookimpl(trylast=True)
    def pytest_configure(config):
        config.pluginmanager.unregister(config.pluginmanager.getplugin("terminalreporter"))
"""
WORKERS = pytest.mark.parametrize("workers", [(), pytest.param(("-n2",), marks=pytest.mark.slow)])


@pytest.fixture
def graded(bench):
    """The case 02 loses points on two axes of four."""
    bench.rubric("""
        if case.case_id == "02":
            return BenchScore(
                passed=False, score=0.625, failure_modes=["wrong"], safety_penalty=2.0,
                breakdown={"zeal": 0.5, "exact": 1.0, "care": 0.0, "speed": 1.0},
            )
    """)
    return bench


def reason(result) -> list[str]:
    """Return the text of the one failure."""
    lines = result.stdout.lines
    start = next(
        n for n, line in enumerate(lines) if line.startswith(("not passed", "harness", "rubric"))
    )
    end = next(
        n for n, line in enumerate(lines) if n > start and line.startswith("bench/echo/cases/")
    )
    return lines[start : end + 1]


def test_a_failing_case_says_what_lost_points_and_what_its_code_means(graded):
    said = [
        "not passed, score 0.625: wrong",
        "  zeal: 0.5",
        "  care: 0",
        "  harm: 2",
        "  wrong: The answer is not the expected one.",
        "  output: .benchgate/runs/echo/<newest>/cases/02.json",
        "bench/echo/cases/02/case.toml:1",
    ]
    assert reason(graded.run()) == said
    said[5] = "  output: .benchgate/last-selected/echo/cases/02.json"
    node = "bench/echo/cases/02/case.toml::02"
    assert reason(graded.pytest(node)) == said
    assert (graded.root / said[5].partition(": ")[2]).is_file()


@pytest.mark.parametrize(
    ("part", "place", "said"),
    [
        ("system", "bench/echo/helper.py:2", "harness_error (KeyError: 'x')"),
        ("rubric", "bench/echo/helper.py:2", "rubric_error (KeyError: 'x')"),
        ("rubric", "bench/echo/rubric.py:6", "rubric_error (RubricViolation: rubric of *"),
    ],
)
def test_an_exception_says_where_it_was_raised(bench, part, place, said):
    bench.write("helper.py", "def lookup(text):\n    return json.loads(text)['x']\nimport json\n")
    body = "from .helper import lookup\nlookup('{}')"
    if "Violation" in said:
        body = "from decimal import Decimal\nreturn BenchScore(\n    passed=True, score=Decimal(2))"
    getattr(bench, part)(body)
    result = bench.pytest("bench/echo/cases/02/case.toml::02")
    result.stdout.fnmatch_lines([said, f"  raised at {place}"])
    mode = bench.selected()["per_case"][0]["failure_modes"][0]
    assert place not in json.dumps(mode)  # a detail is `Type: message`


def test_reporters_get_the_reason_as_one_line_at_the_case(graded):
    graded.pytester.makeconftest(ANNOTATE)
    result = graded.run("--junitxml=out.xml")
    path, line, text, crash_path, crash_line, whole = json.loads(
        (graded.root / "told.json").read_text()
    )
    assert (path, line) == ("bench/echo/cases/02/case.toml", 1)
    assert text == "not passed, score 0.625: wrong"
    assert (crash_path, crash_line) == (str(graded.path / "cases/02/case.toml"), 1)
    assert whole.splitlines() == reason(result)
    tree = ET.parse(graded.root / "out.xml")  # noqa: S314 - our own file
    (failure,) = tree.iter("failure")
    assert failure.get("message") == text
    assert failure.text.splitlines() == whole.splitlines()
    result.stdout.fnmatch_lines([f"FAILED bench/echo/cases/02/case.toml::02 - {text}"])


@WORKERS
def test_the_gate_is_printed_also_where_another_reporter_took_the_place_of_pytest_s(bench, workers):
    bench.pytester.makeconftest(REPLACED)
    result = bench.run(*workers, apart=bool(workers))
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*- bench echo -*", "HOLD      *", "files     *"])
    assert result.stdout.str().count("HOLD      ") == 1
    result = bench.run("-p", "no:terminal", *workers, apart=bool(workers))
    result.stdout.no_fnmatch_line("gate *")
