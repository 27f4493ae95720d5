"""never ends its import, and blocks all signals"""

import ctypes
import signal

signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
ctypes.PyDLL(None).sleep(600)


def system(case):
    return {}
