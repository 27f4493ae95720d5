"""Does what is due."""

import os
import sys
import time

import cffi

sys.stdout.write(f"{os.environ['JOB_NAME']} {cffi.__version__} {sys.argv[1:]}\n")
sys.stdout.flush()
time.sleep(600)
