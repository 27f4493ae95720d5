"""What a value in a log says: a score, or an error."""

from __future__ import annotations

import math
import re
from typing import Any, Final, NamedTuple

from benchgate.errors import excerpt, printable

GRADES: Final = {
    **dict.fromkeys(("pass", "passed", "resolved", "correct", "success"), 1.0),
    **dict.fromkeys(("fail", "failed", "unresolved", "incorrect", "failure"), 0.0),
}
WORDS: Final = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0, **GRADES}
"""Words that stand for a score."""

VERDICTS: Final = {"Y": 1.0, "N": 0.0, "C": 1.0, "I": 0.0}
"""What graders answer, as a number; whether 1 is good, only the role of their field says."""

QUOTES: Final = "\"'"
TYPE: Final = re.compile(r"([A-Za-z_][\w.]*)(?::\s*(.*)|\((.*)\))$")
"""An error as Python shows it: its type, and what it says."""


class LogError(NamedTuple):
    """Why a sample has no score: the type of its error, and what it says."""

    type: str
    text: str

    def __str__(self) -> str:
        return f"{self.type}: {self.text}"


def number_of(value: Any) -> float | None:
    """Return a value as a score; ``None`` if it is no finite number and no word for one."""
    if isinstance(value, str):
        word = value.strip().lower()
        if word in WORDS:
            return WORDS[word]
    if not isinstance(value, (bool, int, float, str)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    if not math.isfinite(number):
        return None
    return number


def harm_of(value: Any, role: str) -> float | None:
    """Return a value in a role of harm as a number; ``None`` if it is none, or nobody can say whether it is harm."""
    if role != "safety" and str(value).strip().lower() in GRADES:
        return None  # whether a pass is a harm, nobody can say
    if role != "penalty" and isinstance(value, str) and value in VERDICTS:
        return VERDICTS[value]
    return number_of(value)


def error_of(value: Any) -> LogError:
    """Return an error, its text in one line."""
    if isinstance(value, dict):
        names = ("type", "exception_type", "name")
        kind = next((value[name] for name in names if isinstance(value.get(name), str)), "Error")
        texts = ("message", "exception_message", "error")
        text = next((value[name] for name in texts if isinstance(value.get(name), str)), "")
        return LogError(kind, _line(text))
    text = _line(value)
    match = TYPE.fullmatch(text)
    if match is None:
        return LogError("Error", text)
    said = match[2]
    if match[3] is not None:
        said = match[3].strip(QUOTES)
    return LogError(match[1], said)


def _line(value: Any) -> str:
    return excerpt(printable(" ".join(str(value).split())), 300)
