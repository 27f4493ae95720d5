"""
The table of all options of a run; a new option is a row here, and whoever acts on it.

From a row come the options of pytest and of ``benchgate run``, the ini setting, the variable in the environment, the
key of ``[run]`` in ``gate.toml``, the default of :class:`~benchgate.runner.settings.RunSettings` and what is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from benchgate.options.kinds import (
    BASELINE,
    CASSETTE_TO_WRITE,
    DOLLARS,
    EXECUTOR,
    NATURAL,
    PATH,
    POSITIVE,
    RECORDING,
    RESUMED_RUN,
    SECONDS,
    SHARD,
    TEXT,
    THRESHOLD,
    YES_OR_NO,
    choice,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.options.kinds import Kind

PREFIX: Final = "BENCHGATE_"
ACTOR: Final = f"{PREFIX}ACTOR"
"""No option: names who is at work, for records and pins, where no CI does."""

LEVELS: Final = ("none", "process", "sandbox")
"""Of isolation, lowest first."""


class Conflict(NamedTuple):
    """
    Another option that an option excludes.

    :param own: which values of the option do, as a regular expression; a default excludes nothing.
    :param others: which values of the other one it excludes.
    """

    other: str
    why: str
    own: str = ".*"
    others: str = ".*"


class Option(NamedTuple):
    """
    One option of a run.

    :param default_text: how help says the default, if not by its value.
    :param bare: its text if it is given without one; ``None`` if it must have one.
    :param repeatable: all values count, those of the command line last.
    :param of_class: ``[run]`` of a class's ``gate.toml`` may set it, below all other places.
    :param least_of_class: no other place goes below what the class says; of choices, which are ordered.
    :param daily: ``pytest --help`` shows it first.
    :param conflicts: each pair of options that exclude each other is in the row of one of them.
    :param needs_out: why it needs an output folder; empty if it does not.
    """

    name: str
    metavar: str
    help: str
    kind: Kind = TEXT
    default: Any = None
    default_text: str = ""
    bare: str | None = None
    repeatable: bool = False
    of_class: bool = False
    least_of_class: bool = False
    daily: bool = False
    conflicts: tuple[Conflict, ...] = ()
    needs_out: str = ""

    @property
    def key(self) -> str:
        """The name as an identifier."""
        return self.name.replace("-", "_")

    @property
    def variable(self) -> str:
        """Name of the environment variable."""
        return f"{PREFIX}{self.key.upper()}"

    @property
    def setting(self) -> str:
        """Name in the ini file of pytest."""
        return f"bench_{self.key}"

    @property
    def full_help(self) -> str:
        """The help with the default."""
        text = self.help
        if self.bare is not None:
            text += ". Write it as one word"
        if self.default is not None or self.default_text:
            text += f" (default: {self.default_text or self.default})"
        return text

    def declare(self, add: Callable[..., object], prefix: str = "") -> None:
        """Declare the option with ``add``, which is argparse's ``add_argument`` or pytest's ``addoption``."""
        more: dict[str, Any] = {}
        if self.repeatable:
            more["action"] = "append"
        if self.bare is not None:
            more |= {"nargs": "?", "const": self.bare}
        add(
            f"--{prefix}{self.name}",
            dest=f"{prefix}{self.name}".replace("-", "_"),
            type=self.kind.read,
            metavar=self.metavar,
            help=self.full_help,
            **more,
        )


RUN_BESIDE: Final = "run:.*"
FLOOR: Final = "floor:.*"
ONE_SYSTEM: Final = "one system at a time is recorded or replayed; pin the baseline"
WHOLE: Final = "a part of a run is neither recorded nor replayed"
FLOOR_WHOLE: Final = "a floor is run whole"
FLOOR_KNOWN: Final = "what a floor returns needs no recording"

# A row has a line of what people read, one of the values that it takes, and one for each option that it excludes.
# fmt: off
RUN_OPTIONS: Final = (
    Option("system", "NAME|module:attr", "System under test, or floor:empty|floor:input",
           default_text="that of the class", daily=True, conflicts=(
               Conflict("baseline", "a floor is compared with nothing", own=FLOOR, others="(?!none$).*"),
               Conflict("resume", FLOOR_WHOLE, own=FLOOR),
               Conflict("shard", FLOOR_WHOLE, own=FLOOR),
               Conflict("record", FLOOR_KNOWN, own=FLOOR),
               Conflict("replay", FLOOR_KNOWN, own=FLOOR),
               Conflict("reobserve", FLOOR_KNOWN, own=FLOOR))),
    Option("baseline", "auto|pinned|none|run:SYSTEM|N|PATH", "Run to beat",
           BASELINE, "auto", default_text="auto, the pinned one if any", daily=True),
    Option("trials", "K", "Trials of each case, each with its own seed",
           POSITIVE, 1, of_class=True, daily=True),
    Option("seed", "N", "Seed of the trials' seeds",
           NATURAL, 0, of_class=True),
    Option("timeout", "SECONDS", "Time limit of a trial whose case has none",
           SECONDS, 600.0, default_text="600", of_class=True),
    Option("jobs", "N", "Trials at once in each process",
           POSITIVE, 1, of_class=True, daily=True),
    Option("executor", "dask://HOST:PORT", "Run the trials on a Dask cluster; needs the extra 'dask'",
           EXECUTOR),
    Option("allow-mixed-workers", "yes|no", "Workers may have other versions of packages; alone: yes",
           YES_OR_NO, "no", bare="yes"),
    Option("isolation", "none|process|sandbox", "Where trials run; the higher of this and the class's counts",
           choice(*LEVELS), "none", of_class=True, least_of_class=True),
    Option("retries", "N", "Further tries of an unavailable system",
           NATURAL, 3, of_class=True),
    Option("max-rpm", "N", "Attempts started per minute",
           POSITIVE, default_text="unlimited", of_class=True),
    Option("max-cost-usd", "USD", "Cap on the cost of all trials",
           DOLLARS, default_text="unlimited", of_class=True),
    Option("stop", "decided|never", "Stop once no result of the rest could lead to promote",
           choice("decided", "never"), "never", of_class=True, conflicts=(
               Conflict("shard", "a part does not see the results of the others"),
               Conflict("executor", "it is for runs in one process"),
               Conflict("baseline", "both sides are run case by case; pin the baseline, or name its file",
                        others=RUN_BESIDE))),
    Option("resume", "auto|none|RUN", "Finish an interrupted run: alone the newest, else this one",
           RESUMED_RUN, "none", bare="auto", daily=True,
           needs_out="only a run that was written can be resumed"),
    Option("shard", "I/N", "Run part I of N, for benchgate merge",
           SHARD, conflicts=(
               Conflict("record", WHOLE),
               Conflict("replay", WHOLE),
               Conflict("reobserve", WHOLE),
               Conflict("resume", "a shard goes on with what is in its own folder, and no other run is named",
                        others="(?!auto$).*"))),
    Option("record", "NAME", "Keep all outputs of a complete run in cassettes/NAME/",
           CASSETTE_TO_WRITE, conflicts=(
               Conflict("replay", "what is replayed is recorded already"),
               Conflict("baseline", ONE_SYSTEM, others=RUN_BESIDE),
               Conflict("executor", "record where the run is started"))),
    Option("replay", "NAME|RUN", "Score recorded outputs, and call no system",
           RECORDING, conflicts=(
               Conflict("baseline", ONE_SYSTEM, others=RUN_BESIDE),)),
    Option("reobserve", "NAME|RUN", "Observe and score recorded outputs again, and call no system",
           RECORDING, conflicts=(
               Conflict("replay", "either the observations are recorded ones, or they are new"),
               Conflict("baseline", ONE_SYSTEM, others=RUN_BESIDE),
               Conflict("executor", "the outputs are here, and are observed here"))),
    Option("policy", "KEY=VALUE|gate.toml", "Threshold of the gate, or a file; keys: benchgate policy",
           THRESHOLD, repeatable=True, daily=True),
    Option("out", "DIR", "Folder of artifacts (pytest: .benchgate; else: none)",
           PATH, daily=True),
    Option("html", "FILE", "Also write a page; needs the extra 'report'",
           PATH, daily=True, needs_out="the page is made of the record"),
    Option("checkpoint", "FILE", "Record of the candidate's checkpoint",
           PATH),
    Option("baseline-checkpoint", "FILE", "Record of the baseline's checkpoint",
           PATH),
    Option("lineage", "FILE", "JSON array of checkpoint records, for the ancestry",
           PATH),
)
"""The options that pytest and ``benchgate run`` share."""

PYTEST_OPTIONS: Final = (
    Option("exit", "strict|gate", "strict: failing cases fail the session; gate: the gate decides alone",
           choice("strict", "gate"), "strict", daily=True),
    Option("junit-gate", "yes|no", "Add the gate to --junitxml as a test case; alone: yes",
           YES_OR_NO, "no", bare="yes"),
)
# fmt: on
"""The options that pytest alone has: the exit status of ``benchgate run`` always follows the gate."""

BY_KEY: Final = {option.key: option for option in (*RUN_OPTIONS, *PYTEST_OPTIONS)}


def named(*names: str) -> tuple[Option, ...]:
    """Return the options of these names, in the order of the table."""
    return tuple(option for option in BY_KEY.values() if option.name in names)


IN_A_REPLAY: Final = {
    "executor": None,
    "retries": 0,
    "max_rpm": None,
    "max_cost_usd": None,
    "isolation": "none",
}
"""What counts in a replay whatever was given: no system is called, and nothing is paid."""
