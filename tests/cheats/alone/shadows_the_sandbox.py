"""has a file beside it by the name of a library that the sandbox is made of"""

import os
import sys
from pathlib import Path

if __name__ != "attack":
    place = sys.modules.get("benchgate.isolation.place")
    if place is not None:
        place.close = lambda *_, **__: None


def system(case):
    return {"answer": (Path(os.environ["CHEAT_BENCH"]) / "cases/attack/expected/answer.txt").read_text()}


class LandlockError(Exception):
    """It is looked for."""


def abi_version():
    return 9
