"""Whatever a system under test does, its case gets a result and the others run."""

from __future__ import annotations

import os

import pytest

from benchgate.cli import main


def assert_harness_error(bench, detail: str) -> None:
    """The second of three cases is a harness error; the run is complete and everything is written."""
    report = bench.record()["report"]
    assert bench.outcomes() == {"01": "scored", "02": "harness_error", "03": "scored"}
    assert report["complete"] is True
    assert report["case_count"] == 3
    assert report["mean_score"] == pytest.approx(2 / 3)
    mode = bench.result("02")["failure_modes"][0]
    assert mode["code"] == "harness_error"
    assert detail in mode["detail"]
    assert bench.result("02")["score"] is None
    assert bench.trial("02")["result"] == bench.result("02")


FAULTS = {
    "raises": ('raise ValueError("boom")', "ValueError: boom"),
    "raises a base exception": ('raise BaseException("deep")', "BaseException: deep"),
    "raises a group": ('raise ExceptionGroup("g", [ValueError("x")])', "ExceptionGroup: g"),
    "raises without a text": ("raise ValueError", "ValueError"),
    "raises with a text of a megabyte": (
        'raise ValueError("x" * 10**6)',
        f"ValueError: {'x' * 1900}",
    ),
    "returns more than 64 MiB": (
        'return {"x": "x" * (64 * 2**20 + 1)}',
        "ValueError: output has more than 67108864 bytes as JSON",
    ),
    "raises with an unprintable text": (r'raise ValueError("\ud800")', r"ValueError: \ud800"),
    "asserts": ('assert False, "not so"', "AssertionError: not so"),
    "exits": ("import sys; sys.exit(0)", "SystemExit: 0"),
    "skips": ('import pytest; pytest.skip("no")', "Skipped: no"),
    "importorskips": ('import pytest; pytest.importorskip("not_there")', "Skipped: "),
    "ends pytest": ('import pytest; pytest.exit("bye", returncode=0)', "Exit: bye"),
    "fails": ('import pytest; pytest.fail("no")', "Failed: no"),
    "xfails": ('import pytest; pytest.xfail("no")', "XFailed: no"),
    "stops the generator": ("raise GeneratorExit", "GeneratorExit"),
    "returns nothing": ("return None", "returned NoneType; expected a mapping"),
    "returns a list": ("return []", "returned list; expected a mapping"),
    "returns text": ('return "{}"', "returned str; expected a mapping"),
    "returns pairs": ('return [("answer", "Q02")]', "returned list; expected a mapping"),
    "returns a path": ('return {"answer": case.input_path}', "output.answer is a PosixPath"),
    "returns bytes": ('return {"answer": b"x"}', "output.answer is a bytes"),
    "returns a set": ('return {"answer": {1}}', "output.answer is a set"),
    "returns NaN": ('return {"answer": [float("nan")]}', "output.answer[0] is nan"),
    "returns infinity": ('return {"a": {"b": float("-inf")}}', "output.a.b is -inf"),
    "returns a number as key": ('return {1: "x"}', "output has the key 1"),
    "returns a number as inner key": ('return {"a": {2: "x"}}', "output.a has the key 2"),
    "returns a lone surrogate": (r'return {"answer": "\udc80"}', "surrogate"),
    "returns itself": (
        "loop = {}; loop['loop'] = loop; return loop",
        "ValueError: output is nested more than 150 deep",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_system_that_errs_fails_its_case_alone(bench, fault):
    body, detail = FAULTS[fault]
    bench.system(f'if case.case_id == "02":\n    {body}')
    result = bench.run()
    result.assert_outcomes(passed=2, failed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*02/case.toml::02 - *harness_error*"])
    assert_harness_error(bench, detail)


def test_a_lone_surrogate_in_a_key_is_no_text(bench):
    bench.system(r'if case.case_id == "02": return {"\udc80": "x"}')
    bench.run().assert_outcomes(passed=2, failed=1)
    assert_harness_error(bench, "surrogate")


def test_an_exception_whose_text_raises_is_still_a_harness_error(bench):
    bench.system("""
        class Mute(Exception):
            def __str__(self):
                raise RuntimeError("no text")

        if case.case_id == "02":
            raise Mute
    """)
    bench.run().assert_outcomes(passed=2, failed=1)
    assert_harness_error(bench, "Mute")


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
    assert_harness_error(bench, "os._exit(0)")


def test_the_working_directory_is_put_back(bench):
    bench.system("""
        import os
        from pathlib import Path
        assert Path.cwd() == case.input_path.parents[4]
        os.chdir("/")
    """)
    bench.run().assert_outcomes(passed=3)
    assert bench.root.samefile(".")


def test_the_working_directory_is_put_back_also_if_it_was_removed(bench):
    bench.system("""
        import os, shutil
        os.chdir(case.work_path)
        shutil.rmtree(case.work_path)
    """)
    bench.run().assert_outcomes(passed=3)
    assert bench.root.samefile(".")


def test_each_trial_has_a_fresh_work_path_that_is_removed(bench):
    bench.system("""
        assert list(case.work_path.iterdir()) == []
        (case.work_path / "deep").mkdir()
        (case.work_path / "deep" / "file").write_text("x")
        return {"answer": str(case.work_path)}
    """)
    bench.run("--bench-trials=2").assert_outcomes(failed=6)
    items = [f"{number:02}{trial}" for number in (1, 2, 3) for trial in ("", "-t1")]
    paths = {bench.trial(item)["output"]["answer"] for item in items}
    assert len(paths) == 6
    assert not any(os.path.lexists(path) for path in paths)


def test_the_rubric_sees_the_work_path_of_the_system(bench):
    bench.system('(case.work_path / "made").write_text("by the system")')
    bench.rubric('assert (case.work_path / "made").read_text() == "by the system"')
    bench.run().assert_outcomes(passed=3)


def test_the_system_does_not_see_what_is_expected(bench):
    bench.system("assert case.expected_path is None")
    bench.run().assert_outcomes(passed=3)


def test_the_system_cannot_change_the_case(bench):
    bench.system("""
        if case.case_id == "02":
            case.case_id = "01"
    """)
    bench.run().assert_outcomes(passed=2, failed=1)
    assert_harness_error(bench, "ValidationError")


@pytest.mark.parametrize(
    "body",
    [
        'case.input_path.joinpath("question.txt").write_text("easier")',
        'case.input_path.joinpath("new.txt").write_text("more")',
        'case.input_path.joinpath("question.txt").unlink(); return {"answer": "Q02"}',
        'case.input_path.with_name("expected").joinpath("answer.txt").write_text("Q02 ")',
    ],
    ids=["changed", "added", "removed", "expected"],
)
def test_writing_into_a_case_blocks_whatever_the_score(bench, body):
    bench.system(f'if case.case_id == "02":\n    {body}')
    result = bench.run()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    report = bench.record()["report"]
    assert bench.outcomes() == {"01": "scored", "02": "scored", "03": "scored"}
    assert report["block_severity_failure_modes"] == ["input_modified"]
    assert bench.result("02")["failure_modes"][-1]["code"] == "input_modified"
    assert bench.trial("02")["result"] == bench.result("02")
    assert bench.record()["decision"]["outcome"] == "reject"


def test_writing_into_another_case_blocks_that_case(bench):
    bench.system("""
        if case.case_id == "01":
            (case.input_path.parents[1] / "02/expected/answer.txt").write_text("easier")
            return {"answer": "Q01"}
    """)
    result = bench.run()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert bench.result("02")["failure_modes"][-1]["code"] == "input_modified"
    assert bench.record()["report"]["block_severity_failure_modes"] == ["input_modified"]


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


def test_ctrl_c_in_the_last_case_is_still_incomplete(bench):
    bench.system('if case.case_id == "03": raise KeyboardInterrupt')
    assert bench.run().ret == pytest.ExitCode.INTERRUPTED
    assert bench.outcomes() == {"01": "scored", "02": "scored", "03": "not_run"}
    assert bench.record()["report"]["complete"] is False


@pytest.mark.parametrize(
    "apart",
    [False, pytest.param(True, marks=pytest.mark.slow)],
    ids=["in one process", "with workers"],
)
def test_subclasses_of_builtins_survive_the_way_into_the_report(bench, apart):
    bench.system("""
        import enum
        import numpy
        from collections import OrderedDict

        class Text(str): ...
        class Answer(enum.StrEnum):
            RIGHT = "Q02"

        if case.case_id == "01":
            return OrderedDict(answer=Text("Q01"), figure=numpy.float64(0.5))
        if case.case_id == "02":
            return {"answer": Answer.RIGHT, Text("key"): (1, True)}
    """)
    bench.rubric("""
        import numpy

        class Text(str): ...

        return BenchScore(
            passed=True, score=numpy.float64(0.5), breakdown={Text("part"): numpy.float64(1.0)},
            failure_modes=[Text("wrong")], cost_usd=numpy.float64(0.25),
            safety_penalty=numpy.float64(0.0),
        )
    """)
    result = bench.run(*["-n2"] * apart, apart=apart)
    result.assert_outcomes(passed=3)
    assert result.ret == pytest.ExitCode.OK
    assert bench.trial("01")["output"] == {"answer": "Q01", "figure": 0.5}
    assert bench.trial("02")["output"] == {"answer": "Q02", "key": [1, True]}
    score = bench.result("01")["score"]
    assert score["score"] == 0.5
    assert score["breakdown"] == {"part": 1.0}
    assert score["failure_modes"] == ["wrong"]


def test_a_numpy_integer_is_no_json(bench):
    bench.system('import numpy\nif case.case_id == "02": return {"answer": numpy.int64(1)}')
    bench.run().assert_outcomes(passed=2, failed=1)
    assert_harness_error(bench, "output.answer is a int64")


def test_a_deeply_nested_output_is_refused_or_kept_but_never_lost(bench):
    bench.system("""
        deep = []
        for _ in range(100_000):
            deep = [deep]
        if case.case_id == "02":
            return {"answer": deep}
    """)
    bench.run().assert_outcomes(passed=2, failed=1)
    assert_harness_error(bench, "nested more than 150 deep")


def test_a_system_named_on_the_command_line_is_run(bench):
    bench.pytester.syspathinsert()
    bench.pytester.makepyfile(other='def system(case):\n    return {"answer": "no"}\n')
    result = bench.run("--bench-system=other:system")
    result.assert_outcomes(failed=3)
    result.stdout.fnmatch_lines(["benchgate: echo, system other:system, 3 cases,*"])
    assert bench.record()["report"]["system"] == "other:system"


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        ("louder", "*task class 'echo' has no system 'louder'; known systems: shout"),
        ("nowhere:system", "*'nowhere:system' cannot be imported: ModuleNotFoundError*"),
        ("os:nothing", "*'os:nothing' cannot be imported: AttributeError*"),
        ("os:sep", "*system 'os:sep' is not callable*"),
    ],
)
def test_a_system_that_cannot_be_found_is_wrong_use(bench, wanted, reason):
    result = bench.run(f"--bench-system={wanted}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([reason])


def test_a_system_module_that_exits_on_import_is_wrong_use(bench):
    bench.pytester.makepyfile(quitter="import sys\nsys.exit(0)\n")
    result = bench.run("--bench-system=quitter:system")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*quitter:system*SystemExit*"])


def test_a_class_without_a_default_system_names_the_choice(bench):
    bench.write(
        "registration.py",
        """
        from benchgate import register_task_class
        from .rubric import EchoRubric
        from .system import system

        register_task_class("echo", systems={"a": system, "b": system})(EchoRubric)
        """,
    )
    result = bench.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*has no default system: name one; known systems: a, b"])


def test_a_system_object_is_known_by_the_digest_it_declares(bench):
    bench.pytester.syspathinsert()
    bench.pytester.makepyfile(
        agent="""
        class Agent:
            name = "agent"
            def digest(self):
                return "sha256:abc"
            def __call__(self, case):
                return {"answer": (case.input_path / "question.txt").read_text().upper()}
        agent = Agent()
        """
    )
    bench.run("--bench-system=agent:agent").assert_outcomes(passed=3)
    assert bench.record()["report"]["digests"]["system"] == "sha256:abc"


def test_the_seed_of_a_trial_is_told_to_the_system_and_recorded(bench):
    bench.system('return {"answer": "Q" + case.case_id, "seed": case.seed, "trial": case.trial}')
    bench.run("--bench-trials=2", "--bench-seed=7").assert_outcomes(passed=6)
    seeds = {item: bench.trial(item)["output"]["seed"] for item in ("01", "01-t1", "02")}
    assert len(set(seeds.values())) == 3
    assert bench.trial("01-t1")["result"]["seed"] == seeds["01-t1"]
    assert bench.trial("01-t1")["output"]["trial"] == 1
    assert bench.record()["report"]["seed"] == 7


@pytest.mark.parametrize("attribute", ["checkpoint", "digest"])
def test_a_system_that_cannot_be_asked_what_it_is_is_wrong_use(bench, capsys, attribute):
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
    assert main(["run", "--task-class=echo", f"--bench-root={bench.root / 'bench'}"]) == 2


def test_an_output_of_too_many_values_costs_its_trial_alone(bench, monkeypatch):
    from benchgate.wire import parsing

    monkeypatch.setattr(parsing, "MAX_JSON_VALUES", 2000)
    bench.system("if case.case_id == '02':\n    return {'a': [[]] * 1500}")
    bench.run()
    assert bench.outcomes() == {"01": "scored", "02": "harness_error", "03": "scored"}
