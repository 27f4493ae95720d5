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
    packaged.append("registration.py", "import agents\n")
    (packaged.root / "docs").mkdir()
    (packaged.root / "docs" / "trust-tiers.toml").touch()
    assert main(["run", *given, "--pythonpath=src", "--out=.benchgate"]) == 0
    verdict = ["verdict", *given, "--target-tier=silver"]
    forget_agents(monkeypatch)
    capsys.readouterr()
    assert main(verdict) == 2
    assert "No module named 'agents'" in capsys.readouterr().err
    assert main([*verdict, "--pythonpath=src"]) == 1
    assert "silver: hold" in capsys.readouterr().out
    assert sys.path == before


def forget_agents(monkeypatch):
    """As in a new process: what a command imported is not there for the next one."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "agents"]:
        monkeypatch.delitem(sys.modules, name)


@pytest.mark.parametrize(
    "project",
    [
        {"pytest.ini": "[pytest]\npythonpath = src\n"},
        {"pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["src"]\n'},
        {"src/conftest.py": "raise AssertionError('is not run')", "conftest.py": "import nothing"},
    ],
    ids=["pytest.ini", "pyproject.toml", "conftest.py"],
)
def test_what_pytest_imports_is_found_by_every_command_that_runs_a_bench(
    packaged, project, capsys, monkeypatch
):
    for name, text in project.items():
        (packaged.root / name).write_text(text)
    if "conftest.py" in project:
        (packaged.root / "src" / "agents").rename(packaged.root / "agents")
    (packaged.root / "docs").mkdir()
    (packaged.root / "docs" / "trust-tiers.toml").touch()
    monkeypatch.chdir(packaged.root)
    before = list(sys.path)

    def done(*words):
        forget_agents(monkeypatch)
        status = main(list(words))
        return status, capsys.readouterr().err

    for shard in ("1/2", "2/2"):
        assert done("run", "--task-class=echo", "--out=parts", f"--shard={shard}")[0] == 0
    parts = [str(path) for path in sorted(Path("parts/shards/echo").iterdir())]
    status, said = done("merge", *parts, "--out=.benchgate")
    assert status == 0, said
    status, said = done("verdict", "--task-class=echo", "--target-tier=silver")
    assert status == 1, said  # three cases are too few for it
    assert done("run", "--task-class=echo", "--out=.benchgate")[0] == 0
    assert done("pin", "2", "--reason=first", "--yes")[0] == 0
    packaged.case("04")
    status, said = done("pin", "--extend", "--task-class=echo", "--reason=one more", "--yes")
    assert status == 0, said
    assert packaged.record()["report"]["case_count"] == 4
    assert sys.path == before


def test_settings_of_pytest_that_cannot_be_read_stop_a_command(bench, capsys, monkeypatch):
    monkeypatch.chdir(bench.root)
    (bench.root / "pytest.ini").write_text("pythonpath = src\n")
    for words in (["run", "--task-class=echo"], ["merge", "part", "--out=whole"]):
        assert main(words) == 2
        assert "pytest.ini: cannot be read: " in capsys.readouterr().err


def test_a_bench_that_is_only_read_runs_no_code(bench, monkeypatch):
    """A folder from elsewhere may be checked, verified, planned with and pinned before anybody trusts it."""
    monkeypatch.chdir(bench.root)
    mark = bench.root / "code-was-run"
    trap = f"open({str(mark)!r}, 'w').close()\n"
    for path in ("registration.py", "rubric.py", "system.py"):
        bench.write(path, trap + (bench.path / path).read_text())
    for path in (bench.root, bench.path.parent, bench.path):
        (path / "conftest.py").write_text(trap)
    (bench.root / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    (bench.root / "sitecustomize.py").write_text(trap)
    bench.engine(baseline="none")
    assert mark.exists()
    mark.unlink()
    assert main(["check"]) == 1  # three cases are too few for a class
    assert main(["pin", "1", "--reason=first", "--yes"]) == 0
    assert (
        main(["pin", "--extend", "--task-class=echo", "--yes"]) == 0
    )  # there is no new case to run
    assert main(["plan", "echo"]) == 0
    assert main(["verify", ".benchgate", "--bench-root=bench"]) == 0
    main(["verify", ".benchgate", "--bench-root=bench", "--require-promote"])
    assert not mark.exists()


def test_a_folder_to_import_from_must_be_there(bench, capsys):
    with pytest.raises(SystemExit) as caught:
        main(["run", "--task-class=echo", "--pythonpath=srcs"])
    assert caught.value.code == 2
    assert "argument --pythonpath: 'srcs': expected a folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["new", "class", "toy"],
        ["new", "case", "echo", "009"],
        ["policy"],
        ["--help"],
        ["runs", "-h"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "at once"])
def test_a_reader_that_goes_early_gets_no_message(bench, words, unbuffered):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [*MODULE, *words],
        cwd=bench.root,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write)
    assert done.stderr == ""
    # argparse takes a help text that nobody reads for printed.
    assert done.returncode in {0, 1}
