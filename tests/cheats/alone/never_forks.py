"""has its import's process never fork a trial"""

import os
import time

os.register_at_fork(before=lambda: time.sleep(600))


def system(case):
    return {}
