# mypy: allow-untyped-defs, allow-untyped-calls
"""The JSON Schema of expected.json, and what a new case begins with."""

import json
import re
import shutil
import subprocess
import sys
from contextlib import nullcontext

import jsonschema
import pytest
from _benchgate_bench.migration_chainguard_distroless.expected import Expected, read_expected
from _benchgate_bench.migration_chainguard_distroless.facts import MigrationFacts
from _benchgate_bench.migration_chainguard_distroless.tests.support import CASES, CLASS, load
from _benchgate_bench.migration_chainguard_distroless.tools.write_schema import SCHEMA, schema
from pydantic import ValidationError

from benchgate.cli import main

KEPT = SCHEMA.read_text(encoding="utf-8")


def test_the_schema_is_that_of_the_model():
    assert schema() == KEPT


@pytest.mark.parametrize("path", sorted(CLASS.glob("case*/**/expected/expected.json")), ids=str)
def test_every_case_and_the_template_fit(path):
    jsonschema.validate(json.loads(path.read_text(encoding="utf-8")), json.loads(KEPT))
    assert read_expected(path.parent).argv


@pytest.mark.parametrize(
    ("licence", "credit", "why"),
    [
        ("Apache-2.0", "", ""),
        ("MIT", "Jo Doe", ""),
        ("MIT", "", "credit: who is owed it under MIT"),
        ("", "", "should match pattern"),
        ("some licence", "Jo Doe", "should match pattern"),
    ],
)
def test_what_a_case_is_derived_from_has_a_licence_and_its_credit(licence, credit, why):
    facts = {**load(CASES[0]).facts, "licence": licence, "credit": credit}
    with pytest.raises(ValueError, match=why) if why else nullcontext():
        assert MigrationFacts.model_validate(facts).credit == credit


@pytest.fixture
def copied(tmp_path):
    """Return a copy of the class."""
    there = tmp_path / "bench" / CLASS.name
    shutil.copytree(CLASS, there, ignore=shutil.ignore_patterns("__pycache__"))
    return there


def test_the_untouched_template_is_no_case(copied, capsys):
    assert main(["check", "--bench-root", str(copied.parent)]) == 0
    shutil.copytree(copied / "case-template", copied / "cases" / "041-new")

    assert main(["check", "--bench-root", str(copied.parent)]) == 1
    said = capsys.readouterr()
    assert "found 'NUMBER-NAME'" in said.out + said.err


@pytest.mark.slow
def test_a_new_case_asks_for_its_observations_and_turns_no_other_test_red(copied):
    old, new = CASES[0], f"{len(CASES) + 1:03}-new"
    for folder in (copied / "cases", copied / "tests/answers"):
        shutil.copytree(folder / old, folder / new)
        for path in [path for path in (folder / new).rglob("*") if path.is_file()]:
            text = path.read_text("utf-8").replace(old, new).replace("app.py", "new.py")
            path.write_text(text, "utf-8")
            path.rename(path.with_name(path.name.replace("app.py", "new.py")))
    tests = [f"tests/test_{name}.py" for name in ("cases", "observer", "readme", "systems")]
    done = subprocess.run(  # noqa: S603 - pytest
        [sys.executable, "-m", "pytest", "-q", "-rf", "-m", "not slow and not nightly", "--import-mode=importlib",
         "-p", "no:cacheprovider", *(copied / test for test in tests)],
        capture_output=True, text=True, check=False, cwd=copied.parents[1],
    )  # fmt: skip

    red = re.findall(r"(?m)^FAILED .*::(\w+)", done.stdout)
    assert red == ["test_an_observation_of_every_answer_is_shipped"], done.stdout


def refused(**held):
    """Return all that is said of a case that expects something, empty if it is read."""
    fields = {"schema_version": 1, "final_images": {"scratch": 1}, "argv": [["x"]], **held}
    try:
        Expected.model_validate(json.loads(json.dumps(fields)))
    except ValidationError as error:
        return " ".join(one["msg"] for one in error.errors())
    return ""


@pytest.mark.parametrize(
    ("held", "wrong"),
    [
        ({"final_images": {"cgr.dev/chainguard/python:latest": 1, "scratch": 1}}, False),
        ({"final_images": {"cgr.dev/chainguard/python": 1}}, True),
        ({"final_images": {"cgr.dev/chainguard/Python:latest": 1}}, True),
        ({"build_images": ["cgr.dev/chainguard/go"]}, False),
        ({"build_images": ["cgr.dev/chainguard/go:latest"]}, True),
        ({"build_images": ["node"]}, False),
        ({"build_images": ["golang"]}, True),
        ({"helper_images": ["docker.io/library/composer", "ghcr.io/astral-sh/uv"]}, False),
        ({"helper_images": ["composer"]}, True),
        ({"helper_images": ["docker.io/library/composer:2"]}, True),
        ({"helper_images": ["docker.io/composer"]}, False),
        ({"helper_images": ["cgr.dev/chainguard/go"]}, True),
        ({"helper_images": ["${UV}"]}, True),
        ({"final_images": {"node:latest": 1}}, True),
        ({"final_images": {"cgr.dev/chainguard/node:22": 1}}, True),
        ({"final_images": {"cgr.dev/example.org/node:22": 1}}, False),
        ({"final_images": {"scratch": 0.5}}, True),
        ({"final_images": {}}, True),
        ({"argv": []}, True),
        ({"argv": [{"words": ["x"], "images": []}]}, True),
        ({"argv": [{"words": ["x"], "images": ["scratch"]}]}, False),
        ({"argv": [{"words": ["x"], "images": ["node"]}]}, True),
        ({"argv": [{"words": ["x"], "images": ["node:latest"]}]}, True),
        ({"argv": [{"words": ["x"], "images": ["cgr.dev/chainguard/node:latest"]}]}, True),
        ({"target": "the last"}, True),
        ({"ports": ["65536"]}, True),
        ({"ports": [8080]}, True),
        ({"workdir": "*/app"}, True),
        ({"workdir": []}, True),
        ({"users": []}, True),
        ({"users": [], "root_allowed": True}, False),
        ({"users": ["65532", "root"]}, True),
        ({"users": ["root"], "root_allowed": True}, False),
        ({"users": ["065532"]}, True),
        ({"env": {"A": []}}, True),
        ({"argv": [[]]}, True),
        ({"argv": [{"words": [], "images": []}]}, True),
        ({"argv": [{"words": ["x"], "images": ["cgr.dev/chainguard/go"]}]}, True),
        ({"argv": [{"pattern": "("}]}, True),
        ({"healthcheck": "("}, True),
        ({"port_rules": [{"path": "/a", "must": ["("]}]}, True),
        ({"file_rules": [{"path": "/a", "must_not": ["("]}]}, True),
        ({"file_rules": [{"path": "a"}]}, True),
        ({"files": ["/app/a", "/"]}, False),
        ({"files": ["/app/"]}, True),
        ({"files": ["app"]}, True),
        ({"files": ["/app/../a"]}, True),
        ({"workdir": "/app"}, False),
        ({"workdir": "/app/"}, True),
        ({"workdir": "any"}, False),
        ({"workdir": ["app"]}, True),
        ({"workdir": ["/app", ""]}, False),
        ({"files": ["*/app"]}, False),
        ({"files": [[]]}, True),
        ({"users": "any"}, False),
        ({"ports": "any"}, False),
        ({"packages_allowed": "any"}, False),
        ({"env": {"A": ["b", "c"]}}, False),
        ({"platforms": [["linux/amd64", "${P}"]]}, True),
        ({"ports": ["80", "53/udp"]}, False),
        ({"ports": ["80/tcp"]}, True),
        ({"other_ports": [["8000-8010"]]}, True),
        ({"users": ["65532", "app"]}, False),
        ({"users": ["app:app"]}, True),
        ({"env": {"A B": "c"}}, True),
        ({"build_args": {"A=b": "c"}}, True),
        ({"platforms": ["$BUILDPLATFORM"]}, False),
        ({"platforms": ["${BUILDPLATFORM}"]}, True),
        ({"packages": [{"any_of": ["jq"]}]}, False),
        ({"packages": [{"any_of": []}]}, True),
        ({"packages": [{"any_of": ["jq=1.7"]}]}, True),
        ({"packages": [{"any_of": ["jq"], "files": [""]}]}, True),
        ({"packages_allowed": ["jq>1"]}, True),
        ({"unneeded": ["Dockerfile", ".env", "src/a.go"]}, False),
        ({"unneeded": ["./Dockerfile"]}, True),
        ({"unneeded": ["*/bin/poetry", "/opt/tool"]}, False),
        ({"unneeded": ["/opt/../tool"]}, True),
        ({"secrets_given": ["/.env"]}, True),
        ({"may_change": ["../nginx.conf"]}, True),
        ({"modes": {"./run.sh": "755"}}, True),
    ],
)
def test_what_no_answer_can_match_is_refused_when_a_case_is_read(held, wrong):
    said = refused(**held)

    assert bool(said) is wrong
    assert not wrong or re.search(
        "matches nothing: |at least 1 (item|character)|valid string", said
    )


def test_an_image_from_which_anybody_can_pull_needs_no_registry():
    fields = {
        "schema_version": 1,
        "final_images": {"scratch": 1},
        "argv": [["x"]],
        "build_images": ["node"],
    }
    read = Expected.model_validate_json(json.dumps(fields))

    assert read.build_images == {"cgr.dev/chainguard/node"}
