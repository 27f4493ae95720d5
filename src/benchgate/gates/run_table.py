"""What a class says in its ``gate.toml`` about how it is run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from benchgate.wire.argument_types import MAX_DOLLARS
from benchgate.wire.model import MAX_SAFE_INTEGER, Number, Seconds, WireModel
from benchgate.wire.plain import listed


class RunTable(WireModel):
    """
    The table ``[run]`` of a ``gate.toml``: options for runs; decisions depend on ``isolation`` and ``observations``.

    :param observations: of each output, where the class has an observer; odd, so that there is a majority.
    :param pass_env: names of the environment that systems have above ``none``, besides those of the allow list.
    :param observer_env: those that the observer and the rubric have there; a name may be in both.
    :param network: whether a system that is named as ``module:attr`` may use the network at ``sandbox``; one of the
        class has that beside its name in the registration.
    :param reads: further files and folders that it may read there, relative to the folder of the class.
    :param limits: what a system may take there: memory in bytes and processes of its user, for each of its processes,
        and disk in bytes, for the folder of a trial.
    """

    trials: Annotated[int, Field(ge=1, le=MAX_SAFE_INTEGER)] | None = None
    seed: Annotated[int, Field(ge=0, le=MAX_SAFE_INTEGER)] | None = None
    timeout: Seconds | None = None
    jobs: Annotated[int, Field(ge=1, le=MAX_SAFE_INTEGER)] | None = None
    retries: Annotated[int, Field(ge=0, le=MAX_SAFE_INTEGER)] | None = None
    max_rpm: Annotated[int, Field(ge=1, le=MAX_SAFE_INTEGER)] | None = None
    max_cost_usd: Annotated[Number, Field(gt=0, le=MAX_DOLLARS)] | None = None
    stop: Literal["decided", "never"] | None = None
    isolation: Literal["none", "process", "sandbox"] | None = None
    observations: Literal[1, 3, 5, 7, 9] | None = None
    pass_env: Annotated[tuple[str, ...], BeforeValidator(listed)] | None = None
    observer_env: Annotated[tuple[str, ...], BeforeValidator(listed)] | None = None
    network: bool | None = None
    reads: Annotated[tuple[str, ...], BeforeValidator(listed)] | None = None
    limits: Mapping[Literal["memory", "processes", "disk"], Annotated[int, Field(ge=1)]] | None = (
        None
    )
