"""How far an observer agrees with people, on labels that are drawn."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest
from scipy.stats import binomtest

from benchgate.gates.labels import FROM, Label, agreement

SIDES = ("candidate", "baseline")
FAVOURS = "the observer favours the candidate"


def _label(case, whose, said, seen):
    return Label(
        case=str(case),
        output=str(SIDES.index(whose)) * 64,
        passed=bool(said),
        by="ada",
        at=datetime(2026, 11, 26, tzinfo=UTC),
        observed=((whose, bool(seen), float(seen)),),
    )


def _drawn(random, rates, size=FROM):
    """Return labels of outputs of each side, of which the observer passes wrong ones at that side's rate."""
    return [
        _label(f"{whose}{case}", whose, 0, random.random() < rate)
        for whose, rate in zip(SIDES, rates, strict=True)
        for case in range(size)
    ]


def test_the_interval_is_that_of_clopper_and_pearson_and_covers():
    random = np.random.default_rng(36)
    covered = 0
    for _ in range(200):
        labels = _drawn(random, (0.2, 0.2), size=20)
        wrong = sum(one.observed[0][1] for one in labels)
        low, notes = agreement(labels, {})
        expected = binomtest(40 - wrong, 40).proportion_ci(method="exact")
        assert low == pytest.approx(expected.low, abs=1e-9)
        text = f"{1 - wrong / 40:.3f} of 40 outputs, between {expected.low:.3f} and {expected.high:.3f}"
        assert text in dict(notes)["observer_agreement"]
        covered += expected.low <= 0.8 <= expected.high
    assert covered >= 190


@pytest.mark.parametrize(("rates", "least", "most"), [((0.2, 0.2), 0, 10), ((0.8, 0.05), 190, 200)])
def test_bias_is_noted_where_it_is_and_seldom_where_it_is_not(rates, least, most):
    random = np.random.default_rng(15)
    found = [dict(agreement(_drawn(random, rates), {})[1]) for _ in range(200)]
    texts = [notes["observer_bias"] for notes in found if "observer_bias" in notes]
    assert least <= len(texts) <= most
    assert not least or {text.partition(":")[0] for text in texts} == {FAVOURS}


def test_bias_is_not_noted_of_fewer_labels():
    random = np.random.default_rng(15)
    notes = agreement(_drawn(random, (1.0, 0.0), size=FROM - 1), {})[1]
    assert [code for code, _ in notes] == ["observer_agreement"]
    assert "observer_bias" in dict(agreement(_drawn(random, (1.0, 0.0)), {})[1])


def test_outputs_of_one_cluster_tell_as_much_as_one():
    """Forty outputs of ten documents, on all of which the observer is right."""
    labels = [_label(case, "candidate", 1, 1) for case in range(40)]
    alone, together = (
        agreement(labels, clusters)[0]
        for clusters in ({}, {str(n): f"d{n % 10}" for n in range(40)})
    )
    assert alone == pytest.approx(binomtest(40, 40).proportion_ci(method="exact").low, abs=1e-6)
    assert together == pytest.approx(binomtest(10, 10).proportion_ci(method="exact").low, abs=1e-6)
