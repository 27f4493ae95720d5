"""The tables of the systems: that each bench keeps those that are printed, and that they show what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchgate import run_eval
from benchgate.gates.baseline import read_baseline
from benchgate.gates.choice import FILE_NAME
from benchgate.testing import load_cases

BENCH = Path(__file__).parents[2] / "bench"
CLASSES = sorted(path.parent.name for path in BENCH.glob("*/registration.py"))
LARGE = "vuln-remediation"
SCORED = 'return BenchScore(passed=False, score=0.0, breakdown={{"axis": float({value})}})'


@pytest.mark.parametrize(
    "name",
    [
        *(pytest.param(name, marks=pytest.mark.slow) for name in CLASSES if name != LARGE),
        pytest.param(LARGE, marks=pytest.mark.nightly),  # its largest projects take a minute
    ],
)
def test_a_bench_keeps_the_tables_that_the_command_prints(tables, name):
    printed, holds = tables.tables(BENCH / name)
    kept = BENCH / name / tables.TABLES

    assert holds, printed
    assert kept.is_file(), f"python bench/tables.py --write {name}"
    assert kept.read_text(encoding="utf-8") == printed, f"python bench/tables.py --write {name}"


@pytest.mark.parametrize("name", CLASSES)
def test_a_pinned_baseline_is_a_full_run_that_can_be_repeated(name):
    pinned = read_baseline(BENCH / name / FILE_NAME).report
    again = run_eval(name, system_under_test=pinned.system, bench_root=BENCH)

    assert (pinned.scope, pinned.complete) == ("full", True)
    assert [result.case_id for result in pinned.per_case] == list(load_cases(BENCH / name))
    assert again.run_id == pinned.run_id


@pytest.fixture
def toy(bench, tables, monkeypatch):
    """A bench of three cases with two systems; the second gives no answer."""
    monkeypatch.setattr(tables, "BENCH", bench.path.parent)
    registration = (bench.path / "registration.py").read_text()
    systems = 'systems={"shout": "system:system"}'
    assert systems in registration
    silent = 'systems={"shout": "system:system", "silent": lambda case: {}}, default_system="shout"'
    bench.write("registration.py", registration.replace(systems, silent))
    return bench


def test_an_axis_that_a_case_moves(tables, toy, capsys):
    toy.rubric(SCORED.format(value='"answer" in output'))

    assert tables.main([toy.name]) == 0
    told = capsys.readouterr().out
    assert "| `axis` | 0 | 1 | 3 |" in told
    assert "| all | 3 | 0.000, 0, 0.000 | 0.000, 0, 0.000 |" in told


@pytest.mark.parametrize("value", ["0", 'case.case_id == "01"'])
def test_an_axis_that_no_case_moves(tables, toy, capsys, value):
    toy.rubric(SCORED.format(value=value))

    assert tables.main([toy.name]) == 1
    assert "Axes that no case moves: `axis`." in capsys.readouterr().out


def test_a_rubric_that_raises(tables, toy, capsys):
    toy.rubric(
        'if "answer" not in output: raise TypeError("answer")\nreturn BenchScore(passed=True, score=1.0)'
    )

    assert tables.main([toy.name]) == 1
    told = capsys.readouterr().out
    assert "Cases without a score: `01`, `02`, `03`." in told
    assert "| 01 | 1.00 | no score |" in told


def test_only_who_asks_for_it_writes_the_tables(tables, toy, capsys):
    toy.rubric(SCORED.format(value='"answer" in output'))
    kept = toy.path / tables.TABLES

    tables.main([toy.name])
    assert not kept.exists()
    tables.main([tables.WRITE, toy.name])
    printed = capsys.readouterr().out
    assert printed == kept.read_text("utf-8") * 2
