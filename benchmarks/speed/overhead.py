"""
What a bench case costs beside an ordinary test, as ratios of figures that are measured in one run.

    python benchmarks/speed/overhead.py [CASES [ROUNDS]]

Whole processes, each kind in turn; of each kind the least CPU seconds of all rounds count, since other work on the
machine only ever adds. The floor is what pytest takes for a file with an item that does nothing. The figure per case is
the difference between CASES cases and one, so start-up drops out. All files are below ``TMPDIR``, and what its file
system takes for the folder and the file of a trial is part of the figure. Needs what the package itself needs and
nothing else.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

CASE = """\
[case]
case_id = "{0}"
task_class = "trivial"
disposition = "positive"
difficulty = "easy"
source = "curated"
added_at = 2026-01-01T00:00:00Z
last_validated_at = 2026-01-01T00:00:00Z
"""
REGISTRATION = """\
from benchgate import register_task_class
from .rubric import Constant

@register_task_class("trivial", systems={"nothing": lambda case: {}})
class Trivial(Constant):
    pass
"""
RUBRIC = """\
from benchgate import BenchScore

class Constant:
    def score(self, case, harness_output, /):
        return BenchScore(passed=True, score=1.0, safety_penalty=0.0)
"""
TESTS = """\
import pytest

@pytest.mark.parametrize("number", range({0}))
def test_nothing(number):
    pass
"""
FLOOR = """\
import pytest

class Item(pytest.Item):
    def runtest(self):
        self.user_properties += [("outcome", "scored"), ("score", 1.0)]

class File(pytest.File):
    def collect(self):
        yield Item.from_parent(self, name=self.path.stem)

def pytest_collect_file(parent, file_path):
    if file_path.suffix == ".case":
        return File.from_parent(parent, path=file_path)
"""
LIBRARY = "from benchgate import run_eval; run_eval('trivial')"
PYTEST = ("-m", "pytest", "-q", "-p", "pytest_timeout", "-p", "no:cacheprovider")
PLUGIN = ("-p", "benchgate.pytest_plugin")


def make_bench(root: Path, cases: int) -> None:
    """Write a bench of trivial cases."""
    folder = root / "bench" / "trivial"
    for number in range(cases):
        case = folder / "cases" / f"c{number:05}"
        (case / "input").mkdir(parents=True)
        (case / "input" / "question.txt").write_text("?")
        (case / "case.toml").write_text(CASE.format(case.name))
    (folder / "registration.py").write_text(REGISTRATION)
    (folder / "rubric.py").write_text(RUBRIC)


def environment() -> dict[str, str]:
    """Return the environment of a measured process; as after an installation, bytecode is there."""
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def measure(*command: str, cwd: Path) -> tuple[float, float]:
    """Run Python; return its seconds of CPU and its peak memory in MB."""
    done = subprocess.Popen(
        [sys.executable, *command], cwd=cwd, env=environment(), stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(done.pid, 0)
    if status:
        sys.exit(f"{' '.join(command)} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def import_ms(cwd: Path) -> float:
    """Return the milliseconds that a pytest run beside a bench that is not asked for takes to import our modules."""
    command = [sys.executable, "-X", "importtime", *PYTEST, "-s", *PLUGIN, "test_plain.py"]
    done = subprocess.run(
        command, cwd=cwd, env=environment(), capture_output=True, text=True, check=True
    )
    rows = (line.split("|") for line in done.stderr.splitlines() if "|" in line)
    ours = [row for row in rows if row[2].strip().startswith("benchgate")]
    return sum(int(row[0].rpartition(":")[2]) for row in ours) / 1000


def main() -> None:
    """Print the figures as JSON."""
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with tempfile.TemporaryDirectory() as name:
        one, many = Path(name, "one"), Path(name, "many")
        for folder, count in ((one, 1), (many, cases)):
            make_bench(folder, count)
            (folder / "test_plain.py").write_text(TESTS.format(count))
            (folder / "pytest.ini").write_text("[pytest]\n")
            (folder / "floor").mkdir()
            (folder / "floor" / "conftest.py").write_text(FLOOR)
            for number in range(count):
                (folder / "floor" / f"c{number:05}.case").touch()
        bench = (*PYTEST, *PLUGIN, "--bench=trivial", "--bench-baseline=none")
        by_id = f"bench/trivial/cases/c{cases // 2:05}/case.toml::c{cases // 2:05}"
        kinds = {
            "bench": (bench, many),
            "bench of one": (bench, one),
            "plain": ((*PYTEST, *PLUGIN, "test_plain.py"), many),
            "plain of one": ((*PYTEST, *PLUGIN, "test_plain.py"), one),
            "floor": ((*PYTEST, "floor"), many),
            "floor of one": ((*PYTEST, "floor"), one),
            "by id": ((*PYTEST, *PLUGIN, by_id), many),
            "without": ((*PYTEST, "test_plain.py"), one),
            "run_eval": (("-W", "ignore", "-c", LIBRARY), many),
            "run_eval of one": (("-W", "ignore", "-c", LIBRARY), one),
        }
        runs: dict[str, list[tuple[float, float]]] = {kind: [] for kind in kinds}
        for _ in range(rounds):
            for kind, (command, folder) in kinds.items():
                runs[kind].append(measure(*command, cwd=folder))
        imports = min(import_ms(one) for _ in range(rounds))
    cpu = {kind: min(cpu for cpu, _ in found) for kind, found in runs.items()}
    mb = {kind: min(mb for _, mb in found) for kind, found in runs.items()}
    per_case = {
        kind: (cpu[kind] - cpu[f"{kind} of one"]) / (cases - 1) * 1000
        for kind in ("bench", "plain", "floor", "run_eval")
    }
    figures = {
        "cases": cases,
        "cpu_ms_per_case": {kind: round(ms, 3) for kind, ms in per_case.items()},
        "ratio_of_a_case_to_a_test": round(per_case["bench"] / per_case["plain"], 2),
        "ratio_of_an_empty_item_to_a_test": round(per_case["floor"] / per_case["plain"], 2),
        "ratio_of_run_eval_to_a_test": round(per_case["run_eval"] / per_case["plain"], 2),
        "ratio_of_one_case_to_bare_pytest": round(cpu["bench of one"] / cpu["without"], 2),
        "ratio_of_one_by_id_to_bare_pytest": round(cpu["by id"] / cpu["without"], 2),
        "mb": {kind: round(mb[kind]) for kind in ("bench", "bench of one", "plain", "without")},
        "import_ms_of_an_unused_plugin": round(imports, 1),
        "ratio_of_an_unused_plugin_to_bare_pytest": round(imports / cpu["without"] / 1000, 3),
    }
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
