"""
All that a decision follows from.

A fact is what was read from somebody else: systems, files, people, further gates, the chain of records. Nothing in it
follows from something else in it, and nothing outside of it decides. What facts come to together is computed by
:mod:`.comparison`; the record of a run has its facts, so that ``benchgate verify`` decides once more.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final

from benchgate.gates.rules import RULES

if TYPE_CHECKING:
    from benchgate.gates.decision import Blocker, Objection
    from benchgate.gates.figures import Arm
    from benchgate.gates.labels import Label
    from benchgate.gates.looks import Look, RecordedLook
    from benchgate.gates.policy import GatePolicy
    from benchgate.gates.run_side import BaselineFacts, RerunBaseline
    from benchgate.models import BenchRunReport
    from benchgate.training.episodes import Episode


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """
    What is known wherever two sides are compared.

    :param policy: as it was stated.
    :param look: this look at the baseline; ``None`` if it is none, or nobody counts.
    :param checkpoint_problems: why the scores are not evidence about the candidate's checkpoint.
    :param objections: of further gates.
    """

    policy: GatePolicy
    look: Look | None = None
    checkpoint_problems: tuple[str, ...] = ()
    objections: tuple[Objection, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorFacts(Facts):
    """
    What is known of two lists of scores.

    :param sides: baseline and candidate.
    :param noted: notes on what they were read from.
    :param blockers: of a run whose record is not there, the conditions that failed and that no scores tell.
    :param over_seen: of such a run, the outcome over the cases of all looks; ``None`` if these were as they had been.
    :param new_cases: of such a run, that it would be no promotion if the baseline had solved the new cases.
    """

    sides: tuple[Arm, Arm]
    noted: tuple[Blocker, ...] = ()
    blockers: tuple[Blocker, ...] = ()
    over_seen: str | None = None
    new_cases: tuple[Blocker, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts(Facts):
    """
    What is known of a full run, its own or the log of another harness.

    :param baseline: what it is to be compared with: a file, or a run in the same session; ``None`` if there is nothing.
    :param labels: what people say of outputs, with what the observer has these at.
    :param episodes: of the RL payloads of scored trials.
    :param replays: what the outputs were taken from; ``None`` if a system was called.
        Its model is on a floor above, and a decision only shows it.
    :param rules: number of the rules by which it is decided, see :mod:`.rules`.
    """

    report: BenchRunReport
    baseline: BaselineFacts | RerunBaseline | None
    look: RecordedLook | None = None
    labels: tuple[Label, ...] = ()
    episodes: tuple[Episode, ...] = ()
    replays: object | None = None
    rules: int = RULES

    @property
    def beside(self) -> BenchRunReport | None:
        """The report of a baseline that ran in the same session, or of its log; ``None`` if there is none."""
        if self.baseline is None:
            return None
        from benchgate.gates.run_side import RerunBaseline

        if isinstance(self.baseline, RerunBaseline):
            return self.baseline.report
        return None


IN_RECORD: Final = tuple(field.name for field in fields(RunFacts))
"""The facts of a run by name, as its record has them."""
