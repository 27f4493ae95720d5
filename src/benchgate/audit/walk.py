"""Walking a chain of records: every record there once, and each the one that its witnesses name."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.artifacts.run_kinds import Head
from benchgate.audit.chain import (
    GENESIS,
    HEAD_FILE,
    RECORD_FILE,
    link_at,
    numbered,
    read_part,
    unentered,
)
from benchgate.errors import Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchgate.audit.chain import Link


@dataclass(frozen=True, slots=True)
class ChainFault:
    """What does not hold: the number of the record, where it is or should be, and why."""

    seq: int
    path: Path
    message: str


def chain_faults(runs: Path, retained: Head | None = None) -> list[ChainFault]:
    """
    Walk the chain in ``runs/<class>/`` and return what does not hold, the first record first.

    :param retained: a head that was kept elsewhere: that record must be there, unchanged.
    """
    found = numbered(runs)
    if not (found or retained or os.path.lexists(runs / HEAD_FILE)):
        return []
    try:
        head, faults = read_part(runs / HEAD_FILE, Head), []
    except Unreadable as error:
        # Of a first record that is not entered yet there is no head.
        waiting = not os.path.lexists(runs / HEAD_FILE) and unentered(runs) is not None
        fault = ChainFault(0, runs / HEAD_FILE, error.why)
        head, faults = None, [] if waiting else [fault]
    links = [link_at(seq, folder / RECORD_FILE) for seq, folder in found]
    witnesses = [(HEAD_FILE, head), ("the head that was kept", retained)]
    faults += _gaps(runs, links, [h.seq for _, h in witnesses if h is not None])
    return sorted([*faults, *_link_faults(links, witnesses)], key=lambda fault: fault.seq)


def _gaps(runs: Path, links: list[Link], named: list[int]) -> Iterator[ChainFault]:
    """Yield the stretches of numbers without a record, up to the last that is there or named."""
    last = max((*(link.seq for link in links), *named), default=0)
    there = sorted({link.seq for link in links if link.seq})
    for before, after in zip([0, *there], [*there, last + 1], strict=True):
        if after - before > 1:
            lost = f"record {before + 1}" + (f" to {after - 1}" if after - before > 2 else "")
            path = runs / f"{before + 1:08d}-..."
            yield ChainFault(before + 1, path, f"missing: {lost} was removed")


def _link_faults(
    links: list[Link], witnesses: list[tuple[str, Head | None]]
) -> Iterator[ChainFault]:
    """
    Judge each record by what names its hash, from the newest on.

    Of two neighbours that do not fit, the one is at fault that its own witnesses do not confirm; what a record at fault
    says of the one before it counts for nothing.
    """
    after: Link | None = None
    sound = True
    for link in reversed(links):
        faults = [
            *_own_faults(link),
            *_named_otherwise(link, witnesses),
            *_beyond(link, witnesses[0][1]),
        ]
        if after is not None and after.seq == link.seq:
            faults.append(f"there is a second record {link.seq}: the chain is forked")
        elif after is not None and sound and not _follows(after, link):
            faults.append(f"is not the record that record {after.seq} names")
        yield from (ChainFault(link.seq, link.path, fault) for fault in faults)
        after, sound = link, not faults


def _own_faults(link: Link) -> Iterator[str]:
    if link.fault is not None:
        yield link.fault
    elif link.seq == 1 and link.stated is not None and link.stated.prev_hash != GENESIS:
        yield "is the first record, but names one before it"


def _named_otherwise(link: Link, witnesses: list[tuple[str, Head | None]]) -> Iterator[str]:
    for name, head in witnesses:
        if head is not None and head.seq == link.seq and head.sha256 != link.sha256:
            yield f"is not the record that {name} names: edited or exchanged"


def _follows(after: Link, link: Link) -> bool:
    if after.seq != link.seq + 1 or after.stated is None:
        return True  # one between is missing, which is said elsewhere
    return after.stated.prev_hash == link.sha256


def _beyond(link: Link, head: Head | None) -> Iterator[str]:
    # One more than the head names is what a killed process leaves; see unentered().
    if head is None or link.seq <= head.seq:
        return
    if link.seq > head.seq + 1:
        yield f"not entered in {HEAD_FILE}: added by hand"
    elif link.stated is not None and link.stated.prev_hash != head.sha256:
        yield f"does not follow the record that {HEAD_FILE} names: added by hand"
