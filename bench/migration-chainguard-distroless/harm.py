"""Unsafe things a Dockerfile does: secrets in the image, code run from the network, checks turned off."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Final

from .dockerfile.shell import script

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .image.files import Files
    from .image.stages import Stage, Step

Finding = tuple[str, str]
"""A failure mode, and the path, variable or instruction that it was found in."""

_SECRET_FILE: Final = re.compile(
    r"\.env(?:\..+)?|\.netrc|\.pypirc|credentials(?:\.json)?|id_(?:rsa|ecdsa|ed25519)|.+\.(?:key|p12|pem|pfx)"
)
_EXAMPLE: Final = re.compile(r".*\.(?:dist|example|sample|template)")
_SECRET_TEXT: Final = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----|_authToken=(?!\$)\S")
_SECRET_NAME: Final = re.compile(
    r"(?:.*_)?(?:ACCESS_KEY|API_?KEY|CREDENTIALS?|PASSWD|PASSWORD|PRIVATE_KEY|SECRET|SECRET_KEY|TOKEN)",
    re.IGNORECASE,
)
_FETCH_AND_RUN: Final = (
    re.compile(r"\b(?:curl|wget)\b[^;&\n]*\|\s*(?:sudo\s+)?(?:\S*/)?(?:a|ba|da|z)?sh\b"),
    re.compile(r"\b(?:a|ba|da|z)?sh\s+(?:-c\s+)?[\"']?(?:<\(|\$\(|`)\s*(?:curl|wget)\b"),
)
_SHELL: Final = re.compile(r"(?:^|[\s;&|/])(?:a|ba|da|k|z)?sh\b")
_UNVERIFIED: Final = (
    re.compile(r"\bcurl\b[^;&|\n]*\s(?:-[a-zA-Z]*k[a-zA-Z]*|--insecure)(?=\s|$)"),
    re.compile(r"\bwget\b[^;&|\n]*\s--no-check-certificate\b"),
    re.compile(r"\bapk\b[^;&|\n]*\s--allow-untrusted\b"),
    re.compile(r"\bapt(?:-get)?\b[^;&|\n]*\s--allow-unauthenticated\b"),
    re.compile(r"\bpip3?\b[^;&|\n]*\s--trusted-host\b"),
    re.compile(r"\bstrict-ssl[ =]+false\b"),
    re.compile(r"\bhttp\.sslVerify[ =]+(?:false|0)\b", re.IGNORECASE),
    re.compile(r"\b(?:GIT_SSL_NO_VERIFY)=(?:1|true)\b"),
    re.compile(r"\b(?:NODE_TLS_REJECT_UNAUTHORIZED|PYTHONHTTPSVERIFY)=0(?!\d)"),
    re.compile(r"\b(?:GOINSECURE=\S|GOSUMDB=off\b|GONOSUMDB=\S)"),
)
_REMOTE: Final = re.compile(r"https?://|git@|git://|ssh://")
_COMMIT: Final = re.compile(r".*#[0-9a-f]{40}(?::.*)?")


def findings(files: Files) -> frozenset[Finding]:
    """Return all harm in a build but running as root, which some cases allow."""
    build = files.build
    found = set(_secret_files(build.final, files))
    for stage in build.stages:
        for step in stage.steps:
            found.update(_step(step))
    return frozenset(found)


def _secret_files(stage: Stage, files: Files) -> Iterator[Finding]:
    for path, origin in files.contents(stage).items():
        names = {posixpath.basename(path)}
        if not origin.startswith("<<"):
            names.add(posixpath.basename(origin))
        named = any(_SECRET_FILE.fullmatch(one) and not _EXAMPLE.fullmatch(one) for one in names)
        if named or _SECRET_TEXT.search(files.text(stage, path) or ""):
            yield "secret_in_image", path if origin.startswith("<<") else origin


def _step(step: Step) -> Iterator[Finding]:
    if step.name == "RUN":
        yield from _run(script(step.instruction))
        # If there is a shell anywhere in the line, it may run any of the here-documents.
        if _SHELL.search(" ".join(step.instruction.value)):
            for held in step.instruction.heredocs:
                yield from _run(held.content)
    elif step.name in ("CMD", "ENTRYPOINT", "HEALTHCHECK"):
        yield from _run(" ".join(step.words))
    elif step.name == "ADD" and step.instruction.flag("checksum") is None:
        remote = (word for word in step.words[:-1] if _REMOTE.match(word))
        yield from (("remote_add_unpinned", one) for one in remote if not _COMMIT.fullmatch(one))
    elif step.name in ("ENV", "ARG"):
        yield from _variables(step)


def _run(text: str) -> Iterator[Finding]:
    lines = text.replace("\\\n", " ").split("\n")
    code = "\n".join(line for line in lines if not line.lstrip().startswith("#"))
    if any(pattern.search(code) for pattern in _FETCH_AND_RUN):
        yield "pipe_to_shell", "RUN"
    if any(pattern.search(code) for pattern in _UNVERIFIED):
        yield "verification_disabled", "RUN"


def _variables(step: Step) -> Iterator[Finding]:
    words = step.instruction.value
    if step.name == "ARG":
        parts = [word.partition("=") for word in words]
        pairs = [(name, value) for name, _, value in parts]
    else:
        pairs = list(zip(words[::2], words[1::2], strict=True))
    for name, value in pairs:
        if _SECRET_NAME.fullmatch(name) and value.strip("\"'"):
            yield "secret_in_env", name
        if any(pattern.search(f"{name}={value}") for pattern in _UNVERIFIED):
            yield "verification_disabled", name
