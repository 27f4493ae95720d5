"""``benchgate verify FILE...``: single artifacts, and files of RL payload bundles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.cli.say import complain, say

if TYPE_CHECKING:
    from pathlib import Path


def verify_files(paths: list[Path]) -> int:
    """Check each file; 1 if one is invalid, 2 if one cannot be read."""
    from benchgate.errors import ArtifactError, Unreadable
    from benchgate.verify.validate import validate_file

    status = 0
    for path in paths:
        try:
            if (bundle := _bundle_status(path)) is not None:
                status = max(status, bundle)
                continue
            say(f"{path}: valid {validate_file(path)}")
        except ArtifactError as error:
            complain(error)
            status = max(status, 2 if isinstance(error, Unreadable) else 1)
    return status


def _bundle_status(path: Path) -> int | None:
    """Check a file of RL payload bundles; ``None`` if the file is something else."""
    from benchgate.training_types import validate_payload_file
    from benchgate.verify.validate import is_payload_file

    if not is_payload_file(path):
        return None
    errors = validate_payload_file(path)
    for line, error in errors:
        complain(f"{path}:{line}: {error}")
    if not errors:
        say(f"{path}: valid RL payload bundles")
    return 1 if errors else 0
