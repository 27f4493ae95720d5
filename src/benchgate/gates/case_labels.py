"""What curators say of cases besides their tasks, and what of it is said otherwise now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from benchgate.sentences.says import says
from benchgate.wire.model import Text, WireModel

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchgate.gates.run_side import SideHead
    from benchgate.models import BenchRunReport
    from benchgate.sentences.says import Says

    Labels = Mapping[str, Mapping[str, str]]
    """By the name of a label the cases that have it, each with its value."""

CASE: Final = "case"
"""The label that says whether a case is there, or retired."""

THERE: Final = "there"


class LabelChange(WireModel):
    """
    A label of a case that is another one now.

    :param label: its name in ``case.toml``; or :data:`CASE`, which says whether the case is there, or retired and why.
    :param before: ``None`` if it was not set; ``after`` likewise.
    """

    case_id: Text
    label: Text
    before: Text | None
    after: Text | None

    @property
    def said(self) -> Says:
        """The change as a sentence."""
        of = says("label.of", label=self.label, case=self.case_id)
        if self.label == CASE:
            of = says("label.of_case", case=self.case_id)
        if self.before is None:
            return says("label.set", of=of, after=self.after or "")
        if self.after is None:
            return says("label.unset", of=of, before=self.before)
        return says("label.change", of=of, before=self.before, after=self.after)

    @property
    def text(self) -> str:
        """The change in words."""
        return self.said.text


def labels_of(report: BenchRunReport | Any) -> dict[str, dict[str, str]]:
    """Return the cases and what is not the default of them; of a report, or of what else has these fields."""
    held_out = [result.case_id for result in report.per_case if result.held_out]
    return _labels(report, (result.case_id for result in report.per_case), held_out)


def labels_of_side(side: SideHead) -> dict[str, dict[str, str]]:
    """Return the same of one side of a comparison."""
    return _labels(side, side.table.ids, side.held_out)


def _labels(
    run: BenchRunReport | SideHead | Any, case_ids: Iterable[str], held_out: Iterable[str]
) -> dict[str, dict[str, str]]:
    retired = {case_id: f"retired: {why}" for case_id, why in run.retired.items()}
    return {
        CASE: dict.fromkeys(case_ids, THERE) | retired,
        "cluster": dict(run.clusters),
        "critical": dict.fromkeys(run.critical, "true"),
        "held_out": dict.fromkeys(held_out, "true"),
    }


def relabelled(before: Labels, now: Labels) -> tuple[LabelChange, ...]:
    """Return what is labelled otherwise now."""
    found: list[LabelChange] = []
    for label in sorted({*before, *now}):
        old = before.get(label, {})
        new = now.get(label, {})
        found += [
            LabelChange(case_id=case, label=label, before=old.get(case), after=new.get(case))
            for case in sorted({*old, *new})
            if old.get(case) != new.get(case)
        ]
    return tuple(found)


def has_grown(before: Labels, now: Labels) -> bool:
    """Return whether labels differ by those of new cases alone."""
    changes = relabelled(before, now)
    new = {change.case_id for change in changes if change.label == CASE and change.before is None}
    return all(change.before is None and change.case_id in new for change in changes)
