"""``python -m benchgate``."""

import sys

from benchgate.cli import main

if __name__ == "__main__":
    sys.exit(main())
