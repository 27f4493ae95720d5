"""Shared by the tests: the cases as objects, the best answers, written by hand, and what was seen of answers."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from _benchgate_bench.migration_chainguard_distroless.axes import Answer
from _benchgate_bench.migration_chainguard_distroless.dockerfile.parser import parse
from _benchgate_bench.migration_chainguard_distroless.dockerfile.stages import Build, resolve
from _benchgate_bench.migration_chainguard_distroless.expected import Expected
from _benchgate_bench.migration_chainguard_distroless.observers.standins import images
from _benchgate_bench.migration_chainguard_distroless.observers.store import stored
from _benchgate_bench.migration_chainguard_distroless.project import DOCKERFILE, read_input
from _benchgate_bench.migration_chainguard_distroless.rubric import MigrationRubric
from _benchgate_bench.migration_chainguard_distroless.tools.answers import answers, task

from benchgate.testing import load_cases

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate import BenchCase, BenchScore

CLASS = Path(__file__).resolve().parent.parent
LOADED = load_cases(CLASS)
CASES = list(LOADED)
FREE = "cgr.dev/chainguard"


def load(case_id: str) -> BenchCase:
    """Return the case of an id, or of the number that it begins with."""
    return next(case for name, case in LOADED.items() if name.startswith(case_id))


def given(case_id: str) -> dict[str, str]:
    """Return the files of a case."""
    return read_input(load(case_id).input_path)


def best(case_id: str) -> dict[str, str]:
    """Return the files of the best answer."""
    return read_input(CLASS / "tests" / "answers" / load(case_id).case_id)


def disposed(disposition: str) -> list[str]:
    return [case_id for case_id in CASES if load(case_id).disposition == disposition]


def observed(case_id: str, files: Mapping[str, str]) -> dict[str, Any]:
    """Return the observation that is shipped of an answer; a test of an answer that nobody built yet is skipped."""
    case = load(case_id)
    if case.disposition == "negative":
        return {"asked": False}
    key = task(case, files)[0]
    if key not in stored("stand-in"):
        pytest.skip(f"{case_id}: not observed yet, which test_observer.py asks for")
    return dict(stored("stand-in")[key])


def unobserved() -> list[str]:
    """Return the answers that ship with the class and that nobody built yet, by their names."""
    kept = stored("stand-in")
    return [name for name, case, files in answers() if task(case, files)[0] not in kept]


def needs_observations() -> pytest.MarkDecorator:
    """Skip where a case is not observed yet."""
    return pytest.mark.skipif(
        bool(unobserved()), reason="a case is not observed yet, which test_observer.py asks for"
    )


def score(
    case_id: str, files: Any, seen: Mapping[str, Any] | None = None, **changed: Any
) -> BenchScore:
    """
    Score files, or a text as the Dockerfile, by what is given as seen or by the shipped observation.

    :param changed: fields of the case that are others than it has.
    """
    held = {DOCKERFILE: files} if isinstance(files, str) else files
    found = observed(case_id, held) if seen is None else seen
    case = load(case_id).model_copy(update={"observation": found, **changed})
    return MigrationRubric().score(case, {"files": held})


def edited(
    case_id: str, *changes: tuple[str, str], files: Mapping[str, str] | None = None, **seen: Any
) -> BenchScore:
    """
    Score the best answer with pieces of its Dockerfile replaced; each piece must be there.

    :param files: further files.
    :param seen: what is seen beside, or in place of, what was seen of the best answer.
    """
    held = best(case_id)
    kept = observed(case_id, held)
    for old, new in changes:
        assert old in held[DOCKERFILE], old
        held[DOCKERFILE] = held[DOCKERFILE].replace(old, new)
    return score(case_id, {**held, **(files or {})}, {**kept, **seen})


def build(text: str) -> Build:
    return resolve(parse(text))


def answer(
    text: str,
    seen: Mapping[str, Any] | None = None,
    before: Mapping[str, str] | None = None,
    **expected: Any,
) -> Answer:
    """Return a project whose case expects the given fields and nothing else, and of which the given is seen."""
    asked = {"schema_version": 1, "final_images": {"scratch": 1}, "argv": [["x"]], **expected}
    wanted = Expected.model_validate(asked)
    given = before or {DOCKERFILE: "FROM scratch\n"}
    return Answer(build(text), wanted, given, {DOCKERFILE: text}, seen or {"built": True})


def stood_in(
    tmp_path: Path, name: str, files: Mapping[str, str], script: str, other: Mapping[str, str] = {}
) -> str:
    """
    Run a script in the folder ``project`` with a stand-in as the program of its name, and return what is said.

    :param other: texts of the stand-in, each with what takes its place.
    """
    program = (images.HERE / "scripts" / name).read_text().replace(images.KEPT, f"{tmp_path}/kept")
    for text, instead in other.items():
        assert text in program
        program = program.replace(text, instead)
    common = (images.HERE / "scripts/common").read_text().replace(images.KEPT, f"{tmp_path}/kept")
    common = common.replace("/usr/lib", f"{tmp_path}/lib")
    for path, text in {"kept/common": common, **files, f"bin/{name}": program}.items():
        there = tmp_path / path
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_text(text)
        there.chmod(0o755)
    (tmp_path / "project").mkdir(exist_ok=True)
    env = {**os.environ, "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(  # noqa: S603 - what is tested
        ["/bin/sh", "-c", script], env=env, cwd=tmp_path / "project",
        capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    return done.stderr + done.stdout
