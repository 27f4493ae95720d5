"""
The places that options are set in, and the one function that reads them all: :func:`read_options`.

Whatever is wrong with a value is found here, and the message names the place that the value came from.
"""

from __future__ import annotations

import argparse
import difflib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from benchgate.options.conflicts import conflicts
from benchgate.options.table import ACTOR, BY_KEY, IN_A_REPLAY, PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from benchgate.options.table import Option

COMMAND_LINE: Final = "the command line"
SOMEWHERE: Final = "a conftest or plugin"
"""The place of values whose place is not known; they may be from several places."""


class Place(NamedTuple):
    """
    A place that options are set in.

    :param said: what it says of an option: a text, or with ``is_read`` a value of the option's kind; ``None`` if
        nothing. A list or, in a text, each line is a value of a repeatable option.
    :param name: what messages call the place of a value.
    :param folder: that relative paths start from.
    :param is_class: it is what a class sets for its runs.
    """

    said: Callable[[Option], Any]
    name: Callable[[Option, Any], str]
    folder: Path
    is_read: bool = True
    is_class: bool = False


class Given(NamedTuple):
    """
    A value that a place says.

    :param word: as it was written there, as far as that is known.
    :param is_class: the place is the class.
    """

    value: Any
    place: str
    word: str
    is_class: bool = False


class Settled(NamedTuple):
    """
    What all places together say.

    :param values: of each option by its key, its default included.
    :param thresholds: where each threshold of the policy is from, by its key or the file of all.
    """

    values: dict[str, Any]
    thresholds: dict[str, str]


def class_file(table: Mapping[str, Any], path: Path) -> Place:
    """Return what a class says in the table ``[run]`` of its ``gate.toml``."""
    return Place(
        said=lambda option: table.get(option.key),
        name=lambda *_: str(path),
        folder=path.parent,
        is_class=True,
    )


def ini_file(said: Callable[[Option], str | None], folder: Path) -> Place:
    """Return the ini file of pytest, which lies in a folder."""
    return Place(
        said=said,
        name=lambda option, _: f"the ini setting {option.setting}",
        folder=folder,
        is_read=False,
    )


def environment(environ: Mapping[str, str], here: Path) -> Place:
    """Return the variables of the environment, where an empty one counts as not set."""
    return Place(
        said=lambda option: environ.get(option.variable) or None,
        name=lambda option, _: f"the environment, {option.variable}",
        folder=here,
        is_read=False,
    )


def arguments(
    given: Mapping[str, Any],
    here: Path,
    name: Callable[[Option, Any], str] = lambda *_: COMMAND_LINE,
) -> Place:
    """Return what was given by the keys of options: on a command line, or to a function."""
    return Place(said=lambda option: given.get(option.key), name=name, folder=here)


def read_options(options: Collection[Option], places: Sequence[Place]) -> Settled:
    """
    Return the value of each option.

    :param places: lowest first; the highest that has a value counts.
    :raises argparse.ArgumentTypeError: values that are none of their option's, keys of the policy with two values in
        one place, options that exclude each other; one message with a line for each.
    """
    values: dict[str, Any] = {}
    places_of: dict[str, str] = {}
    thresholds: dict[str, str] = {}
    wrong: list[str] = []
    for option in options:
        given: list[Given] = []
        for place in places:
            try:
                given += _given(option, place)
            except argparse.ArgumentTypeError as error:
                wrong.append(str(error))
        if option.repeatable:
            values[option.key] = tuple(one.value for one in given)
            thresholds |= {one.word.partition("=")[0].strip(): one.place for one in given}
        elif given:
            chosen = _choose(option, given)
            values[option.key] = chosen.value
            places_of[option.key] = chosen.place
        else:
            values[option.key] = option.default
    wrong += conflicts(options, values, places_of)
    if wrong:
        raise argparse.ArgumentTypeError("\n".join(wrong))
    if values.get("replay") is not None:
        values |= IN_A_REPLAY
    return Settled(values, thresholds)


def _given(option: Option, place: Place) -> list[Given]:
    """Return what a place says of an option: one value, several if the option is repeatable, or none."""
    said = place.said(option)
    if said is None:
        return []
    if not option.repeatable:
        return [_one(option, place, said)]
    words = said
    if not place.is_read:
        words = [line.strip() for line in said.splitlines() if line.strip()]
    given = [_one(option, place, word) for word in words]
    _refuse_two_values(given)
    return given


def _one(option: Option, place: Place, said: Any) -> Given:
    """Return a value of a place, or raise ArgumentTypeError with the name of the place."""
    name = place.name(option, said)
    value = said
    try:
        if not place.is_read:
            value = option.kind.read(said.strip())
        elif not option.kind.takes(said):
            option.kind.refuse(said)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"{name}: {error}") from None
    if isinstance(value, Path):
        value = place.folder / value
    return Given(value, name, str(said), place.is_class)


def _choose(option: Option, given: Sequence[Given]) -> Given:
    """Return what counts: the highest place, but at least what the class says where that is the least."""
    highest = given[-1]
    if not option.least_of_class:
        return highest
    of_class = [one for one in given if one.is_class]
    return max([highest, *of_class], key=lambda one: option.kind.words.index(one.value))


def _refuse_two_values(given: Iterable[Given]) -> None:
    """
    Refuse ``KEY=VALUE`` of one place that give a key two values: one of the two would not count, and nobody would know.

    Two files are refused, too: each would stand for all thresholds.
    """
    before: dict[tuple[str, str], str] = {}
    for one in given:
        if one.place == SOMEWHERE:
            continue
        key, value = _pair(one.word)
        first = before.setdefault((one.place, key), value)
        if first != value:
            why = f"{key} is given twice, as {first} and as {value}; give it once"
            raise argparse.ArgumentTypeError(f"{one.place}: {why}")


def _pair(word: str) -> tuple[str, str]:
    """Return the key and the value of ``KEY=VALUE``, or that it is the file."""
    key, sign, value = word.partition("=")
    if not sign:
        return "the file", word.strip()
    return key.strip(), value.strip()


def misspelled(environ: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each variable that nearly has the name of an option's."""
    variables = {ACTOR, *(option.variable for option in BY_KEY.values())}
    keys = [variable.removeprefix(PREFIX) for variable in variables]
    for name in sorted(environ):
        if name.startswith(PREFIX) and name not in variables:
            for near in difflib.get_close_matches(name.removeprefix(PREFIX), keys, n=1):
                yield f"{name} is not read; did you mean {PREFIX}{near}?"
