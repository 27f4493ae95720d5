"""What is said to be decided is, and no later than it could be: small comparisons, with all that could still come."""

from __future__ import annotations

import hashlib
import random
from dataclasses import replace
from functools import cache, cached_property
from itertools import product

import pytest

from benchgate.aggregate import build_report
from benchgate.gates import pairs
from benchgate.gates.baseline import arm
from benchgate.gates.certificate import certificate, ordered
from benchgate.gates.comparison import VectorComparison
from benchgate.gates.decide import decide, decided
from benchgate.gates.decision import PREFIX
from benchgate.gates.facts import VectorFacts
from benchgate.gates.figures import Arm
from benchgate.gates.missing import counted_as_best
from benchgate.gates.policy import make_policy
from benchgate.gates.unscored import too_many
from benchgate.ids import RunPlan
from benchgate.models import BenchScore, RunDigests, TrialResult
from benchgate.statistics.paired import paired_test
from benchgate.statistics.pass_fail import pass_fail_p
from benchgate.taxonomy import RESERVED, Taxonomy

SHA = "0" * 64
ERROR, LATE = "harness_error", "timeout"
LEFT_OUT = {"insufficient_cases", "unscored_decide", "exact_evidence_required"}


def trial(case_id, number, value):
    common = {"case_id": case_id, "trial": number, "seed": 0, "held_out": False}
    if isinstance(value, str):
        return TrialResult(**common, outcome=value)
    score, penalty = value
    made = BenchScore(passed=score == 1, score=score, safety_penalty=penalty)
    return TrialResult(**common, outcome="scored", score=made)


def run(rows, clusters=None, critical=()):
    """Return a report; each row is a case by its id, and has a value for each of its trials."""
    digests = dict.fromkeys(("rubric", "scorer", "taxonomy", "policy"), SHA)
    plan = RunPlan(
        task_class="toy",
        case_ids=tuple(rows),
        scope="selected",  # of which no bound of the mean is made, which takes long
        system="s",
        trial_count=len(next(iter(rows.values()))),
        seed=0,
        digests=RunDigests(cases=dict.fromkeys(rows, SHA), system=None, **digests),
        harness_version="0",
    )
    trials = [trial(c, n, value) for c, row in rows.items() for n, value in enumerate(row)]
    return build_report(
        plan, trials, Taxonomy(RESERVED), critical=critical, clusters=clusters or {}
    )


def promotes(before: Arm, after: Arm, policy):
    """Whether the gate promotes, but for the bands and the cost, which can only hold."""
    blockers = tuple(
        ("too_many_unscored", said)
        for side in (before, after)
        if (said := too_many(side, policy.max_unscored, None))
    )
    facts = VectorFacts(policy=policy, sides=(before, after), blockers=blockers)
    return decided(WithoutBands(facts, advice=False)).decision.promotion_allowed


class WithoutBands(VectorComparison):
    @cached_property
    def _weighed(self):
        figures, blockers = super()._weighed
        return replace(figures, seeds=None, prefixes=None, cost=None), blockers


class Comparison:
    """A random comparison of few cases, and what a policy says of each part of it."""

    def __init__(self, seed):
        draw = random.Random(seed)  # noqa: S311 - for tests, not for secrets
        self.trials = draw.choice((1, 1, 1, 2))
        size = draw.randint(3, 5 if self.trials > 1 else 8)
        self.scores = draw.choice(((0.0, 1.0), (0.0, 0.5, 1.0)))
        self.penalties = draw.choice(((None,), (0.0,), (0.0, 0.5)))
        self.ids = [f"c{n}" for n in range(size)]
        self.clusters = (
            {c: f"k{draw.randint(0, 5)}" for c in self.ids} if draw.random() < 0.25 else {}
        )
        self.critical = [c for c in self.ids if draw.random() < 0.1]
        claim = draw.choice(("better", "better", "better", "not_worse", "no_regression"))
        own = {
            "better": {
                "min_delta": draw.choice((0.0, 0.0, 0.1)),
                "evidence": draw.choice(("standard", "standard", "standard", "exact")),
            },
            "not_worse": {"margin": draw.choice((0.3, 0.6))},
            "no_regression": {
                "tolerance": draw.choice((0.0, 0.5)),
                "max_newly_failing": draw.choice((0, 1)),
            },
        }
        self.policy = make_policy(
            {
                "test": "auto",
                "claim": claim,
                "min_cases": 2,
                "alpha": draw.choice((0.05, 0.2, 0.4)),
                "safety": "optional",
                "max_safety_regression": draw.choice((0.0, 0.1)),
                "max_unscored": draw.choice((0.05, 0.3)),
                "penalty_range": draw.choice((None, (0.0, 0.5))),
                **own[claim],
            }
        )
        gain = draw.choice((0.0, 0.2, 0.5, 0.8))
        errors = draw.choice((0.0, 0.0, 0.0, 0.1))

        def value(better):
            if draw.random() < errors:
                return draw.choice((ERROR, LATE))
            score = 1.0 if draw.random() < better else draw.choice(self.scores)
            return score, draw.choice(self.penalties)

        rows = [{c: [value(p) for _ in range(self.trials)] for c in self.ids} for p in (0.0, gain)]
        self.before = arm(run(rows[0], self.clusters, self.critical))
        self.after = rows[1]
        self.order = ordered(self.before)
        self.decides = cache(self._decides)

    def side(self, rows):
        return run(rows, self.clusters, self.critical)

    def partial(self, count):
        """What is known after so many cases."""
        return arm(self.side({c: self.after[c] for c in self.order[:count]}))

    def found(self, count):
        """The certificate after so many cases."""
        return certificate(self.before, self.partial(count), self.policy, None)

    def fills(self, count):
        """Every way in which the rest may end."""
        rest = [(c, n) for c in self.order[count:] for n in range(self.trials)]
        values = [(score, p) for score in (0.0, 0.5, 1.0) for p in self.penalties] + [LATE]
        for ends in product(values, repeat=len(rest)):
            yield dict(zip(rest, ends, strict=True))

    def _decides(self, rows):
        filled = {c: list(row) for c, row in rows}
        return promotes(self.before, arm(self.side(filled)), self.policy)

    def may_promote(self, count):
        seen = set()
        for fill in self.fills(count):
            rows = tuple(
                (c, tuple(fill.get((c, n), v) for n, v in enumerate(row)))
                for c, row in self.after.items()
            )
            if (
                not self.clusters and not self.critical
            ):  # cases that the baseline did alike are alike
                kind = sorted(
                    zip(self.before.rows, (row for _, row in rows), strict=True), key=repr
                )
                if str(kind) in seen:
                    continue
                seen.add(str(kind))
            if self.decides(rows):
                return True
        return False

    def why_later(self, count):
        """Return what no certificate knows, though it keeps the best that may come from promoting."""
        best = counted_as_best(self.before, self.partial(count), self.policy)
        made = decide(VectorFacts(policy=self.policy, sides=(self.before, best)), advice=False)
        codes = {code.removeprefix(PREFIX) for code in made.decision.reason_codes} & LEFT_OUT
        if any(too_many(side, self.policy.max_unscored, None) for side in (self.before, best)):
            codes.add("too_many_unscored")
        if None in (self.before.penalties or ()):
            codes.add("harm")
        pairs = made.figures.significance.paired
        if pairs is not None and pairs.p_sign_flip <= self.policy.alpha / 2:
            codes.add("t")
        return codes


def check(seed, most):
    """
    Return whether a comparison stopped.

    :param most: trials that may be left where all of their ends are tried.
    """
    one = Comparison(seed)
    most = most // one.trials
    found = [one.found(count) for count in range(1, len(one.order))]
    count = next((n for n, certified in enumerate(found, 1) if certified), None)
    if count is not None:
        assert all(found[count - 1 :]), (seed, "a further case opened it again")
        if len(one.order) - count <= most:
            assert not one.may_promote(count), (seed, count, found[count - 1])
    last = len(found) if count is None else count - 1
    if last > 0 and len(one.order) - last <= most and not one.may_promote(last):
        assert one.why_later(last), (seed, last, "it could have stopped here")
    return count is not None


def test_what_is_decided_stays_so_whatever_comes_and_no_earlier_trial_decides_it():
    assert sum(check(seed, 2) for seed in range(20)) > 10


AT_NIGHT = [first for first in range(0, 2000, 50) if first not in {0, 1000}]


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(0, marks=pytest.mark.slow),
        pytest.param(1000, marks=pytest.mark.slow),
        *(pytest.param(first, marks=pytest.mark.nightly) for first in AT_NIGHT),
    ],
)
def test_two_thousand_small_comparisons(first):
    assert sum(check(seed, 3) for seed in range(first, first + 50)) > 25


def test_the_most_to_gain_comes_first_and_ties_by_a_digest():
    rows = {f"c{n}": [(score, None)] for n, score in enumerate((1.0, 0.0, 0.5, 0.0, 0.0))}
    zeros = sorted(("c1", "c3", "c4"), key=lambda c: hashlib.sha256(c.encode()).hexdigest())
    assert ordered(arm(run(rows))) == (*zeros, "c2", "c0")


def test_each_outcome_of_pass_and_fail_that_may_come_is_tried():
    level = 0.025
    passing = {
        n: {(g, b) for g in range(n + 1) for b in range(n + 1 - g) if pass_fail_p(g, b, n) <= level}
        for n in (6, 10, 14)
    }
    for n, outcomes in passing.items():
        policy = make_policy({"test": "auto", "min_cases": 2, "safety": "optional"})
        for failing in range(n + 1):
            before = {f"c{i:02}": [(float(i >= failing), None)] for i in range(n)}
            side = arm(run(before))
            reachable = {(g, b) for g in range(failing + 1) for b in range(n - failing + 1)}
            found = certificate(side, Arm(scores=(), case_ids=()), policy, None)
            assert not (found and reachable & outcomes)


def test_a_drawn_p_must_exceed_the_level_by_its_error(monkeypatch):
    rows = {f"c{n:02}": [(0.5 + n / 977, None)] for n in range(40)}
    before = arm(run(rows))
    partial = arm(run({c: row for c, row in rows.items() if c != "c00"}))
    made = []

    def flip(p):
        def test(differences, labels, **options):
            made.append(len(differences))
            real = paired_test(differences, labels, **options)
            return replace(
                real, sign_flip=replace(real.sign_flip, half_ties_greater=p, n_resamples=99_999)
            )

        return test

    for p, is_decided in ((0.0255, False), (0.03, True)):
        monkeypatch.setattr(pairs, "paired_test", flip(p))
        policy = make_policy({"test": "auto", "safety": "optional"})
        assert bool(certificate(before, partial, policy, None)) == is_decided
    assert made == [40, 40]
