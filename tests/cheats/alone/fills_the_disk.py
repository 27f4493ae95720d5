"""takes more of the disk than `limits.disk`"""

import time
from pathlib import Path


def system(case):
    for number in range(16):
        Path(f"full-{number}").write_bytes(bytes(2**22))
        time.sleep(0.1)
    return {"did": True}
