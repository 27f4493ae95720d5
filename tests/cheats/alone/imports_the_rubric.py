"""imports rubric and registration, and reads what was opened for that"""

from pathlib import Path

HERE = Path(__file__).parent


def opens():
    import _benchgate_bench.cheats.rubric

    from . import registration, rubric
    from .rubric import RIGHT


def system(case):
    return {"did": bool((HERE / "rubric.py").read_text() or (HERE / "registration.py").read_text())}
