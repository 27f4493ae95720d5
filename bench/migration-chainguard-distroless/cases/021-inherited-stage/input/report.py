"""Shows what it was asked for."""

import sys

sys.stdout.write(" ".join(sys.argv[1:]))
