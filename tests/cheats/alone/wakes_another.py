"""wakes the process of another import while what a trial left is scored"""

import mmap
import os
import signal
import threading
import time
from pathlib import Path

TOLD = mmap.mmap(-1, 4096)
ENDS = time.monotonic() + 25
FORKS = []


def write_for_ever():
    """Hold the file that a trial tells of, wherever it is moved."""
    while not TOLD[0] and time.monotonic() < ENDS:
        time.sleep(0.01)
    try:
        with open(TOLD[:].rstrip(b"\0"), "ab", buffering=0) as file:
            while time.monotonic() < ENDS:
                file.write(b"x")
                time.sleep(0.01)
    except OSError:  # it was moved before
        return


def hook():
    """In the process that forks: the first fork of it is made before there is a trial."""
    FORKS.append(True)
    if len(FORKS) == 2:
        threading.Thread(target=write_for_ever, daemon=True).start()


def standing_still():
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            if path.read_text().rpartition(")")[2].split()[0] == "T":
                yield int(path.parent.name)
        except OSError:
            continue


def system(case):
    if case.case_id != "attack":
        ends = time.monotonic() + 4
        while time.monotonic() < ends:
            for pid in standing_still():
                os.kill(pid, signal.SIGCONT)
            time.sleep(0.01)
        return {}
    path = case.work_path / "grows.txt"
    path.touch()
    TOLD.write(str(path).encode())
    time.sleep(0.2)
    return {}


os.register_at_fork(after_in_parent=hook)
