"""Stand-ins for Chainguard's images: the host's interpreters, Debian's nginx and busybox, scripts for the rest."""

from __future__ import annotations

import io
import json
import os
import posixpath
import re
import stat
import subprocess
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from _benchgate_bench.migration_chainguard_distroless.dockerfile.reference import Reference

from .facts import facts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .facts import Facts

    _Table = Mapping[str, str | bytes | None]

NAMES: Final = (
    "aspnet-runtime", "bash", "busybox", "chainguard-base", "dotnet-sdk", "gcc-glibc", "glibc-dynamic", "go", "jdk",
    "jre", "maven", "nginx", "node", "php", "postgres", "python", "ruby", "rust", "static", "wolfi-base",
)  # fmt: skip
PAID: Final = (
    "jre:openjdk-17", "jdk:openjdk-17", "maven:3.9-openjdk-17-dev", "maven:3.9-dev", "maven:latest-dev", "jre:latest",
)  # fmt: skip
"""Images of the organisation that pays, with their tags."""

HELPERS: Final = {
    "ghcr.io/astral-sh/uv:0.9": {"/uv": "uv"},
    "ghcr.io/astral-sh/uv:latest": {"/uv": "uv"},
    "composer:2": {"/usr/bin/composer": "composer"},
    "composer:latest": {"/usr/bin/composer": "composer"},
}
"""Images of others, and what they have."""

LABEL: Final = "benchgate.stand-in"
"""What marks an image as a stand-in."""

HERE: Final = Path(__file__).resolve().parent
PACKAGES: Final = (HERE / "packages.txt").read_text("utf-8")
"""The names that ``apk`` knows, one a line."""

KEPT: Final = "/usr/share/standin"
NOBODY: Final = 65532
_TINI: Final = "usr/bin/tini-static"
_LINKED: Final = {f"{KEPT}/static": "static", f"{KEPT}/dynamic": "dynamic"}
BRINGS: Final[Mapping[str, _Table]] = {
    "aspnet-runtime": {"/usr/bin/dotnet": "static"},
    "dotnet-sdk": {"/usr/bin/dotnet": "dotnet", **_LINKED},
    "gcc-glibc": {"/usr/bin/gcc": "gcc", **_LINKED},
    "go": {"/usr/bin/go": "go", "/usr/bin/gcc": "gcc", **_LINKED},
    "jdk": {"/usr/bin/java": "static"},
    "jre": {"/usr/bin/java": "static"},
    "maven": {"/usr/bin/java": "static", "/usr/bin/mvn": "mvn", **_LINKED},
    "nginx": {
        "/usr/sbin/nginx": "usr/sbin/nginx",
        "/etc/nginx/mime.types": "etc/nginx/mime.types",
        "/etc/nginx/nginx.conf": b"events {}\nhttp { server { listen 8080; } }\n",
        **dict.fromkeys(("/var/log/nginx", "/var/lib/nginx", "/usr/share/nginx/html")),
    },
    "node": {"/usr/bin/node": "node", "/usr/bin/npm": "npm"},
    "php": {"/usr/bin/php": "static", "/bin/php": "static"},
    "php-dev": {"/usr/bin/composer": "composer"},
    "postgres": {
        "/usr/bin/docker-entrypoint.sh": "docker-entrypoint.sh",
        "/usr/bin/postgres-server": "static",
    },
    "ruby": {"/usr/bin/ruby": "static", "/bin/ruby": "static"},
    "rust": {"/usr/bin/cargo": "cargo", "/usr/bin/gcc": "gcc", **_LINKED},
    # Packages.
    "bash": {"/bin/bash": "bash"},
    "binutils": {"/usr/bin/strip": "strip"},
    "busybox": {"/bin/busybox": "bin/busybox", "/bin/adduser": "adduser", "/bin/addgroup": "adduser"},
    "ca-certificates-bundle": {"/etc/ssl/certs/ca-certificates.crt": b"stands in\n"},
    "dumb-init": {"/usr/bin/dumb-init": _TINI},
    "pnpm": {"/usr/bin/pnpm": "pnpm"},
    "tzdata": {"/usr/share/zoneinfo/UTC": b"stands in\n"},
    "uv": {"/usr/bin/uv": "uv"},
    "yarn": {"/usr/bin/yarn": "pnpm"},
}  # fmt: skip
"""
What is in an image for its sake, and for that of each package that it has: at each path a thing that was compiled or
is the host's, a file of Debian, a script, a text, or ``None`` for a folder that is not root's.
"""

ADDED: Final[Mapping[str, _Table]] = {
    "bash": BRINGS["bash"],
    "bind-tools": {"/usr/bin/dig": "static", "/usr/bin/host": "static"},
    "build-base": {"/usr/bin/gcc": "gcc"},
    "gcc": {"/usr/bin/gcc": "gcc"},
    "libpq": {"/usr/lib/libpq.so.5": "libpq"},
    "libpq-18": {"/usr/lib/libpq.so.5": "libpq"},
    "openssh-client": {"/usr/bin/ssh": "static"},
    "poetry": {"/usr/bin/poetry": "poetry"},
    "tini": {"/usr/bin/tini": _TINI},
    "uv": BRINGS["uv"],
    **{one: {f"/usr/bin/{one}": "static"} for one in ("curl", "git", "jq", "rsync", "wget")},
}
APK: Final[_Table] = {"/usr/bin/apk": "apk", f"{KEPT}/packages": PACKAGES.encode(), **_LINKED}
"""What ``apk`` adds with a package, and what it needs itself."""

_FOREIGN: Final = ("dpkg", "dpkg-deb", "rpm", "rpm2cpio", "start-stop-daemon", "su", "passwd")
_PIP: Final = (
    b"#!/usr/bin/python3\nimport sys\nfrom pip._internal.cli.main import main\nsys.exit(main())\n"
)
_PIP_CONF: Final = (
    f"[global]\nno-index = true\nfind-links = {KEPT}/wheels\ndisable-pip-version-check = true\n"
)
_LEFT: Final = ("__pycache__", "idlelib", "site-packages", "test", "tests", "tkinter")
_MODULE: Final = """
__version__ = {version!r}


def main():
    import sys, time
    print(sys.argv)
    sys.stdout.flush()
    time.sleep(60)


class _Any:
    def __getattr__(self, name):
        return self

    def __call__(self, *words, **more):
        return self


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return _Any()
"""
"""What a package of Python holds: anything that is asked of it."""

_TOOLS: Final = (
    "uv==0.9.0 poetry==2.2.1 wheel==0.45.0 setuptools==80.0.0 hatchling==1.27.0 virtualenv==20.35.0"
)
_PINNED: Final = re.compile(
    r"""(?m)([A-Za-z][\w.-]*)(?:\[[\w,]+\])?\s*(?:(?:==|>=|~=|<=)|=\s*["']\^?(?=\d))\s*(\d[\w.]*)"""
)
_BARE: Final = re.compile(r"(?m)^([A-Za-z][\w.-]*)(?:\[[\w,]+\])?\s*(?:#.*)?$")


class Root:
    """A file system to be."""

    def __init__(self) -> None:
        self.entries: dict[str, tuple[tarfile.TarInfo, bytes | Path]] = {}

    def _add(self, path: str, kind: bytes, mode: int, owner: int = 0) -> tarfile.TarInfo:
        self.folder(posixpath.dirname(path))
        info = tarfile.TarInfo(path.lstrip("/"))
        info.type, info.mode, info.uid, info.gid = kind, mode, owner, owner
        self.entries[path] = (info, b"")
        return info

    def put(self, path: str, held: bytes | Path, mode: int | None = None) -> None:
        """Add a file, and the folders above it; what is neither a text nor below ``/etc`` is a program."""
        plain = isinstance(held, bytes) or path.startswith("/etc/")
        info = self._add(path, tarfile.REGTYPE, mode or (0o644 if plain else 0o755))
        self.entries[path] = (info, held)

    def link(self, path: str, target: str) -> None:
        """Add a symbolic link."""
        self._add(path, tarfile.SYMTYPE, 0o777).linkname = target

    def folder(self, path: str, mode: int = 0o755, owner: int = 0) -> None:
        """Add a folder, and those above it, unless they are there."""
        if path.strip("/") and path not in self.entries:
            self._add(path, tarfile.DIRTYPE, mode, owner)

    def tree(self, path: str, source: Path, leave: Iterable[str] = _LEFT[:1]) -> None:
        """Add a folder of the host, without the folders below it that have some names."""
        for one in source.rglob("*"):
            name = one.relative_to(source)
            if one.is_file() and not {*name.parts[:-1]} & {*leave}:
                self.put(f"{path}/{name.as_posix()}", one, stat.S_IMODE(one.stat().st_mode))

    def library(self, program: Path, more: Path | None = None, below: str = "") -> None:
        """Add the libraries that a program of the host needs, and the loader."""
        env = {**os.environ, "LD_LIBRARY_PATH": str(more or "")}
        said = subprocess.run(
            ["ldd", program], capture_output=True, text=True, env=env, check=False
        ).stdout
        for name, path in re.findall(r"(\S+) => (/\S+)", said):
            self.put(f"{below}/lib/x86_64-linux-gnu/{name}", Path(path).resolve())
        for path in re.findall(r"^\s*(/lib64/\S+)", said, re.MULTILINE):
            self.put(f"{below}{path}", Path(path).resolve())

    def load(self, docker: Iterable[str], tag: str, out: Path, facts: Facts | None = None) -> None:
        """
        Load it as an image.

        :param out: a tar file that is written for it.
        :param facts: how the image is configured.
        """
        with tarfile.open(out, "w") as tar:
            for _, (info, held) in sorted(self.entries.items()):
                data = held if isinstance(held, bytes) else held.read_bytes()
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
        changes = [f"LABEL {LABEL}=1"]
        if facts:
            changes += [f"USER {facts.user}", f"WORKDIR {facts.workdir}"]
            changes += [f"ENV {name}={value}" for name, value in facts.env]
            starts = {"ENTRYPOINT": facts.entrypoint, "CMD": facts.cmd}
            changes += [f"{name} {json.dumps(words)}" for name, words in starts.items() if words]
        options = [part for change in changes for part in ("--change", change)]
        subprocess.run([*docker, "import", *options, out, tag], check=True, capture_output=True)
        out.unlink()


def _users(root: Root, user: str, number: int) -> None:
    users = f"root:x:0:0:root:/root:/bin/sh\n{user}:x:{number}:{number}::/home/{user}:/bin/sh\n"
    root.put("/etc/passwd", users.encode())
    root.put("/etc/group", f"root:x:0:\n{user}:x:{number}:\n".encode())
    root.folder("/root", 0o700)
    root.folder(f"/home/{user}", 0o750, number)
    root.folder("/tmp", 0o1777)  # noqa: S108
    root.folder("/run", 0o777)
    for folder in ("/bin", "/opt", "/usr/bin", "/usr/local/bin", "/var"):
        root.folder(folder)


@dataclass(frozen=True)
class StandIns:
    """
    Makes the stand-ins of all images that the cases may use.

    :param debian: a folder into which Debian's packages were unpacked with ``dpkg -x``.
    :param python: the prefix of a Python of the host.
    :param node: the host's node.
    :param work: a folder to compile and write in.
    :param projects: folders whose packages of Python there are.
    """

    debian: Path
    python: Path
    node: Path
    work: Path
    projects: Sequence[Path]

    def __post_init__(self) -> None:
        for name, options in {"static": ["-static"], "dynamic": []}.items():
            words = ["gcc", "-O1", *options, "-o", f"{self.work / name}", f"{HERE / 'standin.c'}"]
            subprocess.run(words, check=True)
        (self.work / "libpq").write_bytes(b"\x7fELF")

    def load_all(self, docker: Sequence[str]) -> None:
        """Make every stand-in and load it."""
        for tag, held in HELPERS.items():
            root = Root()
            self._lay(root, held)
            root.load(docker, tag, self.work / "image.tar")
        for name in NAMES:
            for dev in ("",) if name.endswith("-base") else ("", "-dev"):
                paid = [
                    one
                    for one in PAID
                    if one.startswith(f"{name}:") and one.endswith("-dev") is bool(dev)
                ]
                like = Reference(f"cgr.dev/chainguard/{name}", f"latest{dev}")
                self.load(docker, like, like.text, *(f"cgr.dev/example.org/{one}" for one in paid))

    def load(self, docker: Sequence[str], like: Reference, *tags: str) -> None:
        """Load the stand-in of an image under some tags."""
        facts = facts_of(like)
        assert facts is not None  # noqa: S101 - there are facts of each
        root = self.root(like.image, facts, dev=like.tag.endswith("-dev"))
        for tag in tags:
            root.load(docker, tag, self.work / "image.tar", facts)

    def root(self, name: str, facts: Facts, *, dev: bool) -> Root:
        """Return the file system of an image."""
        root, number = Root(), 70 if name == "postgres" else NOBODY
        _users(root, facts.users[0] if facts.users else "nonroot", number)
        root.folder(facts.workdir, 0o755, 0 if facts.user == "0" else number)
        if name != "static":
            root.library(self.work / "dynamic")
        if name == "python":
            self._python(root, pip=dev)
        if "busybox" in facts.shells:
            self._busybox(root)
        for one in (name, f"{name}-dev" if dev else name, *facts.holds, *facts.shells):
            self._lay(root, BRINGS.get(one, {}))
        if facts.apk:
            self._lay(root, APK)
            for package, held in ADDED.items():
                self._lay(root, held, f"{KEPT}/pkg/{package}")
        return root

    def _lay(self, root: Root, table: _Table, below: str = "") -> None:
        """Add what a table has: what was compiled, a program of the host or of Debian, or a script."""
        made = {name: self.work / name for name in ("static", "dynamic", "libpq")}
        made |= {"node": self.node, "bash": Path("/bin/bash").resolve()}
        for path, held in table.items():
            if held is None:
                root.folder(path, 0o755, NOBODY)
            elif isinstance(held, bytes):
                root.put(path, held)
            else:
                source = made.get(held) or (self.debian if "/" in held else HERE / "scripts") / held
                root.put(below + path, source)
                if held in ("bash", "node", "usr/sbin/nginx"):
                    root.library(source, self.debian / "usr/lib/x86_64-linux-gnu", below)

    def _busybox(self, root: Root) -> None:
        words = (self.debian / "bin/busybox", "--list")
        said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        for tool in {*said.split()} - {*_FOREIGN}:
            root.link(f"/bin/{tool}", "busybox")
        root.link("/usr/bin/env", "/bin/busybox")

    def _python(self, root: Root, *, pip: bool) -> None:
        program = max(self.python.glob("bin/python3.??"))
        library, there = self.python / "lib" / program.name, f"/usr/lib/{program.name}"
        root.put(f"/usr/bin/{program.name}", program)
        root.library(program, self.python / "lib")
        for name in ("python", "python3"):
            root.link(f"/usr/bin/{name}", program.name)
        root.tree(there, library, _LEFT)
        for module in (library / "lib-dynload").glob("*.so"):
            root.library(module)
        root.folder(f"{there}/site-packages")
        if not pip:
            return
        for path in (library / "site-packages").iterdir():
            if path.name.partition("-")[0] == "pip":
                root.tree(f"{there}/site-packages/{path.name}", path)
        for name in ("pip", "pip3"):
            root.put(f"/usr/bin/{name}", _PIP, 0o755)
        root.put("/etc/pip.conf", _PIP_CONF.encode())
        for name, version in wheels(self.projects).items():
            root.put(*wheel(name, version))


def wheels(projects: Iterable[Path]) -> dict[str, str]:
    """Return the packages of Python that projects ask for, each with a version that they accept."""
    found = dict(_PINNED.findall(_TOOLS))
    for project in projects:
        for path in sorted(project.rglob("*")):
            if path.name.startswith("requirements") or path.name == "pyproject.toml":
                text = path.read_text("utf-8")
                if path.suffix == ".txt":
                    found |= {name.lower(): "1.0" for name in _BARE.findall(text)}
                found |= {name.lower(): version for name, version in _PINNED.findall(text)}
    return found


def wheel(name: str, version: str) -> tuple[str, bytes]:
    """Return the path of a wheel, and the wheel: one module of that name, and for those that have one a program."""
    module = re.sub(r"[^a-z0-9]+", "_", name.lower())
    head, script = f"{module}-{version}", HERE / "scripts" / module
    about = f"{head}.dist-info"
    files = {
        f"{module}/__init__.py": _MODULE.format(version=version),
        f"{module}/__main__.py": f"from {module} import main\n\nmain()\n",
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: standin\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/RECORD": "",
    }
    if script.is_file():
        text = script.read_text().replace("#!/usr/bin/env python3", "#!python")
        files[f"{head}.data/scripts/{module}"] = text
    else:
        files[f"{about}/entry_points.txt"] = f"[console_scripts]\n{name} = {module}:main\n"
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as out:
        for path, text in files.items():
            info = zipfile.ZipInfo(path)
            info.external_attr = (0o100755 if "/scripts/" in path else 0o600) << 16
            out.writestr(info, text)
    return f"{KEPT}/wheels/{head}-py3-none-any.whl", held.getvalue()
