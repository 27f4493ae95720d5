"""What a system is made of, for its digest."""

from __future__ import annotations

import hashlib
from pathlib import Path

_SYSTEMS = Path(__file__).parent
_SHARED = ("flags.py", "lockfile.py", "metadata.py", "overrides.py", "project.py", "semver.py")


def sources_digest() -> str:
    """Return the SHA-256 over this folder's modules and the class's modules that they share."""
    files = [*_SYSTEMS.glob("*.py"), *(_SYSTEMS.parent / name for name in _SHARED)]
    digest = hashlib.sha256()
    for path in sorted(files):
        body = path.read_bytes()
        name = path.relative_to(_SYSTEMS.parent).as_posix()
        digest.update(f"{name}\0{len(body)}\0".encode())
        digest.update(body)
    return digest.hexdigest()
