"""`benchgate` as a program: its version, as a module, and where it finds the packages that a bench imports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from benchgate.cli import main

SCRIPT = [str(Path(sys.executable).with_name("benchgate"))]
MODULE = [sys.executable, "-m", "benchgate"]


@pytest.mark.parametrize("command", [SCRIPT, MODULE], ids=["script", "module"])
def test_the_program_says_its_version(command):
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == (f"benchgate {version('pytest-benchgate')}\n", "")


@pytest.fixture
def packaged(bench):
    """Have the registration import a package that lies in two folders which Python does not search."""
    for folder, answer in (("src", "upper"), ("other", "lower")):
        package = bench.root / folder / "agents"
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
        (package / "words.py").write_text(f"change = str.{answer}\n")
    bench.write(
        "system.py",
        """
        from agents.words import change

        def system(case):
            return {"answer": change((case.input_path / "question.txt").read_text())}
        """,
    )
    return bench


def passed(bench, command, *options, **variables):
    """Run the class by a program of its own; return exit status and how many cases passed."""
    done = subprocess.run(
        [*command, "run", "--task-class=echo", *options],
        cwd=bench.root,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        return done.returncode, done.stderr
    return 0, json.loads(done.stdout.splitlines()[-1])["passed_count"]


@pytest.mark.slow
def test_a_bench_imports_from_pythonpath(packaged):
    status, said = passed(packaged, SCRIPT)
    assert status == 2
    assert "No module named 'agents'" in said
    kept = os.environ.get("PYTHONPATH", "")
    for folder, number in (("src", 3), ("other", 0)):
        variable = os.pathsep.join([folder, kept])
        assert passed(packaged, SCRIPT, PYTHONPATH=variable) == (0, number)
        assert passed(packaged, MODULE, f"--pythonpath={folder}") == (0, number)
    assert passed(packaged, SCRIPT, "--pythonpath=src", "--pythonpath=other") == (0, 3)
    assert passed(packaged, SCRIPT, "--pythonpath=src", "--out=.benchgate") == (0, 3)


def test_a_folder_to_import_from_counts_for_one_command(packaged, capsys, monkeypatch):
    before = list(sys.path)
    given = ["--task-class=echo", f"--bench-root={packaged.root / 'bench'}"]
    (packaged.root / "docs").mkdir()
    (packaged.root / "docs" / "trust-tiers.toml").touch()
    assert main(["run", *given, "--pythonpath=src", "--out=.benchgate"]) == 0
    verdict = ["verdict", *given, "--target-tier=silver"]
    for name in [name for name in sys.modules if name.partition(".")[0] == "agents"]:
        monkeypatch.delitem(sys.modules, name)
    capsys.readouterr()
    assert main(verdict) == 2
    assert "No module named 'agents'" in capsys.readouterr().err
    assert main([*verdict, "--pythonpath=src"]) == 1
    assert "silver: hold" in capsys.readouterr().out
    assert sys.path == before


def test_a_folder_to_import_from_must_be_there(bench, capsys):
    with pytest.raises(SystemExit) as caught:
        main(["run", "--task-class=echo", "--pythonpath=srcs"])
    assert caught.value.code == 2
    assert "argument --pythonpath: 'srcs': expected a folder" in capsys.readouterr().err
