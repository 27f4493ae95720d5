"""The gate in JUnit XML: what both doors say of it, and a file with the one test case."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, tostring

from benchgate.errors import printable
from benchgate.wire.writing import write_file
from benchgate.wording.block import Door, block
from benchgate.wording.decision import DecisionView
from benchgate.wording.lines import laid_out

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchgate.gates.judge import Judgement


def properties(judgement: Judgement) -> Iterator[tuple[str, str]]:
    """Yield what the suite says of a run."""
    decision = judgement.decision
    yield "run_id", judgement.report.run_id
    yield "cost_usd", str(judgement.report.total_cost_usd)
    yield "decision", decision.outcome if decision else "not_evaluated"
    if decision is not None:
        yield "reason_codes", ", ".join(decision.reason_codes)
    baseline = judgement.baseline
    if baseline is not None and baseline.report is not None:
        yield "baseline.system", printable(baseline.report.system)
        yield "baseline.run_id", baseline.report.run_id
        yield "baseline.path", printable(baseline.path)
    if judgement.figures is not None:
        tests = judgement.figures.significance
        for name in ("mean_delta", "delta_ci_low", "delta_ci_high", "p_value"):
            if getattr(tests, name) is not None:
                yield name, str(getattr(tests, name))
    if judgement.changes is not None:
        changes = judgement.changes
        for name in ("newly_failing", "newly_passing", "fell", "rose"):
            yield name, ", ".join(change.case_id for change in getattr(changes, name))
        yield "errors", ", ".join(case_id for case_id, _ in changes.errors)


def headline(decision: DecisionView) -> str:
    """Return decision and first reason of a run that is not promoted."""
    return printable(f"{decision.outcome.upper()}: {decision.reasons[0].message}")


def why_not(judgement: Judgement, prefix: str) -> str:
    """Return all that is printed of a gate that did not promote; ``prefix`` is that of the door's options."""
    lines = laid_out(block(judgement, Door(prefix=prefix, verbosity=1)), 100)
    return "\n".join([headline(DecisionView.of_run(judgement)), "", *(text for text, _ in lines)])


def write_case(path: Path, judgement: Judgement) -> None:
    """
    Write a suite with one test case, the gate, which fails unless it promotes.

    :raises ArtifactError: it cannot be written.
    """
    name, said = judgement.report.task_class, dict(properties(judgement))
    fails = said["decision"] != "promote"
    suite = Element("testsuite", name="benchgate", tests="1", failures=str(int(fails)), errors="0")
    listed = SubElement(suite, "properties")
    for key, value in said.items():
        SubElement(listed, "property", name=f"bench.{name}.{key}", value=printable(value))
    case = SubElement(suite, "testcase", classname=f"bench.{name}", name="gate", time="0")
    if fails:
        text = printable(why_not(judgement, "--"), "\n")
        SubElement(case, "failure", message=text.partition("\n")[0]).text = text
    write_file(path, tostring(suite, "utf-8", xml_declaration=True))
