"""wakes the process of another import while what a trial left is scored"""

import mmap
import os
import signal
import time
from pathlib import Path

TOLD = mmap.mmap(-1, 4096)
FILES = []


def ring(*_):
    """Hold the file that a trial has told of, wherever it is moved."""
    if TOLD[0] and not FILES:
        FILES.append(open(TOLD[:].rstrip(b"\0"), "ab", buffering=0))
    if FILES:
        FILES[0].write(b"x")


def standing_still():
    """Processes of this session alone, which have the environment of this one."""
    own = os.environb[b"CHEAT_BENCH"]
    for path in Path("/proc").glob("[0-9]*"):
        try:
            state = (path / "stat").read_text().rpartition(")")[2].split()[0]
            if state == "T" and own in (path / "environ").read_bytes():
                yield int(path.name)
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
    time.sleep(0.3)
    return {}


signal.signal(signal.SIGALRM, ring)
signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
