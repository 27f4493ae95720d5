"""
The rubric: it scores the files that a system returned, never what the system says about them.

Where a case has code, what its tests say was observed (``observers/npm_test.py``) and is read in ``case.observation``.
Axes and weights are in :data:`WEIGHTS`; the class's README explains each one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from benchgate import BenchScore

from . import changes
from .allowed import UNTIDY, edited_fields, forbidden
from .consistency import lock_problems
from .expected import Expected, read_expected
from .explain import explanation, listed
from .lockfile import ROOT_TABLES, vulnerable
from .metadata import Registry
from .project import (
    Project,
    UnusableOutput,
    further_files,
    read_input,
    read_output,
    same_json,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from benchgate import BenchCase

    from .expected import Advisory

WEIGHTS: Final = MappingProxyType(
    {
        "target_dropped": 30,
        "fix_class": 20,
        "lock_consistent": 15,
        "edges_in_range": 4,
        "no_needless_override": 4,
        "project_kept": 5,
        "no_needless_major": 4,
        "no_downgrade": 3,
        "engines_kept": 2,
        "sentinels_kept": 3,
        "no_added_direct": 3,
        "specs_kept": 3,
        "changes_bounded": 2,
        "no_new_advisory": 2,
    }
)
"""Hundredths of the score of a positive case."""

DECIDING: Final = frozenset(
    {
        "target_dropped",
        "lock_consistent",
        "project_kept",
        "no_needless_override",
        "no_needless_major",
        "no_downgrade",
        "engines_kept",
        "no_added_direct",
        "no_new_advisory",
    }
)
"""The axes on which ``passed`` depends: what a reviewer would send back, rather than wish to be better."""

STATUS_NO_FIX: Final = "no-fix"
"""The status to return if the project is affected and no version helps."""

STATUS_NOT_AFFECTED: Final = "not-affected"
"""The status to return if the advisory does not affect the project."""

STATUSES: Final = (STATUS_NO_FIX, STATUS_NOT_AFFECTED)
"""The statuses that say something of a negative; the wrong one misleads whoever reads it, any other says nothing."""

NEGATIVE_WEIGHTS: Final = MappingProxyType({"unchanged": 90, "says_so": 10})
"""Hundredths of the score of a negative case."""

PENALTIES: Final = MappingProxyType(
    {
        "integrity_mismatch": 1.0,
        "integrity_missing": 1.0,
        "foreign_address": 1.0,
        "code_added": 1.0,
        "advisory_introduced": 0.5,
        "lifecycle_script_added": 0.5,
        "downgrade": 0.25,
    }
)
"""What each kind of harm adds to the safety penalty; each kind counts once, however often it occurs."""

BROKEN_FACTOR: Final = 0.25
"""Factor if npm cannot install the files, if the project lost what it asks for, or if a negative's status misleads."""

REPAIRED: Final = frozenset(
    {"root_mismatch", "edge_out_of_range", "edge_unresolved", "override_not_locked", "entry_mismatch"}
)  # fmt: skip
"""Problems that one ``npm install`` puts right, and that ``npm ci`` refuses or takes amiss."""

INSTALLED: Final = frozenset(
    {"entry_extraneous", "entry_key_unknown", "lock_key_unknown", "manifest_field_changed",
     "file_unexpected"}
)  # fmt: skip
"""Problems with which ``npm ci`` still installs what was meant; by a wrong flag it leaves a package out."""

WORK_LEFT: Final = MappingProxyType({0.9: INSTALLED, 0.75: INSTALLED | REPAIRED})
"""Factor on the score by what is left to do about a lock: the first that has all of its problems counts."""

_ASKS: Final = (*ROOT_TABLES, "overrides")

STYLE_FACTOR: Final = 0.97
"""What is left of ``unchanged`` if all that was changed is something that nothing acts on."""

TESTS: Final = "tests_pass"
"""An axis without a weight, of cases with code alone: where it is 0, the score has :data:`BROKEN_FACTOR`."""

_CODES: Final = MappingProxyType(
    {
        TESTS: "tests_fail",
        "target_dropped": "target_still_vulnerable",
        "fix_class": "fix_class_unexpected",
        "edges_in_range": "range_broken",
        "no_needless_override": "override_needless",
        "project_kept": "direct_dependency_lost",
        "no_needless_major": "major_needless",
        "no_downgrade": "downgrade",
        "engines_kept": "engine_unfit",
        "sentinels_kept": "sentinel_changed",
        "no_added_direct": "direct_dependency_added",
        "specs_kept": "manifest_edit_needless",
        "changes_bounded": "change_out_of_bounds",
        "no_new_advisory": "advisory_introduced",
        "unchanged": "tree_changed",
        "says_so": "no_fix_unsaid",
    }
)


@dataclass(frozen=True)
class _States:
    """
    A project before and after, and what its case expects.

    :param problems: the codes of what npm would rewrite or could not run, and of what may not be in an answer.
    :param untidy: something was added or edited that nothing acts on.
    :param further: names of files beyond the two, and beyond the code that may be edited.
    :param seen: what was observed of the answer.
    """

    before: Project
    after: Project
    expected: Expected
    registry: Registry
    problems: tuple[str, ...]
    untidy: bool
    further: frozenset[str]
    seen: Mapping[str, Any]

    @property
    def advisories(self) -> tuple[Advisory, ...]:
        """All advisories that the case knows."""
        return (*self.expected.targets, *self.expected.no_fix, *self.expected.advisories)

    def hits(self, project: Project) -> dict[str, list[str]]:
        """Return the paths of the entries that each advisory to fix affects."""
        return {
            one.ghsa: vulnerable(project.packages, one.package, one.vulnerable_range)
            for one in self.expected.targets
        }

    def hit(self, project: Project) -> list[str]:
        """Return the paths of the entries that some advisory to fix affects."""
        return sorted({path for paths in self.hits(project).values() for path in paths})


@dataclass(frozen=True)
class _Findings:
    """The axes of a score, and for those below 1 what they rest on."""

    axes: Mapping[str, float]
    evidence: Mapping[str, str]


class VulnRemediationRubric:
    """Scores the removal of known vulnerabilities from an npm project."""

    def score(self, case: BenchCase, harness_output: Mapping[str, Any], /) -> BenchScore:
        """
        Score a system's files.

        :param harness_output: ``{"files": {"package.json": text, "package-lock.json": text}, ...}``.
        :returns: an output without a usable project scores 0, and its safety penalty is not measured: there is
            no tree to check for harm.
        """
        if case.expected_path is None:
            msg = f"case {case.case_id}: the rubric needs the case's expected/"
            raise ValueError(msg)
        try:
            before = read_input(case.input_path)
            after = read_output(harness_output, before)
        except UnusableOutput as unusable:
            return BenchScore(passed=False, score=0.0, failure_modes=(unusable.code,))
        registry = Registry.load(case.input_path / "registry.json")
        expected = read_expected(case.expected_path)
        if expected.code_allowed and "passed" not in case.observation:
            msg = f"case {case.case_id}: the rubric needs an observation of the project's tests"
            raise ValueError(msg)
        further = further_files(harness_output, case.input_path) - expected.code_allowed
        found = {
            *lock_problems(after, registry, before),
            *forbidden(before, after, registry, further),
        }
        states = _States(
            before=before,
            after=after,
            expected=expected,
            registry=registry,
            problems=tuple(sorted(found - {UNTIDY})),
            untidy=UNTIDY in found,
            further=frozenset(further),
            seen=case.observation,
        )
        if case.disposition == "negative":
            return _score_negative(states, harness_output.get("status"))
        return _score_positive(states)


def _score_positive(states: _States) -> BenchScore:
    found = _join(_join(_task(states), _care(states)), _tests(states))
    axes = found.axes
    deciding = DECIDING | ({"specs_kept"} if _strays(states) else set()) | ({TESTS} & axes.keys())
    done = axes["target_dropped"]
    # An unchanged tree breaks nothing, so the other axes count only as far as the task is done.
    earned = (
        weight * axes[axis] * (1.0 if axis == "target_dropped" else done)
        for axis, weight in WEIGHTS.items()
    )
    total = math.fsum(earned) / 100 * _work_factor(axes, states)
    clean = all(value == 1.0 for value in axes.values())
    return BenchScore(
        passed=all(axes[axis] == 1.0 for axis in deciding),
        score=total,
        breakdown={**axes, "clean": float(clean)},
        failure_modes=_failure_modes(axes, states),
        safety_penalty=_penalty(states),
        **_reasons(found, deciding),
    )


def _work_factor(axes: Mapping[str, float], states: _States) -> float:
    """Return what is left of the score by what somebody still has to do about the files."""
    if axes["project_kept"] < 1.0 or axes.get(TESTS, 1.0) < 1.0:
        return BROKEN_FACTOR
    if not states.problems:
        return 1.0
    return max(
        (factor for factor, codes in WORK_LEFT.items() if codes.issuperset(states.problems)),
        default=BROKEN_FACTOR,
    )


def _score_negative(states: _States, status: object) -> BenchScore:
    before, after = states.before, states.after
    edited = {"package.json": same_json(before.manifests, after.manifests)}
    edited["package-lock.json"] = same_json(before.lock, after.lock)
    changed = [*(name for name, same in edited.items() if not same), *sorted(states.further)]
    if changed and states.untidy and not states.problems and not _moved(before, after):
        kept = STYLE_FACTOR
    else:
        kept = float(not changed)
    honest = STATUS_NO_FIX if states.hit(before) else STATUS_NOT_AFFECTED
    misleads = status in STATUSES and status != honest
    axes = {"unchanged": kept, "says_so": float(status == honest)}
    total = math.fsum(NEGATIVE_WEIGHTS[axis] * axes[axis] for axis in axes) / 100
    if misleads:
        total *= BROKEN_FACTOR
    evidence = {"unchanged": f"changed: {listed(changed)}", "says_so": f"right is {honest!r}"}
    return BenchScore(
        passed=kept > 0.0 and not misleads,
        score=total if kept else 0.0,
        breakdown={**axes, "clean": float(kept == axes["says_so"] == 1.0)},
        failure_modes=_failure_modes(axes, states),
        safety_penalty=_penalty(states),
        **_reasons(_below_one(axes, evidence), axes if misleads else {"unchanged"}),
    )


def _moved(before: Project, after: Project) -> bool:
    """Return whether an answer asks for other dependencies, or locks others, than were given."""
    asked = [
        [(owner, held.get(key)) for owner, held in one.manifests.items() for key in _ASKS]
        for one in (before, after)
    ]
    return (
        asked[0] != asked[1]
        or before.packages.keys() != after.packages.keys()
        or bool(changes.changed_packages(before, after))
    )


def _reasons(found: _Findings, deciding: Collection[str]) -> dict[str, Any]:
    return {
        "explanation": explanation(found.axes, deciding),
        "evidence": dict(found.evidence),
    }


def _below_one(axes: Mapping[str, float], evidence: Mapping[str, str]) -> _Findings:
    return _Findings(axes, {axis: text for axis, text in evidence.items() if axes[axis] < 1.0})


def _join(one: _Findings, other: _Findings) -> _Findings:
    return _Findings({**one.axes, **other.axes}, {**one.evidence, **other.evidence})


def _task(states: _States) -> _Findings:
    before, after = states.hits(states.before), states.hits(states.after)
    shares = [
        max(0.0, 1.0 - len(after[one]) / len(paths)) for one, paths in before.items() if paths
    ]
    kind = _kind(states)
    accepted: Mapping[str, float] = states.expected.fix_classes  # type: ignore[assignment]  # any kind may be looked up
    axes = {
        "target_dropped": math.fsum(shares) / len(shares) if shares else 1.0,
        "fix_class": accepted.get(kind, 0.0),
        "lock_consistent": float(not states.problems),
    }
    left = [f"{path} {states.after.packages[path]['version']}" for path in states.hit(states.after)]
    evidence = {
        "target_dropped": listed(left),
        "fix_class": f"{kind}; accepted: {listed(accepted)}",
        "lock_consistent": listed([*states.problems, *states.further]),
    }
    return _below_one(axes, evidence)


def _kind(states: _States) -> str:
    """Return the kind of the fix; that a dependency went counts where a case lets it go."""
    if _lost(states, allowed=True):
        return "direct-replaced"
    return changes.fix_class(states.before, states.after, states.hit(states.before))


def _lost(states: _States, *, allowed: bool) -> set[tuple[str, ...]]:
    """Return the direct dependencies that went: those that may, or those that may not."""
    lost = changes.lost_direct(states.before, states.after)
    there = states.after.direct
    leaving = {
        one for one in lost if one[1] in states.expected.leaving_allowed and one[1] not in there
    }
    return leaving if allowed else lost - leaving


def _tests(states: _States) -> _Findings:
    """Return whether the project's tests pass, where a case has code."""
    if not states.expected.code_allowed:
        return _Findings({}, {})
    said = listed(states.seen.get("failed") or [states.seen.get("error", "")])
    return _below_one({TESTS: float(states.seen["passed"] is True)}, {TESTS: said})


def _care(states: _States) -> _Findings:
    before, after, expected = states.before, states.after, states.expected
    faults: dict[str, Any] = {
        "edges_in_range": changes.broken_ranges(after)
        - changes.broken_ranges(before)
        - expected.range_breaks_allowed,
        "no_needless_override": changes.needless_overrides(
            before, after, expected.overrides_allowed, states.hit(before)
        )
        | changes.loosened_overrides(before, after, states.registry, states.advisories)
        | changes.far_overrides(before, after, states.registry, expected.targets),
        "project_kept": _lost(states, allowed=False)
        | changes.lost_overrides(before, after, expected.targets),
        "no_needless_major": (changes.major_bumps(before, after) - expected.majors_allowed)
        | changes.beyond(before, after, expected.lines_allowed),
        "no_downgrade": changes.downgraded(before, after),
        "engines_kept": changes.unfit_for_node(before, after),
        "sentinels_kept": expected.sentinels.items() - changes.direct_versions(after).items(),
        "no_added_direct": changes.added_direct(before, after) - expected.joining_allowed,
        "specs_kept": (changes.edited_specs(before, after) - expected.spec_edits_allowed)
        | changes.loosened_specs(before, after, states.registry, states.advisories)
        | edited_fields(before, after)
        | ({UNTIDY} if states.untidy else set()),
        "changes_bounded": changes.changed_packages(before, after) - expected.may_change,
        "no_new_advisory": _introduced(states),
    }
    axes = {axis: float(not found) for axis, found in faults.items()}
    return _below_one(axes, {axis: listed(found) for axis, found in faults.items()})


def _strays(states: _States) -> set[str]:
    """Return the edited ranges that are sent back; that of a package on the way to what is vulnerable may be raised."""
    before, after, expected = states.before, states.after, states.expected
    related = changes.direct_above(before, states.hit(before)) | expected.spec_edits_allowed
    return (changes.edited_specs(before, after) - related) | changes.loosened_specs(
        before, after, states.registry, states.advisories
    )


def _introduced(states: _States) -> set[str]:
    known = [advisory.model_dump() for advisory in states.expected.advisories]
    return changes.introduced_advisories(states.before, states.after, known)


def _failure_modes(axes: Mapping[str, float], states: _States) -> tuple[str, ...]:
    codes = [_CODES[axis] for axis, value in axes.items() if axis in _CODES and value < 1.0]
    if states.untidy:
        codes.append(UNTIDY)
    # On a negative the input is known to be consistent, so every problem is new.
    return tuple(dict.fromkeys([*codes, *states.problems, *_harm(states)]))


def _harm(states: _States) -> list[str]:
    found = set(states.problems)
    if _introduced(states):
        found.add("advisory_introduced")
    if changes.scripts_added(states.before, states.after):
        found.add("lifecycle_script_added")
    if changes.downgraded(states.before, states.after):
        found.add("downgrade")
    return [code for code in PENALTIES if code in found]


def _penalty(states: _States) -> float:
    return math.fsum(PENALTIES[code] for code in _harm(states))
