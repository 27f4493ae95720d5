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
from benchgate.wire.arguments import LEVELS, PREFIX, RunOption

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def _file(name: str, what: str) -> RunOption:
    """Return an option that names a file."""
    return RunOption(name=name, metavar="FILE", help=what, parse=path)


RUN_OPTIONS: Final = (
    RunOption(
        name="system",
        metavar="NAME|module:attr",
        help="System under test, or floor:empty|floor:input (default: that of the class)",
    ),
    RunOption(
        name="baseline",
        metavar="auto|pinned|none|run:SYSTEM|N|PATH",
        help="Run to beat (default: auto, the pinned one if any)",
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
        help="Seed of the trials' seeds (default: 0)",
        parse=natural,
        default=0,
    ),
    RunOption(
        name="timeout",
        metavar="SECONDS",
        help="Time limit of a trial whose case has none (default: 600)",
        parse=seconds,
        default=600.0,
    ),
    RunOption(
        name="jobs",
        metavar="N",
        help="Trials at once in each process (default: 1)",
        parse=positive,
        default=1,
    ),
    RunOption(
        name="executor",
        metavar="dask://HOST:PORT",
        help="Run the trials on a Dask cluster; needs the extra 'dask'",
        parse=executor,
    ),
    RunOption(
        name="allow-mixed-workers",
        metavar="yes|no",
        help="Workers may have other versions of packages; alone: yes. Write it as one word (default: no)",
        parse=choice("yes", "no"),
        default="no",
        bare="yes",
    ),
    RunOption(
        name="isolation",
        metavar="none|process|sandbox",
        help="Where trials run; the higher of this and the class's counts (default: none)",
        parse=choice(*LEVELS),
        default="none",
    ),
    RunOption(
        name="retries",
        metavar="N",
        help="Further tries of an unavailable system (default: 3)",
        parse=natural,
        default=3,
    ),
    RunOption(
        name="max-rpm",
        metavar="N",
        help="Attempts started per minute (default: unlimited)",
        parse=positive,
    ),
    RunOption(
        name="max-cost-usd",
        metavar="USD",
        help="Cap on the cost of all trials (default: unlimited)",
        parse=dollars,
    ),
    RunOption(
        name="stop",
        metavar="decided|never",
        help="Stop once no result of the rest could lead to promote (default: never)",
        parse=choice("decided", "never"),
        default="never",
    ),
    RunOption(
        name="resume",
        metavar="auto|none|RUN",
        help="Finish an interrupted run: alone the newest, else this one. Write it as one word (default: none)",
        parse=run_reference,
        default="none",
        bare="auto",
    ),
    RunOption(
        name="shard",
        metavar="I/N",
        help="Run part I of N, for benchgate merge",
        parse=shard,
    ),
    RunOption(
        name="record",
        metavar="NAME",
        help="Keep all outputs of a complete run in cassettes/NAME/",
        parse=cassette_name,
    ),
    RunOption(
        name="replay",
        metavar="NAME|RUN",
        help="Score recorded outputs, and call no system",
        parse=recording,
    ),
    RunOption(
        name="reobserve",
        metavar="NAME|RUN",
        help="Observe and score recorded outputs again, and call no system",
        parse=recording,
    ),
    RunOption(
        name="policy",
        metavar="KEY=VALUE|gate.toml",
        help="Threshold of the gate, or a file; keys: benchgate policy",
        parse=lambda text: text if "=" in text else Path(text),
        repeatable=True,
    ),
    RunOption(
        name="out",
        metavar="DIR",
        help="Folder of artifacts (pytest: .benchgate; else: none)",
        parse=path,
    ),
    _file("html", "Also write a page; needs the extra 'report'"),
    _file("checkpoint", "Record of the candidate's checkpoint"),
    _file("baseline-checkpoint", "Record of the baseline's checkpoint"),
    _file("lineage", "JSON array of checkpoint records, for the ancestry"),
)
"""The options that pytest and ``benchgate run`` share."""

EXIT_OPTION: Final = RunOption(
    name="exit",
    metavar="strict|gate",
    help="strict: failing cases fail the session; gate: the gate decides alone (default: strict)",
    parse=choice("strict", "gate"),
    default="strict",
)
"""For pytest only: the exit status of ``benchgate run`` always follows the gate."""

JUNIT_OPTION: Final = RunOption(
    name="junit-gate",
    metavar="yes|no",
    help="Add the gate to --junitxml as a test case; alone: yes. Write it as one word (default: no)",
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

    variables = {ACTOR, *(option.variable for option in (*RUN_OPTIONS, *PYTEST_OPTIONS))}
    keys = [variable.removeprefix(PREFIX) for variable in variables]
    for name in sorted(environ):
        if name.startswith(PREFIX) and name not in variables:
            for near in difflib.get_close_matches(name.removeprefix(PREFIX), keys, n=1):
                yield f"{name} is not read; did you mean {PREFIX}{near}?"
