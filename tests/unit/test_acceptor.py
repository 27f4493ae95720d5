"""A search is told one bit of cases that it never sees."""

from __future__ import annotations

import threading
from itertools import count

import pytest

from benchgate import Acceptor, ArtifactError, EvalError, LookLedger, accept

CASES = tuple(f"c{number:02}" for number in range(60))
POLICY = {"looks": "spend:3", "score_range": [0, 1]}


def measure(quality, ids):
    return {case: min(1.0, quality + quality * int(case[-2:]) / 10**4) for case in ids}


@pytest.fixture
def ledger(tmp_path):
    return LookLedger(tmp_path / "looks.jsonl")


@pytest.fixture
def acceptor(ledger):
    """Make an Acceptor, each of a search of its own in one ledger."""
    names = (f"search {number}" for number in count())

    def make(cases=CASES, measure=measure, incumbent=0.1, **options):
        made = {"policy": POLICY, "ledger": ledger, "name": next(names), **options}
        return Acceptor(cases, measure, incumbent, **made)

    return make


def test_the_parts_are_the_same_each_time_and_share_nothing(acceptor):
    asked = []

    def noting(quality, ids):
        asked.extend(ids)
        return measure(quality, ids)

    one, other = acceptor(measure=noting), acceptor(reversed(CASES))
    one.look(0.2)
    assert set(one.search) == set(other.search)
    assert set(asked) == set(CASES) - set(one.search)
    assert 15 < len(one.search) < 45
    # Further cases move none from one part to the other.
    assert {*one.search} < {*acceptor((*CASES, *(f"d{n}" for n in range(40)))).search}


def test_a_cluster_lies_whole_on_one_side(acceptor):
    clusters = {case: f"repo-{int(case[1:]) % 30}" for case in CASES}
    search = set(acceptor(clusters).search)
    assert 0 < len(search) < len(CASES)
    assert {clusters[c] for c in search}.isdisjoint(clusters[c] for c in set(CASES) - search)


def test_a_look_says_one_bit_its_number_and_its_cost_in_trials(acceptor):
    one = acceptor()
    held = len(CASES) - len(one.search)
    assert one.look(0.05) == (False, 1, 2 * held)  # the incumbent is measured too
    assert one.look(0.5) == (True, 2, held)
    assert one.incumbent == 0.5
    assert one.look(0.4) == (False, 3, held)
    assert one.look(0.9) == (False, 4, held)  # better, but three looks were declared
    assert one.incumbent == 0.5
    twice = acceptor(measure=lambda q, ids: {case: [q, q] for case in ids})
    assert twice.look(0.05).cost == 4 * held


def test_details_end_the_search(acceptor):
    one = acceptor()
    one.look(0.05)
    one.look(0.5)
    first, second = one.details()
    assert (first.outcome, second.outcome) == ("reject", "promote")
    assert first.reasons[0] == "significant_regression"
    assert second.delta == pytest.approx(0.4, abs=0.01)
    assert second.interval[0] < second.delta < second.interval[1]
    assert second.p < 0.05 / 3
    assert (second.look.number, second.cost) == (2, len(CASES) - len(one.search))
    with pytest.raises(EvalError, match=r"details\(\) ended this search"):
        one.look(0.6)
    assert len(one.details()) == 2


def test_more_cases_are_known_from_the_part_that_is_searched(acceptor):
    one = acceptor()
    noisy = {case: (int(case[-2:]) * 7 % 10) / 10 for case in one.search}
    before = dict.fromkeys(one.search, 0.5)
    assert one.more_cases(before, noisy) > 20
    assert one.more_cases(before, before) in (0, None)
    alone = one.more_cases(before, noisy)
    pairs = acceptor({case: f"r{int(case[1:]) // 2}" for case in CASES})
    both = {case: (int(case[1:]) // 2 * 7 % 10) / 10 for case in pairs.search}
    assert (
        pairs.more_cases(dict.fromkeys(both, 0.5), both) > alone
    )  # two cases of a cluster tell less
    with pytest.raises(EvalError, match="the search's own cases"):
        one.more_cases(before, dict.fromkeys(CASES, 0.5))


@pytest.mark.parametrize(
    ("cases", "options", "why"),
    [
        (CASES, {"policy": {"looks": "spend"}}, "looks is 'spend:K'"),
        (CASES, {"policy": {}}, "looks is 'spend:K'"),
        (CASES, {"policy": {**POLICY, "claim": "no_regression"}}, "its claim has an alpha"),
        (CASES, {"confirm": 1}, "confirm is 1; expected a share"),
        (CASES, {"confirm": 0}, "confirm is 0; expected a share"),
        (CASES, {"confirm": float("nan")}, "confirm is nan; expected a share"),
        (range(40), {}, "cases: expected ids and names of clusters, each of them a text"),
        ("abcdefghij" * 4, {}, "cases: expected ids"),
        (dict.fromkeys(CASES, 7), {}, "cases: expected ids"),
        (dict.fromkeys(CASES, ""), {}, "cases: expected ids"),
        ((*CASES, "c05"), {}, "an id is there more than once"),
        (CASES[:12], {}, "at least 10 are needed"),
        (CASES[:30], {"policy": {**POLICY, "looks": "spend:9000"}}, "at least 19 are needed"),
        ({case: f"r{int(case[1:]) % 6}" for case in CASES}, {}, "at least 10 are needed"),
        (CASES, {"policy": {**POLICY, "min_cases": 2}, "confirm": 0.05}, "at least 7 are needed"),
        (CASES[:10], {"confirm": 0.999999}, "none is left to search on"),
    ],
)
def test_a_split_or_a_policy_of_no_use_is_refused(acceptor, cases, options, why):
    with pytest.raises(EvalError, match=why):
        acceptor(cases, **options)


def test_ids_may_come_from_a_generator(acceptor):
    one = acceptor(case for case in CASES)
    assert one.search == acceptor().search
    assert one.look(0.5).accepted


@pytest.mark.parametrize(
    ("returned", "why"),
    [
        (lambda ids: dict.fromkeys(ids[1:], 0.2), "a score for each case"),
        (lambda ids: dict.fromkeys((*ids, "more"), 0.2), "a score for each case"),
        (lambda ids: [0.2] * len(ids), "a score for each case"),
        (lambda ids: dict.fromkeys(ids, float("nan")), "expected a finite number"),
        (lambda ids: dict.fromkeys(ids, None), "expected a finite number"),
    ],
)
def test_what_is_no_score_of_each_case_is_an_error_and_no_look(acceptor, returned, why):
    wrong = object()
    one = acceptor(measure=lambda q, ids: returned(ids) if q is wrong else measure(q, ids))
    with pytest.raises(EvalError, match=why):
        one.look(wrong)
    held = len(CASES) - len(one.search)
    assert one.look(0.5) == (True, 1, 2 * held)  # what the incumbent cost is told once


def test_a_look_that_ends_half_way_is_counted_and_accepts_nothing(acceptor, tmp_path):
    class Full(LookLedger):
        def add(self, looked):
            if looked.decision is not None:
                raise ArtifactError(tmp_path, "no space left")
            return super().add(looked)

    one = acceptor(ledger=Full(tmp_path / "full.jsonl"))
    with pytest.raises(ArtifactError):
        one.look(0.5)
    assert one.incumbent == 0.1
    huge = acceptor(
        measure=lambda q, ids: dict.fromkeys(ids, q), incumbent=-1e308, policy={"looks": "spend:3"}
    )
    with pytest.raises(EvalError):
        huge.look(1e308)
    assert huge.look(0.0).look == 2


@pytest.mark.parametrize("value", [0.1, 0.1 + 1e-9])
def test_what_is_as_good_is_not_accepted(acceptor, value):
    one = acceptor(
        measure=lambda q, ids: dict.fromkeys(ids, q), policy={"looks": "spend:3"}
    )  # all differences are equal, and no range says what that is worth
    assert not one.look(value).accepted


def test_a_search_that_is_begun_again_goes_on_with_its_count_and_its_record(acceptor, tmp_path):
    def begun(name="search"):
        return acceptor(ledger=LookLedger(tmp_path / "looks.jsonl"), name=name)

    begun().look(0.05)
    one, other = begun(), begun()
    assert [one.look(0.2).look, other.look(0.3).look, one.look(0.4)[:2]] == [2, 3, (False, 4)]
    assert begun("another").look(0.3)[:2] == (True, 1)
    outcomes = [decision.outcome for decision in one.details()]
    assert outcomes == ["reject", "promote", "promote", "hold"]
    again = begun()
    for ended in (other, again):  # in another process, too, and whatever begins later
        with pytest.raises(EvalError, match=r"details\(\) ended this search"):
            ended.look(0.5)
    assert [decision.delta for decision in again.details()] == [d.delta for d in one.details()]


def test_a_case_that_is_dropped_begins_no_new_search(acceptor, tmp_path):
    policy = {**POLICY, "looks": "spend:1"}

    def begun(cases):
        ledger = LookLedger(tmp_path / "looks.jsonl")
        return acceptor(cases, ledger=ledger, name="search", policy=policy)

    begun(CASES).look(0.05)
    held = set(CASES) - set(begun(CASES).search)
    fewer = begun([case for case in CASES if case != min(held)])
    assert fewer.look(0.5)[:2] == (False, 2)
    fewer.details()
    with pytest.raises(EvalError, match=r"details\(\) ended this search"):
        begun(CASES).look(0.5)


def test_another_number_of_looks_is_not_taken_later(acceptor):
    acceptor(name="search").look(0.05)
    other = acceptor(name="search", policy={**POLICY, "looks": "spend:30"})
    assert not other.look(0.5).accepted
    assert "looks_mismatch" in other.details()[1].reasons


def test_two_threads_get_looks_of_their_own_and_one_incumbent(acceptor):
    one = acceptor(policy={**POLICY, "looks": "spend:8"})
    answers = {}
    threads = [
        threading.Thread(target=lambda q=q: answers.update({q: one.look(q)}))
        for q in (0.2, 0.25, 0.3, 0.35)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answer.look for answer in answers.values()) == [1, 2, 3, 4]
    assert one.incumbent == max(q for q, answer in answers.items() if answer.accepted)


def test_accept_says_nothing_of_a_search_that_is_over(acceptor, ledger):
    one = acceptor(name="search")
    one.look(0.2)
    one.details()
    held = set(CASES) - set(one.search)
    with pytest.raises(EvalError, match="ended this search"):
        accept(measure(0.1, held), measure(0.5, held), ledger=ledger, incumbent="search")
