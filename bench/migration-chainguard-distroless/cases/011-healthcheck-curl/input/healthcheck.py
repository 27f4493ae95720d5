"""Asks the service whether it is well, as curl -f does."""

from urllib.request import urlopen

urlopen("http://localhost:8000/healthz", timeout=2)
