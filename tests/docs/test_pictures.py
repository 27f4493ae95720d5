"""The picture of a terminal shows what is printed now."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"


@pytest.mark.slow
def test_the_terminal_is_drawn_as_it_is_now():
    script = runpy.run_path(str(PICTURES / "terminal_svg.py"))
    drawn = script["picture"](script["run"]())
    assert drawn == (PICTURES / "terminal.svg").read_text("utf-8"), (
        "run python docs/pictures/terminal_svg.py"
    )
