"""Serves the working folder."""

from http.server import HTTPServer, SimpleHTTPRequestHandler

HTTPServer(("", 8000), SimpleHTTPRequestHandler).serve_forever()
