"""Why an answer scored as it did, axis by axis, in words for people."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from .axes import READ, faults_of_start, image_of, kept_settings, obeyed_ports, refused_images
from .harm import HARMS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .axes import Answer
    from .harm import Finding

MOST: Final = 5
"""Items that are named of a list; the rest are counted."""


def evidence(answer: Answer, found: Mapping[str, float]) -> dict[str, str]:
    """
    Return for each axis below 1 what was seen in its place.

    :param found: the axes, in [0, 1].
    """
    seen = answer.seen
    ports, kept = (
        [name for name, is_kept in held.items() if not is_kept]
        for held in (obeyed_ports(answer), kept_settings(answer))
    )
    accepted = [name for name, credit in answer.expected.final_images.items() if credit == 1]
    told = {
        "final_image": f"{image_of(answer)}; accepted: {_listed(accepted)}",
        "build_images": f"not the right image, or not one to pull: {_listed(refused_images(answer))}",
        "runs": _listed(faults_of_start(answer)),
        "argv": f"starts {shlex.join(seen.get('argv', ())) or 'nothing'}",
        "user": f"runs as {seen.get('user') or 'root'}, {seen.get('uid', 'unknown')}",
        "files_carried": f"not in the image: {_listed(answer.listed('lacks'))}",
        "packages": f"not in the image: {_listed(answer.listed('needs'))}",
        "ports": f"exposes {_listed(answer.listed('exposed')) or 'nothing'}, "
        f"listens on {_listed(answer.listed('ports')) or 'nothing'}; "
        f"not as it should be: {_listed(ports)}",
        "healthcheck": seen.get("check", "") or "dropped",
        "settings_kept": f"not kept: {_listed(kept)}",
        "no_shell": f"a shell or a package manager is in the image: {_listed(answer.listed('shells'))}",
        "no_needless_package": _listed(answer.listed("needless")),
        "nothing_left_over": _listed(answer.listed("left")),
    }
    if not answer.built:
        told = {axis: told[axis] for axis in READ}
        told["runs"] = f"not built: {seen.get('error', '')}"
    return {axis: text for axis, text in told.items() if found.get(axis, 1.0) < 1.0}


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


def _listed(items: Iterable[object]) -> str:
    names = [*map(str, items)]
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    return ", ".join(names[:MOST]) + more
