"""How much of the width of an interval is the noise of a judge, on judges whose noise is known."""

from __future__ import annotations

import re
from statistics import mean

import numpy as np
import pytest

from benchgate.aggregate import build_report
from benchgate.gates.baseline import arm
from benchgate.gates.observer_noise import NOISE_FROM, observer_noise
from benchgate.gates.policy import make_policy
from benchgate.gates.weigh import weigh_arms
from benchgate.ids import RunPlan
from benchgate.models import BenchScore, Observed, Observer, RunDigests, TrialResult
from benchgate.sentences.says import joined
from benchgate.taxonomy import RESERVED, Taxonomy

SHA = "0" * 64
TEXT = (
    r"known to \+-([\d.]+), with (\d) verdicts an output it would be \+-([\d.]+) "
    r"\(the observer's part is (\d+)%\)"
)


def _verdicts(scores):
    return tuple((score >= 0.5, score) for score in scores)


def _report(outputs, before=None):
    """Return the report of a run of cases by their ids, each with the scores of its verdicts, and of earlier ones."""
    asked = len(next(iter(outputs.values())))
    digests = dict.fromkeys(("rubric", "scorer", "taxonomy", "policy"), SHA)
    plan = RunPlan(
        task_class="toy",
        case_ids=tuple(outputs),
        scope="selected",
        system="s",
        trial_count=1,
        seed=0,
        digests=RunDigests(cases=dict.fromkeys(outputs, SHA), system=None, **digests),
        harness_version="0",
        observer=Observer(name="judge", source=SHA, digest=None, model=None, observations=asked),
    )
    trials = [
        TrialResult(
            case_id=case,
            trial=0,
            seed=0,
            held_out=False,
            outcome="scored",
            score=BenchScore(passed=mean(rows) >= 0.5, score=mean(rows), safety_penalty=0.0),
            observed=Observed(
                output=SHA,
                verdicts=_verdicts(rows if asked > 1 else ()),
                before=_verdicts((before or {}).get(case, ())),
            ),
        )
        for case, rows in outputs.items()
    ]
    return build_report(plan, trials, Taxonomy(RESERVED))


MOST = 5
"""Verdicts that are drawn of each output; a run with fewer has the first of them."""


def _noted(random, *, cases=40, verdicts=3, judge=0.15):
    """Return what is said of two runs on the same cases, whose true scores differ by 0.1 and a noise of 0.1."""
    truth = random.uniform(0.3, 0.6, cases)
    sides = []
    for gain in (0.0, 0.1):
        true = truth + gain + random.normal(0.0, 0.1, cases)
        seen = np.clip(true[:, None] + random.normal(0.0, judge, (cases, MOST)), 0.0, 1.0)
        rows = seen[:, :verdicts].tolist()
        sides.append({f"c{n:02}": row for n, row in enumerate(rows)})
    before, after = map(_report, sides)
    policy = make_policy({"test": "paired", "safety": "optional"})
    figures, _ = weigh_arms(arm(before), arm(after), policy, advice=False)
    return joined(said for _, said in observer_noise(after, figures))


def _widths(verdicts):
    """Return what is said of 30 pairs of runs, the same ones for each number of verdicts."""
    random = np.random.default_rng(36)
    texts = [_noted(random, verdicts=verdicts) for _ in range(30)]
    return [tuple(map(float, re.search(TEXT, text).groups())) for text in texts]


def test_what_more_verdicts_would_give_is_what_they_give():
    three = _widths(3)
    five = _widths(5)
    assert {row[1] for row in three} == {5.0}
    promised, given = mean(row[2] for row in three), mean(row[0] for row in five)
    assert promised == pytest.approx(given, rel=0.03)
    assert mean(row[0] for row in three) > 1.04 * given
    # Each side has 0.01 of the cases and 0.0225 / 3 of the judge.
    assert mean(row[3] for row in three) == pytest.approx(100 * 0.0075 / 0.0175, abs=3)


def test_a_judge_without_noise_has_no_part():
    text = _noted(np.random.default_rng(1), judge=0.0)
    assert "verdicts differ on 0 of 40 outputs;" in text
    assert re.search(TEXT, text)[4] == "0"


def test_flips_are_named_by_case():
    rows = {f"c{n:02}": [0.9, 0.8, 0.9] for n in range(NOISE_FROM)}
    ((code, said),) = observer_noise(_report(rows | {"c07": [0.4, 0.6, 0.7]}), None)
    assert code == "observer_noise"
    assert said.text == "verdicts differ on 1 of 20 outputs, of case c07"


def test_an_output_that_was_observed_in_two_runs_tells_as_much():
    truth = np.random.default_rng(4).uniform(0.3, 0.6, 1000)
    noise = np.random.default_rng(5).normal(0.0, 0.1, (3, 1000))
    scores = [{f"c{n}": [float(x)] for n, x in enumerate(np.clip(truth + d, 0, 1))} for d in noise]
    baseline, candidate = _report(scores[0]), _report(scores[1], before=scores[2])
    policy = make_policy({"test": "paired", "safety": "optional"})
    figures, _ = weigh_arms(arm(baseline), arm(candidate), policy, advice=False)
    text = joined(said for _, said in observer_noise(candidate, figures))
    # The systems are one and the same, so that all of the difference is the judge's; with 3 it would be 1 / sqrt(3).
    _, room, count, with_more, part = (0, *map(float, re.search(TEXT, text).groups()))
    assert count == 3
    assert with_more == pytest.approx(room / 3**0.5, abs=0.001)
    assert part == pytest.approx(100, abs=5)


def test_nothing_is_said_of_fewer_outputs_or_of_one_verdict():
    rows = {f"c{n:02}": [0.9, 0.8, 0.9] for n in range(NOISE_FROM)}
    assert not [*observer_noise(_report(dict([*rows.items()][1:])), None)]
    assert not [*observer_noise(_report({case: [0.9] for case in rows}), None)]
