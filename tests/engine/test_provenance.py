"""A record says who made it and of which code, as git and the environment know, and nothing depends on that."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from functools import partial, wraps
from pathlib import Path
from typing import ClassVar

import pytest

from benchgate.artifacts import provenance
from benchgate.artifacts.provenance import Provenance
from benchgate.loader.systems import source_of
from benchgate.options.places import misspelled
from benchgate.registry import SystemEntry
from benchgate.verify.verification import verify_class


@pytest.fixture(autouse=True)
def nobody(monkeypatch):
    for name in (*provenance.ACTORS, *provenance.JOBS, *provenance.GITHUB):
        monkeypatch.delenv(name, raising=False)
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, "/dev/null")


def git(folder, *arguments):
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def folder(tmp_path):
    """Return the folder of a class that is committed."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    path = tmp_path / "bench/echo"
    path.mkdir(parents=True)
    (path / "rubric.py").write_text("")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "all")
    return path


def edited(folder):
    (folder / "rubric.py").write_text("# changed")


def untracked(folder):
    (folder / "case.toml").write_text("")


def removed(folder):
    (folder / "rubric.py").unlink()


def ignored(folder):
    git(folder, "rm", "-rq", "--cached", ".")
    git(folder, "commit", "-qm", "none")
    (folder.parent / ".gitignore").write_text("echo\n")


@pytest.mark.parametrize("change", [edited, untracked, removed, ignored])
def test_a_class_that_is_not_as_committed_is_dirty(folder, change):
    before = Provenance.here(folder)
    assert (before.commit, before.dirty) == (git(folder, "rev-parse", "HEAD"), False)
    change(folder)
    assert Provenance.here(folder).dirty is True


def test_what_is_elsewhere_or_bytecode_makes_no_class_dirty(folder):
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__/rubric.pyc").write_text("")
    (folder.parent / "notes.txt").write_text("")
    assert Provenance.here(folder).dirty is False


def test_no_program_that_a_repository_names_is_run(folder):
    (folder.parent / "monitor").write_text("#!/bin/sh\ntouch ran\n")
    (folder.parent / "monitor").chmod(0o700)
    git(folder, "config", "core.fsmonitor", str(folder.parent / "monitor"))
    assert Provenance.here(folder).dirty is False
    assert not list(folder.parents[1].rglob("ran"))


def test_without_git_nothing_is_known_and_nothing_is_said(folder, tmp_path, monkeypatch, capfd):
    shutil.rmtree(tmp_path / ".git")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert Provenance.here(folder).commit is None
    monkeypatch.setenv("PATH", str(tmp_path))
    nothing = Provenance(commit=None, dirty=None, job=None, actor=None, system_source=None)
    assert Provenance.here(folder) == nothing
    assert capfd.readouterr() == ("", "")


def test_a_status_that_takes_too_long_is_unknown(folder, monkeypatch):
    real = subprocess.run

    def slow(command, **options):
        assert options["timeout"] == 2
        if "status" in command:
            raise subprocess.TimeoutExpired(command, 2)
        return real(command, **options)

    monkeypatch.setattr(subprocess, "run", slow)
    known = Provenance.here(folder)
    assert (known.commit is None, known.dirty) == (False, None)


def test_the_environment_says_who_and_where(monkeypatch):
    monkeypatch.setenv("BENCHGATE_ACTOR", "ada\udcff")
    assert Provenance.here().actor == "ada\\udcff"
    monkeypatch.setenv("GITHUB_ACTOR", "grace")
    assert Provenance.here().actor == "grace"
    monkeypatch.setenv("CI_JOB_URL", "https://gitlab.example/1")
    assert Provenance.here().job == "https://gitlab.example/1"
    for name, value in zip(provenance.GITHUB, ("https://h", "o/r", "7"), strict=True):
        monkeypatch.setenv(name, value)
    assert Provenance.here().job == "https://h/o/r/actions/runs/7"
    assert not list(misspelled({"BENCHGATE_ACTOR": "ada"}))


class Agent:
    def __call__(self, case):
        raise NotImplementedError


def own(case):
    raise NotImplementedError


@wraps(own)
def wrapped(case):
    return own(case)


def known_source(system):
    source = source_of(None, "own", SystemEntry(call=system))
    return Provenance.here(None, source).system_source


@pytest.mark.parametrize("system", [own, Agent(), partial(own), wrapped])
def test_the_source_of_a_system_is_that_of_its_module(system):
    source = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    assert known_source(system) == source


def test_a_system_without_a_file_has_no_source():
    assert known_source(len) is None
    assert Provenance.here(None, None).system_source is None


class Proxy:
    """Answers whatever it is asked for, as the clients of some services do."""

    def __getattr__(self, name):
        return Proxy()


class Odd:
    __module__: ClassVar = []

    def __call__(self, case):
        raise NotImplementedError


@pytest.mark.parametrize("system", [Proxy(), Odd()])
def test_an_odd_system_has_no_source_and_stops_nothing(system):
    assert known_source(system) is None


# In the record of a run


def test_no_id_and_no_comparison_depends_on_who_made_a_run(echo, monkeypatch):
    monkeypatch.setenv("BENCHGATE_ACTOR", "ada")
    echo.run()
    first = echo.record()
    echo.pin()
    monkeypatch.setenv("BENCHGATE_ACTOR", "grace")
    run = echo.run(baseline="auto")
    second = echo.record()
    assert [one["provenance"]["actor"] for one in (first, second)] == ["ada", "grace"]
    for name in ("run_id", "plan_id"):
        assert first["report"][name] == second["report"][name]
    assert not [code for code in run.judgement.decision.reason_codes if "mismatch" in code]
    assert not verify_class(echo.out, "echo").faults


def test_a_function_is_known_by_the_source_of_its_module(echo):
    echo.run()
    own = Path(type(echo).agent.__code__.co_filename).read_bytes()
    assert echo.record()["provenance"]["system_source"] == hashlib.sha256(own).hexdigest()
    assert echo.record()["report"]["digests"]["system"] is None
    echo.run(system=None, replay="1")
    assert echo.record()["provenance"]["system_source"] is None


def test_a_system_that_declares_a_digest_needs_no_source(echo):
    def agent(case):
        return {"answer": ""}

    agent.digest = lambda: "v1"
    echo.run(system=agent)
    assert echo.record()["provenance"]["system_source"] is None
    assert echo.record()["report"]["digests"]["system"] == "v1"


def test_a_part_of_the_cases_asks_git_nothing(echo, monkeypatch):
    monkeypatch.setattr("benchgate.artifacts.provenance.git", None)
    assert not echo.run(case_filter="01").problems
