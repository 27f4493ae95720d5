"""The HTTP of one attempt at a trial: what ``case.http_transport()`` of its case speaks to."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from benchgate.cassettes.shelf import HTTP, OBSERVED, ClassCassettes
from benchgate.errors import EvalError
from benchgate.ids import trial_file_name
from benchgate.options.kinds import CASSETTE_NAME
from benchgate.trials.calls import Told
from benchgate.wire.canonical import digest, sha256_hex
from benchgate.wire.writing import artifact_errors, make_folder, write_file

if TYPE_CHECKING:
    from pathlib import Path

    from benchgate.http.conversation import Conversation
    from benchgate.models import BenchCase


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpTerms:
    """
    What is done with the requests of a system.

    :param system: its name, by which a recording is looked for that the system gives no name.
    :param class_path: the folder of the class, whose ``cassettes/`` has the recordings.
    :param number: of the observation whose they are; 0: they are the system's.
    :param record: the folder in which they are recorded; ``None``: they are answered from a recording, and never sent.
    """

    system: str
    class_path: Path
    record: Path | None = None
    number: int = 0


class TrialHttp:
    """The requests of one attempt. Nothing is imported or read before somebody asks for a transport."""

    def __init__(self, terms: HttpTerms, case: BenchCase) -> None:
        self._suffix = OBSERVED.format(terms.number) if terms.number else HTTP
        self.terms = terms
        self._case = case
        self._conversations: dict[str, Conversation] = {}
        self._digests: set[str] = set()
        self._problem: EvalError | None = None
        self.told: Told | None = None  # of a process of its own, which has done all this

    def transport(self, name: str | None, inner: Any) -> Any:
        """Return a transport; all of one attempt share what is recorded, or what is left of a recording."""
        from benchgate.http.transport import Transport

        try:
            return Transport(self._conversation(name or self.terms.system), inner)
        except EvalError as error:
            self._problem = error
            raise

    def _conversation(self, name: str) -> Conversation:
        from benchgate.http.conversation import Recording, Replay
        from benchgate.http.exchange import HttpRecording

        if self.terms.record is not None:
            # One for all names: a recording has the name that is given when the run is recorded.
            return self._conversations.setdefault("", Recording())
        if name not in self._conversations:
            case = self._case
            shelf = ClassCassettes(self.terms.class_path)
            found = shelf.find(name, case.case_id, case.trial, self._suffix)
            if found is None:
                how = f"run once with --bench-record={name}"
                if not re.fullmatch(CASSETTE_NAME, name):
                    how = "which is no name for one; name one: case.http_transport('NAME')"
                msg = f"no cassette {name!r} has the HTTP of this trial; {how}"
                raise EvalError(msg)
            self._conversations.setdefault(name, Replay(name, HttpRecording.read(found)))
            self._digests.add(found.sha256)
        return self._conversations[name]

    @property
    def replayed(self) -> tuple[str, ...]:
        """The names of the recordings that answered."""
        if self.told is not None:
            return self.told.recordings
        return () if self.terms.record else tuple(sorted(self._conversations))

    def end(self, *, scored: bool) -> str | None:
        """
        Write what was recorded, and return its SHA-256, or that of what answered; ``None`` if nothing was asked.

        :raises EvalError: it cannot be, or see :class:`~benchgate.http.conversation.Conversation`.
        """
        if self.told is not None:
            return self.told.http
        if self.terms.record is not None:  # by an earlier attempt
            path = self._file(self.terms.record)
            with artifact_errors(path, "removed"):
                path.unlink(missing_ok=True)
        if self._problem is not None:
            raise self._problem
        for conversation in self._conversations.values():
            text = conversation.end(scored=scored)
            # There is a single one where requests are recorded.
            if text is not None and self.terms.record is not None:
                make_folder(self.terms.record)
                write_file(self._file(self.terms.record), text.encode(), durable=False)
                return sha256_hex(text.encode())
        digests = sorted(self._digests)
        if len(digests) > 1:
            return digest(digests)
        return next(iter(digests), None)

    def ended(self, told: Told) -> Told:
        """
        Return what came of calls, with what they asked by HTTP, which is over.

        Without an answer that counts the trial says nothing about the system, whatever that made of the error.
        """
        try:
            sha256 = self.end(scored=told.failed is None)
        except EvalError as error:
            return Told(
                failed="not_run",
                detail=str(error),
                violation=told.violation,
                masked=told.masked,
                recordings=self.replayed,
            )
        recordings = self.replayed
        if sha256 is None and not recordings:
            return told
        return replace(told, recordings=recordings, http=sha256)

    def _file(self, folder: Path) -> Path:
        return folder / trial_file_name(self._case.case_id, self._case.trial, suffix=self._suffix)
