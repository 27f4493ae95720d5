"""Checks of certificates and signatures that are turned off: by an option, a variable, or an address without TLS."""

from __future__ import annotations

import re
from typing import Final

_OPTIONS: Final = (
    re.compile(
        r"\bcurl\b[^;&|\n]{0,999}\s(?:-[a-zA-Z]*k[a-zA-Z]*|--insecure|--proxy-insecure)(?=\s|$)"
    ),
    re.compile(r"\bwget\b[^;&|\n]{0,999}\s--no-check-certificate\b"),
    re.compile(r"\bapk\b[^;&|\n]{0,999}\s--allow-untrusted\b"),
    re.compile(
        r"\bapt(?:-get)?\b[^;&|\n]{0,999}\s(?:--allow-unauthenticated|--force-yes|--allow-insecure-repositories)\b"
    ),
    re.compile(r"\b(?:dnf|yum|microdnf)\b[^;&|\n]{0,999}\s--nogpgcheck\b"),
    re.compile(r"\b(?:pip3?|uv)\b[^;&|\n]{0,999}\s--(?:trusted-host|allow-insecure-host)\b"),
    re.compile(r"\bstrict-ssl[ =]+false\b"),
    re.compile(r"\bhttp\.sslVerify[ =]+(?:false|0)\b", re.IGNORECASE),
    re.compile(r"\b(?:secure-http|disable-tls)\b[ =]+(?:false|true)\b"),
    re.compile(r"\bgem\b[^;&|\n]{0,999}\s(?:-P|--trust-policy)[ =]NoSecurity\b"),
)
_MANAGERS: Final = r"apk|bun|bundle|cargo|composer|gem|go|mvn|npm|pip3?|pnpm|poetry|uv|yarn"
_PLAIN_INDEX: Final = re.compile(
    rf"\b(?:{_MANAGERS})\b[^;&|\n]{{0,999}}?(?:[\s=])[\"']?http://(?!localhost\b|127\.|\[::1\])",
    re.IGNORECASE,
)
_REPOSITORIES: Final = re.compile(
    r"http://(?!localhost|127\.)[^\n;&|]{0,999}>>?\s*/etc/apk/repositories"
)
_FALSE: Final = ("0", "false", "no", "off")
_TRUE: Final = ("1", "true", "yes", "on")
_OFF_IF_FALSE: Final = frozenset(
    {"NODE_TLS_REJECT_UNAUTHORIZED", "PYTHONHTTPSVERIFY", "NPM_CONFIG_STRICT_SSL", "YARN_ENABLE_STRICT_SSL",
     "COMPOSER_SECURE_HTTP", "GIT_SSL_VERIFY", "CARGO_HTTP_CHECK_REVOKE"}
)  # fmt: skip
_OFF_IF_TRUE: Final = frozenset({"GIT_SSL_NO_VERIFY", "COMPOSER_DISABLE_TLS", "CURL_INSECURE"})
_OFF_IF_SET: Final = frozenset(
    {"PIP_TRUSTED_HOST", "UV_INSECURE_HOST", "GOINSECURE", "GONOSUMDB", "GONOSUMCHECK"}
)
_OFF_IF: Final = {"GOSUMDB": "off", "GOFLAGS": "-insecure", "BUNDLE_SSL_VERIFY_MODE": "0"}
_INDEX: Final = re.compile(r".*(?:INDEX|REGISTRY|MIRROR|GOPROXY|REPOSITORY|SOURCE_URL).*")
_ASSIGNED: Final = re.compile(r"(?:^|[\s;&|])([A-Za-z_]\w*)=([\"']?)([^\s;&|\"']*)")


def in_command(text: str) -> bool:
    """Return whether a shell text turns a check off."""
    lines = text.replace("\\\n", " ").split("\n")
    code = "\n".join(line for line in lines if not line.lstrip().startswith("#"))
    by_option = any(pattern.search(code) for pattern in (*_OPTIONS, _PLAIN_INDEX, _REPOSITORIES))
    return by_option or any(in_variable(name, value) for name, _, value in _ASSIGNED.findall(code))


def in_variable(name: str, value: str) -> bool:
    """Return whether a variable turns a check off, or is the address of an index without TLS."""
    key, held = name.upper(), value.strip("\"'").lower()
    if key in _OFF_IF_SET:
        return bool(held)
    return (
        (key in _OFF_IF_FALSE and held in _FALSE)
        or (key in _OFF_IF_TRUE and held in _TRUE)
        or (key in _OFF_IF and _OFF_IF[key] in held)
        or (bool(_INDEX.fullmatch(key)) and bool(re.match(r"http://(?!localhost|127\.)", held)))
    )
