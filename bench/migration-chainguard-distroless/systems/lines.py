"""Translates images, packages, user tools and ports to what Chainguard's images have."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Final, NamedTuple

from _benchgate_bench.migration_chainguard_distroless.dockerfile import reference

from .tables import DEBIAN, FEDORA, IMAGES, PREFIXES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .workspace import Block, Task

BASE: Final = "chainguard-base"
_FIRST_FREE: Final = 1024
_PORTS: Final = {80: 8080, 443: 8443}
_MANAGERS: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    **dict.fromkeys(("apt", "apt-get"), DEBIAN),
    **dict.fromkeys(("dnf", "microdnf", "yum"), FEDORA),
    "apk": {},
}
_LEFTOVERS: Final = re.compile(r"rm\s+-rf\s+/var/(?:lib/apt|cache)/\S*|add-apt-repository\b.*")
_USER_TOOLS: Final = {"useradd": "adduser", "groupadd": "addgroup"}
_USER_OPTIONS: Final = {
    "--create-home": "",
    "--gid": "-G",
    "--no-create-home": "-H",
    "--system": "-S",
    "--uid": "-u",
    "-M": "-H",
    "-g": "-G",
    "-m": "",
    "-r": "-S",
}


def name_and_tag(text: str) -> tuple[str, str]:
    """Return the last part of the Chainguard image's name for a reference, and the tag of the reference."""
    named = text.partition("@")[0]
    # Only a colon after the last slash begins a tag; an earlier one begins a port.
    head, colon, tag = named.rpartition(":")
    if not colon or "/" in tag:
        head, tag = named, ""
    short = head.removeprefix("docker.io/").removeprefix("library/")
    last = short.rpartition("/")[2]
    prefixed = (found for prefix, found in PREFIXES.items() if last.startswith(prefix))
    return next(prefixed, "") or IMAGES.get(short) or IMAGES.get(last) or last, tag


def image(text: str, task: Task, *, dev: bool) -> str:
    """Return the Chainguard image for a reference, with its major and minor version if such tags can be pulled."""
    name, tag = name_and_tag(text)
    end = "-dev" if dev else ""
    if "$" not in tag:
        version = re.match(r"v?(\d+(?:\.\d+)?)(?=[.-]|\Z)", tag)
        java = "openjdk-" if name in ("jdk", "jre") else ""
        tag = f"{java}{version[1]}" if version and not task.free and name != BASE else "latest"
        end = "" if name == BASE else end
    return f"{reference.REGISTRY}/{task.organisation}/{name}:{tag}{end}"


def is_chainguard(text: str) -> bool:
    """Return whether a reference already names Chainguard's registry."""
    found = reference.Reference.read(text)
    return found is not None and found.chainguard


class Work(NamedTuple):
    """
    What ``RUN`` lines do.

    :param packages: the packages they install, by Wolfi's names, sorted.
    :param commands: their other commands, without those that only serve a package manager that is removed.
    """

    packages: Sequence[str]
    commands: Sequence[str]

    def line(self, flags: Iterable[str] = ()) -> str:
        """Return a ``RUN`` with one installation in front; nothing if there is nothing to run."""
        install = [f"apk add --no-cache {' '.join(self.packages)}"] if self.packages else []
        joined = " && ".join([*install, *self.commands])
        return " ".join(["RUN", *flags, joined]) + "\n" if joined else ""


def run_work(block: Block, further: Mapping[str, tuple[str, ...]]) -> Work:
    """
    Return what one ``RUN`` installs and runs.

    :param further: Wolfi's names of packages that the manager's table does not have.
    """
    if not block.has_commands:
        return Work([], [block.source] if block.name == "RUN" else [])
    commands = run_commands(block)
    names = {name for command in commands for name in packages(command, further)}
    kept = [command for command in commands if _words(command)[0] not in _MANAGERS]
    return Work(sorted(names), [found for found in kept if not _LEFTOVERS.fullmatch(found)])


def run_commands(block: Block) -> list[str]:
    """Return the commands that ``&&`` joins."""
    text = " ".join(block.instruction.value[0].split())
    return [one for one in re.split(r"\s*&&\s*", text) if one]


def packages(command: str, further: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Return Wolfi's names of what an installation installs, without versions; nothing for any other command."""
    manager, *words = _words(command)
    at = [at for at, word in enumerate(words) if word in ("install", "add")]
    if manager not in _MANAGERS or not at:
        return []
    table = {**further, **_MANAGERS[manager]}
    given = (word for word in words[at[0] + 1 :] if not word.startswith("-"))
    bare = (re.split(r"[=<>~]", word, maxsplit=1)[0] for word in given)
    return [found for name in bare for found in table.get(name, (name,))]


def user_command(command: str) -> str:
    """Return a command that makes a user or a group, as busybox spells it; any other unchanged."""
    tool, *options = _words(command)
    if tool not in _USER_TOOLS:
        return command
    spelt = [_USER_OPTIONS.get(word, word) for word in options]
    return shlex.join([_USER_TOOLS[tool], *filter(None, spelt)])


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command) or [""]
    except ValueError:
        return command.split()


def moved(word: str) -> str:
    """Return an exposed port, replaced by one above 1023 if only root may listen on it."""
    number, slash, protocol = word.partition("/")
    if not re.fullmatch(r"[0-9]{1,5}", number) or int(number) >= _FIRST_FREE:
        return word
    return f"{_PORTS.get(int(number), int(number) + 8000)}{slash}{protocol}"


def in_configuration(text: str, ports: Mapping[str, str]) -> str:
    """Return an nginx configuration with its ports replaced and without ``user``, which needs root."""
    for old, new in ports.items():
        text = re.sub(rf"(\blisten\s+(?:\S+:)?){old}(?=[\s;])", rf"\g<1>{new}", text)
    return re.sub(r"(?m)^user\s+[^;]*;\n", "", text)
