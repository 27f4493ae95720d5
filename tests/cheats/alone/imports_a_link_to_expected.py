"""imports a link that leads to `expected/`"""

from pathlib import Path

HERE = Path(__file__).parent


def opens():
    from . import answers


def system(case):
    return {"answer": (HERE / "answers.py").read_text()}
