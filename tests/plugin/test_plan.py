"""A plan that is sealed before a run, and a run that cites it: kept, or a bar that was moved."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

import pytest

from benchgate.artifacts.sealed_plan import SealedPlan
from benchgate.cli import main
from benchgate.gates import forecast as forecasts
from benchgate.gates.exit_status import HELD
from benchgate.wire import clock
from benchgate.wire.writing import model_bytes

CODE = "checkpoint_promotion_blocked_plan_mismatch"
DOORS = ("pytest", "benchgate run")
GRADED = """
score = float(output["answer"])
return BenchScore(passed=score > 0.05, score=score, cost_usd=0.5, safety_penalty=0.0)
"""
REGISTRATION = """
from benchgate import register_task_class
from .rubric import EchoRubric
from .system import old, system

register_task_class("echo", systems={"shout": system, "old": old}, default_system="shout")(EchoRubric)
"""
SYSTEM = """
import random

def noisy(case, level, salt=0):
    return {{"answer": level + 0.05 * random.Random(case.seed + salt).random() + int(case.case_id) / 100}}

def old(case):
    return noisy(case, 0.1)

def system(case):
    return noisy(case, {level}, 1)
"""


class Planned:
    """Twelve cases of which a pinned baseline made two trials, and candidates of the level that they are given."""

    def __init__(self, bench, kept: dict) -> None:
        self.bench = bench
        self.kept = kept
        for number in range(4, 13):
            bench.case(f"{number:02}")
        bench.rubric(GRADED)
        bench.write("registration.py", REGISTRATION)
        bench.write("gate.toml", 'test = "auto"\n')
        self.level(0.6)
        if "baseline" not in kept:
            options = ["--bench-system=old", "--bench-baseline=none", "--bench-trials=2"]
            assert bench.run(*options, "--bench-out=pinned").ret == 0
            (path,) = bench.root.glob("pinned/runs/echo/*/record.json")
            kept["baseline"] = path.read_bytes()
        (bench.path / "baseline.json").write_bytes(kept["baseline"])
        self.file = bench.root / "echo.plan.json"

    def level(self, level: float) -> None:
        self.bench.write("system.py", SYSTEM.format(level=level))

    def plan(self, *options: str) -> int:
        where = [
            f"--bench-root={self.bench.root / 'bench'}",
            f"--runs={self.bench.out}",
            f"--out={self.file}",
        ]
        return main(["plan", "echo", *where, *options])

    def cite(self, trials: int = 2) -> None:
        """Seal a plan of these trials; the simulations behind it are made once."""
        key = f"plan of {trials}"
        if key not in self.kept:
            assert self.plan(f"--trials={trials}") == 0
            self.kept[key] = self.file.read_bytes()
        self.file.write_bytes(self.kept[key])

    def reseal(self, moment: datetime) -> None:
        """Seal the plan again, as of another time."""
        plan = SealedPlan.read_file(self.file, "sealed plan")
        fields = {name: getattr(plan, name) for name in SealedPlan.model_fields if name != "seal"}
        again = SealedPlan.sealed(**{**fields, "sealed_at": moment})
        self.file.write_bytes(model_bytes(again))

    def run(self, door: str, *options: str) -> int:
        options = (f"plan={self.file}", *options)
        if door == "pytest":
            return int(self.bench.run(*(f"--bench-{option}" for option in options)).ret)
        given = [f"--{option}" for option in options]
        return main(["run", "--task-class=echo", f"--out={self.bench.out}", *given])

    @property
    def reason(self):
        remarks = self.bench.record()["decision"]["remarks"]
        return next((one["message"] for one in remarks if one["code"] == CODE), None)


@pytest.fixture
def planned(bench, kept, monkeypatch):
    """What is asked here of a forecast needs no two hundred decisions."""
    monkeypatch.setattr(forecasts, "REPETITIONS", 20)
    return Planned(bench, kept)


@pytest.mark.parametrize("door", DOORS)
def test_a_run_that_keeps_its_plan_says_so_in_the_proof(planned, door):
    planned.cite()
    assert planned.run(door, "trials=2") == 0
    sealed = json.loads(planned.file.read_bytes())
    evidence = planned.bench.folder() / "evidence"
    proof = json.loads((evidence / "proof.json").read_bytes())
    assert proof["plan"] == {"seal": sealed["seal"], "sealed_at": sealed["sealed_at"]}
    assert planned.bench.record()["sealed_plan"] == sealed
    assert main(["verify", str(planned.bench.out)]) == 0
    assert main(["verify", str(planned.file), *map(str, evidence.glob("*.json"))]) == 0


@pytest.mark.parametrize(
    ("door", "options", "said"),
    [
        (
            "pytest",
            ["trials=2", "policy=min_cases=2", "baseline=none"],
            "a baseline was planned, and the run has none; min_cases is 2, planned was 10",
        ),
        ("benchgate run", ["trials=1"], "trials of each case are 1, planned were 2"),
    ],
)
def test_a_bar_that_was_moved_holds(planned, door, options, said):
    planned.cite()
    assert planned.run(door, *options) == HELD
    assert planned.bench.record()["decision"]["outcome"] == "hold"
    assert planned.reason == said
    assert main(["verify", str(planned.bench.out)]) == 0


def test_a_plan_of_other_cases_is_another(planned):
    planned.cite()
    planned.bench.case("13")
    assert planned.run("benchgate run", "trials=2") == HELD
    said = "the cases are not the 12 that were planned, or were changed"
    assert planned.reason == said
    assert main(["verify", str(planned.bench.out)]) == 0


def test_a_baseline_that_runs_too_is_the_planned_system(planned):
    planned.cite()
    assert planned.run("benchgate run", "trials=2", "baseline=run:old", "jobs=3") == 0
    assert planned.run("benchgate run", "trials=2", "baseline=run:shout", "jobs=1") == HELD
    assert planned.reason == "the baseline is another system than old, which was planned"
    assert main(["verify", str(planned.bench.out)]) == 0


def test_a_run_that_is_resumed_was_begun_before_a_later_plan(planned):
    planned.bench.write(
        "system.py",
        SYSTEM.format(level=0.6)
        + "\nfrom benchgate import SystemUnavailable\ninner = system\n"
        + "def system(case):\n    if case.case_id == '05': raise SystemUnavailable('down')\n    return inner(case)\n",
    )
    planned.bench.engine(baseline="auto", retries=0)
    planned.level(0.6)
    planned.cite(1)
    planned.reseal(clock.now() + timedelta(seconds=1))
    planned.run("benchgate run", "resume=auto")
    assert planned.bench.record()["resumes"] is not None
    assert "after the run began" in planned.reason


def test_a_mismatch_that_was_dropped_is_found(planned, capsys):
    planned.cite()
    planned.run("benchgate run", "trials=2", "policy=alpha=0.1")
    record = planned.bench.folder() / "record.json"
    raw = json.loads(record.read_bytes())
    raw["decision"] |= {
        "outcome": "promote",
        "promotion_allowed": True,
        "reason_codes": [],
        "next_step": None,
    }
    raw["decision"]["remarks"] = [one for one in raw["decision"]["remarks"] if one["code"] != CODE]
    record.write_text(json.dumps(raw))
    capsys.readouterr()
    assert main(["verify", str(planned.bench.out)]) == 1
    assert "decision.outcome is 'promote'; recomputed: 'hold'" in capsys.readouterr().err


@pytest.mark.parametrize("door", DOORS)
def test_what_is_no_plan_is_wrong_use(planned, door, capfd):
    planned.file.write_text("{}")
    status = planned.run(door)
    assert status == (pytest.ExitCode.USAGE_ERROR if door == "pytest" else 2)
    assert "no valid sealed plan: schema_version: Field required" in "".join(capfd.readouterr())


def test_a_part_of_the_cases_cites_no_plan(planned):
    planned.cite()
    assert planned.bench.run("-k", "01", f"--bench-plan={planned.file}").ret == 0


def test_a_shard_cites_no_plan(planned, capfd):
    planned.cite()
    capfd.readouterr()
    assert planned.run("pytest", "trials=2", "shard=1/2") == pytest.ExitCode.USAGE_ERROR
    assert "give it to benchgate merge" in "".join(capfd.readouterr())


def test_the_run_that_shards_make_cites_the_plan(planned):
    bench = planned.bench
    planned.cite()
    for number in (1, 2):
        assert bench.run(f"--bench-shard={number}/2", "--bench-trials=2").ret == 0
    shards = [str(bench.out / "shards" / "echo" / f"{number}-of-2") for number in (1, 2)]
    where = [f"--bench-root={bench.root / 'bench'}", f"--out={bench.out}"]
    assert main(["merge", *shards, *where, f"--plan={planned.file}"]) == 0
    sealed = json.loads(planned.file.read_bytes())
    assert bench.read("evidence/echo/proof.json")["plan"]["seal"] == sealed["seal"]
    planned.reseal(clock.now() + timedelta(seconds=1))
    assert main(["merge", *shards, *where, f"--plan={planned.file}"]) == HELD
    assert "after the run began" in planned.reason
    assert main(["verify", str(bench.out)]) == 0


def test_a_plan_reckons_with_the_looks_that_were_spent(planned, capsys):
    asked = ("--trials=2", "--policy=looks=spend")
    planned.plan(*asked)
    first = json.loads(planned.file.read_bytes())["prediction"]
    planned.bench.engine(baseline="auto", trials=2, policy={"looks": "spend"})
    capsys.readouterr()
    planned.file.unlink()
    planned.plan(*asked)
    later = json.loads(planned.file.read_bytes())["prediction"]
    assert (first["look"], later["look"]) == (1, 2)
    assert "; this would be candidate no. 2" in capsys.readouterr().out


def test_the_command_says_what_a_run_can_show(planned, capsys, monkeypatch):
    monkeypatch.setattr(forecasts, "REPETITIONS", 60)
    assert planned.plan("--trials=2", "--policy=looks=spend") == 0
    said = capsys.readouterr().out
    assert (
        "plan      echo: 12 cases, 2 trials each, claim better, alpha 0.05, against old, run "
        in said
    )
    verdicts = (
        "verdicts  can promote, hold or reject; this would be candidate no. 1; none after no. 7"
    )
    assert verdicts in said
    assert "power     a gain of 0.1 is promoted in " in said
    assert " simulated runs, 95% interval " in said
    assert "cost      12 USD, " in said
    found = json.loads(planned.file.read_bytes())["prediction"]
    assert found["looks"] == 7
    low, high = found["interval"]
    assert 0.9 < low < found["power_of_target"] <= high <= 1
    assert found["runs"] == 60
    assert 0.005 < found["detectable"] < 0.05


def test_a_plan_that_is_there_already_stays(planned, capsys):
    assert planned.plan("--policy=claim=no_regression") == 0
    sealed = planned.file.read_bytes()
    capsys.readouterr()
    assert planned.plan() == 2
    told = capsys.readouterr()
    assert "verdicts  can promote, hold or reject" in told.out
    assert "is there, and stays" in told.err
    assert planned.file.read_bytes() == sealed
    assert main(["verify", str(planned.file)]) == 0
    planned.file.write_text(json.dumps({**json.loads(sealed), "sealed_at": "2020-01-01T00:00:00Z"}))
    assert main(["verify", str(planned.file)]) == 1
    planned.file.unlink()
    assert planned.plan("--policy=alpha=2") == 2
    (planned.bench.path / "baseline.json").unlink()
    assert planned.plan() == 2
    assert "nothing to plan with" in capsys.readouterr().err
    assert main(["plan", "none", f"--bench-root={planned.bench.root / 'bench'}"]) == 1
