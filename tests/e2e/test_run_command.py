"""``benchgate run``: what it prints where, and how it exits."""

from __future__ import annotations

import json

import pytest

from benchgate.cli import main


@pytest.fixture
def command(bench, capsys):
    """Run the command in the folder of the bench; return status, the JSON lines on stdout, and stderr."""

    def run(*arguments: str) -> tuple[int, list, str]:
        capsys.readouterr()
        try:
            status = main(arguments)
        except SystemExit as error:  # argparse
            status = error.code
        out, err = capsys.readouterr()
        return status, [json.loads(line) for line in out.splitlines() if line.startswith("{")], err

    assert bench.root.is_dir()
    return run


def test_run_prints_a_line_for_each_trial_and_one_for_the_run(bench, command):
    status, lines, err = command("run", "--task-class=echo", "--trials=2", "--out=.benchgate")
    assert (status, err.splitlines()[0][:10]) == (0, "HOLD      ")
    assert [(line["case_id"], line["trial"]) for line in lines[:-1]] == [
        (case_id, trial) for case_id in ("01", "02", "03") for trial in (0, 1)
    ]
    assert lines[-1]["run_id"] == bench.record()["report"]["run_id"]
    assert lines[-1]["decision"]["outcome"] == "hold"
    assert lines[-1]["folder"] == str(bench.folder())
    assert "per_case" not in lines[-1]


def test_run_gives_the_run_id_of_pytest(bench, command):
    bench.case("02", answer="something else")
    bench.run()
    _, lines, _ = command("run", "--task-class=echo")
    assert lines[-1]["run_id"] == bench.record()["report"]["run_id"]
    assert lines[-1]["plan_id"] == bench.record()["report"]["plan_id"]


def test_run_writes_nothing_unless_told_to(bench, command):
    status, lines, _ = command("run", "--task-class=echo")
    assert status == 0
    assert lines[-1]["folder"] is None
    assert not bench.out.exists()


def test_run_decides_like_exit_gate(bench, command):
    bench.case("02", answer="something else")
    assert command("run", "--task-class=echo", "--out=.benchgate")[0] == 0
    bench.pin()
    status, lines, err = command("run", "--task-class=echo")
    assert status == 10
    assert lines[-1]["decision"]["outcome"] in {"hold", "reject"}
    assert "the gate decided" in err


def test_run_of_a_part_is_a_selection(bench, command):
    status, lines, _ = command("run", "--task-class=echo", "--cases=0[12]", "--out=.benchgate")
    assert status == 0
    assert lines[-1]["scope"] == "selected"
    assert bench.outcomes(bench.selected()) == {"01": "scored", "02": "scored"}


def test_run_of_no_case_says_no(command):
    status, _, err = command("run", "--task-class=echo", "--cases=nothing*")
    assert status != 0
    assert "Traceback" not in err
    assert err


def test_run_of_a_malformed_case_says_no_and_where(bench, command):
    bench.write("cases/02/case.toml", "[case\n")
    status, lines, err = command("run", "--task-class=echo")
    assert status == 1
    assert lines[-1]["complete"] is False
    assert "the run is incomplete: 1 not_run (02)" in err
    trials = {line["case_id"]: line for line in lines[:-1]}
    assert {case_id: trial["outcome"] for case_id, trial in trials.items()} == {
        "01": "scored",
        "02": "not_run",
        "03": "scored",
    }
    assert "cases/02/case.toml:1: " in trials["02"]["detail"]


def test_run_of_a_rubric_that_breaks_its_contract_says_no(bench, command):
    bench.rubric("return None")
    status, lines, err = command("run", "--task-class=echo")
    assert status == 1
    assert lines[-1]["complete"] is False
    assert "incomplete" in err


def test_run_with_a_system_by_its_place(bench, command):
    bench.pytester.makepyfile(other='def system(case):\n    return {"answer": "no"}\n')
    status, lines, _ = command("run", "--task-class=echo", "--system=other:system")
    assert status == 0
    assert lines[-1]["system"] == "other:system"
    assert lines[-1]["passed_count"] == 0


def test_run_of_a_class_that_is_not_there_says_no(bench, command):
    status, lines, err = command("run", "--task-class=ecco")
    assert (status, lines) == (1, [])
    path = bench.root / "bench/ecco/registration.py"
    assert err == f"unknown task class 'ecco'; expected {path}; did you mean 'echo'? known: echo\n"


WRONG_USE = {
    "no command": [],
    "an unknown command": ["frobnicate"],
    "no class": ["run"],
    "an unknown option": ["run", "--task-class=echo", "--verbose"],
    "no trials": ["run", "--task-class=echo", "--trials=0"],
    "a negative seed": ["run", "--task-class=echo", "--seed=-1"],
    "an unknown system": ["run", "--task-class=echo", "--system=louder"],
    "a baseline that is not there": ["run", "--task-class=echo", "--baseline=pinned"],
    "a policy without value": ["run", "--task-class=echo", "--policy=alpha"],
    "a policy out of range": ["run", "--task-class=echo", "--policy=alpha=2"],
    "an output folder in a file": ["run", "--task-class=echo", "--out=bench/echo/rubric.py/out"],
    "a time of NaN": ["run", "--task-class=echo", "--timeout=nan"],
}


@pytest.mark.parametrize("what", WRONG_USE)
def test_wrong_use_exits_with_2_and_says_why(command, what):
    status, lines, err = command(*WRONG_USE[what])
    assert (status, lines) == (2, [])
    assert err
    assert "Traceback" not in err


def test_a_wrong_registration_exits_with_2_and_names_the_file(bench, command):
    bench.write("registration.py", "import sys; sys.exit(0)\n")
    status, _, err = command("run", "--task-class=echo")
    assert status == 2
    assert "bench/echo/registration.py: SystemExit: 0" in err


def test_a_damaged_baseline_says_no(bench, command):
    (bench.path / "baseline.json").write_text("{}")
    status, lines, _ = command("run", "--task-class=echo")
    assert status == 1
    assert lines[-1]["decision"]["reason_codes"] == [
        "checkpoint_promotion_blocked_baseline_mismatch"
    ]


def test_a_selection_that_was_asked_to_be_gated_says_no(bench, command):
    bench.engine()
    bench.pin()
    assert command("run", "--task-class=echo", "--cases=01")[0] == 0
    status, _, err = command("run", "--task-class=echo", "--cases=01", "--baseline=pinned")
    assert status == 1
    assert "a gate was asked for" in err


def test_what_a_system_prints_does_not_get_between_the_json_lines(bench, capsys):
    bench.system('print("thinking")')
    assert main(["run", "--task-class=echo"]) == 0
    for line in capsys.readouterr().out.splitlines():
        json.loads(line)


def test_warnings_are_lines_and_no_warnings_of_python(bench, command, recwarn):
    bench.case("04", last_validated_at="2020-01-01T00:00:00Z", added_at="2020-01-01T00:00:00Z")
    bench.write("rubric.py", (bench.path / "rubric.py").read_text().replace("0.25", "0.0"))
    status, _, err = command("run", "--task-class=echo", "--max-cost-usd=1")
    assert status == 0
    told = [line for line in err.splitlines() if "warn" in line.lower()]
    assert told[0] == "warning   not validated for more than 90 days: 04"
    assert told[1].startswith("warning   max_cost_usd: trial 01 reported no cost, and a cap cannot")
    assert len(told) == 2
    assert not recwarn.list


def test_a_warning_of_a_merged_run_is_a_line_too(bench, command):
    bench.case("04", last_validated_at="2020-01-01T00:00:00Z", added_at="2020-01-01T00:00:00Z")
    command("run", "--task-class=echo", "--out=parts", "--shard=1/1")
    status, _, err = command("merge", "parts/shards/echo/1-of-1", "--out=whole", "--json")
    assert status == 0
    assert err.count("warning   not validated for more than 90 days: 04\n") == 1


def test_messages_name_the_options_of_the_command(bench, command):
    (bench.path / "baseline.json").write_text("{}")
    _, _, err = command("run", "--task-class=echo")
    assert "--baseline=none, then benchgate pin" in " ".join(err.split())
    assert "--bench-" not in err
    assert "pytest --" not in err
