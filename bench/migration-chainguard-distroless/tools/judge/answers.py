"""The answers that are judged, and what their cases say of them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import tomli
from _benchgate_bench.migration_chainguard_distroless.dockerfile.parser import parse
from _benchgate_bench.migration_chainguard_distroless.image.base_images import Reference, facts_of
from _benchgate_bench.migration_chainguard_distroless.image.context import read_input
from _benchgate_bench.migration_chainguard_distroless.image.stages import resolve

from benchgate.testing import load_cases, loaded_class

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

CLASS: Final = Path(__file__).resolve().parents[2]
SYSTEMS: Final = ("claims-success", "do-nothing", "stage-aware", "table-converter")


def wheels() -> dict[str, str]:
    """Return the packages that the projects ask for, each with a version."""
    found = {
        "uv": "0.9.0",
        "poetry": "2.2.1",
        "wheel": "0.45.0",
        "setuptools": "80.0.0",
        "hatchling": "1.27.0",
    }
    for path in sorted((CLASS / "cases").glob("*/input/*")):
        if path.name.startswith("requirements") or path.name == "pyproject.toml":
            for name, version in re.findall(
                r"([A-Za-z][\w.-]*)(?:\[\w+\])?==([\w.]+)", path.read_text("utf-8")
            ):
                found[name.lower()] = version
    return found


def answers() -> Iterator[tuple[str, dict[str, Any], Mapping[str, str]]]:
    """Yield every answer that is judged: its name, what the case asks for, its files."""
    with loaded_class(CLASS) as bench:
        systems = {name: bench.task_class.systems[name] for name in SYSTEMS}
        for case_id, case in load_cases(CLASS).items():
            if case.disposition == "negative" or case.expected_path is None:
                continue
            held = json.loads((case.expected_path / "expected.json").read_text("utf-8"))
            parts = [part for need in held.get("packages", ()) for part in need.get("files", ())]
            asked = {
                "files": held.get("files", []),
                "target": held.get("target", ""),
                "parts": parts,
            }
            given = read_input(case.input_path)
            yield (
                f"{case_id}/best",
                asked,
                {**given, **read_input(CLASS / "tests/answers" / case_id)},
            )
            blank = case.model_copy(update={"expected_path": None})
            for name, system in systems.items():
                yield f"{case_id}/{name}", asked, {**given, **dict(system(blank))["files"]}
            for at, one in enumerate(_listed("blind.toml")):
                if one["case"] == case_id:
                    yield (
                        f"{case_id}/blind-{at}",
                        asked,
                        {**given, "Dockerfile": one["dockerfile"], **one.get("files", {})},
                    )
            for at, one in enumerate(_listed("unseen.toml")):
                if one["case"] == case_id:
                    yield (
                        f"{case_id}/unseen-{at}",
                        asked,
                        {**given, "Dockerfile": one["dockerfile"], **one.get("files", {})},
                    )


def given_workdir(folder: Path) -> str:
    """Return the folder that the given Dockerfile sets last; empty without one."""
    policy = json.loads((folder / "policy.json").read_text("utf-8"))
    built = resolve(parse((folder / "Dockerfile").read_text("utf-8")), policy.get("target", ""))
    sets = any(step.name == "WORKDIR" for step in built.final.all_steps)
    return built.final.config.workdir if sets else ""


def own_shells(wanted: Mapping[str, Any]) -> list[str]:
    """Return the shells and package managers that an image has which the case accepts in full."""
    found = set()
    for image, credit in wanted["final_images"].items():
        facts = facts_of(Reference.read(image)) if credit == 1 else None
        if facts and "busybox" in facts.shells:
            found |= {"bin/busybox", "bin/sh", "bin/ash"}
        if facts and "bash" in facts.shells:
            found |= {"bin/bash"}
        if facts and facts.apk:
            found |= {"usr/bin/apk"}
    return sorted(found)


def _listed(name: str) -> list[dict[str, Any]]:
    path = CLASS / "tests" / name
    return tomli.loads(path.read_text("utf-8"))["answer"] if path.is_file() else []
