"""How often a baseline was looked at: what counts as a look, and what verify recomputes."""

from __future__ import annotations

import json
import shutil

import pytest

from benchgate.cli import main
from benchgate.errors import SystemUnavailable
from benchgate.gates.exit_status import HELD
from benchgate.runner import class_run

GRADED = """
score = float(output["answer"])
return BenchScore(passed=score > 0.05, score=score, safety_penalty=0.0)
"""
OLD = """
from benchgate import register_task_class
from .rubric import EchoRubric
register_task_class("echo", systems={"old": lambda case: {"answer": 0.1}}, default_system="old")(EchoRubric)
"""
SPEND = {"policy": {"looks": "spend"}}


class Looks:
    """Twelve cases, a pinned baseline that scores .1 on each, and candidates that score what they are told."""

    def __init__(self, echo) -> None:
        self.echo = echo
        for number in range(4, 13):
            echo.case(f"{number:02}")
        echo.rubric(GRADED)
        echo.write("gate.toml", 'test = "auto"\n')
        self.run(0.1, baseline="none")
        self.pin()

    def pin(self) -> None:
        shutil.copy(self.echo.folder() / "record.json", self.echo.path / "baseline.json")

    def run(self, score: float, **settings):
        power = 1 if score == 0.1 else 2  # so that no two cases differ by the same

        def system(case):
            return {"answer": score + int(case.case_id) ** power / 1000}

        return self.echo.run(**{"system": system, "baseline": "auto", **settings})

    def number(self, score: float, **settings):
        """Return the number of the look that a run is."""
        look = self.run(score, **settings).judgement.decision.look
        return look and look.number

    def is_valid(self) -> bool:
        return main(["verify", str(self.echo.out)]) == 0


@pytest.fixture
def looks(echo):
    return Looks(echo)


def test_each_candidate_is_a_look_and_a_repeated_run_is_none(looks):
    assert [looks.number(score) for score in (0.2, 0.3, 0.2, 0.4)] == [1, 2, 1, 3]
    assert looks.is_valid()


def test_looks_that_spend_alpha_end_in_one_that_cannot_promote(looks):
    for number in range(1, 8):
        # The smallest p of twelve signs is 2 * 2**-12 = .00049; alpha * 6 / pi**2 / 7**2 = .00062 is above it.
        run = looks.run(0.5 + number / 100, **SPEND)
        assert (run.exit_status, run.judgement.decision.outcome) == (0, "promote")
    run = looks.run(0.8, **SPEND)
    look = run.judgement.decision.look
    assert (run.exit_status, run.judgement.decision.outcome) == (HELD, "hold")
    assert (look.number, look.can_promote) == (8, False)
    assert looks.echo.record()["policy"]["alpha"] == 0.05
    evidence = run.published.folder / "evidence"
    of_test = json.loads((evidence / "significance.json").read_bytes())
    assert of_test["significance"]["alpha"] == of_test["look"]["alpha"] == look.alpha
    assert json.loads((evidence / "proof.json").read_bytes())["look"]["number"] == 8
    assert looks.is_valid()
    assert main(["verify", *map(str, evidence.glob("*.json"))]) == 0


def test_what_is_not_judged_or_not_complete_is_no_look(looks):
    assert looks.number(0.2) == 1
    looks.run(0.3, case_filter="01")
    looks.echo.rubric(f'if case.case_id == "02": raise ValueError("no")\n{GRADED}')
    assert looks.number(0.3) is None
    looks.echo.rubric(GRADED)
    assert looks.number(0.4, baseline="none") is None
    assert looks.number(0.5) == 2


def test_other_cases_or_another_baseline_begin_anew_and_the_same_results_pinned_again_do_not(looks):
    assert [looks.number(score) for score in (0.2, 0.1)] == [1, 2]
    looks.pin()  # the run of .1 again: another file, the same results
    assert looks.number(0.3) == 3
    looks.run(0.25, baseline="none")
    looks.pin()
    assert looks.number(0.3) == 1


def test_a_run_that_is_resumed_is_one_look(looks):
    away = {"05"}

    def system(case):
        if case.case_id in away:
            raise SystemUnavailable("down")
        return {"answer": 0.3}

    assert looks.number(0.3, system=system, retries=0) is None
    away.clear()
    assert looks.number(0.3, system=system, retries=0, resume="auto") == 1
    assert looks.echo.record()["report"]["complete"]


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_baseline_that_runs_too_is_known_by_its_system(looks, jobs):
    looks.echo.write("registration.py", OLD)
    both = {"baseline": "run:old", "jobs": jobs}
    assert [looks.number(score, **both) for score in (0.2, 0.3, 0.2)] == [1, 2, 1]
    assert looks.number(0.2) == 1
    assert looks.is_valid()


def test_a_baseline_that_runs_too_need_not_have_the_same_results(looks):
    noisy = "0.1 + random.SystemRandom().random() / 1000"
    looks.echo.write("registration.py", "import random\n" + OLD.lstrip().replace("0.1", noisy))
    numbers = [looks.number(score, baseline="run:old") for score in (0.2, 0.3, 0.4)]
    assert numbers == [1, 2, 3]


def test_a_count_that_was_lowered_is_found(looks, capsys):
    looks.run(0.2)
    record = looks.run(0.3).published.folder / "record.json"
    text = record.read_text()
    assert text.count('"number":2') + text.count('"number": 2') == 1
    record.write_text(
        text.replace('"number": 2', '"number": 1').replace('"number":2', '"number":1')
    )
    capsys.readouterr()
    assert not looks.is_valid()
    assert "decision.look.number is 1; recomputed: 2" in capsys.readouterr().err


def test_verify_says_what_it_cannot_know_of_a_chain_that_is_not_anchored(looks, capsys):
    looks.run(0.2)
    capsys.readouterr()
    assert looks.is_valid()  # a chain that was begun anew says so too
    assert "nor candidates compared elsewhere" in capsys.readouterr().out
    looks.run(0.3)
    capsys.readouterr()
    assert looks.is_valid()
    said = capsys.readouterr().out
    assert "candidate no. 2 compared with this baseline" in said
    assert "nor candidates compared elsewhere" in said
    head = looks.echo.head()
    anchor = f"--head=echo={head['seq']}:{head['sha256']}"
    assert main(["verify", str(looks.echo.out), anchor]) == 0
    assert "cannot see" not in capsys.readouterr().out


def test_gate_judges_at_the_look_that_the_run_was(looks, capsys):
    for number in range(1, 9):
        last = looks.run(0.5 + number / 100, **SPEND)
    pinned = str(looks.echo.path / "baseline.json")
    assert last.judgement.decision.outcome == "hold"
    assert main(["gate", pinned, str(last.published.folder)]) == HELD
    assert "candidate no. 8 compared with this baseline" in capsys.readouterr().out
    seen = looks.run(0.6, baseline="none", **SPEND)  # seen, but not compared yet
    assert main(["gate", pinned, str(seen.published.folder)]) == HELD
    assert "candidate no. 9 compared with this baseline" in capsys.readouterr().out


def said(run):
    codes = run.judgement.decision.reason_codes
    return {code.removeprefix("checkpoint_promotion_blocked_") for code in codes}


def test_declared_looks_share_alpha_evenly_and_hold_when_they_are_used(looks):
    declared = {"policy": {"looks": "spend:3"}}
    for number in (1, 2, 3):
        run = looks.run(0.5 + number / 100, **declared)
        assert (run.judgement.decision.outcome, said(run)) == ("promote", set())
        assert run.judgement.decision.look.alpha == pytest.approx(0.05 / 3)
    run = looks.run(0.6, **declared)
    assert (run.exit_status, said(run)) == (HELD, {"looks_exhausted"})
    assert not run.judgement.decision.look.can_promote
    assert looks.run(0.51, **declared).judgement.decision.outcome == "promote"  # look 1 again
    assert looks.is_valid()


@pytest.mark.parametrize(
    ("first", "later", "named"),
    [
        ("spend:3", "spend:4", "declared looks = spend:3, this one spend:4"),
        ("count", "spend:3", "declared looks = count, this one spend:3"),
        ("spend:3", "spend", "declared looks = spend:3, this one spend"),
        ("spend:3", "count", "declared looks = spend:3, this one count"),
    ],
)
def test_looks_that_were_declared_otherwise_hold(looks, first, later, named):
    assert said(looks.run(0.5, policy={"looks": first})) == set()
    run = looks.run(0.6, policy={"looks": later})
    assert (run.judgement.decision.outcome, said(run)) == ("hold", {"looks_mismatch"})
    assert named in run.judgement.decision.remarks[0].message
    assert said(looks.run(0.7, policy={"looks": first})) == set()
    assert looks.is_valid()


def test_the_same_results_that_were_recorded_meanwhile_with_another_k_hold(looks, monkeypatch):
    publish = class_run.publish

    def late(*args):
        monkeypatch.setattr(class_run, "publish", publish)
        looks.run(0.5, policy={"looks": "spend:4"})
        return publish(*args)

    monkeypatch.setattr(class_run, "publish", late)
    assert said(looks.run(0.5, policy={"looks": "spend:3"})) == {"looks_mismatch"}
    assert looks.is_valid()


def test_verify_finds_that_looks_were_declared_otherwise(looks, capsys):
    looks.run(0.5, policy={"looks": "spend:3"})
    first = looks.echo.folder() / "record.json"
    looks.run(0.6, policy={"looks": "spend:4"})
    first.write_text(first.read_text().replace("spend:3", "spend:4"))
    capsys.readouterr()
    assert not looks.is_valid()
    assert "looks_mismatch" in capsys.readouterr().err
