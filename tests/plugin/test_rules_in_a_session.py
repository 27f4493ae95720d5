"""
Rules under pytest: options, exit status and report of a session are wired to them.

What the rules say, in all their cases, is tested in ``tests/engine``, in the file of their name.
"""

from __future__ import annotations

import errno
import json
import os
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchgate.check.cases import cassette_problems
from benchgate.cli import main
from benchgate.gates.exit_status import HELD
from benchgate.trials import pacing
from tests.conftest import ASKING, HTTP_LIBRARY

needs_http = pytest.mark.skipif(HTTP_LIBRARY is None, reason="needs httpx2 or httpx")

# baselines

WEAK = 'return {"answer": 0.1 + int(case.case_id) / 1000}'
STRONG = 'return {"answer": 0.9 - int(case.case_id) / 1000}'
EVIDENCE = {"baseline", "trained", "significance", "safety", "evaluation", "proof", "promotion"}


@pytest.fixture
def graded(bench, kept):
    """Twelve cases whose score is what the system answers; the pinned baseline is a weak system."""
    for number in range(4, 13):
        bench.case(f"{number:02}")
    bench.rubric("""
        score = float(output["answer"])
        passed = case.case_id != "02" or score < 0.5
        return BenchScore(passed=passed, score=score, safety_penalty=0.0)
    """)
    bench.system(WEAK)
    bench.pin_once(kept.setdefault("graded", {}))
    return bench


def test_a_better_system_is_promoted_over_a_baseline_by_path(graded):
    """The path is relative to where pytest was called; an option is above ``gate.toml``; a case fails."""
    (graded.path / "baseline.json").rename(graded.root / "before.json")
    graded.write("gate.toml", "min_delta = 0.95\n")
    graded.system(STRONG)
    options = ("--bench-policy=min_delta=0.5", "--bench-policy=test=auto")
    result = graded.run("--bench-baseline=before.json", "--bench-exit=gate", *options)
    result.assert_outcomes(passed=11, failed=1)
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(
        ["PROMOTE   *: it is better and *", "score     * +0.787, between *"]
    )
    record = graded.record()
    assert (record["decision"]["outcome"], record["policy"]["min_delta"]) == ("promote", 0.5)
    assert {path.stem for path in (graded.folder() / "evidence").iterdir()} == EVIDENCE


def test_a_selection_that_was_asked_to_be_gated_fails(graded):
    result = graded.run("-k", "02", "--bench-baseline=pinned")
    result.assert_outcomes(passed=1, deselected=11)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "gate      not evaluated: *",
            "FAILED a gate was asked for, but only a part of the cases was selected: *",
        ]
    )
    assert not (graded.out / "runs").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            ("--bench-baseline=pinned",),
            ["*bench/echo/baseline.json: no such baseline; benchgate pin makes one of a full run"],
        ),
        (
            ("--bench-policy=min_dleta=0.1",),
            ["*min_dleta: unknown key; did you mean 'min_delta'?"],
        ),
        (
            (),
            ["*registration.py: ZeroDivisionError*", "*gate.toml:1: alpha: *; found 2"],
        ),
    ],
    ids=["baseline", "policy", "files of the class"],
)
def test_what_cannot_be_gated_is_wrong_use(bench, options, told):
    if not options:
        bench.write("registration.py", "1 / 0\n")
        bench.write("gate.toml", "alpha = 2\n")
    result = bench.run(*options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(told)
    assert not (bench.out / "runs").exists()


# claims


@pytest.fixture
def twelve(bench, kept):
    """Twelve cases that the pinned baseline passes, as the same system does now."""
    for number in range(4, 13):
        bench.case(f"{number:02}")
    bench.pin_once(kept.setdefault("twelve", {}))
    return bench


def test_a_held_run_exits_with_10_and_other_reporters_agree(twelve):
    given = ["--json-report", "--json-report-file=out.json", "--junitxml=x.xml"]
    result = twelve.run(*given)
    assert result.ret == HELD
    result.assert_outcomes(passed=12)
    result.stdout.fnmatch_lines(["HOLD      *", "next      *", "HELD the gate decided hold"])
    assert json.loads((twelve.root / "out.json").read_bytes())["exitcode"] == HELD
    junit = (twelve.root / "x.xml").read_text()
    assert 'failures="0"' in junit
    assert "hold" in junit


def test_a_claim_of_the_command_line_decides_and_failing_cases_do_not_with_exit_gate(twelve):
    twelve.system('if case.case_id == "03": return {"answer": "no"}')
    result = twelve.run("--bench-exit=gate", "--bench-policy=target_effect=0.5")
    assert result.ret == HELD
    assert twelve.record()["decision"]["outcome"] == "hold"
    claim = ["--bench-policy=claim=not_worse", "--bench-policy=margin=0.5"]
    assert twelve.run("--bench-exit=gate", *claim).ret == pytest.ExitCode.OK
    assert twelve.record()["decision"]["outcome"] == "promote"
    assert main(["verify", str(twelve.out)]) == 0


# What else a session fails for counts more than a hold.


def test_another_test_that_fails_counts_more_than_a_hold(twelve):
    (twelve.root / "test_own.py").write_text("def test_own(): assert False")
    assert twelve.pytest("bench/echo/cases", "test_own.py").ret == pytest.ExitCode.TESTS_FAILED
    assert twelve.record()["decision"]["outcome"] == "hold"


def test_a_plugin_that_fails_the_session_afterwards_counts_more_than_a_hold(twelve):
    (twelve.root / "conftest.py").write_text(
        "import pytest\n"
        "@pytest.hookimpl(wrapper=True, tryfirst=True)\n"
        "def pytest_runtestloop(session):\n"
        "    result = yield\n"
        "    session.testsfailed += 1\n"
        "    return result\n"
    )
    assert twelve.run().ret == pytest.ExitCode.TESTS_FAILED


# floor

SAID = "floor:{} scores 0.400 over 3 positive cases and passes "


@pytest.fixture
def lenient(bench):
    """Three positive cases that score 0.4 whatever is returned; the first is passed by its own input."""
    bench.rubric("""
        answer = output.get("answer", "")
        return BenchScore(passed=answer == "q01", score=0.4, safety_penalty=0.0)
    """)
    return bench


@pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n2",), marks=pytest.mark.slow)], ids=["alone", "workers"]
)
def test_failing_cases_of_a_floor_fail_nothing_and_one_that_passes_does(lenient, workers):
    lenient.engine(exit_rule="gate")
    lenient.pin()
    result = lenient.run("--bench-system=floor:empty", *workers)
    result.assert_outcomes(failed=3)
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(
        [f"floor * {SAID.format('empty')}none of*", "gate * not evaluated: a floor is compared*"]
    )
    result = lenient.run("--bench-system=floor:input", "--bench-exit=gate", *workers)
    result.assert_outcomes(failed=2, passed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    said = f"{SAID.format('input')}1, which it must not: 01"
    result.stdout.fnmatch_lines([f"FAILED {said}"])
    assert lenient.head()["seq"] == 1
    assert main(["verify", str(lenient.out)]) == 0


def test_the_next_session_quotes_the_floor_and_a_part_replaces_nothing(lenient):
    lenient.engine(system="floor:empty", exit_rule="gate")
    lenient.pytest(str(lenient.path / "cases/01"), "--bench-system=floor:empty")
    assert lenient.selected()["system"] == "floor:empty"
    result = lenient.run("-q")
    result.stdout.fnmatch_lines(
        [f"warning * a system that does nothing scores 0.40 here: {SAID.format('empty')}none of*"]
    )
    record = lenient.record()
    assert (record["seq"], record["report"]["system"]) == (1, "shout")


# looks


@pytest.fixture
def scored(bench, kept):
    """Twelve cases and a pinned baseline that scores .1 on each; called with what a candidate scores."""
    for number in range(4, 13):
        bench.case(f"{number:02}")
    bench.rubric("""
        score = float(output["answer"])
        return BenchScore(passed=score > 0.05, score=score, safety_penalty=0.0)
    """)
    bench.write("gate.toml", 'test = "auto"\n')
    bench.system('return {"answer": 0.1 + int(case.case_id) / 1000}')
    bench.pin_once(kept.setdefault("scored", {}))

    def scores(score):
        # Squares, so that no two cases differ by the same.
        bench.system(f'return {{"answer": {score} + int(case.case_id) ** 2 / 1000}}')
        return bench

    return scores


def look(bench):
    return bench.record()["decision"]["look"]["number"]


def test_both_doors_count_in_one_chain(scored):
    scored(0.2).run().stdout.no_fnmatch_line("* compared with this baseline: *")
    bench = scored(0.3)
    assert main(["run", "--task-class=echo", f"--out={bench.out}"]) == 0
    assert look(bench) == 2
    line = "careful   look no. 3 at this baseline (held looks count too): even if no candidate is *"
    scored(0.4).run().stdout.fnmatch_lines([line])
    assert look(bench) == 3


def test_looks_that_share_alpha_are_an_option_and_a_shard_is_no_look(scored):
    result = scored(0.2).run("--bench-policy=looks=spend", "--bench-shard=1/2", "--bench-exit=gate")
    result.stdout.no_fnmatch_line("* compared with this baseline: *")
    result = scored(0.2).run("--bench-policy=looks=spend")
    result.stdout.fnmatch_lines(["test      *(needed 0.0304)*", "careful   look no. 1 *"])


@pytest.mark.slow
def test_each_candidate_is_a_look_in_workers_too(scored):
    found = []
    for score in (0.2, 0.3, 0.2):
        bench = scored(score)
        bench.run("-n2", apart=True)
        found.append(look(bench))
    assert found == [1, 2, 1]
    assert main(["verify", str(bench.out)]) == 0


# replay


def called_by_nobody(bench):
    bench.system('raise AssertionError("called")')
    bench.pytester.makeconftest("def pytest_bench_executor():\n    raise AssertionError('asked')\n")


def test_a_session_records_and_replays_with_no_system_or_executor_of_ones_own(bench):
    result = bench.run("--bench-trials=2", "--bench-record=agent")
    result.stdout.fnmatch_lines(["recorded  bench/echo/cassettes/agent"])
    live = bench.record()["report"]["run_id"]
    called_by_nobody(bench)
    result = bench.run("--bench-trials=2", "--bench-replay=agent", "--bench-jobs=4")
    result.assert_outcomes(passed=6)
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["replays   cassette agent *"])
    assert bench.record()["report"]["run_id"] == live
    assert main(["verify", str(bench.out), "--require-complete"]) == 0


@pytest.mark.slow
@pytest.mark.parametrize("what", ["agent", "1"])
def test_workers_replay_what_was_recorded(bench, what):
    bench.engine(trials=2, record="agent", exit_rule="gate")
    live = bench.record()["report"]["run_id"]
    bench.system('raise AssertionError("called")')
    given = ("--bench-trials=2", f"--bench-replay={what}", "-n2", "--bench-jobs=2")
    result = bench.run(*given, apart=True)
    result.assert_outcomes(passed=6)
    assert (bench.record()["report"]["run_id"], bench.head()["seq"]) == (live, 2)
    assert main(["verify", str(bench.out), "--require-complete"]) == 0


@pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n2",), marks=pytest.mark.slow)], ids=["alone", "workers"]
)
def test_the_other_trials_of_a_changed_case_are_dropped_and_their_replay_is_refused(bench, workers):
    """Only a session can run one trial of a case."""
    bench.engine(trials=2, record="agent", exit_rule="gate")
    bench.write("cases/03/input/question.txt", "q03 ")
    one = "bench/echo/cases/03/case.toml::03"
    bench.pytest(one, "--bench-trials=2", "--bench-record=agent")
    manifest = json.loads((bench.path / "cassettes/agent/manifest.json").read_bytes())
    assert set(manifest["files"]) == {"01.json", "01-t1.json", "02.json", "02-t1.json", "03.json"}
    called_by_nobody(bench)
    given = ("--bench-trials=2", "--bench-replay=agent", *workers)
    result = bench.run(*given, apart=bool(workers))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*cannot be replayed; this has changed since:*", "  03-t1.json: missing*"]
    )
    assert bench.head()["seq"] == 1


# rubrics

GOOD = "passed=True, score=1.0"


def test_a_rubric_that_breaks_its_contract_ends_its_class_and_leaves_others_alone(bench):
    """The rubric broke its contract on the first case: nothing is scored after it, nothing promotes."""
    bench.rubric(f'return BenchScore({GOOD}, breakdown={{"llm_judge": 0.8}})')
    other = type(bench)(bench.pytester, name="mirror")
    other.case("02", answer="something else")
    result = bench.pytest("--bench=all")
    result.assert_outcomes(passed=2, failed=2, errors=2)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert bench.outcomes() == {"01": "rubric_error", "02": "not_run", "03": "not_run"}
    assert bench.record()["decision"]["promotion_allowed"] is False
    report = bench.record()["report"]
    assert report["complete"] is False
    assert report["block_severity_failure_modes"] == ["rubric_error"]
    result.stdout.fnmatch_lines(["*02/case.toml::02 - *not run after: rubric of 'echo'*"])
    assert other.outcomes() == {"01": "scored", "02": "scored", "03": "scored"}
    assert other.record()["report"]["complete"] is True
    # A failure text starts with the reason and ends with the place.
    result.stdout.fnmatch_lines(
        [
            "not passed, score 0.000: wrong",
            "  exact: 0",
            "bench/mirror/cases/02/case.toml:1",
            "FAILED bench/mirror/cases/02/case.toml::02 - not passed, score 0.000: wrong",
        ],
        consecutive=False,
    )
    result.stdout.no_fnmatch_line("*Traceback*")


@pytest.mark.parametrize("verbosity", [("-q", "--tb=no"), ("-v",)])
def test_a_violation_is_in_the_summary_once_at_every_verbosity(bench, verbosity):
    bench.rubric(f'return BenchScore({GOOD}, breakdown={{"llm_judge": 0.8}})')
    (line,) = (line for line in bench.run(*verbosity).outlines if line.startswith("stopped "))
    assert "breakdown key 'llm_judge' contains the banned token 'llm'" in line
    assert bench.result("01")["violation"]
    assert bench.result("02")["why"] == "after_violation"


def test_a_rubric_that_errs_or_ends_pytest_fails_its_case_alone(bench):
    bench.case("04")
    bench.rubric(f"""
        import pytest
        if case.case_id == "01":
            return BenchScore({GOOD}, failure_modes=["never_heard_of"])
        if case.case_id == "02":
            pytest.skip("no")
        if case.case_id == "03":
            pytest.exit("bye", returncode=0)
    """)
    result = bench.run()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(["FAILED severity block: *unknown_failure_mode*"])
    errors = {"02": "rubric_error", "03": "rubric_error"}
    assert bench.outcomes() == {"01": "scored", **errors, "04": "scored"}
    (mode,) = bench.result("01")["failure_modes"]
    assert mode == {"code": "unknown_failure_mode", "detail": "never_heard_of"}
    assert bench.record()["report"]["complete"] is False
    assert "Skipped: no" in bench.result("02")["failure_modes"][0]["detail"]
    assert "Exit: bye" in bench.result("03")["failure_modes"][0]["detail"]


@pytest.mark.slow
def test_a_violation_in_a_worker_never_passes(bench):
    bench.rubric("return None")
    result = bench.run("-n2", apart=True)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    report = bench.record()["report"]
    assert report["complete"] is False
    assert set(bench.outcomes().values()) <= {"rubric_error", "not_run"}
    assert report["passed_count"] == 0


# systems


OTHER = """
import pytest, sys

def system(case):
    if case.case_id == "02":
        raise ValueError("boom")
    if case.case_id == "03":
        sys.exit(0)
    if case.case_id == "04":
        pytest.skip("no")
    if case.case_id == "05":
        pytest.exit("bye", returncode=0)
    if case.case_id == "06":
        pytest.xfail("no")
    if case.case_id == "07":
        return []
    return {"answer": "Q" + case.case_id}
"""
DETAILS = {
    "02": "ValueError: boom",
    "03": "SystemExit: 0",
    "04": "Skipped: no",
    "05": "Exit: bye",
    "06": "XFailed: no",
    "07": "returned list; expected a mapping",
}


def test_whatever_a_named_system_does_fails_its_case_alone(bench):
    for number in range(4, 9):
        bench.case(f"{number:02}")
    bench.pytester.syspathinsert()
    bench.pytester.makepyfile(other=OTHER)
    result = bench.run("--bench-system=other:system")
    result.assert_outcomes(passed=2, failed=6)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["benchgate: echo, system other:system, 8 cases,*"])
    report = bench.record()["report"]
    assert (report["system"], report["complete"]) == ("other:system", True)
    for case_id, outcome in bench.outcomes().items():
        if case_id not in DETAILS:
            assert outcome == "scored"
            continue
        assert outcome == "harness_error"
        assert DETAILS[case_id] in bench.result(case_id)["failure_modes"][0]["detail"]
        result.stdout.fnmatch_lines([f"*{case_id}/case.toml::{case_id} - *harness_error*"])


def test_os_exit_ends_a_forked_child_but_not_the_session(bench):
    bench.rubric('import os\nif case.case_id == "03": os._exit(0)')
    bench.system("""
        import os
        if case.case_id == "02":
            os._exit(0)
        child = os.fork()
        if child == 0:
            os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    """)
    bench.pytester.makeconftest("""
        import os
        before = os._exit
        def pytest_terminal_summary(terminalreporter):
            terminalreporter.line(f"works again: {os._exit is before}")
    """)
    result = bench.run(apart=True)
    result.stdout.fnmatch_lines(["works again: True"])
    result.assert_outcomes(passed=1, failed=2)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert bench.outcomes() == {"01": "scored", "02": "harness_error", "03": "rubric_error"}
    for case_id in ("02", "03"):
        assert "os._exit(0)" in bench.result(case_id)["failure_modes"][0]["detail"]


@pytest.mark.slow
def test_os_exit_does_not_end_a_worker(bench):
    bench.system('import os\nif case.case_id == "02": os._exit(0)')
    result = bench.run("-n2", apart=True)
    result.assert_outcomes(passed=2, failed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert bench.outcomes() == {"01": "scored", "02": "harness_error", "03": "scored"}
    assert "os._exit(0)" in bench.result("02")["failure_modes"][0]["detail"]


def test_ctrl_c_ends_the_session_and_the_record_says_incomplete(bench):
    bench.system('if case.case_id == "02": raise KeyboardInterrupt')
    result = bench.run()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    report = bench.record()["report"]
    assert bench.outcomes() == {"01": "scored", "02": "not_run", "03": "not_run"}
    assert report["complete"] is False
    assert (
        "checkpoint_promotion_blocked_incomplete_run" in bench.record()["decision"]["reason_codes"]
    )


@pytest.mark.parametrize("attribute", ["checkpoint", "digest"])
def test_a_system_that_cannot_be_asked_what_it_is_is_wrong_use(bench, attribute):
    bench.write(
        "system.py",
        f"""
        class System:
            @property
            def {attribute}(self):
                raise RuntimeError("no weights")
            def __call__(self, case):
                return {{}}
        system = System()
        """,
    )
    result = bench.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*system 'shout' has no digest or checkpoint to ask for: RuntimeError: no weights*"]
    )


# resume


class Ended:
    """A run of three cases with two trials each that Ctrl-C ended at the last case; what is called is noted."""

    def __init__(self, bench) -> None:
        self.bench = bench
        self.log = bench.root / "calls.log"
        note = f'with open({str(self.log)!r}, "a") as log: print(case.case_id, file=log)\n'
        bench.case("02", answer="something else")
        bench.system(f'{note}if case.case_id == "03": raise KeyboardInterrupt')
        with pytest.raises(KeyboardInterrupt):
            bench.engine(trials=2)
        bench.system(note)
        self.log.unlink()

    def run(self, *arguments):
        return self.bench.run("--bench-trials=2", *arguments)

    def calls(self):
        """Return of which cases the system was called since this was asked last."""
        calls = []
        if self.log.exists():
            calls = self.log.read_text().split()
            self.log.unlink()
        return calls


@pytest.fixture
def ended(bench):
    return Ended(bench)


def test_a_taken_failure_is_told_again(ended, monkeypatch):
    """The option stands in the ini file, and at last in the environment."""
    ended.bench.pytester.makeini("[pytest]\nbench_resume = auto\n")
    result = ended.run()
    result.assert_outcomes(passed=4, failed=2)
    result.stdout.fnmatch_lines(
        ["*not passed, score 0.000: wrong", "resumes   *: 4 of 6 trials were finished there"]
    )
    assert ended.calls() == ["03", "03"]
    assert ended.bench.record()["resumes"]["seq"] == 1
    assert main(["verify", str(ended.bench.out), "--require-complete"]) == 0
    ended.run().stdout.fnmatch_lines(["resumes   nothing was left: this is a new run"])
    assert len(ended.calls()) == 6
    monkeypatch.setenv("BENCHGATE_RESUME", "none")
    ended.run().stdout.no_fnmatch_line("resumes *")
    assert (len(ended.calls()), ended.bench.head()["seq"]) == (6, 4)


def test_an_item_that_cannot_be_set_up_loses_no_finished_trial(ended):
    conftest = ended.bench.root / "conftest.py"
    conftest.write_text("def pytest_runtest_setup(item): raise OSError('disk')\n")
    assert ended.run("--bench-resume", "--tb=no").ret == pytest.ExitCode.TESTS_FAILED
    assert list(ended.bench.outcomes().values()).count("scored") == 4
    conftest.unlink()
    ended.run("--bench-resume").assert_outcomes(passed=4, failed=2)
    assert ended.calls() == ["03", "03"]


def test_a_run_scored_by_two_rubrics_says_so(ended):
    (ended.bench.root / "conftest.py").write_text(
        "from benchgate import BenchScore\n"
        "def pytest_bench_score(case):\n    return BenchScore(passed=True, score=1.0)\n"
    )
    result = ended.run("--bench-resume")
    result.stdout.fnmatch_lines(["warning   trials were scored by different code*"])
    digests = ended.bench.record()["report"]["digests"]
    assert digests["scorer"] != digests["rubric"]
    assert main(["verify", str(ended.bench.out)]) == 0


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            ("--bench-system=_benchgate_bench.echo.system:system",),
            "*  system was 'shout', is *",
        ),
        (("-k", "03"), "*only a full run can be resumed; here a part of the cases*"),
        (("bench/echo/cases",), "*--bench-resume: 'bench/echo/cases': expected auto, none, *"),
    ],
    ids=["another plan", "a part", "a path after the bare option"],
)
def test_what_is_not_resumed_is_wrong_use(ended, options, told):
    result = ended.run("--bench-resume", *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([told])
    assert ended.calls() == []
    assert ended.bench.head()["seq"] == 1


# HTTP of trials: tests/engine/test_http_of_trials.py


@needs_http
@pytest.mark.parametrize(
    "arguments",
    [("--bench-jobs=3",), pytest.param(("-n2", "--bench-jobs=2"), marks=pytest.mark.slow)],
    ids=["three", "workers"],
)
def test_http_is_recorded_and_replayed_without_the_service(bench, service, arguments, monkeypatch):
    bench.write("system.py", ASKING)
    apart = "-n2" in arguments
    given = ("--bench-baseline=none", "--bench-trials=2", *arguments)
    assert bench.run("--bench-record=shout", *given, apart=apart).ret == 0
    assert sorted(service) == sorted(2 * ["q01", "q02", "q03"])
    run_id = bench.record()["report"]["run_id"]
    assert "note_http_replayed" not in bench.record()["decision"]["notes"]
    names = sorted(path.name for path in (bench.path / "cassettes/shout").glob("*.http.json"))
    assert names[:2] == ["01-t1.http.json", "01.http.json"]
    assert not list((bench.out / "recording").rglob("*.json"))
    assert not list(cassette_problems(bench.path, {}))

    monkeypatch.setenv("ECHO_URL", "http://127.0.0.1:9")
    assert bench.run(*given, apart=apart).ret == 0
    assert len(service) == 6
    record = bench.record()
    assert record["report"]["run_id"] == run_id
    assert "note_http_replayed" in record["decision"]["notes"]
    told = "the requests of 6 of 6 trials were answered by shout"
    assert told in [remark["message"] for remark in record["decision"]["remarks"]]
    assert main(["verify", str(bench.out)]) == 0


@needs_http
def test_a_key_in_an_answer_fails_the_session_and_is_nowhere(bench, service, monkeypatch):
    bench.write("system.py", ASKING)
    monkeypatch.setenv("SHOP_TOKEN", "hush-hush-1")
    service.key = "hush-hush-1"
    result = bench.run("--bench-record=shout", "--bench-baseline=none")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        ["*request 1 (POST) cannot be recorded: in its answer the body has*SHOP_TOKEN*"]
    )
    assert not list(bench.root.rglob("*.http.json"))


# what trials cost: tests/engine/test_usage.py

SPENDS = "case.usage.add(cost_usd=0.5, tokens_in=100, tokens_out=10, model='m-1')\n"
ONCE = {"cost_usd": 0.5, "tokens_in": 100, "tokens_out": 10, "calls": 1, "model": "m-1"}
TWICE = {"cost_usd": 1.0, "tokens_in": 200, "tokens_out": 20, "calls": 2, "model": "m-1"}


def test_an_attempt_that_a_plugin_repeats_is_paid_for_too(bench):
    bench.system(SPENDS + "seen.append(1)\nif len(seen) < 3: raise ValueError('no')")
    bench.write("system.py", (bench.path / "system.py").read_text() + "seen = []\n")
    bench.run("-p", "rerunfailures", "--reruns=2", "bench/echo/cases/01")
    assert bench.selected()["per_case"][0]["usage"]["cost_usd"] == 1.5


def test_an_excused_trial_is_paid_for(bench):
    bench.system(SPENDS)
    (bench.root / "conftest.py").write_text(
        "import pytest\n"
        "def pytest_collection_modifyitems(items):\n"
        "    items[0].add_marker(pytest.mark.xfail(strict=True, reason='known'))\n"
    )
    bench.run()
    assert (bench.result("01")["outcome"], bench.result("01")["usage"]) == ("skipped", ONCE)


def test_costs_are_shown_for_cases_and_run(bench):
    bench.system("if case.case_id != '03': " + SPENDS)
    result = bench.run("-v", "--junitxml=x.xml", "--json-report", "-p", "pytest_jsonreport")
    result.stdout.fnmatch_lines(
        [
            "cost      $1.7500",
            "usage     $1.0000, 200 tokens in, 20 out, 2 calls (m-1); judging $0.7500",
            "case  score     harm      cost  tokens in     out  result",
            "01    1.000    0.000   $0.7500        100      10  passed",
            "03    1.000    0.000   $0.2500          -       -  passed",
        ]
    )
    xml = (bench.root / "x.xml").read_text()
    for name, value in (("cost_usd", 0.75), ("tokens_in", 100), ("calls", 1), ("model", "m-1")):
        assert f'name="bench.{name}" value="{value}"' in xml
    assert 'name="bench.echo.cost_usd" value="1.75"' in xml
    (section,) = json.loads((bench.root / ".report.json").read_text())["benchgate"]
    assert section["usage"] == TWICE
    # Without any there is no such line and no such column.
    bench.system()
    result = bench.run("-v")
    result.stdout.no_fnmatch_line("usage *")
    result.stdout.fnmatch_lines(["case  score     harm  result"])


# the output folder: tests/engine/test_output_folder.py


def test_a_full_disk_at_the_end_is_told_and_the_report_is_not_lost(bench, monkeypatch):
    real = os.open

    def open_(path, flags, *arguments, **options):
        if flags & os.O_WRONLY and Path(os.fsdecode(path)).name.lstrip(".").startswith(
            "record.json"
        ):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(path, flags, *arguments, **options)

    monkeypatch.setattr(os, "open", open_)
    result = bench.run()
    result.assert_outcomes(passed=3)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        ["FAILED the run is not recorded: */record.json: cannot be written: No space left*"]
    )
    assert json.loads(result.stderr.str())["case_count"] == 3


def test_an_output_folder_that_cannot_be_used_is_wrong_use(bench):
    bench.system('raise AssertionError("was run")')
    (bench.root / "taken").write_text("kept")
    result = bench.run("--bench-out=taken")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*taken*: cannot be created: *"])
    result.stdout.no_fnmatch_line("*was run*")
    (bench.out / "runs/echo").mkdir(parents=True)
    (bench.out / "runs/echo/HEAD.json").write_text("{")
    result = bench.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*runs/echo/HEAD.json: *"])
    result.stdout.no_fnmatch_line("*was run*")


def test_an_output_folder_of_another_user_is_a_warning(bench, monkeypatch):
    bench.out.mkdir()
    owner = os.stat(bench.out).st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    result = bench.run()
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(
        [f"warning   *.benchgate belongs to user {owner}, not to {owner + 1}"]
    )


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
    result.stderr.fnmatch_lines(["*neither recorded nor replayed*", "*they are new*"])


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
            "why       candidate: 12 of 40 trials *; allowed is a share of 0.05, or one",
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


@pytest.mark.parametrize("options", [(), ("--bench-jobs=2",)])
def test_a_key_that_a_system_returns_and_prints_is_in_no_file_and_on_no_page(
    bench, monkeypatch, options
):
    key = "opaque-0123456789-0123"
    monkeypatch.setenv("PROVIDER_API_KEY", key)
    bench.system(
        "import os\n"
        "key = os.environ['PROVIDER_API_KEY']\n"
        "print('asked with', key)\n"
        "if case.case_id != '03': return {'answer': key}\n"
        "raise ValueError(key)"
    )
    page = ("--bench-html=page.html",) if find_spec("jinja2") else ()
    # Threads beside others in a process of their own: in this one, the test around it has streams that nobody routes.
    ways = ("--junitxml=j.xml", "-ojunit_logging=all", *page, *options)
    result = bench.run(*ways, apart=bool(options))
    result.assert_outcomes(failed=3)
    result.stdout.fnmatch_lines(
        ["careful *3 of 3 trials: a key or token in what they returned or said was masked"]
    )
    files = [path for path in bench.root.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    texts = [path.read_text("utf-8", "replace") for path in files]
    assert key not in "\n".join([*texts, result.stdout.str()])
    assert "asked with [masked]" in (bench.root / "j.xml").read_text()
    assert main(["verify", str(bench.out)]) == 0
