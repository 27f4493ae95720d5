"""Which cases a session was asked for: ``--bench`` or paths, and the bench they belong to."""

from __future__ import annotations

import fnmatch
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import pytest

from benchgate.errors import near
from benchgate.pytest_plugin.layout import BENCH, CASES, bench_root, case_of_data

if TYPE_CHECKING:
    from collections.abc import Sequence

WORKERS: Final = re.compile(r"-n(\d+|auto|logical)?|--numprocesses(=.*)?")
"""An option of pytest-xdist, as it is typed."""


class Selection(NamedTuple):
    """
    What was asked for.

    :param paths: explicit paths inside the bench; empty if ``--bench`` governs.
    :param classes: the task classes to load, sorted.
    """

    root: Path
    paths: tuple[Path, ...]
    classes: tuple[str, ...]

    @property
    def by_option(self) -> bool:
        """Whether ``--bench`` governs: no path was given on the command line."""
        return not self.paths

    def below(self, folder: Path) -> set[str] | None:
        """Return the names directly below a folder that the paths lead to; ``None`` if they may lead to all."""
        if any(folder.is_relative_to(path) for path in self.paths) or self.by_option:
            return None
        return {
            path.relative_to(folder).parts[0] for path in self.paths if path.is_relative_to(folder)
        }

    def asks_for(self, case_file: Path) -> bool:
        """Whether a case is to be run."""
        if case_file.parents[2].name not in self.classes or case_file.parents[3] != self.root:
            return False
        return self.by_option or any(case_file.is_relative_to(path) for path in self.paths)


def select(config: pytest.Config, patterns: Sequence[str]) -> Selection | None:
    """
    Return what a session was asked for, or ``None`` if it was asked for no case.

    Only paths from the command line count: a plain ``pytest`` never runs a case, whatever its ``testpaths``.

    :param patterns: the arguments of ``--bench``.
    :raises pytest.UsageError: an unknown class, or two benches in one session.
    """
    explicit = config.args_source is pytest.Config.ArgsSource.ARGS
    if not explicit:
        if not patterns:
            return None
        return _by_option(config.rootpath / BENCH, patterns)
    paths = argument_paths(config, config.args)
    root_of = {}
    for path in paths:
        root = bench_root(path)
        if root is not None:
            root_of[path] = root
    roots = sorted(set(root_of.values()))
    if len(roots) > 1:
        msg = f"two benches in one session: {roots[0]} and {roots[1]}; run them one by one"
        raise pytest.UsageError(msg)
    classes = sorted({name for path, root in root_of.items() for name in _classes_of(path, root)})
    if not classes:
        _refuse_folder_above(config, paths)
        return None
    return Selection(root=roots[0], paths=tuple(root_of), classes=tuple(classes))


def _refuse_folder_above(config: pytest.Config, paths: Sequence[Path]) -> None:
    """Refuse ``--bench`` beside a folder that contains the bench: paths win, which not everybody knows."""
    is_typed = any(str(word).startswith("--bench=") for word in config.invocation_params.args)
    if is_typed and any((config.rootpath / BENCH).is_relative_to(path) for path in paths):
        msg = "--bench beside a folder above bench/: no case would run; drop one of the two"
        raise pytest.UsageError(msg)


def argument_paths(config: pytest.Config, arguments: Sequence[str]) -> list[Path]:
    """Return what arguments such as ``path::name`` point to, absolute; symlinks stay, as in pytest's nodes."""
    here = config.invocation_params.dir
    return [
        Path(os.path.abspath(here / str(argument).partition("::")[0])) for argument in arguments
    ]


def refuse_workers(config: pytest.Config) -> None:
    """
    Say what to install for ``-n``, of which pytest without pytest-xdist says only that it is not known.

    :raises pytest.UsageError: it was typed for a bench, and nothing takes it.
    """
    known = config.known_args_namespace
    if not known.bench_classes or hasattr(known, "numprocesses"):
        return
    for word in config.invocation_params.args:
        if WORKERS.fullmatch(str(word)):
            msg = f"{word} needs pytest-xdist: pip install pytest-xdist"
            raise pytest.UsageError(msg)


def refuse_case_data(config: pytest.Config, arguments: Sequence[str]) -> None:
    """
    Refuse arguments inside a case's ``input/`` or ``expected/``.

    :raises pytest.UsageError: pytest would import a ``conftest.py`` from there before anything could stop it.
    """
    for argument, path in zip(arguments, argument_paths(config, arguments), strict=True):
        case = case_of_data(path)
        if case is not None:
            msg = f"{argument}: the data of a case, never collected; run the case: {case / 'case.toml'}"
            raise pytest.UsageError(msg)


def _by_option(root: Path, patterns: Sequence[str]) -> Selection:
    known = _known(root)
    chosen: set[str] = set()
    for pattern in patterns:
        names = known if pattern == "all" else [n for n in known if fnmatch.fnmatchcase(n, pattern)]
        if not names:
            expected = root / pattern / "registration.py"
            msg = (
                f"--bench={pattern}: unknown task class; expected {expected}; {near(pattern, known)}"
                f"known: {', '.join(known) or 'none'}"
            )
            raise pytest.UsageError(msg)
        chosen.update(names)
    return Selection(root=root, paths=(), classes=tuple(sorted(chosen)))


def _known(root: Path) -> list[str]:
    from benchgate.loader.task_class import class_folders

    return list(class_folders(root))


def _classes_of(path: Path, root: Path) -> list[str]:
    """Return the classes whose cases may be below a path; below ``bench/<class>/tests`` there are none."""
    if path == root:
        return _known(root)
    parts = path.relative_to(root).parts
    return [parts[0]] if parts[0] in _known(root) and parts[1:2] in ((), (CASES,)) else []
