"""What commands that judge share: the options of the policy and of looks, and how wrong input ends."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchgate.cli.say import complain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchgate.gates.policy import GatePolicy

Parsers = argparse._SubParsersAction  # noqa: SLF001 - argparse has no public name for it


def add_ledger(parser: argparse.ArgumentParser) -> None:
    """Declare the file that the looks at a baseline are counted in."""
    parser.add_argument(
        "--ledger",
        type=Path,
        metavar="FILE",
        help="count how often the baseline was looked at in this file, which is made if it is not there",
    )


def add_policy(parser: argparse.ArgumentParser, which: str = "of the gate") -> None:
    """Declare the thresholds, as every door has them."""
    parser.add_argument(
        "--policy",
        action="append",
        default=[],
        metavar="KEY=VALUE|gate.toml",
        help=f"a threshold {which}, or a file with all of them; repeatable; benchgate policy lists the keys",
    )


def policy_of(given: argparse.Namespace, defaults: Mapping[str, Any]) -> GatePolicy:
    """
    Return the policy: the defaults, and what was given over them.

    :raises PolicyError: a file or a value is wrong.
    """
    from benchgate.gates.policy import make_policy, merged, parse_options

    return make_policy(merged(defaults, parse_options(given.policy)))


def guarded(execute: Callable[[argparse.Namespace], int]) -> Callable[[argparse.Namespace], int]:
    """Turn wrong input into one line on stderr and exit status 2, 1 for an unknown class; nothing was written then."""

    def run(given: argparse.Namespace) -> int:
        from benchgate.errors import EvalError, TaskClassNotFound

        try:
            return execute(given)
        except BrokenPipeError:
            raise
        except (EvalError, ValueError, OSError) as error:
            complain(error)
            return 1 if isinstance(error, TaskClassNotFound) else 2

    return run
