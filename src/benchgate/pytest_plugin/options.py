"""Command line options and ini settings, and the one place that reads them."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import pytest

from benchgate.wire.arguments import natural, positive, seconds

if TYPE_CHECKING:
    from pathlib import Path

TIMEOUT_HELP = "Seconds that a trial may take if its case names no timeout_seconds (default: 600)"
CHECKPOINT_OPTIONS = {
    "checkpoint": "Checkpoint record that the trajectories of this run must belong to; it becomes the subject",
    "baseline-checkpoint": "Checkpoint record of the baseline, named in the proof",
    "lineage": "JSON array of checkpoint records; the baseline's must be an ancestor of the candidate's",
}
EXIT_CHOICES = ("strict", "gate")


def _class_pattern(text: str) -> str:
    if not text or "/" in text:
        msg = f"{text!r}: expected the name of a task class, a glob, or 'all'"
        raise argparse.ArgumentTypeError(msg)
    return text


def add_options(parser: pytest.Parser) -> None:
    """Declare the options, all in one group and all ``--bench...``."""
    group = parser.getgroup("benchgate", "agent benches (benchgate)")
    group.addoption(
        "--bench",
        dest="bench_classes",
        action="append",
        default=[],
        type=_class_pattern,
        metavar="CLASS",
        help="Run the cases of a task class and nothing else; a name, a glob or 'all'; repeatable. "
        "Paths and node ids on the command line win over it. Write it as one word: --bench=CLASS",
    )
    group.addoption(
        "--bench-system",
        dest="bench_system",
        metavar="NAME|module:attr",
        help="System under test (default: the class's default system)",
    )
    group.addoption(
        "--bench-baseline",
        dest="bench_baseline",
        default="auto",
        metavar="auto|pinned|none|PATH",
        help="Run to compare with; auto is bench/<class>/baseline.json if there is one (default: auto)",
    )
    group.addoption(
        "--bench-trials",
        dest="bench_trials",
        type=positive,
        default=1,
        metavar="K",
        help="Trials of each case, each with its own seed (default: 1)",
    )
    group.addoption(
        "--bench-seed",
        dest="bench_seed",
        type=natural,
        default=0,
        metavar="N",
        help="Seed that the seeds of the trials are made of (default: 0)",
    )
    group.addoption(
        "--bench-policy",
        dest="bench_policy",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="A threshold of the gate, over gate.toml; repeatable",
    )
    group.addoption(
        "--bench-exit",
        dest="bench_exit",
        choices=EXIT_CHOICES,
        default="strict",
        help="strict: failing cases fail the session; gate: only completeness, block severities and the gate "
        "do (default: strict)",
    )
    group.addoption(
        "--bench-out",
        dest="bench_out",
        metavar="DIR",
        help="Folder of the artifacts (default: .benchgate in rootdir)",
    )
    for name, text in CHECKPOINT_OPTIONS.items():
        group.addoption(f"--bench-{name}", metavar="FILE", help=text)
    parser.addini("bench_timeout", TIMEOUT_HELP, type="string", default="600")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the user asked for; read once."""

    patterns: tuple[str, ...]
    system: str | None
    baseline: str
    trials: int
    seed: int
    policy: tuple[str, ...]
    exit_rule: Literal["strict", "gate"]
    out: Path
    timeout: float
    here: Path
    checkpoints: dict[str, Path | None]

    @classmethod
    def from_config(cls, config: pytest.Config) -> Settings:
        """
        Read options and ini settings.

        :raises pytest.UsageError: a value is out of range.
        """
        option = config.option
        return cls(
            patterns=tuple(option.bench_classes),
            system=option.bench_system,
            baseline=option.bench_baseline,
            trials=option.bench_trials,
            seed=option.bench_seed,
            policy=tuple(option.bench_policy),
            exit_rule=option.bench_exit,
            out=config.invocation_params.dir / option.bench_out
            if option.bench_out
            else config.rootpath / ".benchgate",
            timeout=_timeout(config.getini("bench_timeout")),
            here=config.invocation_params.dir,
            checkpoints={
                "checkpoint": _path(config, "bench_checkpoint"),
                "baseline": _path(config, "bench_baseline_checkpoint"),
                "lineage": _path(config, "bench_lineage"),
            },
        )


def _path(config: pytest.Config, name: str) -> Path | None:
    given = config.getoption(name)
    return config.invocation_params.dir / given if given else None


def _timeout(text: str) -> float:
    try:
        return seconds(text)
    except argparse.ArgumentTypeError as error:
        msg = f"bench_timeout: {error}"
        raise pytest.UsageError(msg) from None
