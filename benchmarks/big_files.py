"""
What the commands take for files that are as large as they may be: whole processes, CPU seconds and the peak in MB.

    python benchmarks/big_files.py RESULTS MEGABYTES

Every command must end in seconds or refuse the file at once; the last line it printed is shown beside its figures.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchgate.aggregate import build_report
from benchgate.gates.policy import GatePolicy
from benchgate.ids import RunPlan
from benchgate.models import BenchScore, RunDigests, TrialResult
from benchgate.taxonomy import Taxonomy

CODE = "from benchgate.cli import main; raise SystemExit(main())"


def report(count: int, worse: int) -> dict[str, object]:
    """Return the part of a record that a comparison needs; every ``worse``-th case fails."""
    results = [
        TrialResult(
            case_id=f"case-{n:06}",
            trial=0,
            seed=0,
            held_out=False,
            outcome="scored",
            score=BenchScore(passed=n % worse > 0, score=(n % worse) / worse, safety_penalty=0.0),
        )
        for n in range(count)
    ]
    zeros = "0" * 64
    plan = RunPlan(
        task_class="big",
        case_ids=tuple(result.case_id for result in results),
        scope="full",
        system="big",
        trial_count=1,
        seed=0,
        harness_version="0",
        digests=RunDigests(
            cases={result.case_id: zeros for result in results},
            rubric=zeros,
            scorer=zeros,
            taxonomy=zeros,
            system=None,
            policy=zeros,
        ),
    )
    made = build_report(plan, results, Taxonomy({}))
    return {
        "report": made.model_dump(mode="json"),
        "policy": GatePolicy().model_dump(mode="json"),
    }


def write_files(folder: Path, results: int, size: int) -> dict[str, list[str]]:
    """Write the files; return the commands to measure."""
    for name, worse in (("a", 2), ("b", 7)):
        (folder / f"{name}.json").write_text(json.dumps(report(results, worse), indent=2))
        values = {f"case-{n:06}": (n % worse) / worse for n in range(results)}
        (folder / f"{name}-samples.json").write_text(json.dumps(values))
    record = json.loads((folder / "a.json").read_bytes())["report"]
    run = {"schema_version": 1, "report_kind": "selected", "report": record}
    run["finished_at"] = "2026-11-01T00:00:00Z"
    (folder / "run.json").write_text(json.dumps(run, indent=2))
    row = record["per_case"][0]
    head, case = '{"report_kind": "head", ', '{"schema_version": 1, "report_kind": "case", '
    keys = "".join(f'"{n}":0,' for n in range(size // 11))
    texts = {
        "nothing": "",
        "text": f'{head}"x": "{"x" * size}"}}',
        "keys": f'{head}{keys}"x": 0}}',
        "twice": f'{head}{keys}"0": 0}}',
        "lists": f'{case}"output": [{"[]," * (size // 3)}0]}}',
        "results": json.dumps({**run, "report": {**record, "per_case": [row] * (size // 400)}}),
        "faults": json.dumps({**run, "report": {**record, "per_case": [0] * (size // 3)}}),
        "digests": f'{{"report_kind": "record", "case_files": {{{keys}"x": 0}}}}',
    }
    for name, text in texts.items():
        (folder / f"{name}.json").write_text(text)
    (folder / "zeros.json").touch()
    os.truncate(folder / "zeros.json", 2**40)
    vectors = ["--baseline-samples=a-samples.json", "--trained-samples=b-samples.json"]
    return {
        "gate": ["gate", "a.json", "b.json"],
        "proof": ["proof", "--run-id=big", "--out=out", *vectors],
        "validate run": ["verify", "run.json"],
        **{f"validate {name}": ["verify", f"{name}.json"] for name in (*texts, "zeros")},
    }


def measure(cwd: Path, arguments: list[str]) -> tuple[float, float, str]:
    """Return CPU seconds, peak memory in MB and the last line of a command, started in a process of its own."""
    with (cwd / "lines").open("w+") as lines:
        started = subprocess.Popen(
            [sys.executable, "-c", CODE, *arguments], cwd=cwd, stdout=lines, stderr=lines
        )
        _, _, used = os.wait4(started.pid, 0)
        lines.seek(0)
        last = lines.read().strip().rpartition("\n")[2]
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, last


def main() -> None:
    """Print a line for each command."""
    results, megabytes = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        # Written by a process of its own: the peak of a child is at least that of the process that started it.
        write = [sys.executable, __file__, "--write", name, results, megabytes]
        written = subprocess.run(write, check=True, stdout=subprocess.PIPE)
        for what, arguments in json.loads(written.stdout).items():
            seconds, memory, last = measure(Path(name), arguments)
            print(f"{what:17} {seconds:7.1f} s {memory:7.0f} MB  {last[:100]}", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "--write":
        folder, results, megabytes = sys.argv[2:]
        print(json.dumps(write_files(Path(folder), int(results), int(float(megabytes) * 10**6))))
    else:
        main()
