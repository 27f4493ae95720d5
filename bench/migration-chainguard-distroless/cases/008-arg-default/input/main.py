"""Says which release it is."""

import os
import sys

sys.stdout.write(os.environ["RELEASE"])
