"""The commands that somebody types next with a new class, with the names that it has here."""

from __future__ import annotations

import os
import shlex
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

BENCH_ROOT = Path("bench")
SETTINGS = ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "pyproject.toml", "tox.ini")
MARK_ROOT = """\
# mark the root of the project: pytest looks there for bench/, and for the modules of your agent
printf '[pytest]\\npythonpath = .\\n' > pytest.ini
"""


class NextCommands(NamedTuple):
    """
    How a class is run: by pytest, or without it where the bench is elsewhere.

    :param run: without options; ``option`` is what theirs begin with.
    :param root: what other commands need to find the class.
    :param mark: what has to be typed before; empty if nothing.
    """

    run: str
    option: str
    root: str
    mark: str

    @classmethod
    def of(cls, class_path: Path) -> NextCommands:
        """Return the commands of a class."""
        name, bench_root = class_path.name, class_path.parent
        if bench_root != BENCH_ROOT:
            root = f" --bench-root {shlex.quote(str(bench_root))}"
            run = f"benchgate run --task-class {name}{root} --out .benchgate"
            return cls(run=run, option="--", root=root, mark="")
        mark = "" if any(map(os.path.exists, SETTINGS)) else MARK_ROOT
        return cls(run=f"pytest -q --bench={name}", option="--bench-", root="", mark=mark)

    @property
    def by_gate(self) -> str:
        """An option for a session whose status is that of the gate: under pytest each case that fails fails it too."""
        if self.option == "--":
            return ""
        return " --bench-exit=gate"

    @property
    def extras(self) -> str:
        """What is not installed that a reader may want next, as the last lines of a text; empty if all is there."""
        lacking = {}
        if self.option != "--" and find_spec("xdist") is None:
            lacking["pytest-xdist"] = "-n4 (cases in parallel)"
        if find_spec("jinja2") is None:
            lacking["jinja2"] = f"{self.option}html=page.html (the result as a page)"
        if not lacking:
            return ""
        wanted = " and ".join(lacking.values())
        return f"\n# for {wanted}: pip install {' '.join(lacking)}"
