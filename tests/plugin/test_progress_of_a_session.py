"""What a long session shows of its progress, and what it leaves alone."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import subprocess
import sys
import termios

import pytest

SLOW = "import time\ntime.sleep(1)"
SOON = """
    from benchgate.runner import progress
    progress.QUIET = 0.1
"""
LINE = r"benchgate: \d of 3 trials(, passed \d)?(, about \d+ s left)?"


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


def on_a_terminal(bench, *options):
    """Run the bench on a terminal of 60 columns; return what it shows."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 60))
    env = {name: text for name, text in os.environ.items() if name not in {"CI", "COLUMNS"}}
    command = [sys.executable, "-mpytest", "-pno:randomly", "--bench=echo", *options]
    running = subprocess.Popen(
        command, cwd=bench.root, env=env, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # it has ended
        while data := os.read(ours, 10_000):
            shown += data
    os.close(ours)
    running.wait()
    return shown.decode()


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("-n2",)])
def test_on_a_terminal_one_line_moves(bench, options):
    bench.system(SLOW)
    # The fifth: two workers begin with two cases each, so that no other begins after it.
    bench.case("04")
    bench.case("a-case-with-a-name-that-has-more-characters-than-a-terminal", answer="no")
    shown = on_a_terminal(bench, "--bench-baseline=none", *options)
    lines = re.findall(r"\r([^\r\n]*)\x1b\[K\r", shown)
    workers = len(options) + 1
    assert any(re.fullmatch(rf"running {workers}: .+", line) for line in lines), shown
    assert any(re.fullmatch(r"passed \d, .*running \d, about \d+ s left: .+", x) for x in lines)
    assert any(re.search(r": a-case-.*\.\.\..*-terminal$", line) for line in lines)
    assert max(map(len, lines)) < 60
    assert "case.toml ." not in shown
    assert "FAILED bench/echo/cases/" in shown, "the summary"
    assert re.search(r"1 failed.*, .*4 passed", shown)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "printed"), [("-v", "PASSED"), ("-q", "...  "), ("-s", "case.toml .")]
)
def test_who_asks_for_something_else_gets_what_pytest_prints(bench, option, printed):
    bench.system(SLOW)
    shown = re.sub(r"\x1b\[\d*m", "", on_a_terminal(bench, option))
    assert printed in shown
    assert "running" not in shown


def test_a_run_of_less_than_a_minute_is_silent(bench):
    assert not bench.run().stderr.str()
