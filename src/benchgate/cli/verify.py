"""``benchgate verify [OUT | FILE...]``."""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.artifacts.schemas import schema_kinds, schema_text
from benchgate.cli.options import add_policy, guarded, thresholds
from benchgate.cli.say import complain, say
from benchgate.errors import ArtifactError, Unreadable, counted
from benchgate.options.kinds import NATURAL
from benchgate.wire.parsing import collector_paused

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from benchgate.artifacts.trial_kinds import Head
    from benchgate.cli.options import Parsers
    from benchgate.verify.against_bench import Terms
    from benchgate.verify.verification import ClassVerification

HEAD_FORM = re.compile(r"([a-z][a-z0-9_-]*)=([1-9][0-9]{0,14}):([0-9a-f]{64})")


def add_parser(commands: Parsers[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "verify",
        help="verify the records of an output folder: chain, digests, and every decision, recomputed; or single files",
        description="Checks integrity; what was decided only with --require-promote. Without --head it cannot see that "
        "the newest records were removed or that the whole chain was rewritten, and says so. A decision of another "
        "version's rules it does not compute again, and says so, too. Of a file it finds the "
        "kind itself, and checks schema, digests and arithmetic; files of RL payload bundles are taken, too.",
    )
    parser.add_argument(
        "paths",
        type=Path,
        nargs="*",
        metavar="OUT|FILE",
        help="one output folder (default: .benchgate), or files",
    )
    kinds = schema_kinds()
    parser.add_argument(
        "--schema",
        choices=kinds,
        metavar="KIND",
        help=f"print the JSON Schema of a kind of artifact, and do nothing else: {', '.join(kinds)}",
    )
    parser.add_argument(
        "--task-class",
        action="append",
        default=[],
        metavar="CLASS",
        help="a class that must have a record, beside those that have one; repeatable",
    )
    parser.add_argument(
        "--head",
        type=_head,
        action="append",
        default=[],
        metavar="CLASS=SEQ:HASH",
        help="a head that was kept elsewhere, as the line 'head' of an earlier run printed it; repeatable",
    )
    parser.add_argument(
        "--require-complete",
        action="store_true",
        help="the newest run must be complete, and no session may have ended without a record",
    )
    parser.add_argument(
        "--require-promote",
        action="store_true",
        help="as --require-complete, and the newest record of each class must say promote and follow its --head",
    )
    parser.add_argument(
        "--allow-replay",
        action="store_true",
        help="with --require-promote, also if outputs or answers were replayed from a recording",
    )
    parser.add_argument(
        "--allow-rules",
        type=NATURAL.read,
        action="append",
        default=[],
        metavar="N",
        help="believe decisions by rules N, which this version does not compute again: with --require-promote, and in "
        "files; repeatable",
    )
    parser.add_argument(
        "--bench-root",
        type=Path,
        metavar="DIR",
        help="the bench that the newest decisions must have been made under: its policy, rubric, cases, failure modes "
        "and baseline.json; it is read and nothing of it is imported (default: the default policy alone)",
    )
    add_policy(parser, "that is meant to differ from gate.toml or the defaults")
    parser.set_defaults(execute=guarded(_execute))


def _head(text: str) -> tuple[str, Head]:
    from benchgate.artifacts.trial_kinds import Head
    from benchgate.wire.model import SCHEMA_VERSION

    match = HEAD_FORM.fullmatch(text)
    if match is None:
        msg = f"{text!r}: expected CLASS=SEQ:HASH, with the SHA-256 in full"
        raise argparse.ArgumentTypeError(msg)
    return match[1], Head(schema_version=SCHEMA_VERSION, seq=int(match[2]), sha256=match[3])


@collector_paused()  # models have no cycles, and looking for them takes a tenth of the time
def _execute(args: argparse.Namespace) -> int:
    """Verify files or a folder, or print a schema; 2 for wrong use."""
    if args.schema is not None:
        sys.stdout.write(schema_text(args.schema))
        return 0
    folders = [path for path in args.paths if path.is_dir() or not (path.suffix or path.is_file())]
    of_promotion = ("require_promote", "bench_root", "policy", "allow_replay")
    of_folder = ("task_class", "head", "require_complete", *of_promotion)
    if args.paths and not folders and not any(getattr(args, name) for name in of_folder):
        return max(_file_status(path, args.allow_rules) for path in args.paths)
    if len(args.paths) > 1 or folders != args.paths:
        raise ValueError("expected one output folder, or files without an option")
    return _verify_folder(args, folders[0] if folders else Path(".benchgate"))


def _file_status(path: Path, allow_rules: Collection[int]) -> int:
    """Print whether a file is valid; 1 if it is not or other rules decided it, 2 if it cannot be read."""
    from benchgate.training_types import validate_payload_file
    from benchgate.verify.validate import is_payload_file, validate_file

    try:
        if not is_payload_file(path):
            say(f"{path}: valid {validate_file(path, allow_rules=allow_rules)}")
            return 0
    except ArtifactError as error:
        complain(error)
        return 2 if isinstance(error, Unreadable) else 1
    errors = validate_payload_file(path)
    for line, fault in errors:
        complain(f"{path}:{line}: {fault}")
    if not errors:
        say(f"{path}: valid RL payload bundles")
    return 1 if errors else 0


def _verify_folder(args: argparse.Namespace, out: Path) -> int:
    """Print a line for each class; 1 if one is invalid or not as required or there is no record, 2 without a folder."""
    from benchgate.verify.verification import verify

    heads = dict(args.head)
    if len(heads) < len(args.head):
        raise ValueError("--head: one class is named twice")
    words = thresholds(args)
    verifications = verify(
        out,
        heads,
        expected=args.task_class,
        require_complete=args.require_complete or args.require_promote,
    )
    terms = _terms_of(verifications, args, out, words)
    for one in verifications:
        _report(one, out, terms.get(one.task_class))
    if not any(one.records for one in verifications):
        complain(f"{out}: there is no record of a run")
        return 1
    held = []
    if args.require_promote:
        for one in verifications:
            reasons = _not_promoted(one, terms.get(one.task_class), args)
            held += [f"{one.task_class}: not promoted: {reason}" for reason in reasons]
    for line in held:
        complain(line)
    if held or any(one.faults or one.incomplete for one in verifications):
        return 1
    return 0


def _terms_of(
    verifications: Iterable[ClassVerification],
    args: argparse.Namespace,
    out: Path,
    words: Iterable[str | Path],
) -> dict[str, Terms]:
    """Return what the newest record of each valid class is compared with, by the names of the classes."""
    from benchgate.gates.policy import defaults_of, parse_options
    from benchgate.verify.against_bench import Terms

    terms = {}
    for one in verifications:
        if one.newest is not None and not one.faults:
            said = parse_options(words, defaults_of(one.newest.report.source))
            terms[one.task_class] = Terms.of(one.newest, out, args.bench_root, said)
    return terms


def _not_promoted(
    one: ClassVerification, terms: Terms | None, args: argparse.Namespace
) -> list[str]:
    reason = one.not_promoted(allow_replay=args.allow_replay, allow_rules=args.allow_rules)
    if reason:
        return [reason]
    if terms is None:
        return []
    return list(terms.objections())


def _report(one: ClassVerification, out: Path, terms: Terms | None) -> None:
    from benchgate.verify.recheck_copy import AFTER

    for fault in (*one.faults, *one.incomplete):
        complain(f"{fault.path}: {fault.message}")
    if one.faults:
        first = one.faults[0]
        where = f"record {first.seq}" if 0 < first.seq < AFTER else out
        say(f"{one.task_class}: not valid; first fault: {where}")
        return
    if terms is None:
        say(f"{one.task_class}: no record yet")
        return
    number = counted(one.records, "valid record")
    record = terms.record
    state = "complete" if record.complete else "incomplete"
    say(f"{one.task_class}: {number}; newest: {record.decision.outcome}, {state}")
    say(f"  head      {one.task_class}={one.head}")
    for text in _stated_lines(one):
        say(f"  rules     {text}")
    for label, text in _newest_lines(terms):
        say(f"  {label:9} {text}")
    if one.anchored_at is None:
        others = ""
        if record.decision.look is not None:
            others = ", or that candidates were compared elsewhere"
        then = "store this head elsewhere, and pass it as --head next time"
        say(f"  careful   a chain cannot show that its newest records were deleted{others}: {then}")
    else:
        since = counted(one.records - one.anchored_at, "record")
        say(f"  kept      record {one.anchored_at} has the head that was given; {since} after it")


def _stated_lines(one: ClassVerification) -> Iterator[str]:
    """Yield which decisions were not computed again, for other rules made them: that of the newest record first."""
    from benchgate.gates.rules import not_computed

    earlier = Counter(one.stated.values())
    if one.newest is not None:
        why = not_computed(one.newest.rules)
        if why is not None:
            yield f"the newest record was {why}"
            earlier[one.newest.rules] -= 1
    for rules, count in sorted(earlier.items()):
        if count:
            were = "was" if count == 1 else "were"
            yield f"{counted(count, 'earlier record')} {were} {not_computed(rules)}"


def _newest_lines(terms: Terms) -> Iterator[tuple[str, str]]:
    from benchgate.wording import recommendation
    from benchgate.wording.decision import looks

    yield from terms.lines()
    record = terms.record
    verdict = record.verdict
    if verdict != "not_evaluated":
        passed = counted(verdict.bar.passed_count, "case")
        bar = f"{verdict.bar.score_lower_bound_95:g} and {passed}"
        tiers = f"{verdict.current_tier} to {verdict.target_tier}, bar {bar}"
        yield "tier", f"{tiers}: {recommendation(verdict, record.decision.outcome)}"
    text = looks(record.decision.look, record.policy)
    if text:
        yield "looks", text
