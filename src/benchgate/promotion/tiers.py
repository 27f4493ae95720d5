"""Reads the trust tiers of task classes from the file that people edit; nothing in benchgate writes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Literal

from pydantic import Field, model_validator

from benchgate.errors import TierFileError
from benchgate.wire.model import TextsByName, UnitInterval, WireModel, empty_mapping
from benchgate.wire.toml import check_tables, read_toml

if TYPE_CHECKING:
    from pathlib import Path

Tier = Literal["bronze", "silver", "gold", "platinum"]
TIERS: Final[tuple[Tier, ...]] = ("bronze", "silver", "gold", "platinum")
"""Lowest trust first."""

TIER_FILE: Final = "docs/trust-tiers.toml"
"""The file of tiers, relative to the parent folder of the bench root."""


def next_tier(tier: Tier) -> Tier:
    """Return the tier above, for the highest tier that tier itself."""
    return TIERS[min(TIERS.index(tier) + 1, len(TIERS) - 1)]


class TierThresholds(WireModel):
    """Lower bound of the mean score, in [0, 1], that each tier requires; bronze requires none."""

    silver: UnitInterval = 0.70
    gold: UnitInterval = 0.85
    platinum: UnitInterval = 0.95

    @model_validator(mode="after")
    def _higher_tiers_ask_for_more(self) -> TierThresholds:
        if not self.silver <= self.gold <= self.platinum:
            msg = "must not fall from silver to gold to platinum"
            raise ValueError(msg)
        return self


class TierConfig(WireModel):
    """
    The content of ``docs/trust-tiers.toml``.

    :param current: tier of each task class; a class that is not listed is bronze.
    """

    thresholds: TierThresholds = Field(default_factory=TierThresholds)
    current: TextsByName[Mapping[str, Tier]] = Field(default_factory=empty_mapping)

    def threshold(self, tier: Tier) -> float:
        """Return the lower bound of the mean score that a tier requires."""
        if tier == "bronze":
            return 0.0
        return float(getattr(self.thresholds, tier))

    def tier_of(self, task_class: str) -> Tier:
        """Return the current tier of a task class."""
        return self.current.get(task_class, "bronze")

    @classmethod
    def read(cls, path: Path) -> TierConfig:
        """
        Read the file of tiers.

        :raises TierFileError: it is missing or malformed, or has unknown keys or tiers; lists every fault.
        """
        tables, lines = read_toml(path, TierFileError)
        return check_tables(path, tables, lines, cls, TierFileError)
