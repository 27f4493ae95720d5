"""What a promotion states, critical cases, and the exit status of a run that the gate holds: at both doors."""

from __future__ import annotations

import json

import pytest

from benchgate.cli import main
from benchgate.gates.exit_status import HELD

DOORS = ("pytest", "benchgate run")
MARGIN = ["policy=claim=not_worse", "policy=margin=0.3"]


@pytest.fixture
def twelve(bench, kept):
    """Twelve cases that the pinned baseline passes, as the same system does now."""
    for number in range(4, 13):
        bench.case(f"{number:02}")
    bench.pin_once(kept)
    return bench


def run(bench, door, *options, workers=()) -> int:
    if door == "pytest":
        given = [f"--bench-{option}" for option in options]
        return int(bench.run(*given, *workers, apart=bool(workers)).ret)
    return main(["run", "--task-class=echo", f"--out={bench.out}", *(f"--{o}" for o in options)])


def fails(*cases: str) -> str:
    return f'if case.case_id in {cases!r}: return {{"answer": "no"}}'


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    ("options", "outcome", "status"),
    [
        ([], "hold", HELD),
        (MARGIN, "promote", 0),
    ],
)
def test_the_same_system_by_each_claim(twelve, door, options, outcome, status):
    assert run(twelve, door, *options) == status
    decision = twelve.record()["decision"]
    assert decision["outcome"] == outcome
    assert bool(decision["next_step"]) == (outcome == "hold")
    assert main(["verify", str(twelve.out)]) == 0
    files = [str(path) for path in (twelve.folder() / "evidence").glob("*.json")]
    assert main(["verify", *files]) == 0


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("options", [[*MARGIN]])
def test_the_claim_of_a_class_is_in_its_gate_toml(twelve, door, options):
    claim, *policy = (option.rpartition("policy=")[2].partition("=") for option in options)
    lines = [f'claim = "{claim[2]}"', *(f"{key} = {value}" for key, _, value in policy)]
    twelve.write("gate.toml", "\n".join(lines))
    assert run(twelve, door) == 0
    assert run(twelve, door, "policy=claim=better") == HELD
    assert twelve.record()["policy"]["margin"] is None


def test_a_claim_that_is_none_is_wrong_use(twelve, capsys):
    assert twelve.run("--bench-policy=claim=best").ret == pytest.ExitCode.USAGE_ERROR
    assert main(["run", "--task-class=echo", "--policy=claim=not_worse"]) == 2
    assert "needs a margin" in capsys.readouterr().err


@pytest.mark.parametrize("rule", ["strict", "gate"])
def test_a_held_run_exits_with_10_and_other_reporters_agree(twelve, rule):
    given = ["--json-report", "--json-report-file=out.json", "--junitxml=x.xml"]
    result = twelve.run(f"--bench-exit={rule}", *given)
    assert result.ret == HELD
    result.assert_outcomes(passed=12)
    result.stdout.fnmatch_lines(["HOLD      *", "next      *", "HELD the gate decided hold"])
    assert json.loads((twelve.root / "out.json").read_bytes())["exitcode"] == HELD
    junit = (twelve.root / "x.xml").read_text()
    assert 'failures="0"' in junit
    assert "the gate decided hold" in junit or "hold" in junit


@pytest.mark.parametrize("door", DOORS)
def test_a_failing_case_is_1_where_it_must_pass_and_10_where_the_gate_alone_decides(twelve, door):
    twelve.system(fails("03"))
    assert run(twelve, door, "policy=target_effect=0.5") == (1 if door == "pytest" else HELD)
    assert twelve.record()["decision"]["outcome"] == "hold"
    if door == "pytest":
        assert run(twelve, door, "exit=gate") == HELD


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


def test_a_critical_case_cannot_be_dropped_from_a_record_unseen(twelve):
    twelve.system(fails("03"))
    twelve.case("03", critical="true")
    twelve.engine(baseline="auto", policy={"claim": "no_regression", "max_newly_failing": 1})
    path = twelve.folder() / "record.json"
    path.write_text(path.read_text().replace('"critical": [\n      "03"\n    ]', '"critical": []'))
    assert twelve.record()["report"]["critical"] == []
    assert main(["verify", str(twelve.out)]) == 1
