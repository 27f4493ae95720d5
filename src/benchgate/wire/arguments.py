"""
The options of a run: one table for pytest and ``benchgate run``.

The option ``trials`` is ``--bench-trials`` under pytest and ``--trials`` under ``benchgate run``. Both read
``BENCHGATE_TRIALS`` from the environment, pytest also ``bench_trials`` from its ini file. The command line wins over
the environment, the environment over the ini file. Standard library only: every pytest run loads this module.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MAX_SECONDS: Final = 10_000_000
"""Longest time limit; the system's alarms take no more than a few hundred days."""


def natural(text: str) -> int:
    """
    Read a whole number, 0 or more.

    :raises argparse.ArgumentTypeError: it is none.
    """
    return _at_least(0, text)


def positive(text: str) -> int:
    """
    Read a whole number, 1 or more.

    :raises argparse.ArgumentTypeError: it is none.
    """
    return _at_least(1, text)


def _at_least(low: int, text: str) -> int:
    if not text.isdecimal() or int(text) < low:
        msg = f"{text!r}: expected a whole number, {low} or more"
        raise argparse.ArgumentTypeError(msg)
    return int(text)


def seconds(text: str) -> float:
    """
    Read a time limit.

    :raises argparse.ArgumentTypeError: no number, 0 or less, or more than :data:`MAX_SECONDS`.
    """
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number <= MAX_SECONDS:
        msg = f"{text!r}: expected seconds, more than 0 and at most {MAX_SECONDS}"
        raise argparse.ArgumentTypeError(msg)
    return number


def exit_rule(text: str) -> str:
    """
    Read what decides the exit status.

    :raises argparse.ArgumentTypeError: no such rule.
    """
    if text not in {"strict", "gate"}:
        msg = f"{text!r}: expected strict or gate"
        raise argparse.ArgumentTypeError(msg)
    return text


def baseline(text: str) -> str | Path:
    """Read which run to compare with: one of three words, else the path of its record."""
    return text if text in {"auto", "pinned", "none"} else Path(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOption:
    """
    One option of a run.

    :param parse: reads its text, wherever that came from.
    :param repeatable: each value counts; those that win come last.
    """

    name: str
    metavar: str
    help: str
    parse: Callable[[str], Any] = str
    default: Any = None
    repeatable: bool = False

    @property
    def key(self) -> str:
        """Name as an identifier; of the ini setting it is what follows ``bench_``."""
        return self.name.replace("-", "_")

    @property
    def variable(self) -> str:
        """Key of the environment."""
        return f"BENCHGATE_{self.key.upper()}"

    def declare(self, add: Callable[..., object], prefix: str) -> None:
        """Declare the option with ``add_argument`` of a parser, or with what pytest has in its place."""
        kind = {"action": "append"} if self.repeatable else {"type": self.parse}
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
        Return the value of the option from the first place that has one.

        :param given: from the command line, ``None`` if it is not there.
        :param ini: its text in the ini file; several values are on lines of their own, in the environment too.
        :param here: what relative paths are relative to; in the ini file it is ``ini_folder``.
        :raises argparse.ArgumentTypeError: a text that cannot be read, naming its place.
        """
        places = (
            (ini, f"bench_{self.key}", ini_folder or here),
            (environ.get(self.variable) or None, self.variable, here),
        )
        read = [
            self._read(text, place, folder) for text, place, folder in places if text is not None
        ]
        if given is not None:
            read.append(
                [_located(value, here) for value in (given if self.repeatable else [given])]
            )
        if self.repeatable:
            return tuple(value for values in read for value in values)
        return read[-1][0] if read else self.default

    def _read(self, text: str, place: str, folder: Path) -> list[Any]:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        try:
            texts = lines if self.repeatable else [text.strip()]
            return [_located(self.parse(one), folder) for one in texts]
        except argparse.ArgumentTypeError as error:
            msg = f"{place}: {error}"
            raise argparse.ArgumentTypeError(msg) from None


def _located(value: Any, folder: Path) -> Any:
    return folder / value if isinstance(value, Path) else value


RUN_OPTIONS: Final = (
    RunOption(
        name="system",
        metavar="NAME|module:attr",
        help="System under test (default: the class's default system)",
    ),
    RunOption(
        name="baseline",
        metavar="auto|pinned|none|PATH",
        help="Run to compare with; auto is bench/<class>/baseline.json if there is one (default: auto)",
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
        name="policy",
        metavar="KEY=VALUE",
        help="A threshold of the gate, over gate.toml; repeatable",
        repeatable=True,
    ),
    RunOption(
        name="out",
        metavar="DIR",
        help="Folder of the artifacts (default under pytest: .benchgate in rootdir; else nothing is written)",
        parse=Path,
    ),
    RunOption(
        name="checkpoint",
        metavar="FILE",
        help="Checkpoint record that the trajectories of this run must belong to; it becomes the subject",
        parse=Path,
    ),
    RunOption(
        name="baseline-checkpoint",
        metavar="FILE",
        help="Checkpoint record of the baseline, named in the proof",
        parse=Path,
    ),
    RunOption(
        name="lineage",
        metavar="FILE",
        help="JSON array of checkpoint records; the baseline's must be an ancestor of the candidate's",
        parse=Path,
    ),
)
"""What pytest and ``benchgate run`` both take."""

EXIT_OPTION: Final = RunOption(
    name="exit",
    metavar="strict|gate",
    help="strict: failing cases fail the session; gate: only completeness, block severities and the gate do "
    "(default: strict)",
    parse=exit_rule,
    default="strict",
)
"""Of pytest alone: ``benchgate run`` always decides by the gate."""
