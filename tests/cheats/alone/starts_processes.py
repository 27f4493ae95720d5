"""starts more processes than `limits.processes`"""

import os
import time


def system(case):
    started = 0
    try:
        while started < 60:
            if not os.fork():
                time.sleep(2)
                os._exit(0)
            started += 1
    except OSError:
        return {}
    return {"did": True}
