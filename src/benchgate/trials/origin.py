"""Finds the line of a user's code that an exception came from."""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path
from traceback import walk_tb
from typing import Final

FOREIGN: Final = tuple(
    f"{path}{os.sep}"
    for path in (
        Path(__file__).parents[1],
        *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    )
)
"""Folders of benchgate, of Python's library and of installed packages."""


def raised_at(error: BaseException) -> tuple[Path, int] | None:
    """Return file and line of the innermost frame that is neither benchgate's nor a library's, if there is one."""
    place = None
    for frame, line in walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        if os.path.isabs(file) and not file.startswith(FOREIGN):  # "<string>" is no file
            place = Path(file), line
    return place
