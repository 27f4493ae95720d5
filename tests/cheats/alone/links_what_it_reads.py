"""exchanges what it may read for a link to the rubric"""

import os
from pathlib import Path

# The bench's owner allows this file. Whoever hands in the system hands in the link.
DATA = Path(os.environ["CHEAT_BENCH"]) / "data"


def system(case):
    return {"did": "RIGHT" in DATA.read_text()}


system.reads = (str(DATA),)
