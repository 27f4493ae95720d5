"""Loads a task class with all that a session needs: rubric, taxonomy, policy, case folders, system."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import (
    BenchCaseLoadError,
    ClassLoadError,
    EvalError,
    RegistrationError,
    TaskClassNotFound,
)
from benchgate.gates.policy import load_policy, load_run_table
from benchgate.loader.case_folder import folder_names, read_case, retired_cases, shown_name
from benchgate.loader.failure_modes import load_taxonomy
from benchgate.loader.observer import load_observer
from benchgate.loader.rubric_source import rubric_digest
from benchgate.loader.systems import declaration_fault
from benchgate.loader.task_class import load_task_class
from benchgate.wire.secrets import Masker

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from benchgate.gates.policy import GatePolicy
    from benchgate.gates.run_table import RunTable
    from benchgate.loader.observer import ClassObserver
    from benchgate.loader.systems import NamedSystem
    from benchgate.models import BenchCase
    from benchgate.registry import TaskClass, TaskClassRegistry
    from benchgate.rubric import Rubric
    from benchgate.taxonomy import Taxonomy

# Threads of a cluster's worker ask at once, and parsers of Python 3.11 fail beside each other.
_LOADING: Final = Lock()


def alone(systems: Iterable[NamedSystem], observer: ClassObserver | None) -> str | None:
    """Return a system, or the observer, of which no two calls may run at once; ``None`` if all may."""
    for system in systems:
        if system.concurrency == "none":
            return f"system {system.name}"
    if observer is not None and getattr(observer.call, "concurrency", "") == "none":
        return f"observer {observer.identity.name}"
    return None


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
                if found is not None:
                    fault = declaration_fault(found.call)
                    if fault is not None:
                        raise EvalError(f"observer {found.identity.name!r} {fault}")
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
        if case_id not in self._loaded:
            return 1
        return self._loaded[case_id][1]

    def _read(self, case_id: str) -> tuple[BenchCase | BenchCaseLoadError, int]:
        name = self.folders.get(case_id, case_id)
        folder = self.path.joinpath("cases", name)
        data = self._texts.pop(name, None)  # a case is read once
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
        policy = load_policy(path, policy_options)
        run = load_run_table(path)
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise ClassLoadError(errors)
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
        masker=Masker((*(run.pass_env or ()), *(run.observer_env or ()))),
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
