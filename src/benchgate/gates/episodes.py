"""
Notes on the RL payloads of a run: whether its episodes are whole, and whether they are different ones.

None of them blocks. Each names cases and values, so that a reader can look at the payload.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from benchgate.errors import counted, excerpt, few

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from benchgate.gates.decision import Blocker
    from benchgate.training.episodes import Episode

REPEATS: Final = 4
"""
Repetitions of an episode, of all cases together, from which on they are no chance: five trials of one case, say.

In a quiet environment two trials of a short case are often the same, whatever their seeds are.
"""

LONGEST_ID: Final = 60


def episode_notes(episodes: Sequence[Episode]) -> Iterator[Blocker]:
    """Yield code and message of each note on the payloads of a run."""
    count = sum(not one.has_advantages for one in episodes)
    if count:
        unchecked = "they were not compared with the steps"
        yield "no_advantages", f"trials without advantages: {count}; {unchecked}"
    early = [
        f"{one.name} at step {one.goes_on_after} of {one.length}"
        for one in episodes
        if one.goes_on_after is not None
    ]
    if early:
        text = f"an RL trajectory goes on after done = true: {few(early)}"
        yield "done_before_end", f"{text}; a trajectory is one episode"
    open_ended = [one.name for one in episodes if not one.ends]
    if open_ended:
        text = f"the last step of an RL trajectory is not done: {few(open_ended)}"
        yield "no_done_at_end", f"{text}; an episode ends when it terminates or is truncated"
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
    text = f"{len(found)} trials have the trajectory_id {excerpt(name, LONGEST_ID)!r}: "
    text += few(one.name for one in found)
    if len(shared) > 1:
        text += f"; and {counted(len(shared) - 1, 'other id')} of several episodes"
    yield "shared_trajectory_id", f"{text}; each episode needs an id of its own"


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
    named = [f"{case_id} {len(found)} times" for case_id, found in several.items()]
    text = f"all trials of a case are one episode, step by step: {few(named)}"
    why = "the system may ignore case.seed; if nothing in it is random, one trial a case tells as much"
    yield "same_episode", f"{text}; {why}"
