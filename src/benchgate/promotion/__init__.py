"""Trust tiers, and whether a run is sufficient evidence for one. Nothing here promotes: a person does."""

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
