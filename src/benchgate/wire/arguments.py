"""
The options of a run, in one table for pytest and ``benchgate run``.

The option ``trials`` is ``--bench-trials`` under pytest and ``--trials`` under ``benchgate run``. Both read
``BENCHGATE_TRIALS`` from the environment, pytest also ``bench_trials`` from its ini file. The command line wins over
the environment, the environment over the ini file, and that over the class's ``gate.toml``. This module imports
little, because every pytest run loads it.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

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

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

PREFIX: Final = "BENCHGATE_"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOption:
    """
    One option of a run.

    :param parse: converts its text, from the command line, the environment or the ini file.
    :param repeatable: all values count, those of the command line last.
    :param bare: its text if it is given without one; ``None`` if it must have one.
    """

    name: str
    metavar: str
    help: str
    parse: Callable[[str], Any] = str
    default: Any = None
    repeatable: bool = False
    bare: str | None = None

    @property
    def key(self) -> str:
        """The name as an identifier; ``bench_<key>`` is the ini setting."""
        return self.name.replace("-", "_")

    @property
    def variable(self) -> str:
        """Name of the environment variable."""
        return f"{PREFIX}{self.key.upper()}"

    @property
    def is_number(self) -> bool:
        """Whether its text must be a number."""
        return self.parse in {natural, positive, seconds, dollars}

    def declare(self, add: Callable[..., object], prefix: str) -> None:
        """Declare the option with ``add``, which is argparse's ``add_argument`` or pytest's ``addoption``."""
        kind: dict[str, Any] = {"type": self.parse}
        if self.repeatable:
            kind["action"] = "append"
        if self.bare is not None:
            kind |= {"nargs": "?", "const": self.bare}
        dest = f"{prefix}{self.name}".replace("-", "_")
        add(f"--{prefix}{self.name}", dest=dest, metavar=self.metavar, help=self.help, **kind)

    def value(
        self,
        given: Any,
        *,
        environ: Mapping[str, str],
        here: Path,
        ini: str | None = None,
        ini_folder: Path | None = None,
    ) -> Any:
        """
        Return the option's value: from the command line, else the environment, else the ini file, else ``None``.

        :param given: from the command line; ``None`` if it was not given.
        :param ini: text from the ini file; here and in the environment, each line is a value of a repeatable option.
        :param here: folder that relative paths start from; those in the ini file start from ``ini_folder``.
        :raises argparse.ArgumentTypeError: a text that cannot be parsed; the message says where it came from.
        """
        sources = (
            (ini, f"bench_{self.key}", ini_folder or here),
            (environ.get(self.variable) or None, self.variable, here),
        )
        found = [
            self._parse_text(text, source, folder)
            for text, source, folder in sources
            if text is not None
        ]
        if given is not None:
            found.append(
                [_resolve(value, here) for value in (given if self.repeatable else [given])]
            )
        if self.repeatable:
            return tuple(value for values in found for value in values)
        return found[-1][0] if found else None

    def _parse_text(self, text: str, source: str, folder: Path) -> list[Any]:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        try:
            texts = lines if self.repeatable else [text.strip()]
            return [_resolve(self.parse(one), folder) for one in texts]
        except argparse.ArgumentTypeError as error:
            msg = f"{source}: {error}"
            raise argparse.ArgumentTypeError(msg) from None


def _resolve(value: Any, folder: Path) -> Any:
    return folder / value if isinstance(value, Path) else value


RUN_OPTIONS: Final = (
    RunOption(
        name="system",
        metavar="NAME|module:attr",
        help="System under test (default: the class's default system)",
    ),
    RunOption(
        name="baseline",
        metavar="auto|pinned|none|run:SYSTEM|PATH",
        help="Run to compare with; auto is bench/<class>/baseline.json if there is one, run:SYSTEM runs that system "
        "too, case by case beside the candidate (default: auto)",
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
        name="claim",
        metavar="better|not_worse|no_regression",
        help="What a promotion is to state of the candidate, over gate.toml; not_worse needs policy margin=X",
        parse=choice("better", "not_worse", "no_regression"),
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


def read_options(
    options: Iterable[RunOption],
    value_of: Callable[[RunOption], Any],
    declared: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Any]:
    """
    Return the value of each option by its key.

    :param value_of: returns ``None`` for an option that was not given.
    :param declared: what counts for these, by key, before their defaults.
    :raises argparse.ArgumentTypeError: texts that cannot be parsed; one message for all of them.
    """
    values, wrong = {}, []
    for option in options:
        try:
            given = (value_of(option), declared.get(option.key), option.default)
            values[option.key] = next((value for value in given if value is not None), None)
        except argparse.ArgumentTypeError as error:
            wrong.append(str(error))
    if wrong:
        raise argparse.ArgumentTypeError("\n".join(wrong))
    _check_together(values)
    if wanted := values.pop("claim", None):
        values["policy"] = (*(values["policy"] or ()), f"claim={wanted}")
    if values.get("replay") is not None:  # nobody is asked for anything, and nothing is paid
        values |= {"executor": None, "retries": 0, "max_rpm": None, "max_cost_usd": None}
    return values


def threshold_places(
    given: Mapping[str, Any],
    environ: Mapping[str, str],
    ini: Mapping[str, Any] = MappingProxyType({}),
    command_line: Callable[[str], str] = lambda _: "the command line",
) -> dict[str, str]:
    """
    Return where each threshold is from that a class's ``gate.toml`` does not set, by its key or the file of all.

    :param given: ``policy`` and ``claim`` from the command line; ``ini`` from the ini file.
    :param command_line: names the place of a text of ``given``.
    """
    places = {}
    for name in ("policy", "claim"):  # the option claim wins over a claim among the thresholds
        variable = f"{PREFIX}{name.upper()}"
        values = (
            (f"the ini setting bench_{name}", ini.get(name)),
            (f"the environment, {variable}", environ.get(variable)),
            (None, given.get(name)),
        )
        for place, value in values:
            for text in value.splitlines() if isinstance(value, str) else map(str, value or ()):
                key = "claim" if name == "claim" else text.partition("=")[0].strip()
                places[key] = place or command_line(text)
    return places


def _check_together(values: Mapping[str, Any]) -> None:
    record, replay, baseline = (values.get(key) for key in ("record", "replay", "baseline"))
    shard, resume = values.get("shard"), values.get("resume")
    wrong = None
    if record is not None and replay is not None:
        wrong = f"record {record} and replay {replay}: what is replayed is recorded already"
    elif (record or replay) is not None and str(baseline).startswith("run:"):
        option = f"record {record}" if record is not None else f"replay {replay}"
        wrong = f"{option} and baseline {baseline}: one system at a time is recorded or replayed; pin the baseline"
    elif record is not None and values.get("executor") is not None:
        wrong = (
            f"record {record} and executor {values['executor']}: record where the run is started"
        )
    elif shard is not None and (record or replay) is not None:
        wrong = f"shard {shard}: a part of a run is neither recorded nor replayed"
    elif shard is not None and resume not in (None, "none"):
        wrong = f"shard {shard} and resume {resume}: run the shard again; it replaces its folder"
    elif shard is not None and values.get("plan") is not None:
        wrong = f"shard {shard} and plan {values['plan']}: the whole run cites a plan; give it to benchgate merge"
    if wrong is not None:
        raise argparse.ArgumentTypeError(wrong)


def misspelled(environ: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each variable that nearly has the name of an option's."""
    import difflib

    known = {option.variable for option in (*RUN_OPTIONS, *PYTEST_OPTIONS)}
    keys = [variable.removeprefix(PREFIX) for variable in known]
    for name in sorted(environ):
        if name.startswith(PREFIX) and name not in known:
            for near in difflib.get_close_matches(name.removeprefix(PREFIX), keys, n=1):
                yield f"{name} is not read; did you mean {PREFIX}{near}?"
