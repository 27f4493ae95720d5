"""The table ``[run]`` of a class's ``gate.toml``: its options, below all that is given for a session."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from benchgate.cli import main
from benchgate.gates.run_table import OPTIONS_OF_CLASS, RunTable
from tests.conftest import Bench

TABLE = "test = 'auto'\n\n[run]\n"
REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "policy.md"


@pytest.fixture
def set_run(bench):
    def write(text):
        bench.write("gate.toml", TABLE + text)
        return bench

    return write


def facts(bench):
    report = bench.record()["report"]
    return report["trial_count"], report["seed"]


@pytest.mark.parametrize("workers", [(), pytest.param(("-n2",), marks=pytest.mark.slow)])
def test_it_is_below_ini_file_environment_and_command_line(set_run, monkeypatch, workers):
    bench = set_run("trials = 2\nseed = 7\n")
    apart = bool(workers)
    bench.run(*workers, apart=apart).assert_outcomes(passed=6)
    assert facts(bench) == (2, 7)
    bench.pytester.makeini("[pytest]\nbench_trials = 3\n")
    bench.run(*workers, apart=apart)
    assert facts(bench) == (3, 7)
    monkeypatch.setenv("BENCHGATE_SEED", "8")
    bench.run(*workers, "--bench-trials=1", apart=apart)
    assert facts(bench) == (1, 8)
    assert main(["verify", str(bench.out)]) == 0


def test_the_command_reads_it_too(set_run, monkeypatch, capsys):
    bench = set_run(
        "trials = 2\nseed = 7\njobs = 3\nretries = 0\nmax_rpm = 100000\nmax_cost_usd = 50\ntimeout = 30\n"
    )
    arguments = ["run", "--task-class=echo", f"--bench-root={bench.root / 'bench'}"]

    def facts(*more):
        assert main([*arguments, *more]) == 0
        report = json.loads(capsys.readouterr().out.splitlines()[-1])
        return report["trial_count"], report["seed"]

    assert facts() == (2, 7)
    monkeypatch.setenv("BENCHGATE_TRIALS", "3")
    assert facts("--seed=1") == (3, 1)


def test_it_is_no_threshold(set_run):
    bench = set_run("timeout = 30\n")
    bench.engine()
    policy = bench.record()["policy"]
    assert "run" not in policy
    bench.write("gate.toml", "test = 'auto'\n")
    bench.engine()
    assert bench.record()["policy"] == policy


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("jbos = 2", "run.jbos: unknown key; did you mean 'jobs'?"),
        ("jobs = 0", "run.jobs: Input should be greater than or equal to 1; found 0"),
        ("jobs = true", "run.jobs: "),
        ("timeout = 1e9", "run.timeout: "),
        ("system = 'shout'", "run.system: unknown key"),
    ],
)
def test_wrong_ones_are_named_with_their_line_by_every_door(set_run, capsys, text, message):
    bench = set_run(f"{text}\n")
    if text == "jbos = 2":
        result = bench.run()
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines([f"*gate.toml:4: {message}*"])
    root = f"--bench-root={bench.root / 'bench'}"
    assert main(["run", "--task-class=echo", root]) == 2
    assert f"gate.toml:4: {message}" in capsys.readouterr().err
    assert main(["check", root]) == 1
    assert f"gate.toml:4: {message}" in capsys.readouterr().err


def test_a_right_one_is_accepted_by_check_and_by_the_sample_commands(set_run, capsys):
    bench = set_run("jobs = 2\n")
    main(["check", f"--bench-root={bench.root / 'bench'}"])
    assert "gate.toml" not in capsys.readouterr().err
    for name in ("old", "new"):
        (bench.root / f"{name}.json").write_text(json.dumps([0.1, 0.5, 0.9, 0.4, 0.3]))
    samples = ["--baseline-samples=old.json", "--trained-samples=new.json"]
    policy = f"--policy={bench.path / 'gate.toml'}"
    assert main(["significance", *samples, "--run-id=x", "--out=s.json", policy]) in {
        0,
        1,
    }


MEETING = """
from threading import Condition

entered, running, most = Condition(), 0, 0

def system(case):
    global running, most
    with entered:
        running += 1
        most = max(most, running)
        entered.notify_all()
        entered.wait_for(lambda: most >= {wanted}, {seconds})
        with open({log!r}, "a") as log:
            log.write(f"{{case.task_class}} {{most}}\\n")
        running -= 1
    return {{"answer": (case.input_path / "question.txt").read_text().upper()}}

"""
"""Each trial waits for others, and writes how many came at most."""


@pytest.mark.parametrize("names", [("alone", "many"), ("many", "zalone")], ids=" then ".join)
def test_classes_of_one_session_may_differ(bench, names):
    log = str(bench.root / "calls.log")
    alone = Bench(bench.pytester, next(name for name in names if name != "many"), cases=6)
    first = 'case.case_id == "01"'  # as seconds: one for the first case, in vain, and none for the others
    meeting = MEETING.format(log=log, wanted=2, seconds=first)
    alone.write("system.py", f"{meeting}system.concurrency = 'none'\n")
    alone.write("gate.toml", "[run]\njobs = 1\n")
    many = Bench(bench.pytester, "many", cases=6)
    many.write("system.py", MEETING.format(log=log, wanted=3, seconds=60))
    many.write("gate.toml", "[run]\njobs = 3\ntrials = 2\n")
    result = bench.pytest(*(f"--bench={name}" for name in names))
    result.assert_outcomes(passed=18)
    calls = Counter((bench.root / "calls.log").read_text().splitlines())
    assert calls == {f"{alone.name} 1": 6, "many 3": 12}
    result = bench.pytest(*(f"--bench={name}" for name in names), "--bench-jobs=2")
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_its_keys_are_options_and_documented():
    text = REFERENCE.read_text("utf-8")
    rows = [
        (key, is_option)
        for keys, is_option in re.findall(r"^\* ((?:`\w+`[^:`]*)+): (as )?", text, re.MULTILINE)
        for key in re.findall(r"`(\w+)`", keys)
    ]
    documented = [key for key, _ in rows if key in RunTable.model_fields]
    assert sorted(documented) == sorted(RunTable.model_fields)
    assert {key for key, is_option in rows if is_option} == {one.key for one in OPTIONS_OF_CLASS}
