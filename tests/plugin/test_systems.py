"""Whatever a system under test does, its case gets a result and the others run."""

from __future__ import annotations

import pytest

from benchgate.cli import main
from benchgate.errors import EvalError


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
    "exits": ("import sys; sys.exit(0)", "SystemExit: 0"),
    "skips": ('import pytest; pytest.skip("no")', "Skipped: no"),
    "ends pytest": ('import pytest; pytest.exit("bye", returncode=0)', "Exit: bye"),
    "xfails": ('import pytest; pytest.xfail("no")', "XFailed: no"),
    "returns a list": ("return []", "returned list; expected a mapping"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_system_that_errs_fails_its_case_alone(bench, fault):
    """More of them are in ``tests/engine/test_systems.py``."""
    body, detail = FAULTS[fault]
    bench.system(f'if case.case_id == "02":\n    {body}')
    result = bench.run()
    result.assert_outcomes(passed=2, failed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*02/case.toml::02 - *harness_error*"])
    assert_harness_error(bench, detail)


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
    assert not bench.engine().failures
    assert bench.root.samefile(".")


def test_writing_into_a_case_blocks_whatever_the_score(bench):
    body = 'case.input_path.joinpath("question.txt").write_text("easier")'
    bench.system(f'if case.case_id == "02":\n    {body}')
    assert bench.engine().exit_status == 1
    report = bench.record()["report"]
    assert bench.outcomes() == {"01": "scored", "02": "scored", "03": "scored"}
    assert report["block_severity_failure_modes"] == ["input_modified"]
    assert bench.result("02")["failure_modes"][-1]["code"] == "input_modified"
    assert bench.trial("02")["result"] == bench.result("02")
    assert bench.record()["decision"]["outcome"] == "reject"


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
    with pytest.raises(KeyboardInterrupt):
        bench.engine()
    assert bench.outcomes() == {"01": "scored", "02": "scored", "03": "not_run"}
    assert bench.record()["report"]["complete"] is False


def test_subclasses_of_builtins_survive_the_way_into_the_report(bench):
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
    assert not bench.engine().failures
    assert bench.trial("01")["output"] == {"answer": "Q01", "figure": 0.5}
    assert bench.trial("02")["output"] == {"answer": "Q02", "key": [1, True]}
    score = bench.result("01")["score"]
    assert score["score"] == 0.5
    assert score["breakdown"] == {"part": 1.0}
    assert score["failure_modes"] == ["wrong"]


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
        ("louder", "task class 'echo' has no system 'louder'; known systems: shout"),
        ("nowhere:system", "'nowhere:system' cannot be imported: ModuleNotFoundError"),
        ("os:nothing", "'os:nothing' cannot be imported: AttributeError"),
        ("os:sep", "system 'os:sep' is not callable"),
    ],
)
def test_a_system_that_cannot_be_found_is_wrong_use(bench, capsys, wanted, reason):
    root = f"--bench-root={bench.root / 'bench'}"
    assert main(["run", "--task-class=echo", root, f"--system={wanted}"]) == 2
    assert reason in capsys.readouterr().err


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
    with pytest.raises(EvalError, match="has no default system: name one; known systems: a, b"):
        bench.engine()


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
    assert not bench.engine(system="agent:agent").failures
    assert bench.record()["report"]["digests"]["system"] == "sha256:abc"


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
