"""What can be wrong with an RL payload: one type for each fault. Codes are stable; the text is for people."""

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

    def __init_subclass__(cls, code: str | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if code is not None:
            cls.code = code

    @property
    def field(self) -> str:
        """The field at fault; empty if it is the payload as a whole."""
        return self.fields[0] if self.fields else ""

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class MalformedPayload(RlPayloadError, code="malformed_payload"):
    """No JSON, a field that is missing, or a value of another type."""


class ComponentError(RlPayloadError):
    """A part of a bundle that cannot stand for itself."""


class UnsupportedSchemaVersion(ComponentError, code="unsupported_schema_version"):
    """A major version that this benchgate does not know."""


class EmptyIdentifier(ComponentError, code="empty_identifier"):
    """An id that is empty or white space."""


class BlankName(ComponentError, code="blank_name"):
    """An algorithm or a policy version that is empty or white space."""


class EmptyVector(ComponentError, code="empty_vector"):
    """No steps, no advantages, or no returns."""


class StepIndexGap(ComponentError, code="step_index_gap"):
    """A step whose index does not follow that of the step before; the first has index 0."""


class DiscountOutOfRange(ComponentError, code="discount_out_of_range"):
    """A discount factor outside [0, 1]."""


class NonFiniteNumber(ComponentError, code="non_finite_number"):
    """NaN or an infinity, also inside an observation, an action or metadata."""


class VectorLengthMismatch(ComponentError, code="vector_length_mismatch"):
    """``returns`` or ``value_targets`` not as long as ``advantages``."""


class CrossError(RlPayloadError):
    """Two parts of a bundle that do not belong together."""


class TrajectoryIdMismatch(CrossError, code="trajectory_id_mismatch"):
    """The advantages are those of another trajectory."""


class StepCountMismatch(CrossError, code="step_count_mismatch"):
    """Not one advantage for each step."""


class CheckpointBehindTrajectory(CrossError, code="checkpoint_behind_trajectory"):
    """The trajectory has more steps than the checkpoint had seen."""


class CheckpointMismatch(RlPayloadError, code="checkpoint_mismatch"):
    """Evidence about another checkpoint than the one to be promoted."""


class LineageError(RlPayloadError):
    """Checkpoint records that do not lead from a root to the leaf asked for."""


class DuplicateCheckpoint(LineageError, code="duplicate_checkpoint"):
    """Two records with one checkpoint id."""


class UnknownCheckpoint(LineageError, code="unknown_checkpoint"):
    """The leaf is not among the records."""


class InvalidParent(LineageError, code="invalid_parent_checkpoint"):
    """``parent_checkpoint_id`` is there and is neither null nor an id."""


class MissingParent(LineageError, code="missing_parent_checkpoint"):
    """A record names a parent that is not among the records."""


class LineageCycle(LineageError, code="checkpoint_cycle"):
    """A record is its own ancestor."""
