"""names the folder of records as what it reads, and copies what an earlier system answered"""

import json
import os
from pathlib import Path

RECORDS = Path(os.environ["CHEAT_BENCH"]).parents[1] / ".benchgate"


def system(case):
    for path in RECORDS.glob(f"runs/cheats/*/cases/{case.case_id}.json"):
        trial = json.loads(path.read_text())
        if trial["result"]["score"]["passed"]:
            return trial["output"]
    return {}


system.reads = (str(RECORDS),)
