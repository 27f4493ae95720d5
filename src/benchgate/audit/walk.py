"""Checks a chain: every record is there once, and has the hash that the next record and the heads name."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.audit.chain import (
    GENESIS,
    HEAD_FILE,
    RECORD_FILE,
    link_at,
    numbered,
    read_head,
    unentered,
)
from benchgate.errors import Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from benchgate.artifacts.trial_kinds import Head
    from benchgate.audit.chain import Link


@dataclass(frozen=True, slots=True)
class ChainFault:
    """One fault of a chain: the number of the record, where it is or should be, and what is wrong."""

    seq: int
    path: Path
    message: str


def chain_faults(
    runs: Path, retained: Head | None = None, known: Iterable[Link] = ()
) -> list[ChainFault]:
    """
    Return the faults of the chain in ``runs/<class>/``, the first record first.

    Reads every record, for verify and for tiers; a run that only appends uses ``read_end()``, which reads the newest.

    :param retained: a head that was kept elsewhere: that record must be there, unchanged.
    :param known: records that were read already.
    """
    found = numbered(runs)
    if not (found or retained or os.path.lexists(runs / HEAD_FILE)):
        return []
    head = None
    faults: list[ChainFault] = []
    try:
        head = read_head(runs)
    except Unreadable as error:
        # Until the first record is entered there is no head.
        is_waiting = not os.path.lexists(runs / HEAD_FILE) and unentered(runs) is not None
        if not is_waiting:
            faults.append(ChainFault(0, runs / HEAD_FILE, error.why))
    read = {link.path: link for link in known}
    paths = [(seq, folder / RECORD_FILE) for seq, folder in found]
    links = [read.get(path) or link_at(seq, path) for seq, path in paths]
    witnesses = [(HEAD_FILE, head), ("the kept head", retained)]
    faults += _gaps(runs, links, [h.seq for _, h in witnesses if h is not None])
    return sorted([*faults, *_link_faults(links, witnesses)], key=lambda fault: fault.seq)


def _gaps(runs: Path, links: list[Link], named: list[int]) -> Iterator[ChainFault]:
    """Yield the ranges of numbers without a record, up to the highest that is there or that a head names."""
    last = max((*(link.seq for link in links), *named), default=0)
    there = sorted({link.seq for link in links if link.seq})
    for before, after in zip([0, *there], [*there, last + 1], strict=True):
        if after - before > 1:
            lost = f"record {before + 1}"
            if after - before > 2:
                lost += f" to {after - 1}"
            path = runs / f"{before + 1:08d}-..."
            yield ChainFault(before + 1, path, f"missing: {lost} was removed")


def _link_faults(
    links: list[Link], witnesses: list[tuple[str, Head | None]]
) -> Iterator[ChainFault]:
    """
    Check each record against the heads and the next record, from the newest to the oldest.

    When a link breaks, blame the record whose hash HEAD or its successor does not confirm. What a blamed record says
    about its predecessor is ignored.
    """
    successor: Link | None = None
    trusted = True
    for link in reversed(links):
        faults = [*_own_faults(link, witnesses), *_unentered_faults(link, witnesses[0][1])]
        if successor is not None and successor.seq == link.seq:
            faults.append(f"there is a second record {link.seq}: the chain is forked")
        elif successor is not None and trusted and not _is_named_by(link, successor):
            faults.append(f"is not the record that record {successor.seq} names")
        yield from (ChainFault(link.seq, link.path, fault) for fault in faults)
        successor = link
        trusted = not faults


def _own_faults(link: Link, witnesses: list[tuple[str, Head | None]]) -> Iterator[str]:
    if link.fault is not None:
        yield link.fault
    elif link.seq == 1 and link.stated is not None and link.stated.prev_hash != GENESIS:
        yield "is the first record, but names one before it"
    for name, head in witnesses:
        if head is not None and head.seq == link.seq and head.sha256 != link.sha256:
            yield f"is not the record that {name} names: edited or exchanged"


def _is_named_by(link: Link, successor: Link) -> bool:
    if successor.seq != link.seq + 1 or successor.stated is None:
        return True  # a record is missing between them, which _gaps() reports
    return successor.stated.prev_hash == link.sha256


def _unentered_faults(link: Link, head: Head | None) -> Iterator[str]:
    # One more than the head names is what a killed process leaves; see unentered().
    if head is None or link.seq <= head.seq:
        return
    if link.seq > head.seq + 1:
        yield f"not entered in {HEAD_FILE}: added by hand"
    elif link.stated is not None and link.stated.prev_hash != head.sha256:
        yield f"does not follow the record that {HEAD_FILE} names: added by hand"
