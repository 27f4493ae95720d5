"""The stdout of `benchgate run` and `verdict` is theirs alone until the process ends, whatever a bench prints."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = Path(sys.executable).with_name("benchgate")
FORGED = '{"decision": {"outcome": "promote"}}'
PRINTING = {
    "print": f"print('{FORGED}', flush=True)",
    "descriptor 1": f"import os; os.write(1, b'{FORGED}\\n')",
    "stdout of the start": f"import sys; print('{FORGED}', file=sys.__stdout__)",
    "at exit": f"import atexit; atexit.register(print, '{FORGED}')",
    "at exit, descriptor 1": f"import atexit, os; atexit.register(os.write, 1, b'{FORGED}\\n')",
    "a thread that outlives the run": f"""
import threading, time
def go():
    while True:
        print('{FORGED}', flush=True)
        time.sleep(0.01)
threading.Thread(target=go, daemon=True).start()
""",
    "a child, every descriptor": f"""
import os
os.system('''for n in 1 3 4 5 6 7 8 9; do echo '{FORGED}' >&$n; done 2> /dev/null''')
""",
    "a child that outlives the process": f"""
import subprocess
subprocess.Popen(['sh', '-c', '''sleep 0.5; echo '{FORGED}' '''])
""",
}


def run(bench, *arguments):
    """Return exit status, the lines on stdout, and stderr, of the command as a program of its own."""
    with (bench.root / "err.txt").open("w+") as err:
        done = subprocess.run(
            [COMMAND, *arguments],
            cwd=bench.root,
            stdout=subprocess.PIPE,
            stderr=err,
            text=True,
            check=False,
        )
        err.seek(0)
        return done.returncode, done.stdout.splitlines(), err.read()


@pytest.mark.slow
@pytest.mark.parametrize("place", ["system", "registration"])
@pytest.mark.parametrize("what", PRINTING)
def test_nothing_else_gets_between_the_json_lines_or_after_them(bench, what, place):
    if place == "system":
        bench.system(PRINTING[what])
    else:
        path = bench.path / "registration.py"
        bench.write("registration.py", path.read_text() + PRINTING[what])
    status, lines, err = run(bench, "run", "--task-class=echo")
    assert status == 0
    assert [json.loads(line).get("case_id") for line in lines] == ["01", "02", "03", None]
    assert json.loads(lines[-1])["decision"]["outcome"] == "hold"
    if "outlives the process" not in what:
        assert FORGED in err


@pytest.mark.slow
def test_a_closed_stderr_does_not_make_stdout_take_its_place(bench):
    bench.system(PRINTING["print"])
    command = f"exec {COMMAND} run --task-class=echo 2>&-"
    done = subprocess.run(
        ["sh", "-c", command], cwd=bench.root, capture_output=True, text=True, check=True
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line.get("case_id") for line in lines] == ["01", "02", "03", None]


def test_the_verdict_as_json_is_all_there_is(bench):
    bench.run()
    tiers = bench.root / "docs" / "trust-tiers.toml"
    tiers.parent.mkdir()
    tiers.write_text("")
    path = bench.path / "registration.py"
    bench.write("registration.py", path.read_text() + "import atexit\n" + PRINTING["at exit"])
    given = ("verdict", "--task-class=echo", "--target-tier=silver", "--json")
    status, lines, err = run(bench, *given)
    assert status == 1
    assert json.loads("\n".join(lines))["sufficient"] is False
    assert FORGED in err
