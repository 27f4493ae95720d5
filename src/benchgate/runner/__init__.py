"""Running a task class: the engine behind pytest and the command line."""

from __future__ import annotations

from benchgate.runner.run import run_class, run_eval
from benchgate.runner.settings import CaseFilter, RunSettings

__all__ = ["CaseFilter", "RunSettings", "run_class", "run_eval"]
