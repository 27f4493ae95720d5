# mypy: allow-untyped-defs, allow-untyped-calls
"""The rubric against real builds: what ``tools/build_judge.py`` saw of each answer, and what the rubric says of it."""

import json
import os
import subprocess
import sys

import pytest
from _benchgate_bench.migration_chainguard_distroless.tests.support import CLASS, load, score
from _benchgate_bench.migration_chainguard_distroless.tools.judge.answers import (
    answers,
    given_workdir,
    own_shells,
)
from _benchgate_bench.migration_chainguard_distroless.tools.judge.verdict import faults

RECORD = json.loads((CLASS / "tests" / "builds.json").read_text(encoding="utf-8"))
ANSWERS = {name: files for name, _, files in answers()}
DIFFER = {
    "009-platform-and-digest/blind-57": "one architecture: the platform of the builder is that of the target",
    "009-platform-and-digest/blind-59": "one architecture: the platform of the builder is that of the target",
    "015-distroless-java-major/blind-93": "the stand-ins of all majors of Java are the same",
    "016-heredoc-words/blind-98": "the judge does not read what is in a file",
    "019-dotenv-in-context/blind-104": "the judge does not look for secrets",
    "019-dotenv-in-context/blind-105": "the judge does not look for secrets",
    "023-pipe-to-shell/blind-117": "what is fetched is not there without a network; the rubric has a penalty for it",
    "023-pipe-to-shell/blind-118": "what is fetched is not there without a network; the rubric has a penalty for it",
    "033-go-healthcheck/unseen-17": "BuildKit gives the copy to root if there is no such user; other builders fail",
    "035-shell-form-variables/unseen-20": "Debian's busybox has no find -delete, Wolfi's has",
}
"""The answers of which the two say different things, each with the reason."""

WRITTEN = ("blind-", "unseen-")
"""How the names of answers begin that were written to test the rubric."""


TIMED = ("digest", "error", "exit", "folder", "health", "ports", "uid")
"""What depends on when one looks, or on the day; the verdict has to be the same all the same."""


def verdict(name, seen):
    case = load(name.partition("/")[0])
    wanted = json.loads((case.expected_path / "expected.json").read_text(encoding="utf-8"))
    return faults(seen, wanted, given_workdir(case.input_path), own_shells(wanted))


def agrees(name):
    found = verdict(name, RECORD[name])
    return (not found) is score(name.partition("/")[0], dict(ANSWERS[name])).passed, found


def test_every_answer_was_built():
    assert sorted(RECORD) == sorted(ANSWERS)


@pytest.mark.parametrize("name", sorted(RECORD))
def test_the_rubric_says_what_the_build_shows(name):
    same, found = agrees(name)

    assert same is (name not in DIFFER), found


def test_the_two_agree_on_systems_and_best_answers():
    listed = [name for name in RECORD if not name.partition("/")[2].startswith(WRITTEN)]
    differ = [name for name in DIFFER if not name.partition("/")[2].startswith(WRITTEN)]

    assert len(listed) == 38 * 5
    assert 1 - len(differ) / len(listed) >= 0.95


@pytest.mark.slow
@pytest.mark.skipif(
    not os.environ.get("BENCHGATE_JUDGE"), reason="BENCHGATE_JUDGE: the options of build_judge.py"
)
def test_a_build_of_today_shows_the_same(tmp_path):
    out = tmp_path / "builds.json"
    command = [sys.executable, str(CLASS / "tools" / "build_judge.py"), "--record", str(out)]
    subprocess.run([*command, *os.environ["BENCHGATE_JUDGE"].split()], check=True)  # noqa: S603
    today = json.loads(out.read_text(encoding="utf-8"))

    assert today
    for name, seen in today.items():
        fixed, known = (
            {key: held for key, held in one.items() if key not in TIMED}
            for one in (seen, RECORD[name])
        )
        assert fixed == known, name
        assert bool(verdict(name, seen)) is bool(verdict(name, RECORD[name])), name
