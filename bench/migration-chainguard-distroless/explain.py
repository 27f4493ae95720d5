"""Why an answer scored as it did, axis by axis, in words for people."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from .axes import (
    READ,
    faults_of_start,
    image_of,
    kept_settings,
    obeyed_ports,
    refused_images,
)
from .harm import HARMS

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
    seen, expected = answer.seen, answer.expected
    accepted = [name for name, credit in expected.final_images.items() if credit == 1]
    told: dict[str, Callable[[], str]] = {
        "final_image": lambda: f"{image_of(answer)}; accepted: {_listed(accepted)}",
        "build_images": lambda: (
            f"not the right image, or not one to pull: {_listed(refused_images(answer))}"
        ),
        "runs": lambda: _listed(faults_of_start(answer)),
        "argv": lambda: f"starts {shlex.join(seen.get('argv', ())) or 'nothing'}",
        "user": lambda: f"runs as {seen.get('user') or 'root'}, {seen.get('uid', 'unknown')}",
        "files_carried": lambda: f"not in the image: {_listed(answer.listed('lacks'))}",
        "packages": lambda: f"not in the image: {_listed(answer.listed('needs'))}",
        "ports": lambda: (
            f"exposes {_listed(answer.listed('exposed')) or 'nothing'}, listens on "
            f"{_listed(map(str, answer.listed('ports'))) or 'nothing'}; not as it should be: "
            f"{_listed(_lost(obeyed_ports(answer)))}"
        ),
        "healthcheck": lambda: str(seen.get("check", "")) or "dropped",
        "settings_kept": lambda: f"not kept: {_listed(_lost(kept_settings(answer)))}",
        "no_shell": lambda: (
            f"a shell or a package manager is in the image: {_listed(answer.listed('shells'))}"
        ),
        "no_needless_package": lambda: _listed(answer.listed("needless")),
        "nothing_left_over": lambda: _listed(answer.listed("left")),
    }
    axes = [axis for axis in told if found.get(axis, 1.0) < 1.0]
    if answer.built:
        return {axis: told[axis]() for axis in axes}
    return {
        axis: told[axis]() if axis in READ else f"not built: {seen.get('error', '')}"
        for axis in axes
        if axis in (*READ, "runs")
    }


def explanation(seen: Mapping[str, str], harm: frozenset[Finding], *, edited: bool) -> str:
    """
    Return the reasons in one text, empty if there are none.

    :param seen: by axis, what :func:`evidence` returns.
    :param edited: a source was edited that is not part of the migration.
    """
    lines = [f"{axis}: {text}" for axis, text in seen.items()]
    lines += ["a source was edited"] if edited else []
    lines += [f"{HARMS[code][1]}: {where}" for code, where in sorted(harm)]
    return "; ".join(lines)


def _listed(items: Iterable[str]) -> str:
    names = list(items)
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    return ", ".join(names[:MOST]) + more


def _lost(held: Mapping[str, bool]) -> list[str]:
    return [name for name, there in held.items() if not there]
