"""The action for GitHub: the shell of its steps is run as GitHub runs it, and a fake ``gh`` has the comments."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from textwrap import dedent

import pytest

ACTION = Path(__file__).parents[2] / ".github/actions/gate/action.yml"
GATE, COMMENT, VERDICT = (
    dedent(text)
    for text in re.findall(r"^      run: \|\n((?:        .*\n)+)", ACTION.read_text(), re.MULTILINE)
)

GH = """#!/bin/bash
[ ! -f refuses ] || { echo 'HTTP 403' >&2; exit 1; }
case "$*" in
  *--jq*) for last; do :; done; jq -r "$last" comments.json ;;
  *) all="$*"; echo "$all" >> calls; cp "${all##*body=@}" body ;;
esac
"""


@pytest.fixture
def step(tmp_path, environment):
    """Run the shell of a step in a folder with two logs, and return its exit status and what it printed."""
    (tmp_path / "gh").write_text(GH)
    (tmp_path / "gh").chmod(0o755)
    (tmp_path / "comments.json").write_text("[]")
    given = {
        **environment,
        "PATH": f"{tmp_path}{os.pathsep}{environment['PATH']}",
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_OUTPUT": "output",
        "GITHUB_STEP_SUMMARY": "summary.md",
        "GH_REPO": "o/r",
        "NUMBER": "7",
        "BASELINE": "old.jsonl",
        "CANDIDATE": "new.jsonl",
        "ARGUMENTS": "",
        "HOLD": "fail",
    }

    def run(text, **variables):
        command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", text]
        env = {**given, **variables}
        done = subprocess.run(
            command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr

    return run


def write(folder, name, scores):
    rows = (json.dumps({"id": f"c{n}", "score": score}) for n, score in enumerate(scores))
    (folder / name).write_text("\n".join(rows))


ALL, HALF = [1] * 20, [0, 1] * 10


@pytest.mark.parametrize(
    ("sides", "arguments", "status"),
    [
        ((HALF, ALL), "", 0),
        ((HALF, HALF), "", 10),
        ((HALF, HALF), "--policy=claim=no_regression\n\n--policy=score_range=[0, 1]\n", 0),
        ((ALL, HALF), "", 1),
    ],
)
def test_the_verdict_is_shown_and_is_the_status_of_the_job(
    step, tmp_path, sides, arguments, status
):
    write(tmp_path, "old.jsonl", sides[0])
    write(tmp_path, "new.jsonl", sides[1])
    assert step(GATE, ARGUMENTS=arguments)[0] == 0  # the comment is still to come
    assert (tmp_path / "output").read_text() == f"status={status}\n"
    assert (tmp_path / "summary.md").read_text().startswith("<!-- benchgate: log -->\n")
    assert step(VERDICT, STATUS=str(status))[0] == status
    assert step(VERDICT, STATUS=str(status), HOLD="pass")[0] == status % 10


def test_wrong_use_fails_the_job_and_leaves_the_comment_alone(step, tmp_path):
    (tmp_path / "benchgate.md").write_text("of an earlier step")
    assert "old.jsonl: cannot be read" in step(GATE)[1]
    assert (tmp_path / "output").read_text() == "status=2\n"
    assert step(COMMENT) == (0, "")
    assert not (tmp_path / "calls").exists()


def test_one_comment_is_posted_and_found_again(step, tmp_path):
    """By its first line, which no reader sees; what people wrote is left alone, if they quote it too."""
    if shutil.which("jq") is None:
        pytest.skip("no jq")
    write(tmp_path, "old.jsonl", HALF)
    write(tmp_path, "new.jsonl", ALL)
    step(GATE)
    body = (tmp_path / "summary.md").read_text()
    comments = [
        {"id": 1, "user": {"type": "User"}, "body": body},
        {"id": 2, "user": {"type": "Bot"}, "body": "<!-- benchgate: other -->"},
    ]
    for _ in range(2):
        (tmp_path / "comments.json").write_text(json.dumps(comments))
        assert step(COMMENT) == (0, "")
        posted = (tmp_path / "body").read_text()
        assert posted.startswith("<!-- benchgate: log -->\n\n### ✔ PROMOTE")
        # As GitHub keeps it.
        comments.append({"id": 42, "user": {"type": "Bot"}, "body": posted.strip()})
    first, second = (tmp_path / "calls").read_text().splitlines()
    assert first.startswith("api repos/o/r/issues/7/comments -F body=@")
    assert second.startswith("api -X PATCH repos/o/r/issues/comments/42 -F body=@")


def test_a_comment_that_may_not_be_written_changes_no_verdict(step, tmp_path):
    (tmp_path / "benchgate.md").write_text("<!-- benchgate: log -->\n")
    (tmp_path / "refuses").touch()
    status, said = step(COMMENT)
    assert status == 0
    assert "::warning::The comment is not written" in said


def test_the_file_is_yaml():
    yaml = pytest.importorskip("yaml")
    action = yaml.safe_load(ACTION.read_text())
    assert [one["run"] for one in action["runs"]["steps"]] == [GATE, COMMENT, VERDICT]
    assert {one["shell"] for one in action["runs"]["steps"]} == {"bash"}
    used = set(re.findall(r"inputs\.(\w+)", ACTION.read_text()))
    assert used == action["inputs"].keys()
