"""Builds one answer, starts it without a network, and says what can be seen from outside."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import tarfile
import time
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from _benchgate_bench.migration_chainguard_distroless.dockerfile.parser import parse
from _benchgate_bench.migration_chainguard_distroless.dockerfile.reference import Reference
from _benchgate_bench.migration_chainguard_distroless.dockerfile.stages import resolve
from _benchgate_bench.migration_chainguard_distroless.forms import accepts

from .content import Content
from .standins.facts import FACTS
from .standins.images import KEPT, LABEL, LABELLED, OBSERVED
from .standins.limits import LIMITS, MARKS, limit_in, of_check, python_folders
from .store import MAX_BYTES, compact

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping

BUILDERS: Final = ("docker", "podman")
"""Programs that build, start and show an image, with the same words."""

BUILD_PATIENCE: Final = 120
PATIENCE: Final = 4.0
HEALTH_PATIENCE: Final = 3.0
CALM: Final = 2.0
"""
Seconds for an image to be built beside others, and twice as many alone; for a container to listen or to end; for a
health check to end; and those after which a container that listens on nothing counts as started.
"""

HERE: Final = Path(__file__)
MAX_TEXT: Final = 100
_FEW: Final = 40
"""Characters of a text that an observation keeps, and those of it, or items of a list, if it is too long."""

_CONFINED: Final = (
    *("--network", "none", "--cap-drop", "ALL"),
    *("--sysctl", "net.ipv4.ip_unprivileged_port_start=1024"),
    *("--hostname", OBSERVED),
    *("--stop-timeout", "0", "--no-healthcheck", "--log-driver", "json-file"),
)
"""
As in a cluster that grants nothing; Docker alone would let anybody listen on port 80.

The last line is for podman, which waits ten seconds before it removes, and asks systemd for checks and logs.
"""

_LISTEN: Final = "0A"
_PLAIN: Final = (
    (re.compile(r"ERROR: failed to solve: "), ""),
    (re.compile(r"failed to calculate checksum of ref [^:]+::[^:]+: "), ""),
    (re.compile(r"failed to walk \S+/buildkit-mount\d+"), "no such folder "),
    (re.compile(r"Error response from daemon: "), ""),
    (re.compile(r"failed to create (?:shim )?task.*unable to start container process: "), ""),
    (re.compile(r'Error: .*unable to start container "\w+": (?:.*container process: )?'), ""),
    (re.compile(r'checking on sources under "[^"]+": '), ""),
    (re.compile(r'\{"msg":"(.+?)","level":"error","time":".*'), r"\1"),
    (re.compile(r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d "), ""),
    (re.compile(r"lstat \S+/buildkit-mount\d+"), "lstat "),
)
_NO_PROGRAM: Final = re.compile(r"(?m): (?:command )?not found$")
_SYNTAX: Final = re.compile(r"(?i)\A#\s*syntax\s*=\s*(?:docker\.io/)?docker/dockerfile[^\n]*\n")
_NO_BASE: Final = re.compile(
    r"(?:failed to solve|creating build container): (\S+): (?:failed to resolve source|image not known)"
)


@contextlib.contextmanager
def _turn(*, alone: bool) -> Iterator[None]:
    """Wait until an image may be built here, alone or beside others that are not."""
    # Whoever waits keeps the door, so that nobody overtakes one who wants to be alone.
    with _locked(HERE.parent, alone=True) as leave, _locked(HERE, alone=alone):
        leave()
        yield


@contextlib.contextmanager
def _locked(path: Path, *, alone: bool) -> Iterator[Callable[[], None]]:
    """Lock a file for the processes and threads of this machine; yield what unlocks it early."""
    import fcntl  # Windows has none, and no builder.

    held = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        yield lambda: fcntl.flock(held, fcntl.LOCK_UN)
    finally:
        os.close(held)


class Unavailable(RuntimeError):
    """Nobody built the answer, so nothing is known of it."""

    def __init__(self, why: str) -> None:
        super().__init__(f"not built: {why}")


@dataclass(frozen=True)
class Builder:
    """
    A program that builds and starts.

    :param stands_in: base images must be stand-ins; else they must not be.
    """

    program: str
    stands_in: bool

    def run(
        self, *words: str | Path, check: bool = False, timeout: float | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run the program."""
        # Podman's own format has no health checks, no ONBUILD and no SHELL.
        env = {**os.environ, "DOCKER_BUILDKIT": "1", "BUILDAH_FORMAT": "docker"}
        return subprocess.run(
            [self.program, *words],
            capture_output=True, text=True, check=check, env=env, timeout=timeout,
        )  # fmt: skip

    def ready(self) -> None:
        """Make sure that the program can build here; :raises Unavailable: it cannot."""
        if shutil.which(self.program) is None:
            raise Unavailable(f"{self.program} is not installed")
        asked = self.run("version", "--format", "{{.Client.Version}}")
        if asked.returncode:
            raise Unavailable(f"{self.program} does not answer: {last_line(asked.stderr)}")
        if self.program == "docker" and self.run("buildx", "version").returncode:
            why = "docker has no buildx, without which it reads other Dockerfiles than BuildKit"
            raise Unavailable(why)
        if self.program == "podman" and int(asked.stdout.partition(".")[0]) < 5:
            why = f"podman {asked.stdout.strip()} reads no here-documents; 5 does"
            raise Unavailable(why)

    def observe(
        self, files: Mapping[str, str], folder: Path, wanted: Mapping[str, Any]
    ) -> dict[str, Any]:
        """
        Build and start the files of an answer, and return what is seen; what is not there or as usual is left out.

        :param wanted: what :func:`.build.asked` returns.
        :raises Unavailable: an image is missing that somebody else could pull.
        """
        if self.stands_in and any(KEPT in text for text in files.values()):
            return {"built": False, "error": f"it names {KEPT}, which only stand-ins have"}
        if self.stands_in and any(mark in text for text in files.values() for mark in MARKS):
            return {"built": False, "error": "it says stand-in, as only stand-ins do"}
        if self.stands_in and python_folders(files["Dockerfile"]):
            raise Unavailable(f"beyond the stand-ins: it {LIMITS['python-folder']}")
        for path, text in files.items():
            there = folder / path
            there.parent.mkdir(parents=True, exist_ok=True)
            # Docker's own frontend is the builder's; to fetch it takes a network.
            sent = _SYNTAX.sub("", text) if path == "Dockerfile" else text
            there.write_text(sent, encoding="utf-8")
            there.chmod(int(wanted.get("modes", {}).get(path, "644"), 8))
        named = folder.with_suffix(".id")
        options = ["--no-cache", f"--iidfile={named}"]
        options += ["--target", wanted["target"]] if wanted["target"] else []
        for name, value in wanted.get("args", {}).items():
            options += ["--build-arg", f"{name}={value}"]
        # Packages come with the stand-ins; those of Chainguard are fetched.
        options += ["--network=none", "--pull=false"] if self.stands_in else []
        options += ["--progress=plain"] if self.program == "docker" else []
        made = self._build(*options, folder)
        if made is None:
            return {"built": False, "error": f"not built in {2 * BUILD_PATIENCE} s, alone"}
        self._within_limits(made.stderr)
        if made.returncode:
            self._no_stand_in(made.stderr)
            return {"built": False, "error": last_line(made.stderr)}
        image = named.read_text().strip()
        try:
            packages = self._packages() if self.stands_in else None
            base = partial(self._files_of, base_of(files["Dockerfile"], wanted))
            return _shown(self._run(image, Content(files, wanted, packages, base)))
        finally:
            self.run("rmi", "-f", image)

    def _build(self, *words: str | Path) -> subprocess.CompletedProcess[str] | None:
        """
        Build, and once more alone and with twice the time what was not built in its time.

        :returns: None if that was too long as well: others had no part in it.
        """
        for alone, patience in ((False, BUILD_PATIENCE), (True, 2 * BUILD_PATIENCE)):
            with _turn(alone=alone), contextlib.suppress(subprocess.TimeoutExpired):
                return self.run("build", *words, timeout=patience)
        return None

    def _within_limits(self, output: str, names: Container[str] = ()) -> None:
        """
        Refuse to judge an answer by what no stand-in can do, if it is on their list of limits.

        :param names: the files of the image.
        """
        limit = limit_in(output, names) if self.stands_in else None
        if limit:
            raise Unavailable(f"beyond the stand-ins: it {limit}")

    def _no_stand_in(self, said: str) -> None:
        """Refuse to judge an answer that starts from an image which exists, and of which there is no stand-in."""
        found = _NO_BASE.search(said)
        reference = Reference.read(found[1]) if found else None
        if self.stands_in and reference and reference.chainguard and reference.image in FACTS:
            words = ("image", "inspect", "--format", "{{json .Config.Labels}}")
            labels = self.run(*words, f"{reference.name}:latest").stdout
            if reference.tag in ("latest", "latest-dev") and LABEL not in labels:
                raise Unavailable(f"there is no stand-in of {reference.text}")

    def _packages(self) -> dict[str, dict[str, str]]:
        """
        Return the digests of the files that packages bring.

        :raises Unavailable: the stand-ins are of another version.
        """
        label = f'{{{{index .Config.Labels "{LABEL}"}}}}'
        words = ("image", "inspect", "--format", label, LABELLED)
        try:
            found = json.loads(self.run(*words).stdout)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise Unavailable("load the stand-ins: tools/record_observations.py --load")
        return found

    @cache  # noqa: B019 - a builder is a value, and there is one
    def _files_of(self, image: str) -> frozenset[str]:
        """Return the paths of an image's files, without the first slash; an image is seldom asked about."""
        if image == "scratch":
            return frozenset()
        box = self.run("create", image, "/none", check=True).stdout.strip().splitlines()[-1]
        try:
            with self._stream("export", box) as tar:
                return frozenset(info.name.removeprefix("./").rstrip("/") for info in tar)
        finally:
            self.run("rm", "-f", box)

    def _run(self, image: str, content: Content) -> dict[str, Any]:
        found = self.inspect(image)
        config = found["Config"]
        # Podman shows it beside the configuration.
        check = ({**found, **config}.get("Healthcheck") or {}).get("Test") or []
        env = dict(one.partition("=")[::2] for one in config.get("Env") or ())
        seen: dict[str, Any] = {
            "built": True,
            "user": config.get("User") or "",
            "exposed": sorted(p.removesuffix("/tcp") for p in config.get("ExposedPorts") or ()),
            "check": " ".join(check[1:])[:MAX_TEXT] if check[:1] != ["NONE"] else "",
            "lost": sorted(
                k for k, held in content.wanted["env"].items() if not accepts(held, env.get(k))
            ),
        }
        seen["argv"] = [*(config.get("Entrypoint") or ()), *(config.get("Cmd") or ())]
        made = self.run("create", *_CONFINED, image)
        if made.returncode:
            return {**seen, "error": last_line(made.stderr), "exit": 125}
        box = made.stdout.strip().splitlines()[-1]
        try:
            with self._stream("export", box) as tar:
                content.read(tar)
            if content.secrets:
                with self._stream("save", image) as tar:
                    content.read_layers(tar)
            seen |= content.seen()
            started = self.run("start", box)
            if started.returncode:
                # Why it does not start comes first, that it does not comes last.
                return {**seen, "error": last_line(started.stderr.partition("\n")[0]), "exit": 126}
            return {**seen, **self._look(box, seen, check, content.names)}
        finally:
            self.run("rm", "-f", box)

    @contextlib.contextmanager
    def _stream(self, *words: str) -> Iterator[tarfile.TarFile]:
        with (
            subprocess.Popen([self.program, *words], stdout=subprocess.PIPE) as out,
            tarfile.open(fileobj=out.stdout, mode="r|") as tar,
        ):
            yield tar

    def _look(
        self, box: str, seen: Mapping[str, Any], check: list[str], names: Container[str]
    ) -> dict[str, Any]:
        began, live = time.monotonic(), dict[str, Any]()
        while True:
            found = self.inspect(box)
            state, running = found["State"], found["State"]["Running"]
            if running:
                with contextlib.suppress(OSError):
                    live = _live(state["Pid"], seen["argv"])
            passed = time.monotonic() - began
            patience = PATIENCE if seen["exposed"] else CALM
            if not running or (live.get("ports") and passed > CALM / 2) or passed > patience:
                break
            time.sleep(0.1)
        error = ""
        if not running and state["ExitCode"]:
            said = self.run("logs", box).stderr
            self._within_limits(said, names)
            error = last_line(said)
        user = (found["Config"].get("User") or "").partition(":")[0] or "0"
        folder = found["Config"].get("WorkingDir") or "/"
        asks = running and check[:1] not in ([], ["NONE"])
        return {
            "error": error,
            "exit": None if running else state["ExitCode"],
            # Of one that ended too soon to look; -1 for a name.
            "uid": 0 if user == "root" else int(user) if user.isdecimal() else -1,
            "folder": folder,
            **live,
            "workdir": folder if live.get("folder", folder) != folder else "",
            "health": self._health(box, *check) if asks else None,
        }

    def _health(self, box: str, kind: str, *words: str) -> int:
        command = ("/bin/sh", "-c", *words) if kind == "CMD-SHELL" else words
        try:
            asked = self.run("exec", box, *command, timeout=HEALTH_PATIENCE)
            self._within_limits(of_check(asked.stderr))
            # What a shell says of a program that is not there, whatever `||` makes of it.
            return 127 if _NO_PROGRAM.search(asked.stderr) else asked.returncode
        except subprocess.TimeoutExpired:
            # A stand-in asks nobody and does not end; that it began is what can be seen.
            return 0

    def inspect(self, name: str) -> Any:
        """Return what the program says of an image or a container."""
        return json.loads(self.run("inspect", name, check=True).stdout)[0]


def base_of(dockerfile: str, wanted: Mapping[str, Any]) -> str:
    """Return the image that the image of a Dockerfile starts from."""
    return resolve(parse(dockerfile), wanted["target"], wanted.get("args", {})).final.root_base


def _live(pid: int, argv: list[str]) -> dict[str, Any]:
    """Return user and folder of a process, its ports, and the command lines of those that it started."""
    proc = Path("/proc", str(pid))
    status = (proc / "status").read_text()
    uid = int(re.search(r"^Uid:\s+(\d+)", status, re.MULTILINE)[1])  # type: ignore[index]
    # Where the builder is not root, the kernel gives the container other users than it sees.
    spans = [[*map(int, line.split())] for line in (proc / "uid_map").read_text().splitlines()]
    uids = [inside + uid - first for inside, first, of in spans if first <= uid < first + of]
    tables = [(proc / "net" / name).read_text().splitlines()[1:] for name in ("tcp", "tcp6")]
    sockets = [line.split() for table in tables for line in table]
    ports = {int(one[1].rpartition(":")[2], 16) for one in sockets if one[3] == _LISTEN}
    # A process that names itself leaves empty words behind the name.
    texts = [_text(at / "cmdline") for at in (proc, *_below(pid))]
    commands = [[word for word in text.split("\0") if word] for text in texts if text]
    return {
        "uid": uids[0] if uids else -1,
        "folder": str((proc / "cwd").readlink()),
        "ports": sorted(ports),
        # What makes a container is for a moment the process in it.
        "ran": [one for one in commands if one not in (argv, ["runc", "init"])][:2],
    }


def _below(pid: int) -> Iterator[Path]:
    status = re.compile(rf"(?m)^PPid:\s+{pid}$")
    found = [path for path in Path("/proc").glob("[0-9]*") if status.search(_text(path / "status"))]
    found.sort(key=lambda path: int(path.name))
    yield from found
    for path in reversed(found):
        yield from _below(int(path.name))


def _text(path: Path) -> str:
    with contextlib.suppress(OSError):
        return path.read_text(errors="replace")
    return ""


def _shown(seen: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is not as usual, cut to a size that is kept."""
    kept = {key: held for key, held in seen.items() if held not in ("", [], None) or key == "argv"}
    if "ran" in kept:
        kept["ran"] = [[word[:MAX_TEXT] for word in words[:8]] for words in kept["ran"]]
    kept["argv"] = [word[:MAX_TEXT] for word in kept["argv"][:12]]
    # What explains is cut before what decides.
    for shorter in (_FEW, 0):
        for key in ("error", "left", "needless", "shells", "ran"):
            if len(compact(kept).encode()) > MAX_BYTES and key in kept:
                kept[key] = kept[key][:shorter] or kept[key][:1]
    return kept


def last_line(text: str) -> str:
    """Return the last line of what a program said, without places of this machine, times and identities."""
    last = text.strip().rpartition("\n")[2]
    pulled = _NO_BASE.search(last)
    if pulled:
        return f"cannot pull {pulled[1]}"[:MAX_TEXT]
    for pattern, plain in _PLAIN:
        last = pattern.sub(plain, last)
    return last[:MAX_TEXT]
