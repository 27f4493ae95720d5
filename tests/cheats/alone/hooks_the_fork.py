"""has the process of its import start a thread when it forks, which writes to the files of ended trials"""

import mmap
import os
import threading
import time

TOLD = mmap.mmap(-1, 4096)
STARTED = []


def write_for_ever():
    """Hold the file that a trial told of, wherever it is moved."""
    ends = time.monotonic() + 20
    with open(TOLD[:].rstrip(b"\0"), "ab", buffering=0) as file:
        while time.monotonic() < ends:
            file.write(b"x")
            time.sleep(0.01)


def start():
    if TOLD[0] and not STARTED:
        STARTED.append(threading.Thread(target=write_for_ever, daemon=True))
        STARTED[0].start()


def system(case):
    if not TOLD[0]:
        path = case.work_path / "grows.txt"
        path.touch()
        TOLD.write(str(path).encode())
    else:
        time.sleep(0.2)
    return {}


os.register_at_fork(after_in_parent=start)
