"""What a long session shows of its progress, and what it leaves alone."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

SLOW = "import time\ntime.sleep(0.4)"
SOON = """
    from benchgate.runner import progress
    progress.QUIET = 0.1
"""
LINE = r"benchgate: \d of 3 trials(, mean score [01]\.\d{3})?(, about \d+ s left)?"


@pytest.fixture
def slow(bench):
    bench.system(SLOW)
    bench.pytester.makeconftest(SOON)
    return bench


@pytest.mark.slow
def test_lines_on_stderr(slow):
    result = slow.run("--junitxml=junit.xml", apart=True)
    said = [line for line in result.errlines if line]
    assert said
    assert all(re.fullmatch(LINE, line) for line in said)
    assert "of 3 trials" not in result.stdout.str()
    assert "of 3 trials" not in (slow.root / "junit.xml").read_text()
    assert not slow.run("-qq", apart=True).stderr.str()


@pytest.mark.slow
def test_the_command_tells_on_stderr(slow):
    program = "from benchgate.cli import main; import sys; sys.exit(main())"
    soon = f"{' '.join(SOON.split(chr(10))[1].split())}; progress.QUIET = 0.1; {program}"
    done = subprocess.run(
        [sys.executable, "-c", soon, "run", "--task-class=echo"],
        cwd=slow.root,
        capture_output=True,
        text=True,
        check=True,
    )
    assert re.fullmatch(f"({LINE}\n)+HOLD      .+\n(.+\n)+", done.stderr)
    assert len(done.stdout.splitlines()) == 4


def test_a_run_of_less_than_a_minute_is_silent(bench):
    assert not bench.run().stderr.str()
