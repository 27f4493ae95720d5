"""imports a link that leads out of its class, such as to a key"""

from pathlib import Path

HERE = Path(__file__).parent


def opens():
    from . import elsewhere


def system(case):
    return {"did": bool((HERE / "elsewhere.py").read_text())}
