"""References to images, such as ``registry/name:tag@digest``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

REGISTRY: Final = "cgr.dev"
FREE_TAGS: Final = ("latest", "latest-dev")
"""The tags that anybody can pull; others need a paying organisation."""

_REFERENCE: Final = re.compile(
    r"(?P<name>(?:[a-z0-9][a-z0-9.-]*:\d+/)?[a-z0-9][a-z0-9._/-]*)(?::(?P<tag>\w[\w.-]{0,127}))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?"
)


@dataclass(frozen=True, slots=True)
class Reference:
    """
    The parts of a reference to an image.

    :param name: with registry and organisation.
    :param tag: empty if there is a digest and no tag.
    """

    name: str
    tag: str = "latest"
    digest: str = ""

    @classmethod
    def read(cls, text: str) -> Reference | None:
        """Return the parts of a reference, None if the text is not one."""
        found = _REFERENCE.fullmatch(text)
        if not found:
            return None
        tag = found["tag"] or ("" if found["digest"] else "latest")
        return cls(found["name"], tag, found["digest"] or "")

    @property
    def chainguard(self) -> bool:
        """Whether it is an image of Chainguard's registry: registry, organisation, name."""
        return bool(re.fullmatch(rf"{re.escape(REGISTRY)}/[^/]+/[^/]+", self.name))

    @property
    def image(self) -> str:
        """The last part of the name."""
        return self.name.rpartition("/")[2]

    @property
    def owner(self) -> str:
        """Registry and organisation."""
        return self.name.rpartition("/")[0]

    @property
    def text(self) -> str:
        """The reference with an explicit tag."""
        return self.name + f":{self.tag}" * bool(self.tag) + f"@{self.digest}" * bool(self.digest)

    @property
    def full_name(self) -> str:
        """The name with its registry, as Docker Hub's short names mean it."""
        first, slash, _ = self.name.partition("/")
        if slash and ("." in first or ":" in first or first == "localhost"):
            return self.name
        return f"docker.io/{self.name}" if slash else f"docker.io/library/{self.name}"
