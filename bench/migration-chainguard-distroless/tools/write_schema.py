"""
Write the JSON Schema of ``expected.json`` from the model; a test compares every case with it.

    python bench/migration-chainguard-distroless/tools/write_schema.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from benchgate.loader.imports import bench_package

CLASS: Final = Path(__file__).resolve().parent.parent
SCHEMA: Final = CLASS / "case-template" / "expected.schema.json"


def schema() -> str:
    """Return the schema."""
    from _benchgate_bench.migration_chainguard_distroless.expected import Expected

    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    held = {**dialect, **Expected.model_json_schema()}
    return json.dumps(held, indent=2, sort_keys=True) + "\n"


if __name__ == "__main__":
    with bench_package(CLASS.parent):
        SCHEMA.write_text(schema(), encoding="utf-8")
