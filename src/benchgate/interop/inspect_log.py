"""Logs of inspect_ai, ``.eval`` and JSON, read by its own functions."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final
from zipfile import ZipFile

from benchgate.errors import EvalError, Unreadable
from benchgate.interop.log import Layout, Log, Row, moment, parsed, whole_json
from benchgate.wire.parsing import repeated

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from inspect_ai.log import EvalLog, EvalSample, EvalSampleSummary

    from benchgate.interop.log import LogFile

    Found = tuple[EvalSample | EvalSampleSummary, bool]
    """A sample, as far as it was read, and whether it was marked as invalid."""

LETTERS: Final = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Values that its scorers give for correct, partially correct, incorrect and no answer."""

MAX_MEMBER: Final = 256 * 2**20
"""Bytes of the largest part of an archive that is parsed as a whole, which takes several times its size."""

UNUSED: Final = {"messages", "events", "events_data", "attachments", "store"}
"""Large parts of a sample that say nothing of its score."""


def open_inspect(file: LogFile) -> Log:
    """
    Open a log of inspect_ai.

    Of an ``.eval`` the summaries of the samples are read, not their transcripts; their inputs and answers are cut.

    :raises EvalError: inspect_ai is not installed. :raises Unreadable: it is no log, or not one alone.
    """
    is_whole = file.file.read(2) != b"PK"
    if not is_whole:
        _check_archive(file)
    try:
        from inspect_ai.log import read_eval_log
    except ImportError as error:
        msg = f"{file.path}: is a log of inspect_ai, which reads it: pip install inspect_ai"
        raise EvalError(msg) from error
    with _reading(file):
        _refuse_repeated_keys(file, is_whole=is_whole)
        if is_whole:
            # As bytes: inspect_ai keeps the last JSON log that it read from a path and returns it for the next file
            # of that path, and the descriptors of two logs, opened one after the other, have one number.
            file.file.seek(0)
            head = read_eval_log(file.file, format="json")
            samples = _in_json(file, head)
        else:
            head = read_eval_log(_descriptor(file), header_only=True, format="eval")
            samples = _in_archive(file, in_full=head.invalidated or file.in_full)
    spec = head.eval
    return Log(
        tool="inspect_ai",
        version=spec.packages.get("inspect_ai"),
        rows=_rows(samples),
        layout=Layout(
            fields={
                "case": ("id",),
                "trial": ("epoch",),
                "error": ("error",),
                "input": ("input",),
                "target": ("target",),
                "answer": ("output",),
            },
            letters=LETTERS,
        ),
        metric_prefix="scores.",
        task=spec.task,
        system=spec.model,
        started=moment(str(spec.created)),
        named=lambda: [str(one) for one in spec.dataset.sample_ids or ()],
        ended_early=head.status != "success",
    )


@contextmanager
def _reading(file: LogFile) -> Iterator[None]:
    """Turn whatever the readers of inspect_ai raise, which is what their parsers do, into :class:`Unreadable`."""
    try:
        yield
    except EvalError:
        raise
    except Exception as error:
        why = f"{type(error).__name__}: {error}".partition("\n")[0]
        raise Unreadable(file.path, f"inspect_ai cannot read it: {why}") from error


def _descriptor(file: LogFile) -> str:
    """Return a path of the descriptor: what is at the path of the file may be another one by now."""
    return f"/dev/fd/{file.file.fileno()}"


def _check_archive(file: LogFile) -> None:
    """Refuse what a reader of ZIP passes over: an archive before the last one, and the first of two members."""
    with _reading(file), ZipFile(file.file) as archive:
        members = archive.infolist()
    for member in members:
        if member.file_size > MAX_MEMBER and not member.filename.startswith("samples/"):
            why = f"{member.filename} in it has {member.file_size} bytes; at most {MAX_MEMBER} are read"
            raise Unreadable(file.path, why)
    names = [m.filename for m in members if m.filename in ("header.json", "summaries.json")]
    if (twice := repeated(names)) is not None:
        raise Unreadable(file.path, f"{twice} is in it twice; expected one")
    file.file.seek(-22, os.SEEK_END)  # where the end record is, unless a comment or more follows it
    is_last = file.file.read(4) == b"PK\x05\x06"
    if not is_last or min((member.header_offset for member in members), default=0):
        raise Unreadable(
            file.path, "has more than one archive, or more after it; expected the log alone"
        )


def _refuse_repeated_keys(file: LogFile, *, is_whole: bool) -> None:
    """
    Parse what inspect_ai will read, for it takes the last of two values of a key.

    :raises ValueError: a key is twice in one object.
    """
    if is_whole:
        whole_json(file)
        return
    with ZipFile(file.file) as archive:
        for name in archive.namelist():
            if name.endswith(".json") and not name.startswith("samples/"):
                parsed(archive.read(name))


def _metrics(scores: dict[str, Any]) -> list[str]:
    """Return the scores of a sample; of a score with several values each of these."""
    names: list[str] = []
    for name, value in scores.items():
        if isinstance(value, dict):
            names += [f"{name}.{key}" for key in value]
        else:
            names.append(name)
    return [f"scores.{name}" for name in names]


def _in_json(file: LogFile, log: EvalLog) -> Iterator[Found]:
    with _reading(file):
        for sample in log.samples or ():
            shown = sample if file.in_full else sample.summary()
            yield shown, sample.invalidation is not None


def _in_archive(file: LogFile, *, in_full: bool) -> Iterator[Found]:
    from inspect_ai.log import read_eval_log_sample_summaries, read_eval_log_samples

    path = _descriptor(file)
    with _reading(file):
        if in_full:  # a summary does not say either that a sample was marked as invalid
            whole: Any = {"all_samples_required": False, "exclude_fields": UNUSED}
            for sample in read_eval_log_samples(path, format="eval", **whole):
                yield sample, sample.invalidation is not None
        else:
            for summary in read_eval_log_sample_summaries(path, "eval"):
                yield summary, False


def _rows(samples: Iterable[Found]) -> Iterator[Row]:
    for sample, is_invalid in samples:
        error = getattr(sample.error, "message", sample.error)
        if is_invalid:
            error = "Invalidated: the sample was marked as invalid"
        scores = {name: score.value for name, score in (sample.scores or {}).items()}
        fields = {
            "id": str(sample.id),
            "epoch": sample.epoch,
            "metadata": sample.metadata,
            "error": error,
            "input": _text(sample.input),
            "target": sample.target,
            "output": _answer(sample),
            "scores": scores,
        }
        yield Row(0, fields, _metrics(scores))


def _answer(sample: EvalSample | EvalSampleSummary) -> str | None:
    """Return what the model said last; a summary does not have it."""
    output = getattr(sample, "output", None)
    return output.completion if output is not None else None


def _text(shown: Any) -> Any:
    """Return an input without the ids of its messages, which are new in each run."""
    if isinstance(shown, str):
        return shown
    return [[message.role, message.text] for message in shown]
