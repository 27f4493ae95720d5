"""What a long session shows of its progress, on a terminal and elsewhere, and what it leaves alone."""

from __future__ import annotations

import os
import pty
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
BELOW = re.compile(r"\x1bD\x1b\[A\x1b7\r\r\n(.*?)\x1b\[K\x1b8")


@pytest.fixture
def slow(bench):
    bench.system(SLOW)
    bench.pytester.makeconftest(SOON)
    return bench


def on_terminal(bench, *arguments):
    """Run pytest on a terminal; return what it wrote there."""
    screen, terminal = pty.openpty()
    given = ("-p", "no:randomly", "-p", "no:hypothesispytest", "--bench=echo", *arguments)
    with subprocess.Popen(
        [sys.executable, "-m", "pytest", *given],
        cwd=bench.root,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "200"},
    ) as process:
        os.close(terminal)
        text = b""
        try:
            while chunk := os.read(screen, 10_000):
                text += chunk
        except OSError:  # the other end is closed
            pass
    assert process.returncode == 0
    return text.decode()


def plain(text):
    """What is the same in each run."""
    return re.sub(r"\d+\.\d+s|\d{8}-\S+|\d+:[0-9a-f]{64}|\r", "#", text)


@pytest.mark.slow
@pytest.mark.parametrize("how", [("-v",), (), ("-q",), ("-n2",), ("-n2", "-v")], ids=" ".join)
def test_a_live_line_on_a_terminal_changes_nothing_of_what_pytest_writes(slow, how):
    if "-n2" in how:  # a line is shown each second, and the first one comes while workers start
        slow.system("import time\ntime.sleep(2.5)")
    text = on_terminal(slow, *how)
    shown = BELOW.findall(text)
    assert any(re.fullmatch(LINE, line) for line in shown)
    # Whoever writes next does so when the line is away; it is never the last.
    assert "" in shown
    assert shown[-1] == ""
    for before, line in re.findall(
        r"\x1b8(.*?)\x1bD\x1b\[A\x1b7\r\r\n(.*?)\x1b\[K", text, re.DOTALL
    ):
        assert not (line == "" and before), "written over the line"
    (slow.root / "conftest.py").unlink()
    if "-n2" not in how:  # there the order is not the same in each run
        assert plain(BELOW.sub("", text)) == plain(on_terminal(slow, *how))


@pytest.mark.slow
def test_lines_on_stderr_elsewhere(slow):
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
    assert re.fullmatch(f"({LINE}\n)+gate      HOLD\n(.+\n)+", done.stderr)
    assert len(done.stdout.splitlines()) == 4


def test_a_run_of_less_than_a_minute_is_silent(bench):
    result = bench.run(apart=True)
    assert not result.stderr.str()
