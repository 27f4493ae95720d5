"""Why an answer scored as it did, in words: what each axis that is below 1 rests on."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

MOST: Final = 6
"""Names listed for an axis; of more, the number of the others is given."""

MEANINGS: Final = MappingProxyType(
    {
        "tests_pass": "the project does not install, or its tests fail",
        "target_dropped": "still vulnerable",
        "fix_class": "another kind of fix than the case accepts in full",
        "lock_consistent": "npm would rewrite the files, they would not run, or they hold what they may not",
        "edges_in_range": "gets a dependency outside its range",
        "no_needless_override": "overridden without need, more widely or further than needed",
        "project_kept": "direct dependency lost, moved or replaced, or an override of the project",
        "no_needless_major": "crossed a breaking line without need, or more than one",
        "no_downgrade": "lower than before",
        "engines_kept": "does not run on the Node.js of the project",
        "sentinels_kept": "unrelated, and changed",
        "no_added_direct": "added as a direct dependency",
        "specs_kept": "range or field of the manifest edited without need, or too widely",
        "changes_bounded": "changed outside the bounds of the case",
        "no_new_advisory": "known advisory brought in",
        "unchanged": "there was nothing to change",
        "says_so": "the status does not say what is right",
    }
)


def listed(names: Iterable[str | tuple[str, ...]]) -> str:
    """Return names, or tuples of them, in order as one short text."""
    known = sorted({name if isinstance(name, str) else " > ".join(name) for name in names})
    more = len(known) - MOST
    return ", ".join(known[:MOST]) + (f" and {more} more" if more > 0 else "")


def explanation(axes: Mapping[str, float], deciding: Collection[str]) -> str:
    """
    Return why an answer scored as it did; what each axis rests on stands beside it.

    :param axes: the axes of the score, each in [0, 1].
    :param deciding: the axes that ``passed`` depends on.
    """
    low = [axis for axis in axes if axis in MEANINGS and axes[axis] < 1.0]
    if not low:
        return "nothing to object to"
    parts = []
    for heading, chosen in (
        ("cannot be merged", [axis for axis in low if axis in deciding]),
        ("could be better", [axis for axis in low if axis not in deciding]),
    ):
        if chosen:
            said = "; ".join(_part(axis, axes[axis]) for axis in chosen)
            parts.append(f"{heading}: {said}")
    return ". ".join(parts)


def _part(axis: str, value: float) -> str:
    return f"{MEANINGS[axis]} ({axis}{f' {value:.2f}' if value > 0.0 else ''})"
