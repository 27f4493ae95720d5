"""
What a session prints of its result, as a reader sees it: compared with the files in ``tests/data/terminal``.

After a change of these lines, look at them and write the files anew::

    UPDATE_SNAPSHOTS=1 pytest tests/plugin/test_terminal.py
"""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from benchgate.cli import main

SNAPSHOTS = Path(__file__).parents[1] / "data" / "terminal"
SCREEN = {"reject": 20, "hold": 16, "promote": 15}
"""Lines of a class at 80 columns at most, without ``-v``."""
CASES = [f"{n:03}-{word}-report" for n, word in enumerate(["long", "short", "odd", "empty"] * 5, 1)]
RUBRIC = """
from benchgate import BenchScore

class EchoRubric:
    def score(self, case, output, /):
        score = output["score"]
        passed = score >= 0.5
        return BenchScore(
            passed=passed, score=score, safety_penalty=output["harm"],
            failure_modes=[] if passed else ["wrong", "words_missing"],
        )
"""
MODES = """
[failure_modes.wrong]
severity = "warn"
description = "The answer is not the expected one."

[failure_modes.words_missing]
severity = "warn"
description = "The summary leaves out what matters."
"""
SYSTEM = """
def told(score, harm=0.0):
    def system(case):
        number = int(case.case_id[:3])
        return {"score": score(number), "harm": harm}
    return system

weak = told(lambda n: 0.2 + n % 5 / 10)
strong = told(lambda n: 0.9 if n != 7 else 0.1)
# Ninths, because with tenths a bound was 0.0375: one processor printed it as 0.037, another as 0.038.
alike = told(lambda n: 0.2 + (n + n // 4) % 5 / 9)
harmful = told(lambda n: 0.95, harm=0.5)
worse = told(lambda n: 0.05)

def broken(case):
    if case.case_id < "004":
        raise ValueError("boom")
    return weak(case)
"""
REGISTRATION = """
from benchgate import register_task_class
from . import system
from .rubric import EchoRubric

names = ("weak", "strong", "alike", "harmful", "worse", "broken")
register_task_class("echo", systems={n: getattr(system, n) for n in names}, default_system="strong")(EchoRubric)
"""


@pytest.fixture
def reports(bench, kept):
    """A bench of twenty cases, with ``weak`` as the pinned baseline."""
    shutil.rmtree(bench.path / "cases")
    for case_id in CASES:
        bench.case(case_id)
    bench.write("rubric.py", RUBRIC)
    bench.write("system.py", SYSTEM)
    bench.write("registration.py", REGISTRATION)
    bench.write("failure_modes.toml", MODES)
    bench.write("gate.toml", "test = 'auto'\n")
    if not kept:
        bench.engine(system="weak")
        kept |= {
            p.relative_to(bench.out): p.read_bytes() for p in bench.out.rglob("*.*") if p.is_file()
        }
    for name, data in kept.items():
        path = bench.out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    bench.pin()
    return bench


def section(result):
    """The lines of the class, without what is different in every run."""
    text = result.stdout.str()
    text = text[text.index("\n", text.index("- bench echo -")) + 1 :]
    text = re.split(r"\n=+ ", text)[0]
    text = re.sub(r"\d{8}T\d{6}Z", "<time>", text)
    text = re.sub(r"(echo=\d+:)[0-9a-f]{64}", r"\1<sha256>", text)
    return re.sub(r"\n\d.* in \d.*s$", "", text).rstrip("\n") + "\n"


def assert_as_kept(name, text):
    path = SNAPSHOTS / f"{name}.txt"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8")


@pytest.mark.parametrize(
    ("system", "columns"),
    [
        *((name, 80) for name in ("strong", "alike", "harmful", "worse", "broken")),
        ("strong", 120),
    ],
)
def test_a_session_prints_what_is_kept(reports, monkeypatch, system, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    text = section(reports.run(f"--bench-system={system}", "--bench-exit=gate"))
    assert_as_kept(f"{system}-{columns}", text)
    lines = text.splitlines()
    block = [line for line in lines if not line.startswith(("HELD ", "FAILED "))]
    assert len(block) <= SCREEN[lines[0].split()[0].lower()]
    free = re.compile(r"files ")  # a path is on one line
    assert not [line for line in lines if len(line) > columns and not free.match(line)]


def test_without_a_baseline_nothing_changed(reports, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert_as_kept("first-80", section(reports.run("--bench-baseline=none", "--bench-exit=gate")))


def test_with_q_the_gate_alone_and_what_ends_the_session(reports, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = section(reports.run("-q", "--bench-system=alike", "--bench-exit=gate", "--tb=no", "-rN"))
    assert_as_kept("quiet-80", text)
    assert text.startswith("HOLD      `alike` may not replace `weak` yet: ")
    assert text.endswith("record    2\nHELD the gate decided hold\n")


def test_with_v_all_trials_those_that_failed_first(reports):
    lines = section(reports.run("-v", "--bench-exit=gate")).splitlines()
    rows = [line.split()[0] for line in lines if re.match(r"\d{3}-", line)]
    assert rows == ["007-odd-report", *(c for c in CASES if c != "007-odd-report")]
    changed = [line for line in lines if " -> " in line]
    assert len([line for line in changed if line.startswith("  ")]) == 20
    assert not [line for line in lines if line.startswith("tier ")]  # there is no file of tiers
    head, evidence = (
        [line for line in lines if line.startswith(w)] for w in ("head ", "evidence ")
    )
    assert len(head) == len(evidence) == 1
    assert not [line for line in lines if "shows all" in line]


def test_a_part_of_the_cases_is_not_compared(reports, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = section(reports.run("--bench-exit=gate", "-k", "005 or 007"))
    assert_as_kept("part-80", text)


def test_the_gate_is_the_same_at_every_door(reports, monkeypatch, capsys):
    """What a session prints is kept as ``quiet-80``."""
    monkeypatch.setenv("COLUMNS", "80")
    shown = (SNAPSHOTS / "quiet-80.txt").read_text("utf-8")
    gate = shown[: shown.index("next ")]
    where = [f"--bench-root={reports.root / 'bench'}", f"--out={reports.out}"]
    capsys.readouterr()
    assert main(["run", "--task-class=echo", "--system=alike", *where]) == 10
    out, err = capsys.readouterr()
    assert gate in err
    assert [json.loads(line) for line in out.splitlines()]
    runs = [str(path) for path in sorted((reports.out / "runs/echo").glob("0*"))]
    assert main(["gate", runs[0], runs[-1]]) == 10
    assert gate in capsys.readouterr().out


def test_colours_say_nothing_that_the_words_do_not(reports, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    plain = (SNAPSHOTS / "harmful-80.txt").read_text("utf-8")
    result = reports.run("--bench-system=harmful", "--bench-exit=gate", "--color=yes")
    coloured = section(result).splitlines()
    gate = next(line for line in coloured if "REJECT    " in line)
    assert gate.startswith(("\x1b[31m\x1b[1m", "\x1b[1m\x1b[31m"))
    assert next(line for line in coloured if "passes  " in line).startswith("\x1b[32m")
    bare = [re.sub(r"\x1b\[\d+m", "", line) for line in coloured]
    for line in plain.splitlines():
        assert line in bare or line.startswith("files")


def test_the_command_has_colours_on_a_terminal_only(reports, monkeypatch, capsys):
    reports.engine(system="weak", exit_rule="gate")
    runs = [str(path) for path in sorted((reports.out / "runs/echo").glob("0*"))]
    capsys.readouterr()
    main(["gate", *runs])
    assert "\x1b" not in capsys.readouterr().out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    main(["gate", *runs])
    assert "\x1b[33;1mHOLD      `weak` may not replace `weak` yet: " in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    main(["gate", *runs])
    assert "\x1b" not in capsys.readouterr().out


def test_the_json_report_has_the_same(reports):
    reports.run("--json-report", "--json-report-file=out.json", "--bench-exit=gate")
    (told,) = json.loads((reports.root / "out.json").read_bytes())["benchgate"]
    assert told["baseline"]["system"] == "weak"
    assert told["baseline"]["path"] == str(reports.path / "baseline.json")
    assert len(told["baseline"]["run_id"]) == 64
    significance = told["significance"]
    assert told["delta"] == significance["mean_delta"]
    assert told["interval"] == [significance["delta_ci_low"], significance["delta_ci_high"]]
    assert told["reason_codes"] == told["decision"]["reason_codes"] == []
    changes = told["changes"]
    assert changes["newly_failing"] == []
    assert [change["case_id"][:3] for change in changes["fell"]] == ["007"]
    assert changes["fell"][0]["codes"] == ["wrong", "words_missing"]
    assert changes["fell"][0]["after"] == 0.1
    assert len(changes["newly_passing"]) == 11


def test_what_a_teardown_prints_is_shown_below_its_failure_and_no_more_is_looked_through(bench):
    bench.system("if case.case_id != '01':\n    raise ValueError('no')")
    bench.pytester.makeconftest("""
        def pytest_runtest_teardown(item):
            print("begins") if item.name == "02" else None

        def pytest_terminal_summary(terminalreporter):
            kept = [(report.when, report.nodeid[-2:]) for report in terminalreporter.stats[""]]
            terminalreporter.write_line(f"kept {kept}")
    """)
    result = bench.run()
    result.stdout.fnmatch_lines(["*_ 02 _*", "*Captured stdout teardown*", "begins", "*_ 03 _*"])
    result.stdout.fnmatch_lines(["kept [[]('teardown', '02')[]]"])
