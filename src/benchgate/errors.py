"""
All errors that benchgate raises on purpose; catch :class:`EvalError` for any of them.

Programs should read the attributes. The message is for people; if the place is known, it starts with ``path:line``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

MAX_PROBLEMS: Final = 20
MAX_MESSAGE: Final = 2000
"""Most problems that a message lists, and its most characters: a file may have any number of faults of any length."""

LONGEST_NAME: Final = 60
"""Most characters of a name in a list."""


def excerpt(text: str, limit: int = MAX_MESSAGE) -> str:
    """Return a text, cut if it is longer than ``limit`` characters."""
    if len(text) <= limit:
        return text
    return f"{text[: limit - 1]}…"


def counted(count: int, noun: str) -> str:
    """Return a number with its noun: ``1 case``, ``2 cases``."""
    if count == 1:
        return f"{count} {noun}"
    return f"{count} {noun}s"


def listed(name: str) -> str:
    """
    Return a name as lists have it: of a long one beginning and end, for ids of tests differ at their end.

    Whoever needs the whole finds it in the record.
    """
    if len(name) <= LONGEST_NAME:
        return name
    half = (LONGEST_NAME - 1) // 2
    return f"{name[:half]}…{name[-(LONGEST_NAME - 1 - half) :]}"


def near(name: str, known: Iterable[str]) -> str:
    """Return the known name that was meant, as a part of a message; empty if none is like it, or it is one."""
    from difflib import get_close_matches

    names = [*known]
    # To compare long texts takes long, and no name is that long.
    found = get_close_matches(name[: 2 * LONGEST_NAME], names, n=1)
    if not found or name in names:
        return ""
    return f"did you mean {found[0]!r}? "


def few(names: Iterable[str], most: int = 5) -> str:
    """Return the first names in their order, and how many more there are."""
    ordered = sorted({*names})
    text = ", ".join(map(listed, ordered[:most]))
    if len(ordered) > most:
        text += f" and {len(ordered) - most} more"
    return text


def bounded(problems: Iterable[str], joint: str = "\n") -> list[str]:
    """Return as many of the first problems as a message may have, each cut if it is too long."""
    room = MAX_MESSAGE - 250  # for the count, and for the path that the message may begin with
    shown: list[str] = []
    for problem in problems:
        room -= len(joint) + len(problem)
        if len(shown) == MAX_PROBLEMS or (room < 0 and shown):
            break
        shown.append(excerpt(problem, MAX_MESSAGE - 250))
    return shown


def brief(problems: Iterable[str], joint: str = "\n") -> str:
    """Join problems into one text: as many of the first ones as a message may have; the rest is counted."""
    every = list(problems)
    shown = bounded(every, joint)
    more = len(every) - len(shown)
    if more:
        shown.append(f"... and {more} more")
    return joint.join(shown)


def printable(text: object, keep: str = "") -> str:
    """
    Return text with an escape, such as that of ``repr``, for whatever is not plainly visible.

    For every place where text of a system, a rubric or a file reaches a terminal, a log or a report: control and format
    characters could paint over what stands there, or forge a line.

    :param keep: characters that stay as they are, such as the newlines of a text that has lines by design.
    """
    shown = str(text)
    if shown.isprintable():
        return shown
    return "".join(
        c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in shown
    )


class EvalError(Exception):
    """
    Base class of all errors of benchgate.

    Its message is one line of plainly visible text, cut at :data:`MAX_MESSAGE` characters.
    """

    _keep: ClassVar[str] = ""

    def __init__(self, message: str = "", *arguments: Any) -> None:
        super().__init__(excerpt(message), *arguments)

    def __str__(self) -> str:
        # Not super(): that of KeyError, a base of two errors, is the repr of the message.
        return excerpt(printable(Exception.__str__(self), self._keep))


class TaskClassAlreadyRegistered(EvalError):
    """Two rubric classes claim one task class name or one package slug."""

    def __init__(self, name: str, existing: str, rejected: str) -> None:
        self.name = name
        self.existing = existing
        self.rejected = rejected
        super().__init__(
            f"task class {name!r} is registered twice: by {existing} and by {rejected}; "
            "names must differ, also after '-' is read as '_'"
        )


class TaskClassNotFound(EvalError, KeyError):
    """No task class has that name; :attr:`known` lists the registered names."""

    def __init__(self, name: str, known: Iterable[str], expected_path: Path | None = None) -> None:
        self.name = name
        self.known = tuple(sorted(known))
        self.expected_path = expected_path
        where = ""
        if expected_path is not None:
            where = f"; expected {expected_path}"
        names = ", ".join(self.known) or "none"
        super().__init__(
            f"unknown task class {name!r}{where}; {near(name, self.known)}known: {names}"
        )


class SystemNotFound(EvalError, KeyError):
    """The system under test cannot be found; :attr:`known` lists the registered names."""

    def __init__(self, name: str | None, known: Iterable[str], reason: str) -> None:
        self.name = name
        self.known = tuple(sorted(known))
        self.reason = reason
        if name in self.known:  # it is there, and something else is wrong
            super().__init__(reason)
            return
        meant = near(name or "", self.known)
        super().__init__(f"{reason}; {meant}known systems: {', '.join(self.known) or 'none'}")


class CassetteNotFound(EvalError, KeyError):
    """Nothing was recorded by that name of this trial of a case."""

    def __init__(self, name: str, case_id: str, trial: int) -> None:
        self.name = name
        self.case_id = case_id
        self.trial = trial
        super().__init__(
            f"there is no cassette {name!r} of trial {trial} of case {case_id!r}: neither the table [cassettes.{name}] "
            f"in its case.toml nor a file in cassettes/{name}/ of the class; --bench-record={name} makes one"
        )


Fault = tuple[int, str, str]
"""A fault in a file: its 1-based line (0 if unknown), its key (may be empty) and a message."""


def _located(path: Path | str, line: int, key: str, message: str) -> str:
    """Return a fault with its place, as far as that is known: ``path:line: key: message``."""
    where = str(path)
    if line:
        where += f":{line}"
    if key:
        return f"{where}: {key}: {message}"
    return f"{where}: {message}"


class LocatedError(EvalError):
    """
    A file or an option that a person wrote and that cannot be used.

    It lists all faults with their lines, so that the person can correct them at once.

    :param path: the file; for options, their name in messages.
    :param faults: all faults, or a single message.
    :param line: line of the single message; 0 if unknown.
    """

    _keep = "\n"

    def __init__(self, path: Path | str, faults: Iterable[Fault] | str, *, line: int = 0) -> None:
        self.path = path
        if isinstance(faults, str):
            faults = [(line, "", faults)]
        self.faults = tuple(faults)
        super().__init__(self.describe(path))

    def describe(self, path: Path | str) -> str:
        """Return a line for each of the first faults, each starting with ``path``; a relative one gives short lines."""
        return brief(printable(_located(path, *fault)) for fault in self.faults)


class RegistrationError(LocatedError):
    """A ``registration.py``, ``rubric.py`` or ``failure_modes.toml`` that cannot be used."""


class BenchCaseLoadError(LocatedError):
    """A case that cannot be loaded; the file is usually its ``case.toml``."""


class ClassLoadError(EvalError):
    """A task class with faults in more than one file; :attr:`errors` has one error for each file."""

    _keep = "\n"

    def __init__(self, errors: Iterable[EvalError]) -> None:
        self.errors = tuple(errors)
        super().__init__(brief(map(str, self.errors)))


class RubricViolation(EvalError):
    """A rubric returned something else than a valid :class:`~benchgate.BenchScore`."""

    def __init__(self, task_class: str, case_id: str, message: str) -> None:
        self.task_class = task_class
        self.case_id = case_id
        self.message = message
        super().__init__(f"rubric of {task_class!r} on case {case_id!r}: {message}")


class PromotionGateError(EvalError):
    """A gate cannot judge what it was given, or its settings are wrong."""


class PolicyError(LocatedError, PromotionGateError):
    """A gate policy, in a ``gate.toml`` or in options, with an unknown key or a value out of range."""


class TierFileError(LocatedError, PromotionGateError):
    """The file of trust tiers is missing or malformed."""


class PromotionMustBeHumanAuthorized(PromotionGateError):
    """Code asked benchgate to promote; only a person does that, by editing :attr:`tier_file`."""

    _keep = "\n"

    def __init__(self, task_class: str, target_tier: str, tier_file: str, lines: str) -> None:
        self.task_class = task_class
        self.target_tier = target_tier
        self.tier_file = tier_file
        self.lines = lines
        super().__init__(
            f"no program promotes {task_class} to {target_tier}: a person reads the evidence, merges these lines "
            f"into {tier_file} and has the commit reviewed by its owners:\n{lines}"
        )


class ArtifactError(EvalError):
    """An artifact that cannot be read or written, or whose content is not valid."""

    def __init__(self, path: Path | str, message: str) -> None:
        self.path = path
        self.message = excerpt(message)
        super().__init__(f"{path}: {message}")


class Unreadable(ArtifactError):
    """
    A file that cannot be read or parsed; :attr:`why` is the cause, on one line.

    :param missing: the file does not exist.
    """

    def __init__(self, path: Path | str, why: str, *, missing: bool = False) -> None:
        self.why = excerpt(why)
        self.missing = missing
        super().__init__(path, why)


class PlanChanged(ArtifactError):
    """
    A run that cannot be resumed or replayed, for it would be another one now.

    :attr:`changes` has a line for each difference.
    """

    _keep = "\n"

    def __init__(self, path: Path, changes: Iterable[str], how: str = "resumed") -> None:
        self.changes = tuple(changes)
        lines = brief(f"  {printable(change)}" for change in self.changes)
        super().__init__(path, f"cannot be {how}; this has changed since:\n{lines}")


class SampleError(EvalError):
    """A file of sample values that cannot be used; :attr:`line` is 1-based, 0 if unknown."""

    def __init__(self, path: Path, message: str, *, line: int = 0) -> None:
        self.path = path
        self.message = message
        self.line = line
        super().__init__(_located(path, line, "", message))


class SystemUnavailable(EvalError):
    """
    Raised by a system under test or a rubric: what it depends on failed, such as a provider, and not the system itself.

    The trial is tried again, and if that does not help it is ``unavailable``: not score 0, but a run that is incomplete
    until it is resumed. Raised by a rubric, nothing is tried again; the recorded output is scored when it is resumed.

    :param retry_after: seconds that the service asked to wait.
    """

    def __init__(self, message: str = "", *, retry_after: float | None = None) -> None:
        self.retry_after = retry_after
        super().__init__(message)
