"""
The base class of all wire models, and the types of their fields.

A wire model is data that is written to files or sent between processes. It is frozen, and refuses unknown fields, NaN,
infinity and silent coercion: neither ``True`` nor ``"1"`` is a number. Only :meth:`WireModel.read_json` ignores unknown
fields.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from threading import RLock
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Final, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
)
from pydantic_core import InitErrorDetails

from benchgate.errors import Unreadable, excerpt
from benchgate.wire.canonical import sha256_hex
from benchgate.wire.files import read_bytes
from benchgate.wire.frozen import EMPTY, LEAVES, exact_float, freeze_json, shared, thaw_json
from benchgate.wire.limits import MAX_SAFE_INTEGER, MAX_SECONDS
from benchgate.wire.parsing import MAX_JSON_BYTES, collector_paused, first_fault, read_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema

Texts = TypeVar("Texts")

_BUILDING: Final = RLock()  # before pydantic 2.14, two threads that use a model first collide

SCHEMA_VERSION: Final = 4
"""The version of every artifact: whoever adds, removes or changes a field raises it."""

MAX_ENTRIES: Final = 100
MAX_DIGESTS: Final = 200_000
MAX_NAME: Final = 200
"""Most parts of a score's breakdown, and most failure codes; most characters of each."""

BANNED_TOKENS: Final = frozenset({"confidence", "llm", "self_reported", "model_says"})
"""Words that show that a score comes from a model's opinion of itself."""


def banned_token(name: str) -> str | None:
    """Return the banned token in ``name``, or ``None``; only whole words count, separated by ``.``, ``-`` or ``_``."""
    padded = f"_{re.sub(r'[.-]', '_', name.casefold())}_"
    return next((token for token in sorted(BANNED_TOKENS) if f"_{token}_" in padded), None)


def _check_breakdown_keys(breakdown: Mapping[str, float]) -> Mapping[str, float]:
    for key in breakdown:
        token = banned_token(key)
        if token is not None:
            why = "a score is never a self-assessment"
            raise ValueError(f"breakdown key {key!r} contains the banned token {token!r}: {why}")
    return breakdown


def check_text(text: str) -> str:
    """Return the text, or raise ValueError for a lone surrogate, which no file and no process could take."""
    try:
        text.encode()
    except UnicodeEncodeError:
        why = "contains a lone surrogate, which is not valid Unicode"
        raise ValueError(f"{text!r} {why}") from None
    return text


def _check_version(version: int) -> int:
    if version != SCHEMA_VERSION:
        expected = f"this version of benchgate reads {SCHEMA_VERSION} alone"
        remedy = "make the file again, or begin a new output folder"
        raise ValueError(f"is {version}; {expected}: {remedy}")
    return version


def _few_enough(value: Any) -> Any:
    # A validator of a mapping reports all wrong entries; for a million it takes minutes and gigabytes.
    if isinstance(value, Mapping) and len(value) > MAX_DIGESTS:
        raise ValueError(f"{len(value)} entries; at most {MAX_DIGESTS} are read")
    return value


def _shown(text: Any) -> Any:
    if not isinstance(text, str):
        return text
    return excerpt(text.encode(errors="backslashreplace").decode())


def _stop_at_first_fault(schema: Any) -> None:
    """Let arrays be read up to their first fault only, for the same reason."""
    if isinstance(schema, dict):
        if schema.get("type") in ("list", "tuple"):
            schema["fail_fast"] = True
        schema = list(schema.values())
    if isinstance(schema, list):
        for part in schema:
            _stop_at_first_fault(part)


def empty_mapping() -> Mapping[str, Any]:
    """Return the default of a read-only mapping field."""
    return EMPTY


# Converted to exact builtins, because xdist's execnet refuses subclasses such as numpy.float64.
FrozenJson = Annotated[
    Mapping[str, Any],
    AfterValidator(freeze_json),
    PlainSerializer(thaw_json, return_type=dict[str, Any]),
]
EXACT: Final = AfterValidator(exact_float)
# Limits come before it: pydantic checks those that follow a function in Python, and calls them "ge" in a schema.
Number = Annotated[float, EXACT]
NonNegative = Annotated[float, Field(ge=0), EXACT]
Positive = Annotated[float, Field(gt=0), EXACT]
Seconds = Annotated[float, Field(gt=0, le=MAX_SECONDS), EXACT]
UnitInterval = Annotated[float, Field(ge=0, le=1), EXACT]
Count = Annotated[int, Field(ge=0, le=MAX_SAFE_INTEGER)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
TextsByName = Annotated[
    Texts, AfterValidator(freeze_json), PlainSerializer(dict, return_type=dict[str, str])
]
Digests = TextsByName[Annotated[Mapping[str, Sha256], BeforeValidator(_few_enough)]]
# Not a Literal, which accepts true as 1.
Version = Annotated[
    int, AfterValidator(_check_version), Field(json_schema_extra={"const": SCHEMA_VERSION})
]
CaseId = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]
Text = Annotated[str, AfterValidator(check_text)]
DisplayText = Annotated[str, BeforeValidator(_shown)]
# The length first: pydantic calls what a validator returned "Value" and its characters "items".
Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME), AfterValidator(check_text)]
Clusters = TextsByName[Annotated[Mapping[str, Name], BeforeValidator(_few_enough)]]
PartName = Annotated[str, Field(max_length=MAX_NAME), AfterValidator(check_text)]
Breakdown = Annotated[
    Mapping[PartName, Number],
    Field(max_length=MAX_ENTRIES),
    AfterValidator(_check_breakdown_keys),
    AfterValidator(freeze_json),
    PlainSerializer(dict, return_type=dict[str, float]),
]
Evidence = TextsByName[Annotated[Mapping[PartName, DisplayText], Field(max_length=MAX_ENTRIES)]]


class WireModel(BaseModel):
    """Base class of all wire models."""

    model_config = ConfigDict(
        strict=True,
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        # Else a nested instance that was built with model_construct would pass without validation.
        revalidate_instances="always",
        # For artifact fields whose name is a Python keyword: ``pass``.
        validate_by_name=True,
        serialize_by_alias=True,
        # Artifacts are written with all fields, also those with a default.
        json_schema_serialization_defaults_required=True,
        # A run needs a third of the models, and to build them all takes longer than a small run.
        defer_build=True,
    )

    @classmethod
    def model_rebuild(cls, **options: Any) -> bool | None:
        """Build what reads and writes the model, at its first use."""
        with _BUILDING:
            return super().model_rebuild(**options)

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[BaseModel], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Return pydantic's schema; a wire model may be read from a file with any number of faults."""
        schema = handler(source)
        _stop_at_first_fault(schema)
        return schema

    @classmethod
    def read_json(cls, data: bytes) -> Self:
        """
        Parse a file's bytes, ignoring unknown fields.

        :raises ValueError: see :func:`read_json`, or a field that is not valid.
        """
        read_json(data)
        with collector_paused():
            return cls.model_validate_json(data, extra="ignore")

    @classmethod
    def read_file(cls, path: Path, what: str) -> Self:
        """Read an artifact from a file; as :meth:`read_digested`."""
        return cls.read_digested(path, what)[0]

    @classmethod
    def read_or_none(cls, path: Path) -> Self | None:
        """Read an artifact; ``None`` if it is missing or damaged, which somebody else tells."""
        try:
            return cls.read_file(path, "artifact")
        except Unreadable:
            return None

    @classmethod
    def read_digested(cls, path: Path, what: str) -> tuple[Self, str]:
        """
        Read an artifact from a file, and the SHA-256 of its bytes.

        :param what: what the file should be, such as "record of a run", for the message.
        :raises Unreadable: it cannot be read, is too large, or is not valid.
        """
        data = read_bytes(path, limit=MAX_JSON_BYTES)
        return cls.parse(path, data, what), sha256_hex(data)

    @classmethod
    def parse(cls, path: Path | str, data: bytes, what: str) -> Self:
        """
        Parse a file's bytes that were read already, such as to compute their digest.

        :raises Unreadable: not a valid artifact; the message is the first fault.
        """
        try:
            return cls.read_json(data)
        except ValueError as error:
            raise Unreadable(path, f"no valid {what}: {first_fault(error)}") from error

    def kept(self) -> Self:
        """Return it in less memory, for one of many: which fields were given is one set for all of a kind."""
        given = "__pydantic_fields_set__"
        object.__setattr__(self, given, shared(frozenset(getattr(self, given))))
        return self

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        return self  # immutable

    def __reduce__(self) -> tuple[Any, ...]:
        # Systems send cases to process pools, but mapping proxies cannot be pickled.
        return type(self).model_validate, (self.model_dump(),)


class Artifact(WireModel):
    """
    A file that benchgate writes, or the part of one that a reader needs.

    It is written with every field. A file that lacks one was edited, so its default is never taken: a policy without
    its strictest threshold would else be judged by a milder one.
    """

    schema_version: Version

    @classmethod
    def read_json(cls, data: bytes) -> Self:
        """
        Parse an artifact, ignoring unknown fields.

        :raises ValueError: as :meth:`WireModel.read_json`; or a field is missing, at whatever depth.
        """
        artifact = super().read_json(data)
        left_out = _fields_left_out(artifact)
        faults = [InitErrorDetails(type="missing", loc=place, input=None) for place in left_out]
        if faults:
            raise ValidationError.from_exception_data(cls.__name__, faults)
        return artifact


@cache
def _written_fields(model: type[BaseModel]) -> frozenset[str]:
    """Return the fields that the files of a model always have."""
    return frozenset(name for name, field in model.model_fields.items() if not field.exclude_if)


def _fields_left_out(
    value: Any, place: tuple[str | int, ...] = ()
) -> Iterator[tuple[str | int, ...]]:
    parts: Iterable[tuple[str | int, Any]]
    if isinstance(value, BaseModel):
        lacking = _written_fields(type(value)) - value.model_fields_set
        for name in sorted(lacking):
            yield *place, type(value).model_fields[name].alias or name
        parts = vars(value).items()
    elif isinstance(value, MappingProxyType):
        parts = value.items()
    elif isinstance(value, tuple):
        parts = enumerate(value)
    else:
        return
    for key, part in parts:
        # Most parts are leaves or empty, and to look into each takes long.
        if part and type(part) not in LEAVES:
            yield from _fields_left_out(part, (*place, key))
