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
_AT_ONCE: Final = re.compile(
    rf"\b{_FETCH}[^;&\n]{{0,999}}\|\s*{_LEAD}(?:\S*/)?{_INTERPRETER}(?=\s|$|[;&|)\"'])"
    rf"|\b{_FETCH}[^;&\n]{{0,999}}\|\s*tee\s+>\(\s*{_INTERPRETER}"
    rf"|(?:\b{_INTERPRETER}|\beval|\bsource|(?:^|[\s;&|(])\.)\s+(?:-\w+\s+)*[\"']?(?:<\(|\$\(|`|<<<\s*[\"']?\$\()\s*"
    rf"{_LEAD}(?:\S*/)?{_FETCH}"
)
_INLINE: Final = re.compile(rf"\b{_INTERPRETER}\s+(?:-\w+\s+)*-(?:c|e|r)\b")
_GETS: Final = re.compile(
    r"urlopen|urllib|urlretrieve|requests\.get|httpx\.|http\.get|https\.get|fetch\(|open-uri|URI\.open|Net::HTTP|LWP|HTTP::Tiny|"
    r"file_get_contents\(\s*\S?https?|copy\(\s*\S?https?"
)
_RUNS: Final = re.compile(
    r"\bexec\b|\beval\b|\bsystem\b|runpy|Function\(|vm\.run|compile\(|instance_eval|\bos\.|subprocess|include"
)
_WORDS: Final = r"[^;&|\n]{0,999}"
_SAVED: Final = (
    rf"\b(?:curl|aria2c)\b{_WORDS}?\s(?:-[a-zA-Z]*o|--output|--out)[ =]?[\"']?([^\s;&|\"']+)",
    rf"\bwget\b{_WORDS}?\s(?:-[a-zA-Z]*O|--output-document)[ =]?[\"']?([^\s;&|\"']+)",
    rf"\b(?:curl|wget|fetch)\b{_WORDS}>\s*[\"']?([^\s;&|\"']+)",
    rf"\b(?:curl|wget)\b{_WORDS}\|\s*tee\s+(?:-a\s+)?[\"']?([^\s;&|\"']+)",
    r"urlretrieve\([^,]+,\s*[\"']([^\"']+)",
)
_BY_ITS_NAME: Final = (
    rf"\bcurl\b{_WORDS}\s(?:-[a-zA-Z]*O|--remote-name)\b{_WORDS}",
    rf"\bwget\b(?!{_WORDS}\s-[a-zA-Z]*O){_WORDS}",
)
_ADDRESS: Final = re.compile(r"(?:https?|ftp)://[^\s\"';&|]+")
_WORD: Final = r"([^\s;&|)]+)"
_BEGIN: Final = r"(?:^|[;&|(\n]|\bthen\b|\bdo\b)\s*"
_STARTS: Final = (
    rf"(?:^|[\s;&|(/]){_INTERPRETER}\s+(?:-\w+\s+)*{_WORD}",
    rf"{_BEGIN}(?:\.|source)\s+{_WORD}",
    rf"{_BEGIN}{_LEAD}{_WORD}",
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
        inline = _INLINE.search(code) and _GETS.search(code) and _RUNS.search(code)
        if _AT_ONCE.search(code) or inline:
            return True
        saved |= {_plain(path) for path in _files(code)}
        if _CHECKED.search(code):
            saved = set()
        # By an interpreter, by `.`, or as programs.
        started = {_plain(path) for pattern in _STARTS for path in re.findall(pattern, code)}
        if started & saved - {""}:
            return True
    return False


def without_comments(text: str) -> str:
    """Return a shell text as one with neither comments nor continued lines."""
    lines = text.replace("\\\n", " ").split("\n")
    return "\n".join(line for line in lines if not line.lstrip().startswith("#"))


def _files(code: str) -> Iterable[str]:
    for pattern in _SAVED:
        yield from (path for path in re.findall(pattern, code) if path != "-")
    for pattern in _BY_ITS_NAME:
        for line in re.findall(pattern, code):
            yield from (posixpath.basename(one.split("?")[0]) for one in _ADDRESS.findall(line))


def _plain(path: str) -> str:
    """Return the name of a file, empty for a folder and for a device."""
    path = path.strip("\"'")
    return "" if path.startswith("/dev/") else posixpath.basename(path)
