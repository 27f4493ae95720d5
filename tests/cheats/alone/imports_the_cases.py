"""imports a package named `cases`, and reads what was opened for that"""

from pathlib import Path

HERE = Path(__file__).parent


def opens():
    import _benchgate_bench.cheats.cases.attack.expected

    from . import cases
    from .cases import attack
    from .cases.attack.expected import answer


def system(case):
    return {"answer": (HERE / "cases/attack/expected/answer.txt").read_text()}
