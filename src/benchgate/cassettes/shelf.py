"""Finds what was recorded of a trial."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from benchgate.errors import Unreadable
from benchgate.ids import trial_file_name
from benchgate.models import Cassette
from benchgate.options.kinds import CASSETTE_NAME

if TYPE_CHECKING:
    from pathlib import Path

HTTP: Final = ".http.json"
"""Ends the name of what was recorded of a trial's HTTP."""
OBSERVED: Final = ".observed-{}.http.json"
"""The same for what an observation has asked, with its number from 1."""


@dataclass(frozen=True, slots=True)
class ClassCassettes:
    """The cassettes of the class in a folder."""

    class_path: Path

    def find(self, name: str, case_id: str, trial: int, suffix: str = ".json") -> Cassette | None:
        """
        Return what a cassette has of a trial; ``None`` if it has nothing, or is none.

        :param suffix: of its file, such as :data:`HTTP`.

        :raises Unreadable: its manifest is not valid.
        """
        from benchgate.cassettes.manifest import FOLDER, MANIFEST, CassetteManifest

        folder = self.class_path / FOLDER / name
        if not re.fullmatch(CASSETTE_NAME, name) or not (folder / MANIFEST).exists():
            return None
        file = trial_file_name(case_id, trial, suffix=suffix)
        try:
            manifest = CassetteManifest.of(folder)
        except Unreadable as error:
            # A sandbox refuses it on purpose, which the error alone does not say.
            if not isinstance(error.__cause__, PermissionError):
                raise
            hidden = (
                "at level sandbox cassettes are hidden: they have what earlier systems answered"
            )
            raise Unreadable(error.path, f"{error.why}; {hidden}") from error
        sha256 = manifest.files.get(file)
        if sha256 is None:
            return None
        return Cassette(path=folder / file, sha256=sha256)
