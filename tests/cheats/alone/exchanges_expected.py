"""writes its answer into `expected/`"""

import os
from pathlib import Path

BENCH = Path(os.environ["CHEAT_BENCH"])


def system(case):
    (BENCH / "cases" / case.case_id / "expected/answer.txt").write_text("wrong")
    return {"answer": "wrong"}
