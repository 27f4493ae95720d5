# mypy: allow-untyped-defs, allow-untyped-calls
"""The registry that a case serves: an agent works with it, a person too, and what is not frozen does not exist."""

import json
import os
import shutil
import subprocess
import sys
from urllib.error import HTTPError
from urllib.request import ProxyHandler, build_opener

import pytest
from _benchgate_bench.vuln_remediation.systems.real_registry import (
    REGISTRY,
    CannotBeJudged,
    OnRealRegistry,
)
from _benchgate_bench.vuln_remediation.tests.support import (
    AXIOS,
    CLASS,
    JWT,
    LODASH,
    NO_FIX,
    load,
    required_npm,
    score,
    solved,
)
from _benchgate_bench.vuln_remediation.tools.cassettes import project_files
from _benchgate_bench.vuln_remediation.tools.registry import environment, serve

from benchgate import run_eval

npm = pytest.fixture(required_npm, scope="module")
QS = "006-cve-2022-24999-qs"
FIVE = {LODASH, AXIOS, QS, JWT, NO_FIX}
"""A refresh, an exact pin, a parent, a major, and no fix at all."""


def scripted_model(package, manifest):
    """Say what a model says: a command in each turn, of which it sees the output, and at last how it ended."""
    yield f"npm ls {package} --all"
    yield "npm audit fix"
    found = json.loads((yield "npm audit --json"))["vulnerabilities"].get(package)
    if found is None:
        return "fixed"
    fix = found["fixAvailable"]
    if not isinstance(fix, dict):
        return "no-fix"
    is_exact = manifest["dependencies"][fix["name"]][0].isdigit()
    option = " --save-exact" if is_exact else ""
    yield f"npm install {fix['name']}@{fix['version']}{option}"
    left = json.loads((yield "npm audit --json"))["vulnerabilities"]
    return "vulnerable" if package in left else "fixed"


def agent(case):
    """Look at the lock, call npm with the registry of the case, look again, answer."""
    project = case.work_path / "project"
    shutil.copytree(case.input_path, project)
    manifest, advisory = (
        json.loads((project / name).read_text()) for name in ("package.json", "advisory.json")
    )
    within = environment(case.served, case.work_path)
    model = scripted_model(advisory["package"], manifest)
    command = next(model)
    while True:
        done = subprocess.run(  # noqa: S603 - what the model above says
            command.split(), cwd=project, env=within, capture_output=True, text=True, check=False
        )
        try:
            command = model.send(done.stdout)
        except StopIteration as said:
            return {"files": project_files(project), "status": said.value}


agent.needs_served = True


@pytest.mark.slow
@pytest.mark.usefixtures("npm")
def test_an_agent_that_calls_npm_solves_five_cases_with_what_they_serve():
    report = run_eval(
        CLASS.name,
        system_under_test=agent,
        case_filter=lambda case: case.case_id in FIVE,
        bench_root=CLASS.parent,
    )

    assert {one.case_id: one.score.score for one in report.per_case} == dict.fromkeys(FIVE, 1.0)


@pytest.mark.usefixtures("npm")
def test_the_agent_of_the_readme_runs_as_it_is_written_there():
    code = (CLASS / "README.md").read_text().partition("```python\n")[2].partition("```")[0]
    written = {}
    exec(code, written)  # noqa: S102 - our own page

    report = run_eval(
        CLASS.name,
        system_under_test=written["agent"],
        case_filter=lambda case: case.case_id == LODASH,
        bench_root=CLASS.parent,
    )

    assert report.per_case[0].score.score == 1.0


def run(folder, *arguments):
    return subprocess.run(  # noqa: S603 - this very Python
        [sys.executable, str(CLASS / "tools/registry.py"), *arguments],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.usefixtures("npm")
def test_a_person_goes_on_with_the_folder_that_the_first_command_made(tmp_path):
    first = run(tmp_path, AXIOS, "--", "npm", "audit", "fix")
    second = run(tmp_path, AXIOS, "--", "npm", "install", "--save-exact", "axios@0.21.2")

    assert f"{AXIOS}: 0.000, failed." in first.stderr
    assert first.returncode == 1  # of npm: something is left
    assert f"{AXIOS}: 1.000, passed." in second.stderr
    assert second.returncode == 0


@pytest.mark.usefixtures("npm")
def test_a_version_that_is_not_frozen_does_not_exist(tmp_path):
    told = run(tmp_path, LODASH, "--", "npm", "install", "lodash@99.0.0")

    assert "No matching version found for lodash@99.0.0" in told.stderr
    assert told.returncode == 1


def test_only_cases_are_served():
    opener = build_opener(ProxyHandler({}))
    with serve() as address:
        with opener.open(f"{address}/{LODASH}/lodash", timeout=60) as answer:
            assert json.load(answer)["name"] == "lodash"
        for path in (f"{LODASH}/express", "none/lodash", "..%2Fcases/lodash", "/lodash"):
            with pytest.raises(HTTPError, match="404"):
                opener.open(f"{address}/{path}", timeout=60)


def test_an_unknown_case_is_wrong_use(tmp_path):
    told = run(tmp_path, "001", "--", "npm", "ls")

    assert told.returncode == 2
    assert "no case 001; known: 001-cve-2021-23337-lodash" in told.stderr
    assert os.listdir(tmp_path) == []


def test_nothing_of_this_machines_npm_reaches_a_case(monkeypatch, tmp_path):
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", "https://example.com/")
    monkeypatch.setenv("npm_config_//example.com/:_authToken", "secret")

    within = environment("http://127.0.0.1:1/x/", tmp_path)

    own = {name: value for name, value in within.items() if name.lower().startswith("npm_config_")}
    assert own["npm_config_registry"] == "http://127.0.0.1:1/x/"
    assert not any("example.com" in f"{name}{value}" for name, value in own.items())


def on_real_registry(edit, *, integrity="sha512-new"):
    """Return what becomes of an answer to a case that was edited, where the registry has one more version."""
    output = solved(LODASH)
    edit(output.packages["node_modules/lodash"])
    made = output.files()
    told = []

    def published(name, version):
        told.append(f"{name}@{version}")
        return integrity if version == "4.99.0" else None

    def real(case):
        assert case.served == REGISTRY
        return made

    return OnRealRegistry(real, published)(load(LODASH)), told


def newer(entry):
    entry.update(version="4.99.0", integrity="sha512-new")


def test_an_answer_with_a_version_that_was_published_since_cannot_be_judged():
    with pytest.raises(CannotBeJudged, match=r"lodash@4\.99\.0 not frozen with this case"):
        on_real_registry(newer)


def test_what_cannot_be_judged_is_an_error_and_stays_in_the_mean():
    output = solved(LODASH)
    newer(output.packages["node_modules/lodash"])
    real = OnRealRegistry(lambda _: output.files(), lambda *_: "sha512-new")

    report = run_eval(
        CLASS.name,
        system_under_test=real,
        case_filter=lambda case: case.case_id == LODASH,
        bench_root=CLASS.parent,
    )

    (trial,) = report.per_case
    assert trial.outcome == "harness_error"
    assert "CannotBeJudged: cannot be judged: lodash@4.99.0" in trial.failure_modes[0].detail
    assert (report.mean_score, report.complete) == (0.0, True)


def test_it_says_of_itself_what_its_agent_says():
    def agent(_):
        return {}

    agent.digest = lambda: "prompt-7"

    assert OnRealRegistry(agent).digest() == "prompt-7"


def test_an_invented_version_does_not_exist_and_does_not_pay():
    made, told = on_real_registry(lambda e: e.update(version="99.0.0", integrity="sha512-new"))

    assert told == ["lodash@99.0.0"]
    found = score(LODASH, made)
    assert not found.passed
    assert "version_unknown" in found.failure_modes


@pytest.mark.parametrize("integrity", [None, "sha512-other"])
def test_the_registry_must_have_the_version_with_this_content(integrity):
    made, _ = on_real_registry(newer, integrity=integrity)

    assert "version_unknown" in score(LODASH, made).failure_modes


def test_of_what_is_frozen_nobody_asks():
    made, told = on_real_registry(lambda _: None)

    assert told == []
    assert score(LODASH, made).score == 1.0


@pytest.mark.parametrize(
    "output", [{}, {"files": None}, {"files": {"package-lock.json": "[]"}}, {"files": []}]
)
def test_what_is_no_answer_is_left_to_the_rubric(output):
    assert OnRealRegistry(lambda _: output, lambda *_: None)(load(LODASH)) == output
