"""The digest of a case: made from its content only, so that it is the same on every machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchgate.models.case import CURATED
from benchgate.wire.canonical import digest
from benchgate.wire.files import tree_digest

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.models import BenchCase

_PLACED: Final = {"input_path", "expected_path", "cassettes"}
_OF_A_TRIAL: Final = {"work_path", "checkpoint", "served", "trial", "seed", "observation"}
NO_TASK: Final = _PLACED | _OF_A_TRIAL | CURATED.keys()
"""The fields of a case that its digest does not cover."""


def files_digest(
    case: BenchCase, on_input: Callable[[str, bytes], object] = lambda *_: None
) -> tuple[str, str | None]:
    """
    Return the digests of a case's input and expected files.

    :param on_input: called with the name and each part of an input file, as it is read.
    :raises Unreadable: a file cannot be read or is no regular file.
    """
    expected = None
    if case.expected_path is not None:
        expected = tree_digest(case.expected_path)
    return tree_digest(case.input_path, on_input), expected


def case_digest(case: BenchCase, files: tuple[str, str | None]) -> str:
    """
    Return the SHA-256 of a case: ``[case]`` without what is in CURATED, ``[facts]``, input and expected bytes.

    That is its task: a baseline stays comparable when anything else changes. Cassettes belong to one system.
    """
    facts = case.model_dump(mode="json", exclude=NO_TASK)
    return digest({"case": facts, "input": files[0], "expected": files[1]})
