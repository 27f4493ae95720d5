"""
Inputs of ``benchgate significance``, ``safety`` and ``evaluate``, and what the commands make of them.

``tests/data/evidence_commands.json`` has files, exit status and last line of each. Run this module to write it anew:
when the files are meant to change.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from benchgate.cli import main

if TYPE_CHECKING:
    from collections.abc import Mapping

PATH = Path(__file__).parent / "data" / "evidence_commands.json"
LOW = [0.2, 0.3, 0.25, 0.4, 0.35, 0.3, 0.2, 0.3, 0.4, 0.1]
HIGH = [0.9, 0.8, 0.85, 0.9, 0.95, 0.8, 0.9, 0.99, 0.8, 0.9]
NAMED = {f"c{n}": score for n, score in enumerate(LOW)}
BETTER = {f"c{n}": score for n, score in enumerate(HIGH)}
CLUSTERED = {f"c{n}": {"score": s, "cluster": f"k{n % 5}"} for n, s in enumerate(HIGH)}
ROWS = [f"c{n // 2},{n % 3},{n % 2}\n" for n in range(20)]
INPUTS = {
    "low.json": json.dumps(LOW),
    # The same scores in other bytes: one file on both sides is refused.
    "low-again.json": json.dumps(LOW) + "\n",
    "high.json": json.dumps(HIGH),
    "named.json": json.dumps(NAMED),
    "better.json": json.dumps(BETTER),
    "fewer.json": json.dumps(dict(list(BETTER.items())[:8])),
    "clusters.json": json.dumps(CLUSTERED),
    "clusters-again.json": json.dumps(CLUSTERED) + "\n",
    "trials.csv": "case,score,trial\n" + "".join(ROWS),
    "trials-again.csv": "case,score,trial\n" + "".join(reversed(ROWS)),
    "labelled.csv": "case,score,cluster,note\n"
    + "".join(f"c{n},1,k{n % 5},x\n" for n in range(10)),
    "calm.json": json.dumps([0] * 10),
    "calm-again.json": json.dumps([0] * 10) + "\n",
    "wild.json": json.dumps([0.5, 0] * 5),
    "calm-named.json": json.dumps(dict.fromkeys(NAMED, 0)),
    "wild-named.json": json.dumps({f"d{n}": 0.5 for n in range(10)}),
    "negative.json": json.dumps([-1] * 10),
    "text.json": '["a", "b"]',
    "one.json": "[1]",
    "twice.json": '{"a": 1, "a": 2}',
    "gate.toml": "min_delta = 0.01\nmin_cases = 5\ntest = 'auto'\n[run]\ntrials = 2\n",
}
RANGE = {"score_range": [0, 1]}
SCORES = ("--baseline-samples", "--trained-samples")
HARM = ("--baseline-safety-samples", "--trained-safety-samples")


@dataclass(frozen=True)
class Command:
    """One call: a command, its two files, the policy as file and as keys, and options that it always had."""

    name: str
    sides: tuple[str, str]
    policy: Mapping[str, Any] = field(default_factory=dict)
    gate: str | None = None
    more: tuple[str, ...] = ()

    def words(self) -> list[str]:
        """Return the command line."""
        sides = zip(HARM if self.name == "safety" else SCORES, self.sides, strict=True)
        words = [self.name, *(f"{option}={path}" for option, path in sides)]
        words += ["--run-id=r", "--out=made.json", *self.more]
        words += [f"--policy={self.gate}"] if self.gate else []
        return words + [f"--policy={key}={value}" for key, value in self.policy.items()]


def commands() -> dict[str, Command]:
    """Return the calls by name."""
    found = {}
    for name in ("significance", "evaluate"):
        pairs = {
            "arrays": Command(name, ("low.json", "high.json")),
            "loss": Command(name, ("high.json", "low.json")),
            "same": Command(name, ("low.json", "low-again.json")),
            "by-id": Command(name, ("named.json", "better.json"), {"test": "auto", **RANGE}),
            "other-cases": Command(name, ("named.json", "fewer.json")),
            "worst": Command(name, ("named.json", "fewer.json"), {"missing": "worst", **RANGE}),
            "trials": Command(name, ("trials.csv", "trials-again.csv"), {"test": "paired"}),
            "clusters": Command(name, ("clusters.json", "clusters-again.json"), {"test": "paired"}),
            "labels": Command(name, ("trials.csv", "labelled.csv")),
            "not-worse": Command(
                name, ("low.json", "high.json"), {"claim": "not_worse", "margin": 0.05}
            ),
            "no-regression": Command(
                name, ("named.json", "better.json"), {"claim": "no_regression", "tolerance": 0.1}
            ),
            "exact": Command(name, ("low.json", "high.json"), {"evidence": "exact", **RANGE}),
            "thresholds": Command(
                name, ("low.json", "high.json"), {"alpha": 0.01, "min_delta": 0.9, "min_cases": 20}
            ),
            "harm": Command(
                name,
                ("low.json", "high.json"),
                {"max_safety_regression": 0.3, "penalty_range": [0, 1], "safety_confidence": 0.9},
                more=("--baseline-safety-samples=calm.json", "--trained-safety-samples=wild.json"),
            ),
            "required": Command(name, ("low.json", "high.json"), {"safety": "required"}),
            "file": Command(name, ("named.json", "better.json"), gate="gate.toml"),
            "file-and-key": Command(
                name, ("named.json", "better.json"), {"safety": "optional"}, gate="gate.toml"
            ),
            "looks": Command(name, ("low.json", "high.json"), {"looks": "spend"}),
            "text": Command(name, ("low.json", "text.json")),
            "one-value": Command(name, ("low.json", "one.json")),
            "twice": Command(name, ("low.json", "twice.json")),
            "no-file": Command(name, ("low.json", "none.json")),
            "wrong-key": Command(name, ("low.json", "high.json"), {"alpha": 7}),
        }
        found |= {f"{name} {what}": one for what, one in pairs.items()}
    sides = {
        "calm": Command("safety", ("calm.json", "calm-again.json")),
        "wild": Command("safety", ("calm.json", "wild.json")),
        "allowed": Command("safety", ("calm.json", "wild.json"), {"max_safety_regression": 0.3}),
        "bound": Command(
            "safety",
            ("calm.json", "wild.json"),
            {"max_safety_regression": 0.3, "safety_confidence": 0.9, "penalty_range": [0, 1]},
        ),
        "other-cases": Command("safety", ("calm-named.json", "wild-named.json")),
        "worst": Command("safety", ("calm.json", "wild.json"), {"missing": "worst", **RANGE}),
        "negative": Command("safety", ("calm.json", "negative.json")),
        "file": Command("safety", ("calm.json", "wild.json"), gate="gate.toml"),
    }
    return found | {f"safety {what}": one for what, one in sides.items()}


def outcome(command: Command) -> dict[str, Any]:
    """Run a command twice in a folder of its own, and return what the second call leaves."""
    out = io.StringIO()
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        patch.dict(os.environ, {"SOURCE_DATE_EPOCH": "1778544000"}),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        for name, text in INPUTS.items():
            Path(name).write_text(text)
        main_quietly(command.words(), io.StringIO())
        status = main_quietly(command.words(), out)
        made = Path("made.json")
        text = made.read_text() if made.exists() else None
        left = sorted({*os.listdir()} - {*INPUTS})
    return {"status": status, "said": out.getvalue(), "left": left, "file": text}


def main_quietly(words: list[str], out: io.StringIO) -> int:
    """Return the exit status of a command, that of wrong use included."""
    with contextlib.redirect_stdout(out):
        try:
            return main(words)
        except SystemExit as end:
            return int(end.code or 0)


if __name__ == "__main__":
    made = {name: outcome(command) for name, command in commands().items()}
    PATH.write_text(json.dumps(made, indent=1) + "\n")
