"""
Reads a folder of logs: the parts of one log, or the same cases several times.

Files that share no case are one log: those of Maven's modules, of the shards of a job, of single trials. If every case
is in every file, the files are trials. Nobody can tell anything between, and so a person has to.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from benchgate.errors import SampleError, Unreadable, counted, few
from benchgate.interop.formats import FORMATS, Beginning, opened
from benchgate.interop.log import open_file
from benchgate.interop.repetitions import TwoReadings
from benchgate.interop.roles import NONE
from benchgate.interop.vectors import REPORT_KIND
from benchgate.wire.canonical import digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from benchgate.interop.asked import Asked
    from benchgate.interop.log import Log, Row, Sample

FILE: Final = "file"
"""The field of each row that has the name of its file."""

MOST_FILES: Final = 10_000
ANYTHING: Final = ("jsonl", "csv")
"""Formats with any fields, which a file that belongs to a log may have too: they are read if there is no other."""

Key = tuple[str, str]
"""Case and trial."""


class Part(NamedTuple):
    """A file of a folder: its name in there, where it is, its format, and what it says of itself."""

    name: str
    path: Path
    format: str
    log: Log
    sha256: str


def log_files(folder: Path, wanted: str = "auto") -> Mapping[str, tuple[Path, str]]:
    """
    Return the files of a folder that are its log, each by its name there, with its path and its format.

    Files whose name begins with a dot, and what links lead to, are not looked at.

    :raises SampleError: there is none, they are of two formats, or one is of benchgate itself.
    """
    found: dict[str, tuple[Path, str]] = {}
    for path in _files(folder):
        name = _format_of(path, wanted)
        if name is not None:
            found[path.relative_to(folder).as_posix()] = (path, name)
    formats = {name for _, name in found.values()}
    formats = formats - {*ANYTHING} or formats
    if not formats:
        raise SampleError(folder, "a folder without record.json, and without a log that is known")
    if len(formats) > 1:
        names = " and ".join(sorted(formats))
        options = " or ".join(f"--format {name}" for name in sorted(formats))
        why = f"has logs of several formats: {names}; name one: {options}"
        raise SampleError(folder, why)
    return {name: one for name, one in found.items() if one[1] in formats}


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder, in an order in which 2 is before 10."""
    paths = []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        whole = (Path(place, name) for name in names if not name.startswith("."))
        paths += [path for path in whole if path.is_file() and not path.is_symlink()]
        if len(paths) > MOST_FILES:
            raise SampleError(folder, f"more than {MOST_FILES} files; give the folder of one log")
    yield from sorted(paths, key=_natural)


def _natural(path: Path) -> list[tuple[int, str]]:
    parts = re.split(r"(\d+)", path.as_posix())
    return [(int(part) if part.isdecimal() else -1, part) for part in parts]


def _format_of(path: Path, wanted: str) -> str | None:
    """Return the format that a file looks like; ``None`` if that is none, or not the wanted one."""
    with open_file(path) as file:
        head = file.head
    if REPORT_KIND.match(head):
        raise SampleError(path, "is a file of benchgate, in a folder of logs; give a run's folder")
    if not head.strip():
        return None
    beginning = Beginning.of(path.name, head)
    if wanted == "auto":
        return next((name for name, one in FORMATS.items() if one.is_likely(beginning)), None)
    is_wanted = wanted in FORMATS and FORMATS[wanted].is_likely(beginning)
    return wanted if is_wanted else None


def _parts(folder: Path, wanted: str, rows: str | None) -> Iterator[Part]:
    for name, (path, format_name) in log_files(folder, wanted).items():
        with opened(path, format_name, rows) as (_, log, sha256):
            yield Part(name, path, format_name, log, sha256)


def _kept(parts: Sequence[Part], how: Asked) -> tuple[Sequence[Part], tuple[str, ...]]:
    """
    Return the files that are read, and what is to be said of the others.

    :raises SampleError: two are one file, or two logs of one task, and nobody said that they are repetitions.
    """
    if how.fields.get("trial") == FILE:
        return parts, ()
    _refuse_copies(parts)
    kept = []
    said = []
    for part in parts:
        newer = _newer(part, parts)
        if newer is None:
            kept.append(part)
        else:
            said.append(f"{part.name} is not read: it did not succeed, and {newer.name} is newer")
    _refuse_two_of_a_task(kept)
    return kept, tuple(said)


def _refuse_copies(parts: Sequence[Part]) -> None:
    seen: dict[str, Part] = {}
    for part in parts:
        before = seen.setdefault(part.sha256, part)
        if before is not part:
            why = f"has the same bytes as {before.path}: one of them is a copy. "
            why += f"If they are repetitions that agree, say so: --map trial={FILE}"
            raise SampleError(part.path, why)


def _newer(part: Part, parts: Sequence[Part]) -> Part | None:
    """Return the log of the same task that a failed or cancelled one gives way to."""
    if part.format != "inspect" or not part.log.ended_early or part.log.started is None:
        return None
    for other in parts:
        is_newer = other.log.started is not None and other.log.started > part.log.started
        if is_newer and not other.log.ended_early and other.log.task == part.log.task:
            return other
    return None


def _refuse_two_of_a_task(parts: Sequence[Part]) -> None:
    """Refuse several logs of one task of inspect_ai: each of them is the whole of it."""
    seen: dict[str | None, Part] = {}
    for part in parts:
        if part.format != "inspect":
            continue
        before = seen.setdefault(part.log.task, part)
        if before is not part:
            why = f"is a log of task {part.log.task!r}, as {before.path} is: which one counts? Give its file; "
            why += f"or, if they are repetitions, --map trial={FILE}"
            raise SampleError(part.path, why)


class Folder:
    """
    The files of a folder as one log, and whether they are parts of it or repetitions.

    :param wanted: their format, or ``auto``.
    :ivar log: of the rows of all files; ``sha256`` is that of the digests of all of them.
    :ivar said: what the files are taken for, known once their rows were read, and which are not read.
    :raises SampleError: there is no log in it, or its files do not belong together.
    """

    def __init__(self, path: Path, wanted: str, how: Asked) -> None:
        self.path = path
        self._how = how
        self._parts, self.said = _kept([*_parts(path, wanted, how.rows)], how)
        self._selected = self._parts
        _refuse_other_fields(self._parts, how)
        self.format = self._parts[0].format
        self.sha256 = digest(["files", *sorted(part.sha256 for part in self._parts)])
        self._opened: list[Log] = []
        self.log = self._as_one()

    def _as_one(self) -> Log:
        """Return the log that all files are together."""
        logs = [part.log for part in self._parts]
        return replace(
            logs[0],
            rows=self._all_rows(),
            version=_only(log.version for log in logs),
            task=_only(log.task for log in logs),
            system=_only(log.system for log in logs),
            started=max((log.started for log in logs if log.started), default=None),
            named=self._named,
            unrun=self._unrun,
            ended_early=any(log.ended_early for log in logs),
        )

    def _named(self) -> Iterator[str]:
        """Yield the cases that the files name."""
        for part, log in zip(self._parts, self._opened, strict=True):
            for case_id in log.named():
                yield self.as_case(part.name, case_id)

    def _unrun(self) -> Iterator[dict[str, Any]]:
        """Yield the rows without a result, each with its file."""
        for part, log in zip(self._parts, self._opened, strict=True):
            for row in log.unrun():
                yield {**row, FILE: part.name}

    def as_case(self, name: str, case_id: str) -> str:
        """Return what a case is called: with its file where equal names are two cases."""
        if "trial" in self._how.without:
            return f"{name}::{case_id}"
        return case_id

    def _all_rows(self) -> Iterator[Row]:
        for part in self._parts:
            in_full = self._how.in_full
            with opened(part.path, part.format, self._how.rows, in_full=in_full) as (
                _,
                log,
                sha256,
            ):
                if sha256 != part.sha256:
                    raise Unreadable(part.path, "changed while the folder was read")
                for row in log.rows:
                    yield row._replace(fields={**row.fields, FILE: part.name})
            self._opened.append(log)

    def told_apart(self, found: Sequence[tuple[str, Sample]]) -> Iterator[Sample]:
        """
        Yield the samples of all rows, with trial or case by their file where that is what tells them apart.

        :param found: each with the name of its file.
        :raises TwoReadings: nobody can tell.
        """
        self._leave_out_unselected({name for name, _ in found})
        count = counted(len(self._selected), "file")
        if "trial" in self._how.without:
            said = f"{count}; a name that is in two of them is two cases"
            for name, sample in found:
                yield replace(sample, case_id=self.as_case(name, sample.case_id))
        elif self._are_trials(found):
            said = f"{count}, each a trial: every case is in all of them"
            for name, sample in found:
                yield replace(sample, trial=f"{name} {sample.trial}".strip())
        else:
            said = f"{count}, parts of one log: none has a sample of another"
            if self._how.fields.get("trial") == FILE:
                said = f"{count}, each a trial of its cases"
            elif len(self._selected) == 1:
                said = count
            yield from (sample for _, sample in found)
        self.said = (*self.said, said)

    def _leave_out_unselected(self, names: AbstractSet[str]) -> None:
        """Keep the files with a row that somebody selected; without a selection, a file without rows counts too."""
        if not self._how.where:
            return
        left = [part.name for part in self._parts if part.name not in names]
        self._selected = [part for part in self._parts if part.name in names]
        if left:
            self.said = (
                *self.said,
                f"{counted(len(left), 'file')} without such a row: {few(left)}",
            )

    def _are_trials(self, found: Iterable[tuple[str, Sample]]) -> bool:
        """
        Whether every case is in every file. Those of two tasks may have the same ids, and are none.

        :raises TwoReadings: some samples are in several files, so that they are no parts either.
        """
        by_file: dict[str, set[Key]] = {part.name: set() for part in self._selected}
        for name, sample in found:
            by_file[name].add((sample.case_id, sample.trial))
        if not by_file:
            return False
        first, *others = by_file.values()
        if sum(map(len, by_file.values())) == len(first.union(*others)):
            return False
        is_one_task = len({part.log.task for part in self._selected}) == 1
        if not is_one_task or any(keys != first for keys in others):
            self._ask(by_file)
        return True

    def _ask(self, by_file: Mapping[str, set[Key]]) -> None:
        """Refuse files that are neither parts nor trials for sure, with both readings to be typed."""
        files: dict[str, list[str]] = defaultdict(list)
        for name, keys in by_file.items():
            for case_id in sorted({case_id for case_id, _ in keys}):
                files[case_id].append(name)
        shared = sorted(case_id for case_id, names in files.items() if len(names) > 1)
        single = sorted(case_id for case_id, names in files.items() if len(names) < len(by_file))
        example = f"{shared[0]} is in {few(files[shared[0]])}"
        if single:
            example += f", {single[0]} only in {few(files[single[0]])}"
            if single[0] == shared[0]:
                example = f"{shared[0]} is in {few(files[shared[0]])}, not in all"
        tasks = sorted({part.log.task for part in self._selected if part.log.task})
        if len(tasks) > 1:
            example += f"; tasks: {few(tasks)}"
        cases = sum(len({case for case, _ in keys}) for keys in by_file.values())
        what = f"{len(shared)} of {counted(len(files), 'case')} are in several of its {len(by_file)} files"
        lines = (
            f"{what} ({example}). Are the files repetitions, or parts of one log? Say which, by one of",
            f"  --map trial={FILE}   repetitions: {counted(len(files), 'case')}; what a file lacks was not run",
            f"  --map trial={NONE}   parts: {counted(cases, 'case')}, each with the name of its file",
        )
        raise TwoReadings(self.path, "\n".join(lines))


def _only(values: Iterable[str | None]) -> str | None:
    """Return what all files say; ``None`` if they differ."""
    found = {*values}
    if len(found) > 1:
        return None
    return found.pop()


def _refuse_other_fields(parts: Sequence[Part], how: Asked) -> None:
    """Refuse files whose rows are at another place, or have another field for a role of which nobody named one."""
    first = parts[0]
    for part in parts:
        if part.log.rows_at != first.log.rows_at:
            places = [one.log.rows_at or "no field" for one in (part, first)]
            why = f"has its rows at {places[0]}, and {first.path} at {places[1]}; name one: --rows FIELD"
            raise SampleError(part.path, why)
        if _guessed(part, how) != _guessed(first, how) or part.log.tool != first.log.tool:
            why = f"has other fields than {first.path}; name them: --map case=FIELD,score=FIELD"
            raise SampleError(part.path, why)


def _guessed(part: Part, how: Asked) -> Mapping[str, tuple[str, ...]]:
    return {role: names for role, names in part.log.layout.fields.items() if role not in how.fields}
