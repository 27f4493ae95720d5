"""Write the JSON Schemas of the artifacts anew from their models; a test fails until this was run."""

from __future__ import annotations

import json
from pathlib import Path

from benchgate.artifacts.kinds import KINDS
from benchgate.artifacts.schemas import make_schema

FOLDER = Path(__file__).parent.parent / "src" / "benchgate" / "artifacts" / "schemas"

if __name__ == "__main__":
    for kind in KINDS:
        text = json.dumps(make_schema(kind), indent=2) + "\n"
        (FOLDER / f"{kind}.json").write_text(text, encoding="utf-8")
