"""What a class says in its ``gate.toml`` about how it is run."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - RunTable reads it
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field, create_model

from benchgate.options.table import RUN_OPTIONS
from benchgate.wire.model import EXACT, WireModel
from benchgate.wire.plain import listed

if TYPE_CHECKING:
    from benchgate.options.kinds import Kind

OPTIONS_OF_CLASS: Final = tuple(option for option in RUN_OPTIONS if option.of_class)
"""The options that a class may set for its runs."""


def _type_of(kind: Kind) -> Any:
    """Return the type of a field that takes what options of a kind take."""
    if kind.words:
        return Literal[kind.words]
    limits = Field(ge=kind.low, gt=kind.above, le=kind.high)
    if kind.convert is int:
        return Annotated[int, limits]
    return Annotated[float, limits, EXACT]


if TYPE_CHECKING:
    _OfOptions = WireModel  # what is made of a table has no fields that a type checker could see
else:
    _OfOptions = create_model(
        "_OfOptions",
        __base__=WireModel,
        **{option.key: (_type_of(option.kind) | None, None) for option in OPTIONS_OF_CLASS},
    )


class RunTable(_OfOptions):
    """
    The table ``[run]`` of a ``gate.toml``: options for runs; decisions depend on ``isolation`` and ``observations``.

    Its fields are those below, and before them one for each option that a class may set.

    :param observations: of each output, where the class has an observer; odd, so that there is a majority.
    :param pass_env: names of the environment that systems have above ``none``, besides those of the allow list.
    :param observer_env: those that the observer and the rubric have there; a name may be in both.
    :param network: whether a system that is named as ``module:attr`` may use the network at ``sandbox``; one of the
        class has that beside its name in the registration.
    :param reads: further files and folders that it may read there, relative to the folder of the class.
    :param limits: what a system may take there: memory in bytes and processes of its user, for each of its processes,
        and disk in bytes, for the folder of a trial.
    """

    observations: Literal[1, 3, 5, 7, 9] | None = None
    pass_env: Annotated[tuple[str, ...], BeforeValidator(listed)] | None = None
    observer_env: Annotated[tuple[str, ...], BeforeValidator(listed)] | None = None
    network: bool | None = None
    reads: Annotated[tuple[str, ...], BeforeValidator(listed)] | None = None
    limits: Mapping[Literal["memory", "processes", "disk"], Annotated[int, Field(ge=1)]] | None = (
        None
    )

    @property
    def options(self) -> dict[str, Any]:
        """The options that the class sets, by their keys."""
        values = {option.key: getattr(self, option.key) for option in OPTIONS_OF_CLASS}
        return {key: value for key, value in values.items() if value is not None}
