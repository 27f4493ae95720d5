"""The digest of the modules that a system is made of."""

from __future__ import annotations

import hashlib
from pathlib import Path

_SYSTEMS = Path(__file__).parent
_SHARED = ("dockerfile/*.py", "observers/standins/facts.py", "project.py")


def sources_digest(*modules: str) -> str:
    """
    Return the SHA-256 over modules of this folder.

    :param modules: file names; by default all, with what they share with the rubric and the observer.
    """
    shared = [path for name in _SHARED for path in _SYSTEMS.parent.glob(name)]
    files = [_SYSTEMS / name for name in modules] or [*_SYSTEMS.glob("*.py"), *shared]
    digest = hashlib.sha256()
    for path in sorted(files):
        body = path.read_bytes()
        name = path.relative_to(_SYSTEMS.parent).as_posix()
        digest.update(f"{name}\0{len(body)}\0".encode())
        digest.update(body)
    return digest.hexdigest()
