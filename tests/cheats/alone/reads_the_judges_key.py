"""reads the key of the judge in its own environment"""

import os


def system(case):
    return {"did": "CHEAT_JUDGE_KEY" in os.environ}
