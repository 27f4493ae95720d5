"""reads the key of the judge in the environment of another process"""

from pathlib import Path


def system(case):
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if b"CHEAT_JUDGE_KEY" in path.read_bytes():
                return {"did": True}
        except OSError:
            continue
    return {}
