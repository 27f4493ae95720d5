"""
A warm pytest: one process that has imported everything but the bench forks a child for each run of the tests.

``python warm.py SOCKET`` asks it for one run and ends with pytest's status; a mutation tool calls that over and over.
"""

from __future__ import annotations

import os
import socket
import sys

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


def serve(listening: socket.socket, arguments: list[str], seconds: float) -> None:
    """Run the tests anew for everybody who connects, until this process is ended; a run may take so much CPU time."""
    while True:
        connection, _ = listening.accept()
        with connection:
            status = os.waitstatus_to_exitcode(os.waitpid(fork(arguments, seconds), 0)[1])
            try:
                connection.sendall(bytes([min(abs(status), 255)]))
            except (BrokenPipeError, ConnectionResetError):
                continue  # the mutation tool had given up on this run


def fork(arguments: list[str], seconds: float) -> int:
    """Start one run of the tests in a child and return its number."""
    child = os.fork()
    if child:
        return child
    try:
        _limit(seconds)
        os._exit(run(arguments))
    finally:
        os._exit(70)


def _limit(seconds: float) -> None:
    import resource

    # CPU time, not wall time: a busy machine must not make a mutant look killed.
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def run(arguments: list[str]) -> int:
    """Run pytest here, without a word."""
    import pytest

    silence = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(silence, stream)
    return int(pytest.main(arguments))


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
