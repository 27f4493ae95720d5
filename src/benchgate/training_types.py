"""
RL payloads: one episode as evidence about a policy checkpoint.

A system under test returns ``{"rl_payload": {"trajectory": ..., "advantages": ..., "checkpoint": ...}}``. Building the
models checks types; :meth:`RlPayloadBundle.validate_bundle` then checks values and raises the first error. Each kind of
fault has its own error class below :class:`RlPayloadError`.
"""

from __future__ import annotations

from benchgate.training.bundle import (
    RlPayloadBundle,
    advantage_errors,
    checkpoint_errors,
    trajectory_errors,
)
from benchgate.training.errors import (
    ERRORS,
    ComponentError,
    CrossError,
    LineageError,
    RlPayloadError,
)
from benchgate.training.lineage import (
    PARENT_KEY,
    check_belongs,
    check_in_lineage,
    resolve_checkpoint_lineage,
)
from benchgate.training.payloads import (
    AdvantageBatch,
    CheckpointRecord,
    EpisodeTrajectory,
    TrajectoryStep,
)
from benchgate.training.reading import read_checkpoint, validate_payload_file, validate_rl_payload

__all__ = [
    "PARENT_KEY",
    "AdvantageBatch",
    "BlankName",
    "CheckpointBehindTrajectory",
    "CheckpointMismatch",
    "CheckpointRecord",
    "ComponentError",
    "CrossError",
    "DiscountOutOfRange",
    "DuplicateCheckpoint",
    "EmptyIdentifier",
    "EmptyVector",
    "EpisodeTrajectory",
    "InvalidParent",
    "LineageCycle",
    "LineageError",
    "MalformedPayload",
    "MissingParent",
    "NonFiniteNumber",
    "RlPayloadBundle",
    "RlPayloadError",
    "StepCountMismatch",
    "StepIndexGap",
    "TrajectoryIdMismatch",
    "TrajectoryStep",
    "UnknownCheckpoint",
    "UnsupportedSchemaVersion",
    "VectorLengthMismatch",
    "advantage_errors",
    "check_belongs",
    "check_in_lineage",
    "checkpoint_errors",
    "read_checkpoint",
    "resolve_checkpoint_lineage",
    "trajectory_errors",
    "validate_payload_file",
    "validate_rl_payload",
]

MalformedPayload = ERRORS["malformed_payload"]
UnsupportedSchemaVersion = ERRORS["unsupported_schema_version"]
EmptyIdentifier = ERRORS["empty_identifier"]
EmptyVector = ERRORS["empty_vector"]
BlankName = ERRORS["blank_name"]
StepIndexGap = ERRORS["step_index_gap"]
DiscountOutOfRange = ERRORS["discount_out_of_range"]
NonFiniteNumber = ERRORS["non_finite_number"]
VectorLengthMismatch = ERRORS["vector_length_mismatch"]
TrajectoryIdMismatch = ERRORS["trajectory_id_mismatch"]
StepCountMismatch = ERRORS["step_count_mismatch"]
CheckpointBehindTrajectory = ERRORS["checkpoint_behind_trajectory"]
CheckpointMismatch = ERRORS["checkpoint_mismatch"]
DuplicateCheckpoint = ERRORS["duplicate_checkpoint"]
UnknownCheckpoint = ERRORS["unknown_checkpoint"]
InvalidParent = ERRORS["invalid_parent_checkpoint"]
MissingParent = ERRORS["missing_parent_checkpoint"]
LineageCycle = ERRORS["checkpoint_cycle"]
