"""
The gate: compares a candidate with a baseline under a policy, and decides whether the evidence allows a promotion.

numpy and scipy, which take longer to load than all the rest, are loaded by the first figure that needs them.
"""

from __future__ import annotations

from benchgate.gates.decide import decide
from benchgate.gates.decision import CheckpointPromotionDecision, GateInput, Remark
from benchgate.gates.figures import Arm, Figures, SafetyFigures, Significance
from benchgate.gates.policy import GatePolicy, load_policy, make_policy

__all__ = [
    "Arm",
    "CheckpointPromotionDecision",
    "Figures",
    "GateInput",
    "GatePolicy",
    "Remark",
    "SafetyFigures",
    "Significance",
    "decide",
    "load_policy",
    "make_policy",
]
