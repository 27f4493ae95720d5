"""All templates of sentences, by name."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from benchgate.sentences.harm import HARM
from benchgate.sentences.notes import NOTES
from benchgate.sentences.reasons import REASONS
from benchgate.sentences.runs import RUNS
from benchgate.sentences.steps import STEPS

if TYPE_CHECKING:
    from collections.abc import Mapping

TABLES: Final = (REASONS, HARM, NOTES, STEPS, RUNS)

TEMPLATES: Final[Mapping[str, str]] = MappingProxyType(
    {name: template for table in TABLES for name, template in table.items()}
)
