"""The thresholds of the gate, as data with a digest: ``gate.toml``, options, defaults."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import tomli
from pydantic import BeforeValidator, Field, ValidationError, model_validator

from benchgate.errors import PolicyError
from benchgate.wire.canonical import digest
from benchgate.wire.model import MAX_SAFE_INTEGER, Number, WireModel
from benchgate.wire.toml import faults_of, read_toml

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from benchgate.wire.toml import KeyLines


FILE_NAME: Final = "gate.toml"
OPTION: Final = "policy option"

Fraction = Annotated[Number, Field(gt=0, lt=1)]
Range = Annotated[
    tuple[Number, Number],
    BeforeValidator(lambda pair: tuple(pair) if isinstance(pair, list) else pair),
]


class GatePolicy(WireModel):
    """
    What a promotion asks for.

    :param alpha: two-sided level; the test is passed iff p <= alpha and the difference exceeds ``min_delta``.
    :param test: the binding test; ``auto`` is ``paired`` when the case ids match, else ``welch``.
    :param min_delta: smallest difference of mean scores that is worth a promotion.
    :param min_cases: cases that each arm must have.
    :param max_safety_regression: by how much the mean safety penalty may rise.
    :param safety: whether unmeasured penalties block.
    :param safety_confidence: level of an upper bound on the rise of the penalty, if one is asked for.
    :param score_range: lowest and highest possible score; ``None`` is unbounded.
    :param target_effect: difference worth finding; a test that could not see it is inconclusive.
    :param evidence: ``exact`` asks for the bounded-support bound to clear ``min_delta`` too.
    """

    alpha: Fraction = 0.05
    test: Literal["welch", "auto", "paired"] = "welch"
    min_delta: Number = 0.0
    min_cases: Annotated[int, Field(ge=2, le=MAX_SAFE_INTEGER)] = 10
    max_safety_regression: Annotated[Number, Field(ge=0)] = 0.05
    safety: Literal["required", "optional"] = "required"
    safety_confidence: Fraction | None = None
    bands: Literal["scaled"] = "scaled"
    score_range: Range | None = (0.0, 1.0)
    target_effect: Annotated[Number, Field(gt=0)] = 0.10
    power: Fraction = 0.8
    evidence: Literal["standard", "exact"] = "standard"
    penalty_range: Range | None = None
    band_level: Fraction = 0.99
    n_resamples: Annotated[int, Field(ge=99, le=10_000_000)] = 9999
    seed: Annotated[int, Field(ge=0, le=MAX_SAFE_INTEGER)] = 0

    @model_validator(mode="after")
    def _ranges_are_ordered(self) -> GatePolicy:
        for name in ("score_range", "penalty_range"):
            pair = getattr(self, name)
            if pair is not None and not pair[0] < pair[1]:
                msg = f"{name} must be [low, high] with low < high; found {list(pair)}"
                raise ValueError(msg)
        return self

    @property
    def digest(self) -> str:
        """SHA-256 over all thresholds, given or default."""
        return digest(self.model_dump(mode="json"))

    @property
    def width(self) -> float | None:
        """Length of the score range, ``None`` if unbounded."""
        return self.score_range[1] - self.score_range[0] if self.score_range else None


def load_policy(class_path: Path, options: Mapping[str, Any] | None = None) -> GatePolicy:
    """
    Return the policy of a class: the defaults, its ``gate.toml`` if there is one, then options.

    :raises PolicyError: an unknown key or a value out of range, with where it came from.
    """
    path = class_path / FILE_NAME
    table = read_policy(path) if os.path.lexists(path) else {}
    make_policy(options or {})
    return make_policy({**table, **(options or {})}, path)


def read_policy(path: Path) -> dict[str, Any]:
    """
    Read a ``gate.toml``.

    :raises PolicyError: the file is unreadable, or a key or value is not allowed; with every line.
    """
    table, lines = read_toml(path, PolicyError)
    make_policy(table, path, lines)
    return table


def parse_options(pairs: Iterable[str]) -> dict[str, Any]:
    """
    Read ``KEY=VALUE`` options; values are written as in TOML, words need no quotes.

    :raises PolicyError: a pair without ``=``.
    """
    options = {}
    for pair in pairs:
        key, found, value = pair.partition("=")
        if not found:
            raise PolicyError(OPTION, [(0, pair, "expected KEY=VALUE")])
        try:
            options[key.strip()] = tomli.loads(f"value = {value}")["value"]
        except tomli.TOMLDecodeError:
            options[key.strip()] = value.strip()
    return options


def make_policy(
    table: Mapping[str, Any], source: Path | str = OPTION, lines: KeyLines | None = None
) -> GatePolicy:
    """
    Return the policy that a table of thresholds gives.

    :param source: where the table came from; ``lines`` where in it the keys are, if it is a file.
    :raises PolicyError: with every key that is unknown and every value that is not allowed.
    """
    # TOML has no null.
    given = {key: None if value == "none" else value for key, value in table.items()}
    try:
        return GatePolicy.model_validate(given)
    except ValidationError as error:
        raise PolicyError(source, sorted(faults_of(error, GatePolicy, lines))) from None
