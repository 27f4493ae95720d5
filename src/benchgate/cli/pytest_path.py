"""
Where pytest would import a project's packages from, for commands that import a bench without pytest.

Only files of settings are read. No ``conftest.py`` is run: its folder counts, what it does to ``sys.path`` does not.
"""

from __future__ import annotations

import argparse
import os
import shlex
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from benchgate.errors import EvalError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

INI_SECTIONS: Final = {
    "pytest.ini": "pytest",
    ".pytest.ini": "pytest",
    "tox.ini": "pytest",
    "setup.cfg": "tool:pytest",
}
NAMES: Final = (
    "pytest.toml",
    ".pytest.toml",
    "pytest.ini",
    ".pytest.ini",
    "pyproject.toml",
    "tox.ini",
    "setup.cfg",
)
"""The files that pytest reads its settings from; of those in one folder, the first that has settings counts."""

ITS_OWN: Final = frozenset(NAMES[:4])
"""Files that are for pytest alone: they count even if they are empty."""


class Project(NamedTuple):
    """What pytest would take as its rootdir, and the settings that it would read there."""

    root: Path
    settings: Mapping[str, Any]


def import_folders(bench_root: Path, environ: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """
    Return the folders that pytest, started beside a bench, would put before and behind all others on ``sys.path``.

    :param environ: ``PYTEST_ADDOPTS`` in it may name the import mode.
    :raises EvalError: a file of settings cannot be read, or has ``pythonpath`` or ``addopts`` of a wrong type.
    """
    beside = bench_root.absolute().parent
    project = _project(beside)
    given = [str(project.root / name) for name in _words(project, "pythonpath")]
    options = _options([*_words(project, "addopts"), *_split(environ.get("PYTEST_ADDOPTS", ""))])
    if options.noconftest or options.import_mode == "importlib":
        return given, []
    of_conftests = [str(_package_root(folder)) for folder in _with_conftest(project.root, beside)]
    if options.import_mode == "append":
        return given, of_conftests
    # pytest inserts each at the front, that of the inner folder last.
    return [*reversed(of_conftests), *given], []


def _project(start: Path) -> Project:
    """Find it as pytest does: the innermost folder with settings, or with a ``pyproject.toml`` or ``setup.py``."""
    with_pyproject = None
    for folder in (start, *start.parents):
        for name in NAMES:
            path = folder / name
            if not path.is_file():
                continue
            if name == "pyproject.toml" and with_pyproject is None:
                with_pyproject = folder
            settings = _settings(path)
            if settings is not None:
                return Project(folder, settings)
    if with_pyproject is not None:
        return Project(with_pyproject, {})
    with_setup = (folder for folder in (start, *start.parents) if (folder / "setup.py").is_file())
    return Project(next(with_setup, start), {})


def _settings(path: Path) -> Mapping[str, Any] | None:
    """Return what a file says to pytest; ``None`` if it is a file of other programs that says nothing to it."""
    if path.suffix == ".toml":
        found = _toml_settings(path)
    else:
        found = _ini_settings(path)
    if found is None and path.name in ITS_OWN:
        return {}
    return found


def _ini_settings(path: Path) -> Mapping[str, Any] | None:
    from iniconfig import IniConfig, ParseError

    try:
        sections = IniConfig(path)
    except (ParseError, OSError, UnicodeDecodeError) as error:
        raise EvalError(f"{path}: cannot be read: {error}") from error
    section = INI_SECTIONS[path.name]
    if section not in sections:
        return None
    return dict(sections[section].items())


def _toml_settings(path: Path) -> Mapping[str, Any] | None:
    import tomli

    try:
        table: Any = tomli.loads(path.read_text("utf-8"))
    except (tomli.TOMLDecodeError, OSError, UnicodeDecodeError) as error:
        raise EvalError(f"{path}: cannot be read: {error}") from error
    if path.name == "pyproject.toml":
        table = table.get("tool", {})
    own = table.get("pytest")
    if not isinstance(own, dict):
        return None
    if path.name == "pyproject.toml" and "ini_options" in own:
        of_ini = own["ini_options"]
        return of_ini if isinstance(of_ini, dict) else {}
    return own


def _words(project: Project, key: str) -> list[str]:
    """Return the values of a setting that is a list, or a text of words."""
    value = project.settings.get(key, [])
    if isinstance(value, str):
        return _split(value)
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise EvalError(f"{key} of pytest in {project.root}: expected a list of texts")
    return value


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:  # a quote without its partner
        raise EvalError(f"settings of pytest: {text!r}: {error}") from error


def _options(words: Iterable[str]) -> argparse.Namespace:
    """Return the options of pytest that say whether folders of conftests are imported from; all others are skipped."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--import-mode", default="prepend")
    parser.add_argument("--noconftest", action="store_true")
    try:
        return parser.parse_known_args(list(words))[0]
    except argparse.ArgumentError as error:
        raise EvalError(f"addopts of pytest: {error}") from error


def _with_conftest(root: Path, beside: Path) -> Iterator[Path]:
    """Yield the folders from the root down to that of the bench whose ``conftest.py`` pytest loads before it runs."""
    for folder in reversed((beside, *beside.parents)):
        if folder.is_relative_to(root) and os.path.isfile(folder / "conftest.py"):
            yield folder


def _package_root(folder: Path) -> Path:
    """Return the folder that a module in ``folder`` is imported from: above all packages that it is in."""
    while os.path.isfile(folder / "__init__.py") and folder.name.isidentifier():
        folder = folder.parent
    return folder
