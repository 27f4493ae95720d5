"""The HTTP of one attempt at a trial: what ``case.http_transport()`` of its case speaks to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchgate.errors import Unreadable
from benchgate.models import Cassette
from benchgate.wire.files import read_bytes
from benchgate.wire.parsing import MAX_JSON_BYTES, read_json

if TYPE_CHECKING:
    from pathlib import Path

    from benchgate.http.conversation import Conversation
    from benchgate.models import BenchCase


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpTerms:
    """
    What is done with the requests of a system.

    :param record: they are sent and recorded; otherwise they are answered from a recording and never sent.
    :param system: its name, by which a recording is looked for that the system gives no name.
    :param class_path: the folder of the class, whose ``cassettes/`` has the recordings.
    """

    system: str
    class_path: Path
    record: bool = False

    def find(self, case: BenchCase, name: str) -> Cassette:
        """
        Return what a recording has of the HTTP of a trial.

        :raises Unreadable: it has none, or is none.
        """
        from benchgate.artifacts.run_kinds import trial_file_name

        folder = self.class_path / "cassettes" / name
        file = trial_file_name(case.case_id, case.trial).removesuffix(".json") + ".http.json"
        try:
            manifest = read_json(read_bytes(folder / "manifest.json", limit=MAX_JSON_BYTES))
            return Cassette(path=folder / file, sha256=manifest["files"][file])
        except (Unreadable, ValueError, LookupError, TypeError) as error:
            why = f"no recording {name!r} of this trial's HTTP; --bench-record={name} makes one"
            raise Unreadable(folder / file, why, missing=True) from error


class TrialHttp:
    """The requests of one attempt. Nothing is imported or read before the system asks for a transport."""

    def __init__(self, terms: HttpTerms, case: BenchCase) -> None:
        self._terms = terms
        self._case = case
        self._conversations: dict[str, Conversation] = {}

    def transport(self, name: str | None, inner: Any) -> Any:
        """Return a transport; all of one attempt share what is recorded, or what is left of a recording."""
        from benchgate.http.transport import Transport

        return Transport(self._conversation(name or self._terms.system), inner)

    def _conversation(self, name: str) -> Conversation:
        from benchgate.http.conversation import Recording, Replay
        from benchgate.http.exchange import HttpRecording

        if self._terms.record:
            return self._conversations.setdefault("", Recording())
        if name not in self._conversations:
            found = Replay(name, HttpRecording.read(self._terms.find(self._case, name)))
            self._conversations.setdefault(name, found)
        return self._conversations[name]

    def end(self, *, scored: bool) -> str | None:
        """
        Return what was recorded, as the text of its file; ``None`` if nothing is recorded.

        :raises EvalError: see :class:`~benchgate.http.conversation.Conversation`.
        """
        texts = [each.end(scored=scored) for each in self._conversations.values()]
        return next(filter(None, texts), None)
