# mypy: allow-untyped-defs, allow-untyped-calls
"""The hunt: its changes are seeded, its small project is a right answer, and npm takes what the rubric passes."""

import itertools
import json
import os

import pytest
from _benchgate_bench.vuln_remediation.rubric import VulnRemediationRubric
from _benchgate_bench.vuln_remediation.tests.support import SYSTEMS
from _benchgate_bench.vuln_remediation.tools import blind_mutations, hunt, mutations, small_world
from _benchgate_bench.vuln_remediation.tools.npm import Npm

NPM = Npm.find()
REQUIRED = os.environ.get("BENCHGATE_REQUIRE_NPM") == "1"
needs_npm = pytest.mark.skipif(NPM is None and not REQUIRED, reason="npm is not installed")


def some(seed, count=60):
    return list(itertools.islice(mutations.mutants(small_world.answer(), seed, "x"), count))


def test_the_same_seed_gives_the_same_changes():
    assert some(1) == some(1)
    assert some(1) != some(2)
    assert len({one.title for one in some(1)}) > 40


def test_a_change_leaves_the_answer_it_started_from():
    before = json.dumps(small_world.answer())
    answer = small_world.answer()
    list(itertools.islice(mutations.mutants(answer, 0, "x"), 200))

    assert json.dumps(answer) == before


def test_the_small_project_has_a_right_answer_and_few_of_its_changes_are(tmp_path):
    case = small_world.write_case(tmp_path / "case")
    right = {name: json.dumps(held) for name, held in small_world.answer().items()}
    rubric = VulnRemediationRubric()

    found = rubric.score(case, {"files": right})
    passed = [one for one in some(3, 300) if rubric.score(case, {"files": dict(one.files)}).passed]

    assert (found.score, found.failure_modes, found.safety_penalty) == (1.0, (), 0.0)
    assert 0 < len(passed) < 60


@needs_npm
def test_a_rubric_that_passes_everything_is_found_out(monkeypatch):
    monkeypatch.setattr(VulnRemediationRubric, "score", lambda *_: PASSES)
    tally = hunt.hunt([NPM], [], 0, until=lambda made: made >= 12)

    assert tally.made == tally.passed == 12
    assert tally.findings


class PASSES:
    passed = True


@needs_npm
@pytest.mark.slow
def test_npm_takes_what_the_rubric_passes():
    subjects = hunt.every_subject(SYSTEMS["ladder"])
    tally = hunt.hunt([NPM], subjects, 20261122, until=lambda made: made >= 400)

    assert tally.findings == []
    assert tally.asked > 5


def test_the_blind_list_is_a_hundred_and_half_of_it_is_right():
    words = [one.word for one in blind_mutations.MUTATIONS]

    assert words.count("right") == words.count("fault") == len(words) / 2 == 50
