"""keeps memory from its import on, in which a trial leaves a word for later ones"""

import mmap

SHARED = mmap.mmap(-1, 4096)


def system(case):
    found = SHARED[0]
    SHARED[0] = 1
    return {"did": bool(found)}
