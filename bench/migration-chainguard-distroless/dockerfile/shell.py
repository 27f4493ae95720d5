"""The shell text of a ``RUN``."""

from __future__ import annotations

import posixpath
import re
import shlex
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .instruction import Instruction

_SCRIPT_HOLDERS: Final = frozenset({"bash", "sh", "dash", "ash", "ksh", "zsh"})


def script(one: Instruction) -> str:
    """Return the shell text of a ``RUN``: its line, or the here-document that it feeds to a shell."""
    if one.json:
        return shlex.join(one.value)
    line = one.value[0] if one.value else ""
    if not one.heredocs:
        return line
    head = re.sub(r"\d*<<-?\S+", "", line).strip()
    held = one.heredocs[-1].content  # of several, a shell reads the last
    return held if _reads_script(head) and not _other_interpreter(held) else head


def _reads_script(head: str) -> bool:
    """Return whether a line, without its here-documents, is a shell with options and nothing else."""
    program, *options = head.split() or [""]
    plain = all(one.startswith(("-", "+")) or one == "pipefail" for one in options)
    return not program or (posixpath.basename(program) in _SCRIPT_HOLDERS and plain)


def _other_interpreter(text: str) -> bool:
    first = text.partition("\n")[0]
    return first.startswith("#!") and not re.search(r"\b(?:ba|da|a)?sh\b", first)
