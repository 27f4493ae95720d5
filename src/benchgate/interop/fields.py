"""Which fields of a row say what: those that somebody named, else those of the format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from benchgate.interop.asked import role_of_harm
from benchgate.interop.log import found_in
from benchgate.interop.roles import ROLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.interop.asked import Asked
    from benchgate.interop.log import Log

MAY_LACK: Final = ("score", "error", "reruns", "answer")
"""Roles whose field a sample need not have."""


class Fields:
    """
    The fields of each role in the rows of a log, and which of them were seen.

    Where the scores of a row are in a field of their own, one may be named without it: ``Right`` is ``scores.Right``.

    :param metric: the score that somebody named.
    :ivar named: by role, the field that somebody named.
    :ivar harm: the role that says how bad a sample was.
    :ivar must_have: roles that every sample must have.
    :ivar score: the field that is the score; ``None`` until one is named or chosen.
    :raises EvalError: two of what was named cannot both be.
    """

    def __init__(self, log: Log, how: Asked, metric: str | None) -> None:
        self._prefix = log.metric_prefix
        self._patterns = how.patterns
        self.named = dict(how.fields)
        self.harm = role_of_harm(self.named, metric)
        self._sources = dict.fromkeys(self.named, how.source)
        if metric is not None:
            self.named["score"] = self._prefix + metric
            self._sources["score"] = "--metric"
        self.score = self.named.get("score")
        # A test that was not repeated has no number in its name, and a name that is a case as it is has nothing to cut.
        self.must_have = self.named.keys() - {*MAY_LACK} - ({"case", "trial"} & how.patterns.keys())
        self._of = dict(log.layout.fields)
        for role, name in self.named.items():
            self._of[role] = (name, self._prefix + name)
        for role in how.without:
            self._of[role] = ()
        self._seen: set[tuple[str, str]] = set()

    def of(self, role: str) -> tuple[str, ...]:
        """Return the fields of a role; of several a row has one."""
        return self._of.get(role, ())

    def choose(self, score: str) -> None:
        """Take a field as the score, where nobody named one."""
        self.score = score
        self._of["score"] = (score,)

    def value(self, row: dict[str, Any], role: str) -> Any:
        """Return what a row has in a role; ``None`` if it has nothing."""
        for name in self._of.get(role, ()):
            value = found_in(row, name)
            # An object or a list is no text to search.
            if role in self._patterns and not isinstance(value, (dict, list, type(None))):
                value = self._patterns[role].part_of(str(value))
            if value is not None:
                self._seen.add((role, name))
                return value
        return None

    def is_seen(self, role: str) -> bool:
        """Say whether a row had something in a role."""
        return any((role, name) in self._seen for name in self.of(role))

    def short(self, metric: str | None) -> str:
        """Return a field as a person knows it: a score without the field that all scores are in."""
        return (metric or "").removeprefix(self._prefix)

    def shown(self, role: str, name: str) -> str:
        """Return a field as --map would write it."""
        if role in self._patterns:
            return f"{self.short(name)}~{self._patterns[role].text}"
        return self.short(name)

    def read(self) -> Iterator[tuple[str, str, str | None]]:
        """Yield the roles that a row had something in, the fields, and who said so, if not the format."""
        for role in ROLES:
            seen = [self.shown(role, name) for name in self.of(role) if (role, name) in self._seen]
            if seen:
                yield role, "/".join(dict.fromkeys(seen)), self._sources.get(role)
