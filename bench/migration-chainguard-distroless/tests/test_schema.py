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
from _benchgate_bench.migration_chainguard_distroless.expected import read_expected
from _benchgate_bench.migration_chainguard_distroless.facts import MigrationFacts
from _benchgate_bench.migration_chainguard_distroless.tests.support import CASES, CLASS, load
from _benchgate_bench.migration_chainguard_distroless.tools.write_schema import SCHEMA, schema

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
    """Return a copy of the class, beside what the tests of all classes use."""
    there = tmp_path / "bench" / CLASS.name
    shutil.copytree(CLASS, there, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(CLASS.parent / "readme_results.py", there.parent)
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
