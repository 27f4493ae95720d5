"""Finds task classes below a bench root and imports their registrations."""

from __future__ import annotations

import os
import traceback
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from benchgate.errors import RegistrationError, TaskClassAlreadyRegistered, TaskClassNotFound
from benchgate.loader.case_folder import CASE_FILE
from benchgate.loader.imports import module_name
from benchgate.loader.rubric_source import check_home
from benchgate.registry import TaskClass, TaskClassRegistry, slug


def class_folders(bench_root: Path) -> dict[str, Path]:
    """Return the task class folders below a bench root by name: those with a registration or with cases."""
    if not os.path.isdir(bench_root):
        return {}
    return {
        folder.name: folder
        for folder in sorted(bench_root.iterdir())
        if (folder / "registration.py").is_file() or any(folder.glob(f"cases/*/{CASE_FILE}"))
    }


def class_folder(bench_root: Path, name: str) -> Path:
    """Return the folder of a task class, or raise ``TaskClassNotFound``, which names the known classes."""
    folders = class_folders(bench_root)
    if name not in folders:
        raise TaskClassNotFound(name, folders, bench_root / name / "registration.py")
    return folders[name]


def load_task_class(bench_root: Path, name: str, registry: TaskClassRegistry) -> TaskClass:
    """
    Import ``bench/<name>/registration.py`` and add its task class to a registry.

    Call it within :func:`~benchgate.loader.imports.bench_package`.

    :raises TaskClassNotFound: no such folder; names the expected path and the known classes.
    :raises RegistrationError: the file is missing, fails, or registers anything but this class.
    """
    folder = bench_root / name
    path = folder / "registration.py"
    if not os.path.isdir(folder):
        raise TaskClassNotFound(name, class_folders(bench_root), path)
    if not path.is_file():
        raise RegistrationError(path, f"missing; it registers the task class {name!r}")
    twin = next((n for n in class_folders(bench_root) if n != name and slug(n) == slug(name)), None)
    if twin is not None:
        raise TaskClassAlreadyRegistered(name, str(bench_root / twin), str(folder))
    received = _registered_by(path, module_name(name, "registration"))
    if [task_class.name for task_class in received] != [name]:
        names = ", ".join(repr(task_class.name) for task_class in received) or "nothing"
        raise RegistrationError(path, f"registers {names}; expected {name!r} and nothing else")
    task_class = replace(received.get(name), bench_path=folder)
    check_home(task_class.rubric_type, folder)
    registry.register(task_class)
    return task_class


def _registered_by(path: Path, module: str) -> TaskClassRegistry:
    received = TaskClassRegistry()
    try:
        with received.receiving():
            import_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a registration may also call sys.exit
        last = traceback.extract_tb(error.__traceback__)[-1]
        why = f"{type(error).__name__}: {error} ({Path(last.filename).name}:{last.lineno})"
        if isinstance(error, ModuleNotFoundError):
            why += "; if it is yours: pythonpath = . in pytest.ini, or PYTHONPATH of a worker"
        raise RegistrationError(path, why) from error
    return received
