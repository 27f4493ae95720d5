"""
By which rule results that are there already are taken over: a row for each way to ask for it.

A result is one of a plan. If the plan of now is another one in a field that the rule names, nothing is taken over, and
:class:`~benchgate.errors.PlanChanged` says each field that differs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from benchgate.cassettes.manifest import CassetteManifest
from benchgate.errors import PlanChanged, counted, few
from benchgate.models.case import changes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from benchgate.artifacts.trial_kinds import PlanFile
    from benchgate.ids import RunPlan

    Plan = PlanFile | CassetteManifest | RunPlan

DIGEST: Final = "digest of the {}"
DIGESTS: Final = ("rubric", "taxonomy", "system", "policy", "baseline", "checkpoint")
FIELDS: Final = (
    "task_class",
    "benchgate",
    "system",
    "trial_count",
    "seed",
    "timeout_seconds",
    "isolation_class",
    "reads",
    "replays",
    "baseline_system",
    "observer",
    *map(DIGEST.format, DIGESTS),
)
"""All of a plan that a result depends on besides its case, in the order in which differences are told."""
EVERYTHING: Final = frozenset(FIELDS)


TAKEN: Final = ("nothing", "answer", "observations", "score")
"""How much of a trial is taken over: each word includes those before it."""
Taken = Literal["nothing", "answer", "observations", "score"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRule:
    """
    Which plans results may be from.

    :param done: what cannot be done with the results if the plan is another one.
    :param same: the fields that must be equal.
    :param more_trials: whether a case may have more trials than are needed now.
    :param new: whether a case that is new is a difference; ``gone`` and ``changed`` likewise.
    """

    done: str
    same: frozenset[str]
    more_trials: bool = False
    new: bool = False
    gone: bool = False
    changed: bool = True

    def check(self, where: Path, then: Plan, now: Plan, others: Iterable[str] = ()) -> None:
        """
        Check that results may be taken over.

        :param where: they are.
        :param others: differences of the results themselves.
        :raises PlanChanged: names each difference.
        """
        differences = [*self.differences(then, now), *others]
        if differences:
            raise PlanChanged(where, differences, self.done)

    def differences(self, then: Plan, now: Plan) -> Iterator[str]:
        """Yield why results of one plan are none of another, a line for each difference."""
        before, after = _terms(then), _terms(now)
        for name in FIELDS:
            if name not in self.same or name not in before.facts:
                continue
            old, new = before.facts[name], after.facts[name]
            if name == "trial_count" and self.more_trials:
                if old < new:
                    yield f"each case has {counted(old, 'trial')}, and {new} are asked for"
            elif old != new:
                yield from _lines(name, old, new)
        yield from self._other_cases(before, after)

    def _other_cases(self, before: _Terms, after: _Terms) -> Iterator[str]:
        # A case that could not be read then was not run: no result depends on what it was.
        both = before.cases.keys() & after.case_ids
        changed = {case for case in both if before.cases[case] != after.cases.get(case)}
        unreadable = changed - after.cases.keys()
        found = {
            "new cases": self.new and after.case_ids - before.case_ids,
            "cases that are gone": self.gone and before.case_ids - after.case_ids,
            "cases that cannot be read any more": self.changed and unreadable,
            "cases that changed": self.changed and changed - unreadable,
        }
        yield from (f"{what}: {few(cases)}" for what, cases in found.items() if cases)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule(PlanRule):
    """
    A row of the table: by it the results of a source are taken over.

    A case passed if all of its trials in the source did. To take less of one that failed gives it another chance, which
    an answer or a judge that varies may pass by luck: see :attr:`is_second_chance`.

    :param passed: how much is taken of a trial whose case passed. A score is *checked*, which is an error if the output
        has another one now; *observations* are scored anew; an *answer* is observed anew before that; and of *nothing*
        the system is asked again.
    :param failed: how much is taken of any other trial.
    :param otherwise: what becomes of a result whose output does not say what it is: *believed*; *refused* unless
        somebody else says that its file is the one that was written; or *run again*, but for an error, a time limit and
        a cost: to run these again would be a second chance.
    :param continues: whether the run is one with its sources, and began when the first of them did.
    :param is_part: whether a source has some of the cases, and all sources together each of them once.
    """

    passed: Taken
    failed: Taken
    otherwise: Literal["believed", "run again", "refused"]
    continues: bool = False
    is_part: bool = False

    @property
    def takes_all(self) -> bool:
        """Whether results are taken as they are, so that their files become those of the run."""
        return self.passed == self.failed == "score"

    @property
    def asks_system(self) -> bool:
        """Whether the system is asked again for something that is there."""
        return "nothing" in (self.passed, self.failed)

    @property
    def asks_nobody(self) -> bool:
        """Whether neither the system nor the observer is asked again."""
        return not {"nothing", "answer"} & {self.passed, self.failed}

    @property
    def is_second_chance(self) -> bool:
        """Whether less is taken of cases that failed than of those that passed: no such run is gated."""
        return TAKEN.index(self.failed) < TAKEN.index(self.passed)


class _Terms(NamedTuple):
    """What results depend on, by the names of :data:`FIELDS` as far as it is known; and their cases, with digests."""

    facts: Mapping[str, Any]
    case_ids: frozenset[str]
    cases: Mapping[str, str]


def _terms(plan: Plan) -> _Terms:
    facts: dict[str, Any] = {name: getattr(plan, name) for name in FIELDS if hasattr(plan, name)}
    if isinstance(plan, CassetteManifest):
        facts |= {
            DIGEST.format("system"): plan.system_digest,
            DIGEST.format("checkpoint"): plan.checkpoint,
        }
        return _Terms(facts, frozenset(plan.cases), plan.cases)
    facts |= {DIGEST.format(name): getattr(plan.digests, name) for name in DIGESTS}
    return _Terms(facts, frozenset(plan.case_ids), plan.digests.cases)


def _lines(name: str, old: Any, new: Any) -> Iterator[str]:
    if name == "observer":
        yield from (f"the observer: {change}" for change in changes(old, new))
    elif name not in map(DIGEST.format, DIGESTS):
        yield f"{name} was {old!r}, is {new!r}"
    else:
        line = f"{name} was {str(old)[:12]}, is {str(new)[:12]}"
        if name == DIGEST.format("policy"):
            # A run from before that change has another digest though nobody changed the file.
            line += ' (test = "welch" was the default once, now it is "auto")'
        yield line


RESUME: Final = Rule(
    done="resumed",
    same=EVERYTHING,
    new=True,
    gone=True,
    passed="score",
    failed="score",
    otherwise="run again",
    continues=True,
)
"""A run that was killed, or is incomplete: what finished in it is part of this run."""

EXTEND: Final = Rule(
    done="extended",
    same=EVERYTHING
    - {
        "benchgate",
        "replays",
        "baseline_system",
        DIGEST.format("policy"),
        DIGEST.format("baseline"),
    },
    passed="score",
    failed="score",
    otherwise="believed",
)
"""A pinned run, of the cases that both have; it is verified, and what decides over it is that of now."""

MERGE: Final = Rule(
    done="merged",
    same=EVERYTHING,
    gone=True,
    passed="score",
    failed="score",
    otherwise="refused",
    continues=True,
    is_part=True,
)
"""A shard, which has some of the cases."""

REPLAY: Final = Rule(
    done="replayed",
    same=frozenset({"task_class", "seed", "trial_count"}),
    more_trials=True,
    new=True,
    passed="observations",
    failed="observations",
    otherwise="believed",
)
"""The outputs of a cassette or of a recorded run, as if its system had just returned them."""

REOBSERVE: Final = replace(REPLAY, done="observed again", passed="answer", failed="answer")
"""The same outputs, of which the observer of the class is asked again."""

RECORDED: Final[Mapping[str, Rule]] = MappingProxyType({"replay": REPLAY, "reobserve": REOBSERVE})
"""The rules of what was recorded, by the option that names a cassette or a run."""

RENEW: Final = PlanRule(
    done="renewed by a part of the cases",
    same=REPLAY.same | {"system", "observer", DIGEST.format("system"), DIGEST.format("checkpoint")},
    changed=False,
)
"""The other cases of a cassette that a run of some records again; those that changed are dropped."""
