"""Task classes and the decorator that registers them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from benchgate.errors import (
    EvalError,
    SystemNotFound,
    TaskClassAlreadyRegistered,
    TaskClassNotFound,
)
from benchgate.rubric import Rubric

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic import BaseModel

    from benchgate.models import BenchCase

System = Callable[["BenchCase"], Mapping[str, Any]]
"""A system under test: a callable from case to output. It may also have ``name``, ``digest()`` and ``checkpoint``."""

SYSTEM_PATTERN: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")
"""How a system is named in a registration: ``module:attr``, the module relative to the folder of the class."""

RubricType = TypeVar("RubricType", bound=type)

MIN_CASES: Final = MappingProxyType({"bronze": 10, "silver": 10, "gold": 50, "platinum": 200})
"""Passed cases that each tier requires, unless the class sets its own numbers."""

TASK_CLASS_PATTERN: Final = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*")


def slug(name: str) -> str:
    """Return the package name of a task class: ``vuln-remediation`` becomes ``vuln_remediation``."""
    return name.replace("-", "_")


def returned(case: BenchCase) -> dict[str, Any]:
    """Return the input: the text of each file by its path as ``files``, all of them in one as ``answer``."""
    paths = [path for path in sorted(case.input_path.rglob("*")) if path.is_file()]
    texts = [path.read_bytes().decode(errors="replace") for path in paths]
    names = [path.relative_to(case.input_path).as_posix() for path in paths]
    return {"files": dict(zip(names, texts, strict=True)), "answer": "".join(texts)}


FLOORS: Final[Mapping[str, System]] = {"floor:empty": lambda _: {}, "floor:input": returned}
"""Systems of every class that do nothing: what they score, the class gives away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemEntry:
    """
    What a registration says of a system. The system itself is never asked for any of it.

    :param call: ``module:attr`` in the folder of the class, or the callable itself, which runs at level ``none`` only.
    :param checkpoint: the file that each trial is handed as a private copy; relative to the folder of the class.
    :param network: whether it may use the network at level ``sandbox``, and gets what its class serves at any.
    :param reads: further files and folders that it may read at that level; relative to the folder of the class.
    """

    call: System | str
    checkpoint: str | None = None
    network: bool = False
    reads: tuple[str, ...] = ()

    @classmethod
    def of(cls, given: object) -> SystemEntry:
        """
        Return the entry that a registration writes as a text, as a callable, or as a mapping with the fields above.

        :raises ValueError: says what is wrong with it.
        """
        fields: Mapping[Any, Any] = {"call": given}
        if isinstance(given, Mapping):
            fields = given
        if "call" not in fields:
            raise ValueError("has no 'call', which is the module:attr of the system")
        for key, value in fields.items():
            if key not in _ENTRY:
                raise ValueError(f"has the unknown key {key!r}; known: {', '.join(_ENTRY)}")
            is_right, expected = _ENTRY[key]
            if not is_right(value):
                raise ValueError(f"has {key} = {value!r}; expected {expected}")
        return cls(**{**fields, "reads": tuple(fields.get("reads", ()))})


def _is_call(value: object) -> bool:
    if isinstance(value, str):
        return SYSTEM_PATTERN.fullmatch(value) is not None
    return callable(value)


def _are_paths(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(path, str) for path in value)


_ENTRY: Final[Mapping[str, tuple[Callable[[object], bool], str]]] = {
    "call": (_is_call, "module:attr, such as 'systems.agent:current', or a callable"),
    "checkpoint": (lambda value: isinstance(value, str), "the path of a file as text"),
    "network": (lambda value: isinstance(value, bool), "True or False"),
    "reads": (_are_paths, "a list of paths as texts"),
}
"""The fields of an entry: whether a value may be in it, and what is expected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskClass:
    """
    A family of tasks that one rubric scores.

    :param bench_path: the folder ``bench/<class>``; ``None`` outside a bench.
    :param facts_model: validates the ``[facts]`` table of each case, if given.
    :param observe: what observes outputs, or its ``module:attr``; ``None``: the rubric has the output alone.
    :param serves: ``module:attr`` of what starts a server for the systems; ``None``: there is none.
    """

    name: str
    rubric_type: type
    bench_path: Path | None = None
    min_cases_for_promotion: Mapping[str, int] = field(default_factory=lambda: MIN_CASES)
    systems: Mapping[str, SystemEntry] = field(default_factory=lambda: MappingProxyType({}))
    default_system: str | None = None
    facts_model: type[BaseModel] | None = None
    observe: Callable[..., Any] | str | None = None
    serves: str | None = None

    @property
    def qualified_name(self) -> str:
        """Dotted name of the rubric class."""
        return f"{self.rubric_type.__module__}.{self.rubric_type.__qualname__}"

    def system(self, name: str | None = None) -> tuple[str, SystemEntry]:
        """
        Return name and entry of a registered system or a floor; without a name, of the class's default system.

        :raises SystemNotFound: no system has that name, or no name was given and there is no default.
        """
        chosen = name or self.default_system
        if chosen is None:
            reason = f"task class {self.name!r} has no default system: name one"
            raise SystemNotFound(None, self.systems, reason)
        systems = self.systems
        if chosen.startswith("floor:"):
            systems = {floor: SystemEntry(call=call) for floor, call in FLOORS.items()}
        if chosen not in systems:
            reason = f"task class {self.name!r} has no system {chosen!r}"
            raise SystemNotFound(chosen, systems, reason)
        return chosen, systems[chosen]


class TaskClassRegistry:
    """Task classes by name; each session has its own registry, so that two in one process do not mix."""

    def __init__(self) -> None:
        self._classes: dict[str, TaskClass] = {}

    def register(self, task_class: TaskClass) -> None:
        """
        Add a task class.

        :raises TaskClassAlreadyRegistered: its name or its slug is taken; the error names both rubrics.
        """
        for existing in self._classes.values():
            if slug(existing.name) == slug(task_class.name):
                raise TaskClassAlreadyRegistered(
                    task_class.name, existing.qualified_name, task_class.qualified_name
                )
        self._classes[task_class.name] = task_class

    def get(self, name: str) -> TaskClass:
        """
        Return the task class of that name.

        :raises TaskClassNotFound: no class has it; the error lists the known names.
        """
        try:
            return self._classes[name]
        except KeyError:
            raise TaskClassNotFound(name, self._classes) from None

    def __contains__(self, name: object) -> bool:
        return name in self._classes

    def __iter__(self) -> Iterator[TaskClass]:
        return iter(sorted(self._classes.values(), key=lambda task_class: task_class.name))

    def __len__(self) -> int:
        return len(self._classes)

    @contextmanager
    def receiving(self) -> Iterator[TaskClassRegistry]:
        """Make the decorator register here, instead of in the default registry, within the block."""
        token = _RECEIVER.set(self)
        try:
            yield self
        finally:
            _RECEIVER.reset(token)


default_registry: Final = TaskClassRegistry()
"""Where the decorator registers outside a session; within a session it uses the session's own registry."""

_RECEIVER: ContextVar[TaskClassRegistry] = ContextVar("receiver", default=default_registry)


def register_task_class(
    name: str,
    *,
    bench_path: Path | None = None,
    min_cases_for_promotion: Mapping[str, int] | None = None,
    systems: Mapping[str, System | str | Mapping[str, Any]] | None = None,
    default_system: str | None = None,
    facts_model: type[BaseModel] | None = None,
    observe: Callable[..., Any] | str | None = None,
    serves: str | None = None,
) -> Callable[[RubricType], RubricType]:
    """
    Register the decorated class as the rubric of a task class.

    Use it once in ``bench/<name>/registration.py``, with the name as a literal: ``benchgate check`` reads it from the
    source and imports nothing.

    :param name: lower-case words joined by ``-``; equals the folder's name.
    :param bench_path: the class's folder; leave it out, the loader sets it.
    :param min_cases_for_promotion: passed cases required per tier; tiers left out keep their default, which is 10 for
        bronze and silver, 50 for gold, 200 for platinum.
    :param systems: systems under test by name, each as the text ``module:attr``, the module relative to the folder of
        the class: ``systems.agent:current`` is ``current`` in ``systems/agent.py``. It is imported only where it runs;
        if it is a class, that is called once, without arguments, and the object that it returns is the system.
        Or a mapping of ``call``, which is that text, and of what it is granted: ``checkpoint``, ``network`` and
        ``reads``, see :class:`SystemEntry`. Or a callable, which runs at level ``none`` only.
    :param default_system: the one to run when none is named; may be left out if there is exactly one.
    :param facts_model: a pydantic model that the ``[facts]`` table of each case must satisfy.
    :param observe: asks the world about an output, such as a judge or a build does: takes the case and the output,
        and returns a mapping, which the rubric reads as ``case.observation``. It is in the class's ``observers/``; as
        text, ``observers.module:attr``, it is imported only where outputs are observed.
    :param serves: ``module:attr`` of a function without arguments that returns a context manager. A run enters it once;
        it starts a server on the loopback, such as a package registry, and gives its address. Below that each case has
        a path by its id, which a system that is granted ``network`` gets as ``case.served``.
    :raises EvalError: the name is not well-formed, the class is not a rubric, the default is not among the systems, or
        a number of cases is not valid.
    :raises TaskClassAlreadyRegistered: the name or its slug is taken.
    """
    by_name = dict(systems or {})
    default = default_system
    if not default and len(by_name) == 1:
        default = next(iter(by_name))

    def register(rubric_type: RubricType) -> RubricType:
        for fault in _faults(name, rubric_type, by_name, default, min_cases_for_promotion or {}):
            raise EvalError(f"task class {name!r}: {fault}")
        if serves is not None and not SYSTEM_PATTERN.fullmatch(serves):
            what = "expected module:attr, such as 'tools.registry:serve'"
            raise EvalError(f"task class {name!r}: serves={serves!r}; {what}")
        entries = {label: SystemEntry.of(system) for label, system in by_name.items()}
        _RECEIVER.get().register(
            TaskClass(
                name=name,
                rubric_type=rubric_type,
                bench_path=bench_path,
                min_cases_for_promotion=MappingProxyType(
                    {**MIN_CASES, **(min_cases_for_promotion or {})}
                ),
                systems=MappingProxyType(entries),
                default_system=default,
                facts_model=facts_model,
                observe=observe,
                serves=serves,
            )
        )
        return rubric_type

    return register


def min_cases_faults(min_cases: Mapping[Any, Any]) -> Iterator[str]:
    """Yield what is wrong with the numbers of cases that tiers require."""
    for tier, count in min_cases.items():
        if tier not in MIN_CASES:
            yield f"has the unknown tier {tier!r}"
        elif type(count) is not int or count < 1:  # not isinstance: True is an int
            yield f"has {count!r} for {tier!r}; expected a whole number, 1 or more"


def _faults(
    name: str,
    rubric_type: type,
    systems: Mapping[str, object],
    default: str | None,
    min_cases: Mapping[str, int],
) -> Iterator[str]:
    if not TASK_CLASS_PATTERN.fullmatch(name):
        yield "is no name; expected lower-case words joined by '-'"
    if not (isinstance(rubric_type, type) and issubclass(rubric_type, Rubric)):
        yield f"{rubric_type!r} is no rubric: it has no score() method"
    if default is not None and default not in systems:
        yield f"default system {default!r} is not one of {sorted(systems)}"
    for label, system in systems.items():
        if ":" in label:
            yield f"system {label!r} has a colon in its name, as a module:attr has"
        try:
            SystemEntry.of(system)
        except ValueError as fault:
            yield f"system {label!r} {fault}"
    yield from (f"min_cases_for_promotion {fault}" for fault in min_cases_faults(min_cases))
