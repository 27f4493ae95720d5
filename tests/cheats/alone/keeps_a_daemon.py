"""keeps a daemon from its import on, which writes to the files of ended trials"""

import mmap
import os
import time

TOLD = mmap.mmap(-1, 4096)


def write_for_ever():
    """Hold the file that a trial tells of, wherever it is moved."""
    ends = time.monotonic() + 20
    while not TOLD[0] and time.monotonic() < ends:
        time.sleep(0.01)
    with open(TOLD[:].rstrip(b"\0"), "ab", buffering=0) as file:
        while time.monotonic() < ends:
            file.write(b"x")
            time.sleep(0.01)


if not os.fork():
    os.setsid()
    if not os.fork():
        os.closerange(0, 256)
        write_for_ever()
    os._exit(0)


def system(case):
    if not TOLD[0]:
        path = case.work_path / "grows.txt"
        path.touch()
        TOLD.write(str(path).encode())
    time.sleep(0.2)
    return {}
