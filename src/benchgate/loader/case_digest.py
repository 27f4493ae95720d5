"""What a case is, as a digest: the same case has the same one, wherever it lies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.wire.canonical import digest
from benchgate.wire.files import tree_digest

if TYPE_CHECKING:
    from benchgate.models import BenchCase


def files_digest(case: BenchCase) -> tuple[str, str | None]:
    """
    Return the digests of a case's input and expected files.

    :raises Unreadable: a file has become unreadable or is no regular file.
    """
    expected = tree_digest(case.expected_path) if case.expected_path else None
    return tree_digest(case.input_path), expected


def case_digest(case: BenchCase, files: tuple[str, str | None]) -> str:
    """
    Return the SHA-256 of what a case is: ``[case]`` without its two dates, ``[facts]``, input and expected bytes.

    Cassettes belong to a system and are digested apart.
    """
    dated = {"added_at", "last_validated_at"}
    placed = {"input_path", "expected_path", "work_path", "cassettes", "trial", "seed"}
    facts = case.model_dump(mode="json", exclude=dated | placed)
    return digest({"case": facts, "input": files[0], "expected": files[1]})
