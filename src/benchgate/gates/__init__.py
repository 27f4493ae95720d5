"""
The gate: compares a candidate with a baseline under a policy, and decides whether the evidence allows a promotion.

numpy and scipy, which take longer to load than all the rest, are loaded by the first figure that needs them.
"""

from benchgate.gates.policy import GatePolicy

__all__ = ["GatePolicy"]
