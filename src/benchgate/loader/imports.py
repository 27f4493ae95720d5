"""
The private package ``_benchgate_bench.<slug>``, one subpackage for each task class.

It gives every rubric and registration a dotted name of its own, so that ``from .rubric import X`` works, two
classes may both have a ``helpers.py``, and nothing is added to ``sys.path``.
"""

from __future__ import annotations

import importlib
import os
import sys
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from types import ModuleType


PACKAGE: Final = "_benchgate_bench"


class BenchFinder(MetaPathFinder):
    """
    Finds the package and its subpackages; modules in these are found by Python itself, through ``__path__``.

    :param only: the slug of the one class that it finds.
    """

    def __init__(self, bench_root: Path, only: str | None = None) -> None:
        self.bench_root = bench_root
        self._only = only

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,  # noqa: ARG002 - the signature is the import system's
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        """Return a namespace package's spec for ``_benchgate_bench`` and ``_benchgate_bench.<slug>``."""
        package, _, rest = fullname.partition(".")
        if package != PACKAGE or "." in rest:
            return None
        spec = ModuleSpec(fullname, None, is_package=True)
        if rest:
            folder = self._folder(rest)
            if folder is None:
                return None
            spec.submodule_search_locations = [str(folder)]
        return spec

    def _folder(self, wanted: str) -> Path | None:
        if self._only not in {None, wanted}:
            return None
        # Here: every session beside a bench imports this module, and few of them a class.
        from benchgate.registry import slug

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
