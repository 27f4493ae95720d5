"""What a record says of an answer: is it built, does it start what the case wants, does it hold no more than that."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

NOT_STARTED = (2, 125, 126, 127)
"""Exits of a health check that never asked."""


def faults(
    seen: Mapping[str, Any], wanted: Mapping[str, Any], workdir: str, own_shells: Sequence[str]
) -> list[str]:
    """
    Return what is wrong with an answer, by what was seen.

    :param wanted: the case's ``expected.json``.
    :param workdir: the folder that the given Dockerfile sets, empty if it sets none.
    :param own_shells: the shells of the stand-in of an accepted image.
    """
    if not seen["built"]:
        return [f"not built: {seen['error']}"]
    return [
        *_of_process(seen, wanted, workdir),
        *_of_content(seen, wanted, own_shells),
        *_of_ports(seen, wanted),
    ]


def _of_process(seen: Mapping[str, Any], wanted: Mapping[str, Any], workdir: str) -> Iterator[str]:
    if seen["exit"] not in (None, 0):
        yield f"ends with {seen['exit']}: {seen['error']}"
    here = seen["folder"] or workdir
    if not any(_same(seen["argv"], words, here) for words in _commands(wanted)):
        yield f"starts {' '.join(seen['argv'])}"
    if seen["uid"] == 0 and not wanted.get("root_allowed"):
        yield "is root"
    if workdir and seen["folder"] not in ("", workdir):
        yield f"starts in {seen['folder']}"
    if seen["health"] in NOT_STARTED:
        yield "the health check does not start"


def _of_content(
    seen: Mapping[str, Any], wanted: Mapping[str, Any], own_shells: Sequence[str]
) -> Iterator[str]:
    for path in sorted(set(wanted.get("files", ())) - set(seen["files"])):
        yield f"lacks {path}"
    for need in wanted.get("packages", ()):
        copied = set(need.get("files", ())) & set(seen["held"])
        if not set(need["any_of"]) & set(seen["packages"]) and not copied:
            yield f"lacks the package {need['any_of'][0]}"
    env = dict(one.partition("=")[::2] for one in seen["env"])
    for name, value in wanted.get("env", {}).items():
        if env.get(name) != value:
            yield f"{name} is {env.get(name)}"
    if not wanted.get("shell_needed") and set(seen["shells"]) - set(own_shells):
        yield "has a shell or a package manager that its image has not"


def _of_ports(seen: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[str]:
    ports = set(wanted.get("ports", ()))
    if {port.removesuffix("/tcp") for port in seen["exposed"]} != ports:
        yield f"exposes {', '.join(seen['exposed']) or 'nothing'}"
    numbers = {port.partition("/")[0] for port in ports}
    if seen["ports"] and numbers and not numbers & set(map(str, seen["ports"])):
        yield f"listens on {seen['ports']}"


def _commands(wanted: Mapping[str, Any]) -> list[Sequence[str]]:
    return [one["words"] if isinstance(one, dict) else one for one in wanted["argv"]]


def _same(argv: Sequence[str], words: Sequence[str], folder: str) -> bool:
    given = list(argv)
    if len(given) == 3 and posixpath.basename(given[0]) in ("sh", "bash") and given[1] == "-c":
        given = given[2].removeprefix("exec ").split()
    if len(given) != len(words) or not given:
        return False
    if posixpath.basename(given[0]) != posixpath.basename(words[0]):
        return False
    return all(
        one == other or posixpath.normpath(posixpath.join(folder, one)) == other
        for one, other in zip(given[1:], words[1:], strict=True)
    )
