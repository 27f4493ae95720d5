"""The systems under test of a class: how one is found by its name, and what it says of itself."""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.machinery import PathFinder
from inspect import iscoroutinefunction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from benchgate.errors import EvalError, SystemNotFound
from benchgate.loader.imports import PACKAGE, module_name, source_in
from benchgate.loader.system_checkpoint import SystemCheckpoint
from benchgate.registry import SystemEntry

if TYPE_CHECKING:
    from benchgate.models import HandedCheckpoint
    from benchgate.registry import System, TaskClass


MAX_DIGEST: Final = 4096
"""Characters of what ``digest()`` returns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """
    What a system says of itself.

    :param digest: what its ``digest()`` returns; ``None`` without one.
    :param concurrency: how many of its trials may run at once: ``none`` beside another, ``async`` on an event loop,
        else ``any``.
    :param checkpoint: the file that it names, if it names one.
    :param needs_served: whether it cannot work without what its class serves.
    """

    digest: str | None = None
    concurrency: Literal["any", "async", "none"] = "any"
    checkpoint: str | None = None
    needs_served: bool = False

    @classmethod
    def by(cls, system: System) -> Declared:
        """
        Ask a system.

        :raises EvalError: it raised when it was asked, or says what no trial could act upon.
        """
        try:
            declare = getattr(system, "digest", None)
            digest = str(declare()) if callable(declare) else None
            # A Path only: systems have other things by that name, such as the id of a model that is served elsewhere.
            source = getattr(system, "checkpoint", None)
            needs_served = getattr(system, "needs_served", False) is True
        except Exception as error:
            msg = f"has no digest or checkpoint to ask for: {type(error).__name__}: {error}"
            raise EvalError(msg) from error
        if fault := declaration_fault(system):
            raise EvalError(fault)
        if digest is not None and len(digest) > MAX_DIGEST:
            raise EvalError(
                f"has a digest of {len(digest)} characters; at most {MAX_DIGEST} are kept"
            )
        return cls(
            digest=digest,
            concurrency=_concurrency(system),
            checkpoint=str(source) if isinstance(source, Path) else None,
            needs_served=needs_served,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedSystem:
    """
    A system under test, by the name it is reported with, with what it declares and what its registration grants.

    :param call: the system; what takes its place where it is not imported.
    :param source: the file of the module that it is named by, or defined in; ``None`` if it has none.
    :param is_by_name: whether another process finds it by its name; not an object that was given from Python.
    :param concurrency: see :class:`Declared`.
    :param network: whether it may use the network at level ``sandbox``, and gets what its class serves at any.
    :param reads: further files and folders that it may read there, as its registration names them.
    :param needs_served: see :class:`Declared`.
    """

    name: str
    call: System
    digest: str | None
    checkpoint: SystemCheckpoint | None
    source: Path | None = None
    is_by_name: bool = True
    concurrency: str = "any"
    network: bool = False
    reads: tuple[str, ...] = ()
    needs_served: bool = False

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


def find_system(task_class: TaskClass, wanted: System | str | None) -> NamedSystem:
    """
    Return the system to run: a callable, a registered name, a floor, ``module:attr``, or by default the class's own.

    It is imported here and now.

    :raises SystemNotFound: it does not exist, cannot be imported or is not callable.
    :raises EvalError: see :meth:`Declared.by`.
    """
    if wanted is not None and not isinstance(wanted, str):
        label = getattr(wanted, "__qualname__", type(wanted).__name__)
        name = str(getattr(wanted, "name", None) or label)
        found = _named(name, wanted, SystemEntry(call=wanted), task_class)
        registered = task_class.systems.get(name)
        return replace(found, is_by_name=registered is not None and registered.call is wanted)
    name, entry = find_entry(task_class, wanted)
    if isinstance(entry.call, str):
        return _named(name, import_system(task_class, name, entry.call), entry, task_class)
    return _named(name, entry.call, entry, task_class)


def find_entry(task_class: TaskClass, wanted: str | None) -> tuple[str, SystemEntry]:
    """
    Return name and entry of a system, of which nothing is imported; errors as of :meth:`TaskClass.system`.

    A ``module:attr`` has an entry that grants nothing; no registered name has a colon.
    """
    if wanted is not None and is_address(wanted):
        return wanted, SystemEntry(call=wanted)
    return task_class.system(wanted)


def is_address(name: str) -> bool:
    """Whether the name of a system is a ``module:attr``, and not that of an entry of its class or of a floor."""
    return ":" in name and not name.startswith("floor:")


def import_system(task_class: TaskClass, name: str, call: str) -> System:
    """
    Import a system.

    :param name: that it is asked for by. A ``module:attr`` is looked for where Python runs, else in the class.
    :raises SystemNotFound: it cannot be imported or is not callable.
    """
    module, _, attribute = call.partition(":")
    if is_address(name):
        here = str(Path.cwd())
        if here not in sys.path:  # as with python -m: modules of the working directory are found
            sys.path.insert(0, here)
    else:
        module = module_name(task_class.name, module)
    try:
        return imported_system(module, attribute, name)
    except EvalError as error:
        raise SystemNotFound(name, task_class.systems, str(error)) from error.__cause__


def imported_system(module: str, attribute: str, name: str) -> System:
    """
    Return an attribute of a module that is imported now; of a class, the object that it makes.

    :raises EvalError: it cannot be imported, or is not callable.
    """
    try:
        found: Any = import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
        if isinstance(found, type):
            found = found()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a module may also call sys.exit
        reason = f"system {name!r} cannot be imported: {type(error).__name__}: {error}"
        if isinstance(error, ModuleNotFoundError):
            reason += "; modules of your project are found if pytest.ini has pythonpath = . below [pytest]"
        raise EvalError(reason) from error
    if not callable(found):
        raise EvalError(f"system {name!r} is not callable")
    return found  # type: ignore[no-any-return]


def check_importable(system: NamedSystem, where: str) -> None:
    """Check that a system can be found by its name in another process; :raises EvalError: it cannot."""
    if not system.is_by_name or system.name.startswith("conftest:"):
        cure = "register it, or name it as module:attr"
        raise EvalError(f"system {system.name} cannot be found by a name {where}; {cure}")


def _named(name: str, system: System, entry: SystemEntry, task_class: TaskClass) -> NamedSystem:
    try:
        declared = Declared.by(system)
    except EvalError as error:
        raise EvalError(f"system {name!r} {error}") from error
    checkpoint = declared.checkpoint and Path(declared.checkpoint)
    if entry.checkpoint is not None:
        checkpoint = checkpoint_of(task_class, entry)
    return NamedSystem(
        name=name,
        call=system,
        digest=declared.digest,
        checkpoint=SystemCheckpoint(checkpoint) if checkpoint else None,
        source=source_of(task_class, name, entry),
        concurrency=declared.concurrency,
        network=entry.network,
        reads=entry.reads,
        needs_served=declared.needs_served,
    )


def source_of(task_class: TaskClass, name: str, entry: SystemEntry) -> Path | None:
    """Return the file of the module that a system is named by, which is not imported; of an object, its module's."""
    if isinstance(entry.call, str):
        return module_file(task_class.bench_path or Path(), name, entry.call)
    try:
        function = inspect.unwrap(getattr(entry.call, "func", entry.call))
        found = getattr(sys.modules.get(function.__module__), "__file__", None)
    except Exception:  # an object may answer anything when it is asked for an attribute
        return None
    return Path(found) if found else None


def module_file(class_path: Path, name: str, call: str) -> Path | None:
    """Return the file of the module of a ``module:attr``, found by its name; ``None`` if there is none."""
    parts = call.partition(":")[0].split(".")
    place = class_path.joinpath(*parts)
    if is_address(name):
        if parts[0] == PACKAGE:
            place = class_path.joinpath(*parts[2:])
        else:
            spec = PathFinder.find_spec(parts[0], [str(Path.cwd()), *sys.path])
            if spec is None or not (spec.origin or spec.submodule_search_locations):
                return None
            locations = list(spec.submodule_search_locations or ())
            if not locations:
                return Path(str(spec.origin))
            place = Path(locations[0], *parts[1:])
    return source_in(place.parent, place.name)


def checkpoint_of(task_class: TaskClass, entry: SystemEntry) -> Path | None:
    """Return the file that a registration names as the checkpoint of a system."""
    if entry.checkpoint is None:
        return None
    return Path(task_class.bench_path or "", entry.checkpoint)


def _concurrency(system: System) -> Literal["any", "async", "none"]:
    if getattr(system, "concurrency", None) == "none":
        return "none"
    entries = (system, getattr(system, "__call__", None))  # noqa: B004 - an object may have an async one
    return "async" if any(map(iscoroutinefunction, entries)) else "any"


def declaration_fault(called: object) -> str | None:
    """Return what is wrong with how a system, or an observer, says that it runs alone, or which errors are not its."""
    concurrency = getattr(called, "concurrency", None)
    if isinstance(concurrency, str) and concurrency != "none":
        return f"says concurrency = {concurrency!r}; the one word that it may have is 'none'"
    declared = getattr(called, "unavailable", ())
    types = declared if isinstance(declared, tuple) else (declared,)
    if callable(declared) and not isinstance(declared, type):
        return None
    if not all(isinstance(one, type) and issubclass(one, BaseException) for one in types):
        return f"says unavailable = {declared!r}; expected exception types, or a function of the exception"
    return None
