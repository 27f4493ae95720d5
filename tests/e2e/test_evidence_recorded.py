"""The commands for vectors write what they wrote before they shared one parser, but for the last digits of figures."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

import pytest

MADE = runpy.run_path(str(Path(__file__).parents[1] / "regenerate_evidence_commands.py"))
RECORDED = json.loads(MADE["PATH"].read_text())
FLOAT = re.compile(r"-?\d+\.\d+(e-?\d+)?")


def figures_and_text(outcome):
    """Return the figures in files and status, which other versions of numpy end otherwise, and all text around them."""
    text = json.dumps(outcome)
    return [float(found[0]) for found in FLOAT.finditer(text)], FLOAT.sub("", text)


def test_every_call_is_recorded():
    assert list(RECORDED) == list(MADE["commands"]())


@pytest.mark.parametrize("name", RECORDED)
def test_files_status_and_codes_are_those_that_were_recorded(name):
    figures, text = figures_and_text(MADE["outcome"](MADE["commands"]()[name]))
    expected, expected_text = figures_and_text(RECORDED[name])
    assert text == expected_text
    assert figures == pytest.approx(expected, rel=1e-9)
