"""
The table of all options of a run; a new option is a row here, and whoever acts on it.

From a row come the options of pytest and of ``benchgate run``, the ini setting, the variable in the environment, the
key of ``[run]`` in ``gate.toml``, the default of :class:`~benchgate.runner.settings.RunSettings` and what is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

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
    Choice,
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
    :param of_class: whether ``[run]`` of a class's ``gate.toml`` may set it: a default for all other places, or the
        least of an ordered choice, which no place lowers.
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
    of_class: Literal["no", "default", "least"] = "no"
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
ONE_SYSTEM: Final = "one system at a time is recorded or replayed; pin the baseline"
WHOLE: Final = "a part of a run is neither recorded nor replayed"
FLOOR: Final = "floor:.*"
OF_A_FLOOR: Final = "a floor is run whole, and compared with nothing"

RUN_OPTIONS: Final = (
    Option(
        name="system",
        metavar="NAME|module:attr",
        help="System under test, or floor:empty|floor:input",
        default_text="that of the class",
        daily=True,
        conflicts=(
            Conflict("baseline", OF_A_FLOOR, own=FLOOR, others="(?!none$).*"),
            Conflict("resume", OF_A_FLOOR, own=FLOOR),
            Conflict("shard", OF_A_FLOOR, own=FLOOR),
            Conflict("record", OF_A_FLOOR, own=FLOOR),
            Conflict("replay", OF_A_FLOOR, own=FLOOR),
            Conflict("reobserve", OF_A_FLOOR, own=FLOOR),
        ),
    ),
    Option(
        name="baseline",
        metavar="auto|pinned|none|run:SYSTEM|N|PATH",
        help="Run to beat",
        kind=BASELINE,
        default="auto",
        default_text="auto, the pinned one if any",
        daily=True,
    ),
    Option(
        name="trials",
        metavar="K",
        help="Trials of each case, each with its own seed",
        kind=POSITIVE,
        default=1,
        of_class="default",
        daily=True,
    ),
    Option(
        name="seed",
        metavar="N",
        help="Seed of the trials' seeds",
        kind=NATURAL,
        default=0,
        of_class="default",
    ),
    Option(
        name="timeout",
        metavar="SECONDS",
        help="Time limit of a trial whose case has none",
        kind=SECONDS,
        default=600.0,
        default_text="600",
        of_class="default",
    ),
    Option(
        name="jobs",
        metavar="N",
        help="Trials at once in each process",
        kind=POSITIVE,
        default=1,
        of_class="default",
        daily=True,
    ),
    Option(
        name="executor",
        metavar="dask://HOST:PORT",
        help="Run the trials on a Dask cluster; needs the extra 'dask'",
        kind=EXECUTOR,
    ),
    Option(
        name="allow-mixed-workers",
        metavar="yes|no",
        help="Workers may have other versions of packages; alone: yes",
        kind=YES_OR_NO,
        default="no",
        bare="yes",
    ),
    Option(
        name="isolation",
        metavar="none|process|sandbox",
        help="Where trials run; the higher of this and the class's counts",
        kind=Choice(LEVELS),
        default="none",
        of_class="least",
    ),
    Option(
        name="retries",
        metavar="N",
        help="Further tries of an unavailable system",
        kind=NATURAL,
        default=3,
        of_class="default",
    ),
    Option(
        name="max-rpm",
        metavar="N",
        help="Attempts started per minute",
        kind=POSITIVE,
        default_text="unlimited",
        of_class="default",
    ),
    Option(
        name="max-cost-usd",
        metavar="USD",
        help="Cap on the cost of all trials",
        kind=DOLLARS,
        default_text="unlimited",
        of_class="default",
    ),
    Option(
        name="stop",
        metavar="decided|never",
        help="Stop once no result of the rest could lead to promote",
        kind=Choice(("decided", "never")),
        default="never",
        of_class="default",
        conflicts=(
            Conflict("shard", "a part does not see the results of the others"),
            Conflict("executor", "it is for runs in one process"),
            Conflict(
                "baseline",
                "both sides are run case by case; pin the baseline, or name its file",
                others=RUN_BESIDE,
            ),
        ),
    ),
    Option(
        name="resume",
        metavar="auto|none|RUN",
        help="Finish an interrupted run: alone the newest, else this one",
        kind=RESUMED_RUN,
        default="none",
        bare="auto",
        daily=True,
        needs_out="only a run that was written can be resumed",
    ),
    Option(
        name="shard",
        metavar="I/N",
        help="Run part I of N, for benchgate merge",
        kind=SHARD,
        conflicts=(
            Conflict("record", WHOLE),
            Conflict("replay", WHOLE),
            Conflict("reobserve", WHOLE),
            Conflict(
                "resume",
                "a shard goes on with what is in its own folder, and no other run is named",
                others="(?!auto$).*",
            ),
        ),
    ),
    Option(
        name="record",
        metavar="NAME",
        help="Keep all outputs of a complete run in cassettes/NAME/",
        kind=CASSETTE_TO_WRITE,
        conflicts=(
            Conflict("replay", "what is replayed is recorded already"),
            Conflict("baseline", ONE_SYSTEM, others=RUN_BESIDE),
            Conflict("executor", "record where the run is started"),
        ),
    ),
    Option(
        name="replay",
        metavar="NAME|RUN",
        help="Score recorded outputs, and call no system",
        kind=RECORDING,
        conflicts=(Conflict("baseline", ONE_SYSTEM, others=RUN_BESIDE),),
    ),
    Option(
        name="reobserve",
        metavar="NAME|RUN",
        help="Observe and score recorded outputs again, and call no system",
        kind=RECORDING,
        conflicts=(
            Conflict("replay", "either the observations are recorded ones, or they are new"),
            Conflict("baseline", ONE_SYSTEM, others=RUN_BESIDE),
            Conflict("executor", "the outputs are here, and are observed here"),
        ),
    ),
    Option(
        name="policy",
        metavar="KEY=VALUE|gate.toml",
        help="Threshold of the gate, or a file; keys: benchgate policy",
        kind=THRESHOLD,
        repeatable=True,
        daily=True,
    ),
    Option(
        name="out",
        metavar="DIR",
        help="Folder of artifacts (pytest: .benchgate; else: none)",
        kind=PATH,
        daily=True,
    ),
    Option(
        name="html",
        metavar="FILE",
        help="Also write a page; needs the extra 'report'",
        kind=PATH,
        daily=True,
        needs_out="the page is made of the record",
    ),
    Option(
        name="checkpoint",
        metavar="FILE",
        help="Record of the candidate's checkpoint",
        kind=PATH,
    ),
    Option(
        name="baseline-checkpoint",
        metavar="FILE",
        help="Record of the baseline's checkpoint",
        kind=PATH,
    ),
    Option(
        name="lineage",
        metavar="FILE",
        help="JSON array of checkpoint records, for the ancestry",
        kind=PATH,
    ),
)
"""The options that pytest and ``benchgate run`` share."""

PYTEST_OPTIONS: Final = (
    Option(
        name="exit",
        metavar="strict|gate",
        help="strict: failing cases fail the session; gate: the gate decides alone",
        kind=Choice(("strict", "gate")),
        default="strict",
        daily=True,
    ),
    Option(
        name="junit-gate",
        metavar="yes|no",
        help="Add the gate to --junitxml as a test case; alone: yes",
        kind=YES_OR_NO,
        default="no",
        bare="yes",
    ),
)
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
