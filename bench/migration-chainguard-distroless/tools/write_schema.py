"""
Write the JSON Schema of ``expected.json`` from the model; a test compares every case with it.

    python bench/migration-chainguard-distroless/tools/write_schema.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from benchgate.loader.imports import bench_package

CLASS: Final = Path(__file__).resolve().parent.parent
SCHEMA: Final = CLASS / "case-template" / "expected.schema.json"


def schema() -> dict[str, Any]:
    """Return the schema."""
    from _benchgate_bench.migration_chainguard_distroless.expected import Expected

    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Expected.model_json_schema(),
    }


def main() -> None:
    """Write it."""
    with bench_package(CLASS.parent):
        SCHEMA.write_text(json.dumps(schema(), indent=2, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
