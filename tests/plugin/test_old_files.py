"""What versions before this one wrote is read, or refused with the command that makes it good."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchgate.cli import main
from benchgate.gates.baseline import read_baseline

DATA = Path(__file__).parents[1] / "data" / "run_of_f5fe54d.json"
"""A bench with a pinned baseline and the output folder of a run, as the code of that commit wrote them, by path."""


@pytest.fixture
def old(pytester: pytest.Pytester) -> Path:
    for name, text in json.loads(DATA.read_bytes()).items():
        path = pytester.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return pytester.path


def test_an_old_record_is_verified_as_it_was_written(old, capsys):
    assert main(["verify", str(old / ".benchgate"), "--require-complete"]) == 0
    assert "echo: 1 valid record; newest: reject, complete" in capsys.readouterr().out
    files = map(str, (old / ".benchgate").rglob("*.json"))
    assert main(["validate", *files]) == 0


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("record.json", '"alpha": 0.05', '"alpha": 0.06'),
        ("evidence/trained.json", '"samples": [', '"imputed": ["01"], "samples": ['),
        ("record.json", '"run_id": "930c', '"run_id": "931c'),
        ("cases/01.json", '"passed":true', '"passed":false'),
    ],
)
def test_an_old_record_is_not_edited_unseen(old, name, before, after):
    (path,) = (old / ".benchgate/runs/echo").glob(f"*/{name}")
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after, 1))
    assert main(["verify", str(old / ".benchgate")]) == 1


@pytest.mark.parametrize(
    ("name", "keys", "value"),
    [
        ("significance", ("significance", "p_value"), 1e-9),
        ("significance", ("significance", "welch", "p_two_sided"), 1e-9),
        ("safety", ("baseline_mean_safety_penalty",), 0.5),
        ("evaluation", ("policy_improvement", "mean_delta"), 0.5),
    ],
)
def test_figures_that_both_versions_compute_alike_are_computed_again(
    old, name, keys, value, capsys
):
    (path,) = (old / ".benchgate/runs/echo").glob(f"*/evidence/{name}.json")
    content = json.loads(path.read_bytes())
    inner = content
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    path.write_text(json.dumps(content))
    assert main(["validate", str(path)]) == 1
    assert keys[-1] in capsys.readouterr().err


def test_an_old_promotion_must_be_one_by_the_figures_of_now(old, capsys):
    (path,) = (old / ".benchgate/runs/echo").glob("*/record.json")
    before = '"outcome": "reject",\n    "promotion_allowed": false'
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, '"outcome": "promote",\n    "promotion_allowed": true'))
    assert main(["validate", str(path)]) == 1
    assert "those of this version do not promote it" in capsys.readouterr().err


@pytest.fixture
def run(old, pytester, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")  # lines that are broken cannot be matched
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")

    def run(*arguments):
        given = ("-p", "no:randomly", "-p", "no:hypothesispytest", "--bench=echo", *arguments)
        return pytester.runpytest(*given)

    return run


def test_a_run_is_compared_with_an_old_baseline_and_follows_an_old_record(old, run, capsys):
    result = run("--bench-trials=2", "--bench-system=quick")
    result.stdout.fnmatch_lines(["gate      HOLD", "delta     +0.000, *"])
    capsys.readouterr()
    assert main(["verify", str(old / ".benchgate")]) == 0
    assert "2 valid records" in capsys.readouterr().out


def test_the_id_of_an_old_run_covers_its_costs_and_that_of_a_new_one_does_not(old):
    path = old / "bench/echo/baseline.json"
    text = path.read_text()
    assert not read_baseline(path).problems
    path.write_text(text.replace('"cost_usd": 0.25', '"cost_usd": 0.5', 1))
    assert read_baseline(path).problems
    path.write_text(text.replace('"total_cost_usd"', '"usage": null, "total_cost_usd"', 1))
    assert read_baseline(path).problems


def test_an_old_run_is_not_resumed(run):
    result = run("--bench-resume=1")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*it is complete"])


def test_a_baseline_that_cannot_be_read_names_the_command_that_makes_it_good(old, run):
    path = old / "bench/echo/baseline.json"
    path.write_text(path.read_text().replace('"schema_version": 1', '"schema_version": 0'))
    result = run("--bench-trials=2")
    result.stdout.fnmatch_lines(["*make it again: pytest --bench=CLASS --bench-system=NAME*"])


def test_an_old_promotion_must_hold_by_the_rules_of_today(old, capsys):
    (folder,) = (old / ".benchgate/runs/echo").glob("0*")
    text = (folder / "record.json").read_text()
    made = json.loads(text)
    made["decision"] |= {"outcome": "promote", "promotion_allowed": True, "reason_codes": []}
    (folder / "record.json").write_text(json.dumps(made))
    assert main(["verify", str(old / ".benchgate")]) == 1
    assert "those of this version do not promote it" in capsys.readouterr().err
