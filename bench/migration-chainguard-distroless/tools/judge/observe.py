"""Builds one answer, runs it without a network, and records what can be seen from outside."""

from __future__ import annotations

import contextlib
import io
import json
import re
import subprocess
import tarfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PATIENCE: Final = 4.0
"""Seconds for a container to listen or to end."""

HEALTH_PATIENCE: Final = 3.0
"""Seconds for a health check to end."""

CALM: Final = 1.0
"""Seconds after which a container that listens on nothing counts as started."""

_INSTALLED: Final = "usr/share/standin/installed/"
_CONFINED: Final = (
    *("--network", "none", "--cap-drop", "ALL"),
    *("--sysctl", "net.ipv4.ip_unprivileged_port_start=1024"),
)
"""As in a cluster that grants nothing; Docker alone would let anybody listen on port 80."""

_LISTEN: Final = "0A"
_SHELLS: Final = re.compile(r"(?:usr/)?s?bin/(?:ash|bash|busybox|dash|sh|zsh|apk)|usr/bin/tool")
_PLAIN: Final = (
    (re.compile(r"failed to calculate checksum of ref [^:]+::[^:]+: "), ""),
    (re.compile(r"failed to walk \S+/buildkit-mount\d+"), "no such folder "),
    (re.compile(r"failed to start containers: \w+"), "the container does not start"),
    (re.compile(r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d "), ""),
    (re.compile(r"lstat \S+/buildkit-mount\d+"), "lstat "),
)
_SYNTAX: Final = re.compile(r"(?m)\A#\s*syntax=docker/dockerfile[^\n]*\n")


@dataclass(frozen=True)
class Seen:
    """
    What was seen.

    :param built: the image was built.
    :param error: the last line of the builder's, or of the container's if that failed.
    :param argv: the command of the first process.
    :param exit: how it ended; None while it runs.
    :param uid: its user; -1 where it never started, by the configuration where it ended before one could look.
    :param folder: its working folder, likewise; empty where it never started.
    :param ports: the TCP ports that it listens on.
    :param env: its variables, by the image's configuration.
    :param exposed: the ports of the image's configuration.
    :param files: of the files that the case asks for, those that are in the image.
    :param held: of the parts of paths that stand for a package, those that are in the image.
    :param packages: what ``apk`` installed.
    :param shells: shells and package managers in the image.
    :param health: how the health check ended; None without one.
    :param digest: of the image's configuration.
    """

    built: bool
    error: str = ""
    argv: tuple[str, ...] = ()
    exit: int | None = None
    uid: int = -1
    folder: str = ""
    ports: tuple[int, ...] = ()
    env: tuple[str, ...] = ()
    exposed: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    shells: tuple[str, ...] = ()
    health: int | None = None
    digest: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return it for the record."""
        return asdict(self)


def observe(
    docker: Sequence[str], files: Mapping[str, str], folder: Path, case: Mapping[str, Any]
) -> Seen:
    """Build and run the files of an answer."""
    for path, text in files.items():
        there = folder / path
        there.parent.mkdir(parents=True, exist_ok=True)
        # Docker's own frontend is the builder's; to fetch it takes a network.
        there.write_text(_SYNTAX.sub("", text) if path == "Dockerfile" else text, encoding="utf-8")
        there.chmod(0o644)
    options = ["--target", case["target"]] if case["target"] else []
    named = folder.with_suffix(".id")
    ran = subprocess.run(
        [*docker, "build", "--network=none", "--progress=plain", "--no-cache", "--iidfile", named, *options, folder],
        capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip
    if ran.returncode:
        return Seen(built=False, error=_last(ran.stderr))
    image = named.read_text().strip()
    try:
        return _run(docker, image, case)
    finally:
        subprocess.run([*docker, "rmi", "-f", image], capture_output=True, check=False)


def _run(docker: Sequence[str], image: str, case: Mapping[str, Any]) -> Seen:
    config = _inspect(docker, image)["Config"]
    made = subprocess.run(
        [*docker, "create", *_CONFINED, image], capture_output=True, text=True, check=False
    )
    shown: dict[str, Any] = {
        "env": tuple(config.get("Env") or ()),
        "exposed": tuple(sorted(config.get("ExposedPorts") or ())),
        "digest": image,
    }
    if made.returncode:
        return Seen(built=True, error=_last(made.stderr), exit=125, **shown)
    box = made.stdout.strip()
    try:
        names = _names(docker, box)
        shown["files"] = tuple(path for path in case["files"] if path.lstrip("/") in names)
        shown["held"] = tuple(
            part for part in case["parts"] if any(part in f"/{name}" for name in names)
        )
        shown["packages"] = tuple(
            sorted(filter(None, (name.partition(_INSTALLED)[2] for name in names)))
        )
        shown["shells"] = tuple(sorted(filter(_SHELLS.fullmatch, names)))
        started = subprocess.run(
            [*docker, "start", box], capture_output=True, text=True, check=False
        )
        if started.returncode:
            return Seen(built=True, error=_last(started.stderr), exit=126, **shown)
        return _look(docker, box, shown, config.get("Healthcheck"))
    finally:
        subprocess.run([*docker, "rm", "-f", box], capture_output=True, check=False)


def _look(docker: Sequence[str], box: str, shown: dict[str, Any], check: Any) -> Seen:
    began, uid, folder = time.monotonic(), -1, ""
    ports: tuple[int, ...] = ()
    while True:
        found = _inspect(docker, box)
        state = found["State"]
        if state["Running"] and Path(f"/proc/{state['Pid']}/status").exists():
            with contextlib.suppress(OSError):
                uid, folder, ports = _process(state["Pid"])
        passed = time.monotonic() - began
        if (
            not state["Running"]
            or (ports and passed > CALM / 2)
            or passed > (PATIENCE if shown["exposed"] else CALM)
        ):
            break
        time.sleep(0.1)
    if uid < 0:
        uid, folder = (
            _uid(docker, box, found["Config"]["User"]),
            found["Config"]["WorkingDir"] or "/",
        )
    running = state["Running"]
    health = _health(docker, box, check) if running and check else None
    logs = subprocess.run([*docker, "logs", box], capture_output=True, text=True, check=False)
    return Seen(
        built=True,
        error="" if running or not state["ExitCode"] else _last(logs.stderr),
        argv=(found["Path"], *found["Args"]),
        exit=None if running else state["ExitCode"],
        uid=uid,
        folder=folder,
        ports=ports,
        health=health,
        **shown,
    )


def _process(pid: int) -> tuple[int, str, tuple[int, ...]]:
    status = Path(f"/proc/{pid}/status").read_text()
    uid = int(re.search(r"^Uid:\s+(\d+)", status, re.MULTILINE)[1])  # type: ignore[index]
    ports = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            parts = line.split()
            if parts[3] == _LISTEN:
                ports.add(int(parts[1].rpartition(":")[2], 16))
    return uid, str(Path(f"/proc/{pid}/cwd").readlink()), tuple(sorted(ports))


def _uid(docker: Sequence[str], box: str, user: str) -> int:
    """Return the number of a user that a container was started as."""
    name = user.partition(":")[0] or "0"
    if name.isdecimal():
        return int(name)
    copied = subprocess.run(
        [*docker, "cp", f"{box}:/etc/passwd", "-"], capture_output=True, check=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(copied)) as tar:
        held = tar.extractfile("passwd")
        lines = held.read().decode().splitlines() if held else []
    return next(int(line.split(":")[2]) for line in lines if line.split(":")[0] == name)


def _health(docker: Sequence[str], box: str, check: Any) -> int | None:
    kind, *words = check["Test"]
    if kind == "NONE":
        return None
    command = ["/bin/sh", "-c", *words] if kind == "CMD-SHELL" else words
    try:
        ran = subprocess.run(
            [*docker, "exec", box, *command],
            capture_output=True,
            check=False,
            timeout=HEALTH_PATIENCE,
        )
    except subprocess.TimeoutExpired:
        # A stand-in asks nobody and does not end; that it began is what can be seen.
        return 0
    return ran.returncode


def _names(docker: Sequence[str], box: str) -> set[str]:
    with (
        subprocess.Popen([*docker, "export", box], stdout=subprocess.PIPE) as out,
        tarfile.open(fileobj=out.stdout, mode="r|") as tar,
    ):
        return {info.name.rstrip("/") for info in tar}


def _inspect(docker: Sequence[str], name: str) -> Any:
    said = subprocess.run(
        [*docker, "inspect", name], capture_output=True, text=True, check=True
    ).stdout
    return json.loads(said)[0]


def _last(text: str) -> str:
    lines = [line for line in text.strip().split("\n") if line.strip()]
    last = lines[-1] if lines else ""
    pulled = re.search(r"failed to solve: (\S+): failed to resolve source metadata", last)
    if pulled:
        return f"cannot pull {pulled[1]}"
    # The record names no place of the machine that it was made on, no time and no identity of a container.
    for pattern, plain in _PLAIN:
        last = pattern.sub(plain, last)
    return last[:200]
