"""The errors of RL payloads, a class for each kind of fault. Codes are stable; messages are for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from benchgate.errors import EvalError, excerpt, printable

if TYPE_CHECKING:
    from collections.abc import Mapping


class RlPayloadError(EvalError):
    """
    An RL payload that cannot be used as evidence. Base class; catch a subclass to handle one kind of fault.

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

    @classmethod
    def of(cls, values: Mapping[str, Any], expectation: str = "expected that of") -> Self:
        """
        Return the error of a field, by its path and value.

        :param values: the field at fault; then the one that it was compared with, which ends the message.
        """
        (field, value), *others = values.items()
        message = f"{field} is {list(value) if value == () else value!r}; {expectation}"
        message += "".join(f" {name}, {other!r}" for name, other in others)
        return cls(message, tuple(values), tuple(values.values()))

    def __init_subclass__(cls, code: str | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if code is not None:
            cls.code = code

    @property
    def field(self) -> str:
        """The field at fault; empty if the payload as a whole is."""
        return self.fields[0] if self.fields else ""

    def __str__(self) -> str:
        return printable(f"{self.code}: {self.message}")


class MalformedPayload(RlPayloadError, code="malformed_payload"):
    """Not JSON, a missing field, or a value of the wrong type; nothing else was checked then."""


class ComponentError(RlPayloadError):
    """A fault within one part of a bundle, whatever the other parts are."""


class UnsupportedSchemaVersion(ComponentError, code="unsupported_schema_version"):
    """A ``schema_version`` that this version of benchgate cannot read."""


class EmptyIdentifier(ComponentError, code="empty_identifier"):
    """An id that is empty or white space."""


class BlankName(ComponentError, code="blank_name"):
    """An algorithm or a policy version that is empty or white space."""


class EmptyVector(ComponentError, code="empty_vector"):
    """No steps, no advantages, or no returns."""


class StepIndexGap(ComponentError, code="step_index_gap"):
    """A step whose index is not one more than that of the step before; the first has index 0."""


class DiscountOutOfRange(ComponentError, code="discount_out_of_range"):
    """A discount factor outside [0, 1]."""


class NonFiniteNumber(ComponentError, code="non_finite_number"):
    """NaN or infinity, also within an observation, an action or metadata."""


class VectorLengthMismatch(ComponentError, code="vector_length_mismatch"):
    """``returns`` or ``value_targets`` has another length than ``advantages``."""


class CrossError(RlPayloadError):
    """Two parts of a bundle contradict each other."""


class TrajectoryIdMismatch(CrossError, code="trajectory_id_mismatch"):
    """The advantages belong to another trajectory."""


class StepCountMismatch(CrossError, code="step_count_mismatch"):
    """The number of advantages is not the number of steps."""


class CheckpointBehindTrajectory(CrossError, code="checkpoint_behind_trajectory"):
    """The trajectory has more steps than the checkpoint was trained on."""


class CheckpointMismatch(RlPayloadError, code="checkpoint_mismatch"):
    """The evidence is about another checkpoint than the one to be promoted."""


class LineageError(RlPayloadError):
    """Checkpoint records from which no lineage, from a root to the given leaf, can be built."""


class DuplicateCheckpoint(LineageError, code="duplicate_checkpoint"):
    """Two records with the same checkpoint id."""


class UnknownCheckpoint(LineageError, code="unknown_checkpoint"):
    """The leaf is not among the records."""


class InvalidParent(LineageError, code="invalid_parent_checkpoint"):
    """``parent_checkpoint_id`` is neither null nor an id."""


class MissingParent(LineageError, code="missing_parent_checkpoint"):
    """A record names a parent that is not among the records."""


class LineageCycle(LineageError, code="checkpoint_cycle"):
    """A record is its own ancestor."""
