"""What is said of one trial, apart from the others of its run."""

from __future__ import annotations

import pytest

from benchgate.aggregate import cost_of, set_aside
from benchgate.models import BenchScore, Observed, TrialResult
from benchgate.wire.usage import Usage

KNOWN = (None, 0.0, 0.5)


@pytest.mark.parametrize("system", KNOWN)
@pytest.mark.parametrize("observer", KNOWN)
@pytest.mark.parametrize("judging", [0.0, 0.25])
def test_a_trial_that_is_set_aside_has_the_cost_that_it_had(system, observer, judging):
    result = TrialResult(
        case_id="01",
        trial=0,
        seed=7,
        held_out=False,
        outcome="scored",
        score=BenchScore(passed=True, score=1.0, cost_usd=judging),
        usage=Usage(cost_usd=system, tokens_in=3),
        observed=Observed(output="0" * 64, usage=Usage(cost_usd=observer)),
    )
    aside = set_aside(result)
    assert (aside.outcome, aside.score, cost_of(aside)) == ("not_run", None, cost_of(result))
    assert set_aside(aside) == aside  # as its file has it, if it is written as it counts
