"""
The errors of benchgate; all that it raises on purpose are in this tree.

::

    EvalError
    +-- TaskClassAlreadyRegistered
    +-- TaskClassNotFound (also a KeyError)
    +-- SystemNotFound (also a KeyError)
    +-- LocatedError
    |   +-- RegistrationError
    |   +-- BenchCaseLoadError
    |   +-- PolicyError (also a PromotionGateError)
    |   +-- TierFileError (also a PromotionGateError)
    +-- ClassLoadError
    +-- RubricViolation
    +-- PromotionGateError
    |   +-- PromotionMustBeHumanAuthorized
    +-- ArtifactError
    |   +-- Unreadable
    +-- SampleError

Programs read the attributes; the text is for people and starts with ``path:line`` where there is one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class EvalError(Exception):
    """Root of the errors of benchgate."""


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
    """No task class of that name; :attr:`known` lists those there are."""

    def __init__(self, name: str, known: Iterable[str], expected_path: Path | None = None) -> None:
        self.name = name
        self.known = tuple(sorted(known))
        self.expected_path = expected_path
        where = f"; expected {expected_path}" if expected_path else ""
        super().__init__(
            f"unknown task class {name!r}{where}; known: {', '.join(self.known) or 'none'}"
        )

    __str__ = Exception.__str__  # KeyError would print the repr of the message


class SystemNotFound(EvalError, KeyError):
    """The system under test cannot be found; :attr:`known` lists the registered names."""

    def __init__(self, name: str | None, known: Iterable[str], reason: str) -> None:
        self.name = name
        self.known = tuple(sorted(known))
        self.reason = reason
        super().__init__(f"{reason}; known systems: {', '.join(self.known) or 'none'}")

    __str__ = Exception.__str__


Fault = tuple[int, str, str]
"""One thing wrong in a file: its 1-based line (0 if unknown), its key (may be empty), and what is wrong."""


class LocatedError(EvalError):
    """
    Something that a person wrote, usually a file, and that cannot be used.

    :param path: the file; for options, what they are called.
    :param faults: everything that is wrong, or one message.
    :param line: of that one message; 0 if unknown.
    """

    def __init__(self, path: Path | str, faults: Iterable[Fault] | str, *, line: int = 0) -> None:
        self.path = path
        self.faults = ((line, "", faults),) if isinstance(faults, str) else tuple(faults)
        super().__init__(self.describe(path))

    def describe(self, path: Path | str) -> str:
        """Return one line for each fault, with the file written as ``path``."""
        return "\n".join(
            f"{path}{f':{line}' if line else ''}: {f'{key}: ' if key else ''}{message}"
            for line, key, message in self.faults
        )


class RegistrationError(LocatedError):
    """A ``registration.py``, a rubric or its failure modes that cannot be used."""


class BenchCaseLoadError(LocatedError):
    """A case that cannot be loaded; its file is usually the ``case.toml``."""


class ClassLoadError(EvalError):
    """A task class with faults in several files; :attr:`errors` has one error for each file."""

    def __init__(self, errors: Iterable[EvalError]) -> None:
        self.errors = tuple(errors)
        super().__init__("\n".join(map(str, self.errors)))


class RubricViolation(EvalError):
    """A rubric returned something that is no valid :class:`~benchgate.BenchScore`."""

    def __init__(self, task_class: str, case_id: str, message: str) -> None:
        self.task_class = task_class
        self.case_id = case_id
        self.message = message
        super().__init__(f"rubric of {task_class!r} on case {case_id!r}: {message}")


class PromotionGateError(EvalError):
    """A gate was asked for something it cannot do, or its settings are wrong."""


class PolicyError(LocatedError, PromotionGateError):
    """A gate policy, from a ``gate.toml`` or from options, with an unknown key or a value out of range."""


class TierFileError(LocatedError, PromotionGateError):
    """A file of trust tiers that is missing or malformed."""


class PromotionMustBeHumanAuthorized(PromotionGateError):
    """Something asked the harness to promote; only a person does, by editing :attr:`tier_file`."""

    def __init__(self, task_class: str, target_tier: str, tier_file: str, lines: str) -> None:
        self.task_class = task_class
        self.target_tier = target_tier
        self.tier_file = tier_file
        self.lines = lines
        super().__init__(
            f"{task_class} is not made {target_tier} by a program: a person reads the evidence, merges these lines "
            f"into {tier_file} and has the commit reviewed by its owners:\n{lines}"
        )


class ArtifactError(EvalError):
    """An artifact that cannot be read, written, or does not hold what it claims."""

    def __init__(self, path: Path | str, message: str) -> None:
        self.path = path
        self.message = message
        super().__init__(f"{path}: {message}")


class Unreadable(ArtifactError):
    """
    A file that cannot be read, or does not hold what was expected; :attr:`why` says so on one line.

    :param missing: there is no such file.
    """

    def __init__(self, path: Path | str, why: str, *, missing: bool = False) -> None:
        self.why = why
        self.missing = missing
        super().__init__(path, why)


class SampleError(EvalError):
    """A file of sample values that cannot be used; :attr:`line` is 1-based, 0 if there is none."""

    def __init__(self, path: Path, message: str, *, line: int = 0) -> None:
        self.path = path
        self.message = message
        self.line = line
        super().__init__(f"{path}{f':{line}' if line else ''}: {message}")
