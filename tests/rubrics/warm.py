"""
A warm pytest: one process that has imported everything but the bench forks a child for each run of the tests.

``python warm.py SOCKET`` asks it for one run and ends with pytest's status; a mutation tool calls that over and over.
"""

from __future__ import annotations

import os
import socket
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

LEFT_COLD = frozenset({"_benchgate_bench", "dockerfile"})
"""What each child imports itself: what is mutated, and a library in Go, whose threads do not live on after a fork."""

HOUR = 3600.0
MEMORY = 4 << 30
"""Bytes beyond which a child is refused memory: a mutant may build an endless list."""


def main(path: str) -> int:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        answer = connection.recv(1)
    return answer[0] if answer else 1


def listening_at(path: str) -> socket.socket:
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(path)
    listening.listen()
    return listening


class Killers:
    """Which tests failed for mutants of which file: later mutants of that file meet them first."""

    def __init__(self, files: list[Path]) -> None:
        self.sources = {path: path.read_bytes() for path in files}
        self.failed: dict[Path | None, list[str]] = {}

    def mutated(self) -> Path | None:
        return next((p for p, text in self.sources.items() if p.read_bytes() != text), None)

    def plugin(self, file: Path | None, tell: int) -> _First:
        return _First(self.failed.get(file, []), tell)

    def learn(self, file: Path | None, test: str) -> None:
        known = self.failed.setdefault(file, [])
        if test in known:
            known.remove(test)
        known.insert(0, test)


class _First:
    """Puts tests first in a run, and tells of the one that failed."""

    def __init__(self, tests: list[str], tell: int) -> None:
        self.rank = {test: at for at, test in enumerate(tests)}
        self.tell = tell

    def pytest_collection_modifyitems(self, items):
        items.sort(key=lambda item: self.rank.get(item.nodeid, len(self.rank)))

    def pytest_runtest_logreport(self, report):
        if report.failed:
            os.write(self.tell, report.nodeid.encode()[:2000])


def serve(listening: socket.socket, arguments: list[str], seconds: float, killers: Killers) -> None:
    """Run the tests anew for everybody who connects, until this process is ended; a run may take so much CPU time."""
    while True:
        connection, _ = listening.accept()
        with connection:
            file = killers.mutated()
            read, write = os.pipe()
            child = fork(arguments, seconds, [killers.plugin(file, write)])
            os.close(write)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            with open(read, encoding="utf-8", errors="replace") as pipe:
                killer = pipe.read()
            if killer:
                killers.learn(file, killer)
            try:
                connection.sendall(bytes([min(abs(status), 255)]))
            except (BrokenPipeError, ConnectionResetError):
                continue  # the mutation tool had given up on this run


def fork(arguments: list[str], seconds: float, plugins: list[object] | None = None) -> int:
    """Start one run of the tests in a child and return its number."""
    child = os.fork()
    if child:
        return child
    try:
        _limit(seconds)
        os._exit(run(arguments, plugins))
    finally:
        os._exit(70)


def _limit(seconds: float) -> None:
    import resource

    # CPU time, not wall time: a busy machine must not make a mutant look killed.
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def run(arguments: list[str], plugins: list[object] | None = None) -> int:
    """Run pytest here, without a word."""
    import pytest

    silence = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(silence, stream)
    return int(pytest.main(arguments, plugins))


def warm_up(arguments: list[str]) -> tuple[int, float]:
    """
    Import here what one run of the tests imports, but for the bench itself.

    :returns: status and CPU seconds of the run that comes after, which is how all later ones are made.
    """
    for name in _imported_by(arguments):
        _import(name)
    _, status, used = os.wait4(fork(arguments, HOUR), 0)
    return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime


def _imported_by(arguments: list[str]) -> list[str]:
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            run(arguments)
            names = [name for name in sys.modules if name.partition(".")[0] not in LEFT_COLD]
            os.write(write, "\n".join(names).encode())
        finally:
            os._exit(0)
    os.close(write)
    with open(read, encoding="utf-8") as pipe:
        names = pipe.read().split("\n")
    os.waitpid(child, 0)
    return names


def _import(name: str) -> None:
    from importlib import import_module

    try:
        import_module(name)
    except ImportError:  # a test module, which only pytest knows where to find
        return


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
