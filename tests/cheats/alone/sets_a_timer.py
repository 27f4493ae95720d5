"""has a timer in the process of its import, which writes to the files of ended trials"""

import mmap
import signal
import time

TOLD = mmap.mmap(-1, 4096)
FILES = []


def ring(*_):
    """Hold the file that a trial has told of, wherever it is moved."""
    if TOLD[0] and not FILES:
        FILES.append(open(TOLD[:].rstrip(b"\0"), "ab", buffering=0))
    if FILES:
        FILES[0].write(b"x")


def system(case):
    if not TOLD[0]:
        path = case.work_path / "grows.txt"
        path.touch()
        TOLD.write(str(path).encode())
    time.sleep(0.3)
    return {}


signal.signal(signal.SIGALRM, ring)
signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
