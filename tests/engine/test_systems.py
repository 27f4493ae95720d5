"""Whatever a system under test does, its case gets a result and the others run."""

from __future__ import annotations

import os
import sys

import pytest

from benchgate.cli import main
from benchgate.errors import EvalError
from benchgate.wire import parsing


def assert_harness_error(echo, detail: str, **settings) -> None:
    """The second of three cases is a harness error; the run is complete and everything is written."""
    report = echo.run(system=None, **settings).judgement.report
    assert echo.outcomes() == {"01": "scored", "02": "harness_error", "03": "scored"}
    assert report.complete
    assert report.case_count == 3
    assert report.mean_score == pytest.approx(2 / 3)
    mode = echo.result("02")["failure_modes"][0]
    assert mode["code"] == "harness_error"
    assert detail in mode["detail"]
    assert echo.result("02")["score"] is None
    assert echo.trial("02")["result"] == echo.result("02")


def assert_passed(echo, **settings) -> None:
    report = echo.run(system=None, **settings).judgement.report
    assert report.passed_count == report.case_count == 3


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
    "ends pytest": ('import pytest; pytest.exit("bye", returncode=0)', "Exit: bye"),
    "xfails": ('import pytest; pytest.xfail("no")', "XFailed: no"),
    "returns nothing": ("return None", "returned NoneType; expected a mapping"),
    "returns a list": ("return []", "returned list; expected a mapping"),
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
def test_a_system_that_errs_fails_its_case_alone(echo, fault):
    body, detail = FAULTS[fault]
    echo.system(f'if case.case_id == "02":\n    {body}')
    assert_harness_error(echo, detail)


def test_a_lone_surrogate_in_a_key_is_no_text(echo):
    echo.system(r'if case.case_id == "02": return {"\udc80": "x"}')
    assert_harness_error(echo, "surrogate")


def test_an_exception_whose_text_raises_is_still_a_harness_error(echo):
    echo.system("""
        class Mute(Exception):
            def __str__(self):
                raise RuntimeError("no text")

        if case.case_id == "02":
            raise Mute
    """)
    assert_harness_error(echo, "Mute")


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_system_that_leaves_no_room_for_calls_fails_its_case_alone(echo, jobs):
    """In a thread nothing could take its result, and the session would wait for ever."""
    echo.system("""
        import sys

        if case.case_id == "02":
            for least in range(1, 1000):
                try:
                    sys.setrecursionlimit(least)
                    break
                except RecursionError:
                    pass  # there are more calls than that already
    """)
    before = sys.getrecursionlimit()
    run = echo.engine(system="shout", jobs=jobs)
    assert sys.getrecursionlimit() == before
    assert run.judgement.report.complete
    assert {"01", "03"} <= {case for case, one in echo.outcomes().items() if one == "scored"}


def test_the_working_directory_is_put_back(echo, monkeypatch):
    monkeypatch.chdir(echo.root)
    echo.system("""
        import os
        from pathlib import Path
        assert Path.cwd() == case.input_path.parents[4]
        os.chdir("/")
    """)
    assert_passed(echo)
    assert echo.root.samefile(".")


def test_the_working_directory_is_put_back_also_if_it_was_removed(echo, monkeypatch):
    monkeypatch.chdir(echo.root)
    echo.system("""
        import os, shutil
        os.chdir(case.work_path)
        shutil.rmtree(case.work_path)
    """)
    assert_passed(echo)
    assert echo.root.samefile(".")


def test_each_trial_has_a_fresh_work_path_that_is_removed(echo):
    echo.system("""
        assert list(case.work_path.iterdir()) == []
        (case.work_path / "deep").mkdir()
        (case.work_path / "deep" / "file").write_text("x")
        return {"answer": str(case.work_path)}
    """)
    echo.run(system=None, trials=2)
    items = [f"{number:02}{trial}" for number in (1, 2, 3) for trial in ("", "-t1")]
    paths = {echo.trial(item)["output"]["answer"] for item in items}
    assert len(paths) == 6
    assert not any(os.path.lexists(path) for path in paths)


def test_the_rubric_sees_the_work_path_of_the_system(echo):
    echo.system('(case.work_path / "made").write_text("by the system")')
    echo.rubric('assert (case.work_path / "made").read_text() == "by the system"')
    assert_passed(echo)


def test_the_system_does_not_see_what_is_expected(echo):
    echo.system("assert case.expected_path is None")
    assert_passed(echo)


def test_the_system_cannot_change_the_case(echo):
    echo.system("""
        if case.case_id == "02":
            case.case_id = "01"
    """)
    assert_harness_error(echo, "ValidationError")


def test_writing_into_another_case_blocks_that_case(echo):
    echo.system("""
        if case.case_id == "01":
            (case.input_path.parents[1] / "02/expected/answer.txt").write_text("easier")
            return {"answer": "Q01"}
    """)
    assert echo.run(system=None).exit_status == 1
    assert echo.result("02")["failure_modes"][-1]["code"] == "input_modified"
    assert echo.record()["report"]["block_severity_failure_modes"] == ["input_modified"]


def test_a_numpy_integer_is_no_json(echo):
    echo.system('import numpy\nif case.case_id == "02": return {"answer": numpy.int64(1)}')
    assert_harness_error(echo, "output.answer is a int64")


def test_a_deeply_nested_output_is_refused_or_kept_but_never_lost(echo):
    echo.system("""
        if case.case_id == "02":
            deep = []
            for _ in range(100_000):
                deep = [deep]
            return {"answer": deep}
    """)
    assert_harness_error(echo, "nested more than 150 deep")


def test_the_seed_of_a_trial_is_told_to_the_system_and_recorded(echo):
    echo.system('return {"answer": "Q" + case.case_id, "seed": case.seed, "trial": case.trial}')
    echo.run(system=None, trials=2, seed=7)
    seeds = {item: echo.trial(item)["output"]["seed"] for item in ("01", "01-t1", "02")}
    assert len(set(seeds.values())) == 3
    assert echo.trial("01-t1")["result"]["seed"] == seeds["01-t1"]
    assert echo.trial("01-t1")["output"]["trial"] == 1
    assert echo.record()["report"]["seed"] == 7


def test_an_output_of_too_many_values_costs_its_trial_alone(echo, monkeypatch):

    monkeypatch.setattr(parsing, "MAX_JSON_VALUES", 2000)
    echo.system("if case.case_id == '02':\n    return {'a': [[]] * 1500}")
    echo.run(system=None)
    assert echo.outcomes() == {"01": "scored", "02": "harness_error", "03": "scored"}


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
def test_writing_into_a_case_blocks_whatever_the_score(echo, body):
    echo.system(f'if case.case_id == "02":\n    {body}')
    run = echo.run(system=None)
    assert run.exit_status == 1
    assert echo.outcomes() == {"01": "scored", "02": "scored", "03": "scored"}
    assert run.judgement.report.block_severity_failure_modes == ("input_modified",)
    assert echo.result("02")["failure_modes"][-1]["code"] == "input_modified"
    assert echo.trial("02")["result"] == echo.result("02")
    assert run.judgement.decision.outcome == "reject"


def test_ctrl_c_in_the_last_case_is_still_incomplete(echo):
    echo.instead["03"] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        echo.run()
    assert echo.outcomes() == {"01": "scored", "02": "scored", "03": "not_run"}
    assert echo.record()["report"]["complete"] is False


def test_subclasses_of_builtins_survive_the_way_into_the_report(echo):
    echo.system("""
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
    echo.rubric("""
        import numpy

        class Text(str): ...

        return BenchScore(
            passed=True, score=numpy.float64(0.5), breakdown={Text("part"): numpy.float64(1.0)},
            failure_modes=[Text("wrong")], cost_usd=numpy.float64(0.25),
            safety_penalty=numpy.float64(0.0),
        )
    """)
    assert_passed(echo)
    assert echo.trial("01")["output"] == {"answer": "Q01", "figure": 0.5}
    assert echo.trial("02")["output"] == {"answer": "Q02", "key": [1, True]}
    score = echo.result("01")["score"]
    assert score["score"] == 0.5
    assert score["breakdown"] == {"part": 1.0}
    assert score["failure_modes"] == ["wrong"]


# Which system


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        (
            "shot",
            "task class 'echo' has no system 'shot'; did you mean 'shout'? known systems: shout",
        ),
        ("nowhere:system", "'nowhere:system' cannot be imported: ModuleNotFoundError"),
        ("quitter:system", "'quitter:system' cannot be imported: SystemExit"),
        ("os:nothing", "'os:nothing' cannot be imported: AttributeError"),
        ("os:sep", "system 'os:sep' is not callable"),
    ],
)
def test_a_system_that_cannot_be_found_is_wrong_use(echo, capsys, monkeypatch, wanted, reason):
    (echo.root / "quitter.py").write_text("import sys\nsys.exit(0)\n")
    monkeypatch.syspath_prepend(echo.root)
    root = f"--bench-root={echo.path.parent}"
    assert main(["run", "--task-class=echo", root, f"--system={wanted}"]) == 2
    assert reason in capsys.readouterr().err


def test_a_class_without_a_default_system_names_the_choice(echo):
    echo.write(
        "registration.py",
        """
        from benchgate import register_task_class
        from .rubric import EchoRubric
        from .system import system

        register_task_class("echo", systems={"a": system, "b": system})(EchoRubric)
        """,
    )
    with pytest.raises(EvalError, match="has no default system: name one; known systems: a, b"):
        echo.engine()


def test_a_system_object_is_known_by_the_digest_it_declares(echo, monkeypatch):
    (echo.root / "digested_agent.py").write_text("""
class Agent:
    name = "agent"
    def digest(self):
        return "sha256:abc"
    def __call__(self, case):
        return {"answer": (case.input_path / "question.txt").read_text().upper()}
agent = Agent()
""")
    monkeypatch.syspath_prepend(echo.root)
    assert not echo.engine(system="digested_agent:agent").failures
    assert echo.record()["report"]["digests"]["system"] == "sha256:abc"


@pytest.mark.parametrize("attribute", ["checkpoint", "digest"])
def test_a_system_that_cannot_be_asked_what_it_is_is_wrong_use(echo, capsys, attribute):
    echo.write(
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
    assert main(["run", "--task-class=echo", f"--bench-root={echo.path.parent}"]) == 2
    said = "system 'shout' has no digest or checkpoint to ask for: RuntimeError: no weights"
    assert said in capsys.readouterr().err
