"""
Mutation testing of the rubrics: every mutant of ``rubric.py`` and of what it imports, against the class's own tests.

    python tests/rubrics/mutate.py [CLASS...] [--module NAME] [--floor PERCENT] [--sample SIZE --seed SEED]

A mutant is a copy of the class with one thing changed. It is killed if a test fails or takes five times its CPU time,
and survives otherwise. The script prints a table by module, then each survivor with its difference: a test is missing
there, or no output shows the change. Name such a mutant in ``details/`` of the class, with the reason. ``--sample``
draws the same mutants of the same code for one seed, and prints an estimate for all with its 95 % interval.

cosmic-ray changes files in place, so everything runs in a copy of the tree. mutmut 3 changes no constants of a module,
and finds mutants by the path of their file, which is not the name of a module in a bench.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing, contextmanager
from multiprocessing import get_context
from pathlib import Path

import mutants
import operators
import tomli_w
import warm

from benchgate.loader.rubric_source import rubric_files

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
COPIED = ("bench", "pyproject.toml", "conftest.py")
LISTED = "mutation.txt"
"""In a class's ``tests/``: the files to run, one a line, quickest killers first; without it ``test_rubric*.py``."""

QUIET = (
    *("-x", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:hypothesispytest"),
    *("-p", "no:xdist", "--assert=plain", "-m", ""),
)
PATIENCE = 5.0
"""How many times the CPU time of a run without a mutant one with a mutant may take."""


def main() -> int:
    parser = argparse.ArgumentParser(description="Mutation testing of the rubrics.")
    parser.add_argument("classes", nargs="*", metavar="CLASS", help="default: all")
    parser.add_argument("--module", action="append", help="only this file, such as rubric.py")
    parser.add_argument("--floor", type=float, default=0.0, help="percent to kill of rubric.py")
    parser.add_argument(
        "--sample", type=int, help="only so many mutants of each file, drawn by --seed"
    )
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    known = [path.parent.name for path in sorted((ROOT / "bench").glob("*/rubric.py"))]
    lowest = 100.0
    for name in asked.classes or known:
        started = time.monotonic()
        found, made = mutate(name, asked.module, (asked.sample, asked.seed))
        say(f"\n{name}, {(time.monotonic() - started) / 60:.0f} min\n")
        say(*mutants.report(found, made))
        rubric = [mutant for mutant in found if mutant.module == "rubric.py"]
        lowest = min(lowest, mutants.percent(rubric or found))
    return int(not lowest >= asked.floor)


def say(*lines: str) -> None:
    sys.stdout.write("\n".join([*lines, ""]))
    sys.stdout.flush()


def mutate(
    name: str, modules: list[str] | None, drawn: tuple[int | None, int]
) -> tuple[list[mutants.Mutant], dict[str, int]]:
    """
    Return the mutants of a class that were run, and how many each file has.

    All happens in a copy, for cosmic-ray edits files in place.
    """
    with tempfile.TemporaryDirectory(prefix="mutate-") as held:
        tree, socket = Path(held) / "tree", Path(held) / "warm"
        copy(tree)
        folder = tree / "bench" / name
        files = [path for path in rubric_files(folder) if not modules or path.name in modules]
        with warm_server(tree, socket, [*QUIET, *map(str, tests_of(folder))], files):
            dumped, made = session(tree, Path(held), files, socket, drawn)
            return mutants.read(dumped, tree), made


def copy(tree: Path) -> None:
    tree.mkdir()
    for entry in COPIED:
        source = ROOT / entry
        if source.is_dir():
            shutil.copytree(source, tree / entry, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, tree / entry)


def tests_of(folder: Path) -> list[Path]:
    """Return the files of tests that judge the mutants of a class."""
    tests = folder / "tests"
    listed = tests / LISTED
    if not listed.is_file():
        return sorted(tests.glob("test_rubric*.py"))
    lines = (
        line.partition("#")[0].strip() for line in listed.read_text(encoding="utf-8").splitlines()
    )
    return [tests / line for line in lines if line]


@contextmanager
def warm_server(tree: Path, socket: Path, arguments: list[str], files: list[Path]):
    """Keep a warm pytest in the copied tree while the block lasts."""
    ready, tell = get_context("fork").Pipe(duplex=False)
    server = get_context("fork").Process(target=_serve, args=(tree, socket, arguments, files, tell))
    server.start()
    try:
        status, seconds = ready.recv()
        if status:
            raise SystemExit(f"without a mutant pytest ends with {status}: {' '.join(arguments)}")
        say(f"one run of the tests takes {seconds:.2f} s of CPU time")
        yield
        # A server that died would make every mutant look killed.
        if warm.main(str(socket)):
            raise SystemExit(
                "after the last mutant the tests fail without one: the figures are void"
            )
    finally:
        server.kill()
        server.join()


def _serve(tree: Path, socket: Path, arguments: list[str], files: list[Path], tell) -> None:
    os.chdir(tree)
    # A mutant of the same length, made within the same second, would run from the last one's bytecode.
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    status, seconds = warm.warm_up(arguments)
    with warm.listening_at(str(socket)) as listening:
        tell.send((status, seconds))
        warm.serve(listening, arguments, PATIENCE * seconds + 2, warm.Killers(files))


def session(
    tree: Path, held: Path, files: list[Path], socket: Path, drawn: tuple[int | None, int]
) -> tuple[str, dict[str, int]]:
    """Let cosmic-ray make and judge the mutants of some files; return its dump, and how many there are by file."""
    config, database, plugin = held / "config.toml", held / "session.sqlite", held / "plugin"
    settings = {
        "module-path": [str(path.relative_to(tree)) for path in files],
        "timeout": 600.0,  # the server's limit of CPU time comes first
        "excluded-modules": [],
        "test-command": f"{sys.executable} -I -S {warm.__file__} {socket}",
        "distributor": {"name": "local"},
    }
    config.write_text(tomli_w.dumps({"cosmic-ray": settings}), encoding="utf-8")
    operators.announce(plugin)
    cosmic_ray(["init", config, database], tree, plugin)
    made = draw(database, tree, *drawn)
    cosmic_ray(["exec", config, database], tree, plugin)
    return cosmic_ray(["dump", database], tree, plugin), made


def draw(database: Path, tree: Path, size: int | None, seed: int) -> dict[str, int]:
    """Leave at most ``size`` mutants of each file, none in annotations; return how many there were, by file."""
    drawing = random.Random(seed)  # noqa: S311 - it draws no secret
    left: dict[str, int] = {}
    with closing(sqlite3.connect(database)) as held, held:
        # The numbers of jobs are random: what is mutated sets the order that is drawn from.
        rows = held.execute(
            "SELECT module_path, start_pos_row, start_pos_col, job_id FROM mutation_specs"
            " ORDER BY module_path, operator_name, operator_args, occurrence"
        ).fetchall()
        for path in sorted({path for path, *_ in rows}):
            source = (tree / path).read_text(encoding="utf-8")
            of_file = [row for row in rows if row[0] == path]
            jobs = [job for _, *at, job in of_file if not mutants.in_annotation(source, *at)]
            left[Path(path).name] = len(jobs)
            kept = set(drawing.sample(jobs, min(size or len(jobs), len(jobs))))
            gone = [(job,) for *_, job in of_file if job not in kept]
            held.executemany("DELETE FROM mutation_specs WHERE job_id = ?", gone)
            held.executemany("DELETE FROM work_items WHERE job_id = ?", gone)
    return left


def cosmic_ray(command: list[str | Path], tree: Path, plugin: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(plugin), str(HERE)])}
    program = Path(sys.executable).parent / "cosmic-ray"
    done = subprocess.run(
        [program, *command],
        cwd=tree,
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
