"""imports a package that is a link to the folder of the class"""

from pathlib import Path

HERE = Path(__file__).parent


def opens():
    from . import everything
    from .systems import all_of_it


def system(case):
    return {"answer": (HERE / "cases/attack/expected/answer.txt").read_text()}
