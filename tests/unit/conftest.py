"""Settings of the property tests."""

from __future__ import annotations

from hypothesis import settings

# Shared machines are slow at times; how long an example takes says nothing about it.
settings.register_profile("default", deadline=None)
settings.load_profile("default")
