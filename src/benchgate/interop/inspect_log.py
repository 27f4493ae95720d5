"""Logs of inspect_ai, ``.eval`` and JSON, read by its own functions."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import EvalError, Unreadable
from benchgate.interop.log import MAX_WHOLE, Log, moment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from inspect_ai.log import EvalSample, EvalSampleSummary

    from benchgate.interop.log import Row

LETTERS: Final = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Values that its scorers give for correct, partially correct, incorrect and no answer."""

UNUSED: Final = {"messages", "events", "events_data", "attachments", "store"}
"""Large parts of a sample that say nothing of its score."""


def open_inspect(path: Path, *, in_full: bool = False) -> Log:
    """
    Open a log of inspect_ai.

    Of an ``.eval`` the summaries of the samples are read, not their transcripts.

    :param in_full: read whole inputs and answers, which a summary cuts.
    :raises EvalError: inspect_ai is not installed.
    """
    try:
        from inspect_ai.log import read_eval_log
    except ImportError as error:
        msg = f"{path}: is a log of inspect_ai, which reads it: pip install 'pytest-benchgate[inspect]'"
        raise EvalError(msg) from error
    is_whole = not _is_zip(path)
    if is_whole and os.path.getsize(path) > MAX_WHOLE:
        why = (
            f"more than {MAX_WHOLE} bytes of JSON; make it an .eval: inspect log convert --to eval"
        )
        raise Unreadable(path, why)
    try:
        head = read_eval_log(str(path), header_only=True, format="json" if is_whole else "eval")
    except Exception as error:  # its readers raise whatever their parsers do
        raise Unreadable(path, f"inspect_ai cannot read it: {_first_line(error)}") from error
    spec = head.eval
    return Log(
        tool="inspect_ai",
        version=spec.packages.get("inspect_ai"),
        rows=_rows(path, is_whole=is_whole, in_full=in_full or head.invalidated),
        fields={
            "case": ("id",),
            "trial": ("epoch",),
            "error": ("error",),
            "input": ("input",),
            "target": ("target",),
            "answer": ("answer",),
        },
        metrics=_metrics,
        metric_prefix="scores.",
        task=spec.task,
        system=spec.model,
        started=moment(str(spec.created)),
        named=lambda: [str(one) for one in spec.dataset.sample_ids or ()],
        ended_early=head.status != "success",
    )


def _is_zip(path: Path) -> bool:
    with open(path, "rb") as file:
        return file.read(2) == b"PK"


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".partition("\n")[0]


def _metrics(row: Any) -> list[str]:
    """Return the scores of a sample; of a score with several values each of these."""
    found: list[str] = []
    for name, value in row["scores"].items():
        found += [f"{name}.{key}" for key in value] if isinstance(value, dict) else [name]
    return [f"scores.{name}" for name in found]


def _rows(path: Path, *, is_whole: bool, in_full: bool) -> Iterator[Row]:
    from inspect_ai.log import read_eval_log_sample_summaries, read_eval_log_samples

    kind: Any = "json" if is_whole else "eval"
    try:
        if in_full:  # a summary does not say either that a sample was marked as invalid
            yield from _fields(
                read_eval_log_samples(
                    str(path), all_samples_required=False, format=kind, exclude_fields=UNUSED
                )
            )
        else:
            yield from _fields(read_eval_log_sample_summaries(str(path), kind))
    except EvalError:
        raise
    except Exception as error:
        raise Unreadable(path, f"inspect_ai cannot read it: {_first_line(error)}") from error


def _fields(
    samples: Iterable[EvalSample | EvalSampleSummary],
) -> Iterator[Row]:
    for sample in samples:
        told = sample.error
        error = told if told is None or isinstance(told, str) else told.message
        if getattr(sample, "invalidation", None) is not None:
            error = "Invalidated: the sample was marked as invalid"
        yield (
            0,
            {
                "id": str(sample.id),
                "epoch": sample.epoch,
                "metadata": sample.metadata,
                "error": error,
                "input": _text(sample.input),
                "choices": sample.choices,
                "target": sample.target,
                "scores": {
                    name: _value(score.value) for name, score in (sample.scores or {}).items()
                },
                "answer": _answer(sample),
            },
        )


def _answer(sample: EvalSample | EvalSampleSummary) -> str | None:
    """Return what a scorer took for the answer, if they agree, else all that was said."""
    told = {score.answer for score in (sample.scores or {}).values()}
    output = getattr(sample, "output", None)
    return told.pop() if len(told) == 1 and None not in told else output and output.completion


def _value(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _value(one) for key, one in value.items()}
    return LETTERS.get(value, value) if isinstance(value, str) else value


def _text(given: Any) -> Any:
    """Return an input without the ids of its messages, which are new in each run."""
    if isinstance(given, str):
        return given
    return [[message.role, message.text] for message in given]
