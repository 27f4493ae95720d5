"""Says which version of the library is there."""

import sys

import cffi

sys.stdout.write(f"{cffi.__version__}\n")
