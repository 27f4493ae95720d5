"""takes more of the disk than `limits.disk` while it is imported"""

import tempfile
import time
from pathlib import Path

HOME = Path(tempfile.gettempdir())
for number in range(16):
    (HOME / f"full-{number}").write_bytes(bytes(2**22))
    time.sleep(0.1)
for number in range(16):
    (HOME / f"full-{number}").unlink()


def system(case):
    return {"did": True}
