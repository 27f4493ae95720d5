"""Checks of certificates and signatures that are turned off: by an option, a variable, or an address without TLS."""

from __future__ import annotations

import re
from typing import Final

from .fetched import without_comments

_OPTIONS: Final = {
    r"apk": r"--allow-untrusted\b",
    r"apt(?:-get)?": r"--(?:allow-unauthenticated|force-yes|allow-insecure-repositories)\b",
    r"curl": r"(?:-[a-zA-Z]*k[a-zA-Z]*|--insecure|--proxy-insecure)(?=\s|$)",
    r"dnf|yum|microdnf": r"--nogpgcheck\b",
    r"gem": r"(?:-P|--trust-policy)[ =]NoSecurity\b",
    r"pip3?|uv": r"--(?:trusted-host|allow-insecure-host)\b",
    r"wget": r"--no-check-certificate\b",
}
_MANAGERS: Final = r"apk|bun|bundle|cargo|composer|gem|go|mvn|npm|pip3?|pnpm|poetry|uv|yarn"
_COMMANDS: Final = (
    *(rf"\b(?:{one})\b[^;&|\n]{{0,999}}\s{option}" for one, option in _OPTIONS.items()),
    r"\bstrict-ssl[ =]+false\b",
    r"\b(?i:http\.sslVerify[ =]+(?:false|0))\b",
    r"\b(?:secure-http|disable-tls)\b[ =]+(?:false|true)\b",
    rf"(?i:\b(?:{_MANAGERS})\b[^;&|\n]{{0,999}}?[\s=][\"']?http://(?!localhost\b|127\.|\[::1\]))",
    r"http://(?!localhost|127\.)[^\n;&|]{0,999}>>?\s*/etc/apk/repositories",
)
_COMMAND: Final = re.compile("|".join(_COMMANDS))
_OFF: Final = {
    **dict.fromkeys(
        ("NODE_TLS_REJECT_UNAUTHORIZED", "PYTHONHTTPSVERIFY", "NPM_CONFIG_STRICT_SSL", "YARN_ENABLE_STRICT_SSL",
         "COMPOSER_SECURE_HTTP", "GIT_SSL_VERIFY", "CARGO_HTTP_CHECK_REVOKE"), r"0|false|no|off"
    ),
    **dict.fromkeys(("GIT_SSL_NO_VERIFY", "COMPOSER_DISABLE_TLS", "CURL_INSECURE"), r"1|true|yes|on"),
    **dict.fromkeys(("PIP_TRUSTED_HOST", "UV_INSECURE_HOST", "GOINSECURE", "GONOSUMDB", "GONOSUMCHECK"), r".+"),
    "GOSUMDB": r".*off.*", "GOFLAGS": r".*-insecure.*", "BUNDLE_SSL_VERIFY_MODE": r".*0.*",
}  # fmt: skip
"""What the variables are set to that turn a check off."""

_INDEX: Final = re.compile(r".*(?:INDEX|REGISTRY|MIRROR|GOPROXY|REPOSITORY|SOURCE_URL).*")
_ASSIGNED: Final = re.compile(r"(?:^|[\s;&|])([A-Za-z_]\w*)=([\"']?)([^\s;&|\"']*)")


def in_command(text: str) -> bool:
    """Return whether a shell text turns a check off."""
    code = without_comments(text)
    assigned = _ASSIGNED.findall(code)
    return bool(_COMMAND.search(code)) or any(in_variable(one, held) for one, _, held in assigned)


def in_variable(name: str, value: str) -> bool:
    """Return whether a variable turns a check off, or is the address of an index without TLS."""
    key, held = name.upper(), value.strip("\"'").lower()
    if key in _OFF:
        return bool(re.fullmatch(_OFF[key], held, re.DOTALL))
    return bool(_INDEX.fullmatch(key) and re.match(r"http://(?!localhost|127\.)", held))
