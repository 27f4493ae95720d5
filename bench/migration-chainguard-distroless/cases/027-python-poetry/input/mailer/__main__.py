"""Sends what is in the queue."""

import sys
import time

import jinja2

sys.stdout.write(f"{jinja2.__version__} {sys.argv[1:]}\n")
sys.stdout.flush()
time.sleep(600)
