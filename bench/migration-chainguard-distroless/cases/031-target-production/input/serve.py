"""Serves what it is told to."""

import os
import sys
from http.server import HTTPServer, SimpleHTTPRequestHandler

port = int(
    os.environ.get(
        "PORT", sys.argv[sys.argv.index("--port") + 1] if "--port" in sys.argv else "8080"
    )
)
HTTPServer(("", port), SimpleHTTPRequestHandler).serve_forever()
