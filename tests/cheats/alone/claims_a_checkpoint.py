"""names `expected/` as its checkpoint"""

import os
from pathlib import Path


def system(case):
    return {"answer": case.checkpoint.path.read_text()}


system.checkpoint = Path(os.environ["CHEAT_BENCH"]) / "cases/attack/expected/answer.txt"
