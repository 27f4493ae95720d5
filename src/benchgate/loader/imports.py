"""
The private package ``_benchgate_bench.<slug>``, one subpackage for each task class.

It gives every rubric and registration a dotted name of its own, so that ``from .rubric import X`` works, two
classes may both have a ``helpers.py``, and nothing is added to ``sys.path``.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import CodeType, ModuleType


PACKAGE: Final = "_benchgate_bench"


INIT: Final = "__init__.py"


def source_in(folder: Path | str, name: str) -> Path | None:
    """Return the Python file of a package or module in a folder, which need not be listed; Python's own order."""
    for file in (Path(folder, name, INIT), Path(folder, f"{name}.py")):
        if file.is_file():
            return file
    return None


class SourceOnlyLoader(SourceFileLoader):
    """
    Compiles what the source says, whatever bytecode lies beside it: that is in no digest.

    :param sha256: of the source that is meant; another one is refused. ``None``: any.
    """

    def __init__(self, fullname: str, path: str, sha256: str | None = None) -> None:
        super().__init__(fullname, path)
        self._sha256 = sha256

    def get_code(self, fullname: str) -> CodeType:
        """
        Return the compiled source.

        :raises ImportError: it is not the one that is meant.
        """
        source = self.get_data(self.path)
        if self._sha256 is not None and hashlib.sha256(source).hexdigest() != self._sha256:
            raise ImportError(f"{self.path} was changed after it was digested", name=fullname)
        return self.source_to_code(source, self.path)


class BenchFinder(MetaPathFinder):
    """
    Finds the package, its subpackages, and the Python files in these.

    It looks for a file by its name and lists no folder: a closed process may read the files that it imports, and not
    the folder that they are in.

    :param only: the name of the one class that it finds.
    :param digests: SHA-256 of the files that may be imported, by their paths; ``None``: any.
    """

    def __init__(
        self, bench_root: Path, only: str | None = None, digests: Mapping[str, str] | None = None
    ) -> None:
        self.bench_root = bench_root
        self._only = only
        self._digests = digests

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,  # noqa: ARG002 - the signature is the import system's
    ) -> ModuleSpec | None:
        """
        Return the spec of a module of a task class; ``None`` for other modules, and for what is no Python file.

        :raises ImportError: the file is none of those that may be imported.
        """
        package, _, rest = fullname.partition(".")
        if package != PACKAGE:
            return None
        if "." in rest:
            return self._module(fullname, path or ())
        spec = ModuleSpec(fullname, None, is_package=True)
        if rest:
            folder = self._folder(rest)
            if folder is None:
                return None
            spec.submodule_search_locations = [str(folder)]
        return spec

    def _module(self, fullname: str, path: Sequence[str]) -> ModuleSpec | None:
        name = fullname.rpartition(".")[2]
        for folder in path:
            file = source_in(folder, name)
            if file is not None:
                locations = [str(file.parent)] if file.name == INIT else None
                loader = self._loader(fullname, file)
                return spec_from_file_location(
                    fullname, file, loader=loader, submodule_search_locations=locations
                )
            if Path(folder, name).is_dir():
                spec = ModuleSpec(fullname, None, is_package=True)
                spec.submodule_search_locations = [str(Path(folder, name))]
                return spec
        return None

    def _loader(self, fullname: str, file: Path) -> SourceOnlyLoader:
        if self._digests is None:
            return SourceOnlyLoader(fullname, str(file))
        if str(file) not in self._digests:
            raise ImportError(f"{file} is not among the files that were digested", name=fullname)
        return SourceOnlyLoader(fullname, str(file), self._digests[str(file)])

    def _folder(self, wanted: str) -> Path | None:
        # Here: every session beside a bench imports this module, and few of them a class.
        from benchgate.registry import slug

        if self._only is not None:
            return Path(self.bench_root, self._only) if slug(self._only) == wanted else None
        if not os.path.isdir(self.bench_root):
            return None
        folders = (path for path in self.bench_root.iterdir() if path.is_dir())
        return next((path for path in folders if slug(path.name) == wanted), None)


def module_name(task_class: str, module: str) -> str:
    """Return the dotted name of a module of a task class."""
    from benchgate.registry import slug

    return f"{PACKAGE}.{slug(task_class)}.{module}"


@contextmanager
def bench_package(bench_root: Path) -> Iterator[None]:
    """
    Make the task classes below ``bench_root`` importable within the block.

    Blocks may nest, as when a test runs pytest within pytest: the modules of the outer one come back at the end.
    """
    finder = BenchFinder(bench_root)
    outer = forget()
    sys.meta_path.insert(0, finder)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        forget()
        sys.modules.update(outer)


def forget(package: str = PACKAGE) -> dict[str, ModuleType]:
    """Take the modules of task classes, or of one, out of what is imported, and return them."""
    names = [name for name in sys.modules if f"{name}.".startswith(f"{package}.")]
    return {name: sys.modules.pop(name) for name in names}
