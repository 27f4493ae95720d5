"""What calls of models cost: reported by a system, added up by trial and by run."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field, ValidationError

from benchgate.wire.limits import MAX_SAFE_INTEGER
from benchgate.wire.model import EXACT, Count, DisplayText, WireModel
from benchgate.wire.parsing import first_fault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MAX_COST: Final = 1e12
"""US dollars; sums stop there, and those of tokens and calls at 2**53 - 1, so that no sum makes a run unreadable."""


def usd(amount: float) -> str:
    """Return an amount of US dollars as text; small ones with more digits, for a call may cost far less than a cent."""
    digits = 6
    if amount == 0 or amount >= 0.01:
        digits = 4
    return f"${amount:.{digits}f}"


class Usage(WireModel):
    """
    What a trial or a run used: cost, tokens, calls. ``None`` means not reported, which is not 0.

    :param cost_usd: in US dollars.
    :param model: its name; several are sorted, with a comma between them.
    """

    cost_usd: Annotated[float, Field(ge=0, le=MAX_COST), EXACT] | None = None
    tokens_in: Count | None = None
    tokens_out: Count | None = None
    calls: Count | None = None
    model: DisplayText | None = None

    @classmethod
    def of(cls, values: Any) -> Usage:
        """
        Read what a system reports.

        :raises ValueError: no mapping of these fields, on one line.
        """
        try:
            return cls.model_validate(dict(values) if isinstance(values, Mapping) else values)
        except ValidationError as error:
            msg = (
                f"usage: {first_fault(error)}; expected a mapping of {', '.join(cls.model_fields)}"
            )
            raise ValueError(msg) from None


def total(parts: Iterable[Usage | None]) -> Usage | None:
    """Return the sum of what was reported; ``None`` if nothing was."""
    usages = [part for part in parts if part is not None]
    if not usages:
        return None
    names: set[str] = set()
    for part in usages:
        if part.model:
            names.update(part.model.split(", "))
    return Usage(
        cost_usd=_cost(part.cost_usd for part in usages),
        tokens_in=_sum(part.tokens_in for part in usages),
        tokens_out=_sum(part.tokens_out for part in usages),
        calls=_sum(part.calls for part in usages),
        model=", ".join(sorted(names)) or None,
    )


def _cost(costs: Iterable[float | None]) -> float | None:
    known = [cost for cost in costs if cost is not None]
    if not known:
        return None
    return min(math.fsum(known), MAX_COST)


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    if not known:
        return None
    return min(sum(known), MAX_SAFE_INTEGER)


class UsageMeter:
    """Adds up what one trial uses, from any of its threads. All meters are equal: no case differs by its meter."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._total: Usage | None = None
        # At once: a trial that is killed has paid too.
        self.told: Callable[[Usage], None] | None = None

    def add(
        self,
        *,
        cost_usd: float | None = None,
        tokens_in: int | None = None,
        tokens_out: int | None = None,
        calls: int | None = 1,
        model: str | None = None,
    ) -> None:
        """
        Add what was used since the last time; what is left out is not known. It counts also if the trial fails later.

        :param cost_usd: in US dollars.
        :raises ValueError: a number is negative or not finite, or of another type.
        """
        used = {
            "cost_usd": cost_usd,
            "tokens_in": tokens_in,
            "tokens_out": tokens_out,
            "calls": calls,
            "model": model,
        }
        self.include(Usage.of(used))

    def include(self, usage: Usage) -> None:
        """Add a usage."""
        with self._lock:
            self._total = total((self._total, usage))
        if self.told is not None:
            self.told(usage)

    def total(self) -> Usage | None:
        """Return all that was added; ``None`` if nothing was."""
        return self._total

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UsageMeter)

    def __hash__(self) -> int:
        return hash(UsageMeter)
