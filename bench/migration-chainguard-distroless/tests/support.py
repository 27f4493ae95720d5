"""Shared by the tests: the cases as objects, and the best answers, written by hand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from _benchgate_bench.migration_chainguard_distroless.axes import Answer
from _benchgate_bench.migration_chainguard_distroless.dockerfile.parser import parse
from _benchgate_bench.migration_chainguard_distroless.expected import Expected
from _benchgate_bench.migration_chainguard_distroless.image.context import (
    DOCKERFILE,
    read_input,
    sent,
)
from _benchgate_bench.migration_chainguard_distroless.image.files import Files, Made
from _benchgate_bench.migration_chainguard_distroless.image.stages import Build, resolve
from _benchgate_bench.migration_chainguard_distroless.rubric import MigrationRubric

from benchgate.testing import load_cases

if TYPE_CHECKING:
    from benchgate import BenchScore

CLASS = Path(__file__).resolve().parent.parent
LOADED = load_cases(CLASS)
CASES = list(LOADED)
FREE = "cgr.dev/chainguard"

load = LOADED.__getitem__


def full_id(number: str) -> str:
    return next(case_id for case_id in CASES if case_id.startswith(number))


def given(case_id: str) -> dict[str, str]:
    """Return the files of a case."""
    return read_input(load(case_id).input_path)


def best(case_id: str) -> dict[str, str]:
    """Return the files of the best answer."""
    return read_input(CLASS / "tests" / "answers" / case_id)


def disposed(disposition: str) -> list[str]:
    return [case_id for case_id in CASES if load(case_id).disposition == disposition]


def score(case_id: str, files: Any) -> BenchScore:
    """Score files, or a text as the Dockerfile."""
    held = {DOCKERFILE: files} if isinstance(files, str) else files
    return MigrationRubric().score(load(full_id(case_id)), {"files": held})


def edited(case_id: str, *changes: tuple[str, str], **more: str) -> BenchScore:
    """Score the best answer with pieces of its Dockerfile replaced; each piece must be there."""
    files = best(full_id(case_id))
    for old, new in changes:
        assert old in files[DOCKERFILE], old
        files[DOCKERFILE] = files[DOCKERFILE].replace(old, new)
    return score(case_id, {**files, **more})


def build(text: str) -> Build:
    return resolve(parse(text))


def answer(
    text: str,
    context: dict[str, str] | None = None,
    before: dict[str, str] | None = None,
    **expected: Any,
) -> Answer:
    """Return a project whose case expects the given fields and nothing else."""
    after = {**(context or {}), DOCKERFILE: text}
    asked = Expected.model_validate(
        {"schema_version": 1, "final_images": {}, "argv": [], **expected}
    )
    made = tuple(Made(one.path, one.by) for one in asked.made)
    return Answer(Files(build(text), sent(after), made), asked, before or {}, after)
