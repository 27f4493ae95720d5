"""What a file of evidence must be: the digest that is kept of it, and what is in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchgate.artifacts.run_kinds import OWN_RECORD
from benchgate.audit.evidence_copy import as_recorded
from benchgate.verify.agreement import content_faults
from benchgate.wire.canonical import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """
    What a folder of evidence is held against: its record, or if that is not there, facts in its own files.

    :param rules: those that decided what the files say.
    :param views: the content of each file by name; of what other rules decided the part that no rules change.
    :param digests: SHA-256 by name, as far as somebody kept it.
    :param kept_in: the file that has the digests: the record, or without it the proof.
    :param by: the version of benchgate that wrote the files; ``None`` if nobody says it.
    :param path: of the record, as the files name it.
    :param lacking: of a file without a view, what would have to be there to check it.
    """

    rules: int
    views: Mapping[str, bytes]
    digests: Mapping[str, str]
    kept_in: str
    by: str | None = None
    path: str = OWN_RECORD
    lacking: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def faults(self, kind: str, data: bytes, folder: Path) -> Iterator[str]:
        """Yield where a file of a kind is not what it must be: by its digest first, and then by what is in it."""
        name = f"{kind}.json"
        recorded = as_recorded(name, data, self.path)
        if name in self.digests and sha256_hex(recorded) != self.digests[name]:
            yield f"its SHA-256 is not the one in {self.kept_in}"
        if name in self.views:
            yield from self.content_faults(kind, name, recorded, folder)
        elif name not in self.lacking:
            yield "the record beside it has no such file"

    def content_faults(self, where: str, name: str, data: bytes, folder: Path) -> Iterator[str]:
        """
        Yield where a file, as the folder of its record has it, is not its view.

        :param where: what messages call the file.
        """
        yield from content_faults(where, self.views[name], data, folder, by=self.by)
