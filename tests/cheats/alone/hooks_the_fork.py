"""has the process of its import start a thread when it forks, which writes to the files of ended trials"""

import mmap
import os
import threading
import time

TOLD = mmap.mmap(-1, 4096)
FORKS = []


def write_for_ever():
    """Hold the file that a trial tells of, wherever it is moved."""
    ends = time.monotonic() + 20
    while not TOLD[0] and time.monotonic() < ends:
        time.sleep(0.01)
    try:
        with open(TOLD[:].rstrip(b"\0"), "ab", buffering=0) as file:
            while time.monotonic() < ends:
                file.write(b"x")
                time.sleep(0.01)
    except OSError:  # it was moved before
        return


def hook():
    """In the process that forks: the first fork of it is made before there is a trial."""
    FORKS.append(True)
    if len(FORKS) == 2:
        threading.Thread(target=write_for_ever, daemon=True).start()


def system(case):
    if not TOLD[0]:
        path = case.work_path / "grows.txt"
        path.touch()
        TOLD.write(str(path).encode())
    time.sleep(0.2)
    return {}


os.register_at_fork(after_in_parent=hook)
