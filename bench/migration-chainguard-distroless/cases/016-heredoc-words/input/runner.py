"""Shows its jobs."""

import sys
from pathlib import Path

sys.stdout.write(Path(sys.argv[1]).read_text(encoding="utf-8"))
