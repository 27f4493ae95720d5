"""The table of what a rubric tells apart: that the READMEs hold it, and that it finds what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench"
CLASSES = sorted(
    path.parent.name
    for path in BENCH.glob("*/rubric.py")
    if (path.parent / "registration.py").is_file()
)
LARGE = "vuln-remediation"
SCORED = 'return BenchScore(passed=False, score=0.0, breakdown={{"axis": float({value})}})'


@pytest.mark.parametrize(
    "name",
    [
        *(pytest.param(name, marks=pytest.mark.slow) for name in CLASSES if name != LARGE),
        pytest.param(LARGE, marks=pytest.mark.nightly),  # its largest projects take a minute
    ],
)
def test_the_readme_holds_what_the_command_prints(discrimination, name):
    printed, holds = discrimination.table(name)
    assert holds, printed
    readme = BENCH / name / "README.md"
    told = readme.read_text(encoding="utf-8") if readme.exists() else ""
    command = f"python tests/rubrics/discrimination.py {name}"

    assert "## The rubric under test" in told, (
        f"{name}/README.md needs it, with the tables of {command}"
    )
    assert discrimination.body(printed) in told, (
        f"{name}/README.md: put in the tables of {command} (--write)"
    )


@pytest.fixture
def toy(bench, scoring, monkeypatch):
    """A bench of three cases with two systems; the second gives no answer."""
    monkeypatch.setattr(scoring, "BENCH", bench.path.parent)
    registration = (bench.path / "registration.py").read_text()
    systems = 'systems={"shout": "system:system"}'
    assert systems in registration
    silent = 'systems={"shout": "system:system", "silent": lambda case: {}}, default_system="shout"'
    bench.write("registration.py", registration.replace(systems, silent))
    return bench


def test_an_axis_that_a_case_moves(discrimination, toy, capsys):
    toy.rubric(SCORED.format(value='"answer" in output'))

    assert discrimination.main([toy.name]) == 0
    assert "| `axis` | 0 | 1 | 3 |" in capsys.readouterr().out


@pytest.mark.parametrize("value", ["0", 'case.case_id == "01"'])
def test_an_axis_that_no_case_moves(discrimination, toy, capsys, value):
    toy.rubric(SCORED.format(value=value))

    assert discrimination.main([toy.name]) == 1
    assert "Axes that no case moves: `axis`." in capsys.readouterr().out


def test_a_rubric_that_raises_on_rubbish(discrimination, toy, capsys):
    toy.rubric(
        'if "files" in output: raise TypeError("files")\n' + SCORED.format(value="len(output)")
    )

    assert discrimination.main([toy.name]) == 1
    told = capsys.readouterr()
    assert "Cases on which the rubric raises: `01`, `02`, `03`." in told.out
    assert "| 01 | raised | 0.00 failed | 0.00 failed |" in told.out
    assert "01: TypeError: files: {" in told.err


def test_the_best_of_the_rubbish_counts(discrimination, toy, capsys):
    toy.rubric('return BenchScore(passed=True, score=0.25 if "" in output else 0.0)')

    assert discrimination.main([toy.name]) == 0
    assert "| 01 | 0.25 | 0.00 | 0.00 |" in capsys.readouterr().out


def test_tables_are_put_in_the_place_of_the_old_ones(discrimination, toy, capsys):
    readme = toy.write(
        "README.md", "# a\n\n| case | rubbish | x |\nold\n\nAxes that no case moves: old.\n\nz\n"
    )
    toy.rubric(SCORED.format(value='"answer" in output'))

    assert discrimination.main(["--write", toy.name]) == 0
    printed = capsys.readouterr().out
    assert readme.read_text() == f"# a\n\n{discrimination.body(printed)}\n\nz\n"
    readme.write_text("# a\n")
    with pytest.raises(SystemExit, match="found them 0 times"):
        discrimination.main(["--write", toy.name])
