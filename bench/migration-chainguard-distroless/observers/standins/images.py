"""Stand-ins for Chainguard's images: the host's interpreters, Debian's nginx and busybox, scripts for the rest."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import io
import json
import os
import posixpath
import re
import stat
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from _benchgate_bench.migration_chainguard_distroless.dockerfile.reference import Reference
from _benchgate_bench.migration_chainguard_distroless.forms import STOOD_IN

from . import brings, packages
from .exports import imported_names
from .facts import Facts, facts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    _Table = Mapping[str, str | bytes | None]
    _Held = Path | str | bytes | None

NAMES: Final = STOOD_IN
PAID: Final = {
    "jdk:latest": ("jdk:openjdk-17",),
    "jre:latest": ("jre:latest", "jre:openjdk-17"),
    "maven:latest-dev": ("maven:3.9-dev", "maven:3.9-openjdk-17-dev", "maven:latest-dev"),
}
"""What the images of the organisation that pays are like, which have further tags."""

LABEL: Final = "benchgate.stand-in"
"""What marks an image as a stand-in: its value has the digests of the files that each package of ``apk`` brings."""

LABELLED: Final = "cgr.dev/chainguard/wolfi-base:latest"
"""The image whose label is read: no answer can have changed it."""

HERE: Final = Path(__file__).resolve().parent
KEPT: Final = "/usr/share/standin"
HELD, INSTALLED, PACKED, GROWS = (f"{KEPT}/{name}" for name in ("held", "installed", "pkg", "tree"))
"""
Folders with a file for each package that an image has, for each that ``apk`` added, with what ``apk`` adds, and with
what it adds as a whole.
"""

OBSERVED: Final = "standin"
"""The name of the machine in a container that is looked at; what waits there would do its work in a build."""

NOBODY: Final = 65532
_WWW_DATA: Final = 82  # of Alpine
_TINI: Final = "usr/bin/tini-static"
_JAVA: Final = {"/usr/bin/java": "static", f"{KEPT}/gradle": "gradle", f"{KEPT}/jarmode": "jarmode"}
_LINKED: Final = {f"{KEPT}/static": "static", f"{KEPT}/dynamic": "dynamic"}
_PIP: Final = (
    b"#!/usr/bin/python3\nimport sys\nfrom pip._internal.cli.main import main\nsys.exit(main())\n"
)
_PIP_CONF: Final = (
    f"[global]\nno-index = true\nfind-links = {KEPT}/wheels\ndisable-pip-version-check = true\n"
)


def _rows(table: Mapping[str, str]) -> bytes:
    """Return a table as a script reads it: a name and what it brings, one a line."""
    return "".join(f"{name} {held}".strip() + "\n" for name, held in table.items()).encode()


BRINGS: Final[Mapping[str, _Table]] = {
    "aspnet-runtime": {"/usr/bin/dotnet": "static"},
    "dotnet-sdk": {
        "/usr/bin/dotnet": "dotnet", f"{KEPT}/unshelled": "unshelled",
        f"{KEPT}/runtime/dotnet": "static", **_LINKED,
    },
    "gcc-glibc": {"/usr/bin/gcc": "gcc", "/usr/bin/cc": "gcc", **_LINKED},
    "go": {"/usr/bin/go": "go", "/usr/bin/gcc": "gcc", "/usr/bin/cc": "gcc", **_LINKED},
    "gradle": {"/usr/bin/gradle": "gradle", **_JAVA, **_LINKED},
    "jdk": _JAVA, "jre": {"/usr/bin/java": "static"}, "jre-dev": _JAVA,
    "maven": {"/usr/bin/mvn": "mvn", **_JAVA, **_LINKED},
    "nginx": {
        "/usr/sbin/nginx": "usr/sbin/nginx", "/etc/nginx/mime.types": "etc/nginx/mime.types",
        "/etc/nginx/nginx.conf": b"error_log /dev/stderr notice;\npid /run/nginx.pid;\nevents {}\nhttp {\n"
        b"    include /etc/nginx/mime.types;\n    include /etc/nginx/conf.d/*.conf;\n}\n",
        "/etc/nginx/conf.d/nginx.default.conf": b"server {\n    listen 8080;\n    server_name localhost;\n"
        b"    location / {\n        root /usr/share/nginx/html;\n    }\n}\n",
        "/var/log/nginx": None, "/var/lib/nginx": None, "/usr/share/nginx/html": None,
    },
    "node": {
        "/usr/bin/node": "node", "/usr/bin/npm": "npm", "/usr/bin/npx": "npx",
        f"{KEPT}/limit": "limit", f"{KEPT}/npm": _rows(brings.NPM),
        f"{KEPT}/pnpm": "pnpm", f"{KEPT}/yarn": "pnpm", f"{KEPT}/module.js": "module.js",
        **{f"{KEPT}/program/{one}": "builds.js" for one in brings.BUILDS},
    },
    "php": {"/usr/bin/php": "static", "/bin/php": "static"}, "php-dev": {"/usr/bin/composer": "composer"},
    "postgres": {"/usr/bin/docker-entrypoint.sh": "docker-entrypoint.sh", "/usr/bin/postgres-server": "static"},
    "python-dev": {"/usr/bin/pip": _PIP, "/usr/bin/pip3": _PIP, "/etc/pip.conf": _PIP_CONF.encode()},
    "ruby": {"/usr/bin/ruby": "static", "/bin/ruby": "static"}, "ruby-dev": {"/usr/bin/gem": "gem"},
    "rust": {"/usr/bin/cargo": "cargo", "/usr/bin/gcc": "gcc", "/usr/bin/cc": "gcc", **_LINKED},
    # Packages.
    "bash": {"/bin/bash": "bash"},
    "binutils": {"/usr/bin/strip": "strip"}, "dumb-init": {"/usr/bin/dumb-init": _TINI},
    "busybox": {
        "/bin/busybox": "bin/busybox", "/bin/adduser": "adduser", "/bin/addgroup": "adduser", "/bin/find": "find",
        **{f"/bin/{one}": "applet" for one in ("install", "nice", "nohup", "printenv")},
    },
    "ca-certificates-bundle": {"/etc/ssl/certs/ca-certificates.crt": b"stands in\n"},
    "git": {"/usr/bin/git": "git"}, "make": {"/usr/bin/make": "usr/bin/make"},
    "pnpm": {"/usr/bin/pnpm": "pnpm"}, "uv": {"/usr/bin/uv": "uv"}, "yarn": {"/usr/bin/yarn": "pnpm"},
    "corepack": {"/usr/bin/corepack": "corepack"},
    "ruby-bundler": {
        "/usr/bin/bundle": "bundle", "/usr/bin/bundler": "bundle", f"{KEPT}/gems": _rows(brings.GEMS),
    },
    "tzdata": {"/usr/share/zoneinfo/UTC": b"stands in\n"},
}  # fmt: skip
"""
What is in an image for its sake, and for that of each package that it has: at each path a thing that was compiled or
is the host's, a file of Debian, a script, a text, or ``None`` for a folder that is not root's.
"""

_LIBRARIES: Final = {
    package: dict.fromkeys(found, "library")
    for package in packages.LISTED.split()
    if (found := brings.libraries(package))
}
_PROGRAMS: Final = {
    package: " ".join(found)
    for package in packages.LISTED.split()
    if (found := brings.programs(package))
}
_TREES: Final = {
    package: brings.trees(package) for package in packages.LISTED.split() if brings.trees(package)
}
_STANDING: Final[Mapping[str, _Table]] = {
    "bash": BRINGS["bash"], "tini": {"/usr/bin/tini": _TINI}, "uv": BRINGS["uv"],
    "build-base": {"/usr/bin/gcc": "gcc", "/usr/bin/cc": "gcc", **BRINGS["make"]},
    "gcc": {"/usr/bin/gcc": "gcc", "/usr/bin/cc": "gcc"},
    "gettext": {"/usr/bin/envsubst": "envsubst"}, "poetry": {"/usr/bin/poetry": "poetry"},
    "bind-tools": {"/usr/bin/dig": "static", "/usr/bin/host": "static"}, "openssh-client": {"/usr/bin/ssh": "static"},
    **{one: {f"/usr/bin/{one}": "static"} for one in ("curl", "jq", "rsync", "wget")},
    **{one: BRINGS["ruby-bundler"] for one in packages.LISTED.split() if brings.plain(one) == "ruby-bundler"},
    **{one: {"/usr/bin/go": "go"} for one in packages.LISTED.split() if brings.plain(one) == "go"},
    **{one: {"/usr/bin/gradle": "gradle"} for one in packages.LISTED.split() if brings.plain(one) == "gradle"},
    **{one: BRINGS[one] for one in ("ca-certificates-bundle", "git", "make", "pnpm", "tzdata", "yarn")},
}  # fmt: skip
ADDED: Final[Mapping[str, _Table]] = {
    package: {**_LIBRARIES.get(package, {}), **_STANDING.get(package, {})}
    for package in {*_LIBRARIES, *_STANDING}
}
APK: Final[_Table] = {
    "/usr/bin/apk": "apk",
    f"{KEPT}/limit": "limit",
    f"{KEPT}/packages": packages.LISTED.encode(),
    f"{KEPT}/programs": _rows(_PROGRAMS),
    f"{KEPT}/trees": _rows(_TREES),
    **_LINKED,
}
"""What ``apk`` adds with a package, and what it needs itself."""

_RIGHTS: Final = {"/root": 0o700, "/tmp": 0o1777, "/run": 0o777}  # noqa: S108
_LEFT: Final = ("__pycache__", "idlelib", "site-packages", "test", "tests", "tkinter")
_MODULE: Final = """
import sys

if not hasattr(sys, "stand_in"):
    from . import _standin
    sys.stand_in = _standin
__version__ = {version!r}
main = sys.stand_in.main
__getattr__ = sys.stand_in.of(__name__)
"""
"""What a package of Python holds beside ``scripts/python-package``, which knows what it is."""

_UNKNOWN: Final = """
import os
import sys

sys.stderr.write("stand-in limit: module\\n")
sys.stderr.flush()
os._exit(70)
"""
"""A module that a project imports, and of which nobody knows what package it is of."""

_TOOLS: Final = (
    "uv==0.9.0 poetry==2.2.1 pipenv==2025.0.4 wheel==0.45.0 setuptools==80.0.0 hatchling==1.27.0 "
    "virtualenv==20.35.0 flit-core==3.12.0 poetry-core==2.2.1 pdm-backend==2.4.5 hatch-vcs==0.5.0 "
    "setuptools-scm==9.2.0"
)
_NOT_STOOD_IN: Final = (
    "bash", "docker-php-ext-configure", "docker-php-ext-enable", "docker-php-ext-install", "git", "make", "patch",
    "pecl", "ssh", "svn", "tini", "unzip", "zip",
)  # fmt: skip
HELPERS: Final[Mapping[tuple[str, ...], tuple[Facts | None, _Table]]] = {
    ("ghcr.io/astral-sh/uv:0.9", "ghcr.io/astral-sh/uv:latest"): (None, {"/uv": "uv"}),
    ("composer:2", "composer:latest"): (
        Facts(user="0", users=("www-data",), workdir="/app"),
        {
            "/usr/bin/composer": "composer",
            "/usr/local/bin/php": "static",
            "/sbin/apk": "limit",
            **{f"/usr/local/bin/{name}": "limit" for name in _NOT_STOOD_IN},
            **BRINGS["busybox"],
        },
    ),
}
"""
Images of others, how they are configured, and what they have.

That of uv is empty but for its programs. That of composer is one of Alpine, in which a stage can run commands.
"""

BACKENDS: Final = MappingProxyType(
    {
        "flit-core": "flit_core/buildapi.py", "hatchling": "hatchling/build.py", "pdm-backend": "pdm/backend.py",
        "poetry-core": "poetry/core/masonry/api.py", "setuptools": "setuptools/build_meta.py",
    }
)  # fmt: skip
"""Where a backend that builds projects of Python is, by its package (``scripts/backend``)."""


_PINNED: Final = re.compile(
    r"""(?m)([A-Za-z][\w.-]*)(?:\[[\w,]+\])?\s*(?:(?:==|>=|~=|<=)|=\s*["']\^?(?=\d))\s*(\d[\w.]*)"""
)
_NAMED: Final = re.compile(r"\s*([A-Za-z][\w.-]*)\s*(?:\[[^\]]*\])?\s*(?:$|[<>!~=;#(@\s])")
_VERSION: Final = re.compile(r"(===|==|~=|>=|<=|<|>)\s*(\d[\w.]*)")


class Root(dict[str, tuple[tarfile.TarInfo, bytes | Path]]):
    """A file system to be: what is at each path."""

    def put(self, path: str, held: _Held, mode: int | None = None, owner: int = 0) -> None:
        """Add a file, a link if a target is held, a folder that is not there if nothing is, and the folders above."""
        if held is None and (path in self or not path.strip("/")):
            return
        self.put(posixpath.dirname(path), None)
        info = tarfile.TarInfo(path.lstrip("/"))
        info.uid = info.gid = owner
        plain = isinstance(held, bytes) and "/bin/" not in path
        info.mode = mode or (0o644 if plain or (held and path.startswith("/etc/")) else 0o755)
        if held is None:
            info.type, held = tarfile.DIRTYPE, b""
        elif isinstance(held, str):
            info.type, info.mode, info.linkname, held = tarfile.SYMTYPE, 0o777, held, b""
        self[path] = (info, held)

    def tree(self, path: str, source: Path, leave: Iterable[str] = _LEFT[:1]) -> None:
        """Add a folder of the host, without the folders below it that have some names."""
        for one in source.rglob("*"):
            name = one.relative_to(source)
            if {*name.parts[:-1]} & {*leave}:
                continue
            if one.is_symlink() and one.resolve().is_relative_to(source.resolve()):
                self.put(f"{path}/{name.as_posix()}", os.readlink(one))
            elif one.is_file():
                self.put(f"{path}/{name.as_posix()}", one, stat.S_IMODE(one.stat().st_mode))

    def library(self, program: Path, more: Path | None = None, below: str = "") -> None:
        """Add the libraries that a program of the host needs, and the loader."""
        env = {**os.environ, "LD_LIBRARY_PATH": str(more or "")}
        ldd = subprocess.run(["ldd", program], capture_output=True, text=True, env=env, check=False)
        for name, path in re.findall(r"(?:(\S+) => )?(/\S+) \(", ldd.stdout):
            there = f"/lib/x86_64-linux-gnu/{name}" if name else path
            self.put(below + there, Path(path).resolve())

    def packed(self) -> dict[str, dict[str, str]]:
        """Return the digest of each file that a package of ``apk`` brings, by its path."""
        found: dict[str, dict[str, str]] = {}
        for path, (info, held) in sorted(self.items()):
            name, _, file = path.removeprefix(f"{PACKED}/").partition("/")
            if path.startswith(f"{PACKED}/") and info.isreg():
                data = held if isinstance(held, bytes) else held.read_bytes()
                found.setdefault(name, {})[file] = digest_of(data)
        return found

    def below(self, path: str, other: Root) -> None:
        """Add below a folder what another one has and this one has not."""
        for there, (info, held) in other.items():
            if there not in self:
                info.name = f"{path}{there}".lstrip("/")
                self[f"{path}{there}"] = (info, held)

    def load(self, docker: Iterable[str], tag: str, out: Path, facts: Facts | None = None) -> None:
        """Load it as an image, by way of a tar file, configured as some facts say."""
        with tarfile.open(out, "w") as tar:
            for _, (info, held) in sorted(self.items()):
                data = held if isinstance(held, bytes) else held.read_bytes()
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
        changes = [f"LABEL {LABEL}={json.dumps(json.dumps(self.packed()))}"]
        if facts:
            changes += [f"USER {facts.user}", f"WORKDIR {facts.workdir}"]
            changes += [f"ENV {name}={value}" for name, value in facts.env.items()]
            starts = {"ENTRYPOINT": facts.entrypoint, "CMD": facts.cmd}
            changes += [f"{name} {json.dumps(words)}" for name, words in starts.items() if words]
        options = [part for change in changes for part in ("--change", change)]
        subprocess.run([*docker, "import", *options, out, tag], check=True, capture_output=True)
        out.unlink()


@dataclass(frozen=True)
class StandIns:
    """
    Makes the stand-ins of all images that the cases may use.

    :param debian: a folder into which Debian's packages were unpacked with ``dpkg -x``.
    :param python: the prefix of a Python of the host.
    :param node: the host's node.
    :param work: a folder to compile and write in.
    :param projects: folders whose packages of Python there are.
    :param over: what is laid over images of some name, over their ``-dev`` variants, and over those with ``apk``.
    """

    debian: Path
    python: Path
    node: Path
    work: Path
    projects: Sequence[Path]
    over: Mapping[str, Root] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, options in {"static": ["-static"], "dynamic": []}.items():
            words = ["gcc", "-O1", *options, "-o", f"{self.work / name}", f"{HERE / 'standin.c'}"]
            subprocess.run(words, check=True)
        (self.work / "library").write_bytes(b"\x7fELF")
        words = [
            "gcc",
            "-O1",
            "-static",
            "-DLIMIT",
            "-o",
            f"{self.work / 'unshelled'}",
            f"{HERE / 'standin.c'}",
        ]
        subprocess.run(words, check=True)

    def load_all(self, docker: Sequence[str]) -> None:
        """Make every stand-in and load it."""
        for tags, (facts, held) in HELPERS.items():
            root = Root()
            if facts is not None:
                self._users(root, facts, _WWW_DATA)
            self._lay(root, held)
            for tag in tags:
                root.load(docker, tag, self.work / "image.tar", facts)
        for name in NAMES:
            for tag in ("latest",) if name.endswith("-base") else ("latest", "latest-dev"):
                like = Reference(f"cgr.dev/chainguard/{name}", tag)
                paid = (f"cgr.dev/example.org/{one}" for one in PAID.get(f"{name}:{tag}", ()))
                self.load(docker, like, like.text, *paid)

    def load(self, docker: Sequence[str], like: Reference, *tags: str) -> None:
        """Load the stand-in of an image under some tags."""
        facts, name, dev = facts_of(like), like.image, like.tag.endswith("-dev")
        assert facts is not None  # noqa: S101 - there are facts of each
        root = Root()
        self._users(root, facts, 70 if name == "postgres" else NOBODY)
        if name != "static":
            root.library(self.work / "dynamic")
        if name == "python":
            self._python(root, pip=dev)
        if name == "node":
            root.put(f"{KEPT}/exports", _rows(imported_names(self.projects)))
        for one in (name, f"{name}-dev" if dev else name):
            self._lay(root, BRINGS.get(one, {}))
        self._packages(root, facts)
        if name.endswith("-base"):
            self._trees(root)
        for one in (name, f"{name}-dev" if dev else name, "apk" if facts.apk else name):
            root |= self.over.get(one, {})
        for tag in tags:
            root.load(docker, tag, self.work / "image.tar", facts)

    def _packages(self, root: Root, facts: Facts) -> None:
        """Add the packages that an image has, each with a note, and those that its ``apk`` can add."""
        self._lay(root, held_by(facts))
        for package in (*facts.holds, *facts.shells):
            root.put(f"{HELD}/{package}", f"{package}\n".encode())
        self._lay(root, lacking(root, facts))
        for path, program in of_java(root, facts).items():
            root.put(path, program)
        if facts.apk:
            self._lay(root, APK)
            for package, brought in ADDED.items():
                self._lay(root, brought, f"{PACKED}/{package}")

    def _trees(self, root: Root) -> None:
        """Add what comes as a whole with packages of ``apk``, for images that have nothing of it."""
        node = BRINGS["node"]
        grown = {name: Root() for name in ("python3", "pip", "node", "npm")}
        self._python(grown["python3"], pip=False)
        self._pip(grown["pip"])
        self._lay(grown["node"], {"/usr/bin/node": node["/usr/bin/node"]})
        self._lay(grown["npm"], {path: held for path, held in node.items() if held != "node"})
        for name, tree in grown.items():
            root.below(f"{GROWS}/{name}", tree)

    def _users(self, root: Root, facts: Facts, number: int) -> None:
        user = facts.users[0] if facts.users else "nonroot"
        words = f"{user}:x:{number}:{number}::/home/{user}:/bin/sh\n"
        root.put("/etc/passwd", f"root:x:0:0:root:/root:/bin/sh\n{words}".encode())
        root.put("/etc/group", f"root:x:0:\n{user}:x:{number}:\n".encode())
        root.put(f"/home/{user}", None, 0o750, number)
        for folder in ("/bin", "/opt", "/usr/bin", "/usr/local/bin", "/var", *_RIGHTS):
            root.put(folder, None, _RIGHTS.get(folder))
        root.put(facts.workdir, None, owner=0 if facts.user == "0" else number)

    def _lay(self, root: Root, table: _Table, below: str = "") -> None:
        """Add what a table has: what was compiled, a program of the host or of Debian, or a script."""
        made = {name: self.work / name for name in ("static", "dynamic", "library", "unshelled")}
        made |= {"node": self.node, "bash": Path("/bin/bash").resolve()}
        for path, held in table.items():
            if not isinstance(held, str):
                root.put(below + path, held, owner=0 if held else NOBODY)
            else:
                source = made.get(held) or (self.debian if "/" in held else HERE / "scripts") / held
                root.put(below + path, source)
                if held in ("bash", "node", "usr/bin/make", "usr/sbin/nginx"):
                    root.library(source, self.debian / "usr/lib/x86_64-linux-gnu", below)
                if held == "bin/busybox":
                    self._busybox(root, source)
                if source.read_bytes()[:9] == b"#!/bin/sh":
                    root.put(f"{KEPT}/common", HERE / "scripts/common")

    def _busybox(self, root: Root, busybox: Path) -> None:
        """Add the applets that Wolfi's has; one that Debian's lacks says so, and what it has besides is taken away."""
        said = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True)
        there, wolfis = said.stdout.split(), brings.APPLETS.split()
        gone = {*there} - {*wolfis, "busybox"} | {"find"}
        root.put(f"{KEPT}/busybox", busybox)
        root.put("/bin/busybox", without(busybox.read_bytes(), there, gone))
        for tool in wolfis:
            if f"/bin/{tool}" not in BRINGS["busybox"]:
                self._lay(root, {f"/bin/{tool}": "limit"})
                if tool in there:
                    root.put(f"/bin/{tool}", "busybox")
            if tool not in ("ash", "sh"):
                root.put(f"/usr/bin/{tool}", f"/bin/{tool}")

    def _python(self, root: Root, *, pip: bool) -> None:
        program, library, there = self._place_of_python()
        root.put(f"/usr/bin/{program.name}", program)
        root.library(program, self.python / "lib")
        for name in ("python", "python3"):
            root.put(f"/usr/bin/{name}", program.name)
        root.tree(there, library, _LEFT)
        for module in (library / "lib-dynload").glob("*.so"):
            root.library(module)
        root.put(f"{there}/site-packages", None)
        if pip:
            self._pip(root)

    def _pip(self, root: Root) -> None:
        """Add pip, and the packages that it finds."""
        _, library, there = self._place_of_python()
        self._lay(root, BRINGS["python-dev"])
        for path in (library / "site-packages").iterdir():
            if path.name.partition("-")[0] == "pip":
                root.tree(f"{there}/site-packages/{path.name}", path)
        # The real image has it beside pip.
        for name, text in wheel_files("setuptools", "80.0.0").items():
            root.put(f"{there}/site-packages/{name}", text.encode())
        unknown = unknown_modules(self.projects)
        for name, version in sorted(wheels(self.projects)):
            root.put(*wheel(name, version, unknown.get(name, ())))

    def _place_of_python(self) -> tuple[Path, Path, str]:
        """Return the host's Python, its library, and where that is in an image."""
        program = max(self.python.glob("bin/python3.??"))
        return program, self.python / "lib" / program.name, f"/usr/lib/{program.name}"


def without(busybox: bytes, names: Sequence[str], gone: Iterable[str]) -> bytes:
    """
    Return busybox without some applets: its shell would start them before it looks at PATH.

    :param names: those that it has, in its order.
    """
    listed = b"".join(name.encode() + b"\0" for name in names)
    at, taken = busybox.find(listed), {*gone}
    if at < 0:
        msg = "this busybox does not list its applets as the one of Debian 12 does"
        raise ValueError(msg)
    left = [name for name in names if name not in taken]
    # They stay in order, for they are looked up by it.
    after = {name: next((one for one in left if one > name), "\x7f\x7f") for name in taken}
    new = {
        name: name[:-1] + ("\x7f" if name[:-1] + "\x7f" < after[name] else "\1") for name in taken
    }
    renamed = b"".join(new.get(name, name).encode() + b"\0" for name in names)
    return busybox[:at] + renamed + busybox[at + len(listed) :]


def held_by(facts: Facts) -> _Table:
    """Return what stands in for the packages that an image has."""
    tables = (
        {**BRINGS.get(package, {}), **ADDED.get(package, {})}
        for package in (*facts.holds, *facts.shells)
    )
    return {path: held for table in tables for path, held in table.items()}


def lacking(root: Mapping[str, object], facts: Facts) -> _Table:
    """Return the programs that an image has by its packages and that nothing stands in for, each as what says so."""
    said = "limit" if facts.shells else "unshelled"
    return {
        f"/usr/bin/{name}": said
        for package in facts.holds
        for name in brings.programs(package)
        if not any(f"{folder}/{name}" in root for folder in ("/bin", "/usr/bin", "/usr/sbin"))
    }


def of_java(root: Mapping[str, object], facts: Facts) -> dict[str, str]:
    """Return links to the programs of Java, each where JAVA_HOME says that it is."""
    home = facts.env.get("JAVA_HOME")
    if home is None:
        return {}
    jdks = [package for package in facts.holds if package.startswith("openjdk")]
    names = {name for package in jdks for name in brings.programs(package)}
    there = sorted(name for name in names if f"/usr/bin/{name}" in root)
    return {f"{home}/bin/{name}": f"/usr/bin/{name}" for name in there}


def digest_of(data: bytes) -> str:
    """Return what is kept of a file that a package brings."""
    return hashlib.sha256(data).hexdigest()[:16]


def wheels(projects: Iterable[Path]) -> set[tuple[str, str]]:
    """Return the packages of Python that projects ask for, each with versions that they accept."""
    return {one for project in projects for one in _asked(project)} | {*_PINNED.findall(_TOOLS)}


def _asked(project: Path) -> set[tuple[str, str]]:
    found = set[tuple[str, str]]()
    for path in sorted(project.rglob("*")):
        if path.name == "pyproject.toml":
            found |= _asked_by(path.read_text("utf-8"))
        elif path.name in ("Pipfile", "Pipfile.lock"):
            found |= _of_pipenv(path)
        elif path.suffix in (".txt", ".in") and re.search("requirements|constraints", str(path)):
            found |= {_package(line) for line in path.read_text("utf-8").splitlines()}
    return {one for one in found if one[0]}


def _asked_by(text: str) -> set[tuple[str, str]]:
    """Return what a ``pyproject.toml`` asks for: pinned anywhere, or in a list of packages."""
    found = {(name.lower(), version) for name, version in _PINNED.findall(text)}
    with contextlib.suppress(tomllib.TOMLDecodeError):
        held = tomllib.loads(text)
        project = held.get("project", {})
        lists = [project.get("dependencies", []), held.get("build-system", {}).get("requires", [])]
        lists += [
            *project.get("optional-dependencies", {}).values(),
            *held.get("dependency-groups", {}).values(),
        ]
        found |= {_package(one) for wanted in lists for one in wanted if isinstance(one, str)}
        poetry = held.get("tool", {}).get("poetry", {}).get("dependencies", {})
        found |= {(name.lower(), "1.0") for name, one in poetry.items() if one == "*"}
    return found


def _of_pipenv(path: Path) -> set[tuple[str, str]]:
    """Return what a ``Pipfile`` or its lock asks for."""
    text = path.read_text("utf-8")
    held = json.loads(text) if path.suffix == ".lock" else tomllib.loads(text)
    kinds = ("default", "develop") if path.suffix == ".lock" else ("packages", "dev-packages")
    asked = {name: told for kind in kinds for name, told in held.get(kind, {}).items()}
    versions = {
        name: told if isinstance(told, str) else told.get("version", "*")
        for name, told in asked.items()
    }
    return {_package(name if told == "*" else name + told) for name, told in versions.items()}


def _package(line: str) -> tuple[str, str]:
    """Return the package that a line asks for and a version that it accepts, an empty name for none."""
    named = _NAMED.match(line)
    if not named:
        return "", ""
    how, version = (_VERSION.search(line) or re.match("()(.*)", "1.0")).groups()  # type: ignore[union-attr]
    if how == ">":
        version += ".1"
    return named[1].lower(), "0.0.1" if how == "<" else version


def unknown_modules(folders: Iterable[Path]) -> dict[str, set[str]]:
    """
    Return modules that a project imports and that no package is known for, for each package that it asks for.

    Any of these may bring it, or what one of these needs.
    """
    found: dict[str, set[str]] = {}
    for project in (one for folder in folders for one in folder.glob("*/input")):
        asked, texts = _asked(project), [path.read_text("utf-8") for path in project.rglob("*.py")]
        own = {path.stem for path in project.rglob("*")}
        known = {module for name, _ in asked for module in brings.modules(name)}
        strange = {name for text in texts for name in _imported(text)} - own - known
        strange -= sys.stdlib_module_names
        for name, _ in asked:
            found.setdefault(name, set()).update(strange)
    return {name: held for name, held in found.items() if held}


def _imported(text: str) -> set[str]:
    """Return the first words of the modules that a text of Python imports, none of one that cannot be read."""
    try:
        parts = list(ast.walk(ast.parse(text)))
    except SyntaxError:
        return set()
    names = [one.name for part in parts if isinstance(part, ast.Import) for one in part.names]
    names += [
        part.module or "" for part in parts if isinstance(part, ast.ImportFrom) and not part.level
    ]
    return {name.partition(".")[0] for name in names}


def wheel(name: str, version: str, unknown: Iterable[str] = ()) -> tuple[str, bytes]:
    """
    Return the path of a wheel, and the wheel: the modules of a package, and for those that have one a program.

    :param unknown: modules that it may have as well.
    """
    module, held = re.sub(r"[^a-z0-9]+", "_", name.lower()), io.BytesIO()
    with zipfile.ZipFile(held, "w") as out:
        for path, text in wheel_files(name, version, unknown).items():
            info = zipfile.ZipInfo(path)
            info.external_attr = (0o100755 if "/scripts/" in path else 0o600) << 16
            out.writestr(info, text)
    return f"{KEPT}/wheels/{module}-{version}-py3-none-any.whl", held.getvalue()


def wheel_files(name: str, version: str, unknown: Iterable[str] = ()) -> dict[str, str]:
    """Return what is in a wheel."""
    module = re.sub(r"[^a-z0-9]+", "_", name.lower())
    modules = brings.modules(name)
    head, script = f"{module}-{version}", HERE / "scripts" / module
    about, program = f"{head}.dist-info", brings.SCRIPTS.get(name.lower(), name)
    files = {f"{one}/__init__.py": _MODULE.format(version=version) for one in modules}
    files |= {
        f"{one}/_standin.py": (HERE / "scripts/python-package").read_text() for one in modules
    }
    files |= {f"{one}/__main__.py": f"from {one} import main\n\nmain()\n" for one in modules}
    files |= {f"{one}.py": _UNKNOWN for one in unknown}
    backend = BACKENDS.get(module.replace("_", "-"))
    if backend:
        files[backend] = (HERE / "scripts/backend").read_text()
    if module == "setuptools":
        files["setuptools/__init__.py"] += "setup = sys.stand_in.builds\n"
    if module == "python_dotenv":
        files["dotenv/__init__.py"] += "load_dotenv = sys.stand_in.load_dotenv\n"
    files |= {
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: standin\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/RECORD": "",
    }
    if script.is_file() and not backend:
        text = script.read_text().replace("#!/usr/bin/env python3", "#!python")
        files[f"{head}.data/scripts/{module}"] = text
    elif not backend:
        files[f"{about}/entry_points.txt"] = f"[console_scripts]\n{program} = {modules[0]}:main\n"
    return files
