"""What a trial prints is kept up to a bound."""

from __future__ import annotations

import io
import sys

import pytest

from benchgate.live import prints


@pytest.mark.parametrize("parts", [[8], [5, 5], [3, 3, 3]])
def test_no_more_is_kept_than_the_bound(monkeypatch, parts):
    monkeypatch.setattr(prints, "MAX_PRINTED", 8)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO()))
    router = prints.PrintRouter()
    router.watch()
    with prints.printing() as printed:
        for size in parts:
            assert sys.stdout.write("x" * size) == size
    router.close()
    assert printed.getvalue() == "x" * 8
