"""
A package registry on the loopback interface, for npm: frozen metadata and frozen advisories, and no packages.

Each case has its own registry under its name, so that one server serves all cases at once. Nothing is fetched from
elsewhere; what is not frozen does not exist.
"""

from __future__ import annotations

import gzip
import json
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final, Self
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping

    Packages = Mapping[str, Mapping[str, Any]]

HOST: Final = "127.0.0.1"
BULK: Final = "-/npm/v1/security/advisories/bulk"


class LoopbackRegistry:
    """
    Serves registries while its ``with`` block lasts, on a port that the system chooses.

    :param packages: for each registry, packages by name in the form of a case's ``registry.json``.
    :param advisories: for each registry, package to its advisories, as npm's bulk endpoint answers.
    """

    def __init__(
        self,
        packages: Mapping[str, Packages],
        advisories: Mapping[str, Mapping[str, list[dict[str, Any]]]],
    ) -> None:
        self._packages = packages
        self._advisories = advisories
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def address(self) -> str:
        """The address below which each registry has its name."""
        return f"http://{HOST}:{self._server.server_address[1]}"

    def url(self, registry: str) -> str:
        """Return the address to give to npm."""
        return f"{self.address}/{registry}/"

    def packument(self, registry: str, name: str) -> dict[str, Any] | None:
        """Return a package's document for npm, or ``None`` if it is not frozen."""
        known = self._packages.get(registry, {}).get(name)
        if known is None:
            return None
        return {
            "name": name,
            "dist-tags": {"latest": known["latest"]} if "latest" in known else {},
            "versions": {
                version: self._manifest(registry, name, version, entry)
                for version, entry in known["versions"].items()
            },
        }

    def _manifest(
        self, registry: str, name: str, version: str, entry: Mapping[str, Any]
    ) -> dict[str, Any]:
        # npm requires an address for each version; no lock may contain it.
        tarball = f"{self.url(registry)}{name}/-/{version}.tgz"
        dist = {key: entry[key] for key in ("integrity",) if key in entry}
        held = {key: value for key, value in entry.items() if key not in dist}
        return {**held, "name": name, "version": version, "dist": {"tarball": tarball, **dist}}

    def advisories(self, registry: str, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return the advisories of the packages asked for; npm compares the versions itself."""
        known = self._advisories.get(registry, {})
        return {name: known[name] for name in asked if name in known}


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, owner: LoopbackRegistry) -> None:
        self.owner = owner
        super().__init__((HOST, 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:  # the name is http.server's
        self._answer(self.server.owner.packument(*self._target()))

    def do_POST(self) -> None:  # the name is http.server's
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        registry, endpoint = self._target()
        owner = self.server.owner
        self._answer(owner.advisories(registry, json.loads(body)) if endpoint == BULK else None)

    def _target(self) -> tuple[str, str]:
        registry, _, rest = urlsplit(self.path).path.lstrip("/").partition("/")
        return registry, unquote(rest)

    def _answer(self, found: Mapping[str, Any] | None) -> None:
        body = json.dumps(found or {}).encode()
        self.send_response(HTTPStatus.NOT_FOUND if found is None else HTTPStatus.OK)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing: npm's own messages are enough."""
