"""The reference of the payloads tells what is so."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchgate import training_types
from benchgate.training_types import (
    AdvantageBatch,
    CheckpointRecord,
    EpisodeTrajectory,
    RlPayloadBundle,
    RlPayloadError,
    TrajectoryStep,
    validate_rl_payload,
)

DOCS = Path(__file__).resolve().parents[3] / "docs"
REFERENCE = (DOCS / "reference" / "rl-payloads.md").read_text(encoding="utf-8")
HOW_TO = (DOCS / "how-to" / "gate-an-rl-checkpoint.md").read_text(encoding="utf-8")


def block(text):
    return json.loads(re.search(r"```json\n(.*?)```", text, re.DOTALL)[1])


def test_the_example_is_valid():
    example = block(REFERENCE)
    assert validate_rl_payload(example).advantages is not None
    RlPayloadBundle(**example)


def test_the_record_in_the_how_to_is_one():
    assert CheckpointRecord(**block(HOW_TO)).policy_version == "v2"


@pytest.mark.parametrize(
    "model", [TrajectoryStep, EpisodeTrajectory, AdvantageBatch, CheckpointRecord]
)
def test_every_field_is_told(model):
    for name in model.model_fields:
        assert f"| `{name}` |" in REFERENCE


def test_every_code_is_told_with_its_class():
    for name in training_types.__all__:
        kind = getattr(training_types, name)
        if isinstance(kind, type) and issubclass(kind, RlPayloadError) and "code" in vars(kind):
            assert kind is RlPayloadError or f"`{kind.code}`" in REFERENCE
            assert f"`{name}`" in REFERENCE


def test_importing_the_types_imports_neither_gymnasium_nor_numpy():
    code = (
        "import sys, benchgate.training_types\n"
        "print(sorted({'gymnasium', 'numpy', 'pytest', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
