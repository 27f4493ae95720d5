# mypy: allow-untyped-defs, allow-untyped-calls
"""hadolint, which shares no code with the rubric, refuses what the parsers refuse, except for its known errors."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from _benchgate_bench.migration_chainguard_distroless.dockerfile.instruction import Refused
from _benchgate_bench.migration_chainguard_distroless.dockerfile.parser import parse
from _benchgate_bench.migration_chainguard_distroless.tests.corpus import BROKEN, HARD, shipped

VERSION = "2.15.1"
PARSE_ERRORS = {"DL1000", "DL3061"}
FALSE_ERRORS = {
    "016-heredoc-words": "it does not see that tabs before the end of a here-document begun with <<- are dropped",
    "heredocs": "the same, and it does not read two here-documents on one line",
}
"""Valid files that hadolint refuses."""

FALSE_PASSES = {
    "list of numbers": "it reads a list that is not of strings as a shell command",
    "nothing": "it takes a file without any instruction",
}
"""Broken files that hadolint accepts."""

beside = Path(sys.executable).parent / "hadolint"
PROGRAM = str(beside) if beside.exists() else shutil.which("hadolint")
REQUIRED = os.environ.get("BENCHGATE_REQUIRE_HADOLINT") == "1"
pytestmark = pytest.mark.skipif(
    PROGRAM is None and not REQUIRED, reason="hadolint is not installed (dependency group hadolint)"
)


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """Return for each text whether hadolint refuses it, asked once for all of them."""
    assert PROGRAM is not None, "BENCHGATE_REQUIRE_HADOLINT=1, and there is no hadolint"
    folder = tmp_path_factory.mktemp("files")
    texts = {**shipped(), **{name: HARD[name] for name in HARD}, **BROKEN}
    paths = {}
    for number, (name, text) in enumerate(texts.items()):
        path = folder / f"{number}.Dockerfile"
        path.write_bytes(text.encode())
        paths[str(path)] = name
    done = subprocess.run(  # noqa: S603 - the linter, on files written here
        [PROGRAM, "--no-color", "--format", "json", *paths],
        capture_output=True,
        check=False,
        timeout=300,
    )
    refused = {paths[one["file"]] for one in json.loads(done.stdout) if one["code"] in PARSE_ERRORS}
    return {name: name in refused for name in texts}


def refuses(text):
    try:
        parse(text)
    except Refused:
        return True
    return False


def test_it_is_the_version_that_was_judged_with():
    assert PROGRAM is not None, "BENCHGATE_REQUIRE_HADOLINT=1, and there is no hadolint"
    done = subprocess.run(  # noqa: S603 - the linter
        [PROGRAM, "--version"], capture_output=True, text=True, check=True, timeout=300
    )

    assert VERSION in done.stdout


def test_both_refuse_the_same(judged):
    texts = {**shipped(), **HARD, **BROKEN}
    differing = {name for name, text in texts.items() if judged[name] != refuses(text)}
    cases = {name.partition(" ")[0] if name in shipped() else name for name in differing}

    assert cases == {*FALSE_ERRORS, *FALSE_PASSES}


def test_each_broken_file_is_refused_by_the_parsers():
    assert all(map(refuses, BROKEN.values()))
    assert not any(map(refuses, HARD.values()))
