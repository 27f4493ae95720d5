"""Results in a folder: what is put there is got again, in any process, and what is not whole is not."""

from __future__ import annotations

import subprocess
import sys

import pytest

from benchgate.errors import Unreadable
from benchgate.ids import TrialKey
from benchgate.models import BenchScore, TrialResult
from benchgate.results.folder import Results
from benchgate.trials.executor import TrialRecord

KEY = TrialKey("echo", "01", 0, 7)


def record(outcome="scored", output='{"answer": 1}', **fields):
    if outcome == "scored":
        fields["score"] = BenchScore(passed=True, score=1.0, safety_penalty=0.0)
    result = TrialResult(case_id="01", trial=0, seed=7, held_out=False, outcome=outcome, **fields)
    return TrialRecord(result=result, output_json=output, scorer="a" * 64)


@pytest.fixture
def run(tmp_path):
    (tmp_path / "cases").mkdir()
    return tmp_path


def test_another_process_gets_what_one_put(run):
    sha256 = Results.of_run(run).put(KEY, record())
    code = (
        "import sys; from pathlib import Path; from benchgate.ids import TrialKey\n"
        "from benchgate.results.folder import Results\n"
        "print(Results.left_in(Path(sys.argv[1])).get(TrialKey('echo', '01', 0, 7)).file_sha256)"
    )
    told = subprocess.run([sys.executable, "-c", code, run], capture_output=True, check=True)
    assert told.stdout.decode().strip() == sha256
    there = Results.of_run(run).get(KEY)
    assert (there.result, there.output_json) == (record().result, record().output_json)


@pytest.mark.parametrize(
    ("outcome", "fields", "is_there"),
    [
        ("harness_error", {}, True),
        ("unavailable", {}, True),  # its output is there, and awaits its score
        ("unavailable", {"output": None}, False),
        ("unavailable", {"left_files": True}, False),  # files that nobody has any more
        ("rubric_error", {}, False),
    ],
)
def test_what_says_nothing_of_the_system_is_asked_of_it_again(run, outcome, fields, is_there):
    Results.of_run(run).put(KEY, record(outcome, **fields))
    assert (Results.of_run(run).get(KEY) is not None) == is_there


@pytest.mark.parametrize("damage", ["torn", "another", "missing", "no line"])
def test_what_is_not_whole_is_not_taken_over(run, damage):
    Results.of_run(run).put(KEY, record())
    path = run / "cases" / KEY.file_name
    if damage == "torn":
        path.write_bytes(path.read_bytes()[:-20])
    elif damage == "another":
        path.write_text(path.read_text().replace('"seed":7', '"seed":8'))
    elif damage == "missing":
        path.unlink()
    else:
        (run / "trials.sha256").unlink()
    left = Results.left_in(run)
    assert left.get(KEY) is None
    assert not list(left.all_of([KEY]))
    with pytest.raises(Unreadable):
        left.read(KEY)
