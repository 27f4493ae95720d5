"""Code from the network that is run unseen: piped, substituted, read by an interpreter, or saved and started."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_INTERPRETER: Final = (
    r"(?:(?:a|ba|da|k|z)?sh|busybox\s+sh|python\d?(?:\.\d+)?|node|perl|ruby|php|lua|deno|bun|tclsh)"
)
_LEAD: Final = r"(?:(?:sudo|env|exec|nohup|command|time|xargs|\w+=\S+)\s+(?:-\S+\s+)*)*"
_FETCH: Final = r"(?:curl|wget|fetch|aria2c|http|lynx\s+-source|nc)\b"
_PIPED: Final = re.compile(
    rf"\b{_FETCH}[^;&\n]{{0,999}}\|\s*{_LEAD}(?:\S*/)?{_INTERPRETER}(?=\s|$|[;&|)\"'])"
)
_TEED: Final = re.compile(rf"\b{_FETCH}[^;&\n]{{0,999}}\|\s*tee\s+>\(\s*{_INTERPRETER}")
_SUBSTITUTED: Final = re.compile(
    rf"(?:\b{_INTERPRETER}|\beval|\bsource|(?:^|[\s;&|(])\.)\s+(?:-\w+\s+)*[\"']?(?:<\(|\$\(|`|<<<\s*[\"']?\$\()\s*{_LEAD}(?:\S*/)?{_FETCH}"
)
_INLINE: Final = re.compile(rf"\b{_INTERPRETER}\s+(?:-\w+\s+)*-(?:c|e|r)\b")
_GETS: Final = re.compile(
    r"urlopen|urllib|urlretrieve|requests\.get|httpx\.|http\.get|https\.get|fetch\(|open-uri|URI\.open|Net::HTTP|LWP|HTTP::Tiny|"
    r"file_get_contents\(\s*\S?https?|copy\(\s*\S?https?"
)
_RUNS: Final = re.compile(
    r"\bexec\b|\beval\b|\bsystem\b|runpy|Function\(|vm\.run|compile\(|instance_eval|\bos\.|subprocess|include"
)
_SAVED: Final = (
    re.compile(
        r"\b(?:curl|aria2c)\b[^;&|\n]{0,999}?\s(?:-[a-zA-Z]*o|--output|--out)[ =]?[\"']?([^\s;&|\"']+)"
    ),
    re.compile(
        r"\bwget\b[^;&|\n]{0,999}?\s(?:-[a-zA-Z]*O|--output-document)[ =]?[\"']?([^\s;&|\"']+)"
    ),
    re.compile(r"\b(?:curl|wget|fetch)\b[^;&|\n]{0,999}>\s*[\"']?([^\s;&|\"']+)"),
    re.compile(r"\b(?:curl|wget)\b[^;&|\n]{0,999}\|\s*tee\s+(?:-a\s+)?[\"']?([^\s;&|\"']+)"),
    re.compile(r"urlretrieve\([^,]+,\s*[\"']([^\"']+)"),
)
_BY_ITS_NAME: Final = (
    re.compile(r"\bcurl\b[^;&|\n]{0,999}\s(?:-[a-zA-Z]*O|--remote-name)\b[^;&|\n]{0,999}"),
    re.compile(r"\bwget\b(?![^;&|\n]{0,999}\s-[a-zA-Z]*O)[^;&|\n]{0,999}"),
)
_ADDRESS: Final = re.compile(r"(?:https?|ftp)://[^\s\"';&|]+")
_WORD: Final = r"([^\s;&|)]+)"
_BEGIN: Final = r"(?:^|[;&|(\n]|\bthen\b|\bdo\b)\s*"
_STARTS: Final = (
    re.compile(rf"(?:^|[\s;&|(/]){_INTERPRETER}\s+(?:-\w+\s+)*{_WORD}"),
    re.compile(rf"{_BEGIN}(?:\.|source)\s+{_WORD}"),
    re.compile(rf"{_BEGIN}{_LEAD}{_WORD}"),
)
_CHECKED: Final = re.compile(
    r"\b(?:sha(?:1|224|256|384|512)sum|shasum|b2sum|md5sum)\b[^\n;&|]{0,999}(?:-c|--check)\b|\bgpgv?\b[^\n;&|]{0,999}--verify|\bgpgv\b|"
    r"\bcosign\s+verify|\bminisign\b|\bopenssl\s+dgst\b[^\n;&|]{0,999}-verify"
)


def fetches_and_runs(texts: Iterable[str], added: Iterable[str] = ()) -> bool:
    """
    Return whether the commands of a stage run what they fetch, and nothing checks it.

    :param texts: the shell text of each ``RUN``, in their order.
    :param added: files that ``ADD`` fetched without a checksum.
    """
    saved = {_plain(path) for path in added}
    for text in texts:
        code = without_comments(text)
        if _at_once(code):
            return True
        checked = bool(_CHECKED.search(code))
        names = set() if checked else {_plain(path) for path in _files(code)}
        if _started(code) & ((set() if checked else saved) | names):
            return True
        saved = set() if checked else saved | names
    return False


def without_comments(text: str) -> str:
    """Return a shell text as one with neither comments nor continued lines."""
    lines = text.replace("\\\n", " ").split("\n")
    return "\n".join(line for line in lines if not line.lstrip().startswith("#"))


def _at_once(code: str) -> bool:
    piped = _PIPED.search(code) or _TEED.search(code) or _SUBSTITUTED.search(code)
    inline = _INLINE.search(code) and _GETS.search(code) and _RUNS.search(code)
    return bool(piped or inline)


def _files(code: str) -> Iterable[str]:
    for pattern in _SAVED:
        yield from (path for path in pattern.findall(code) if path != "-")
    for pattern in _BY_ITS_NAME:
        for line in pattern.findall(code):
            yield from (posixpath.basename(one.split("?")[0]) for one in _ADDRESS.findall(line))


def _plain(path: str) -> str:
    """Return the name of a file, empty for a folder and for a device."""
    path = path.strip("\"'")
    return "" if path.startswith("/dev/") else posixpath.basename(path)


def _started(code: str) -> set[str]:
    """Return the names of the files that are run: by an interpreter, by ``.``, or as programs."""
    found = {_plain(path) for pattern in _STARTS for path in pattern.findall(code)}
    return found - {""}
