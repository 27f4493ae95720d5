"""never returns from its `digest()`"""

import ctypes
import signal


def digest():
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    ctypes.PyDLL(None).sleep(600)


def system(case):
    return {}


system.digest = digest
