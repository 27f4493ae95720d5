"""Which way to decide fits a policy and its data: the first row of a table that applies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from benchgate.gates.counts import MOST_COUNTED, Counts, can_be_counted
from benchgate.gates.pairs import ConstantPairs, Pairs
from benchgate.gates.pass_fail import MOST_PAIRS, PassFail, pass_fail_counts
from benchgate.gates.two_samples import ConstantSamples, TwoSamples
from benchgate.gates.without_test import CaseByCase, TooFewCases

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.gates.compared import Compared
    from benchgate.gates.inference import Inference


class Row(NamedTuple):
    """
    A way to decide.

    :param applies: whether it can decide, if no row above it does.
    :param reason: the same in words, for the table of docs/explanation/statistics.md.
    :param what: what decides then.
    """

    way: type[Inference]
    applies: Callable[[Compared], bool]
    reason: str
    what: str


def _is_about_these_cases(compared: Compared) -> bool:
    return compared.policy.claim == "no_regression"


def _is_too_small(compared: Compared) -> bool:
    return compared.size < 2


def _are_independent_changes(compared: Compared) -> bool:
    # The exact test takes cases for independent.
    return not compared.is_clustered and pass_fail_counts(compared) is not None


def _are_constant_pairs(compared: Compared) -> bool:
    return compared.compares_pairs and compared.has_constant_pairs


def _are_pairs(compared: Compared) -> bool:
    return compared.compares_pairs


def _has_constant_side(compared: Compared) -> bool:
    return compared.has_constant_side


def _always(_: Compared) -> bool:
    return True


WAYS: Final = (
    Row(
        CaseByCase,
        _is_about_these_cases,
        reason="The claim is `no_regression`",
        what="each case by itself; no test",
    ),
    Row(
        TooFewCases,
        _is_too_small,
        reason="A side has fewer than two cases",
        what="nothing can be shown",
    ),
    Row(
        Counts,
        can_be_counted,
        reason=f"Two numbers of passes such as `14/20`, of at most {MOST_COUNTED} cases each",
        what="Boschloo's exact test",
    ),
    Row(
        PassFail,
        _are_independent_changes,
        reason=f"Same cases on both sides, at most {MOST_PAIRS}, all scores 0 or 1, no clusters",
        what="the exact test of pass and fail",
    ),
    Row(
        ConstantPairs,
        _are_constant_pairs,
        reason="Same cases on both sides, all differences equal",
        what="the exact bound, and the paired test if it has a p",
    ),
    Row(
        Pairs,
        _are_pairs,
        reason="Same cases on both sides",
        what="the paired test: sign flips with a guard against skew",
    ),
    Row(
        ConstantSamples,
        _has_constant_side,
        reason='Different cases or `test = "welch"`, all scores of a side equal',
        what="the exact bound, and Welch's test if it has a p",
    ),
    Row(
        TwoSamples,
        _always,
        reason='Different cases or `test = "welch"`',
        what="Welch's test with a guard against skew",
    ),
)
"""The ways to decide, the most special first; the last one always applies."""

TESTS_OF_MEANS: Final = tuple(row for row in WAYS if row.way not in (CaseByCase, Counts, PassFail))
"""Those that compare means whatever the claim is, and so never count gains and losses."""


def deciding(compared: Compared, ways: tuple[Row, ...] = WAYS) -> Inference:
    """Return the way that decides about the claim of the policy."""
    row = next(row for row in ways if row.applies(compared))
    return row.way(compared)


def pairs_of(compared: Compared) -> Pairs:
    """Return the test of the pairs, whatever decides."""
    if compared.has_constant_pairs:
        return ConstantPairs(compared)
    return Pairs(compared)


def samples_of(compared: Compared) -> TwoSamples:
    """Return the test of two samples, whatever decides."""
    if compared.has_constant_side:
        return ConstantSamples(compared)
    return TwoSamples(compared)
