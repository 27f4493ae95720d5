"""The ``[facts]`` table of a case: what makes the case difficult, and where its facts come from."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

# TOML has arrays, the model has tuples.
_Strings = Annotated[tuple[str, ...], Field(strict=False, min_length=1)]


class MigrationFacts(BaseModel):
    """
    Facts of one Dockerfile to migrate.

    :param trap: the difficulty, in one word.
    :param what: the difficulty, in one sentence.
    :param from_images: the base images of the input.
    :param tags: ``free`` if only ``latest`` and ``latest-dev`` can be pulled, ``paid`` if the organisation has others.
    :param sources: names and dates of the snapshots that the expected answer is derived from.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    trap: Annotated[str, Field(pattern=r"^[a-z0-9-]+$")]
    what: str
    from_images: _Strings
    tags: Literal["free", "paid"]
    organisation: str
    sources: _Strings
    licence: Literal["Apache-2.0"]
