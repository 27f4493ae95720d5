"""A search is told one bit of cases that it never sees."""

from __future__ import annotations

import pytest

from benchgate import Acceptor
from benchgate.errors import EvalError

CASES = tuple(f"c{number:02}" for number in range(60))
POLICY = {"looks": "spend:3", "score_range": [0, 1]}


def measure(quality, ids):
    return {case: min(1.0, quality + quality * int(case[-2:]) / 10**4) for case in ids}


def acceptor(cases=CASES, **options):
    return Acceptor(cases, measure, 0.1, **{"policy": POLICY, **options})


def test_the_parts_are_the_same_each_time_and_share_nothing():
    asked = []

    def noting(quality, ids):
        asked.extend(ids)
        return measure(quality, ids)

    one, other = Acceptor(CASES, noting, 0.1, policy=POLICY), acceptor(reversed(CASES))
    one.look(0.2)
    assert set(one.search) == set(other.search)
    assert set(asked) == set(CASES) - set(one.search)
    assert 15 < len(one.search) < 45
    # Further cases move none from one part to the other.
    assert {*one.search} < {*acceptor((*CASES, *(f"d{n}" for n in range(40)))).search}


def test_a_cluster_lies_whole_on_one_side():
    clusters = {case: f"repo-{int(case[1:]) % 30}" for case in CASES}
    search = set(acceptor(clusters).search)
    assert 0 < len(search) < len(CASES)
    assert {clusters[c] for c in search}.isdisjoint(clusters[c] for c in set(CASES) - search)


def test_a_look_says_one_bit_its_number_and_its_cost():
    one = acceptor()
    held = len(CASES) - len(one.search)
    assert one.look(0.05) == (False, 1, 2 * held)  # the incumbent is measured too
    assert one.look(0.5) == (True, 2, held)
    assert one.incumbent == 0.5
    assert one.look(0.4) == (False, 3, held)
    assert one.look(0.9) == (False, 4, held)  # better, but three looks were declared
    assert one.incumbent == 0.5


def test_details_end_the_search():
    one = acceptor()
    one.look(0.05)
    one.look(0.5)
    first, second = one.details()
    assert (first.decision.outcome, second.decision.outcome) == ("reject", "promote")
    assert second.figures.significance.mean_delta == pytest.approx(0.4, abs=0.01)
    with pytest.raises(EvalError, match=r"details\(\) ended this search"):
        one.look(0.6)
    assert len(one.details()) == 2


def test_more_cases_are_known_from_the_part_that_is_searched():
    one = acceptor()
    noisy = {case: (int(case[-2:]) * 7 % 10) / 10 for case in one.search}
    before = dict.fromkeys(one.search, 0.5)
    assert one.more_cases(before, noisy) > 20
    assert one.more_cases(before, before) in (0, None)


@pytest.mark.parametrize(
    ("cases", "options", "why"),
    [
        (CASES, {"policy": {"looks": "spend"}}, "looks is 'spend:K'"),
        (CASES, {"policy": {}}, "looks is 'spend:K'"),
        (CASES, {"confirm": 1}, "confirm is 1; expected a share"),
        (range(40), {}, "cases: expected ids, each of them a text"),
        ("abcdefghij" * 4, {}, "cases: expected ids, each of them a text"),
        (CASES[:12], {}, "at least 10 cases and 6 clusters are needed"),
        ({case: f"r{int(case[1:]) % 6}" for case in CASES}, {}, "6 clusters are needed"),
        (CASES[:10], {"confirm": 0.999999}, "none is left to search on"),
    ],
)
def test_a_split_or_a_policy_of_no_use_is_refused(cases, options, why):
    with pytest.raises(EvalError, match=why):
        acceptor(cases, **options)


def test_a_score_that_is_missing_is_an_error():
    one = Acceptor(CASES, lambda q, ids: measure(q, ids[1:]), 0.1, policy=POLICY)
    with pytest.raises(EvalError, match="measure returned no score for each"):
        one.look(0.2)
