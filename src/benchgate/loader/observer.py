"""Loads what observes the outputs of a class, and says which it is."""

from __future__ import annotations

from functools import reduce
from importlib import import_module
from inspect import isroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

from benchgate.errors import EvalError, RegistrationError
from benchgate.loader.imports import module_name
from benchgate.loader.rubric_source import source_files, sources_digest
from benchgate.models import Observer
from benchgate.wire.files import tree_files

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.registry import TaskClass

OBSERVERS: Final = "observers"


class ClassObserver(NamedTuple):
    """The observer of a class, and what a record says of it."""

    call: Callable[..., Any]
    identity: Observer


def load_observer(task_class: TaskClass, path: Path, observations: int) -> ClassObserver | None:
    """Import the observer of a class, if it has one; :raises EvalError: it is unusable, or not in ``observers/``."""
    observe: Any = task_class.observe
    if observe is None:
        return None
    name = observe if isinstance(observe, str) else getattr(observe, "__qualname__", "")
    try:
        if isinstance(observe, str):
            module, _, attribute = observe.partition(":")
            found = import_module(module_name(task_class.name, module))
            observe = reduce(getattr, attribute.split("."), found)
        declare = getattr(observe, "digest", None)
        identity = Observer(
            name=str(getattr(observe, "name", None) or name or type(observe).__qualname__),
            source=observer_digest(path) or "",
            digest=str(declare()) if callable(declare) else None,
            model=getattr(observe, "model", None),
            observations=observations,
        )
    except (Exception, SystemExit) as error:  # a module may also call sys.exit
        msg = f"observer {name!r} cannot be used: {type(error).__name__}: {error}"
        raise EvalError(msg) from error
    home = module_name(task_class.name, f"{OBSERVERS}.")
    there = getattr(observe if isroutine(observe) else type(observe), "__module__", "")
    if not (callable(observe) and f"{there}.".startswith(home)):
        why = f"observe: {name!r} is no callable of {OBSERVERS}/, whose digest each record has; write it there"
        raise RegistrationError(path / "registration.py", why)
    return ClassObserver(call=observe, identity=identity)


def observer_digest(class_path: Path) -> str | None:
    """
    Return the SHA-256 over names and bytes of ``observers/``, prompts too, and of what its modules import of the class.

    :returns: ``None`` if there is no such folder.
    :raises EvalError: a module is not Python, or a file cannot be read.
    """
    if not (class_path / OBSERVERS).is_dir():
        return None
    files = [Path(p) for n, p in tree_files(class_path / OBSERVERS) if "__pycache__" not in n]
    modules = [path for path in files if path.suffix == ".py"]
    found = {*files, *source_files(class_path, modules, excluded=())}
    return sources_digest(class_path, found)


def never(*_: object) -> NoReturn:
    """Stand for what is not called, as it is recorded."""
    raise AssertionError("what was recorded is played or put together, and nothing is called")
