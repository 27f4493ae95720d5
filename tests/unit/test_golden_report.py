"""The run report keeps its shape and its ids: what other programs read does not drift."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

from benchgate import BenchRunReport
from benchgate.verify.agreement import same

ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "data" / "eval_run_report.json"


def test_the_report_is_still_the_golden_one():
    made = runpy.run_path(str(ROOT / "regenerate_golden.py"))["golden"]()
    expected, found = json.loads(GOLDEN.read_bytes()), made.model_dump(mode="json")
    assert list(same("report", expected, found)) == []
    assert list(same("report", found, expected)) == []  # no field more, either
    assert (made.run_id, made.plan_id) == (expected["run_id"], expected["plan_id"])


def test_the_golden_report_is_read_with_an_unknown_field():
    raw = json.loads(GOLDEN.read_bytes())
    read = BenchRunReport.read_json(GOLDEN.read_bytes())
    assert read.model_dump(mode="json") == raw
    more = json.dumps({**raw, "unknown": 1}).encode()
    assert BenchRunReport.read_json(more) == read
