"""Loads a task class with all that a session needs: rubric, taxonomy, policy, case folders, system."""

from __future__ import annotations

import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from inspect import iscoroutinefunction
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import (
    BenchCaseLoadError,
    ClassLoadError,
    EvalError,
    RegistrationError,
    SystemNotFound,
    TaskClassNotFound,
)
from benchgate.gates.policy import load_policy, load_run_table
from benchgate.loader.case_folder import folder_names, read_case, retired_cases, shown_name
from benchgate.loader.failure_modes import load_taxonomy
from benchgate.loader.observer import load_observer
from benchgate.loader.rubric_source import rubric_digest
from benchgate.loader.system_checkpoint import SystemCheckpoint
from benchgate.loader.task_class import load_task_class
from benchgate.wire.secrets import Masker

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from benchgate.gates.policy import GatePolicy
    from benchgate.gates.run_table import RunTable
    from benchgate.loader.observer import ClassObserver
    from benchgate.models import BenchCase, HandedCheckpoint
    from benchgate.registry import System, TaskClass, TaskClassRegistry
    from benchgate.rubric import Rubric
    from benchgate.taxonomy import Taxonomy

# Threads of a cluster's worker ask at once, and parsers of Python 3.11 fail beside each other.
_LOADING: Final = Lock()


def alone(systems: Iterable[NamedSystem], observer: ClassObserver | None) -> str | None:
    """Return a system, or the observer, of which no two calls may run at once; ``None`` if all may."""
    called = {f"system {one.name}": one.call for one in systems}
    if observer is not None:
        called[f"observer {observer.identity.name}"] = observer.call
    return next(
        (o for o, call in called.items() if getattr(call, "concurrency", "") == "none"), None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedSystem:
    """A system under test, by the name it is reported with, the digest it declares and the checkpoint it names."""

    name: str
    call: System
    digest: str | None
    checkpoint: SystemCheckpoint | None

    @property
    def concurrency(self) -> str:
        """How many of its trials may run at once: ``none`` beside another, ``async`` on an event loop, else ``any``."""
        if getattr(self.call, "concurrency", None) == "none":
            return "none"
        entries = (self.call, getattr(self.call, "__call__", None))  # noqa: B004 - an object may have an async one
        return "async" if any(map(iscoroutinefunction, entries)) else "any"

    @property
    def network(self) -> bool:
        """Whether its registration says that it needs the network."""
        return getattr(self.call, "network", False) is True

    def checkpoint_sha256(self) -> str | None:
        """Return the SHA-256 of the checkpoint, if the system names one; errors as in :class:`SystemCheckpoint`."""
        return self.checkpoint.sha256 if self.checkpoint else None

    def handed(self) -> HandedCheckpoint | None:
        """Return the checkpoint for the next trial, if the system names one; errors as in :class:`SystemCheckpoint`."""
        return self.checkpoint.handed() if self.checkpoint else None

    def close(self) -> None:
        """Remove the copy of the checkpoint."""
        if self.checkpoint is not None:
            self.checkpoint.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedClass:
    """
    A loaded task class: its rubric, taxonomy and policy, the folders of its cases, and why some are retired.

    Cases are read on demand, so that a malformed one fails alone and not its class.
    """

    task_class: TaskClass
    path: Path
    rubric: Rubric
    rubric_digest: str
    taxonomy: Taxonomy
    policy: GatePolicy
    run: RunTable
    folders: Mapping[str, str]
    retired: Mapping[str, str] = field(default_factory=dict)
    masker: Masker = field(default_factory=Masker, repr=False)
    _loaded: dict[str, tuple[BenchCase | BenchCaseLoadError, int]] = field(
        default_factory=dict, repr=False
    )
    _texts: dict[str, bytes] = field(default_factory=dict, repr=False)
    _observers: list[ClassObserver | None] = field(default_factory=list, repr=False)

    @property
    def name(self) -> str:
        """Name of the task class."""
        return self.task_class.name

    def observer(self) -> ClassObserver | None:
        """Return what observes its outputs, which is imported now; errors as in :func:`load_observer`."""
        with _LOADING:
            if not self._observers:
                found = load_observer(self.task_class, self.path, self.run.observations or 1)
                if found and (fault := _declaration_fault(found.call)):
                    raise EvalError(f"observer {found.identity.name!r}: {fault}")
                self._observers.append(found)
        return self._observers[0]

    def load(self, case_id: str) -> BenchCase:
        """
        Return one case. Its file is read once, so that plan, run and report see the same case.

        :raises BenchCaseLoadError: it is malformed, or its folder is gone.
        """
        if case_id not in self._loaded:
            self._loaded[case_id] = self._read(case_id)
        found, _ = self._loaded[case_id]
        if isinstance(found, BenchCaseLoadError):
            raise found
        return found

    def line(self, case_id: str) -> int:
        """Return the 1-based line of ``[case]`` in the file of a case that was read; 1 if it could not be read."""
        return self._loaded[case_id][1] if case_id in self._loaded else 1

    def _read(self, case_id: str) -> tuple[BenchCase | BenchCaseLoadError, int]:
        name = self.folders.get(case_id, case_id)
        folder, data = self.path / "cases" / name, self._texts.pop(name, None)
        try:
            facts_model = self.task_class.facts_model
            return read_case(folder, task_class=self.name, facts_model=facts_model, data=data)
        except BenchCaseLoadError as error:
            return error, 1
        except OSError as error:
            return BenchCaseLoadError(folder / "case.toml", str(error), line=1), 1


def load_class(
    bench_root: Path,
    name: str,
    registry: TaskClassRegistry,
    policy_options: Mapping[str, Any] | None = None,
) -> LoadedClass:
    """
    Load a task class of a bench. Call it within :func:`~benchgate.loader.imports.bench_package`.

    :raises TaskClassNotFound: there is no such class.
    :raises EvalError: a file cannot be used; for several files, one :class:`~benchgate.errors.ClassLoadError` with all.
    """
    path = bench_root / name
    errors: list[EvalError] = []
    with _collecting(errors):
        task_class = load_task_class(bench_root, name, registry)
        rubric = _build_rubric(task_class, path)
        digest = rubric_digest(path)
    with _collecting(errors):
        taxonomy = load_taxonomy(path)
    with _collecting(errors):
        policy, run = load_policy(path, policy_options), load_run_table(path)
    if errors:
        raise errors[0] if len(errors) == 1 else ClassLoadError(errors)
    texts: dict[str, bytes] = {}
    retired = retired_cases(path, texts)
    return LoadedClass(
        task_class=task_class,
        path=path,
        rubric=rubric,
        rubric_digest=digest,
        taxonomy=taxonomy,
        policy=policy,
        run=run,
        folders={shown_name(name): name for name in folder_names(path) if name not in retired},
        retired=retired,
        masker=Masker(run.pass_env or ()),
        _texts=texts,
    )


@contextmanager
def _collecting(errors: list[EvalError]) -> Iterator[None]:
    """Keep an error for later, so that one run reports what is wrong with every file of a class."""
    try:
        yield
    except TaskClassNotFound:  # there are no further files to check
        raise
    except EvalError as error:
        errors.append(error)


def _build_rubric(task_class: TaskClass, path: Path) -> Rubric:
    try:
        return task_class.rubric_type()  # type: ignore[no-any-return]
    except Exception as error:
        message = f"{task_class.qualified_name}() failed: {type(error).__name__}: {error}"
        raise RegistrationError(path / "registration.py", message) from error


def find_system(task_class: TaskClass, wanted: System | str | None) -> NamedSystem:
    """
    Return the system to run: a callable, a registered name, a floor, ``module:attr``, or by default the class's own.

    :raises SystemNotFound: it does not exist, cannot be imported or is not callable.
    """
    if not (wanted is None or isinstance(wanted, str)):
        label = getattr(wanted, "__qualname__", type(wanted).__name__)
        return named(str(getattr(wanted, "name", None) or label), wanted)
    if wanted is not None and ":" in wanted and not wanted.startswith("floor:"):
        return named(wanted, _import_system(wanted, task_class))
    name, system = task_class.system(wanted)
    return named(name, system)


def check_importable(task_class: TaskClass, system: NamedSystem, where: str) -> None:
    """Check that a system can be found by its name in another process; :raises EvalError: it cannot."""
    with suppress(EvalError):
        found = find_system(task_class, system.name).call
        if found is system.call and not system.name.startswith("conftest:"):
            return
    msg = f"system {system.name} cannot be found by a name {where}; register it, or name it as module:attr"
    raise EvalError(msg)


def named(name: str, system: System) -> NamedSystem:
    """
    Return a system with a name, with what its ``digest()`` returns, and the file that its ``checkpoint`` names.

    :raises EvalError: it raised when it was asked for them, or declares what no trial could act upon.
    """
    try:
        declare = getattr(system, "digest", None)
        declared = str(declare()) if callable(declare) else None
        # A Path only: systems have other things by that name, such as the id of a model that is served elsewhere.
        source = getattr(system, "checkpoint", None)
    except Exception as error:
        msg = f"system {name!r} has no digest or checkpoint to ask for: {type(error).__name__}: {error}"
        raise EvalError(msg) from error
    if fault := _declaration_fault(system):
        msg = f"system {name!r}: {fault}"
        raise EvalError(msg)
    return NamedSystem(
        name=name,
        call=system,
        digest=declared,
        checkpoint=SystemCheckpoint(source) if isinstance(source, Path) else None,
    )


def _declaration_fault(system: System) -> str | None:
    """Return what is wrong with how a system says that it runs alone, or which errors are not its own."""
    concurrency = getattr(system, "concurrency", None)
    if isinstance(concurrency, str) and concurrency != "none":
        return f"concurrency = {concurrency!r}; the one word that it may have is 'none'"
    declared = getattr(system, "unavailable", ())
    types = declared if isinstance(declared, tuple) else (declared,)
    if callable(declared) and not isinstance(declared, type):
        return None
    if not all(isinstance(one, type) and issubclass(one, BaseException) for one in types):
        return (
            f"unavailable = {declared!r}; expected exception types, or a function of the exception"
        )
    return None


def _import_system(wanted: str, task_class: TaskClass) -> System:
    module, _, attribute = wanted.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:  # as with python -m: modules of the working directory are found
        sys.path.insert(0, here)
    try:
        found: Any = import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a module may also call sys.exit
        reason = f"system {wanted!r} cannot be imported: {type(error).__name__}: {error}"
        raise SystemNotFound(wanted, task_class.systems, reason) from error
    if not callable(found):
        raise SystemNotFound(wanted, task_class.systems, f"system {wanted!r} is not callable")
    return found  # type: ignore[no-any-return]
