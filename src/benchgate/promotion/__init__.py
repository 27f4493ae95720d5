"""Trust tiers, and whether a run is evidence enough for one. Read-only: a person promotes."""

from __future__ import annotations

from benchgate.promotion.tiers import TIER_FILE, TIERS, Tier, TierConfig, TierThresholds
from benchgate.promotion.verdict import PromotionGate, PromotionVerdict, TierBar

__all__ = [
    "TIERS",
    "TIER_FILE",
    "PromotionGate",
    "PromotionVerdict",
    "Tier",
    "TierBar",
    "TierConfig",
    "TierThresholds",
]
