"""How often a baseline was looked at: what counts as a look, and what verify recomputes."""

from __future__ import annotations

import json
import shutil

import pytest

from benchgate.cli import main
from benchgate.errors import SystemUnavailable
from benchgate.gates.exit_status import HELD
from benchgate.runner import class_run
from benchgate.wire.shard import Shard
from benchgate.wording.block import Door, block

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

    def __init__(self, echo, kept) -> None:
        """Make the run that is pinned, or put it where it is if ``kept`` has it from an earlier test."""
        self.echo = echo
        for number in range(4, 13):
            echo.case(f"{number:02}")
        echo.rubric(GRADED)
        echo.write("gate.toml", 'test = "auto"\n')
        if "looks" not in kept:
            self.run(0.1, baseline="none")
            self.pin()
            made = [path for path in echo.out.rglob("*") if path.is_file()]
            made.append(echo.path / "baseline.json")
            kept["looks"] = {path.relative_to(echo.root): path.read_bytes() for path in made}
        for name, data in kept["looks"].items():
            (echo.root / name).parent.mkdir(parents=True, exist_ok=True)
            (echo.root / name).write_bytes(data)

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
def looks(echo, kept):
    return Looks(echo, kept)


def test_each_candidate_is_a_look_and_a_repeated_run_is_none(looks):
    assert [looks.number(score) for score in (0.2, 0.3, 0.2, 0.4)] == [1, 2, 1, 3]
    assert looks.is_valid()


# The smallest p of twelve signs is 2 * 2**-12 = .00049; alpha * 6 / pi**2 / 3**2 = .00068 is above it, by 4**2 below.
FOUR = {"policy": {"looks": "spend", "alpha": 0.01}}


def test_looks_that_spend_alpha_end_in_one_that_cannot_promote(looks):
    for number in range(1, 4):
        run = looks.run(0.5 + number / 100, **FOUR)
        assert (run.exit_status, run.judgement.decision.outcome) == (0, "promote")
    run = looks.run(0.8, **FOUR)
    look = run.judgement.decision.look
    assert (run.exit_status, run.judgement.decision.outcome) == (HELD, "hold")
    assert (look.number, look.can_promote) == (4, False)
    assert looks.echo.record()["policy"]["alpha"] == 0.01
    evidence = run.published.folder / "evidence"
    of_test = json.loads((evidence / "significance.json").read_bytes())
    assert of_test["significance"]["alpha"] == of_test["look"]["alpha"] == look.alpha
    assert json.loads((evidence / "proof.json").read_bytes())["look"]["number"] == 4
    assert looks.is_valid()
    assert main(["verify", *map(str, evidence.glob("*.json"))]) == 0


def lines(run):
    return {line.label: line.text for line in block(run.judgement, Door())}


def test_a_second_look_is_told(looks):
    assert "look no. " not in "".join(lines(looks.run(0.2)).values())
    told = "look no. 2 at this baseline (held looks count too): even if no candidate is "
    assert lines(looks.run(0.3))["careful"].startswith(told)


def test_a_first_look_says_its_level_if_that_is_not_the_whole_of_alpha(looks):
    told = lines(looks.run(0.2, **SPEND))
    assert "(needed 0.0304)" in told["test"]
    assert told["careful"].startswith("look no. 1 at this baseline: ")


def test_shards_are_no_looks_and_the_run_that_they_make_is_one(looks):
    assert looks.number(0.2) == 1
    shards = []
    for number in (1, 2):
        run = looks.run(0.3, shard=Shard(number, 2))
        assert run.judgement.decision is None
        shards.append(str(run.published.folder))
    assert looks.number(0.25) == 2
    where = [f"--bench-root={looks.echo.path.parent}", f"--out={looks.echo.out}"]
    for _ in range(2):  # the second time it has the same results
        assert main(["merge", *shards, *where]) == 0
        assert looks.echo.record()["decision"]["look"]["number"] == 3
    assert looks.is_valid()


def test_spending_needs_the_records_to_count_in(looks, capsys):
    where = [f"--bench-root={looks.echo.path.parent}", "--task-class=echo"]
    assert main(["run", "--policy=looks=spend", *where]) == 2
    assert "would write none" in capsys.readouterr().err


def test_a_run_that_another_overtakes_is_judged_at_its_own_number(looks):
    """The system of the first run starts a second one, which is recorded before it."""
    inner = []

    def system(case):
        if case.case_id == "01":
            inner.append(looks.number(0.5, **SPEND))
        return {"answer": 0.6 + int(case.case_id) ** 2 / 1000}

    assert looks.number(0.6, system=system, **SPEND) == 2
    assert inner == [1]
    assert looks.is_valid()


def test_what_is_not_judged_or_not_complete_is_no_look(looks):
    assert looks.number(0.2) == 1
    looks.run(0.3, case_filter="01")
    looks.echo.rubric(f'if case.case_id == "02": raise ValueError("no")\n{GRADED}')
    assert looks.number(0.3) is None
    looks.echo.rubric(GRADED)
    assert looks.number(0.4, baseline="none") is None
    assert looks.number(0.5) == 2


def test_a_baseline_that_is_measured_and_pinned_again_begins_no_new_series(looks):
    assert [looks.number(score) for score in (0.2, 0.1)] == [1, 2]
    looks.pin()  # the run of .1 again: another file, the same results
    assert looks.number(0.3) == 3
    looks.run(0.25, baseline="none")
    looks.pin()  # of the same system, and nobody promoted it
    run = looks.run(0.3)
    assert run.judgement.decision.look.number == 4
    # The first baseline scored less; where the later one had scored less, that would be luck.
    assert run.judgement.decision.look.over_seen == "promote"
    assert looks.is_valid()


def test_a_baseline_that_scores_less_when_it_is_measured_again_is_not_taken_for_a_gain(looks):
    looks.run(0.25, baseline="none")
    looks.pin()
    assert looks.number(0.24) == 1
    looks.run(0.1, baseline="none")
    looks.pin()
    run = looks.run(0.245)
    assert run.judgement.decision.look.number == 2
    assert said(run) == {"cases_changed_the_answer"}
    assert looks.is_valid()


def test_a_series_ends_once_a_candidate_that_it_promoted_is_the_baseline(looks):
    assert looks.number(0.11) == 1
    assert looks.run(0.3).judgement.decision.outcome == "promote"
    looks.pin()
    assert [looks.number(score) for score in (0.4, 0.5)] == [1, 2]
    looks.run(0.35, baseline="none")
    looks.pin()  # not promoted
    assert looks.number(0.4) == 3
    assert looks.is_valid()


def test_a_person_begins_a_new_series_which_the_decision_shows(looks, capsys):
    assert [looks.number(score) for score in (0.2, 0.3)] == [1, 2]
    where = [f"--bench-root={looks.echo.path.parent}", f"--out={looks.echo.out}"]
    forced = ["pin", "1", "--yes", *where, "--reason=it is the one"]
    assert main(forced) == 0
    assert looks.number(0.4) == 3
    again = ["pin", "1", "--yes", *where, "--new-series=ten cases were wrong"]
    assert main(again) == 0
    assert "looks     are counted anew: ten cases were wrong" in capsys.readouterr().out
    pin = json.loads((looks.echo.path / "baseline.pin.json").read_bytes())
    assert pin["new_series"] == "ten cases were wrong"
    run = looks.run(0.5)
    look = run.judgement.decision.look
    assert (look.number, look.new_series, look.uncounted) == (1, "ten cases were wrong", 3)
    assert lines(run)["careful"].startswith(
        "look no. 1 at this baseline in a new series, which a person began after 3 looks "
        "(ten cases were wrong): even if it is no better"
    )
    assert main(again) == 0  # the same words begin nothing
    assert looks.number(0.6) == 2
    looks.run(0.1, baseline="none")
    looks.pin()  # by hand; and the series goes on
    look = looks.run(0.7).judgement.decision.look
    assert (look.number, look.new_series) == (3, "ten cases were wrong")
    assert looks.is_valid()
    path = looks.echo.folder() / "record.json"
    record = json.loads(path.read_bytes())
    del record["decision"]["look"]["new_series"]
    path.write_text(json.dumps(record))
    capsys.readouterr()
    assert not looks.is_valid()
    assert "decision.look.new_series" in capsys.readouterr().err


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


def test_a_baseline_that_runs_too_is_known_by_its_system(looks):
    looks.echo.write("registration.py", OLD)
    both = {"baseline": "run:old"}
    found = [
        looks.number(score, jobs=jobs, **both) for score, jobs in ((0.2, 1), (0.3, 3), (0.2, 3))
    ]
    assert found == [1, 2, 1]
    assert looks.number(0.2) == 1
    assert looks.is_valid()


def test_other_cases_of_a_baseline_that_runs_too_begin_no_new_series(looks):
    looks.echo.write("registration.py", OLD)
    assert looks.number(0.2, baseline="run:old") == 1
    looks.echo.case("13")
    assert looks.number(0.3, baseline="run:old") == 2
    shutil.rmtree(looks.echo.path / "cases/13")
    shutil.rmtree(looks.echo.path / "cases/05")
    run = looks.run(0.3, baseline="run:old")
    assert run.judgement.decision.look.number == 4  # what was left out costs one
    assert run.judgement.decision.look.over_seen == "promote"
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
    assert text.count('"number": 2') == 2  # of the look, and of the decision
    record.write_text(text.replace('"number": 2', '"number": 1'))
    capsys.readouterr()
    assert not looks.is_valid()
    assert ": look.number is 1; recomputed: 2" in capsys.readouterr().err


def test_verify_says_what_it_cannot_know_of_a_chain_that_is_not_anchored(looks, capsys):
    looks.run(0.2)
    capsys.readouterr()
    assert looks.is_valid()  # a chain that was begun anew says so too
    assert "that candidates were compared elsewhere" in capsys.readouterr().out
    looks.run(0.3)
    capsys.readouterr()
    assert looks.is_valid()
    said = capsys.readouterr().out
    assert "look no. 2 at this baseline" in said
    assert "that candidates were compared elsewhere" in said
    head = looks.echo.head()
    anchor = f"--head=echo={head['seq']}:{head['sha256']}"
    assert main(["verify", str(looks.echo.out), anchor]) == 0
    assert "cannot see" not in capsys.readouterr().out


def test_gate_judges_at_the_look_that_the_run_was(looks, capsys):
    for number in range(1, 5):
        last = looks.run(0.5 + number / 100, **FOUR)
    pinned = str(looks.echo.path / "baseline.json")
    assert last.judgement.decision.outcome == "hold"
    assert main(["gate", pinned, str(last.published.folder)]) == HELD
    assert "look no. 4 at this baseline" in capsys.readouterr().out
    seen = looks.run(0.6, baseline="none", **FOUR)  # seen, but not compared yet
    assert main(["gate", pinned, str(seen.published.folder)]) == HELD
    assert "look no. 5 at this baseline" in capsys.readouterr().out


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
    ("first", "others"), [("spend:9", ["spend:4", "spend", "count"]), ("count", ["spend:3"])]
)
def test_looks_that_were_declared_otherwise_hold(looks, first, others):
    assert said(looks.run(0.5, policy={"looks": first})) == set()
    for number, later in enumerate(others):
        run = looks.run(0.6 + number / 100, policy={"looks": later})
        assert (run.judgement.decision.outcome, said(run)) == ("hold", {"looks_mismatch"})
        named = f"declared looks = {first}, this one {later}"
        assert named in run.judgement.decision.remarks[0].message
    alone = shutil.copytree(run.published.folder / "evidence", looks.echo.root / "alone")
    assert main(["verify", str(alone / "proof.json"), str(alone / "evaluation.json")]) == 0
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
    assert "look.declared is 'spend:3'; recomputed: 'spend:4'" in capsys.readouterr().err
