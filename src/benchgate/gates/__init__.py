"""
Policy and evidence in, a decision out.

What computes with scipy is not imported here: it costs more than all the rest, and only a gate that runs needs it.
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
