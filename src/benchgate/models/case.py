"""The case that systems and rubrics receive, with what a system under test asks it for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Protocol, Self

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BeforeValidator,
    Field,
    PlainSerializer,
    PrivateAttr,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from benchgate.errors import CassetteNotFound, EvalError, Unreadable
from benchgate.wire.files import MAX_TREE_BYTES, file_sha256
from benchgate.wire.frozen import freeze_json
from benchgate.wire.model import (
    CaseId,
    Count,
    DisplayText,
    FrozenJson,
    Name,
    Seconds,
    Sha256,
    Text,
    UnitInterval,
    WireModel,
    empty_mapping,
)
from benchgate.wire.plain import listed
from benchgate.wire.usage import Usage, UsageMeter

Disposition = Literal["positive", "negative", "ambiguous"]
Difficulty = Literal["easy", "medium", "hard"]
Source = Literal["curated", "outcome-ledger-derived", "regression-converted"]


Words = Annotated[tuple[str, ...], BeforeValidator(listed)]


class Cassette(WireModel):
    """The recorded output of one system on one case."""

    path: Path
    sha256: Sha256


class HandedCheckpoint(WireModel):
    """
    The checkpoint that a system is to play with: a private, read-only copy of the file that the system names.

    :param path: of the copy; it has the name of the original.
    :param sha256: of its bytes. An RL payload names it in its checkpoint's metadata, as ``artifact_sha256``.
    """

    path: Path
    sha256: Sha256


class Observer(WireModel):
    """What observes outputs, and how often: ``source`` is the SHA-256 of its files, ``digest`` what it says itself."""

    name: Text
    source: Sha256
    digest: str | None
    model: DisplayText | None
    observations: Annotated[Count, Field(ge=1)]


def differing(old: Observer | None, new: Observer | None) -> list[tuple[str, str, str]]:
    """Return the fields of an observer that are other than they were, each with both values."""
    found = []
    for name in Observer.model_fields:
        was = getattr(old, name, None)
        now = getattr(new, name, None)
        if was != now:
            found.append((name, f"{was!s:.40}", f"{now!s:.40}"))
    return found


def changes(old: Observer | None, new: Observer | None) -> list[str]:
    """Return as texts the fields of an observer that are other than they were."""
    return [f"{name} was {was}, is {now}" for name, was, now in differing(old, new)]


class Observed(WireModel):
    """
    What came of observing an output, which has this SHA-256.

    :param http: SHA-256 of what each observation asked.
    :param verdicts: whether it passed by each of several observations, and with which score.
    :param before: the same of what this observer said of it in the run that is observed again.
    """

    output: Sha256
    fingerprints: tuple[DisplayText, ...] = ()
    usage: Usage | None = None
    http: tuple[Sha256 | None, ...] = ()
    verdicts: tuple[tuple[bool, UnitInterval], ...] = Field((), exclude_if=lambda rows: not rows)
    before: tuple[tuple[bool, UnitInterval], ...] = Field((), exclude_if=lambda rows: not rows)


class Shelf(Protocol):
    """Where the cassettes of a class are."""

    def find(self, name: str, case_id: str, trial: int) -> Cassette | None:
        """Return what a cassette has of a trial."""


class CaseHttp(Protocol):
    """What answers the HTTP requests of a trial."""

    def transport(self, name: str | None, inner: Any) -> Any:
        """Return a transport for a client."""


class CaseTable(WireModel):
    """The table ``[case]`` of a ``case.toml``."""

    case_id: CaseId
    task_class: str
    disposition: Disposition
    difficulty: Difficulty
    source: Source
    commit_sha: Annotated[str, Field(pattern=r"^[0-9a-f]{7,64}$")] | None = None
    added_at: AwareDatetime
    last_validated_at: AwareDatetime
    held_out: bool = False
    critical: bool = False
    tags: Words = ()
    cluster: Name | None = None
    timeout_seconds: Seconds | None = None
    leak_ok: Name | None = None
    retired: Name | None = None

    @model_validator(mode="after")
    def _origin_is_traceable(self) -> Self:
        if self.source != "curated" and self.commit_sha is None:
            raise ValueError(f"commit_sha is required when source is {self.source!r}")
        return self


_LABELS: Final = ("held_out", "critical", "tags", "cluster", "leak_ok", "retired")
CURATED: Final[Mapping[str, Any]] = {
    "difficulty": "medium",
    **dict.fromkeys(("added_at", "last_validated_at"), datetime(2000, 1, 1, tzinfo=UTC)),
    **{name: CaseTable.model_fields[name].default for name in _LABELS},
}
"""What is said of a case besides its task, and what systems, rubrics and observers get in its place: no score can
depend on it, so that it may change without a new baseline."""


class BenchCase(CaseTable):
    """
    One case, as systems and rubrics receive it.

    Paths are absolute. A system gets ``expected_path`` as ``None``, so that it cannot read the expected result.
    ``work_path`` is a fresh folder for this trial, made when it is first read and deleted afterwards. Take all
    randomness from ``seed``, so that the trial can be repeated; each trial has its own. ``checkpoint`` is ``None`` if
    the system names no file of that kind. ``served`` is the case's address on the server of its class, for a system
    that is granted ``network``; a rubric never gets it. ``observation`` is what the class's observer said of the
    output, for the rubric: a read-only mapping, empty without an observer. What is in :data:`CURATED` is the same in
    every case.
    """

    facts: FrozenJson = Field(default_factory=empty_mapping)
    cassettes: Annotated[
        Mapping[str, Cassette], AfterValidator(freeze_json), PlainSerializer(dict)
    ] = Field(default_factory=empty_mapping)
    input_path: Path
    expected_path: Path | None
    trial: Count = 0
    seed: Count = 0
    work_path: Path | None = None
    checkpoint: HandedCheckpoint | None = None
    served: str | None = None
    observation: FrozenJson = Field(default_factory=empty_mapping)
    _usage: UsageMeter = PrivateAttr(default_factory=UsageMeter)
    # Not fields: they are ways to get something, of one process, and no part of the case as a file has it.
    _shelf: Shelf | None = PrivateAttr(default=None)
    _http: CaseHttp | None = PrivateAttr(default=None)
    _work: Callable[[], Path] | None = PrivateAttr(default=None)

    @property
    def usage(self) -> UsageMeter:
        """What the trial has used of models; add to it after each call, see :meth:`UsageMeter.add`."""
        return self._usage

    def for_trial(self, **update: Any) -> BenchCase:
        """Return the case of one trial: with other fields, and a meter of its own."""
        case = self.model_copy(update=update)
        case._usage = UsageMeter()  # noqa: SLF001 - of its own class
        return case

    def working_in(self, folder: Callable[[], Path]) -> BenchCase:
        """Return the task alone, without CURATED; its ``work_path`` is asked for when somebody reads it: few do."""
        # What curators say must not reach a system or a rubric: no score may depend on it.
        case = self.model_copy(update=CURATED)
        case._work = folder  # noqa: SLF001 - of its own class
        del case.__dict__["work_path"]  # so that __getattr__ is asked
        return case

    if not TYPE_CHECKING:  # else every attribute would seem to be there

        def __getattr__(self, name: str) -> Any:
            if name != "work_path" or self._work is None:
                return super().__getattr__(name)
            path = self.__dict__[name] = self._work()
            return path

    @model_serializer(mode="wrap")
    def _whole(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Return all fields, ``work_path`` too."""
        _ = self.work_path
        fields: dict[str, Any] = dump(self)
        return fields

    @classmethod
    def made(cls, fields: Mapping[str, Any], shelf: Shelf | None) -> Self:
        """Return a case that finds what was recorded of it."""
        case = cls.model_validate(fields).kept()
        case._shelf = shelf  # noqa: SLF001 - its own
        return case

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).made, (self.model_dump(), self._shelf)

    def cassette(self, name: str) -> Cassette:
        """
        Return what was recorded of this trial.

        :param name: of a table ``[cassettes.NAME]`` of the case, else of a folder in the class's ``cassettes/``, which
            has a JSON file of each trial, with its ``output``.
        :raises CassetteNotFound: neither has it.
        :raises Unreadable: the file cannot be read, or was changed after it was recorded.
        """
        recording = self.cassettes.get(name)
        if recording is None and self._shelf is not None:
            recording = self._shelf.find(name, self.case_id, self.trial)
        if recording is None:
            raise CassetteNotFound(name, self.case_id, self.trial)
        if file_sha256(recording.path, limit=MAX_TREE_BYTES) != recording.sha256:
            raise Unreadable(recording.path, "was changed after it was recorded")
        return recording

    def http_transport(self, name: str | None = None, *, inner: Any = None) -> Any:
        """
        Return a transport for a client of ``httpx`` or ``httpx2``, async or not, such as those of openai and anthropic.

        In a run with ``--bench-record=NAME`` it sends requests and records them. Otherwise it answers them from a
        recording, and never sends one.

        :param name: of the recording that is replayed; by default that of the system.
        :param inner: the transport that sends while recording; by default the library's own.
        :raises EvalError: outside of a trial, or in another process than the trial's; or there is no such recording.
        """
        if self._http is None:
            msg = "http_transport: only the case that a system is called with has one, in the process of its trial"
            raise EvalError(msg)
        return self._http.transport(name, inner)

    @property
    def seed32(self) -> int:
        """The upper 32 of the 48 bits of ``seed``, for generators that take no more, such as ``np.random.seed``."""
        return self.seed >> 16
