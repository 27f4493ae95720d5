"""A promotion counts only under the policy, rubric, cases and baseline of the bench that it is held against."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

from benchgate.artifacts.run_kinds import RunRecord
from benchgate.cli import main
from benchgate.gates.baseline import read_baseline
from benchgate.runner.run import RunSettings, run_class
from benchgate.verify.against_bench import Terms
from benchgate.wire import clock

CASE = """\
[case]
case_id = "{case_id}"
task_class = "level"
disposition = "positive"
difficulty = "easy"
source = "curated"
added_at = {today}T00:00:00Z
last_validated_at = {today}T00:00:00Z
"""
RUBRIC = """\
from benchgate import BenchScore
class Level:
    def score(self, case, output, /):
        return BenchScore(passed=True, score=output["value"], safety_penalty=0.0)
"""
REGISTRATION = """\
from benchgate import register_task_class
from .rubric import Level
def at(level): return lambda case: {"value": level + int(case.case_id) / 1000}
@register_task_class("level", systems={"worse": at(0.2), "old": at(0.4), "new": at(0.8)}, default_system="new")
class Registered(Level): pass
"""
FORGIVING = {"claim": "not_worse", "margin": 0.9}


def run(root, system, out, baseline="auto", policy=None):
    finished = run_class(
        RunSettings(
            task_class="level",
            system=system,
            baseline=baseline,
            policy=policy,
            out=root / out,
            bench_root=root / "bench",
        )
    )
    assert not finished.problems
    return finished.published.folder / "record.json"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A bench whose baseline is the system old, and promotions: of new, and of worse by a policy of its own."""
    root = tmp_path_factory.mktemp("project")
    folder = root / "bench/level"
    today = f"{clock.now():%Y-%m-%d}"
    for number in range(1, 13):
        case_id = f"{number:02}"
        (folder / "cases" / case_id / "input").mkdir(parents=True)
        (folder / "cases" / case_id / "input/task.txt").write_text(case_id)
        text = CASE.format(case_id=case_id, today=today)
        (folder / "cases" / case_id / "case.toml").write_text(text)
    (folder / "rubric.py").write_text(RUBRIC)
    (folder / "registration.py").write_text(REGISTRATION)
    (folder / "gate.toml").write_text('test = "auto"\n')
    weakest = run(root, "worse", "weakest", "none")
    shutil.copy(run(root, "old", "pinned", "none"), folder / "baseline.json")
    run(root, "new", "better")
    run(root, "worse", "forgiven", policy=FORGIVING)
    run(root, "new", "beside", "run:old")
    run(root, "new", "against-weakest", weakest)
    return root


@pytest.fixture
def project(made, tmp_path, monkeypatch):
    shutil.copytree(made, tmp_path / "project", copy_function=shutil.copyfile)
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


@pytest.fixture
def verified(project, capsys):
    """Return exit status, stdout and stderr of ``verify --require-promote``."""

    def command(out, *options):
        status = main(["verify", out, "--require-promote", *options])
        return (status, *capsys.readouterr())

    return command


HERE = "--bench-root=bench"


@pytest.mark.parametrize("options", [(), (HERE,)])
def test_a_promotion_under_the_policy_of_its_bench_is_one(verified, options):
    status, out, err = verified("better", *options)
    assert (status, err) == (0, "")
    assert "  claim     better\n  baseline  ../../../../bench/level/baseline.json, SHA-256 " in out
    assert "  policy    " not in out


def test_thresholds_of_somebody_promote_nothing(verified):
    status, out, err = verified("forgiven", HERE)
    assert status == 1
    assert "  claim     not_worse\n" in out
    assert "  policy    margin = 0.9, where bench/level has none\n" in out
    assert err == (
        "level: not promoted: decided with claim = not_worse, where bench/level has better\n"
        "level: not promoted: decided with margin = 0.9, where bench/level has none\n"
    )
    status, out, err = verified("forgiven")
    assert status == 1
    assert "  policy    margin = 0.9, where the default is none\n" in out
    assert err.count("expected --bench-root DIR") == 2
    assert "test = auto" not in err  # which compares case by case
    status, out, _ = verified("forgiven", HERE, "--policy=margin=0.5", "--policy=claim=not_worse")
    assert status == 1
    assert "  policy    margin = 0.9, where --policy says 0.5\n" in out


@pytest.mark.parametrize("options", [(), (HERE,)])
def test_thresholds_that_are_meant_are_said(verified, options):
    meant = ("--policy=claim=not_worse", "--policy=margin = 0.9", *options)
    assert verified("forgiven", *meant)[0] == 0
    status, _, err = verified("better", *meant)  # and then nothing else is
    assert status == 1
    assert "decided with claim = better, where" in err
    assert verified("better", "--policy=test=welch", *options)[0] == 1
    assert verified("better", "--policy=test=auto", *options)[0] == 0


def test_a_baseline_that_ran_too_had_the_rights_of_its_system(project):
    literal = 'systems={"old": "system:old", "new": "system:new"}'
    text = f'@register_task_class("level", {literal})\nclass Level: ...\n'
    (project / "bench/level/registration.py").write_text(text)
    [path] = (project / "beside/runs/level").glob("*/record.json")
    record = RunRecord.read_file(path, "record")
    level = {"isolation_class": "sandbox+network", "reads": ("weights",)}
    baseline = record.baseline.model_copy(update={"report": record.rerun.model_copy(update=level)})
    forged = record.model_copy(update={"baseline": baseline})
    said = [*Terms.of(forged, project / "beside", project / "bench", {}).objections()]
    assert said[0].startswith("its baseline had the network, which ")
    assert said[1].startswith("its baseline could read weights besides its code, where ")


def test_another_baseline_than_that_of_the_bench(verified):
    assert verified("beside")[0] == 0
    status, out, err = verified("beside", HERE)
    assert (status, err) == (
        1,
        "level: not promoted: it was not compared with bench/level/baseline.json, but with run:old\n",
    )
    assert "  baseline  run:old\n" in out
    assert verified("against-weakest")[0] == 0
    status, _, err = verified("against-weakest", HERE)
    assert status == 1
    assert "its baseline is not bench/level/baseline.json, SHA-256 " in err


def added(path, text):
    path.write_text(path.read_text() + text)


CHANGES = {
    "policy": (lambda bench: added(bench / "gate.toml", "min_delta = 0.7\n"), "min_delta = 0.0, "),
    "rubric": (lambda bench: added(bench / "rubric.py", "# stricter\n"), "by the rubric of"),
    "no rubric": (lambda bench: (bench / "rubric.py").unlink(), "cannot be compared with"),
    "a case": (lambda bench: added(bench / "cases/03/input/task.txt", "!"), "cases are not those"),
    "a case less": (lambda bench: shutil.rmtree(bench / "cases/03"), "bench/level: 03"),
    "a torn case": (lambda bench: added(bench / "cases/03/case.toml", "["), "cannot be compared"),
    "a critical case": (
        lambda bench: added(bench / "cases/03/case.toml", "critical = true\n"),
        "critical of 03 was unset, is true",
    ),
    "severities": (
        lambda bench: (bench / "failure_modes.toml").write_text(
            '[failure_modes.harm]\nseverity = "block"\ndescription = "x"\n'
        ),
        "severities are not those",
    ),
    "baseline": (lambda bench: added(bench / "baseline.json", "\n"), "its baseline is not"),
    "no baseline": (
        lambda bench: (bench / "baseline.json").unlink(),
        "baseline.json is no baseline: ",
    ),
    "no such class": (lambda bench: bench.rename(bench.with_name("other")), "cannot be compared"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_bench_that_differs_is_not_that_of_the_decision(verified, project, what):
    change, why = CHANGES[what]
    shutil.copytree(project / "bench", project / "trusted/bench")
    change(project / "trusted/bench/level")
    status, _, err = verified("better", "--bench-root=trusted/bench")
    assert status == 1
    assert why in err
    assert err.startswith("level: not promoted: ")
    assert verified("better", HERE)[0] == 0


def test_samples_of_the_baseline_are_those_of_the_bench_wherever_its_file_is(
    verified, project, monkeypatch
):
    """The record's own path to the baseline leads nowhere in another job: its file is that of ``--bench-root``."""
    (project / "trusted").mkdir()
    (project / "bench").rename(project / "trusted/bench")
    assert verified("better")[0] == 0

    def halved(path):
        found = read_baseline(path)
        results = [
            result.model_copy(
                update={"score": result.score.model_copy(update={"score": result.score.score / 2})}
            )
            for result in found.report.per_case
        ]
        report = found.report.model_copy(update={"per_case": tuple(results)})
        return replace(found, report=report)

    monkeypatch.setattr("benchgate.verify.against_bench.read_baseline", halved)
    status, _, err = verified("better", "--bench-root=trusted/bench")
    assert status == 1
    assert "baseline.run.table.scores.01.0 is " in err


def test_nothing_of_the_bench_is_imported(verified, project):
    for name in ("registration.py", "rubric.py"):
        path = project / "bench/level" / name
        path.write_text(f"open({str(project / 'ran')!r}, 'w')\n{path.read_text()}")
    assert verified("better", HERE)[0] == 1  # the rubric is another one
    assert not (project / "ran").exists()


@pytest.mark.parametrize("option", ["--policy=margin=0.9", "--policy=nonsense", "--policy=x=1"])
def test_thresholds_that_cannot_be_are_wrong_use(verified, option):
    assert verified("better", option)[0] == 2


def test_a_gate_file_that_cannot_be_read_is_an_error(verified, project):
    added(project / "bench/level/gate.toml", "nonsense = 1\n")
    status, _, err = verified("better", HERE)
    assert status == 2
    assert "bench/level/gate.toml:2: nonsense" in err


@pytest.mark.parametrize("ends", ["[1, 0]", "[0, 1000]"])
def test_the_range_of_a_log_is_a_threshold(tmp_path, monkeypatch, capsys, ends):
    monkeypatch.chdir(tmp_path)
    for name, score in (("old", 1), ("new", 0)):
        rows = [f'{{"id": "c{n}", "score": {score}}}\n' for n in range(24)]
        (tmp_path / f"{name}.jsonl").write_text("".join(rows))
    terms = [f"score_range={ends}", *(f"{key}={value}" for key, value in FORGIVING.items())]
    options = [word for term in terms for word in ("--policy", term)]
    assert main(["gate", "old.jsonl", "new.jsonl", "--out", "out", *options]) == 0
    verify = ["verify", "out", "--require-promote", "--task-class", "log"]
    assert main([*verify, *options[2:]]) == 1
    shown = "".join(capsys.readouterr())
    assert f"decided with score_range = [{float(ends[1])}, " in shown
    assert main([*verify, *options]) == 0
