"""How often a baseline was looked at: counted at both doors, in workers, in every form of a run, and by verify."""

from __future__ import annotations

import re
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.cli import main
from benchgate.gates.looks import Look, series_chance
from benchgate.gates.policy import GatePolicy
from benchgate.wording.decision import looks as looks_text

DOORS = ("pytest", "benchgate run")
GRADED = """
score = float(output["answer"])
return BenchScore(passed=score > 0.05, score=score, safety_penalty=0.0)
"""


class Looks:
    """Twelve cases, a pinned baseline that scores .1 on each, and candidates that score what they are told."""

    def __init__(self, bench) -> None:
        self.bench = bench
        for number in range(4, 13):
            bench.case(f"{number:02}")
        bench.rubric(GRADED)
        bench.write("gate.toml", 'test = "auto"\n')
        self.scores(0.1)
        assert not bench.engine().failures
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


@pytest.mark.slow
def test_each_candidate_is_a_look_in_workers_too(looks):
    found = []
    for score in (0.2, 0.3, 0.2, 0.4):
        looks.run(score, workers=("-n2",))
        found.append(looks.number)
    assert found == [1, 2, 1, 3]
    assert main(["verify", str(looks.bench.out)]) == 0


def test_both_doors_count_in_one_chain(looks):
    for number, door in enumerate((*DOORS, *DOORS), start=1):
        looks.run(0.2 + number / 100, door=door)
        assert looks.number == number


def test_the_line_of_a_look_says_what_the_count_means(looks):
    looks.bench.run().stdout.no_fnmatch_line("* compared with this baseline: *")
    looks.scores(0.2)
    line = "careful   candidate no. 2 compared with this baseline: even if none of them is *"
    looks.bench.run().stdout.fnmatch_lines([line])
    policy = GatePolicy()
    look = Look(number=7, alpha=0.05, chance=series_chance(policy, 7), can_promote=True)
    assert looks_text(look, policy) == (
        "candidate no. 7 compared with this baseline: even if none of them is better, the chance of a "
        "promotion by luck is 16% by now"
    )
    spent = look.model_copy(update={"number": 8, "can_promote": False})
    assert looks_text(spent, GatePolicy(looks="spend")).endswith(
        "so few cases can no longer be promoted, whatever their scores"
    )


def test_a_first_look_says_its_level_if_that_is_not_the_whole_of_alpha(looks):
    looks.scores(0.2)
    result = looks.bench.run("--bench-policy=looks=spend")
    result.stdout.fnmatch_lines(["test      *(needed 0.0304)*", "careful   candidate no. 1 *"])


@given(st.integers(2, 1000), st.sampled_from(["count", "spend"]))
def test_the_share_that_a_line_states_is_no_smaller_than_the_chance(number, rule):
    policy = GatePolicy(looks=rule)
    chance = series_chance(policy, number)
    look = Look(number=number, alpha=0.05, chance=chance, can_promote=True)
    if found := re.search(r"1 in (\d+) ", looks_text(look, policy)):
        assert 1 / int(found[1]) >= chance


def test_shards_are_no_looks_and_the_run_that_they_make_is_one(looks):
    bench = looks.bench
    looks.run(0.2)
    looks.scores(0.3)
    for number in (1, 2):
        result = bench.run(f"--bench-shard={number}/2", "--bench-exit=gate")
        result.stdout.no_fnmatch_line("* compared with this baseline: *")
    shards = [str(bench.out / "shards" / "echo" / f"{number}-of-2") for number in (1, 2)]
    looks.run(0.25)
    assert looks.number == 2
    looks.scores(0.3)
    where = [f"--bench-root={bench.root / 'bench'}", f"--out={bench.out}"]
    for _ in range(2):  # the second time it has the same results
        assert main(["merge", *shards, *where]) == 0
        assert looks.number == 3
    assert main(["verify", str(bench.out)]) == 0


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
