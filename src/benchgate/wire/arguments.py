"""
What an option of a run is, and where its value comes from; :mod:`.run_options` is the table of all.

The option ``trials`` is ``--bench-trials`` under pytest and ``--trials`` under ``benchgate run``. Both read
``BENCHGATE_TRIALS`` from the environment, pytest also ``bench_trials`` from its ini file. The command line wins over
the environment, the environment over the ini file, and that over the class's ``gate.toml``. This module imports
little, because every pytest run loads it.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from benchgate.wire.argument_types import dollars, natural, positive, seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

PREFIX: Final = "BENCHGATE_"


class RunOption(NamedTuple):
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
        place_of: Callable[[str], str] = lambda _: "the command line",
    ) -> Any:
        """
        Return the option's value: from the command line, else the environment, else the ini file, else ``None``.

        :param given: from the command line; ``None`` if it was not given.
        :param ini: text from the ini file; here and in the environment, each line is a value of a repeatable option.
        :param here: folder that relative paths start from; those in the ini file start from ``ini_folder``.
        :param place_of: names the place of a text of ``given``: pytest puts others before the command line.
        :raises argparse.ArgumentTypeError: a text that cannot be parsed, or a key with two values in one place; the
            message says where it came from.
        """
        sources = (
            (ini, f"bench_{self.key}", ini_folder or here),
            (environ.get(self.variable) or None, self.variable, here),
        )
        values_by_place = [
            self._parse_text(text, source, folder)
            for text, source, folder in sources
            if text is not None
        ]
        if given is not None:
            values_by_place.append(
                [_resolve(value, here) for value in (given if self.repeatable else [given])]
            )
        if self.repeatable:
            for place in dict.fromkeys(place_of(str(value)) for value in given or ()):
                check_once((v for v in given if place_of(str(v)) == place), place)
            return tuple(value for values in values_by_place for value in values)
        return values_by_place[-1][0] if values_by_place else None

    def _parse_text(self, text: str, source: str, folder: Path) -> list[Any]:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        try:
            texts = lines if self.repeatable else [text.strip()]
            values = [_resolve(self.parse(one), folder) for one in texts]
        except argparse.ArgumentTypeError as error:
            msg = f"{source}: {error}"
            raise argparse.ArgumentTypeError(msg) from None
        if self.repeatable:
            check_once(lines, source)
        return values


SOMEWHERE: Final = "a conftest or plugin"
"""The place of texts of which it is not known: they may be of several."""


def check_once(words: Iterable[str | Path], place: str) -> None:
    """
    Refuse ``KEY=VALUE`` of one place that give a key two values: one of the two would not count, and nobody would know.

    :param words: files of thresholds, too: each would stand for all of them.
    :raises argparse.ArgumentTypeError: a key, or the file, is given twice.
    """
    said: dict[str, str] = {}
    if place == SOMEWHERE:
        return
    for word in words:
        key, sign, value = (part.strip() for part in str(word).partition("="))
        if not sign:
            value = key
            key = "the file"
        before = said.setdefault(key, value)
        if before != value:
            msg = f"{place}: {key} is given twice, as {before} and as {value}; give it once"
            raise argparse.ArgumentTypeError(msg)


def _resolve(value: Any, folder: Path) -> Any:
    return folder / value if isinstance(value, Path) else value


LEVELS: Final = ("none", "process", "sandbox")  # of isolation, lowest first

ONE_SYSTEM: Final = "one system at a time is recorded or replayed; pin the baseline"
WHOLE: Final = "a part of a run is neither recorded nor replayed"
CONFLICTS: Final = (
    ("record", "replay", "what is replayed is recorded already"),
    ("record", "baseline", ONE_SYSTEM),
    ("replay", "baseline", ONE_SYSTEM),
    ("record", "executor", "record where the run is started"),
    ("shard", "record", WHOLE),
    ("shard", "replay", WHOLE),
    ("reobserve", "replay", "either the observations are recorded ones, or they are new"),
    ("reobserve", "baseline", ONE_SYSTEM),
    ("reobserve", "executor", "the outputs are here, and are observed here"),
    ("shard", "reobserve", WHOLE),
    ("stop", "shard", "a part does not see the results of the others"),
    ("stop", "executor", "it is for runs in one process"),
    ("stop", "baseline", "both sides are run case by case; pin the baseline, or name its file"),
)
"""Pairs of options that exclude each other, and why; a baseline only if it is one that runs."""


def read_options(
    options: Iterable[RunOption],
    value_of: Callable[[RunOption], Any],
    declared: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Any]:
    """
    Return the value of each option by its key.

    :param value_of: returns ``None`` for an option that was not given.
    :param declared: what counts for these, by key, before their defaults.
    :raises argparse.ArgumentTypeError: texts that cannot be parsed, and options that exclude each other; one message
        with a line for each.
    """
    values, wrong = {}, []
    for option in options:
        try:
            sources = (value_of(option), declared.get(option.key), option.default)
            values[option.key] = next((value for value in sources if value is not None), None)
        except argparse.ArgumentTypeError as error:
            wrong.append(str(error))
    if "isolation" in values and (level := declared.get("isolation")):  # which no option lowers
        values["isolation"] = max(values["isolation"], level, key=LEVELS.index)
    if wrong := [*wrong, *_conflicts(values)]:
        raise argparse.ArgumentTypeError("\n".join(wrong))
    if values.get("replay") is not None:  # nobody is asked for anything, and nothing is paid
        values |= {"executor": None, "retries": 0, "max_rpm": None, "max_cost_usd": None}
        values["isolation"] = "none"
    return values


def _conflicts(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield each pair of options that exclude each other."""
    chosen = {key: value for key, value in values.items() if value not in (None, "none", "never")}
    if not str(chosen.get("baseline")).startswith("run:"):
        chosen.pop("baseline", None)
    for one, other, why in CONFLICTS:
        if one in chosen and other in chosen:
            yield f"{one} {chosen[one]} and {other} {chosen[other]}: {why}"


def threshold_places(
    policy: Iterable[str | Path] | None,
    environ: Mapping[str, str],
    ini: str = "",
    command_line: Callable[[str], str] = lambda _: "the command line",
) -> dict[str, str]:
    """
    Return where each threshold is from that a class's ``gate.toml`` does not set, by its key or the file of all.

    :param policy: the option on the command line; ``ini`` in the ini file.
    :param command_line: names the place of a text of ``policy``.
    """
    variable = f"{PREFIX}POLICY"
    texts = (
        *((text, "the ini setting bench_policy") for text in ini.split("\n") if text),
        *((t, f"the environment, {variable}") for t in environ.get(variable, "").split("\n") if t),
        *((str(text), command_line(str(text))) for text in policy or ()),
    )
    return {text.partition("=")[0].strip(): place for text, place in texts}
