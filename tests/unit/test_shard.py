from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from benchgate.wire.shard import Shard


@given(st.sets(st.text(min_size=1)), st.integers(1, 12))
def test_each_case_is_in_exactly_one_part_and_parts_are_of_one_size(cases, total):
    found = [Shard(number, total).of(cases) for number in range(1, total + 1)]
    assert sorted(case for part in found for case in part) == sorted(cases)
    assert max(map(len, found)) - min(map(len, found)) <= 1


@given(st.lists(st.text(min_size=1), unique=True), st.randoms())
def test_the_order_of_the_cases_does_not_matter(cases, random):
    before = Shard(1, 3).of(cases)
    random.shuffle(cases)
    assert Shard(1, 3).of(cases) == before
