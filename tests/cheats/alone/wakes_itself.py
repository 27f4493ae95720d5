"""has a daemon wake the process of its import while what a trial left is scored"""

import mmap
import os
import signal
import threading
import time

TOLD = mmap.mmap(-1, 4096)
IMPORTING = os.getpid()
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


def wake_for_ever():
    while time.monotonic() < ENDS:
        os.kill(IMPORTING, signal.SIGCONT)
        time.sleep(0.0005)


def hook():
    """In the process that forks: the first fork of it is made before there is a trial."""
    FORKS.append(True)
    if len(FORKS) != 2:
        return
    threading.Thread(target=write_for_ever, daemon=True).start()
    if not os.fork():
        wake_for_ever()
        os._exit(0)


def system(case):
    if not TOLD[0]:
        path = case.work_path / "grows.txt"
        path.touch()
        TOLD.write(str(path).encode())
    time.sleep(0.2)
    return {}


os.register_at_fork(after_in_parent=hook)
