"""
Options together: each was tested alone, and what breaks is two of them at once.

docs/reference/crossings.md is the table of these pairs.
"""

from __future__ import annotations

import json

import pytest

from benchgate import run_eval
from benchgate.cli import main
from benchgate.options.table import PYTEST_OPTIONS, RUN_OPTIONS

pytestmark = pytest.mark.slow  # most start workers

NOW = "2026-11-21T00:00:00Z"
HEAD = {"schema_version": 1, "created_at": NOW, "metadata": {}}
OPTIONS = {
    "system": "better",
    "baseline": "before.json",
    "trials": "2",
    "seed": "7",
    "timeout": "50",
    "jobs": "2",
    "retries": "2",
    "max-rpm": "100000",
    "max-cost-usd": "1000",
    "resume": "auto",
    "record": "outputs",
    "policy": ("claim=not_worse", "alpha=0.04", "target_effect=0.2", "margin=0.5"),
    "out": "kept",
    "html": "page.html",
    "checkpoint": "late.json",
    "baseline-checkpoint": "early.json",
    "lineage": "lineage.json",
    "exit": "gate",
    "junit-gate": "yes",
}
"""Every option of a run, none with its default."""
REGISTRATION = """
from benchgate import register_task_class
from .rubric import EchoRubric
from .system import better, system

register_task_class(
    "echo", systems={"weak": system, "better": better}, default_system="weak"
)(EchoRubric)
"""
SYSTEMS = """
import json, pathlib, threading
from benchgate import SystemUnavailable

BUNDLE = json.loads(pathlib.Path(__file__).with_name("bundle.json").read_text())

def system(case):
    return {"answer": 0.1 + int(case.case_id) / 1000}

def better(case):
    case.usage.add(cost_usd=0.01)
    BUNDLE["checkpoint"]["metadata"]["artifact_sha256"] = case.checkpoint.sha256
    if case.case_id == "03" and tried.setdefault(case.trial, 0) < 2:
        tried[case.trial] += 1
        raise SystemUnavailable(retry_after=0)
    thread = threading.current_thread().name
    return {"answer": 0.9 - int(case.case_id) / 1000, "thread": thread, "rl_payload": BUNDLE}

tried = {}

better.checkpoint = pathlib.Path(__file__).parents[2] / "late.json"
"""
CASES = [f"{number:02}" for number in range(1, 13)]
IDS = [
    f"bench/echo/cases/{case}/case.toml::{case}{trial}" for case in CASES for trial in ("", "-t1")
]
NAMES = {node_id.rpartition("::")[2] for node_id in IDS}
WAYS = {"--bench": ["--bench=echo"], "path": ["bench/echo/cases"], "node ids": IDS}


def checkpoint(name, version, step, parent=None):
    return {
        **HEAD,
        "checkpoint_id": name,
        "algorithm": "q-learning",
        "policy_version": version,
        "global_step": step,
        "episode_count": 10,
        "mean_reward": 0.5,
        "artifact_uri": f"file:{name}.json",
        "metadata": {"parent_checkpoint_id": parent} if parent else {},
    }


EARLY = checkpoint("early", "v1", 50)
LATE = checkpoint("late", "v2", 100, "early")
BUNDLE = {
    "trajectory": {
        **HEAD,
        "trajectory_id": "t1",
        "rollout_id": "r1",
        "episode_id": "e1",
        "steps": [
            {"step_index": 0, "observation": 0, "action": 1, "reward": 1.0, "done": True},
        ],
        "discount_factor": 0.9,
        "total_return": 1.0,
    },
    "advantages": {
        **HEAD,
        "batch_id": "b1",
        "trajectory_id": "t1",
        "advantages": [0.1],
        "returns": [1.0],
    },
    "checkpoint": LATE,
}


@pytest.fixture
def policies(bench):
    """
    Twelve cases and two systems; ``before.json`` in rootdir is a run of the weak one.

    The better one has the payload of the checkpoint ``late``, and fails one case that the weak one passes.
    """
    for case_id in CASES[3:]:
        bench.case(case_id)
    bench.rubric(
        'score = output["answer"]\n'
        'passed = case.case_id != "07" or score < 0.5\n'
        "return BenchScore(passed=passed, score=score, safety_penalty=0.0)"
    )
    bench.write("registration.py", REGISTRATION)
    bench.write("system.py", SYSTEMS)
    bench.write("bundle.json", json.dumps(BUNDLE))
    for name, content in (("early", EARLY), ("late", LATE), ("lineage", [EARLY, LATE])):
        (bench.root / f"{name}.json").write_text(json.dumps(content))
    bench.run("--bench-baseline=none", "--bench-out=first").assert_outcomes(passed=12)
    (record,) = bench.root.glob("first/runs/echo/*/record.json")
    record.rename(bench.root / "before.json")
    bench.pytester.makeini("[pytest]\n")
    bench.out = bench.root / "kept"
    return bench


def test_the_options_here_are_all_there_are():
    # What is replayed is not recorded, what is observed again calls no system, workers refuse to stop early,
    # and the system remembers its last try.
    others = {"replay", "reobserve", "stop", "isolation", "shard", "executor"}
    others.add("allow-mixed-workers")
    assert {*OPTIONS, *others} == {option.name for option in (*RUN_OPTIONS, *PYTEST_OPTIONS)}


def values(name):
    value = OPTIONS[name]
    return (value,) if isinstance(value, str) else value


@pytest.fixture(autouse=True)
def job_of_github(monkeypatch, pytester):
    """Every run here appends to a summary."""
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(pytester.path / "summary.md"))


def command_line(prefix, *without):
    return [f"--{prefix}{n}={v}" for n in OPTIONS if n not in without for v in values(n)]


def set_options(bench, monkeypatch, place):
    """Set all options in one place; return what is left for the command line."""
    if place == "command line":
        return command_line("bench-")
    lines = ["[pytest]"]
    for name in OPTIONS:
        key = name.replace("-", "_")
        if place == "environment":
            monkeypatch.setenv(f"BENCHGATE_{key.upper()}", "\n".join(values(name)))
        else:
            lines += [f"bench_{key} =", *(f"    {value}" for value in values(name))]
    (bench.root / "tox.ini").write_text("\n".join(lines) + "\n")
    return []


def assert_all_options_counted(bench):
    record = bench.record()
    report = record["report"]
    assert (report["system"], report["trial_count"], report["seed"]) == ("better", 2, 7)
    assert report["scope"] == "full"
    policy = record["policy"]
    assert (policy["alpha"], policy["target_effect"]) == (0.04, 0.2)
    assert (policy["claim"], policy["margin"]) == ("not_worse", 0.5)
    assert bench.trial("12-t1")["output"]["thread"] == "benchgate-trial"
    assert bench.trial("03")["result"]["retries"] == 2
    assert bench.trial("03")["result"]["usage"]["calls"] == 3
    assert (bench.folder() / record["baseline"]["path"]).samefile(bench.root / "before.json")
    assert (record["subject"]["kind"], record["subject"]["id"]) == ("checkpoint", "late")
    assert record["decision"]["outcome"] == "promote"
    proof = bench.read("evidence/echo/proof.json")
    names = (proof["baseline"]["checkpoint_id"], proof["trained"]["checkpoint_id"])
    assert names == ("early", "late")
    assert not (bench.root / ".benchgate").exists()
    assert "PROMOTE" in (bench.root / "page.html").read_text("utf-8")
    assert "PROMOTE `echo`: `late` may replace `early`: " in (bench.root / "summary.md").read_text()
    cassette = json.loads((bench.path / "cassettes/outputs/manifest.json").read_bytes())
    assert (cassette["system"], cassette["trial_count"], cassette["seed"]) == ("better", 2, 7)
    assert set(cassette["files"]) == {f"{name}.json" for name in NAMES}


def run(bench, *arguments):
    """Run pytest, apart if with workers."""
    return bench.pytest(*arguments, apart="-n2" in arguments)


PLACES = ["command line", "environment", "ini file"]
RUNS = [
    *((place, way, ()) for place in PLACES for way in WAYS),
    *zip(PLACES, reversed(WAYS), [("-n2",)] * 3, strict=True),
]


@pytest.mark.parametrize(("place", "way", "workers"), RUNS)
def test_all_options_wherever_set_and_however_cases_are_named(
    policies, monkeypatch, place, way, workers
):
    given = set_options(policies, monkeypatch, place)
    result = run(policies, *WAYS[way], *given, *workers)
    result.assert_outcomes(passed=22, failed=2)
    assert result.ret == pytest.ExitCode.OK  # by --bench-exit=gate
    assert_all_options_counted(policies)
    head = f"--head=echo=1:{policies.head()['sha256']}"
    assert main(["verify", str(policies.out), head, "--require-complete"]) == 0


@pytest.mark.parametrize(
    ("place", "way", "workers"),
    [
        ("command line", "--bench=echo", ("-n2",)),
        ("command line", "..", ()),
        ("environment", "--bench=echo", ()),
        ("environment", "..", ("-n2",)),
        ("ini file", "--bench=echo", ()),
        ("ini file", "..", ("-n2",)),
    ],
)
def test_all_options_from_another_folder(policies, monkeypatch, place, way, workers):
    """Paths are relative to the working directory, those of the ini file to rootdir."""
    monkeypatch.chdir(policies.path / "cases" / "01")
    if place != "ini file":
        for name in ("baseline", "out", "html", "checkpoint", "baseline-checkpoint", "lineage"):
            monkeypatch.setitem(OPTIONS, name, f"../../../../{OPTIONS[name]}")
    given = set_options(policies, monkeypatch, place)
    rootdir = (f"--rootdir={policies.root}", f"-c{policies.root / 'tox.ini'}")
    assert run(policies, way, *given, *rootdir, *workers).ret == pytest.ExitCode.OK
    assert_all_options_counted(policies)
    assert main(["verify", str(policies.out)]) == 0


@pytest.mark.parametrize("place", ["command line", "environment"])
def test_all_options_decide_at_the_other_door_as_under_pytest(policies, monkeypatch, place):
    policies.run(*command_line("bench-"))
    before = policies.record()
    given = command_line("", "exit", "junit-gate")
    if place == "environment":
        given = set_options(policies, monkeypatch, place)
    assert main(["run", "--task-class=echo", *given]) == 0
    assert_all_options_counted(policies)
    after = policies.record()
    assert after["seq"] == 2
    for key in ("run_id", "plan_id"):
        assert after["report"][key] == before["report"][key]
    for key in ("decision", "policy", "subject"):
        assert after[key] == before[key]
    assert main(["verify", str(policies.out)]) == 0


@pytest.fixture
def replayed(policies, monkeypatch):
    """The class, recorded with all options, and with a system that must not be called."""
    run(policies, "--bench=echo", *command_line("bench-"))
    policies.write(
        "system.py", "def system(case):\n    raise AssertionError(case)\n\nbetter = system"
    )
    monkeypatch.delitem(OPTIONS, "record")
    monkeypatch.setitem(OPTIONS, "replay", "outputs")
    return policies


def assert_same_run(bench, before):
    after = bench.record()
    assert (after["seq"], after["replays"]["name"]) == (2, "outputs")
    for key in ("run_id", "plan_id", "digests"):
        assert after["report"][key] == before["report"][key]
    for key in ("policy", "subject"):
        assert after[key] == before[key]
    assert after["decision"]["outcome"] == before["decision"]["outcome"]
    assert "note_replayed" in after["decision"]["notes"]
    assert_all_options_counted(bench)
    assert main(["verify", str(bench.out), "--require-complete"]) == 0


@pytest.mark.parametrize(
    ("place", "way", "workers"),
    [
        ("command line", "--bench", ()),
        ("environment", "path", ("-n2",)),
        ("ini file", "node ids", ("-n2",)),
    ],
)
def test_all_options_of_a_replay(replayed, monkeypatch, place, way, workers):
    before = replayed.record()
    given = set_options(replayed, monkeypatch, place)
    result = run(replayed, *WAYS[way], *given, *workers)
    result.assert_outcomes(passed=22, failed=2)
    assert result.ret == pytest.ExitCode.OK
    assert_same_run(replayed, before)


def test_all_options_of_a_replay_at_the_other_door(replayed):
    before = replayed.record()
    assert main(["run", "--task-class=echo", *command_line("", "exit", "junit-gate")]) == 0
    assert_same_run(replayed, before)


def test_a_library_call_takes_its_arguments_only(policies, monkeypatch):
    set_options(policies, monkeypatch, "ini file")
    set_options(policies, monkeypatch, "environment")
    report = run_eval("echo", bench_root=policies.root / "bench")
    assert (report.system, report.trial_count, report.seed) == ("weak", 1, 0)
    assert report.digests.baseline is None
    assert not policies.out.exists()
    alone = json.loads((policies.root / "before.json").read_bytes())["report"]
    assert (report.run_id, report.plan_id) == (alone["run_id"], alone["plan_id"])


def test_a_library_call_with_the_same_arguments_is_the_same_run(policies):
    given = {"trials": 2, "seed": 7, "timeout_per_case_seconds": 50, "out_dir": policies.out}
    root, system = policies.root / "bench", "better"
    for part in (None, "0[23]", lambda case: case.case_id in {"02", "03"}):
        report = run_eval(
            "echo", bench_root=root, system_under_test=system, case_filter=part, **given
        )
        options = ("--bench-system=better", "--bench-trials=2", "--bench-seed=7")
        policies.run(*options, *(("-k02 or 03",) if part else ()), "--bench-out=kept")
        same = policies.selected() if part else policies.record()["report"]
        assert (report.run_id, report.plan_id) == (same["run_id"], same["plan_id"])
        assert report.scope == same["scope"] == ("selected" if part else "full")
    assert main(["verify", str(policies.out)]) == 0


@pytest.mark.parametrize(
    ("selection", "trials", "workers"),
    [
        (("--bench=echo", "-k02 or 03"), {"02", "02-t1", "03", "03-t1"}, ()),
        (("bench/echo/cases/02",), {"02", "02-t1"}, ()),
        (("bench/echo", f"--deselect={IDS[1]}"), NAMES - {"01-t1"}, ()),
        ((IDS[3],), {"02-t1"}, ()),
        ((IDS[3],), {"02-t1"}, ("-n2",)),
    ],
    ids=["-k", "one case", "--deselect", "one trial", "one trial, workers"],
)
def test_all_options_beside_a_selection(policies, selection, trials, workers):
    given = (*selection, *command_line("bench-", "baseline", "resume"), *workers)
    result = run(policies, *given)
    # --bench-exit=gate does not count: a selection ends by its cases.
    expected = pytest.ExitCode.TESTS_FAILED if "07" in trials else pytest.ExitCode.OK
    assert result.ret == expected
    report = policies.selected()
    assert set(policies.outcomes(report)) == trials
    assert (report["system"], report["trial_count"], report["seed"]) == ("better", 2, 7)
    asked = run(policies, *given, "--bench-baseline=before.json")
    assert asked.ret == pytest.ExitCode.TESTS_FAILED
    asked.stdout.fnmatch_lines(["FAILED a gate was asked for, but only a part *"])
    assert not (policies.out / "runs").exists()


def test_failed_trials_are_run_again_alone_in_workers(policies):
    given = ("bench/echo", *command_line("bench-", "baseline", "resume"), "-n2")
    run(policies, *given)
    run(policies, *given, "--lf")
    assert set(policies.outcomes(policies.selected())) == {"07", "07-t1"}
    assert policies.head()["seq"] == 1


def test_bench_in_addopts_governs_in_workers_too(bench):
    bench.pytester.makeini("[pytest]\naddopts = --bench=echo\ntestpaths = tests\n")
    run(bench, "-n2").assert_outcomes(passed=3)
    assert bench.record()["report"]["scope"] == "full"


def test_a_glob_of_the_command_that_matches_all_cases_is_a_full_run(bench, monkeypatch):
    monkeypatch.setenv("BENCHGATE_TRIALS", "2")
    monkeypatch.chdir(bench.path)
    given = ["run", "--task-class=echo", "--bench-root=..", "--out=../../.benchgate"]
    assert main([*given, "--cases=0?"]) == 0
    assert bench.record()["report"]["scope"] == "full"
    assert main([*given, "--cases=02"]) == 0
    assert set(bench.outcomes(bench.selected())) == {"02", "02-t1"}
    assert bench.head()["seq"] == 1
    assert main(["verify", str(bench.out), "--require-complete"]) == 0


# Incomplete runs


RERUN = """
    marker = case.input_path.parents[4] / f"tried-{case.case_id}-{case.trial}"
    if case.case_id == "02" and not marker.exists():
        marker.touch()
        return BenchScore(passed=False, score=0.0)
"""
SKIP = """
import pytest

def pytest_runtest_setup(item):
    if item.name == "02-t1":
        pytest.skip("flaky")
"""


@pytest.mark.parametrize("what", ["rerun", "skip"])
@pytest.mark.parametrize("workers", [(), ("-n2",)], ids=["one process", "workers"])
def test_a_rerun_or_skipped_trial_is_no_clean_run_by_path_whatever_decides(bench, what, workers):
    if what == "rerun":
        bench.rubric(RERUN)
    else:
        bench.pytester.makeconftest(SKIP)
    given = ("--reruns=1", "--bench-trials=2", "--bench-exit=gate", *workers)
    assert run(bench, "bench/echo/cases", *given).ret == pytest.ExitCode.TESTS_FAILED
    trials = [t for t in bench.record()["report"]["per_case"] if t["case_id"] == "02"]
    found = [(t["outcome"], t["reruns"]) for t in trials]
    last = ("scored", 1) if what == "rerun" else ("skipped", 0)
    assert found == [("scored", int(what == "rerun")), last]
    assert bench.record()["report"]["complete"] is False
    assert main(["verify", str(bench.out)]) == 0
    assert main(["verify", str(bench.out), "--require-complete"]) == 1


@pytest.mark.parametrize(
    "given", [("--bench=echo",), ("bench/echo/cases", "-n2")], ids=["--bench", "path, workers"]
)
def test_each_trial_has_the_limit_of_its_case_else_that_of_the_option(bench, given):
    bench.case("02", timeout_seconds="1")
    bench.system("import time\nif case.case_id != '01': time.sleep(30)")
    result = run(bench, *given, "--bench-timeout=2", "--bench-trials=2")
    result.assert_outcomes(passed=2, failed=4)
    details = {
        item: bench.trial(item)["result"]["failure_modes"][0]["detail"]
        for item, outcome in bench.outcomes().items()
        if outcome == "timeout"
    }
    assert details == {
        f"{case}{trial}": f"timed out after {limit} s"
        for case, limit in (("02", "1"), ("03", "2"))
        for trial in ("", "-t1")
    }
    assert main(["verify", str(bench.out)]) == 0


# Hooks

SYSTEM_AND_SCORE = """
from benchgate import BenchScore

def pytest_bench_system(task_class):
    def hooked(case):
        return {"answer": "hooked"}
    return hooked

def pytest_bench_score(case):
    if case.case_id == "02":
        return BenchScore(passed=True, score=0.5)
"""
GATE = """
import json

def log(config, *what):
    with (config.rootpath / "log.jsonl").open("a") as file:
        file.write(json.dumps(what) + chr(10))

def pytest_bench_gates(config, task_class):
    def budget(report, baseline):
        return "too dear"
    return [budget]

def pytest_bench_case_finished(config, result):
    log(config, result.case_id, result.trial)

def pytest_bench_run_finished(config, report, decision):
    log(config, decision.reason_codes[-1])
"""
CALLS = [[case, trial] for case in ("01", "02", "03") for trial in (0, 1)]


@pytest.mark.parametrize(
    ("folder", "given"),
    [
        ("", ("bench/echo/cases", "-n2")),
        ("bench/echo", ("cases", "-n2")),
        ("bench/echo", ("--bench=echo",)),
    ],
    ids=["path, workers", "path, workers, another folder", "another folder"],
)
def test_system_and_score_of_the_root_conftest(bench, monkeypatch, folder, given):
    bench.pytester.makeini("[pytest]\nbench_trials = 2\n")
    bench.pytester.makeconftest(SYSTEM_AND_SCORE)
    monkeypatch.chdir(bench.root / folder)
    run(bench, *given)
    report = bench.record()["report"]
    assert report["system"].endswith("hooked")
    assert [trial["score"]["score"] for trial in report["per_case"]] == [0, 0, 0.5, 0.5, 0, 0]
    assert main(["verify", str(bench.out)]) == 0


def test_a_system_of_the_ini_file_wins_over_the_hook(bench):
    bench.pytester.makeini("[pytest]\nbench_system = shout\n")
    bench.pytester.makeconftest(SYSTEM_AND_SCORE)
    run(bench, "bench/echo/cases", "-n2").assert_outcomes(passed=3)
    assert bench.record()["report"]["system"] == "shout"


@pytest.mark.parametrize(
    ("folder", "given", "testpaths"),
    [
        ("", ("bench/echo/cases",), ""),
        ("bench/echo", ("cases",), ""),
        ("bench/echo", ("--bench=echo",), "testpaths = tests"),
        ("", ("bench/echo/cases", "-n2"), ""),
        ("", ("--bench=echo", "-n2"), "testpaths = tests"),
        ("bench/echo", ("cases", "-n2"), "testpaths = tests"),
        ("bench/echo", ("--bench=echo", "-n2"), ""),
    ],
)
def test_gates_and_observers_of_the_root_conftest(bench, monkeypatch, folder, given, testpaths):
    bench.pytester.makeini(f"[pytest]\nbench_trials = 2\nbench_exit = gate\n{testpaths}\n")
    bench.pytester.makeconftest(GATE)
    monkeypatch.chdir(bench.root / folder)
    assert_gate_and_observers_called(bench, run(bench, *given))


def test_gates_and_observers_of_a_plugin_in_workers(bench, monkeypatch):
    (bench.root / "budget.py").write_text(GATE)
    monkeypatch.syspath_prepend(bench.root)
    monkeypatch.setenv("PYTHONPATH", str(bench.root), prepend=":")
    bench.pytester.makeini("[pytest]\nbench_trials = 2\n")
    assert_gate_and_observers_called(bench, run(bench, "bench/echo/cases", "-n2", "-pbudget"))


def assert_gate_and_observers_called(bench, result):
    assert result.ret == 10
    result.stdout.fnmatch_lines(["HELD gate budget: too dear"])
    *cases, decided = map(json.loads, (bench.root / "log.jsonl").read_text().splitlines())
    assert sorted(cases) == CALLS
    assert decided == ["checkpoint_promotion_blocked_gate:budget"]
    assert main(["verify", str(bench.out)]) == 0


# Baselines

BASELINES = {
    "auto": (None, "promote"),
    "pinned": ("pinned", "promote"),
    "none": ("none", "hold"),
    "a path": ("bench/echo/baseline.json", "promote"),
}


@pytest.mark.parametrize("kind", BASELINES)
def test_every_kind_of_baseline_in_workers_by_path(policies, kind):
    choice, outcome = BASELINES[kind]
    (policies.path / "baseline.json").write_bytes((policies.root / "before.json").read_bytes())
    given = command_line("bench-", "baseline", "resume")
    if choice:
        given.append(f"--bench-baseline={choice}")
    result = run(policies, "bench/echo/cases", "-n2", *given)
    assert result.ret == pytest.ExitCode.OK
    assert policies.record()["decision"]["outcome"] == outcome
    assert main(["verify", str(policies.out)]) == 0
    selected = policies.pytest("bench/echo/cases/02", *given)
    asked = kind in {"pinned", "a path"}
    assert selected.ret == (pytest.ExitCode.TESTS_FAILED if asked else pytest.ExitCode.OK)
