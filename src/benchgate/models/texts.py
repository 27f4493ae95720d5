"""What a log says of some cases, for people who want to read it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple


class Said(NamedTuple):
    """The question and the answer of a trial; ``None`` where the log has none."""

    question: str | None = None
    answer: str | None = None


class LogTexts(NamedTuple):
    """
    The texts of some cases of a log.

    :param trials: of each case, in the order of its trials.
    :param question: the field that has the questions, and ``answer`` that of the answers; empty if no case has one.
    """

    trials: Mapping[str, Sequence[Said]]
    question: str = ""
    answer: str = ""


ReadTexts = Callable[[AbstractSet[str]], tuple[LogTexts, LogTexts]]
"""Reads the texts of some cases, by their ids: those of the baseline and those of the candidate."""
