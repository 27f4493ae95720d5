"""What curators say of cases besides their tasks: clusters, and which are critical or held out. It needs no new pin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import brief

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from benchgate.gates.decision import Blocker
    from benchgate.models import BenchRunReport


CASE: Final = "case "
"""Begins what a label says of a case that is there, or retired."""


def labels_of(report: BenchRunReport | Any) -> dict[str, str]:
    """Return the cases and what is not the default of them; of a report, or of what else has these fields."""
    found = {f"{CASE}{one.case_id}": "there" for one in report.per_case}
    found |= {f"{CASE}{case_id}": f"retired: {why}" for case_id, why in report.retired.items()}
    found |= {f"cluster of {case_id}": name for case_id, name in report.clusters.items()}
    found |= {f"critical of {case_id}": "true" for case_id in report.critical}
    return found | {f"held_out of {one.case_id}": "true" for one in report.per_case if one.held_out}


def relabelled(before: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    """Return what is labelled otherwise now, each with both values."""
    return tuple(
        f"{name} was {before.get(name, 'unset')}, is {now.get(name, 'unset')}"
        for name in sorted({*before, *now})
        if before.get(name) != now.get(name)
    )


def since_pin(before: BenchRunReport, now: BenchRunReport) -> tuple[str, ...]:
    """Return what is labelled otherwise than in the baseline; a log has its own labels."""
    is_log = before.source is not None or now.source is not None
    return () if is_log else relabelled(labels_of(before), labels_of(now))


def relabelled_note(since_pin: Iterable[str], since_look: Iterable[str]) -> Iterator[Blocker]:
    """Yield what was labelled otherwise when the baseline was pinned, or when the same results were looked at."""
    named = {"the baseline was pinned": since_pin, "an earlier look at these results": since_look}
    if parts := [f"since {when}: {brief(texts, '; ')}" for when, texts in named.items() if texts]:
        yield "relabelled", "; ".join(parts)
