"""names the rubric as what it reads"""

import os
from pathlib import Path

RUBRIC = Path(os.environ["CHEAT_BENCH"]) / "rubric.py"


def system(case):
    return {"did": "RIGHT" in RUBRIC.read_text()}


system.reads = (str(RUBRIC),)
