"""The contract of a rubric."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.models import BenchCase, BenchScore


@runtime_checkable
class Rubric(Protocol):
    """
    Scores what a system under test produced for one case.

    A rubric reports facts. It is built without arguments once a session, holds no state between cases, reads
    files rather than claims, and gives the same score for the same input, in any order and in any process.
    """

    def score(self, case: BenchCase, harness_output: Mapping[str, Any], /) -> BenchScore:
        """
        Score one output.

        :param case: the whole case, ``expected_path`` included; it cannot be changed.
        :param harness_output: a plain JSON copy of what the system returned.
        :returns: a :class:`~benchgate.BenchScore`, that very type.
        :raises Exception: recorded as ``rubric_error``; the other cases run, the run is incomplete.
        """
        ...
