"""What commands share: how options are declared that several of them have, and how wrong input ends."""

from __future__ import annotations

import argparse
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from benchgate.cli.say import complain
from benchgate.errors import EvalError, TaskClassNotFound
from benchgate.options.table import named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from benchgate.gates.policy import GatePolicy

Parsers = argparse._SubParsersAction  # noqa: SLF001 - argparse has no public name for it


def add_root(parser: argparse.ArgumentParser, what: str = "") -> None:
    """Declare the folder of the task classes."""
    text = f"{what}folder of the task classes (default: bench)"
    parser.add_argument("--bench-root", type=Path, default=Path("bench"), metavar="DIR", help=text)


def add_shared(parser: argparse.ArgumentParser, *names: str) -> None:
    """Declare options as a run has them."""
    for option in named(*names):
        option.declare(parser.add_argument)


def add_policy(parser: argparse.ArgumentParser, which: str = "of the gate") -> None:
    """Declare the thresholds of a command that judges without a run; :func:`thresholds` returns them."""
    text = f"a threshold {which}, or a file with all of them; repeatable; benchgate policy lists the keys"
    for option in named("policy"):
        option._replace(help=text).declare(parser.add_argument)


def thresholds(args: argparse.Namespace) -> tuple[str | Path, ...]:
    """
    Return the thresholds that were typed; such a command takes none from the environment.

    :raises argparse.ArgumentTypeError: one is given twice.
    """
    from benchgate.options.places import arguments, read_options

    typed = arguments(vars(args), Path(), lambda option, _: f"--{option.name}")
    words: tuple[str | Path, ...] = read_options(named("policy"), [typed]).values["policy"]
    return words


def refuse(args: argparse.Namespace, names: Iterable[str], what: str) -> None:
    """
    Refuse options that would do nothing.

    :param what: they are given beside.
    :raises ValueError: one has another value than its default.
    """
    for name in names:
        if getattr(args, name) not in (None, "", "auto"):
            raise ValueError(f"--{name.replace('_', '-')} is not for {what}")


def refuse_same(baseline: Path, candidate: Path, otherwise: str = "") -> None:
    """
    Refuse a side that is compared with itself: most often the file of the baseline was overwritten.

    :param otherwise: what else to do than to give two files.
    :raises ValueError: both paths lead to one file.
    """
    from benchgate.wire.files import is_same_file

    if is_same_file(baseline, candidate):
        kind = "folder" if baseline.is_dir() else "file"
        raise ValueError(one_side(baseline, candidate, kind) + otherwise)


def one_side(baseline: Path, candidate: Path, kind: str) -> str:
    """Return why what both sides are is not judged, and what to do."""
    both = f"{candidate} is the baseline and the candidate"
    if baseline != candidate:
        both = f"{baseline} and {candidate} are one {kind}"
    return f"{both}: nothing is compared, and no loss could show; give the {kind} of each version"


def policy_of(
    args: argparse.Namespace,
    defaults: Mapping[str, Any],
    *,
    of_file: Mapping[str, Any] = MappingProxyType({}),
) -> GatePolicy:
    """
    Return the policy: the defaults, and what was given over them.

    :param of_file: where thresholds that a policy file leaves out differ from the defaults of a bench.
    :raises PolicyError: a file or a value is wrong.
    """
    from benchgate.gates.policy import make_policy, merged, parse_options

    return make_policy(merged(defaults, parse_options(thresholds(args), of_file)))


def guarded(
    execute: Callable[[argparse.Namespace], int],
    no: tuple[type[EvalError], ...] = (TaskClassNotFound,),
) -> Callable[[argparse.Namespace], int]:
    """
    Turn wrong input into one line on stderr and an exit status; nothing was written then.

    :param no: errors that end with 1, all others with 2.
    """

    def run(args: argparse.Namespace) -> int:
        try:
            return execute(args)
        except BrokenPipeError:
            raise
        except (EvalError, ValueError, argparse.ArgumentTypeError) as error:
            complain(error)
            return 1 if isinstance(error, no) else 2
        except OSError as error:
            complain(f"{error.filename}: {error.strerror}" if error.filename else error)
            return 2

    return run
