"""What is said to be decided is, and no later than it could be: small comparisons, with all that could still come."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from itertools import product

import pytest

from benchgate.aggregate import build_report
from benchgate.gates.baseline import arm
from benchgate.gates.certificate import certificate, obstacle, ordered, partial_of
from benchgate.gates.decide import decide
from benchgate.gates.decision import GateInput
from benchgate.gates.figures import Arm
from benchgate.gates.policy import make_policy
from benchgate.gates.unscored import too_many
from benchgate.gates.vectors import weigh_arms
from benchgate.ids import RunPlan
from benchgate.models import BenchScore, RunDigests, TrialResult
from benchgate.taxonomy import RESERVED, Taxonomy

SHA = "0" * 64
LEFT = None
ERROR, LATE = "harness_error", "timeout"


def trial(case_id, number, value):
    common = {"case_id": case_id, "trial": number, "seed": 0, "held_out": False}
    if value is LEFT:
        return TrialResult(**common, outcome="not_run")
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
        scope="full",
        system="s",
        trial_count=len(next(iter(rows.values()))),
        seed=0,
        digests=RunDigests(cases=dict.fromkeys(rows, SHA), system=None, **digests),
        harness_version="0",
        clusters=clusters or {},
    )
    trials = [trial(c, n, value) for c, row in rows.items() for n, value in enumerate(row)]
    return build_report(plan, trials, Taxonomy(RESERVED), critical=critical)


def promotes(before: Arm, after: Arm, policy):
    """Whether the gate promotes, but for the bands and the cost, which can only hold."""
    figures, blockers = weigh_arms(before, after, policy, advice=False)
    figures = replace(figures, seeds=None, prefixes=None, cost=None)
    blockers += tuple(
        ("too_many_unscored", text)
        for side in (before, after)
        if (text := too_many(side, policy.max_unscored, None))
    )
    return decide(GateInput(policy=policy, figures=figures, blockers=blockers)).promotion_allowed


class Comparison:
    """A random comparison of few cases, and what a policy says of each part of it."""

    def __init__(self, seed):
        draw = random.Random(seed)
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
        self.order = [(c, n) for c in ordered(self.before) for n in range(self.trials)]
        self.decides = cache(self._decides)

    def side(self, rows):
        return run(rows, self.clusters, self.critical)

    def found(self, count):
        """The certificate after so many trials."""
        ran = set(self.order[:count])
        rows = {
            c: [v if (c, n) in ran else LEFT for n, v in enumerate(row)]
            for c, row in self.after.items()
        }
        return certificate(
            self.before, partial_of(self.side(rows), self.before, self.policy), self.policy
        )

    def fills(self, count):
        """Every way in which the rest may end."""
        rest = self.order[count:]
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
            if not self.clusters and not self.critical:  # cases that the baseline did alike are alike
                kind = sorted(zip(self.before.rows, (row for _, row in rows), strict=True), key=repr)
                if str(kind) in seen:
                    continue
                seen.add(str(kind))
            if self.decides(rows):
                return True
        return False


def stop_of(comparison):
    for count in range(1, len(comparison.order)):
        if (found := comparison.found(count)) is not None:
            return count, found
    return None, None


def check(seed):
    """Return whether a comparison stopped, and whether it could have before."""
    one = Comparison(seed)
    count, found = stop_of(one)
    if count is not None and len(one.order) - count <= MOST:
        assert not one.may_promote(count), (seed, count, found)
        later = range(count + 1, len(one.order))
        assert all(one.found(more) for more in later), (seed, "a further trial opened it again")
    last = len(one.order) - 1 if count is None else count - 1
    is_late = 0 < last and len(one.order) - last <= MOST and not one.may_promote(last)
    return count is not None, is_late


MOST = 4
"""Trials that may be left where all ends are tried."""
