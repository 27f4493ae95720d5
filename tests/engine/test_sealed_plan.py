"""A plan that is sealed before a run, and a run that cites it: kept, or a bar that was moved, and by what."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from benchgate.artifacts.sealed_plan import PlannedBaseline, Prediction, SealedPlan, broken
from benchgate.cli import main
from benchgate.errors import ArtifactError
from benchgate.gates import forecast as forecasts
from benchgate.gates.exit_status import HELD
from benchgate.gates.forecast import Chance, Forecast
from benchgate.gates.policy import GatePolicy
from benchgate.ids import system_digest
from benchgate.wire import clock
from benchgate.wire.canonical import digest
from benchgate.wire.model import SCHEMA_VERSION
from benchgate.wire.shard import Shard
from benchgate.wire.writing import model_bytes

CODE = "checkpoint_promotion_blocked_plan_mismatch"
BEGAN = datetime(2026, 11, 1, tzinfo=UTC)
OTHER = "f" * 64
NOTHING = dict.fromkeys(Prediction.model_fields) | {
    "units": 3,
    "look": 1,
    "runs": 0,
    "is_lower_limit": False,
}


@pytest.fixture
def report(echo):
    return echo.run().judgement.report


def sealed(report, **fields):
    baseline = PlannedBaseline(
        system="old", system_sha256=system_digest(report), run_id=report.run_id
    )
    return SealedPlan.sealed(
        **{
            "schema_version": SCHEMA_VERSION,
            "report_kind": "sealed_plan",
            "sealed_at": BEGAN,
            "benchgate": "1",
            "task_class": "echo",
            "case_count": 3,
            "cases": digest(dict(report.digests.cases)),
            "rubric": report.digests.scorer,
            "baseline": baseline,
            "trial_count": 1,
            "policy": GatePolicy(),
            "prediction": Prediction(**NOTHING),
            **fields,
        }
    )


def problems(plan, report, policy=None, started=BEGAN, **baseline):
    baseline = {"run_id": plan.baseline.run_id, "beside": None, **baseline}
    return list(broken(plan, report, policy or GatePolicy(), started, **baseline))


def test_a_run_as_planned_breaks_nothing(report):
    plan = sealed(report)
    assert problems(plan, report) == []
    assert plan.seal == plan.own_seal()


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ({"alpha": 0.1}, ["alpha is 0.1, planned was 0.05"]),
        ({"claim": "no_regression"}, ["claim is no_regression, planned was better"]),
        (
            {"target_effect": 0.3, "min_cases": 2},
            ["min_cases is 2, planned was 10", "target_effect is 0.3, planned was 0.1"],
        ),
    ],
)
def test_each_key_of_another_policy_is_named(report, policy, said):
    assert sorted(problems(sealed(report), report, GatePolicy(**policy))) == said


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"case_count": 4, "cases": OTHER}, "the cases are not the 4 that were planned, or "),
        ({"rubric": OTHER}, "the rubric is "),
        ({"trial_count": 2}, "trials of each case are 1, planned were 2"),
        ({"sealed_at": BEGAN + timedelta(seconds=1)}, "the plan was sealed at 2026-11-01 00:00:01"),
        ({"task_class": "other", "rubric": OTHER}, "the plan is of task class 'other'"),
    ],
)
def test_each_fact_that_was_planned_otherwise_is_named(report, fields, said):
    (problem,) = problems(sealed(report, **fields), report)
    assert problem.startswith(said)


def test_more_trials_than_planned_are_another_run(report):
    more = report.model_copy(update={"trial_count": 2})
    assert problems(sealed(report), more) == ["trials of each case are 2, planned were 1"]


def test_an_edited_plan_is_none(report):
    plan = sealed(report).model_copy(update={"case_count": 2})
    assert problems(plan, report) == ["the plan was edited after it was sealed"]


def test_another_baseline_is_named(report):
    plan = sealed(report)
    assert problems(plan, report, run_id=None) == ["a baseline was planned, and the run has none"]
    (problem,) = problems(plan, report, run_id=OTHER)
    assert problem == f"the baseline is run ffffffffffff, planned was {report.run_id[:12]}"


def test_a_baseline_that_ran_beside_counts_by_its_system(report):
    plan = sealed(report)
    assert problems(plan, report, run_id=OTHER, beside=report) == []
    other = report.model_copy(update={"system": "another"})
    said = "the baseline is another system than old, which was planned"
    assert problems(plan, report, run_id=OTHER, beside=other) == [said]


def test_a_log_beside_is_the_planned_run_or_another(report):
    plan, log = sealed(report), report.model_copy(update={"source": "a log"})
    assert problems(plan, report, beside=log) == []
    (problem,) = problems(plan, report, run_id=OTHER, beside=log)
    assert problem.startswith("the baseline is run ffffffffffff, planned was ")


# A run that cites a plan

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
FORESEEN = Forecast(
    units=12,
    obstacle=None,
    looks=7,
    chance=Chance(0.1, 0.95, 60),
    uneven=Chance(0.1, 0.9, 60),
    detectable=0.0125,
)


class Planned:
    """Twelve cases of which a pinned baseline made two trials, and candidates of the level that they are given."""

    def __init__(self, echo, kept: dict) -> None:
        self.echo = echo
        for number in range(4, 13):
            echo.case(f"{number:02}")
        echo.rubric(GRADED)
        echo.write("registration.py", REGISTRATION)
        echo.write("gate.toml", 'test = "auto"\n')
        self.level(0.6)
        if "baseline" not in kept:
            echo.engine(system="old", trials=2, out=echo.root / "pinned")
            (path,) = echo.root.glob("pinned/runs/echo/*/record.json")
            kept["baseline"] = path.read_bytes()
        (echo.path / "baseline.json").write_bytes(kept["baseline"])
        self.file = echo.root / "echo.plan.json"

    def level(self, level: float) -> None:
        self.echo.write("system.py", SYSTEM.format(level=level))

    def plan(self, *options: str) -> int:
        where = [
            f"--bench-root={self.echo.root / 'bench'}",
            f"--runs={self.echo.out}",
            f"--out={self.file}",
        ]
        return main(["plan", "echo", *where, *options])

    def cite(self, trials: int = 2) -> None:
        """Seal a plan of these trials."""
        assert self.plan(f"--trials={trials}") == 0

    def reseal(self, moment: datetime) -> None:
        """Seal the plan again, as of another time."""
        plan = SealedPlan.read_file(self.file, "sealed plan")
        fields = {name: getattr(plan, name) for name in SealedPlan.model_fields if name != "seal"}
        again = SealedPlan.sealed(**{**fields, "sealed_at": moment})
        self.file.write_bytes(model_bytes(again))

    def run(self, **settings) -> int:
        """Run two trials of each case that cite the plan; return the exit status of the gate."""
        given = {"baseline": "auto", "trials": 2, "plan": self.file, "exit_rule": "gate"}
        return self.echo.engine(**given | settings).exit_status

    @property
    def reason(self):
        remarks = self.echo.record()["decision"]["remarks"]
        return next((one["message"] for one in remarks if one["code"] == CODE), None)


@pytest.fixture
def foreseen(monkeypatch):
    """Foresee the same of every plan, without a simulated run; return what was asked for."""
    asked = []

    def foresee(baseline, policy, trials, *, look):
        asked.append((len(baseline.scores), policy.looks, trials, look))
        return FORESEEN

    monkeypatch.setattr(forecasts, "forecast", foresee)
    return asked


@pytest.fixture
def planned(echo, kept, foreseen):
    return Planned(echo, kept)


def test_a_run_that_keeps_its_plan_says_so_in_the_proof(planned):
    planned.cite()
    assert planned.run() == 0
    sealed = json.loads(planned.file.read_bytes())
    evidence = planned.echo.folder() / "evidence"
    proof = json.loads((evidence / "proof.json").read_bytes())
    assert proof["plan"] == {"seal": sealed["seal"], "sealed_at": sealed["sealed_at"]}
    assert planned.echo.record()["sealed_plan"] == sealed
    assert main(["verify", str(planned.echo.out)]) == 0
    assert main(["verify", str(planned.file), *map(str, evidence.glob("*.json"))]) == 0


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            {"policy": {"min_cases": 2}, "baseline": "none"},
            "a baseline was planned, and the run has none; min_cases is 2, planned was 10",
        ),
        ({"trials": 1}, "trials of each case are 1, planned were 2"),
    ],
)
def test_a_bar_that_was_moved_holds(planned, settings, said):
    planned.cite()
    assert planned.run(**settings) == HELD
    assert planned.echo.record()["decision"]["outcome"] == "hold"
    assert planned.reason == said
    assert main(["verify", str(planned.echo.out)]) == 0


def test_a_plan_of_other_cases_is_another(planned):
    planned.cite()
    planned.echo.case("13")
    assert planned.run() == HELD
    assert planned.reason == "the cases are not the 12 that were planned, or were changed"
    assert main(["verify", str(planned.echo.out)]) == 0


def test_a_baseline_that_runs_too_is_the_planned_system(planned):
    planned.cite()
    assert planned.run(baseline="run:old", jobs=3) == 0
    assert planned.run(baseline="run:shout") == HELD
    assert planned.reason == "the baseline is another system than old, which was planned"
    assert main(["verify", str(planned.echo.out)]) == 0


def test_a_run_that_is_resumed_was_begun_before_a_later_plan(planned):
    planned.echo.write(
        "system.py",
        SYSTEM.format(level=0.6)
        + "\nfrom benchgate import SystemUnavailable\ninner = system\n"
        + "def system(case):\n    if case.case_id == '05': raise SystemUnavailable('down')\n    return inner(case)\n",
    )
    planned.echo.engine(baseline="auto", retries=0)
    planned.level(0.6)
    planned.cite(1)
    planned.reseal(clock.now() + timedelta(seconds=1))
    planned.run(trials=1, resume="auto")
    assert planned.echo.record()["resumes"] is not None
    assert "after the run began" in planned.reason


def test_a_mismatch_that_was_dropped_is_found(planned, capsys):
    planned.cite()
    planned.run(policy={"alpha": 0.1})
    record = planned.echo.folder() / "record.json"
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
    assert main(["verify", str(planned.echo.out)]) == 1
    assert "decision.outcome is 'promote'; recomputed: 'hold'" in capsys.readouterr().err


def test_what_is_no_plan_is_wrong_use(planned):
    planned.file.write_text("{}")
    with pytest.raises(ArtifactError, match="no valid sealed plan: schema_version: Field required"):
        planned.run()


def test_a_part_of_the_cases_cites_no_plan(planned):
    planned.cite()
    assert planned.run(trials=1, case_filter="01") == 0


def test_the_run_that_shards_make_cites_the_plan(planned, capsys):
    echo = planned.echo
    planned.cite()
    given = ["run", "--task-class=echo", f"--bench-root={echo.root / 'bench'}"]
    assert main([*given, "--shard=1/2", f"--plan={planned.file}"]) == 2
    assert "give it to benchgate merge" in capsys.readouterr().err
    for number in (1, 2):
        echo.engine(baseline="auto", trials=2, shard=Shard(number, 2))
    shards = [str(echo.out / "shards" / "echo" / f"{number}-of-2") for number in (1, 2)]
    where = [f"--bench-root={echo.root / 'bench'}", f"--out={echo.out}"]
    assert main(["merge", *shards, *where, f"--plan={planned.file}"]) == 0
    sealed = json.loads(planned.file.read_bytes())
    assert echo.read("evidence/echo/proof.json")["plan"]["seal"] == sealed["seal"]
    planned.reseal(clock.now() + timedelta(seconds=1))
    assert main(["merge", *shards, *where, f"--plan={planned.file}"]) == HELD
    assert "after the run began" in planned.reason
    assert main(["verify", str(echo.out)]) == 0


# The command


def test_a_plan_reckons_with_the_looks_that_were_spent(planned, foreseen, capsys):
    asked = ("--trials=2", "--policy=looks=spend")
    planned.plan(*asked)
    first = json.loads(planned.file.read_bytes())["prediction"]
    planned.echo.engine(baseline="auto", trials=2, policy={"looks": "spend"})
    capsys.readouterr()
    planned.file.unlink()
    planned.plan(*asked)
    later = json.loads(planned.file.read_bytes())["prediction"]
    assert (first["look"], later["look"]) == (1, 2)
    assert foreseen == [(12, "spend", 2, 1), (12, "spend", 2, 2)]
    assert "; this would be candidate no. 2" in capsys.readouterr().out


def test_the_command_says_what_was_foreseen(planned, capsys):
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
    low, high = FORESEEN.chance.interval
    assert "power     a gain of 0.1 is promoted in 95% of runs " in said
    assert f" (60 simulated runs, 95% interval {low:.0%} to {high:.0%})\n" in said
    assert "          or in 90% if half of the cases gain nothing\n" in said
    assert "cost      12 USD, " in said
    found = json.loads(planned.file.read_bytes())["prediction"]
    assert (found["looks"], found["runs"], found["detectable"]) == (7, 60, 0.0125)
    assert (found["power_of_target"], found["power_if_uneven"]) == (0.95, 0.9)
    assert found["interval"] == [low, high]


@pytest.mark.slow
def test_the_command_foresees_what_a_run_can_show(echo, kept, monkeypatch):
    monkeypatch.setattr(forecasts, "REPETITIONS", 60)
    planned = Planned(echo, kept)
    assert planned.plan("--trials=2", "--policy=looks=spend") == 0
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
    (planned.echo.path / "baseline.json").unlink()
    assert planned.plan() == 2
    assert "nothing to plan with" in capsys.readouterr().err
    assert main(["plan", "none", f"--bench-root={planned.echo.root / 'bench'}"]) == 1
