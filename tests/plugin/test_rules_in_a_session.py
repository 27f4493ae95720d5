"""Rules that tests/engine and tests/unit hold, once or twice each in a session: option, ini, exit status, report."""

from __future__ import annotations

import json

import pytest

from benchgate.cli import main
from benchgate.trials import pacing

# observers


@pytest.fixture
def observed(bench):
    """A class whose outputs are observed three times each, and the report of its run without pytest."""
    bench.write("gate.toml", "[run]\nobservations = 3\n")
    bench.observer("if case.case_id == '03': return {'score': [0.2, 0.9, 0.7][asked % 3]}")
    wanted = bench.engine(out=bench.root / "first", baseline="none").judgement.report
    bench.wanted = wanted.model_dump(mode="json")
    (bench.path / "asked.log").unlink()
    return bench


@pytest.mark.parametrize(
    "arguments", [(), pytest.param(("-n2", "-pxdist"), marks=pytest.mark.slow)], ids=" ".join
)
def test_an_observed_run_is_one_wherever_it_runs(observed, arguments):
    result = observed.run(*arguments, apart=bool(arguments))
    assert result.ret == 0, result.stdout.str()
    report = observed.record()["report"]
    assert report["run_id"] == observed.wanted["run_id"]
    assert report["observer"] == observed.wanted["observer"]
    assert len(observed.trial("03")["observations"]) == 3
    assert sorted(observed.asked()) == sorted(["01", "02", "03"] * 3)
    assert main(["verify", str(observed.out)]) == 0


OBSERVES_ELSEWHERE = """
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


@pytest.mark.slow
def test_an_executor_of_ones_own_observes_where_it_runs_trials(observed):
    observed.pytester.makeconftest(OBSERVES_ELSEWHERE)
    result = observed.run(apart=True)
    assert result.ret == 0, result.stdout.str()
    assert observed.record()["report"]["run_id"] == observed.wanted["run_id"]


def test_the_terminal_says_that_outputs_were_observed_again_and_no_hook_is_asked(bench):
    bench.observer()
    bench.engine()
    bench.pytester.makeconftest("def pytest_bench_system(): raise ValueError('asked')")
    result = bench.run("--bench-reobserve=1", "--bench-baseline=none")
    result.stdout.fnmatch_lines(["*replays   run 00000001-*, observed again"])
    assert result.ret == 0
    assert bench.asked().count("01") == 2


def test_each_observation_has_the_whole_limit_of_its_item(bench):
    bench.write("gate.toml", "[run]\nobservations = 3\n")
    # Who sets the timer ahead has used up most of the limit, without a test that waits for it.
    bench.system("import signal; signal.setitimer(signal.ITIMER_REAL, 60)")
    bench.observer("""
        import signal
        left, _ = signal.setitimer(signal.ITIMER_REAL, 60)
        return {"score": left / 600}
    """)
    assert bench.run("--bench-timeout=600").ret == 0
    left = [one["score"] for one in bench.trial("02")["observations"]]
    assert left == pytest.approx([1.0, 1.0, 1.0], abs=0.2)


def test_options_that_exclude_each_other_are_wrong_use(bench):
    result = bench.run("--bench-reobserve=1", "--bench-replay=1", "--bench-shard=1/2")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*they are new*", "*neither recorded nor replayed*"])


# outages


ERRORS = """
number = int(case.case_id)
if number <= {errors}:
    class RateLimitError(Exception):
        pass
    raise (ValueError if number == 1 else RateLimitError)("429")
return {{"answer": {base} + number / 1000}}
"""


@pytest.fixture
def erring(bench, kept):
    """Return a function that writes a system for forty cases; the pinned one answers 0.1 and a little more."""
    for number in range(4, 41):
        bench.case(f"{number:02}")
    bench.rubric('return BenchScore(passed=True, score=float(output["answer"]))')
    bench.write("gate.toml", 'safety = "optional"')

    def write(base, errors):
        bench.system(ERRORS.format(base=base, errors=errors))
        return bench

    write(0.1, 0)
    if "erring" not in kept:
        bench.engine(baseline="none", out=bench.root / "pinned")
        (path,) = (bench.root / "pinned/runs/echo").glob("*/record.json")
        kept["erring"] = path.read_bytes()
    (bench.path / "baseline.json").write_bytes(kept["erring"])
    return write


def test_few_errors_are_named(erring):
    result = erring(0.8, 2).run("--bench-exit=gate")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(
        [
            "PROMOTE   *",
            "unscored  2 of 40 (RateLimitError 1, ValueError 1): counted as score 0",
        ]
    )


@pytest.mark.parametrize("workers", [(), pytest.param(("-n2",), marks=pytest.mark.slow)])
def test_an_outage_says_that_it_concludes_nothing_about_the_candidate(erring, workers):
    result = erring(0.1, 12).run("--bench-exit=gate", *workers, apart=bool(workers))
    assert result.ret == 10
    result.stdout.fnmatch_lines(
        [
            "HOLD      *too many trials ended in an error, which says little about it",
            "why       candidate: 12 of 40 trials *; allowed is a share of 0.05, or one (too_many_unscored)",
            "unscored  12 of 40 (RateLimitError 11, ValueError 1): counted as score 0",
        ]
    )


def test_the_other_door_says_the_same_of_an_outage(erring, capsys):
    bench = erring(0.1, 12)
    where = [f"--bench-root={bench.root / 'bench'}", f"--out={bench.out}"]
    assert main(["run", "--task-class=echo", *where]) == 10
    said = "12 of 40 trials ended in harness_error (RateLimitError 11, ValueError 1)"
    printed = capsys.readouterr()
    assert said in printed.out
    assert "why       candidate: 12 of 40 trials " in printed.err


# unavailable

AWAY = """
from benchgate import SystemUnavailable
with open({log!r}, "a") as log:
    log.write(f"{{case.case_id}}\\n")
if case.case_id == "02":
    raise SystemUnavailable("down")
"""


@pytest.fixture
def away(bench, monkeypatch):
    """A class whose system is never available for case 02; returns how often it was asked for it."""
    monkeypatch.setattr(pacing, "FIRST_DELAY", 0.01)
    log = bench.root / "calls.log"
    bench.system(AWAY.format(log=str(log)))
    return lambda: log.read_text().split().count("02")


@pytest.mark.parametrize("workers", [(), pytest.param(("-n1",), marks=pytest.mark.slow)], ids=str)
def test_one_that_stays_away_makes_the_run_incomplete_and_is_no_score_of_0(bench, away, workers):
    result = bench.run("-v", "--bench-retries=1", *workers, apart=bool(workers))
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert away() == 2
    trial = bench.result("02")
    assert (trial["outcome"], trial["score"], trial["retries"]) == ("unavailable", None, 1)
    assert trial["detail"] == "SystemUnavailable: down"
    assert trial["failure_modes"] == []
    codes = bench.record()["decision"]["reason_codes"]
    assert codes[0] == "checkpoint_promotion_blocked_incomplete_run"
    result.stdout.fnmatch_lines(
        ["*unavailable (SystemUnavailable: down)*", "*1 unavailable (02): SystemUnavailable: down*"]
    )
    result.stdout.fnmatch_lines(
        [
            "missing   1 of 3 trials have no result; --bench-resume runs only them",
            "02  * unavailable (tried 2 times)",
        ]
    )


def test_the_command_says_which_trial_is_unavailable(bench, away, capsys):
    arguments = [f"--bench-root={bench.root / 'bench'}", "--retries=2", "--jobs=2"]
    assert main(["run", "--task-class=echo", *arguments]) == 1
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["outcome"] for line in lines[:-1]] == ["scored", "unavailable", "scored"]
    assert away() == 3


def test_a_declaration_that_nothing_could_act_upon_is_wrong_use(bench, away):
    bench.append("system.py", "\nsystem.unavailable = '429'\n")
    result = bench.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*unavailable = '429'; expected exception types*"])


# shards

FAILS_ONE = 'if case.case_id == "02":\n    return {"answer": "no"}'


@pytest.fixture
def sharded(bench):
    """A bench of seven cases with a pinned baseline that fails one of them."""
    for number in range(4, 8):
        bench.case(f"{number:02}")
    bench.write("gate.toml", 'test = "auto"\n')
    bench.system(FAILS_ONE)
    bench.engine()
    bench.pin()
    bench.system()
    return bench


def shard_parts(bench, *arguments, total=3, apart=False):
    """Run each shard, and return their folders."""
    for number in range(1, total + 1):
        result = bench.run(
            f"--bench-shard={number}/{total}", "--bench-exit=gate", *arguments, apart=apart
        )
        assert result.ret == 0
    return [bench.out / "shards" / "echo" / f"{n}-of-{total}" for n in range(1, total + 1)]


def merged_shards(bench, folders, *arguments):
    where = [f"--bench-root={bench.root / 'bench'}", f"--out={bench.root / 'whole'}"]
    return main(["merge", *map(str, folders), *where, *arguments])


def record_of(out):
    (path,) = (out / "runs" / "echo").glob("*/record.json")
    return json.loads(path.read_bytes())


def timeless(found):
    """Return a record without its times and the digests of files that have times in them."""
    text = json.dumps(found, sort_keys=True)
    kept = json.loads(
        text, object_hook=lambda d: {k: v for k, v in d.items() if "duration" not in k}
    )
    for key in ("started_at", "finished_at", "case_files", "evidence_files", "plan_sha256"):
        kept.pop(key)
    kept["provenance"].pop("system_source")  # a merge has no system
    return kept


@pytest.mark.parametrize("workers", [(), pytest.param(("-n2",), marks=pytest.mark.slow)])
def test_the_parts_make_the_record_of_one_run(sharded, workers, capsys):
    options = ("--bench-trials=2", "--bench-exit=gate")
    sharded.run(*options, f"--bench-out={sharded.root / 'one'}")
    folders = shard_parts(sharded, "--bench-trials=2", *workers, total=2, apart=bool(workers))
    assert not (sharded.out / "last-selected").exists()
    capsys.readouterr()
    assert merged_shards(sharded, folders, "--json") == 10
    line = json.loads(capsys.readouterr().out)
    one = record_of(sharded.root / "one")
    whole = record_of(sharded.root / "whole")
    assert whole["report"]["run_id"] == one["report"]["run_id"] == line["run_id"]
    assert timeless(whole) == timeless(one)
    assert whole["decision"]["outcome"] == "hold"
    assert (whole["seq"], whole["resumes"]) == (1, None)
    assert main(["verify", str(sharded.root / "whole"), "--require-complete"]) == 0
    assert not list((sharded.root / "whole/runs/echo").glob(".*incomplete*"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-k", "01", "--bench-shard=1/1"], "every case of its part"),
        (["--bench-shard=0/3"], "expected I/N"),
        (["--bench-shard=4/4"], "no bench case was selected"),
    ],
)
def test_a_shard_is_of_a_whole_class(bench, arguments, message):
    result = bench.run(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert message in "\n".join(result.errlines + result.outlines)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [(), ("-n2",)])
def test_a_shard_that_was_killed_is_resumed(sharded, workers, tmp_path):
    log = tmp_path / "log"
    once = tmp_path / "once"
    sharded.system(f"""
        import os
        from pathlib import Path
        with open({str(log)!r}, "a") as log:
            log.write(f"{{case.case_id}} ")
        if case.case_id == "03" and not Path({str(once)!r}).exists():
            Path({str(once)!r}).touch()
            os.kill(os.getpid(), 9)
    """)
    sharded.run("--bench-shard=1/1", apart=True)
    assert log.read_text().split() == ["01", "02", "03"]
    resumed = ("--bench-shard=1/1", "--bench-resume", "--bench-exit=gate", *workers)
    result = sharded.run(*resumed, apart=bool(workers))
    result.stdout.fnmatch_lines(["resumes   the shard: 2 of 7 trials were finished there"])
    assert sorted(log.read_text().split()) == ["01", "02", "03", "03", "04", "05", "06", "07"]
    sharded.run(f"--bench-out={tmp_path / 'one'}")
    assert merged_shards(sharded, [sharded.out / "shards/echo/1-of-1"]) == 10
    whole = record_of(sharded.root / "whole")["report"]
    assert whole["complete"]
    assert whole["run_id"] == record_of(tmp_path / "one")["report"]["run_id"]


def test_a_path_of_a_part_is_refused_too(bench):
    result = bench.pytest("bench/echo/cases/01/case.toml", "--bench-shard=1/1")
    assert result.ret == 4
    result = bench.pytest("bench/echo", "--bench-shard=1/2", "--bench-exit=gate")
    assert result.ret == 0


def test_both_doors_have_the_same_parts(sharded):
    folders = shard_parts(sharded, total=2)
    under_pytest = [sorted(f.name for f in (p / "cases").iterdir()) for p in folders]
    for number in (1, 2):
        where = [f"--bench-root={sharded.root / 'bench'}", f"--out={sharded.root / 'cli'}"]
        assert main(["run", "--task-class=echo", f"--shard={number}/2", *where]) == 0
    folders = [sharded.root / "cli/shards/echo" / f"{n}-of-2" for n in (1, 2)]
    assert [sorted(f.name for f in (p / "cases").iterdir()) for p in folders] == under_pytest


# stop

TWELVE = [f"{n:02}" for n in range(1, 13)]
DECIDE_IT = ["07", "08", "10", "11"]
STOP = ("--bench-stop=decided", "--bench-exit=gate")
SAYS = "stop=decided: no result of it could have led to promote"


@pytest.fixture
def stopping(bench, kept):
    """Twelve cases, of which the pinned baseline passes 03, 06, 09 and 12 and the candidate none."""
    for case_id in TWELVE[3:]:
        bench.case(case_id)
    bench.write("gate.toml", 'test = "auto"\n')
    bench.system("""
        with open("calls", "a") as file:
            print(case.case_id, file=file)
        return {"answer": "?"}
    """)
    if "stops" not in kept:
        good = {case_id: {"answer": f"Q{case_id}"} for case_id in TWELVE[2::3]}
        bench.engine(system=lambda case: good.get(case.case_id, {"answer": "?"}), baseline="none")
        kept["stops"] = (bench.folder() / "record.json").read_bytes()
    (bench.path / "baseline.json").write_bytes(kept["stops"])
    return bench


def stop_calls(bench):
    return (bench.root / "calls").read_text().split()


def stop_ran(bench):
    return sorted(name for name, outcome in bench.outcomes().items() if outcome != "not_run")


def test_the_rest_is_skipped_and_the_gate_holds(stopping):
    result = stopping.run(*STOP, "-rs")
    assert (stop_calls(stopping), result.ret) == (DECIDE_IT, 10)
    assert result.parseoutcomes() == {"failed": 4, "skipped": 8}
    result.stdout.fnmatch_lines_random(
        [
            f"SKIPPED * {SAYS}",
            "HOLD * no result of the remaining 8 cases could have promoted it; saved: 8 of *",
            "cases     0 of 4 pass",
            "next      improve the candidate: the rest would not help",
        ]
    )
    result.stdout.no_fnmatch_line("*incomplete*")
    assert main(["verify", str(stopping.out)]) == 0


@pytest.mark.parametrize(
    "options", [("-p", "randomly", "--randomly-seed=5"), ("--ff",)], ids=" ".join
)
def test_each_way_stops_after_the_same_cases_with_one_run_id(stopping, options):
    if "--ff" in options:
        stopping.pytest("--bench=echo", "-k", "12")
    stopping.engine(baseline="auto", stop="decided")
    run_id = stopping.record()["report"]["run_id"]
    assert stopping.run(*STOP, *options).ret == 10
    assert stop_ran(stopping) == DECIDE_IT
    assert stopping.record()["report"]["run_id"] == run_id


def test_the_class_and_the_environment_say_it_and_a_part_is_not_stopped(stopping, monkeypatch):
    stopping.write("gate.toml", 'test = "auto"\n[run]\nstop = "decided"\n')
    assert stopping.run("--bench-exit=gate").ret == 10
    assert len(stop_calls(stopping)) == 4
    monkeypatch.setenv("BENCHGATE_STOP", "never")
    stopping.run("--bench-exit=gate")
    assert len(stop_calls(stopping)) == 4 + 12
    monkeypatch.delenv("BENCHGATE_STOP")
    stopping.run("-k", "01 or 02 or 04 or 05 or 07 or 08")
    assert len(stop_calls(stopping)) == 4 + 12 + 6


def test_workers_cannot_know_when_a_run_is_decided(stopping):
    result = stopping.run(*STOP, "-n2")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--bench-stop=decided: for runs in one process, without -n"])
    assert not (stopping.root / "calls").exists()


def test_the_command_stops_too(stopping, capsys):
    command = ["run", "--task-class", "echo", "--bench-root", str(stopping.root / "bench")]
    assert main([*command, "--out", str(stopping.out), "--stop", "decided"]) == 10
    assert (stop_calls(stopping), stop_ran(stopping)) == (DECIDE_IT, DECIDE_IT)
    assert capsys.readouterr().out.count('"outcome": "not_run"') == 8
