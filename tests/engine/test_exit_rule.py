"""A promotion does not hide that cases failed, and says what would make the gate alone decide."""

from __future__ import annotations

import pytest

from benchgate.gates.baseline import BaselineChoice
from benchgate.gates.decision import CheckpointPromotionDecision
from benchgate.gates.exit_status import failures


@pytest.mark.parametrize(
    ("outcome", "hint"),
    [("promote", "; --bench-exit=gate goes by the gate alone"), ("hold", "")],
)
def test_failed_cases_beside_a_promotion_name_the_option(echo, outcome, hint):
    echo.instead["02"] = ValueError("boom")
    report = echo.run(baseline=None).judgement.report
    decision = CheckpointPromotionDecision.model_construct(outcome=outcome)
    choice = BaselineChoice(path=None, binding=True, requested=True)
    assert list(failures(report, decision, choice, "strict"))[-1] == f"1 of 3 cases failed{hint}"
    assert not any("cases failed" in why for why in failures(report, decision, choice, "gate"))
