"""How often a baseline was looked at: counted at both doors, in workers, in every form of a run, and by verify."""

from __future__ import annotations

import json
import re
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.cli import main
from benchgate.gates.exit_status import HELD
from benchgate.gates.looks import Look, series_chance
from benchgate.gates.policy import GatePolicy
from benchgate.wording.decision import looks as looks_text

DOORS = ("pytest", "benchgate run")
GRADED = """
score = float(output["answer"])
return BenchScore(passed=score > 0.05, score=score, safety_penalty=0.0)
"""
WORKERS = pytest.param(("-n2",), marks=pytest.mark.slow)


class Looks:
    """Twelve cases, a pinned baseline that scores .1 on each, and candidates that score what they are told."""

    def __init__(self, bench) -> None:
        self.bench = bench
        for number in range(4, 13):
            bench.case(f"{number:02}")
        bench.rubric(GRADED)
        bench.write("gate.toml", 'test = "auto"\n')
        self.scores(0.1)
        assert bench.run("--bench-baseline=none").ret == 0
        self.pin()

    def pin(self) -> None:
        shutil.copy(self.bench.folder() / "record.json", self.bench.path / "baseline.json")

    def scores(self, score: float) -> None:
        power = 1 if score == 0.1 else 2  # so that no two cases differ by the same
        self.bench.system(f'return {{"answer": {score} + int(case.case_id) ** {power} / 1000}}')

    def run(self, score: float, *options: str, door: str = "pytest", workers=()) -> int:
        self.scores(score)
        if door == "pytest":
            given = [f"--bench-{option}" for option in options]
            return int(self.bench.run(*given, *workers, apart=bool(workers)).ret)
        given = [f"--{option}" for option in options]
        return main(["run", "--task-class=echo", f"--out={self.bench.out}", *given])

    @property
    def decision(self):
        return self.bench.record()["decision"]

    @property
    def number(self):
        look = self.decision["look"]
        return look and look["number"]


@pytest.fixture
def looks(bench):
    return Looks(bench)


@pytest.mark.parametrize("workers", [(), WORKERS])
def test_each_candidate_is_a_look_and_a_repeated_run_is_none(looks, workers):
    found = []
    for score in (0.2, 0.3, 0.2, 0.4):
        looks.run(score, workers=workers)
        found.append(looks.number)
    assert found == [1, 2, 1, 3]
    assert main(["verify", str(looks.bench.out)]) == 0


def test_both_doors_count_in_one_chain(looks):
    for number, door in enumerate((*DOORS, *DOORS), start=1):
        looks.run(0.2 + number / 100, door=door)
        assert looks.number == number


def test_the_line_of_a_look_says_what_the_count_means(looks):
    for number in range(1, 8):
        looks.scores(0.2 + number / 100)
        result = looks.bench.run()
        if number == 1:
            result.stdout.no_fnmatch_line("looks *")
    line = (
        "look 7 against this baseline, at alpha 0.05: at this count up to one in 6 worthless series"
    )
    result.stdout.fnmatch_lines([f"looks     {line} would have had a promotion"])


def test_a_first_look_says_its_level_if_that_is_not_the_whole_of_alpha(looks):
    looks.scores(0.2)
    result = looks.bench.run("--bench-policy=looks=spend")
    result.stdout.fnmatch_lines(["looks     look 1 against this baseline, at alpha 0.0304: *"])


@given(st.integers(2, 1000), st.sampled_from(["count", "spend"]))
def test_the_share_that_a_line_states_is_no_smaller_than_the_chance(number, rule):
    policy = GatePolicy(looks=rule)
    chance = series_chance(policy, number)
    look = Look(number=number, alpha=0.05, chance=chance, can_promote=True)
    if found := re.search(r"one in (\d+) ", looks_text(look, policy)):
        assert 1 / int(found[1]) >= chance


@pytest.mark.parametrize("door", DOORS)
def test_looks_that_spend_alpha_end_in_one_that_cannot_promote(looks, door):
    spend = "policy=looks=spend"
    for number in range(1, 8):
        status = looks.run(0.5 + number / 100, spend, door=door)
        # The smallest p of twelve signs is 2 * 2**-12 = .00049; alpha * 6 / pi**2 / 7**2 = .00062 is above it.
        assert (status, looks.decision["outcome"]) == (0, "promote")
    status = looks.run(0.8, spend, door=door)
    assert (status, looks.decision["outcome"]) == (HELD, "hold")
    assert not looks.decision["look"]["can_promote"]
    assert looks.bench.record()["policy"]["alpha"] == 0.05
    evidence = looks.bench.folder() / "evidence"
    found = json.loads((evidence / "significance.json").read_bytes())
    assert (
        found["significance"]["alpha"] == found["look"]["alpha"] == looks.decision["look"]["alpha"]
    )
    assert json.loads((evidence / "proof.json").read_bytes())["look"]["number"] == 8
    assert main(["verify", str(looks.bench.out)]) == 0
    assert main(["verify", *map(str, evidence.glob("*.json"))]) == 0
    if door == "pytest":
        looks.bench.run(f"--bench-{spend}").stdout.fnmatch_lines(
            ["looks     look 8 *: so few cases can no longer be promoted, whatever their scores"]
        )


def test_what_is_not_judged_or_not_complete_is_no_look(looks):
    looks.run(0.2)
    looks.bench.run("-k", "01")
    looks.bench.rubric(f'if case.case_id == "02": raise ValueError("no")\n{GRADED}')
    looks.run(0.3)
    assert looks.number is None
    looks.bench.rubric(GRADED)
    looks.run(0.4, "baseline=none")
    assert looks.number is None
    looks.run(0.5)
    assert looks.number == 2


def test_other_cases_or_another_baseline_begin_anew_and_the_same_results_pinned_again_do_not(looks):
    looks.run(0.2)
    looks.run(0.1)
    assert looks.number == 2
    looks.pin()  # the run of .1 again: another file, the same results
    looks.run(0.3)
    assert looks.number == 3
    looks.run(0.25, "baseline=none")
    looks.pin()
    looks.run(0.3)
    assert looks.number == 1


def test_a_run_that_is_resumed_is_one_look(looks):
    looks.bench.system(
        'if case.case_id == "05": from benchgate import SystemUnavailable; raise SystemUnavailable("down")\n'
        'return {"answer": 0.3}'
    )
    looks.bench.run("--bench-retries=0")
    assert looks.number is None
    looks.bench.system('return {"answer": 0.3}')
    looks.bench.run("--bench-retries=0", "--bench-resume=auto")
    assert looks.bench.record()["report"]["complete"]
    assert looks.number == 1


def test_shards_are_no_looks_and_the_run_that_they_make_is_one(looks):
    bench = looks.bench
    looks.run(0.2)
    looks.scores(0.3)
    for number in (1, 2):
        result = bench.run(f"--bench-shard={number}/2", "--bench-exit=gate")
        result.stdout.no_fnmatch_line("looks *")
    shards = [str(bench.out / "shards" / "echo" / f"{number}-of-2") for number in (1, 2)]
    looks.run(0.25)
    assert looks.number == 2
    looks.scores(0.3)
    where = [f"--bench-root={bench.root / 'bench'}", f"--out={bench.out}"]
    for _ in range(2):  # the second time it has the same results
        assert main(["merge", *shards, *where]) == 0
        assert looks.number == 3
    assert main(["verify", str(bench.out)]) == 0


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_a_baseline_that_runs_too_is_known_by_its_system(looks, jobs):
    looks.bench.write(
        "registration.py",
        """
        from benchgate import register_task_class
        from .rubric import EchoRubric
        from .system import system

        def old(case):
            return {"answer": 0.1}

        register_task_class("echo", systems={"shout": system, "old": old}, default_system="shout")(EchoRubric)
        """,
    )
    found = []
    for score in (0.2, 0.3, 0.2):
        looks.run(score, "baseline=run:old", f"jobs={jobs}")
        found.append(looks.number)
    looks.run(0.2)
    assert [*found, looks.number] == [1, 2, 1, 1]
    assert main(["verify", str(looks.bench.out)]) == 0


def test_a_count_that_was_lowered_is_found(looks, capsys):
    for score in (0.2, 0.3):
        looks.run(score)
    record = looks.bench.folder() / "record.json"
    text = record.read_text()
    assert '"number": 2' in text or '"number":2' in text
    record.write_text(
        text.replace('"number": 2', '"number": 1').replace('"number":2', '"number":1')
    )
    capsys.readouterr()
    assert main(["verify", str(looks.bench.out)]) == 1
    assert "decision.look.number is 1; recomputed: 2" in capsys.readouterr().err


def test_verify_says_what_it_cannot_know_of_a_chain_that_is_not_anchored(looks, capsys):
    looks.run(0.2)
    capsys.readouterr()
    assert main(["verify", str(looks.bench.out)]) == 0  # a chain that was begun anew says so too
    assert "made elsewhere are not counted" in capsys.readouterr().out
    looks.run(0.3)
    capsys.readouterr()
    assert main(["verify", str(looks.bench.out)]) == 0
    said = capsys.readouterr().out
    assert "looks     look 2 against this baseline" in said
    assert "made elsewhere are not counted" in said
    head = looks.bench.head()
    assert (
        main(["verify", str(looks.bench.out), f"--head=echo={head['seq']}:{head['sha256']}"]) == 0
    )
    assert "are not counted" not in capsys.readouterr().out


def test_gate_judges_at_the_look_that_the_run_was(looks, capsys):
    for number in range(1, 9):
        looks.run(0.5 + number / 100, "policy=looks=spend")
    pinned, last = looks.bench.path / "baseline.json", looks.bench.folder()
    assert looks.decision["outcome"] == "hold"
    capsys.readouterr()
    assert main(["gate", str(pinned), str(last)]) == HELD
    assert "look 8 against this baseline" in capsys.readouterr().out
    looks.run(0.6, "baseline=none", "policy=looks=spend")  # seen, but not compared yet
    capsys.readouterr()
    assert main(["gate", str(pinned), str(looks.bench.folder())]) == HELD
    assert "look 9 against this baseline" in capsys.readouterr().out


def test_spending_needs_the_records_to_count_in(looks, capsys, monkeypatch):
    monkeypatch.chdir(looks.bench.root)
    options = ["--policy=looks=spend", "--task-class=echo"]
    assert main(["run", *options]) == 2
    assert "would write none" in capsys.readouterr().err


@pytest.mark.slow
def test_a_run_that_another_overtakes_is_judged_at_its_own_number(looks):
    """The system of the first run starts a second one, which is recorded before it."""
    looks.bench.system("""
        import os, subprocess, sys
        if case.case_id == "01" and not os.environ.get("INNER"):
            command = [sys.executable, "-m", "pytest", "-q", "--bench=echo"]
            subprocess.run(command, env={**os.environ, "INNER": "1"}, stdout=subprocess.DEVNULL)
        return {"answer": 0.5 if os.environ.get("INNER") else 0.6}
        """)
    looks.bench.run("--bench-policy=looks=spend")
    assert looks.number == 2
    assert main(["verify", str(looks.bench.out)]) == 0
