"""The picture of a terminal shows what is printed now, that of the performance the figures that were measured."""

from __future__ import annotations

import json
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


def test_the_performance_is_drawn_from_its_figures():
    script = runpy.run_path(str(PICTURES / "performance_svg.py"))
    drawn = script["picture"](json.loads(script["FIGURES"].read_bytes()))
    assert drawn == (PICTURES / "performance.svg").read_text("utf-8"), (
        "run python docs/pictures/performance_svg.py"
    )
