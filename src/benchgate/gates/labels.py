"""What curators say of cases besides their tasks: clusters, and which are critical or held out. It needs no new pin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchgate.errors import brief

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from benchgate.gates.decision import Blocker
    from benchgate.models import BenchRunReport


def labels_of(report: BenchRunReport | Any) -> dict[str, str]:
    """Return what is not the default, by what it is of; of a report, or of what was read of one."""
    held_out = {result.case_id for result in report.per_case if result.held_out}
    return labels(report.clusters, report.critical, held_out)


def labels(
    clusters: Mapping[str, str], critical: Iterable[str], held_out: Iterable[str]
) -> dict[str, str]:
    """Return labels as :func:`labels_of` does."""
    found = {f"cluster of {case_id}": name for case_id, name in clusters.items()}
    found |= {f"critical of {case_id}": "true" for case_id in critical}
    return found | {f"held_out of {case_id}": "true" for case_id in held_out}


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
    pinned, looked = brief(since_pin, "; "), brief(since_look, "; ")
    parts = [f"since the baseline was pinned: {pinned}"] * bool(pinned)
    parts += [f"since an earlier look at these results: {looked}"] * bool(looked)
    if parts:
        yield "relabelled", "; ".join(parts)
