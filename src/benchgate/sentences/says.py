"""A sentence of the tables with the values of a run, and how it becomes text."""

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter
from typing import TYPE_CHECKING, Annotated, Any, Final, Union

from pydantic import AfterValidator, PlainSerializer, model_validator

from benchgate.errors import bounded, excerpt, listed
from benchgate.sentences.formats import shown
from benchgate.sentences.tables import TEMPLATES
from benchgate.wire.frozen import freeze_json
from benchgate.wire.model import Count, DisplayText, Number, WireModel

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_DEEP: Final = 5
"""Levels of clauses in a sentence; the templates here need three."""

Part = Union[DisplayText, "Says"]
Value = Union[int, Number, DisplayText, "Listing", "Says"]


class Listing(WireModel):
    """
    The first of many texts, names or sentences.

    :param first: those that are shown.
    :param more: how many there are besides.
    """

    first: tuple[Part, ...]
    more: Count = 0

    def shown(self, spec: str) -> str:
        """
        Return them as one text.

        :param spec: ``names`` for names with commas, ``kinds`` for the most frequent ones, ``texts`` for clauses.
        """
        texts = [_plain(part) for part in self.first]
        if spec == "texts":
            if self.more:
                texts.append(f"... and {self.more} more")
            return "; ".join(texts)
        text = ", ".join(texts)
        if not self.more:
            return text
        if spec == "kinds":
            return f"{text}, ..."
        return f"{text} and {self.more} more"


class Says(WireModel):
    """
    A sentence as a record has it.

    :param sentence: name of its template: a code, and after a dot a variant if the code has several.
    :param values: that the template needs, by name: numbers; texts of others, as they are; and clauses.
    """

    sentence: str
    values: Annotated[
        Mapping[str, Value],
        AfterValidator(freeze_json),
        PlainSerializer(dict, return_type=dict[str, Value]),
    ]

    @model_validator(mode="after")
    def _check_depth(self) -> Says:
        """Refuse deep clauses: a template may show a value twice, so that each level doubles the text."""
        if _depth(self) > MOST_DEEP:
            raise ValueError(f"clauses are nested more than {MOST_DEEP} deep")
        return self

    @property
    def is_known(self) -> bool:
        """Whether this version has the template."""
        return self.sentence in TEMPLATES

    @property
    def text(self) -> str:
        """The sentence, as this version words it; of one that it does not have, name and values."""
        try:
            return _FILL.vformat(TEMPLATES[self.sentence], (), self.values)
        except (LookupError, TypeError, ValueError, ArithmeticError):
            # Another version, or somebody who edited a record, named it.
            return excerpt(self.model_dump_json())


class _Fill(Formatter):
    """Fills templates; a value may be a sentence of its own."""

    def format_field(self, value: Any, spec: str) -> str:
        if isinstance(value, Says):
            return value.text
        if isinstance(value, Listing):
            return value.shown(spec)
        return shown(value, spec)


_FILL = _Fill()


def _depth(part: Any) -> int:
    """Return how many levels of sentences a value has; those in it were checked before it."""
    if isinstance(part, Listing):
        return max(map(_depth, part.first), default=0)
    if isinstance(part, Says):
        return 1 + max(map(_depth, part.values.values()), default=0)
    return 0


def _plain(part: str | Says) -> str:
    if isinstance(part, Says):
        return part.text
    return part


def says(sentence: str, /, **values: float | str | Listing | Says) -> Says:
    """Return a sentence with its values."""
    return Says(sentence=sentence, values=values)


def joined(sentences: Iterable[Says]) -> str:
    """Return what several sentences say together."""
    return "; ".join(one.text for one in sentences)


def names(ids: Iterable[str], most: int = 5) -> Listing:
    """Return the first names in their order, each as lists have it."""
    ordered = sorted({*ids})
    first = tuple(listed(name) for name in ordered[:most])
    return Listing(first=first, more=len(ordered) - len(first))


def parts(sentences: Iterable[Says], most: int = 5) -> Listing:
    """Return the first clauses in the order of their texts."""
    ordered = sorted(sentences, key=lambda one: one.text)
    return Listing(first=tuple(ordered[:most]), more=len(ordered[most:]))


def every(texts: Iterable[str]) -> Listing:
    """Return some texts that are few by their nature, such as codes, in the order they have."""
    return Listing(first=tuple(texts))


def clauses(texts: Iterable[str | Says]) -> Listing:
    """Return as many of the first clauses as a message may have."""
    whole = list(texts)
    cut = bounded([_plain(part) for part in whole], "; ")
    first: list[str | Says] = []
    for part, text in zip(whole, cut, strict=False):
        # A sentence stays data; only a text can be cut.
        if isinstance(part, Says):
            first.append(part)
        else:
            first.append(text)
    return Listing(first=tuple(first), more=len(whole) - len(first))
