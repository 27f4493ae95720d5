"""
By which rule results that are there already are taken over: a row for each way to ask for it.

A result is one of a plan. If the plan of now is another one in a field that the rule names, nothing is taken over, and
:class:`~benchgate.errors.PlanChanged` says each field that differs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from benchgate.cassettes.manifest import CassetteManifest
from benchgate.errors import PlanChanged, few
from benchgate.models.case import changes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from benchgate.artifacts.run_kinds import PlanFile

    Plan = PlanFile | CassetteManifest

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """
    A row of the table.

    :param done: what cannot be done with the results if the plan is another one.
    :param same: the fields that must be equal.
    :param more_trials: whether a case may have more trials than are needed now.
    :param new: whether a case that is new is a difference; ``gone`` and ``changed`` likewise.
    :param scores: what becomes of a score: it is *checked*, which is an error if the output has another one now; made
        *anew*; or the output is *observed* again before that.
    :param otherwise: what becomes of a result whose output does not say what it is: *believed*; *refused* unless
        somebody else says that its file is the one that was written; or *run again*, but for an error, a time limit and
        a cost: to run these again would be a second chance.
    :param continues: whether the run is one with its sources, and began when the first of them did.
    :param is_part: whether a source has some of the cases, and all sources together each of them once.
    """

    done: str
    same: frozenset[str]
    more_trials: bool = False
    new: bool = False
    gone: bool = False
    changed: bool = True
    scores: Literal["checked", "anew", "observed"]
    otherwise: Literal["believed", "run again", "refused"]
    continues: bool = False
    is_part: bool = False

    def check(self, where: Path, then: Plan, now: Plan) -> None:
        """
        Check that results may be taken over.

        :param where: they are.
        :raises PlanChanged: names each difference.
        """
        if differences := list(self.differences(then, now)):
            raise PlanChanged(where, differences, self.done)

    def differences(self, then: Plan, now: Plan) -> Iterator[str]:
        """Yield why results of one plan are none of another, a line for each difference."""
        before, after = _terms(then), _terms(now)
        for name in FIELDS:
            if name not in self.same or name not in before.facts:
                continue
            old, new = before.facts[name], after.facts[name]
            is_enough = (
                name == "trial_count" and self.more_trials and then.trial_count > now.trial_count
            )
            if old != new and not is_enough:
                yield from _lines(name, old, new)
        gone, new_ids = before.case_ids - after.case_ids, after.case_ids - before.case_ids
        if self.new and new_ids:
            yield f"new cases: {few(new_ids)}"
        if self.gone and gone:
            yield f"cases that are gone: {few(gone)}"
        # A case that could not be read then was not run: no result depends on what it was.
        both = before.cases.keys() & after.case_ids
        changed = {case for case in both if before.cases[case] != after.cases.get(case)}
        if self.changed and changed:
            yield f"cases that changed: {few(changed)}"


class _Terms(NamedTuple):
    """What results depend on, by the names of :data:`FIELDS` as far as it is known; and their cases, with digests."""

    facts: Mapping[str, Any]
    case_ids: frozenset[str]
    cases: Mapping[str, str]


def _terms(plan: Plan) -> _Terms:
    facts = {name: getattr(plan, name) for name in FIELDS if hasattr(plan, name)}
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
    scores="checked",
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
    scores="checked",
    otherwise="believed",
)
"""A pinned run, of the cases that both have; it is verified, and what decides over it is that of now."""

MERGE: Final = Rule(
    done="merged",
    same=EVERYTHING,
    gone=True,
    scores="checked",
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
    scores="anew",
    otherwise="believed",
)
"""The outputs of a cassette or of a recorded run, as if its system had just returned them."""

REOBSERVE: Final = replace(REPLAY, done="observed again", scores="observed")
"""The same outputs, of which the observer of the class is asked again."""

RENEW: Final = Rule(
    done="renewed by a part of the cases: run all of them, or give another name",
    same=REPLAY.same | {"system", "observer", DIGEST.format("system"), DIGEST.format("checkpoint")},
    changed=False,
    scores="anew",
    otherwise="believed",
)
"""The other cases of a cassette that a run of some records again; those that changed are dropped."""
