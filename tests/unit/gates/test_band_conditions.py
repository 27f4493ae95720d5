"""The bands of a policy, through evidence and gate: who is held, who is not, and who is not judged."""

from __future__ import annotations

import hashlib
import random

import pytest

from benchgate.gates.decide import decide
from benchgate.gates.decision import PREFIX
from benchgate.gates.facts import VectorFacts
from benchgate.gates.figures import Arm
from benchgate.gates.policy import GatePolicy

IDS = tuple(f"c{number:02}" for number in range(40))
BY_DIGEST = sorted(IDS, key=lambda case_id: hashlib.sha256(case_id.encode()).digest())
SEEDS = f"{PREFIX}seed_reproducibility"


def noise(case_id, trial=0, size=0.05):
    draw = random.Random(f"{case_id}/{trial}")  # noqa: S311 - drawn for statistics
    return draw.uniform(-size, size)


def arm(score, *, ids=IDS, trials=None):
    """Return an arm; ``score`` gives a case's score, or with ``trials`` that of one trial of it."""
    if trials is None:
        return Arm(scores=tuple(map(score, ids)), case_ids=ids, penalties=(0.0,) * len(ids))
    rows = tuple(tuple(score(case_id, number) for number in range(trials)) for case_id in ids)
    return Arm(
        scores=tuple(sum(row) / trials for row in rows),
        case_ids=ids,
        penalties=(0.0,) * len(ids),
        trials=rows,
    )


BASELINE = arm(lambda case_id: 0.3 + noise(case_id, "baseline"))


def judged(candidate, baseline=BASELINE, **policy):
    rules = GatePolicy(**{"test": "auto", **policy})
    made = decide(VectorFacts(policy=rules, sides=(baseline, candidate)))
    return made.figures, made.decision


def steady(case_id, trial=0):
    return 0.5 + noise(case_id, trial)


def drifting(case_id):
    """Much better on the first half of the cases, in the order of their digests, than on the second."""
    return steady(case_id) + (0.4 if BY_DIGEST.index(case_id) < 20 else 0.0)


def irreproducible(case_id, trial):
    """Better by a half in its first trial of every case."""
    return steady(case_id, trial) + (0.25 if trial == 0 else 0.0)


def test_a_steady_candidate_is_within_both_bands_and_promoted():
    evidence, decision = judged(arm(steady, trials=3))
    assert evidence.seeds.within_band
    assert evidence.prefixes.within_band
    assert decision.outcome == "promote"


def test_a_drift_along_the_digests_of_names_holds_nobody():
    evidence, decision = judged(arm(drifting))
    assert not evidence.prefixes.within_band
    assert decision.outcome == "promote"


def test_an_irreproducible_candidate_is_held():
    evidence, decision = judged(arm(irreproducible, trials=3))
    assert (evidence.seeds.runs, evidence.seeds.cases) == (3, 40)
    assert decision.outcome == "hold"
    assert decision.reason_codes == (SEEDS,)
    assert decision.next_step.startswith("add trials, not cases")


def test_scaled_limits_follow_the_noise():
    calm, _ = judged(arm(steady, trials=3))
    loud, _ = judged(arm(lambda c, t: 0.5 + noise(c, t, 0.4), trials=3))
    assert loud.seeds.max_delta_range > 2 * calm.seeds.max_delta_range
    assert calm.prefixes.max_z == loud.prefixes.max_z == pytest.approx(2.935, abs=1e-3)


def test_the_seed_band_takes_each_trial_as_a_run():
    candidate = arm(irreproducible, trials=3)
    evidence, _ = judged(candidate)
    before = sum(BASELINE.scores) / 40
    for number, delta in enumerate(evidence.seeds.deltas):
        after = sum(row[number] for row in candidate.trials) / 40
        assert delta == pytest.approx(after - before)
    spread = max(evidence.seeds.deltas) - min(evidence.seeds.deltas)
    assert evidence.seeds.delta_range == pytest.approx(spread)
    assert len(evidence.seeds.p_values) == 3


def test_prefixes_run_in_the_order_of_sha256_over_the_ids():
    candidate = arm(drifting)
    evidence, _ = judged(candidate)
    gains = {c: a - b for c, a, b in zip(IDS, candidate.scores, BASELINE.scores, strict=True)}
    assert [point.cases for point in evidence.prefixes.points] == [10, 20, 30, 40]
    for point in evidence.prefixes.points:
        first = [gains[case_id] for case_id in BY_DIGEST[: point.cases]]
        assert point.delta == pytest.approx(sum(first) / point.cases)
    assert evidence.prefixes.points[-1].z is None


def test_neither_the_order_of_the_cases_nor_that_of_their_ids_counts():
    turned, _ = judged(arm(drifting, ids=IDS[::-1]))
    assert turned.prefixes == judged(arm(drifting))[0].prefixes
    along_ids = arm(lambda c: steady(c) + (0.4 if c < "c20" else 0.0))
    assert judged(along_ids)[0].prefixes.within_band


def test_equal_trials_and_equal_gains_are_within_the_scaled_bands():
    flat = arm(lambda _: 0.25)
    evidence, _ = judged(arm(lambda _, __: 0.5, trials=3), flat)
    assert evidence.seeds.within_band
    assert evidence.seeds.p_values == (None, None, None)
    assert evidence.prefixes.within_band


def test_gains_that_differ_in_their_last_bits_alone_do_not_drift():
    held = []
    for start in range(80):
        ids = [f"s{start}-{number:02}" for number in range(12)]
        before = arm(lambda c: 0.3 + noise(c, size=0.2), ids=ids)
        after = arm(lambda c: 0.3 + noise(c, size=0.2) + 0.5, ids=ids)
        evidence, _ = judged(after, before)
        held.append(not evidence.prefixes.within_band)
    assert sum(held) == 0


@pytest.mark.parametrize(
    "candidate",
    [
        arm(steady),
        arm(steady, trials=1),
        arm(steady, trials=3, ids=(*IDS[1:], "other")),
        Arm(scores=(0.5,) * 40, trials=((0.5, 0.5),) * 40),
        Arm(scores=(0.5,) * 40, case_ids=IDS, trials=(*((0.5, 0.5),) * 39, (0.5,))),
    ],
    ids=["no trials", "one trial", "other cases", "no ids", "uneven trials"],
)
def test_no_seed_band_where_it_cannot_be_evaluated(candidate):
    evidence, decision = judged(candidate, safety="optional")
    assert evidence.seeds is None
    assert SEEDS not in decision.reason_codes


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (BASELINE, arm(steady, ids=(*IDS[1:], "other"))),
        (BASELINE, Arm(scores=(0.5,) * 40)),
        (Arm(scores=BASELINE.scores), arm(steady)),
        (arm(steady, ids=IDS[:3]), arm(drifting, ids=IDS[:3])),
    ],
    ids=["other cases", "no ids", "no ids in the baseline", "three cases"],
)
def test_no_sample_band_where_it_cannot_be_evaluated(before, after):
    evidence, _ = judged(after, before, safety="optional")
    assert evidence.prefixes is None
