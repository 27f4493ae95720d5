"""The answers that are observed: the best one and those of the systems to each case, and the lists of ``tests/``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import tomli
from _benchgate_bench.migration_chainguard_distroless.expected import read_expected
from _benchgate_bench.migration_chainguard_distroless.observers.build import asked
from _benchgate_bench.migration_chainguard_distroless.observers.store import key_of
from _benchgate_bench.migration_chainguard_distroless.project import read_input, read_output

from benchgate.loader.systems import find_system
from benchgate.testing import load_cases, loaded_class

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchgate import BenchCase

CLASS: Final = Path(__file__).resolve().parents[1]
LISTS: Final = ("blind", "unseen", "mended")


def answers() -> Iterator[tuple[str, BenchCase, Mapping[str, str]]]:
    """Yield every answer: its name, its case, its files."""
    with loaded_class(CLASS) as bench:
        for case_id, case in load_cases(CLASS).items():
            if case.disposition == "positive":
                yield f"{case_id}/best", case, read_input(CLASS / "tests/answers" / case_id)
                blank = case.model_copy(update={"expected_path": None})
                for name in sorted(bench.task_class.systems):
                    system = find_system(bench.task_class, name)
                    yield f"{case_id}/{name}", case, dict(system.call(blank))["files"]
                for name in LISTS:
                    for at, one in enumerate(listed(name)):
                        if one["case"] == case_id:
                            yield f"{case_id}/{name}-{at}", case, one["files"]


def task(case: BenchCase, files: Mapping[str, str]) -> tuple[str, dict[str, str], dict[str, Any]]:
    """Return the key of an answer's observation, all files of the answer, and what is asked of them."""
    assert case.expected_path is not None  # noqa: S101 - a positive case has it
    wanted = asked(read_expected(case.expected_path))
    whole = read_output(read_input(case.input_path), {"files": files})
    return key_of(wanted, whole), whole, wanted


def listed(name: str) -> list[dict[str, Any]]:
    """Return the answers of a list, each with ``case``, ``right``, ``why`` and ``files``."""
    held = tomli.loads((CLASS / "tests" / f"{name}.toml").read_text("utf-8"))["answer"]
    return [{**a, "files": {"Dockerfile": a["dockerfile"], **a.get("files", {})}} for a in held]
