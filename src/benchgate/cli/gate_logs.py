"""``benchgate gate`` over two logs of other harnesses, and how commands read a log."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from benchgate.cli.options import thresholds
from benchgate.cli.say import complain, say, show
from benchgate.errors import ArtifactError, counted, few
from benchgate.interop.roles import ROLES
from benchgate.wire import clock

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet
    from datetime import datetime

    from benchgate.audit.store import Published
    from benchgate.gates.baseline import Baseline
    from benchgate.gates.judge import FinishedRun, Judgement
    from benchgate.gates.policy import GatePolicy
    from benchgate.interop.asked import Side
    from benchgate.interop.log import Samples
    from benchgate.looks.tally import Counted, Looked
    from benchgate.models import LogSource
    from benchgate.models.texts import LogTexts
    from benchgate.report.publish import Publication
    from benchgate.report.source import OfLogs

NOT_COUNTED = "--new-series begins to count looks anew, and nobody counts them here: --ledger FILE"
TIMEOUT: float = 600.0
"""Time limit that a record states, in seconds; what the other harness had is not known."""

MOST_LINES = 3
"""Lines that are named of a case that a log has more than once."""

LESS_IS_BETTER = frozenset(
    {
        *("time", "latency", "duration", "seconds", "secs", "ms", "delay"),
        *("cost", "costs", "price", "usd", "tokens", "loss", "perplexity"),
        *("error", "errors", "wer", "cer", "mae", "mse", "rmse", "failures", "violations"),
    }
)
"""Words in the name of a score of which less is better, as a rule."""

FORMATS = (
    *("auto", "inspect", "swebench", "junit", "deepeval", "pydantic-evals", "langsmith"),
    *("braintrust", "promptfoo", "ctrf", "pytest-json-report", "evalplus", "harbor"),
    *("openai-evals", "lm-eval", "jsonl", "csv"),
)


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Declare how logs are read."""
    text = "of the logs (default: what they look like)"
    parser.add_argument("--format", choices=FORMATS, default="auto", help=text)
    parser.add_argument(
        "--rows",
        action="append",
        metavar="FIELD",
        help="of a JSON document: the field that has the rows, a list or an object by id; a dot leads into an object: "
        "results.tests (default: where the format has them, else the only list); A:FIELD is that of A alone",
    )
    parser.add_argument(
        "--map",
        action="append",
        metavar="ROLE=FIELD,...|FILE.toml",
        help=f"the fields of a sample that are its {', '.join(ROLES)}, as in case=id,score=resolved; a dot leads "
        "into an object: score=metrics.exact; FIELD~REGEX takes what its groups find: trial=name~(\\d+)$; trial=none "
        "takes nothing; A:score=old,B:score=new are those of A and of B alone; or a file of them (default: "
        "bench/CLASS/logs.toml of the class that is named)",
    )
    parser.add_argument("--metric", metavar="NAME", help="the score, where samples have several")
    parser.add_argument(
        "--where",
        action="append",
        metavar="FIELD=VALUE",
        help="read only rows that have this value, FIELD= those that have none; repeatable; A:FIELD=VALUE and "
        "B:FIELD=VALUE are for A and B alone, which may be one file then",
    )
    text = "of tests and promptfoo: count a failed test as an error if this is found in its message"
    parser.add_argument("--errors-by", metavar="REGEX", help=text)


def reading(args: argparse.Namespace, side: Side = "A") -> dict[str, Any]:
    """Return how the log of a side is read, as :func:`benchgate.interop.read` takes it; a class may have a map."""
    from benchgate.interop.asked import of_side, parse_map, parse_rows
    from benchgate.registry import TASK_CLASS_PATTERN

    name = getattr(args, "task_class", None) or ""
    of_class = Path("bench") / name / "logs.toml"
    is_there = TASK_CLASS_PATTERN.fullmatch(name) is not None and of_class.exists()
    fields = of_class if is_there and not args.map else parse_map(args.map or (), side)
    rows = parse_rows(of_side(args.rows or (), side))
    options = {"format": args.format, "rows": rows, "map": fields, "metric": args.metric}
    return options | {"where": of_side(args.where or (), side), "errors_by": args.errors_by}


def is_by_side(args: argparse.Namespace) -> bool:
    """Say whether the two sides are read differently, so that one file may have both."""
    return reading(args, "A") != reading(args, "B")


def gate_logs(args: argparse.Namespace, paths: Sequence[Path]) -> int:
    """Judge two logs, and record what was decided if an output folder is named."""
    from benchgate.report.publish import VARIABLE, Publication, write_case
    from benchgate.report.source import OfLogs
    from benchgate.runner.judging import write_evidence
    from benchgate.wording.block import Door, block

    publication = Publication(html=args.html, summary=os.environ.get(VARIABLE))
    publication.check()
    logs, run, started = _run(args, paths)
    judgement, published = _decided(args, run, started)
    for line in _sides(logs, run.report.source):
        say(line)
    if published is not None:
        write_case(args.out / "gate.xml", judgement)
        if args.html is None and find_spec("jinja2") is not None:
            publication = replace(publication, html=args.out / "gate.html")
    page = "--html=page.html" if publication.html is None else ""
    files = str(published.folder) if published else ""
    show(block(judgement, Door(verbosity=args.verbose, more="-v", page=page, files=files)))
    of_logs = OfLogs(
        read_texts=partial(_texts, args, logs), judged=judgement if published is None else None
    )
    if published is not None:
        problems = _shown(publication, published.folder, of_logs)
        say(f"head      {published.head}")
        problems.append(published.problem)
    elif publication.html is not None or publication.summary:
        with TemporaryDirectory() as evidence:
            write_evidence(judgement, Path(evidence))
            problems = _shown(publication, Path(evidence), of_logs)
    else:
        problems = []
    for problem in filter(None, (*problems, *judgement.faults)):
        complain(problem)
    return 1 if any(problems) else judgement.exit_status


def _texts(
    args: argparse.Namespace, logs: tuple[Samples, Samples], case_ids: AbstractSet[str]
) -> tuple[LogTexts, LogTexts]:
    """Return the questions and answers of some cases, of which both logs are read once more."""
    from benchgate.interop.texts import texts_of

    before, after = logs
    return (
        texts_of(before, case_ids, **reading(args, "A")),
        texts_of(after, case_ids, **reading(args, "B")),
    )


def _shown(publication: Publication, folder: Path, of_logs: OfLogs) -> list[str | None]:
    """Write page and summary of a record, or of evidence that nobody keeps; return why one is not written."""
    is_compared = any((folder / name).exists() for name in ("record.json", "proof.json"))
    compared = [folder] if is_compared else []
    page = publication.write_page([folder], of_logs=of_logs)
    return [page, publication.append_summary(compared, of_logs=of_logs)]


def _decided(
    args: argparse.Namespace, run: FinishedRun, started: datetime
) -> tuple[Judgement, Published | None]:
    from benchgate.artifacts.provenance import Provenance
    from benchgate.artifacts.record import RunTerms
    from benchgate.interop.reports import TAXONOMY
    from benchgate.looks.ledger import LookLedger
    from benchgate.runner.judging import judged, record_reports

    if args.out is not None:
        if args.ledger is not None:
            why = "--out counts looks in its records, --ledger in a file: give one of them"
            raise ValueError(why)
        terms = RunTerms(
            severities=TAXONOMY.severities,
            meanings=TAXONOMY.meanings,
            provenance=Provenance.here(),
        )
        return record_reports(args.out, run, started, terms, TIMEOUT)
    looks_of_policy = run.facts.policy.looks
    if args.ledger is None and looks_of_policy != "count":
        why = f"looks = '{looks_of_policy}' needs --out or --ledger: without one nobody counts the looks"
        raise ArtifactError("looks", why)
    if args.ledger is None:
        return judged(run, None), None
    ledger = LookLedger(args.ledger)
    looks: list[Looked] = []

    def count(looked: Looked) -> Counted:
        looks.append(looked)
        return ledger.add(looked)

    judgement = judged(run, count)
    if looks and judgement.decision is not None:
        ledger.note(looks[-1], judgement.decision)
    return judgement, None


def _run(
    args: argparse.Namespace, paths: Sequence[Path]
) -> tuple[tuple[Samples, Samples], FinishedRun, datetime]:
    """Return what was read, what is judged, and when the candidate was run, as far as that is known."""
    from benchgate.gates.policy import LOG_DEFAULTS, parse_options
    from benchgate.interop.reports import LogTerms, report_pair, task_class_of
    from benchgate.interop.rows import read
    from benchgate.runner.judging import run_of_logs

    before = read(paths[0], **reading(args, "A"))
    after = read(paths[1], **reading(args, "B"))
    logs = (before, after)
    # Inputs and targets are compared where both logs have them, written by the same rules.
    with_inputs = (False, False)
    if before.format == after.format:
        inputs, targets = map(all, zip(before.has_inputs, after.has_inputs, strict=True))
        with_inputs = (inputs, targets)
    name = task_class_of(logs, args.task_class)
    options = parse_options(thresholds(args), LOG_DEFAULTS)
    terms = LogTerms.of(name, options, with_inputs)
    base, candidate = report_pair(before, after, terms, (args.baseline_id, args.candidate_id))
    now = clock.now()
    started = min(now, after.header.started or now)
    run = run_of_logs(
        base,
        candidate,
        terms.policy,
        place=_place(args, paths[0], name),
        new_series=args.new_series,
    )
    return logs, run, started


def _place(args: argparse.Namespace, baseline: Path, task_class: str) -> str | None:
    """Return where the log of the baseline is, from where its looks are counted."""
    from benchgate.looks.chain import place_of

    if args.ledger is not None:
        return place_of(baseline, args.ledger.absolute().parent)
    if args.out is not None:
        return place_of(baseline, args.out / "runs" / task_class / "record")
    if args.new_series is not None:
        raise ValueError(NOT_COUNTED)
    return None


def _sides(logs: Sequence[Samples], source: LogSource | None) -> Iterator[str]:
    """Yield what was read, what was not, and which samples have no score or no result."""
    from benchgate.gates.cures import OF_TESTS

    shown: set[str] = set()
    for side, log in zip(("baseline", "candidate"), logs, strict=True):
        cases = {sample.case_id for sample in log.samples}
        tool = " ".join(filter(None, (log.header.tool, log.header.version)))
        size = f"{counted(len(log.samples), 'sample')} of {counted(len(cases), 'case')}"
        yield f"{side:9} {log.path}: log of {tool}, {size}"
        told = (one for one in log.told if not _is_of_fields(one))
        lines = [_fields_of(log, source), *told]
        if log.ungated:
            lines.append(f"scores of it that are not gated: {', '.join(log.ungated)}")
        yield from (f"{'':9} {line}" for line in log.files)
        yield from (f"{'':9} {line}" for line in lines if line not in shown)
        shown |= {*lines}
        for why, count in log.left.items():
            yield f"{'':9} {counted(count, 'row')} not read: {why}"
        errors = sorted({sample.case_id for sample in log.errors})
        more = "more than once in it, as one trial"
        if log.header.tool in OF_TESTS:
            more = f"run again, or {more}"
        else:
            more += "; --map trial=FIELD numbers repetitions, --where FIELD=VALUE reads a part"
        odd = {
            "with an error or without a score, which counts as the worst": errors,
            more: _repeated(log),
            "named without a result": log.without,
        }
        for what, ids in odd.items():
            if ids:
                yield f"{'':9} {counted(len(ids), 'case')} {what}: {few(ids)}"
    yield from _direction(logs[-1].metric, source)


def _direction(metric: str, source: LogSource | None) -> Iterator[str]:
    """Yield that higher counts as better, of a score whose name says that less is."""
    words = {*re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", metric).lower())}
    if source is None or words.isdisjoint(LESS_IS_BETTER):
        return
    low, high = source.score_range
    if low < high:
        turned = f"--policy 'score_range=[{high:g}, {low:g}]'"
        yield f"{'careful':9} higher {metric} counts as better; if less is better: {turned}"


def _repeated(log: Samples) -> list[str]:
    """Return the cases that a log has more than once, each with the lines where it is."""
    return [_with_lines(case_id, log.repeated_at.get(case_id, ())) for case_id in log.repeated]


def _with_lines(case_id: str, lines: Sequence[int]) -> str:
    if not lines:
        return case_id
    shown = [str(line) for line in lines[:MOST_LINES]]
    if len(shown) < len(lines):
        shown.append("...")
    return f"{case_id} (lines {', '.join(shown)})"


def _is_of_fields(told: str) -> bool:
    """Say whether the line of the fields has it already, with who said so; a file of a map has a line of its own."""
    return told.startswith("rows ") or (told.startswith("map ") and "=" in told)


def _fields_of(log: Samples, source: LogSource | None) -> str:
    """Return which field is what, in which direction it is better, and who said so."""
    is_reversed = source is not None and source.score_range[0] > source.score_range[1]
    better = {"harm": "less", "penalty": "less", "safety": "more"}
    better["score"] = "less" if is_reversed else "more"
    by: dict[str, list[str]] = {}
    for role, name, who in log.fields:
        direction = f" ({better[role]} is better)" if role in better else ""
        key = f"by {who}" if who else f"as {log.header.tool} has it"
        by.setdefault(key, []).append(f"{role}={name}{direction}")
    return "; ".join(f"{', '.join(texts)} {who}" for who, texts in by.items())


def baseline_of_log(args: argparse.Namespace) -> tuple[Baseline, GatePolicy, int]:
    """Return a log that a comparison is planned with as a baseline, the policy, and the number of trials."""
    from benchgate.gates.baseline import baseline_beside
    from benchgate.gates.policy import LOG_DEFAULTS, parse_options
    from benchgate.interop.reports import LogTerms, report_of, task_class_of
    from benchgate.interop.rows import read
    from benchgate.looks.chain import place_of
    from benchgate.sentences.says import joined

    log = read(args.log, **reading(args))
    options = parse_options(thresholds(args), LOG_DEFAULTS)
    terms = LogTerms.of(task_class_of((log,), args.task_class), options)
    report = report_of(log, terms, log.header.system or log.path.name)
    baseline = baseline_beside(report)
    if baseline.problems:
        raise ValueError(f"{args.log}: nothing to plan with: {joined(baseline.problems)}")
    place = place_of(args.log, args.runs / "runs" / report.task_class / "record")
    return replace(baseline, place=place), terms.policy, report.trial_count
