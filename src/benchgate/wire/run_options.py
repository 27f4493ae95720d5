"""The options of a run, in one table for pytest and ``benchgate run``; each is explained in :mod:`.arguments`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchgate.wire.argument_types import (
    baseline,
    cassette_name,
    choice,
    dollars,
    executor,
    natural,
    path,
    positive,
    recording,
    run_reference,
    seconds,
    shard,
)
from benchgate.wire.arguments import PREFIX, RunOption

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

RUN_OPTIONS: Final = (
    RunOption(
        name="system",
        metavar="NAME|module:attr",
        help="System under test (default: the class's default system)",
    ),
    RunOption(
        name="baseline",
        metavar="auto|pinned|none|run:SYSTEM|N|PATH",
        help="Run to compare with; auto is bench/<class>/baseline.json if there is one, run:SYSTEM runs that system "
        "too, case by case beside the candidate, N is the number of a run (default: auto)",
        parse=baseline,
        default="auto",
    ),
    RunOption(
        name="trials",
        metavar="K",
        help="Trials of each case, each with its own seed (default: 1)",
        parse=positive,
        default=1,
    ),
    RunOption(
        name="seed",
        metavar="N",
        help="Seed that the seeds of the trials are derived from (default: 0)",
        parse=natural,
        default=0,
    ),
    RunOption(
        name="timeout",
        metavar="SECONDS",
        help="Time limit of a trial whose case names no timeout_seconds (default: 600)",
        parse=seconds,
        default=600.0,
    ),
    RunOption(
        name="jobs",
        metavar="N",
        help="Trials that run at once in each process, async systems on one event loop (default: 1)",
        parse=positive,
        default=1,
    ),
    RunOption(
        name="executor",
        metavar="dask://HOST:PORT",
        help="Run the trials on the workers of a Dask cluster; needs the extra 'dask' (default: in this process)",
        parse=executor,
    ),
    RunOption(
        name="retries",
        metavar="N",
        help="Further attempts of a trial whose system was unavailable (default: 3)",
        parse=natural,
        default=3,
    ),
    RunOption(
        name="max-rpm",
        metavar="N",
        help="Attempts started per minute, all trials of the session together (default: unlimited)",
        parse=positive,
    ),
    RunOption(
        name="max-cost-usd",
        metavar="USD",
        help="Cap of what all trials of the session cost, in US dollars: none starts that could pass it "
        "(default: unlimited)",
        parse=dollars,
    ),
    RunOption(
        name="resume",
        metavar="auto|none|RUN",
        help="Complete a full run that was killed, stopped or held up by an outage: a folder of runs/CLASS/ or a "
        "number; alone it is auto, the newest one of each class. Write it as one word (default: none)",
        parse=run_reference,
        default="none",
        bare="auto",
    ),
    RunOption(
        name="shard",
        metavar="I/N",
        help="Run part I of N of the cases, for benchgate merge to put together with the others",
        parse=shard,
    ),
    RunOption(
        name="record",
        metavar="NAME",
        help="Keep what the system returned, or how it failed, in cassettes/NAME/ of the class; of a complete run only",
        parse=cassette_name,
    ),
    RunOption(
        name="replay",
        metavar="NAME|RUN",
        help="Score what was recorded, and call no system: a cassette of the class, or a folder of runs/CLASS/ or the "
        "number of a record",
        parse=recording,
    ),
    RunOption(
        name="policy",
        metavar="KEY=VALUE|gate.toml",
        help="A threshold of the gate, over the gate.toml of the class, or a file in its place; repeatable. benchgate "
        "policy lists the keys",
        parse=lambda text: text if "=" in text else Path(text),
        repeatable=True,
    ),
    RunOption(
        name="plan",
        metavar="FILE",
        help="Sealed plan that this run keeps, as benchgate plan wrote it: the proof names it, and a bar that was "
        "moved since holds the promotion",
        parse=path,
    ),
    RunOption(
        name="out",
        metavar="DIR",
        help="Folder of the artifacts (default under pytest: .benchgate in rootdir; else nothing is written)",
        parse=path,
    ),
    RunOption(
        name="html",
        metavar="FILE",
        help="Also write a page on what was decided and why, of all classes of the session; needs the extra 'report'",
        parse=path,
    ),
    RunOption(
        name="checkpoint",
        metavar="FILE",
        help="Checkpoint record that the trajectories of this run must belong to; it becomes the subject",
        parse=path,
    ),
    RunOption(
        name="baseline-checkpoint",
        metavar="FILE",
        help="Checkpoint record of the baseline, named in the proof",
        parse=path,
    ),
    RunOption(
        name="lineage",
        metavar="FILE",
        help="JSON array of checkpoint records; the baseline's must be an ancestor of the candidate's",
        parse=path,
    ),
)
"""The options that pytest and ``benchgate run`` share."""

EXIT_OPTION: Final = RunOption(
    name="exit",
    metavar="strict|gate",
    help="strict: failing cases fail the session; gate: only completeness, block severities and the gate do "
    "(default: strict)",
    parse=choice("strict", "gate"),
    default="strict",
)
"""For pytest only: the exit status of ``benchgate run`` always follows the gate."""

JUNIT_OPTION: Final = RunOption(
    name="junit-gate",
    metavar="yes|no",
    help="Add the gate of each class to --junitxml as a test case, which fails if the gate binds and does not promote; "
    "alone it is yes. Write it as one word (default: no)",
    parse=choice("yes", "no"),
    default="no",
    bare="yes",
)

PYTEST_OPTIONS: Final = (EXIT_OPTION, JUNIT_OPTION)
"""The options that pytest alone has."""


ACTOR: Final = f"{PREFIX}ACTOR"
"""No option: names who is at work, for records and pins, where no CI does."""


def misspelled(environ: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each variable that nearly has the name of an option's."""
    import difflib

    known = {ACTOR, *(option.variable for option in (*RUN_OPTIONS, *PYTEST_OPTIONS))}
    keys = [variable.removeprefix(PREFIX) for variable in known]
    for name in sorted(environ):
        if name.startswith(PREFIX) and name not in known:
            for near in difflib.get_close_matches(name.removeprefix(PREFIX), keys, n=1):
                yield f"{name} is not read; did you mean {PREFIX}{near}?"
