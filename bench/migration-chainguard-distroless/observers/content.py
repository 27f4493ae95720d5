"""The files of an image, against those that a case asks for and those that must not be there."""

from __future__ import annotations

import posixpath
import re
import stat
import tarfile
from typing import TYPE_CHECKING, Any, Final

from _benchgate_bench.migration_chainguard_distroless.forms import ANY, is_at, named
from _benchgate_bench.migration_chainguard_distroless.harms import secrets

from .standins.images import HELD, INSTALLED, digest_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    Packages = Mapping[str, Mapping[str, str]]

MOST: Final = 6
"""Items of a list that an observation keeps."""

_DATABASES: Final = ("lib/apk/db/installed", "usr/lib/apk/db/installed")
_NOTES: Final = tuple(f"{folder.lstrip('/')}/" for folder in (HELD, INSTALLED))
_SHELLS: Final = re.compile(r"(?:usr/)?s?bin/(?:ash|bash|busybox|dash|sh|zsh|apk)|usr/bin/tool")
_KEYS: Final = (".key", ".p12", ".pem", ".pfx")
"""What packages bring under such names is mostly certificates of others; those of the project are compared."""

_SYSTEM: Final = ("dev/", "etc/", "lib/", "lib64/", "proc/", "sys/", "usr/")


class Content:
    """
    What is in an image.

    :param files: the project as it was sent; of these, those that hold a secret are looked for.
    :param wanted: what :func:`.build.asked` returns.
    :param packages: of stand-ins, the digests of the files that a package brings, by their paths; None for images of
        Chainguard's own, which list their packages and files in a database.
    :param base: returns the files of the base image; what is copied is beside them.
    """

    def __init__(
        self,
        files: Mapping[str, str],
        wanted: Mapping[str, Any],
        packages: Packages | None,
        base: Callable[[], frozenset[str]] = frozenset,
    ) -> None:
        self.wanted, self.packages, self.base = wanted, packages, base
        self._brought = {path for held in (packages or {}).values() for path in held}
        self._digests: dict[str, str] = {}
        self.unneeded = {p: files[p].encode() for p in wanted["unneeded"] if files.get(p)}
        self.secrets = {p: t.encode() for p, t in files.items() if t and holds_secret(p, t)}
        self._sizes = {len(held) for held in (*self.unneeded.values(), *self.secrets.values())}
        self._rules: list[Mapping[str, Any]] = wanted["rules"]
        self.names: set[str] = set()
        self.found: dict[str, set[str]] = {"left": set(), "secrets": set(), "setuid": set()}
        self.texts: dict[str, str] = {}

    def read(self, tar: tarfile.TarFile) -> None:
        """Look at the files of the image as it is."""
        for info in tar:
            name = info.name.removeprefix("./").rstrip("/")
            self.names.add(name)
            if not info.isreg():
                continue
            if info.mode & stat.S_ISUID:
                self.found["setuid"].add(f"/{name}")
            of_package = name in self._brought or name.startswith(_NOTES)
            is_text = name in _DATABASES or any(is_at(f"/{name}", r["path"]) for r in self._rules)
            is_read = info.size in self._sizes or is_text or of_package
            held = _held(tar, info) if is_read else b""
            if of_package:
                self._digests[name] = digest_of(held)
            if is_text:
                self.texts[name] = held.decode(errors="replace")
            self._compare(held, "left", self.unneeded)
            own = not name.startswith(_SYSTEM) and not name.endswith(_KEYS)
            # A secret of the project is called by its name there.
            if not self._compare(held, "secrets", self.secrets) and own and info.size:
                self.found["secrets"] |= {name} if holds_secret(name, "") else set()

    def read_layers(self, tar: tarfile.TarFile) -> None:
        """Look for secrets in all layers of the image: what a later one removes is still in it."""
        for info in tar:
            if info.isreg() and not info.name.endswith(".json"):
                held = tar.extractfile(info)
                try:
                    with tarfile.open(fileobj=held, mode="r|*") as layer:
                        for one in layer:
                            if one.isreg() and one.size in self._sizes:
                                self._compare(_held(layer, one), "secrets", self.secrets)
                except tarfile.ReadError:
                    continue

    def _compare(self, held: bytes, kind: str, among: Mapping[str, bytes]) -> bool:
        """Note which file of the project this is, and return whether it is one."""
        same = {path for path, text in among.items() if text == held}
        self.found[kind] |= same
        return bool(same)

    def seen(self) -> dict[str, Any]:
        """Return what is missing, and what should not be there."""
        wanted, paths = self.wanted, [f"/{name}" for name in self.names]
        held, added = self._installed()
        packages = held | added
        unmet = [
            any_of[0]
            for any_of, parts in wanted["needs"]
            if not packages & set(any_of) and not self._is_copied(parts)
        ]
        asked = {name for any_of, _ in wanted["needs"] for name in any_of} | {*wanted["allowed"]}
        counts = wanted["allowed"] != ANY
        shells = {name for name in self.names if _SHELLS.fullmatch(name)} - {*wanted["shells"]}
        lacking = [one for one in wanted["files"] if not any(is_at(path, one) for path in paths)]
        # A file of the build context is found by its content; a path begins with / or */.
        left = {one for one in wanted["unneeded"] if any(is_at(path, one) for path in paths)}
        found = {**self.found, "left": left | self.found["left"]}
        return {
            "lacks": _few(map(named, lacking)),
            "needs": sorted(unmet),
            "needless": _few(added - held - asked) if counts else [],
            "breaks": sorted({named(one["path"]) for one in self._rules if not self._obeyed(one)}),
            "shells": [] if wanted["shell_needed"] else _few(shells),
            **{kind: _few(names) for kind, names in found.items()},
        }

    def _is_copied(self, parts: Iterable[str]) -> bool:
        """Return whether a file was copied whose path contains one of some texts."""
        found = {name for name in self.names for part in parts if part in f"/{name}"}
        return bool(found) and not found <= self.base()

    def _installed(self) -> tuple[set[str], set[str]]:
        """Return the packages of which all is there: those that the base image has, and those that a step added."""
        if self.packages is None:
            # Real images list their own beside those that a step added.
            texts = [self.texts.get(name, "") for name in _DATABASES]
            return {one for text in texts for one in self._listed(text)}, set()
        found = []
        for folder in _NOTES:
            names = {path.removeprefix(folder) for path in self._digests if path.startswith(folder)}
            found.append({name for name in names if self._is_whole(name, folder)})
        return found[0], found[1]

    def _is_whole(self, name: str, folder: str) -> bool:
        """Return whether a package's note and files are there, as the stand-in wrote them."""
        files = (self.packages or {}).get(name, {})
        files = {**files, f"{folder}{name}": digest_of(f"{name}\n".encode())}
        return all(self._digests.get(path) == digest for path, digest in files.items())

    def _listed(self, database: str) -> Iterator[str]:
        """Yield the packages of a database whose files are there; one without files counts for nothing."""
        for entry in database.split("\n\n"):
            name, folder, files = "", "", []
            for key, _, value in (line.partition(":") for line in entry.splitlines()):
                if key == "P":
                    name = value
                elif key == "F":
                    folder = value
                elif key == "R":
                    files.append(f"{folder}/{value}".lstrip("/"))
            if name and files and self.names.issuperset(files):
                yield name

    def _obeyed(self, rule: Mapping[str, Any]) -> bool:
        """Return whether a file that may be at a place says what it must; one that is not there says nothing."""
        texts = [held for name, held in self.texts.items() if is_at(f"/{name}", rule["path"])]
        return any(_obeys(text, rule) for text in texts or [""])


def _obeys(text: str, rule: Mapping[str, Any]) -> bool:
    if not rule["comments"]:
        text = re.sub(r"(?m)(?:^|\s)#.*$", "", text)
    found = all(re.search(pattern, text) for pattern in rule["must"])
    return found and not any(re.search(pattern, text) for pattern in rule["must_not"])


def holds_secret(path: str, text: str) -> bool:
    """Return whether a file holds a secret, by its name or its text."""
    name = posixpath.basename(path)
    named = secrets.SECRET_FILE.fullmatch(name) and not secrets.EXAMPLE.fullmatch(name)
    return bool(named or secrets.SECRET_TEXT.search(text))


def _held(tar: tarfile.TarFile, info: tarfile.TarInfo) -> bytes:
    found = tar.extractfile(info)
    return found.read() if found else b""


def _few(names: Iterable[str]) -> list[str]:
    return sorted(names)[:MOST]
