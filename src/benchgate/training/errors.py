"""
The errors of RL payloads: a class for each code of :data:`CODES`. Codes are stable; messages are for people.

Code of this package names errors by their codes, see :func:`fault`; others catch the classes, which
:mod:`benchgate.training_types` has by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from benchgate.errors import EvalError, excerpt, printable

if TYPE_CHECKING:
    from collections.abc import Mapping


class RlPayloadError(EvalError):
    """
    An RL payload that cannot be used as evidence. Base class; catch a subclass to handle one code.

    :param message: one line for people; it names every field in :attr:`fields` and its value.
    :param fields: dotted paths in the bundle, such as ``trajectory.steps[3].reward``: the field at fault first, then
        the field that it was compared with.
    :param values: the values of ``fields``, in the same order; for a length, the length.
    """

    code: ClassVar[str] = "rl_payload_error"

    def __init__(
        self, message: str, fields: tuple[str, ...] = (), values: tuple[Any, ...] = ()
    ) -> None:
        self.message = excerpt(message)
        self.fields = fields
        self.values = values
        super().__init__(message, fields, values)  # pickle passes these to __init__

    @property
    def field(self) -> str:
        """The field at fault; empty if the payload as a whole is."""
        if not self.fields:
            return ""
        return self.fields[0]

    def __str__(self) -> str:
        return printable(f"{self.code}: {self.message}")


class ComponentError(RlPayloadError):
    """A fault within one part of a bundle, whatever the other parts are."""


class CrossError(RlPayloadError):
    """Two parts of a bundle contradict each other."""


class LineageError(RlPayloadError):
    """Checkpoint records from which no lineage, from a root to the given leaf, can be built."""


CODES: Final[Mapping[str, tuple[str, type[RlPayloadError]]]] = {
    "malformed_payload": ("MalformedPayload", RlPayloadError),
    "unsupported_schema_version": ("UnsupportedSchemaVersion", ComponentError),
    "empty_identifier": ("EmptyIdentifier", ComponentError),
    "empty_vector": ("EmptyVector", ComponentError),
    "blank_name": ("BlankName", ComponentError),
    "step_index_gap": ("StepIndexGap", ComponentError),
    "discount_out_of_range": ("DiscountOutOfRange", ComponentError),
    "non_finite_number": ("NonFiniteNumber", ComponentError),
    "vector_length_mismatch": ("VectorLengthMismatch", ComponentError),
    "trajectory_id_mismatch": ("TrajectoryIdMismatch", CrossError),
    "step_count_mismatch": ("StepCountMismatch", CrossError),
    "checkpoint_behind_trajectory": ("CheckpointBehindTrajectory", CrossError),
    "checkpoint_mismatch": ("CheckpointMismatch", RlPayloadError),
    "duplicate_checkpoint": ("DuplicateCheckpoint", LineageError),
    "unknown_checkpoint": ("UnknownCheckpoint", LineageError),
    "invalid_parent_checkpoint": ("InvalidParent", LineageError),
    "missing_parent_checkpoint": ("MissingParent", LineageError),
    "checkpoint_cycle": ("LineageCycle", LineageError),
}
"""Name and base of the class of each code. ``docs/reference/rl-payloads.md`` says what each one means."""


def _class_of(code: str) -> type[RlPayloadError]:
    name, base = CODES[code]
    body = {
        "code": code,
        "__doc__": f"Has the code ``{code}``; the page on RL payloads says what it means.",
        "__module__": "benchgate.training_types",  # where pickle finds it
    }
    made: type[RlPayloadError] = type(name, (base,), body)
    return made


ERRORS: Final = {code: _class_of(code) for code in CODES}
"""The class of each code."""


def fault(
    code: str, values: Mapping[str, Any], expectation: str = "expected that of"
) -> RlPayloadError:
    """
    Return the error of a field, by its path and value.

    :param values: the field at fault; then the one that it was compared with, which ends the message.
    """
    (field, value), *others = values.items()
    shown = repr(value)
    if value == ():
        shown = "[]"  # as the file has an empty vector
    message = f"{field} is {shown}; {expectation}"
    message += "".join(f" {name}, {other!r}" for name, other in others)
    return ERRORS[code](message, tuple(values), tuple(values.values()))
