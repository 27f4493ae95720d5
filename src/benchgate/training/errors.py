"""
What can be wrong with an RL payload; the codes are stable, the text is for people.

::

    RlPayloadError
    +-- MalformedPayload                malformed_payload
    +-- ComponentError
    |   +-- UnsupportedSchemaVersion    unsupported_schema_version
    |   +-- EmptyIdentifier             empty_identifier
    |   +-- BlankName                   blank_name
    |   +-- EmptyVector                 empty_vector
    |   +-- StepIndexGap                step_index_gap
    |   +-- DiscountOutOfRange          discount_out_of_range
    |   +-- NonFiniteNumber             non_finite_number
    |   +-- VectorLengthMismatch        vector_length_mismatch
    +-- CrossError
    |   +-- TrajectoryIdMismatch        trajectory_id_mismatch
    |   +-- StepCountMismatch           step_count_mismatch
    |   +-- CheckpointBehindTrajectory  checkpoint_behind_trajectory
    +-- CheckpointMismatch              checkpoint_mismatch
    +-- LineageError
        +-- DuplicateCheckpoint         duplicate_checkpoint
        +-- UnknownCheckpoint           unknown_checkpoint
        +-- InvalidParent               invalid_parent_checkpoint
        +-- MissingParent               missing_parent_checkpoint
        +-- LineageCycle                checkpoint_cycle
"""

from __future__ import annotations

from typing import Any, ClassVar

from benchgate.errors import EvalError


class RlPayloadError(EvalError):
    """
    An RL payload that is no evidence.

    :param message: one line for people; it names every field in :attr:`fields` and its value.
    :param fields: dotted paths from the bundle, such as ``trajectory.steps[3].reward``: the field at fault first,
        then the one it was compared with.
    :param values: what stands there, in the order of ``fields``; for a length, the length.
    """

    code: ClassVar[str] = "rl_payload_error"

    def __init__(
        self, message: str, fields: tuple[str, ...] = (), values: tuple[Any, ...] = ()
    ) -> None:
        self.message = message
        self.fields = fields
        self.values = values
        super().__init__(message, fields, values)  # so that it can be pickled

    @property
    def field(self) -> str:
        """The field at fault; empty if it is the payload as a whole."""
        return self.fields[0] if self.fields else ""

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class MalformedPayload(RlPayloadError):
    """No JSON, a field that is missing, or a value of another type."""

    code = "malformed_payload"


class ComponentError(RlPayloadError):
    """A part of a bundle that cannot stand for itself."""


class UnsupportedSchemaVersion(ComponentError):
    """A major version that this benchgate does not know."""

    code = "unsupported_schema_version"


class EmptyIdentifier(ComponentError):
    """An id that is empty or white space."""

    code = "empty_identifier"


class BlankName(ComponentError):
    """An algorithm or a policy version that is empty or white space."""

    code = "blank_name"


class EmptyVector(ComponentError):
    """No steps, no advantages, or no returns."""

    code = "empty_vector"


class StepIndexGap(ComponentError):
    """A step whose index does not follow that of the step before; the first has index 0."""

    code = "step_index_gap"


class DiscountOutOfRange(ComponentError):
    """A discount factor outside [0, 1]."""

    code = "discount_out_of_range"


class NonFiniteNumber(ComponentError):
    """NaN or an infinity, also inside an observation, an action or metadata."""

    code = "non_finite_number"


class VectorLengthMismatch(ComponentError):
    """``returns`` or ``value_targets`` not as long as ``advantages``."""

    code = "vector_length_mismatch"


class CrossError(RlPayloadError):
    """Two parts of a bundle that do not belong together."""


class TrajectoryIdMismatch(CrossError):
    """The advantages are those of another trajectory."""

    code = "trajectory_id_mismatch"


class StepCountMismatch(CrossError):
    """Not one advantage for each step."""

    code = "step_count_mismatch"


class CheckpointBehindTrajectory(CrossError):
    """The trajectory has more steps than the checkpoint had seen."""

    code = "checkpoint_behind_trajectory"


class CheckpointMismatch(RlPayloadError):
    """Evidence about another checkpoint than the one to be promoted."""

    code = "checkpoint_mismatch"


class LineageError(RlPayloadError):
    """Checkpoint records that do not lead from a root to the leaf asked for."""


class DuplicateCheckpoint(LineageError):
    """Two records with one checkpoint id."""

    code = "duplicate_checkpoint"


class UnknownCheckpoint(LineageError):
    """The leaf is not among the records."""

    code = "unknown_checkpoint"


class InvalidParent(LineageError):
    """``parent_checkpoint_id`` is there and is neither null nor an id."""

    code = "invalid_parent_checkpoint"


class MissingParent(LineageError):
    """A record names a parent that is not among the records."""

    code = "missing_parent_checkpoint"


class LineageCycle(LineageError):
    """A record is its own ancestor."""

    code = "checkpoint_cycle"
