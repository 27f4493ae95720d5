"""Wiring of this repository's own tests; a user of benchgate needs none."""

pytest_plugins = ["pytester"]
