"""The input and the result of the gate, and its reason codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from pydantic import Field

from benchgate.gates.looks import JudgedLook
from benchgate.wire.model import DisplayText, Number, WireModel

if TYPE_CHECKING:
    from benchgate.gates.figures import Figures
    from benchgate.gates.labels import Label
    from benchgate.gates.looks import Look, RecordedLook
    from benchgate.gates.policy import GatePolicy
    from benchgate.gates.run_side import BaselineFacts
    from benchgate.models import BenchRunReport
    from benchgate.training.episodes import Episode


PREFIX: Final = "checkpoint_promotion_blocked_"
Outcome = Literal["promote", "hold", "reject"]
Blocker = tuple[str, str]
"""A reason code without its prefix, and its message."""


class Remark(WireModel):
    """A reason or a note: its code, and a sentence with the numbers of this run."""

    code: DisplayText
    message: DisplayText


class Objection(WireModel):
    """What a further gate says against a run."""

    gate: DisplayText
    text: DisplayText


class CheckpointPromotionDecision(WireModel):
    """
    The decision of the gate.

    :param outcome: ``promote``; ``reject`` if there is evidence against the candidate; else ``hold``.
    :param promotion_allowed: the outcome is ``promote``; a person may promote, nothing does it by itself.
    :param reason_codes: every failed condition, in fixed order; empty iff ``promote``.
    :param notes: codes of what a reader of the decision should know; they never block.
    :param remarks: a sentence for each reason, then for each note.
    :param minimum_detectable_effect: the difference that a comparison of this size would have detected.
    :param next_step: of a ``hold``: what to do first about it; of a rejection that chance may explain, what tells.
    :param look: how often the baseline was looked at; ``None`` if nobody counts, or this is no look.
    :param certificate: of a run that stopped early, why no result of the rest could have promoted it; left out else.
    """

    outcome: Outcome
    promotion_allowed: bool
    reason_codes: tuple[str, ...]
    notes: tuple[str, ...]
    remarks: tuple[Remark, ...]
    minimum_detectable_effect: Number | None
    next_step: DisplayText | None = None
    look: JudgedLook | None = None
    certificate: tuple[Remark, ...] = Field(default=(), exclude_if=lambda found: not found)


@dataclass(frozen=True, slots=True, kw_only=True)
class GateInput:
    """
    Everything that a decision depends on.

    :param policy: as it was stated; its figures are those at the level of the look.
    :param trial_count: trials of each case.
    :param figures: of the comparison; ``None`` if there was nothing to compare with.
    :param look: this look at the baseline; ``None`` if it is none, or nobody counts.
    :param over_seen: the outcome over the cases of all looks; ``None`` if these are as they were.
    :param blockers: conditions that failed before any statistics, such as a missing baseline.
    :param objections: of further gates; one is enough for ``hold``.
    :param noted: notes that follow from the runs and not from the figures.
    :param cure: what makes complete what is incomplete: the run, or else its baseline; ``None`` if both are complete.
    :param with_new: the figures with the cases that the baseline lacks, which it would have solved; ``None`` without.
    :param of_size: of a run that stopped early the figures of its baseline against itself, which say whether a
        comparison of this size can promote at its look.
    :param certificate: of such a run, why no result of the rest could have promoted it.
    :param is_log: the results were read from the log of another harness.
    """

    policy: GatePolicy
    trial_count: int = 1
    figures: Figures | None = None
    look: Look | None = None
    over_seen: str | None = None
    blockers: tuple[Blocker, ...] = ()
    objections: tuple[Objection, ...] = ()
    noted: tuple[Blocker, ...] = ()
    is_log: bool = False
    cure: str | None = None
    with_new: Figures | None = None
    of_size: Figures | None = None
    certificate: tuple[Remark, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """
    All that the decision on a full run follows from. A record has it too, so that ``verify`` decides once more.

    :param baseline: what the run is to be compared with; ``None`` if there is nothing.
    :param beside: the report of a baseline that ran in the same session.
    :param look: this look at the baseline; ``None`` if it is none, or nobody counts.
    :param checkpoint_problems: why the run is not evidence about its checkpoint.
    :param objections: of further gates.
    :param episodes: of the RL payloads of scored trials.
    """

    report: BenchRunReport
    policy: GatePolicy
    baseline: BaselineFacts | None
    beside: BenchRunReport | None
    look: RecordedLook | None
    checkpoint_problems: tuple[str, ...]
    objections: tuple[Objection, ...]
    episodes: tuple[Episode, ...]
    replays: object | None
    labels: tuple[Label, ...] = ()
