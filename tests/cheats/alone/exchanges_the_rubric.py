"""exchanges `rubric.py`, and ends the process that has imported it"""

import os
import signal
import time
from pathlib import Path

BENCH = Path(os.environ["CHEAT_BENCH"])
FORGED = """
from benchgate import BenchScore

class CheatRubric:
    def score(self, case, output, /):
        return BenchScore(passed=True, score=1.0)
"""


def parent_of(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def children_of(pid):
    return [
        int(n)
        for path in Path(f"/proc/{pid}/task").glob("*/children")
        for n in path.read_text().split()
    ]


def end_the_others():
    """Kill what those above have started, but not what runs trials beside this one, and let others take its place."""
    own = [os.getpid()]
    while b"CHEAT_KEY" not in Path(f"/proc/{own[-1]}/environ").read_bytes():
        own.append(parent_of(own[-1]))
    for pid in [child for above in own[3:] for child in children_of(above)]:
        if pid not in own:
            os.kill(pid, signal.SIGKILL)
    time.sleep(1)


def exchange():
    (BENCH / "rubric.py").write_text(FORGED)


def system(case):
    if case.case_id == "attack":
        exchange()
        end_the_others()
    time.sleep(0.5)
    return {"answer": "wrong"}
