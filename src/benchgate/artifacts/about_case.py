"""What a record says of a case besides its results, so that it can be read where the bench is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.artifacts.run_kinds import AboutCase

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.models import BenchCase


def about(case: BenchCase, texts: Mapping[str, str]) -> AboutCase:
    """
    Describe a case.

    :param texts: the beginnings of its input files, by name.
    """
    return AboutCase(
        disposition=case.disposition,
        difficulty=case.difficulty,
        tags=case.tags,
        input=dict(texts),
    )
