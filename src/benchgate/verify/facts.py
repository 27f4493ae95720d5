"""Finds the facts of evidence whose record is not there, in the files that lie side by side, and what follows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from benchgate.artifacts.build import Evidence
from benchgate.artifacts.proof import PROOF_PARTS, evidence_files
from benchgate.gates.conditions import OF_RUN
from benchgate.gates.decide import decide
from benchgate.gates.decision import PREFIX, Objection
from benchgate.gates.facts import VectorFacts
from benchgate.gates.rules import RULES
from benchgate.sentences.says import joined
from benchgate.verify.held import Held
from benchgate.verify.other_rules import PROOF, SIDES, as_bytes, side_part, unruled

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from benchgate.artifacts.evidence_kinds import ProofBundle, SignificanceReport


GATE: Final = "gate:"
FOLLOWING: Final = ("significance.json", "safety.json", "evaluation.json", "proof.json")
"""The files that say what follows from both sides."""


def held_alone(path: Path, kind: str) -> Held:
    """
    Return what evidence without a record is held against: what follows from a proof and the files that it refers to.

    The samples of a side give its means. Everything else needs the other files of the comparison.

    :param path: of the file that is checked, which may have any name.
    """
    paths = {name: path.with_name(name) for name in PROOF} | {f"{kind}.json": path}
    read = {name: model.read_or_none(paths[name]) for name, model in PROOF.items()}
    there: dict[str, Any] = {name: one for name, one in read.items() if one is not None}
    missing = tuple(name for name in PROOF if name not in there)
    rules = RULES
    digests: dict[str, str] = {}
    if "proof.json" in there:
        rules = there["proof.json"].rules
        stated = there["proof.json"].artifact_sha256.model_dump()
        digests = {name: stated[part] for part, name in PROOF_PARTS.items()}
    lacking: dict[str, tuple[str, ...]] = {"promotion.json": ("its record",)}
    if missing:
        views = as_bytes({name: side_part(there[name]) for name in SIDES if name in there})
        lacking |= dict.fromkeys(FOLLOWING, missing)
    elif rules == RULES:
        views = _views_of_sides(there)
    else:
        views = as_bytes(unruled(there))
    return Held(rules=rules, views=views, digests=digests, kept_in="proof.json", lacking=lacking)


def _views_of_sides(there: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the files that follow from two lists of scores and a policy."""
    sides = there["baseline.json"].rescored.arm, there["trained.json"].rescored.arm
    head: SignificanceReport = there["significance.json"]
    proof: ProofBundle = there["proof.json"]
    over_seen = None
    if head.look is not None:
        over_seen = head.look.over_seen
    facts = VectorFacts(
        policy=head.policy,
        sides=sides,
        look=head.look,
        over_seen=over_seen,
    )
    return evidence_files(
        Evidence(
            run_id=proof.run_id,
            candidate_run_id=proof.candidate_run_id,
            suite=proof.benchmark_suite,
            generated_at=proof.generated_at,
            names=(proof.baseline.checkpoint_id, proof.trained.checkpoint_id),
            decided=decide(_with_run(facts, proof)),
            min_confidence_level=proof.criteria.min_confidence_level,
        )
    )


def _with_run(facts: VectorFacts, proof: ProofBundle) -> VectorFacts:
    """
    Return the facts with what a proof says of its run, as far as no scores tell it.

    Nobody can check that without the record. It keeps the candidate from promotion, so that it may be believed.
    """
    if proof.failure_analysis is None:
        return facts
    failed = proof.failure_analysis
    blockers = []
    objections = []
    new_cases = []
    for prefixed, said in zip(failed.reasons, failed.says, strict=True):
        code = prefixed.removeprefix(PREFIX)
        if code.startswith(GATE):
            objections.append(Objection(gate=code.removeprefix(GATE), text=joined(said)))
        elif code == "new_cases_decide":
            new_cases += [(code, one) for one in said]
        elif code in OF_RUN:
            blockers += [(code, one) for one in said]
    return replace(
        facts,
        blockers=tuple(blockers),
        objections=tuple(objections),
        new_cases=tuple(new_cases),
    )
