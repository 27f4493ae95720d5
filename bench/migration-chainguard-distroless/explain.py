"""Why an answer scored as it did, axis by axis, in words for people."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from .axes import (
    carried,
    kept_settings,
    left_over,
    met_needs,
    needless_packages,
    obeyed_ports,
    problems,
    refused_images,
    unknown_packages,
)
from .harm import MEANINGS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from .axes import Answer
    from .harm import Finding

MOST: Final = 5
"""Items that are named of a list; the rest are counted."""


def evidence(answer: Answer, found: Mapping[str, float]) -> dict[str, str]:
    """
    Return for each axis below 1 what was seen in its place.

    :param found: the axes, in [0, 1].
    """
    final, expected = answer.final, answer.expected
    base = final.root_base
    config = final.config
    told: dict[str, Callable[[], str]] = {
        "final_image": lambda: f"{base}; accepted: {_listed(_full(expected.final_images))}",
        "build_images": lambda: (
            f"not the right image, or not one to pull: {_listed(refused_images(answer))}"
        ),
        "argv": lambda: f"starts {shlex.join(config.argv) or 'nothing'}",
        "user": lambda: f"runs as {config.user or 'root'}",
        "files_carried": lambda: f"not in the image: {_listed(_lost(carried(answer)))}",
        "commands_can_run": lambda: _listed(problems(answer)),
        "packages": lambda: f"not in the image: {_listed(_lost(met_needs(answer)))}",
        "ports": lambda: (
            f"exposes {_listed(sorted(config.ports)) or 'nothing'}; "
            f"not as it should be: {_listed(_lost(obeyed_ports(answer)))}"
        ),
        "healthcheck": lambda: (
            "dropped" if config.healthcheck is None else shlex.join(config.healthcheck.argv)
        ),
        "settings_kept": lambda: f"not kept: {_listed(_lost(kept_settings(answer)))}",
        "no_shell": lambda: (
            f"a shell or a package manager is in the image, from {base} or by a copy"
        ),
        "no_needless_package": lambda: _listed(sorted(needless_packages(answer))),
        "nothing_left_over": lambda: _listed(sorted(left_over(answer))),
        "packages_known": lambda: _listed(sorted(unknown_packages(answer))),
    }
    return {axis: text() for axis, text in told.items() if found.get(axis, 1.0) < 1.0}


def explanation(
    seen: Mapping[str, str], harm: frozenset[Finding], *, edited: bool, exists: bool
) -> str:
    """
    Return the reasons in one text, empty if there are none.

    :param seen: by axis, what :func:`evidence` returns.
    :param edited: a source was edited that is not part of the migration.
    :param exists: the base image of the final stage can be pulled.
    """
    lines = [f"{axis}: {text}" for axis, text in seen.items()]
    lines += [] if exists else ["the final image cannot be pulled"]
    lines += ["a source was edited"] if edited else []
    lines += [f"{MEANINGS[code]}: {where}" for code, where in sorted(harm)]
    return "; ".join(lines)


def _listed(items: Iterable[str]) -> str:
    names = list(items)
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    return ", ".join(names[:MOST]) + more


def _full(images: Mapping[str, float]) -> list[str]:
    return [name for name, credit in images.items() if credit == 1]


def _lost(held: Mapping[str, bool]) -> list[str]:
    return [name for name, there in held.items() if not there]
