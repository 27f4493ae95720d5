"""The commands for vectors write, byte by byte, what they wrote before they shared one parser."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

MADE = runpy.run_path(str(Path(__file__).parents[1] / "regenerate_evidence_commands.py"))
RECORDED = json.loads(MADE["PATH"].read_text())


def test_every_call_is_recorded():
    assert list(RECORDED) == list(MADE["commands"]())


@pytest.mark.parametrize("name", RECORDED)
def test_files_status_and_codes_are_those_that_were_recorded(name):
    assert MADE["outcome"](MADE["commands"]()[name]) == RECORDED[name]
