"""
Notes on the RL payloads of a run: whether its episodes are whole, and whether they are different ones.

None of them blocks. Each names cases and values, so that a reader can look at the payload.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from benchgate.errors import excerpt
from benchgate.sentences.says import names, parts, says

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from benchgate.gates.decision import Blocker
    from benchgate.sentences.says import Says
    from benchgate.training.episodes import Episode

REPEATS: Final = 4
"""
Repetitions of an episode, of all cases together, from which on they are no chance: five trials of one case, say.

In a quiet environment two trials of a short case are often the same, whatever their seeds are.
"""

LONGEST_ID: Final = 60


def episode_notes(episodes: Sequence[Episode]) -> Iterator[Blocker]:
    """Yield code and sentence of each note on the payloads of a run."""
    count = sum(not one.has_advantages for one in episodes)
    if count:
        yield "no_advantages", says("no_advantages", count=count)
    early = [
        says("done_before_end.trial", trial=one.name, step=one.goes_on_after, length=one.length)
        for one in episodes
        if one.goes_on_after is not None
    ]
    if early:
        yield "done_before_end", says("done_before_end", trials=parts(early))
    open_ended = [one.name for one in episodes if not one.ends]
    if open_ended:
        yield "no_done_at_end", says("no_done_at_end", trials=names(open_ended))
    yield from _shared_ids(episodes)
    yield from _repeated(episodes)


def _shared_ids(episodes: Iterable[Episode]) -> Iterator[Blocker]:
    """Yield which ``trajectory_id`` more than one episode has; trials that are one episode may share it."""
    by_id: defaultdict[str, list[Episode]] = defaultdict(list)
    for one in episodes:
        by_id[one.trajectory_id].append(one)
    shared = {
        name: found
        for name, found in by_id.items()
        if len({(one.case_id, one.steps) for one in found}) > 1
    }
    if not shared:
        return
    name, found = max(shared.items(), key=lambda item: len(item[1]))
    yield "shared_trajectory_id", _shared(name, found, len(shared) - 1)


def _shared(name: str, found: Sequence[Episode], others: int) -> Says:
    identifier = excerpt(name, LONGEST_ID)
    trials = names(one.name for one in found)
    count = len(found)
    if not others:
        return says("shared_trajectory_id.one", count=count, id=identifier, trials=trials)
    return says(
        "shared_trajectory_id.several", count=count, id=identifier, trials=trials, others=others
    )


def _repeated(episodes: Iterable[Episode]) -> Iterator[Blocker]:
    """Yield that no case has two trials that differ: of one case alone that may be chance."""
    by_case: defaultdict[str, list[Episode]] = defaultdict(list)
    for one in episodes:
        by_case[one.case_id].append(one)
    several = {case_id: found for case_id, found in by_case.items() if len(found) > 1}
    repeats = sum(len(found) - 1 for found in several.values())
    if repeats < REPEATS:
        return
    for found in several.values():
        if len({one.steps for one in found}) > 1:
            return
    cases = parts(
        says("same_episode.case", case=case_id, count=len(found))
        for case_id, found in several.items()
    )
    yield "same_episode", says("same_episode", cases=cases)
