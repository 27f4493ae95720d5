"""The ``[facts]`` table of a case: what makes the case difficult, and where its facts come from."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

# TOML has arrays, the model has tuples.
_Strings = Annotated[tuple[str, ...], Field(strict=False, min_length=1)]


OWN = "Apache-2.0"


class MigrationFacts(BaseModel):
    """
    Facts of one Dockerfile to migrate.

    :param trap: the difficulty, in one word.
    :param what: the difficulty, in one sentence.
    :param from_images: the base images of the input.
    :param tags: ``free`` if only ``latest`` and ``latest-dev`` can be pulled, ``paid`` if the organisation has others.
    :param licence: SPDX identifier of what the case is derived from.
    :param credit: whom to name; needed under any licence but that of this repository.
    :param sources: names and dates of the snapshots that the expected answer is derived from.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    trap: Annotated[str, Field(pattern=r"^[a-z0-9-]+$")]
    what: str
    from_images: _Strings
    tags: Literal["free", "paid"]
    organisation: str
    sources: _Strings
    licence: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.+-]*$")]
    credit: str = ""

    @model_validator(mode="after")
    def _credited(self) -> MigrationFacts:
        if self.licence != OWN and not self.credit:
            msg = f"credit: who is owed it under {self.licence}"
            raise ValueError(msg)
        return self
