"""Trust tiers, and whether a run is sufficient evidence for one. Nothing here promotes: a person does."""

from benchgate.promotion.tiers import TierConfig
from benchgate.promotion.verdict import PromotionGate

__all__ = ["PromotionGate", "TierConfig"]
