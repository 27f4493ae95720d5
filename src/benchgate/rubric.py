"""The interface of a rubric."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.models import BenchCase, BenchScore


@runtime_checkable
class Rubric(Protocol):
    """
    Scores what a system under test produced for one case.

    A rubric reports facts; the taxonomy gives their severity, the gate decides. It is built once per session, without
    arguments. To be reproducible it keeps no state between cases and gives the same score for the same input, in any
    order and in any process. It scores the files that a system wrote, never what the system claims about them.
    """

    def score(self, case: BenchCase, harness_output: Mapping[str, Any], /) -> BenchScore:
        """
        Score one output.

        :param case: the whole case, ``expected_path`` included; it cannot be changed.
        :param harness_output: what the system returned, as plain JSON values.
        :returns: a :class:`~benchgate.BenchScore`; a subclass of it is refused.
        :raises Exception: any; recorded as ``rubric_error``. The other cases still run, but the run is incomplete.
        """
        ...
