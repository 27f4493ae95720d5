"""The page that reads three decisions line by line shows what these runs print now."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/explanation/three-decisions.md").read_text("utf-8")
SESSIONS = re.findall(r"^    \$ pytest (.*)\n\n((?:    .*\n)+)", PAGE, re.MULTILINE)


def test_there_are_three():
    heads = [block.split()[0] for _, block in SESSIONS]
    assert heads == ["PROMOTE", "HOLD", "REJECT"]


@pytest.mark.slow
@pytest.mark.parametrize(("options", "block"), SESSIONS, ids=["promote", "hold", "reject"])
def test_each_is_what_the_run_prints(tmp_path, options, block):
    command = [sys.executable, "-m", "pytest", *options.split(), "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, f"--bench-out={tmp_path}"],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "100", "GITHUB_STEP_SUMMARY": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert re.sub(r"^    ", "", block, flags=re.MULTILINE) in done.stdout
