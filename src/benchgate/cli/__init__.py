"""
The ``benchgate`` command.

Exit status: 0 yes, 1 no (rejected, invalid, missing, ...), 2 wrong use or unreadable input, 10 held, 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from difflib import get_close_matches
from itertools import takewhile
from typing import TYPE_CHECKING

import benchgate
from benchgate.cli import (
    check,
    gate,
    merge,
    new,
    pin,
    plan,
    policy,
    proof,
    report,
    run,
    runs,
    verdict,
    verify,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = (run, runs, merge, report, pin, plan, proof, gate, policy, verify, verdict, check, new)


def _refuse_misspelt(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """End with an error that names the option which was meant; argparse says only which one is required then."""
    options = parser._option_string_actions  # noqa: SLF001 - argparse has no public name for it
    kinds = parser._subparsers  # noqa: SLF001 - the same
    if kinds is not None:  # the parser of its kind knows the options
        return
    for word in takewhile(lambda word: word != "--", words):
        name = word.partition("=")[0]
        if re.fullmatch("--[a-z-]+", name) and not any(one.startswith(name) for one in options):
            near = get_close_matches(name, options, n=1)
            parser.error(f"unknown option {name}{f'; did you mean {near[0]}?' if near else ''}")


class _Version(argparse.Action):
    """As argparse's own, but looks the version up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(f"benchgate {benchgate.__version__}")
        parser.exit()


def main(arguments: Sequence[str] | None = None) -> int:
    """
    Run a command and return its exit status.

    :param arguments: by default those of the process, which is then the command's own and keeps its stdout.
    """
    parser = argparse.ArgumentParser(
        prog="benchgate",
        description="Gate agent promotions with a pytest bench: cases in, a decision with proof out.",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add_parser(commands)
    words = sys.argv[1:] if arguments is None else list(arguments)
    if words and words[0] in commands.choices:
        _refuse_misspelt(commands.choices[words[0]], words[1:])
    is_program = arguments is None
    try:
        try:
            args = parser.parse_args(words)
            args.is_program = is_program
            return int(args.execute(args))
        finally:
            # Here: at the end of the process Python would print a message if nobody reads the rest.
            if is_program and sys.stdout is not None:
                sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader, such as head, has seen enough
        if is_program:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.stderr.close()
        return 1
