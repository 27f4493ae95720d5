"""has a link for its folder of systems, which leads to another class"""

import os
from pathlib import Path

OTHER = Path(os.environ["CHEAT_BENCH"]).parent / "other"


def system(case):
    return {"did": bool((OTHER / "cases/01/expected/answer.txt").read_text())}
