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
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from .facts import Facts

LABEL: Final = "benchgate.stand-in"
"""What marks an image as a stand-in."""

HERE: Final = Path(__file__).resolve().parent
KEPT: Final = "/usr/share/standin"
NOBODY: Final = 65532
_FOREIGN: Final = ("dpkg", "dpkg-deb", "rpm", "rpm2cpio", "start-stop-daemon", "su", "passwd")
_SCRIPTS: Final = (
    "#!/usr/bin/python3\nimport sys\nfrom {module} import {call}\nsys.exit({call}())\n",
)


_PROGRAMS: Final = {
    "aspnet-runtime": ("/usr/bin/dotnet",),
    "dotnet-runtime": ("/usr/bin/dotnet",),
    "gradle": ("/usr/bin/java",),
    "jdk": ("/usr/bin/java",),
    "jre": ("/usr/bin/java",),
    "maven": ("/usr/bin/java",),
    "php": ("/usr/bin/php", "/bin/php"),
    "ruby": ("/usr/bin/ruby", "/bin/ruby"),
}
"""What the compiled program stands in for."""

_BUILDERS: Final = {
    "dotnet-sdk": ("dotnet",),
    "gcc-glibc": ("gcc",),
    "go": ("go", "gcc"),
    "maven": ("mvn",),
    "rust": ("cargo", "gcc"),
}
"""What a script stands in for."""

_HELD: Final = {
    "ca-certificates-bundle": "/etc/ssl/certs/ca-certificates.crt",
    "tzdata": "/usr/share/zoneinfo/UTC",
}
"""What shows that a package is there."""

_BROUGHT: Final = {
    "binutils": "strip",
    "pnpm": "pnpm",
    "uv": "uv",
    "yarn": "pnpm",
}
"""The scripts that stand in for what a package brings, under the name of the program."""

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


@dataclass(frozen=True)
class Sources:
    """
    Where the programs of the stand-ins come from.

    :param debian: a folder into which Debian's packages were unpacked with ``dpkg -x``.
    :param python: the prefix of a Python of the host.
    :param node: the host's node.
    :param work: a folder to compile and write in.
    """

    debian: Path
    python: Path
    node: Path
    work: Path


@dataclass
class Root:
    """A file system to be."""

    entries: dict[str, tuple[tarfile.TarInfo, bytes | Path]] = field(default_factory=dict)

    def put(self, path: str, held: bytes | Path, mode: int = 0o755, owner: int = 0) -> None:
        """Add a file, and the folders above it."""
        self.folder(posixpath.dirname(path))
        info = tarfile.TarInfo(path.lstrip("/"))
        info.mode, info.uid, info.gid = mode, owner, owner
        info.size = len(held) if isinstance(held, bytes) else held.stat().st_size
        self.entries[path] = (info, held)

    def link(self, path: str, target: str) -> None:
        """Add a symbolic link."""
        self.folder(posixpath.dirname(path))
        info = tarfile.TarInfo(path.lstrip("/"))
        info.type, info.linkname, info.mode = tarfile.SYMTYPE, target, 0o777
        self.entries[path] = (info, b"")

    def folder(self, path: str, mode: int = 0o755, owner: int = 0) -> None:
        """Add a folder, and those above it, unless they are there."""
        if path.strip("/") and path not in self.entries:
            self.folder(posixpath.dirname(path))
            info = tarfile.TarInfo(path.lstrip("/"))
            info.type, info.mode, info.uid, info.gid = tarfile.DIRTYPE, mode, owner, owner
            self.entries[path] = (info, b"")

    def tree(self, path: str, source: Path, leave: Iterable[str] = ()) -> None:
        """Add a folder of the host."""
        for folder, below, names in os.walk(source):
            below[:] = [name for name in below if name not in leave]
            there = (
                posixpath.join(path, os.path.relpath(folder, source))
                if folder != str(source)
                else path
            )
            for name in names:
                one = Path(folder, name)
                if one.is_file():
                    self.put(posixpath.join(there, name), one, stat.S_IMODE(one.stat().st_mode))

    def library(self, program: Path, more: Path | None = None) -> None:
        """Add the libraries that a program of the host needs, and the loader."""
        env = {**os.environ, "LD_LIBRARY_PATH": str(more or "")}
        said = subprocess.run(
            ["ldd", program], capture_output=True, text=True, env=env, check=False
        ).stdout
        for name, path in re.findall(r"(\S+) => (/\S+)", said):
            self.put(f"/lib/x86_64-linux-gnu/{name}", Path(path).resolve())
        for path in re.findall(r"^\s*(/lib64/\S+)", said, re.MULTILINE):
            self.put(path, Path(path).resolve())

    def write(self, out: Path) -> None:
        """Write it as a tar file."""
        with tarfile.open(out, "w") as tar:
            for path in sorted(self.entries):
                info, held = self.entries[path]
                data = held if isinstance(held, bytes) else held.read_bytes()
                info.size = len(data) if info.isreg() else 0
                tar.addfile(info, io.BytesIO(data))


def _users(root: Root, user: str, number: int) -> None:
    lines = (
        "root:x:0:0:root:/root:/bin/sh",
        f"{user}:x:{number}:{number}::/home/{user}:/bin/sh",
        "",
    )
    root.put("/etc/passwd", "\n".join(lines).encode(), 0o644)
    root.put("/etc/group", f"root:x:0:\n{user}:x:{number}:\n".encode(), 0o644)
    root.folder("/root", 0o700)
    root.folder("/home")
    root.folder(f"/home/{user}", 0o750, number)
    root.folder("/tmp", 0o1777)  # noqa: S108
    root.folder("/run", 0o777)
    for folder in ("/bin", "/opt", "/usr/bin", "/usr/local/bin", "/var"):
        root.folder(folder)


class StandIns:
    """Makes the stand-ins of all images that the cases may use."""

    def __init__(
        self, sources: Sources, wheels: Mapping[str, str], packages: Iterable[str]
    ) -> None:
        self.sources, self.wheels, self.packages = sources, wheels, sorted(packages)
        self.static = self._compiled("static", "-static")
        self.dynamic = self._compiled("dynamic")
        self.busybox = sources.debian / "bin/busybox"

    def _compiled(self, name: str, *options: str) -> Path:
        out = self.sources.work / name
        subprocess.run(["gcc", "-O1", *options, "-o", out, HERE / "standin.c"], check=True)
        return out

    def root(self, facts: Facts, name: str, *, dev: bool) -> Root:
        """Return the file system of an image."""
        root = Root()
        number = 70 if name == "postgres" else NOBODY
        _users(root, facts.users[0] if facts.users else "nonroot", number)
        if facts.workdir != "/":
            root.folder(facts.workdir, 0o755, 0 if facts.user == "0" else number)
        if name != "static":
            root.library(self.dynamic)
        self._own(root, name, dev=dev)
        self._packages(root, facts)
        return root

    def _packages(self, root: Root, facts: Facts) -> None:
        for package in sorted({"ca-certificates-bundle", "tzdata"} & set(facts.holds)):
            root.put(_HELD[package], b"stands in\n", 0o644)
        for package in sorted(set(_BROUGHT) & set(facts.holds)):
            program = "strip" if package == "binutils" else package
            root.put(f"/usr/bin/{program}", HERE / "scripts" / _BROUGHT[package])
        if "dumb-init" in facts.holds:
            root.put("/usr/bin/dumb-init", self.sources.debian / "usr/bin/tini-static")
        if "busybox" in facts.shells:
            self._busybox(root)
        if "bash" in facts.shells:
            self._bash(root, "")
        if facts.apk:
            self._apk(root)

    def _busybox(self, root: Root) -> None:
        root.put("/bin/busybox", self.busybox)
        said = subprocess.run(
            [self.busybox, "--list"], capture_output=True, text=True, check=True
        ).stdout
        for tool in said.split():
            if tool not in (*_FOREIGN, "busybox"):
                root.link(f"/bin/{tool}", "busybox")
        root.link("/usr/bin/env", "/bin/busybox")
        for tool in ("adduser", "addgroup"):
            root.put(f"/bin/{tool}", HERE / "scripts/adduser")

    def _bash(self, root: Root, below: str) -> None:
        bash = Path("/bin/bash").resolve()
        held = Root()
        held.put("/bin/bash", bash)
        held.library(bash)
        for path, (_, source) in held.entries.items():
            if source:
                root.put(f"{below}{path}", source)

    def _apk(self, root: Root) -> None:
        root.put("/usr/bin/apk", HERE / "scripts/apk")
        root.put(f"{KEPT}/packages", ("\n".join(self.packages) + "\n").encode(), 0o644)
        kept = f"{KEPT}/pkg"
        self._bash(root, f"{kept}/bash")
        for package, programs in {
            "bind-tools": ("dig", "host"), "curl": ("curl",), "git": ("git",), "jq": ("jq",),
            "openssh-client": ("ssh",), "rsync": ("rsync",), "wget": ("wget",),
        }.items():  # fmt: skip
            for program in programs:
                root.put(f"{kept}/{package}/usr/bin/{program}", self.static)
        for name in ("libpq", "libpq-18"):
            root.put(f"{kept}/{name}/usr/lib/libpq.so.5", b"\x7fELF")
        root.put(f"{kept}/tini/usr/bin/tini", self.sources.debian / "usr/bin/tini-static")
        for package in ("gcc", "build-base"):
            root.put(f"{kept}/{package}/usr/bin/gcc", HERE / "scripts/gcc")
        root.put(f"{kept}/uv/usr/bin/uv", HERE / "scripts/uv")
        root.put(f"{kept}/poetry/usr/bin/poetry", HERE / "scripts/poetry")
        root.put(f"{KEPT}/static", self.static)
        root.put(f"{KEPT}/dynamic", self.dynamic)

    def _own(self, root: Root, name: str, *, dev: bool) -> None:
        """Add what an image is for."""
        makers: dict[str, Callable[[Root], None]] = {
            "nginx": self._nginx,
            "node": self._node,
            "postgres": self._postgres,
            "python": partial(self._python, pip=dev),
        }
        if name in makers:
            makers[name](root)
        for path in _PROGRAMS.get(name, ()):
            root.put(path, self.static)
        for tool in _BUILDERS.get(name, ()):
            root.put(f"/usr/bin/{tool}", HERE / "scripts" / tool)
            root.put(f"{KEPT}/static", self.static)
            root.put(f"{KEPT}/dynamic", self.dynamic)
        if name == "php" and dev:
            root.put("/usr/bin/composer", HERE / "scripts/composer")

    def _node(self, root: Root) -> None:
        root.put("/usr/bin/node", self.sources.node)
        root.library(self.sources.node)
        root.put("/usr/bin/npm", HERE / "scripts/npm")

    def _postgres(self, root: Root) -> None:
        root.put("/usr/bin/docker-entrypoint.sh", HERE / "scripts/docker-entrypoint.sh")
        root.put("/usr/bin/postgres-server", self.static)

    def _nginx(self, root: Root) -> None:
        debian = self.sources.debian
        root.put("/usr/sbin/nginx", debian / "usr/sbin/nginx")
        root.library(debian / "usr/sbin/nginx", debian / "usr/lib/x86_64-linux-gnu")
        root.put("/etc/nginx/mime.types", debian / "etc/nginx/mime.types", 0o644)
        root.put("/etc/nginx/nginx.conf", b"events {}\nhttp { server { listen 8080; } }\n", 0o644)
        for folder in ("/var/log/nginx", "/var/lib/nginx", "/usr/share/nginx/html"):
            root.folder(folder, 0o755, NOBODY)

    def _python(self, root: Root, *, pip: bool) -> None:
        prefix = self.sources.python
        program = max(prefix.glob("bin/python3.??"))
        version = program.name
        library = prefix / "lib" / version
        root.put(f"/usr/bin/{version}", program)
        root.library(program, prefix / "lib")
        for name in ("python", "python3"):
            root.link(f"/usr/bin/{name}", version)
        root.tree(
            f"/usr/lib/{version}",
            library,
            ("__pycache__", "idlelib", "site-packages", "test", "tests", "tkinter"),
        )
        for module in (library / "lib-dynload").glob("*.so"):
            root.library(module)
        root.folder(f"/usr/lib/{version}/site-packages")
        if not pip:
            return
        for name in ("pip", *(path.name for path in (library / "site-packages").glob("pip-*"))):
            root.tree(
                f"/usr/lib/{version}/site-packages/{name}",
                library / "site-packages" / name,
                ("__pycache__",),
            )
        for name in ("pip", "pip3"):
            root.put(
                f"/usr/bin/{name}",
                _SCRIPTS[0].format(module="pip._internal.cli.main", call="main").encode(),
            )
        root.put(
            "/etc/pip.conf",
            f"[global]\nno-index = true\nfind-links = {KEPT}/wheels\ndisable-pip-version-check = true\n".encode(),
            0o644,
        )
        for name, number in self.wheels.items():
            file, data = wheel(name, number)
            root.put(f"{KEPT}/wheels/{file}", data, 0o644)


def wheel(name: str, version: str) -> tuple[str, bytes]:
    """Return a wheel with one module of that name, and for those that have one a program."""
    module = re.sub(r"[^a-z0-9]+", "_", name.lower())
    held, head = io.BytesIO(), f"{module}-{version}"
    script = HERE / "scripts" / module
    with zipfile.ZipFile(held, "w") as out:
        body = _MODULE.format(version=version)
        out.writestr(f"{module}/__init__.py", body)
        out.writestr(f"{module}/__main__.py", f"from {module} import main\n\nmain()\n")
        if script.is_file():
            info = zipfile.ZipInfo(f"{head}.data/scripts/{module}")
            info.external_attr = 0o100755 << 16
            out.writestr(info, script.read_text().replace("#!/usr/bin/env python3", "#!python"))
        out.writestr(
            f"{head}.dist-info/METADATA",
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        )
        out.writestr(
            f"{head}.dist-info/WHEEL",
            "Wheel-Version: 1.0\nGenerator: standin\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        if not script.is_file():
            out.writestr(
                f"{head}.dist-info/entry_points.txt", f"[console_scripts]\n{name} = {module}:main\n"
            )
        out.writestr(f"{head}.dist-info/RECORD", "")
    return f"{head}-py3-none-any.whl", held.getvalue()


def load(docker: Iterable[str], root: Root, tag: str, facts: Facts, work: Path) -> None:
    """Load a file system as an image."""
    out = work / "image.tar"
    root.write(out)
    changes = [f"USER {facts.user}", f"WORKDIR {facts.workdir}"]
    changes += [f"ENV {name}={value}" for name, value in facts.env] + [f"LABEL {LABEL}=1"]
    if facts.entrypoint:
        changes.append(f"ENTRYPOINT {json.dumps(facts.entrypoint)}")
    if facts.cmd:
        changes.append(f"CMD {json.dumps(facts.cmd)}")
    options = [part for change in changes for part in ("--change", change)]
    subprocess.run([*docker, "import", *options, out, tag], check=True, capture_output=True)
    out.unlink()


def load_helper(docker: Iterable[str], tag: str, path: str, program: Path, work: Path) -> None:
    """Load an image of others that has one program."""
    root = Root()
    root.put(path, program)
    out = work / "image.tar"
    root.write(out)
    label = ("--change", f"LABEL {LABEL}=1")
    subprocess.run([*docker, "import", *label, out, tag], check=True, capture_output=True)
    out.unlink()
