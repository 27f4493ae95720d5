"""exchanges a module that the rubric imports while it scores"""

import os
from pathlib import Path

BENCH = Path(os.environ["CHEAT_BENCH"])


def system(case):
    (BENCH / "weights.py").write_text("ALL_PASS = True\n")
    return {"answer": "wrong"}
