"""How far an observer agrees with people, on labels of all counts of errors."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from itertools import product

import pytest
from scipy.stats import binom, binomtest

from benchgate.gates.labels import FROM, Label, SeenOutput, agreement

SIDES = ("candidate", "baseline")


def _label(case, whose, said, seen):
    return Label(
        case=str(case),
        output=str(SIDES.index(whose)) * 64,
        passed=bool(said),
        by="ada",
        at=datetime(2026, 11, 26, tzinfo=UTC),
        observed=(SeenOutput(whose=whose, passed=bool(seen), score=float(seen)),),
    )


def _counted(wrong, size=FROM):
    """Return labels of outputs of each side, of which the observer passes so many wrong ones."""
    return [
        _label(f"{whose}{case}", whose, 0, case < count)
        for whose, count in zip(SIDES, wrong, strict=True)
        for case in range(size)
    ]


def test_the_interval_is_that_of_clopper_and_pearson_and_covers():
    covered = 0.0
    for wrong in range(41):
        low, notes = agreement(_counted((min(wrong, 20), max(wrong - 20, 0)), size=20), {})
        expected = binomtest(40 - wrong, 40).proportion_ci(method="exact")
        assert low == pytest.approx(expected.low, abs=1e-9)
        text = f"{1 - wrong / 40:.3f} of 40 outputs, between {expected.low:.3f} and {expected.high:.3f}"
        assert text in notes[0][1].text
        if expected.low <= 0.8 <= expected.high:
            covered += binom.pmf(wrong, 40, 0.2)
    assert covered >= 0.95


def _share_with_bias(rates):
    """
    Return in what share of samples a bias is noted, and whom the notes favour.

    Counted over all pairs of counts that are likelier than one in 100,000; the others, fewer than 300, count as noted.
    """
    share = 1.0
    favoured = set()
    for wrong in product(range(FROM + 1), repeat=2):
        chance = math.prod(binom.pmf(wrong, FROM, rates))
        if chance < 1e-5:
            continue
        notes = dict(agreement(_counted(wrong), {})[1])
        if "observer_bias" in notes:
            favoured.add(notes["observer_bias"].values["side"])
        else:
            share -= chance
    return share, favoured


def test_bias_is_noted_where_it_is():
    share, favoured = _share_with_bias((0.8, 0.05))
    assert share - 0.003 >= 0.95
    assert favoured == {"candidate"}


def test_bias_is_seldom_noted_where_it_is_not():
    share, _ = _share_with_bias((0.2, 0.2))
    assert share <= 0.05


def test_bias_is_not_noted_of_fewer_labels():
    notes = agreement(_counted((FROM - 1, 0), size=FROM - 1), {})[1]
    assert {code for code, _ in notes} == {"observer_agreement"}
    assert "observer_bias" in dict(agreement(_counted((FROM, 0)), {})[1])


def test_outputs_of_one_cluster_tell_as_much_as_one():
    """Forty outputs of ten documents, on all of which the observer is right."""
    labels = [_label(case, "candidate", 1, 1) for case in range(40)]
    alone, together = (
        agreement(labels, clusters)[0]
        for clusters in ({}, {str(n): f"d{n % 10}" for n in range(40)})
    )
    assert alone == pytest.approx(binomtest(40, 40).proportion_ci(method="exact").low, abs=1e-6)
    assert together == pytest.approx(binomtest(10, 10).proportion_ci(method="exact").low, abs=1e-6)
