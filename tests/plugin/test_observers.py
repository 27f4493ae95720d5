"""A class with an observer, through both doors and wherever its trials run: one result."""

from __future__ import annotations

import sys

import pytest

from benchgate.artifacts.run_kinds import RunRecord
from benchgate.cli import main
from benchgate.verify.against_bench import Terms

EXECUTOR = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from benchgate.remote.worker import run_request

class Elsewhere:
    def __init__(self):
        self.pool = ProcessPoolExecutor(2, multiprocessing.get_context("spawn"))

    def submit(self, request):
        return self.pool.submit(run_request, request, Path("bench").resolve())

    def close(self):
        self.pool.shutdown()

def pytest_bench_executor(config):
    return Elsewhere()
"""


@pytest.fixture
def judged(bench):
    bench.write("gate.toml", "[run]\nobservations = 3\n")
    bench.observer("if case.case_id == '03': return {'score': [0.2, 0.9, 0.7][asked % 3]}")
    bench.engine(out=bench.root / "first", baseline="none")
    bench.expected = bench.root / "first"
    (run,) = (bench.expected / "runs/echo").glob("*-*")
    bench.wanted = bench.read(run / "record.json")["report"]
    (bench.path / "asked.log").unlink()
    return bench


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--bench-jobs=3",),
        pytest.param(("-n2", "-pxdist"), marks=pytest.mark.slow),
        pytest.param(
            ("--bench-isolation=process",),
            marks=pytest.mark.skipif(sys.platform != "linux", reason="isolation needs Linux"),
        ),
        pytest.param(
            ("--bench-isolation=process", "--bench-jobs=2"),
            marks=pytest.mark.skipif(sys.platform != "linux", reason="isolation needs Linux"),
        ),
    ],
    ids=" ".join,
)
def test_it_is_one_run_wherever_it_runs(judged, arguments):
    result = judged.run(*arguments, apart=bool(arguments))
    assert result.ret == 0, result.stdout.str()
    report = judged.record()["report"]
    assert report["run_id"] == judged.wanted["run_id"]
    assert report["observer"] == judged.wanted["observer"]
    assert len(judged.trial("03")["observations"]) == 3
    assert sorted(judged.asked()) == sorted(["01", "02", "03"] * 3)
    assert main(["verify", str(judged.out)]) == 0


def test_an_executor_of_ones_own_observes_where_it_runs_trials(judged):
    (judged.root / "conftest.py").write_text(EXECUTOR)
    result = judged.run(apart=True)
    assert result.ret == 0, result.stdout.str()
    assert judged.record()["report"]["run_id"] == judged.wanted["run_id"]


def test_the_terminal_says_that_outputs_were_observed_again(bench):
    bench.observer()
    bench.run()
    result = bench.run("--bench-reobserve=1", "--bench-baseline=none")
    result.stdout.fnmatch_lines(["*replays   run 00000001-*, observed again"])
    assert result.ret == 0
    assert bench.asked().count("01") == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--bench-reobserve=1", "--bench-replay=1"), "they are new"),
        (("--bench-reobserve=1", "--bench-baseline=run:shout"), "one system at a time"),
        (("--bench-reobserve=1", "--bench-shard=1/2"), "a part of a run"),
        (("--bench-reobserve=1", "--bench-executor=dask://127.0.0.1:9"), "are observed here"),
        (("--bench-reobserve=nothing",), "known: none"),
    ],
)
def test_what_cannot_be_observed_again_is_said(bench, options, words):
    bench.observer()
    result = bench.run(*options)
    assert result.ret == 4
    assert words in result.stderr.str()


def test_pin_keeps_the_outputs_and_who_has_the_repository_can_observe_them(bench, capsys):
    bench.observer()
    bench.run()
    capsys.readouterr()
    assert main(["pin", "1", "--yes"]) == 0
    out = capsys.readouterr().out
    assert "written   bench/echo/cassettes/pinned, 0.0 MB\n" in out
    bench.observer("return {'score': 0.8}")
    assert main(["check", "echo"]) == 1
    assert "its observer differs from the one in observers/" in capsys.readouterr().err
    assert main(["run", "--task-class=echo", "--out=.benchgate"]) == 10
    assert "observer_mismatch" in capsys.readouterr().out
    again = [
        "run",
        "--task-class=echo",
        "--out=.benchgate",
        "--reobserve=pinned",
        "--baseline=none",
    ]
    assert main(again) in {0, 10}
    assert main(["pin", "3", "--yes"]) == 0
    assert main(["check", "echo"]) == 1
    assert "observer" not in capsys.readouterr().err
    assert main(["run", "--task-class=echo", "--out=.benchgate"]) == 10
    assert "observer_mismatch" not in capsys.readouterr().out


@pytest.mark.parametrize("answer", ["y", "n", None])
def test_many_megabytes_are_kept_only_if_a_person_says_so(bench, capsys, monkeypatch, answer):
    bench.observer()
    bench.run()
    if answer is None:  # outputs of an older baseline would be taken for those of this one
        bench.write("cassettes/pinned/manifest.json", "{}")
    monkeypatch.setattr("benchgate.cli.pin.LARGE", 0.0)
    monkeypatch.setattr("sys.stdin.isatty", lambda: answer is not None, raising=False)
    monkeypatch.setattr("builtins.input", lambda _: answer)
    assert main(["pin", "1", "--yes"]) == 0
    assert (bench.path / "cassettes/pinned").exists() == (answer == "y")
    out = capsys.readouterr().out
    assert ("not kept  bench/echo/cassettes/pinned: its 0 MB are above 0, " in out) == (
        answer != "y"
    )
    assert (bench.path / "baseline.json").exists()


def test_verify_holds_the_observer_against_the_bench(bench):
    bench.observer()
    bench.run()
    bench.pin()
    bench.run()
    record = RunRecord.read_file(bench.folder() / "record.json", "record")

    def objections():
        return [*Terms.of(record, bench.out, bench.root / "bench", {}).objections()]

    assert not objections()
    bench.write("gate.toml", "[run]\nobservations = 3\n")
    (text,) = objections()
    assert text.startswith("its observer, or how often it observed, is not those of ")
    bench.write("gate.toml", "")
    bench.write("observers/prompt.txt", "Be kind.")
    assert objections() == [text]


def test_a_rubric_imports_no_observer_and_no_sdk(bench, capsys):
    bench.observer()
    bench.write("observers/judge.py", "import openai\ndef judge(case, output): return {}\n")
    main(["check", "echo"])
    assert "openai" not in capsys.readouterr().err
    rubric = (bench.path / "rubric.py").read_text()
    bench.write("rubric.py", f"from .observers.judge import judge\n{rubric}")
    main(["check", "echo"])
    assert (
        "imports observers.judge, which the rubric's digest does not cover"
        in capsys.readouterr().err
    )


def test_each_observation_has_the_whole_limit_of_its_item(bench):
    bench.write("gate.toml", "[run]\nobservations = 3\n")
    bench.observer("__import__('time').sleep(0.5)")
    assert bench.run("--bench-timeout=1.2").ret == 0
    bench.observer("__import__('time').sleep(5 * (case.case_id == '02'))")
    assert bench.run("--bench-timeout=1.2").ret == 1
    trial = bench.trial("02")
    assert trial["result"]["detail"] == "neither observed nor scored within 1.2 s"
    assert trial["output"] == {"answer": "Q02"}


def test_a_hook_that_gives_a_system_is_not_asked_for_recorded_outputs(bench):
    bench.observer()
    bench.run()
    bench.pytester.makeconftest("def pytest_bench_system(): raise ValueError('asked')")
    result = bench.run("--bench-reobserve=1", "--bench-baseline=none", apart=True)
    assert result.ret == 0, result.stdout.str()
