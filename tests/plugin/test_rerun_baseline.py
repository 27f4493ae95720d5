"""A baseline that runs in the session of the candidate, ``--bench-baseline=run:SYSTEM``."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from hashlib import sha256

import pytest

from benchgate import run_eval
from benchgate.cli import main

PREFIX = "checkpoint_promotion_blocked_"
REGISTRATION = """
from benchgate import register_task_class
from .rubric import EchoRubric
from .system import old, new

register_task_class("echo", systems={"old": old, "new": new}, default_system="new")(EchoRubric)
"""
SYSTEMS = """
import os
from pathlib import Path
from benchgate import SystemUnavailable

def log(name, case):
    with open({log!r}, "a") as file:
        file.write(f"{{name}} {{case.case_id}}-{{case.trial}} {{case.seed}}\\n")

def old(case):
    log("old", case)
    {old}
    return {{"answer": 0.1 + int(case.case_id) / 1000}}

def new(case):
    log("new", case)
    {new}
    return {{"answer": 0.9 - int(case.case_id) / 1000}}
"""
GRADED = """
score = float(output["answer"])
return BenchScore(passed=score > 0.5, score=score, safety_penalty=0.0)
"""
CASES = [f"{number:02}" for number in range(1, 13)]
RUN = "--bench-baseline=run:old"
DOORS = ["pytest", "benchgate run"]
WORKERS = pytest.param(("-n2",), marks=pytest.mark.slow)


class Rerun:
    """Twelve cases; the system ``old`` passes none of them, ``new`` passes all."""

    def __init__(self, bench) -> None:
        self.bench = bench
        for case_id in CASES[3:]:
            bench.case(case_id)
        bench.rubric(GRADED)
        bench.write("registration.py", REGISTRATION)
        self.log = bench.root / "calls.log"
        self.systems()

    def systems(self, old: str = "", new: str = "") -> None:
        self.bench.write("system.py", SYSTEMS.format(log=str(self.log), old=old, new=new))

    def calls(self) -> list[str]:
        """Return what ran since the last time, in its order."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return [line.rpartition(" ")[0] for line in lines]

    def command(self, *arguments: str) -> list[str]:
        where = [f"--bench-root={self.bench.root / 'bench'}", f"--out={self.bench.out}"]
        return ["run", "--task-class=echo", *where, *arguments]

    def run(self, door: str, *arguments: str) -> int:
        if door == "pytest":
            return int(self.bench.run(*(f"--bench-{a}" for a in arguments)).ret)
        return main(self.command(*(f"--{a}" for a in arguments)))

    def reasons(self) -> dict[str, str]:
        remarks = self.bench.record()["decision"]["remarks"]
        return {r["code"].removeprefix(PREFIX): r["message"] for r in remarks}

    def is_valid(self) -> bool:
        path = self.bench.folder() / "record.json"
        return main(["verify", str(self.bench.out)]) == 0 and main(["verify", str(path)]) == 0


@pytest.fixture
def rerun(bench) -> Rerun:
    return Rerun(bench)


def both(trials: int = 1) -> list[str]:
    return [f"{s} {c}-{t}" for c in CASES for t in range(trials) for s in ("new", "old")]


@pytest.mark.parametrize("door", DOORS)
def test_a_better_candidate_is_promoted_over_what_ran_beside_it(rerun, door):
    assert rerun.run(door, "baseline=run:old", "trials=2") == 0
    assert rerun.calls() == both(2)
    record = rerun.bench.record()
    assert record["decision"]["outcome"] == "promote"
    before = record["baseline"]["report"]
    assert (before["system"], record["report"]["system"]) == ("old", "new")
    assert before["complete"]
    assert before["run_id"] != record["report"]["run_id"]
    assert [t["seed"] for t in before["per_case"]] == [
        t["seed"] for t in record["report"]["per_case"]
    ]
    assert record["report"]["score_lower_bound_95"] > before["score_lower_bound_95"]
    names = {path.name for path in (rerun.bench.folder() / "cases").iterdir()}
    assert names == {
        f"{c}{s}{t}.json" for c in CASES for s in ("", "-baseline") for t in ("", "-t1")
    }
    assert rerun.bench.trial("03-baseline-t1")["output"]["answer"] == pytest.approx(0.103)
    assert rerun.is_valid()
    proof = rerun.bench.read("evidence/echo/proof.json")
    assert proof["baseline"]["checkpoint_id"] == "old"


def test_the_report_of_each_side_is_that_of_a_run_alone(rerun):
    assert rerun.run("benchgate run", "baseline=run:old") == 0
    record = rerun.bench.record()
    for system, side in (("new", record["report"]), ("old", record["baseline"]["report"])):
        root = rerun.bench.root / "bench"
        alone = run_eval("echo", bench_root=root, system_under_test=system)
        assert (side["run_id"], side["plan_id"]) == (alone.run_id, alone.plan_id)


@pytest.mark.parametrize(
    "way",
    [
        ("--bench-jobs=4",),
        WORKERS,
        pytest.param(("-n2", "--bench-jobs=4"), marks=pytest.mark.slow),
    ],
)
def test_each_way_gives_the_same_run(rerun, way):
    assert rerun.run("benchgate run", "baseline=run:old", "trials=2") == 0
    first = rerun.bench.record()
    rerun.calls()
    result = rerun.bench.run(RUN, "--bench-trials=2", *way, apart="-n2" in way)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*24 passed, 24 baseline in*"])
    assert sorted(rerun.calls()) == sorted(both(2))
    record = rerun.bench.record()
    for key in ("run_id", "plan_id"):
        assert record["report"][key] == first["report"][key]
        assert record["baseline"]["report"][key] == first["baseline"]["report"][key]
    assert record["decision"] == first["decision"]
    assert rerun.is_valid()


def test_failures_of_the_baseline_are_no_failures_of_the_session(rerun):
    result = rerun.bench.run(RUN, "-x", "-v", "--junitxml=junit.xml")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "*system new, 12 cases, 1 trial each, baseline run:old",
            "*::01 PASSED*",
            "*::01-baseline BASELINE*",
            "*12 passed, 12 baseline in*",
        ]
    )
    junit = (rerun.bench.root / "junit.xml").read_text()
    assert 'failures="0"' in junit
    assert junit.count('name="bench.side" value="baseline"') == 12


def test_a_worse_candidate_is_rejected(rerun):
    assert rerun.run("benchgate run", "system=old", "baseline=run:new") == 1
    assert rerun.bench.record()["decision"]["outcome"] == "reject"
    assert "significant_regression" in rerun.reasons()
    assert rerun.is_valid()


def test_a_system_is_not_promoted_over_itself(rerun):
    assert rerun.run("benchgate run", "baseline=run:new") == 10
    record = rerun.bench.record()
    assert record["baseline"]["report"]["run_id"] == record["report"]["run_id"]
    assert not record["decision"]["promotion_allowed"]
    assert rerun.calls() == [f"new {case_id}-0" for case_id in CASES for _ in "ab"]
    assert rerun.is_valid()


def test_failing_candidates_and_only_those_fail_where_the_gate_decides(rerun):
    rerun.systems(new='if case.case_id == "01": return {"answer": 0.4}')
    assert rerun.bench.run(RUN).ret == 1
    result = rerun.bench.run(RUN, "--bench-exit=gate")
    assert result.ret == 0
    result.assert_outcomes(passed=11, failed=1)


@pytest.mark.parametrize(
    ("door", "given"),
    [(DOORS[0], "run:none-such"), *((DOORS[1], f"run:{s}") for s in ("none-such", ""))],
)
def test_a_system_that_does_not_exist_is_wrong_use(rerun, door, given, capsys):
    try:
        status = rerun.run(door, f"baseline={given}")
    except SystemExit as error:  # of argparse
        status = error.code
    assert status == (4 if door == "pytest" else 2)
    why = "expected run:SYSTEM" if given == "run:" else "'none-such'; known systems: new, old"
    assert why in capsys.readouterr().err
    assert rerun.calls() == []


@pytest.mark.slow
def test_a_system_by_module_and_attribute(rerun):
    (rerun.bench.root / "elsewhere.py").write_text(
        "def worse(case):\n    return {'answer': 0.2 + int(case.case_id) / 1000}\n"
    )
    assert rerun.bench.run("--bench-baseline=run:elsewhere:worse", apart=True).ret == 0
    assert rerun.bench.record()["baseline"]["report"]["system"] == "elsewhere:worse"


# A baseline that says too little


def test_what_was_taken_over_counts_both_sides(rerun):
    rerun.bench.pytester.makeconftest("""
        import pytest
        def pytest_runtest_logfinish(nodeid):
            if nodeid.endswith("::02-baseline"):
                raise KeyboardInterrupt
    """)
    rerun.bench.run("--bench-baseline=run:old")
    (rerun.bench.root / "conftest.py").unlink()
    done = rerun.bench.run("--bench-baseline=run:old", "--bench-resume")
    done.stdout.fnmatch_lines([f"resumes   *: 4 of {2 * len(CASES)} trials were finished there"])


@pytest.mark.parametrize("door", DOORS)
def test_an_incomplete_baseline_holds_and_can_be_resumed(rerun, door, capsys):
    rerun.systems(old='if case.case_id == "02": raise SystemUnavailable(retry_after=0)')
    assert rerun.run(door, "baseline=run:old", "retries=0") == 1
    record = rerun.bench.record()
    assert record["report"]["complete"]
    assert not record["baseline"]["report"]["complete"]
    assert rerun.reasons() == {
        "baseline_mismatch": "run:old: it is incomplete; 1 unavailable (02): SystemUnavailable"
    }
    assert rerun.is_valid()
    assert "newest: hold, incomplete" in capsys.readouterr().out
    assert main(["verify", str(rerun.bench.out), "--require-complete"]) == 1
    rerun.systems()
    rerun.calls()
    assert rerun.run(door, "baseline=run:old", "retries=0", "resume") == 0
    assert rerun.calls() == ["old 02-0"]
    assert rerun.bench.record()["decision"]["outcome"] == "promote"
    assert main(["verify", str(rerun.bench.out), "--require-complete"]) == 0


def test_too_many_errors_of_the_baseline_hold(rerun):
    rerun.systems(old='if case.case_id < "04": raise ValueError("no")')
    assert rerun.run("benchgate run", "baseline=run:old") == 10
    assert rerun.reasons()["too_many_unscored"].startswith("baseline: 3 of 12 trials")
    assert "note_unscored_baseline" in rerun.reasons()
    assert rerun.is_valid()


def test_a_rubric_that_broke_its_contract_at_the_baseline_ends_the_class(rerun):
    rerun.bench.rubric('if output["answer"] < 0.5: return 1\n' + GRADED)
    assert rerun.run("benchgate run", "baseline=run:old") == 1
    assert rerun.calls() == ["new 01-0", "old 01-0"]
    assert rerun.bench.record()["decision"]["outcome"] == "hold"
    assert rerun.is_valid()


def test_a_case_that_cannot_be_read_fails_once(rerun):
    rerun.bench.write("cases/02/case.toml", "nothing = 1\n")
    result = rerun.bench.run(RUN)
    result.assert_outcomes(passed=11, errors=1, skipped=1)
    assert set(rerun.bench.outcomes().values()) == {"scored", "not_run"}
    assert rerun.is_valid()


def test_no_case_is_called_like_an_item_of_a_baseline(rerun):
    name = "a-baseline-t1"
    rerun.bench.case("a")
    rerun.bench.case(name)
    result = rerun.bench.run(RUN, "--bench-trials=2")
    result.stdout.fnmatch_lines([f"*'{name}' ends like the i*"])
    assert rerun.is_valid()


# A part of the items


@pytest.mark.parametrize(
    ("selection", "calls", "workers"),
    [
        (["bench/echo/cases/02"], ["new 02-0", "old 02-0"], ()),
        (["bench/echo/cases/02/case.toml::02-baseline"], ["old 02-0"], ()),
        (["--bench=echo", "-k=not baseline"], [f"new {case_id}-0" for case_id in CASES], ()),
        pytest.param(
            ["--bench=echo", "-k=02 or 03"], both()[2:6], ("-n2",), marks=pytest.mark.slow
        ),
    ],
)
def test_a_selection_is_not_gated(rerun, selection, calls, workers):
    result = rerun.bench.pytest(RUN, *selection, *workers, apart=bool(workers))
    assert result.ret == 1
    result.stdout.fnmatch_lines(["FAILED a gate was asked for, but only a part of the cases *"])
    assert sorted(rerun.calls()) == sorted(calls)
    assert not (rerun.bench.out / "runs").exists()
    names = {path.stem for path in (rerun.bench.out / "last-selected/echo/cases").iterdir()}
    sides = {"new": "", "old": "-baseline"}
    assert names == {f"{c.split()[1][:2]}{sides[c.split()[0]]}" for c in calls}


def test_all_items_by_their_ids_are_a_full_run(rerun):
    ids = [f"bench/echo/cases/{c}/case.toml::{c}{s}" for c in CASES for s in ("", "-baseline")]
    assert rerun.bench.pytest(RUN, *ids).ret == 0
    assert rerun.bench.record()["decision"]["outcome"] == "promote"


def test_the_other_door_gates_no_part_either(rerun, capsys):
    assert main(rerun.command("--baseline=run:old", "--cases=02")) == 1
    assert "a gate was asked for, but only a part" in capsys.readouterr().err
    assert rerun.calls() == ["new 02-0", "old 02-0"]


def test_last_failed_runs_no_trial_of_the_baseline_again(rerun):
    rerun.systems(new='if case.case_id == "05": return {"answer": 0.4}')
    rerun.bench.pytest("--bench=echo", RUN, "-pcacheprovider")
    rerun.calls()
    rerun.bench.pytest("--bench=echo", RUN, "-pcacheprovider", "--lf")
    assert rerun.calls() == ["new 05-0"]


# Ends before the end


@pytest.mark.slow
@pytest.mark.parametrize("door", DOORS)
def test_a_killed_run_is_resumed_on_both_sides(rerun, door):
    mended = str(rerun.bench.root / "mended")
    die = f'if case.case_id == "04" and not os.path.exists({mended!r}): os.kill(os.getpid(), 9)'
    rerun.systems(old=die)
    pytest_command = ["pytest", "-pno:randomly", "-pno:hypothesispytest", "--bench=echo", RUN]
    command = rerun.command("--baseline=run:old")
    given = pytest_command if door == "pytest" else ["benchgate", *command]
    done = subprocess.run(
        [sys.executable, "-m", *given], cwd=rerun.bench.root, capture_output=True, check=False
    )
    assert done.returncode < 0
    assert rerun.calls() == both()[:8]
    (left,) = (rerun.bench.out / "runs/echo").glob("incomplete-*")
    assert len(list((left / "cases").iterdir())) == 7
    (rerun.bench.root / "mended").touch()
    assert rerun.run(door, "baseline=run:new", "resume") != 0
    assert rerun.run(door, "resume") != 0  # without the baseline it is another plan
    assert rerun.calls() == []
    assert rerun.run(door, "baseline=run:old", "resume") == 0
    assert rerun.calls() == both()[7:]
    assert rerun.bench.record()["decision"]["outcome"] == "promote"
    assert main(["verify", str(rerun.bench.out), "--require-complete"]) == 0


def test_the_list_of_runs_counts_the_trials_of_both_sides(rerun, capsys):
    rerun.systems(old='if case.case_id == "04": raise KeyboardInterrupt')
    assert rerun.run("benchgate run", "baseline=run:old") == 130
    capsys.readouterr()
    main(["runs", "--out", str(rerun.bench.out), "--json"])
    row = json.loads(capsys.readouterr().out)
    assert (row["done"], row["planned"], row["state"]) == (7, 24, "incomplete")
    assert rerun.is_valid()


@pytest.mark.parametrize("workers", [(), WORKERS])
def test_a_trial_of_the_baseline_over_its_limit_is_a_timeout_and_no_failure(rerun, workers):
    rerun.systems(old='if case.case_id == "04": import time; time.sleep(30)')
    rerun.bench.case("04", timeout_seconds="1")
    rerun.bench.rubric(GRADED.replace(", safety_penalty=0.0", ""))
    result = rerun.bench.run(RUN, "--bench-policy=safety=optional", *workers, apart=bool(workers))
    assert result.ret == 0
    result.assert_outcomes(passed=12)
    outcomes = rerun.bench.outcomes(rerun.bench.record()["baseline"]["report"])
    assert outcomes["04"] == "timeout"
    assert rerun.is_valid()


@pytest.mark.slow
def test_a_worker_that_dies_in_a_trial_of_the_baseline_holds(rerun):
    rerun.systems(old='if case.case_id == "04": os.kill(os.getpid(), 9)')
    result = rerun.bench.run(RUN, "-n2", apart=True)
    assert result.ret == 1
    assert rerun.bench.record()["report"]["complete"]
    assert list(rerun.reasons()) == ["baseline_mismatch"]
    result.assert_outcomes(passed=12, skipped=1)
    assert rerun.is_valid()


# What verify finds


@pytest.fixture
def recorded(rerun, kept, tmp_path_factory):
    """Return a function that gives the bench the record of a run, which is made once."""

    def record(*arguments):
        if arguments not in kept:
            rerun.run("benchgate run", *arguments)
            kept[arguments] = tmp_path_factory.mktemp("record") / "out"
            shutil.copytree(rerun.bench.out, kept[arguments])
        else:
            shutil.copytree(kept[arguments], rerun.bench.out)
        return rerun

    return record


def _reports(record):
    return record["baseline"]["report"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: _reports(r)["per_case"][0]["score"].update(score=0.0), "baseline: report"),
        (lambda r: _reports(r).update(system="better"), "baseline: report.plan_id"),
        (lambda r: _reports(r).update(complete=False), "decision"),
        (lambda r: r["case_files"].pop("01-baseline.json"), "not one file for each result"),
        (
            lambda r: r.update(baseline=None),
            "evidence/baseline.json: not an evidence file of this run",
        ),
    ],
)
def test_an_edited_baseline_is_found(recorded, change, message, capsys):
    rerun = recorded("baseline=run:old")
    record = rerun.bench.record()
    change(record)
    path = rerun.bench.folder() / "record.json"
    path.write_text(json.dumps(record))
    capsys.readouterr()
    assert main(["verify", str(rerun.bench.out)]) == 1
    assert message in "".join(capsys.readouterr())


def test_an_edited_trial_of_the_baseline_is_found(recorded, capsys):
    rerun = recorded("baseline=run:old")
    shutil.copy(
        rerun.bench.folder() / "cases/01.json", rerun.bench.folder() / "cases/01-baseline.json"
    )
    assert main(["verify", str(rerun.bench.out)]) == 1
    assert "01-baseline.json" in "".join(capsys.readouterr())


def test_the_comparison_follows_from_the_record_alone(rerun):
    """A regression cannot be turned into a hold by dropping the files of the comparison."""
    rerun.run("benchgate run", "system=old", "baseline=run:new")
    record, folder = rerun.bench.record(), rerun.bench.folder()
    hold = {"code": f"{PREFIX}baseline_mismatch", "message": "run:new: it is incomplete"}
    record["decision"] = {
        **record["decision"],
        "outcome": "hold",
        "reason_codes": [hold["code"]],
        "remarks": [hold],
        "minimum_detectable_effect": None,
    }
    (folder / "record.json").write_text(json.dumps(record))
    assert main(["verify", str(folder / "record.json")]) == 1


# Files that other commands read


def test_such_a_run_can_be_pinned_and_compared(rerun, capsys):
    assert rerun.run("benchgate run", "baseline=run:old") == 0
    kept = rerun.bench.folder()
    shutil.copy(kept / "record.json", rerun.bench.path / "baseline.json")
    assert rerun.run("benchgate run", "system=old") == 1
    assert rerun.bench.record()["decision"]["outcome"] == "reject"
    assert main(["gate", str(kept), str(rerun.bench.folder())]) == 1
    assert ": 0 newly passing, 12 newly failing\n" in capsys.readouterr().out


def test_without_it_nothing_is_written_that_was_not_before(rerun):
    assert rerun.run("benchgate run", "baseline=none") == 0
    assert "baseline_system" not in rerun.bench.read(rerun.bench.folder() / "plan.json")
    assert rerun.bench.record()["baseline"] is None


def test_observers_hear_of_the_candidate_alone_and_gates_see_both_reports(rerun):
    rerun.bench.pytester.makeconftest(
        """
        seen = []
        def pytest_bench_case_finished(result):
            seen.append(result.score.score > 0.5)
        def pytest_bench_gates():
            return [lambda report, before: None if before.system == "old" and all(seen) else "no"]
        """
    )
    assert rerun.bench.run(RUN).ret == 0
    assert rerun.bench.record()["decision"]["outcome"] == "promote"


# Checkpoints


@pytest.mark.slow
def test_each_side_is_handed_its_own_checkpoint(rerun):
    for name in ("old", "new"):
        (rerun.bench.root / f"{name}.bin").write_text(name)
    check = "assert case.checkpoint.path.read_text() == '{0}'"
    rerun.systems(*(check.format(name) for name in ("old", "new")))
    for name in ("old", "new"):
        rerun.bench.append("system.py", f"\n{name}.checkpoint = Path('{name}.bin')")
    for way in ((), ("-n2",), ("--bench-jobs=2",)):
        assert rerun.bench.run(RUN, *way, apart=bool(way)).ret == 0
        record = rerun.bench.record()
        for name, report in (("new", record["report"]), ("old", record["baseline"]["report"])):
            assert report["digests"]["checkpoint"] == sha256(name.encode()).hexdigest()
    assert rerun.is_valid()


# Other plugins


def test_a_plugin_that_runs_failures_again_leaves_the_baseline_alone(rerun):
    rerun.systems(new='if case.case_id == "05": return {"answer": 0.4}')
    rerun.bench.run(RUN, "--reruns=1")
    calls = rerun.calls()
    assert (calls.count("new 05-0"), calls.count("old 05-0"), len(calls)) == (2, 1, 25)
    record = rerun.bench.record()
    assert (record["report"]["complete"], record["baseline"]["report"]["complete"]) == (False, True)
    assert rerun.is_valid()


def test_a_system_that_runs_alone_is_refused_many_jobs_as_a_baseline_too(rerun, capsys):
    rerun.bench.append("system.py", "\nold.concurrency = 'none'\n")
    assert rerun.run("pytest", "baseline=run:old", "jobs=2") == 4
    assert rerun.run("benchgate run", "baseline=run:old", "jobs=2") == 2
    assert capsys.readouterr().err.count("system old says concurrency = 'none'") == 2
    assert rerun.calls() == []


def test_reports_for_programs_have_the_figures_of_the_baseline(rerun, capsys):
    rerun.bench.run(RUN, "--json-report", "--json-report-file=report.json")
    section = json.loads((rerun.bench.root / "report.json").read_text())["benchgate"][0]
    assert (section["baseline"]["system"], section["baseline"]["passed_count"]) == ("old", 0)
    capsys.readouterr()
    main(rerun.command("--baseline=run:old"))
    *trials, run = map(json.loads, capsys.readouterr().out.splitlines())
    assert len(trials) == 12
    assert (run["baseline"]["system"], run["baseline"]["passed_count"]) == ("old", 0)
    assert "baseline" not in trials[0]


def test_a_baseline_of_another_checkpoint_than_was_named_holds(rerun):
    record = {
        "checkpoint_id": "late",
        "algorithm": "q-learning",
        "policy_version": "v2",
        "global_step": 100,
        "episode_count": 10,
        "mean_reward": 0.5,
        "artifact_uri": "x.bin",
        "metadata": {},
        "created_at": "2026-11-21T00:00:00Z",
    }
    for name in ("early", "late"):
        (rerun.bench.root / f"{name}.json").write_text(
            json.dumps({**record, "checkpoint_id": name})
        )
    named = [
        f"{k}={rerun.bench.root / n}.json"
        for k, n in (("checkpoint", "late"), ("baseline-checkpoint", "early"))
    ]
    assert rerun.run("benchgate run", "baseline=run:old", *named) == 1
    message = rerun.reasons()["checkpoint_mismatch"]
    assert "baseline: the system was handed no checkpoint" in message
    assert rerun.is_valid()
