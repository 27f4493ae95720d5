"""Running a task class: the engine behind pytest and the command line."""

from __future__ import annotations

from benchgate.runner.run import CaseFilter, RunSettings, run_class, run_eval

__all__ = ["CaseFilter", "RunSettings", "run_class", "run_eval"]
