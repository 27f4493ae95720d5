"""The policy of the gate: its thresholds, from defaults, ``gate.toml`` and options."""

from __future__ import annotations

import os
import re
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NoReturn, TypeVar

import tomli
from pydantic import BeforeValidator, Field, ValidationError, ValidationInfo, model_validator

from benchgate.errors import PolicyError
from benchgate.gates.run_table import RunTable
from benchgate.wire.canonical import digest
from benchgate.wire.limits import MAX_SAFE_INTEGER
from benchgate.wire.model import EXACT, NonNegative, Number, Positive, UnitInterval, WireModel
from benchgate.wire.plain import listed
from benchgate.wire.toml import faults_of, read_toml

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from benchgate.models import LogSource
    from benchgate.wire.toml import KeyLines

FILE_NAME: Final = "gate.toml"
OPTION: Final = "policy option"
OF_A_CLAIM: Final = {
    "min_delta": "better",
    "evidence": "better",
    "margin": "not_worse",
    "tolerance": "no_regression",
    "max_newly_failing": "no_regression",
}
"""Thresholds that only one claim has."""

TOLERANCE: Final = 1e-12
"""Allows for float rounding (0.55 - 0.5 > 0.05), so that a change of exactly a limit does not block."""

TARGET_EFFECT: Final = 0.10
"""The gain that a gate looks for where nobody said which one is worth finding."""

POWER: Final = 0.8
"""Probability with which a difference that is called detectable is found."""

LOG_DEFAULTS: Final = {"safety": "optional"}
"""Where the policy of a log differs from that of a bench: it seldom has penalties."""

VECTOR_DEFAULTS: Final = {**LOG_DEFAULTS, "test": "welch", "min_cases": 2, "score_range": None}
"""Where that of samples differs, which often come without ids, score range and penalties."""

COUNT_DEFAULTS: Final = {**LOG_DEFAULTS, "min_cases": 2}
"""Where that of two numbers of passes differs, which anybody may try with a few cases."""

COMPLETING: Final = {"completing": True}
"""Context to validate options alone, before they are laid over those of a file: that may have their claim."""

LOOKS: Final = r"^(count|spend(:[1-9][0-9]{0,5})?)$"


def _read_looks(looks: Any) -> Any:
    """Return how alpha is divided among looks; a text that does not say so raises ValueError."""
    if isinstance(looks, str) and not re.fullmatch(LOOKS, looks):
        raise ValueError("expected count, spend, or spend:K with K from 1 to 999999")
    return looks


Fraction = Annotated[float, Field(gt=0, lt=1), EXACT]
Range = Annotated[tuple[Number, Number], BeforeValidator(listed)]


def _refuse_range(name: str, pair: tuple[float, float]) -> NoReturn:
    """Refuse a range whose ends are not in order, and say what to write where less is better."""
    if name == "score_range":
        raise ValueError(
            f"score_range must be [low, high] with low < high; found {list(pair)}. If less is better, turn the scores "
            "round: 1 - x / WORST in the rubric of a bench, -x in a file of numbers; only logs, such as CSV with "
            "--map, take [WORST, BEST]"
        )
    raise ValueError(f"{name} must be [low, high] with low < high; found {list(pair)}")


class GatePolicy(WireModel):
    """
    The conditions for a promotion; docs/reference/policy.md explains how to choose them.

    :param claim: what a promotion states of the candidate: ``better``, ``not_worse`` by ``margin`` or more, or
        ``no_regression`` on exactly these cases.
    :param margin: the loss of mean score that ``not_worse`` must exclude.
    :param tolerance: largest loss of score of a single case under ``no_regression``.
    :param max_newly_failing: cases that may newly fail under ``no_regression``.
    :param critical_rule: a critical case fails if ``any`` of its trials does, or more than half: ``majority``.
    :param max_cost_increase: largest relative rise of what a case costs; ``None`` for no such condition.
    :param alpha: two-sided level; the test is passed iff p <= alpha and the difference exceeds ``min_delta``.
    :param test: the binding test; ``auto`` is ``paired`` if both arms have the same case ids, else ``welch``.
    :param min_delta: the candidate's mean score must exceed the baseline's by more than this.
    :param min_cases: smallest number of cases in each arm.
    :param max_safety_regression: largest allowed rise of the mean safety penalty.
    :param safety: whether a penalty that was not measured blocks.
    :param safety_confidence: level of an upper bound on the rise of the penalty; ``None`` for no such condition.
    :param score_range: lowest and highest possible score; of a log the worst and the best, as in ``[100, 0]`` where
        less is better; ``None`` is unbounded.
    :param target_effect: difference of means worth finding; a test too small to detect it is inconclusive.
    :param evidence: with ``exact``, the bounded-support lower bound must exceed ``min_delta`` too.
    :param penalty_range: lowest and highest possible penalty, which the upper bound needs.
    :param missing: sample files whose case ids differ: ``hold``, or count a missing case as the ``worst`` score.
    :param looks: ``count`` says how often the baseline was looked at; ``spend`` also divides alpha among the looks;
        ``spend:K`` divides it evenly among K, after which everything holds.
    :param max_unscored: largest share of a run's trials that may end in ``harness_error``; one trial always may.
    :param baseline_errors: such trials of the baseline count as score 0. With ``both`` the promotion must stand even
        if each of them had scored best; ``zero`` is for whoever takes a crash for the old system's true score.
    :param observer_min_agreement: what the lower bound of the observer's agreement with people must reach.
    """

    claim: Literal["better", "not_worse", "no_regression"] = "better"
    margin: Positive | None = None
    tolerance: NonNegative = 0.0
    max_newly_failing: Annotated[int, Field(ge=0, le=MAX_SAFE_INTEGER)] = 0
    critical_rule: Literal["any", "majority"] = Field("any", exclude_if=lambda rule: rule == "any")
    max_cost_increase: NonNegative | None = None
    alpha: Fraction = 0.05
    test: Literal["welch", "auto", "paired"] = "auto"
    min_delta: NonNegative = 0.0
    min_cases: Annotated[int, Field(ge=2, le=MAX_SAFE_INTEGER)] = 10
    max_safety_regression: NonNegative = 0.05
    safety: Literal["required", "optional"] = "required"
    safety_confidence: Fraction | None = None
    score_range: Range | None = (0.0, 1.0)
    target_effect: Positive = TARGET_EFFECT
    evidence: Literal["standard", "exact"] = "standard"
    penalty_range: Range | None = None
    missing: Literal["hold", "worst"] = "hold"
    max_unscored: UnitInterval = 0.05
    baseline_errors: Literal["both", "zero"] = "both"
    observer_min_agreement: UnitInterval | None = Field(None, exclude_if=lambda x: x is None)
    looks: Annotated[str, BeforeValidator(_read_looks), Field(pattern=LOOKS)] = "count"

    @model_validator(mode="after")
    def _ranges_are_ordered(self) -> GatePolicy:
        for name in ("score_range", "penalty_range"):
            pair = getattr(self, name)
            if pair is not None and not pair[0] < pair[1]:
                _refuse_range(name, pair)
        if self.missing == "worst" and self.score_range is None:
            raise ValueError(
                "missing = 'worst' needs a score_range, which says what the worst score is"
            )
        return self

    @model_validator(mode="after")
    def _claim_is_whole(self, info: ValidationInfo) -> GatePolicy:
        if info.context == COMPLETING:
            return self
        if self.claim == "not_worse" and self.margin is None:
            raise ValueError(
                "claim = 'not_worse' needs a margin: the loss of mean score that it must exclude"
            )
        self._check_losses()
        for key, claim in OF_A_CLAIM.items():
            if claim != self.claim and getattr(self, key) != GatePolicy.model_fields[key].default:
                raise ValueError(f"{key} belongs to claim = {claim!r}; the claim is {self.claim!r}")
        return self

    def _check_losses(self) -> None:
        """Refuse a loss that is larger than any that there can be."""
        if self.width is None:
            return
        if self.margin is not None and self.margin >= self.width:
            raise ValueError(f"margin is {self.margin:g}; scores differ by {self.width:g} at most")
        if self.tolerance > self.width:
            raise ValueError(
                f"tolerance is {self.tolerance:g}; scores differ by {self.width:g} at most"
            )

    @property
    def digest(self) -> str:
        """SHA-256 over all thresholds, defaults included: part of a run's plan id."""
        return digest(self.model_dump(mode="json"))

    def text(self, key: str) -> str:
        """Return the value of a threshold as ``KEY=VALUE`` has it."""
        value = getattr(self, key)
        if value is None:
            return "none"
        if isinstance(value, tuple):
            return str(list(value))
        return str(value)

    def in_charge(self) -> Iterator[tuple[str, Any]]:
        """Yield each threshold and its value, but for those that only other claims have."""
        for key, value in self:
            if OF_A_CLAIM.get(key, self.claim) == self.claim:
                yield key, value

    @property
    def width(self) -> float | None:
        """Length of the score range, ``None`` if unbounded."""
        if self.score_range is None:
            return None
        low, high = self.score_range
        return high - low


Policy = TypeVar("Policy", bound=GatePolicy)


class GateFile(GatePolicy):
    """A whole ``gate.toml``."""

    run: RunTable = Field(default_factory=RunTable)


def load_run_table(class_path: Path) -> RunTable:
    """Return the options that a class sets for its runs in its ``gate.toml``, if there is one."""
    path = class_path / FILE_NAME
    if not os.path.lexists(path):
        return RunTable()
    _, run = read_policy(path)
    return run


def load_policy(class_path: Path, options: Mapping[str, Any] | None = None) -> GatePolicy:
    """
    Return the policy of a class: options win over its ``gate.toml``, if there is one, and that over the defaults.

    :raises PolicyError: an unknown key or a value out of range, with its file and line or as an option.
    """
    path = class_path / FILE_NAME
    table: dict[str, Any] = {}
    if os.path.lexists(path):
        table, _ = read_policy(path)
    if not options:
        return make_policy(table, path)
    # Alone first, so that an error names the options and not the file.
    _validated(GatePolicy, options, OPTION, None, context=COMPLETING)
    words = ", ".join(f"{key}={value}" for key, value in options.items())
    return make_policy(merged(table, options), f"{path} with {words}")


def merged(table: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return thresholds with options over them; those of a claim that the options replace are left out."""
    claimed = table.get("claim", GatePolicy.model_fields["claim"].default)
    claim = options.get("claim", claimed)
    kept = {
        key: value
        for key, value in table.items()
        if claim == claimed or OF_A_CLAIM.get(key, claim) == claim
    }
    return {**kept, **options}


def read_policy(path: Path) -> tuple[dict[str, Any], RunTable]:
    """
    Read a ``gate.toml``: its thresholds, and its options for runs.

    :raises PolicyError: the file is unreadable, or has keys or values that are not allowed; lists every fault.
    """
    table, lines = read_toml(path, PolicyError)
    run = _validated(GateFile, table, path, lines).run
    table.pop("run", None)
    return table, run


def parse_options(
    words: Iterable[str | Path], defaults: Mapping[str, Any] = MappingProxyType({})
) -> dict[str, Any]:
    """
    Return the thresholds that options name: ``KEY=VALUE``, or the path of a file such as ``gate.toml``.

    A value is written as in TOML, but a word needs no quotes. A file stands for every threshold. Whatever the order,
    pairs are laid over files.

    :param defaults: where those that a file leaves out differ from the defaults of a bench.
    :raises PolicyError: a file that cannot be used.
    """
    table: dict[str, Any] = {}
    options: dict[str, Any] = {}
    for word in words:
        key, is_pair, value = str(word).partition("=")
        if isinstance(word, Path) or not is_pair:
            if not os.path.lexists(word):
                raise PolicyError(OPTION, [(0, str(word), "expected KEY=VALUE, or a gate.toml")])
            in_file, _ = read_policy(Path(word))
            table = make_policy(merged(defaults, in_file), word).model_dump(mode="json")
            continue
        try:
            options[key.strip()] = tomli.loads(f"value = {value}")["value"]
        except tomli.TOMLDecodeError:
            options[key.strip()] = value.strip()
    return merged(table, options)


def defaults_of(log: LogSource | None) -> Mapping[str, Any]:
    """Return where the defaults of a run differ from those of a bench: they do if its results were read from a log."""
    if log is None:
        return {}
    return LOG_DEFAULTS


def make_policy(table: Mapping[str, Any], source: Path | str = OPTION) -> GatePolicy:
    """
    Build a policy from a table of thresholds; those left out have their defaults.

    :param source: where the table came from, for errors.
    :raises PolicyError: unknown keys or values that are not allowed; lists every fault.
    """
    return _validated(GatePolicy, table, source, None)


def log_policy(options: Mapping[str, Any]) -> GatePolicy:
    """Return thresholds over the defaults of logs; ``score_range`` is the worst and the best score, in this order."""
    ends = options.get("score_range")
    if not isinstance(ends, list) or len(ends) != 2 or not ends[0] > ends[1]:
        return make_policy(merged(LOG_DEFAULTS, options))
    # A policy refuses a range that falls, which only logs may have: it is checked the other way round.
    policy = make_policy(merged(LOG_DEFAULTS, {**options, "score_range": ends[::-1]}))
    return policy.model_copy(update={"score_range": tuple(ends)})


def _validated(
    model: type[Policy],
    table: Mapping[str, Any],
    source: Path | str,
    lines: KeyLines | None,
    context: Mapping[str, Any] | None = None,
) -> Policy:
    values = dict(table)
    for key, value in table.items():
        # TOML has no null.
        if value == "none":
            values[key] = None
    try:
        return model.model_validate(values, context=context)
    except ValidationError as error:
        raise PolicyError(source, faults_of(error, model, lines)) from None
