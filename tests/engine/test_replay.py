"""What a system returned is recorded once, and scored as often as one likes, with no system called."""

from __future__ import annotations

import json
import pickle
import shutil
import sys
from dataclasses import replace

import pytest

from benchgate.cli import main
from benchgate.errors import (
    ArtifactError,
    CassetteNotFound,
    EvalError,
    SystemUnavailable,
    Unreadable,
)
from benchgate.loader.case_folder import read_case
from benchgate.results import rules
from benchgate.wire.shard import Shard

SYSTEM = """
import time
from benchgate import SystemUnavailable

def system(case):
    with open({log!r}, "a") as log:
        log.write(f"{{case.case_id}}-{{case.trial}}\\n")
    if case.case_id == "02":
        raise ValueError("broken")
    if case.case_id == "03":
        time.sleep(30)
    return {{"answer": "Q01" if case.case_id == "01" else f"q{{case.case_id}} {{case.trial}}"}}

system.digest = lambda: "v1"
"""


class Recorded:
    """
    A bench of four cases: one is right, one raises, one takes too long, one is wrong.

    ``agent`` is a cassette of two trials of each.
    """

    def __init__(self, bench, capsys) -> None:
        self.bench = bench
        self.capsys = capsys
        self.log = bench.root / "calls.log"
        self.cassette = bench.path / "cassettes/agent"
        bench.case("04")
        bench.case("03", timeout_seconds="0.1")
        bench.write("system.py", SYSTEM.format(log=str(self.log)))

    def run(self, *arguments: str, trials: int = 2) -> int:
        """Run the class by the command, whose exit status is that of the gate."""
        self.log.unlink(missing_ok=True)
        where = [f"--bench-root={self.bench.root / 'bench'}"]
        if not any(a.startswith("out=") for a in arguments):
            where.append(f"--out={self.bench.out}")
        given = ["run", "--task-class=echo", f"--trials={trials}", *where]
        self.capsys.readouterr()
        status = main([*given, *(f"--{a}" for a in arguments)])
        self.said = "".join(self.capsys.readouterr())
        return status

    def refused(self, *arguments: str, trials: int = 2) -> str:
        """Run what is refused before anything runs; return what was said."""
        assert self.run(*arguments, trials=trials) == 2
        assert self.calls() == []
        return self.said

    def calls(self) -> list[str]:
        return sorted(self.log.read_text().split()) if self.log.exists() else []

    def manifest(self):
        return json.loads((self.cassette / "manifest.json").read_bytes())

    def report(self):
        return self.bench.record()["report"]


@pytest.fixture
def recorded(echo, kept, capsys, monkeypatch) -> Recorded:
    monkeypatch.chdir(echo.root)
    found = Recorded(echo, capsys)
    if not kept:
        assert found.run("record=agent") == 0
        assert len(found.calls()) == 8
        for folder in (echo.out, found.cassette):
            made = (path for path in folder.rglob("*") if path.is_file())
            kept |= {path.relative_to(echo.root): path.read_bytes() for path in made}
    for name, data in kept.items():  # the run of the first test is that of all
        path = echo.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    found.log.touch()
    return found


def trials(report):
    return [(t["case_id"], t["outcome"], t["duration_seconds"]) for t in report["per_case"]]


def test_a_cassette_has_a_file_of_each_trial_and_their_digests(recorded):
    bench, manifest = recorded.bench, recorded.manifest()
    report = recorded.report()
    assert manifest["cases"] == report["digests"]["cases"]
    assert manifest["files"] == bench.record()["case_files"]
    assert (manifest["system"], manifest["system_digest"]) == ("shout", "v1")
    assert (manifest["seed"], manifest["trial_count"]) == (0, 2)
    names = {path.name for path in recorded.cassette.iterdir()}
    assert names == {"manifest.json", *manifest["files"]}
    for name in manifest["files"]:
        own = bench.folder() / "cases" / name
        assert (recorded.cassette / name).read_bytes() == own.read_bytes()
    assert main(["verify", str(recorded.cassette / "manifest.json")]) == 0
    assert [p.name for p in (bench.path / "cassettes").iterdir()] == ["agent"]


@pytest.mark.parametrize(("what", "jobs"), [("agent", "4"), ("1", "1")])
def test_a_replay_is_the_run_that_was_recorded(recorded, what, jobs):
    live, bench = recorded.report(), recorded.bench
    assert recorded.run(f"replay={what}", f"jobs={jobs}") == 0
    assert recorded.calls() == []
    report = recorded.report()
    for name in ("run_id", "plan_id", "system", "digests"):
        assert report[name] == live[name]
    assert trials(report) == trials(live)
    told = {remark["code"]: remark["message"] for remark in bench.record()["decision"]["remarks"]}
    assert f"those of {'run 0' if what == '1' else 'cassette agent ('}" in told["note_replayed"]
    replays, seq = bench.record()["replays"], bench.record()["seq"]
    assert seq == 2
    assert (replays["kind"], replays["seq"]) == (("cassette", None), ("run", 1))[what == "1"]
    assert main(["verify", str(bench.out), "--require-complete"]) == 0


def test_the_command_records_with_jobs_too(recorded):
    first = recorded.manifest()
    shutil.rmtree(recorded.cassette)
    assert recorded.run("record=agent", "jobs=3") == 0
    again = recorded.manifest()
    assert (again["cases"], again["system"]) == (first["cases"], first["system"])
    assert again["files"].keys() == first["files"].keys()


def test_a_cassette_is_replayed_where_no_run_is(recorded):
    shutil.rmtree(recorded.bench.out)
    assert recorded.run("replay=agent", "out=elsewhere") == 0
    assert recorded.run("replay=agent") == 0


def test_todays_rubric_scores_what_was_recorded(recorded):
    live = recorded.report()
    recorded.bench.rubric("return BenchScore(passed=True, score=0.5)")
    assert recorded.run("replay=agent") == 0
    report = recorded.report()
    assert recorded.calls() == []
    scores = {t["case_id"]: t["score"] and t["score"]["score"] for t in report["per_case"]}
    assert scores == {"01": 0.5, "02": None, "03": None, "04": 0.5}
    assert report["digests"]["rubric"] != live["digests"]["rubric"]
    assert trials(report) == trials(live)
    assert main(["verify", str(recorded.bench.out)]) == 0


def test_both_sides_are_replayed_through_a_new_rubric_and_compared(recorded):
    bench = recorded.bench
    bench.pin()
    bench.rubric("return BenchScore(passed=True, score=0.5, safety_penalty=0.0)")
    assert recorded.run("replay=agent", "baseline=none") == 0
    bench.pin()
    assert recorded.run("replay=agent", "baseline=pinned") == 10  # not better than itself
    assert "incomparable" not in str(bench.record()["decision"]["reason_codes"])
    assert bench.record()["baseline"]["run"]["run_id"] == recorded.report()["run_id"]
    assert recorded.calls() == []


def test_what_the_rubric_could_not_score_is_scored_now(recorded):
    bench = recorded.bench
    bench.rubric("raise KeyError('x')")
    recorded.run()
    assert recorded.report()["complete"] is False
    bench.rubric()
    assert recorded.run("replay=2") == 0
    assert recorded.report()["complete"] is True
    assert recorded.calls() == []


# Refused before anything runs


@pytest.mark.parametrize("what", ["agent", "1"])
def test_what_has_changed_is_named(recorded, what):
    bench = recorded.bench
    bench.case("05")
    bench.write("cases/01/input/question.txt", "another")
    folder = recorded.cassette if what == "agent" else bench.folder() / "cases"
    with (folder / "04-t1.json").open("a") as file:
        file.write(" ")
    (folder / "02.json").unlink()
    said = recorded.refused(f"replay={what}")
    assert "cannot be replayed; this has changed since:" in said
    for why in (
        "cases that changed: 01",
        "new cases: 05",
        "04-t1.json: was changed after it was recorded",
        "02.json: missing, or a symlink",
    ):
        assert f"  {why}\n" in said
    assert bench.head()["seq"] == 1


def test_another_seed_and_more_trials_are_refused(recorded):
    said = recorded.refused("replay=agent", "seed=7", trials=3)
    assert "seed was 0, is 7" in said
    assert "each case has 2 trials, and 3 are asked for" in said


def test_fewer_trials_are_replayed(recorded):
    assert recorded.run("replay=agent", trials=1) == 0
    assert recorded.calls() == []
    assert len(recorded.report()["per_case"]) == 4


def test_an_edited_manifest_makes_no_other_output_pass(recorded):
    path = recorded.cassette / "manifest.json"
    manifest = recorded.manifest()
    manifest["files"]["01.json"] = manifest["files"]["04.json"]
    path.write_text(json.dumps(manifest))
    said = recorded.refused("replay=agent")
    assert "01.json: was changed after it was recorded" in said
    # The file of one trial in the place of another, digest mended: found when it is played.
    shutil.copy(recorded.cassette / "04.json", recorded.cassette / "01.json")
    assert recorded.run("replay=agent") == 1
    assert recorded.bench.result("01")["outcome"] == "unavailable"
    assert "file of another trial" in recorded.bench.result("01")["detail"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("replay=agent", "system=other"), "system 'other' was asked for, but cassette agent * is"),
        (("replay=agent", "record=more"), "what is replayed is recorded already"),
        (("replay=other",), "cannot be read: No such file or directory; known: agent"),
        (("replay=7",), "there is no run '7'"),
    ],
)
def test_what_cannot_be_meant_is_wrong_use(recorded, arguments, said):
    text = recorded.refused(*arguments)
    head, _, tail = said.partition("*")
    assert head.strip() in text
    assert tail.strip() in text
    assert recorded.bench.head()["seq"] == 1


@pytest.mark.parametrize("argument", ["replay=../agent", "record=12"])
def test_a_name_that_no_cassette_has_is_wrong_use(recorded, capsys, argument):
    with pytest.raises(SystemExit, match="2"):
        recorded.run(argument)
    assert "expected the name of a cassette" in capsys.readouterr().err
    assert recorded.calls() == []


def test_the_recorded_system_need_not_be_there(recorded, monkeypatch):
    bench = recorded.bench
    live = recorded.report()
    source = (bench.path / "system.py").read_text()
    (bench.root / "elsewhere.py").write_text(source)
    monkeypatch.syspath_prepend(bench.root)
    assert recorded.run("system=elsewhere:system", "record=apart") == 0
    (bench.root / "elsewhere.py").unlink()
    del sys.modules["elsewhere"]
    assert recorded.run("replay=apart", "system=elsewhere:system") == 0
    assert recorded.report()["system"] == "elsewhere:system"
    assert recorded.report()["digests"]["system"] == "v1"
    assert recorded.report()["run_id"] == live["run_id"]


# Part of the cases


def test_a_part_of_the_cases_is_replayed(recorded):
    bench = recorded.bench
    bench.case("05")  # not in it, and not asked for
    recorded.log.unlink()
    assert recorded.run("replay=agent", "cases=01") == 0
    assert set(bench.outcomes(bench.selected())) == {"01", "01-t1"}
    assert recorded.run("replay=agent", "cases=0[12]") == 1
    assert recorded.calls() == []


def test_a_part_renews_its_part(recorded):
    bench, before = recorded.bench, recorded.manifest()
    bench.write("cases/04/input/question.txt", "another")
    recorded.run("record=agent", "cases=04")
    after = recorded.manifest()
    assert {c for c in after["cases"] if after["cases"][c] != before["cases"][c]} == {"04"}
    changed = {f for f in after["files"] if after["files"][f] != before["files"][f]}
    assert changed == {"04.json", "04-t1.json"}
    assert after["files"].keys() == before["files"].keys()
    assert recorded.run("replay=agent") == 0
    assert recorded.calls() == []


def test_a_part_of_another_run_is_refused(recorded):
    before = recorded.manifest()
    said = recorded.refused("record=agent", "seed=7", "cases=04")
    assert "cannot be renewed by a part of the cases" in said
    assert "seed was 0, is 7" in said
    assert recorded.calls() == []
    assert recorded.manifest() == before


# Incomplete runs, and runs that are resumed


def test_an_incomplete_run_is_not_recorded(recorded):
    before = recorded.manifest()
    recorded.bench.rubric("raise KeyError('x')")
    assert recorded.run("record=agent") == 1
    assert "not recorded: the run is incomplete" in recorded.said
    assert recorded.manifest() == before
    assert len(list(recorded.cassette.parent.iterdir())) == 1


def test_a_run_that_is_resumed_is_recorded_as_a_whole(echo):
    echo.instead["02"] = SystemUnavailable("away")
    run = echo.run(retries=0, record="agent")
    assert any(
        "cassettes/agent: not recorded: the run is incomplete" in why for why in run.failures
    )
    echo.instead.clear()
    assert echo.run(resume="auto", record="agent").exit_status == 0
    assert echo.run(system=None, replay="agent").exit_status == 0


def test_a_replay_is_resumed_as_a_replay_only(recorded):
    bench = recorded.bench
    bench.rubric("raise KeyError('x')")
    recorded.run("replay=agent")
    said = recorded.refused("resume=2")
    assert "replays was cassette agent (" in said
    assert "), is None" in said
    # A rubric that is mended is another rubric: the replay begins anew.
    assert "digest of the rubric" not in said
    assert recorded.run("resume=2", "replay=agent") == 1
    assert bench.record()["replays"]["name"] == "agent"
    assert main(["verify", str(bench.out)]) == 0


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"seq": 1\n  }', '"seq": 3\n  }'),
        ('"kind": "run"', '"kind": "cassette"'),
        ('"sha256": "{sha256}"', '"sha256": "' + "0" * 64 + '"'),
    ],
)
def test_verify_finds_what_is_replayed(recorded, before, after, capsys):
    bench = recorded.bench
    sha256 = bench.head()["sha256"]
    assert recorded.run("replay=1") == 0
    path = bench.folder() / "record.json"
    before = before.replace("{sha256}", sha256)
    start, _, end = path.read_text().partition('"replays": {')
    assert end.count(before) == 1
    path.write_text(f'{start}"replays": {{{end.replace(before, after)}')
    capsys.readouterr()
    assert main(["verify", str(bench.out)]) == 1
    assert ": replays: " in capsys.readouterr().err


def test_a_replay_is_not_passed_off_as_a_live_run(recorded, capsys):
    assert recorded.run("replay=agent") == 0
    path = recorded.bench.folder() / "record.json"
    record = json.loads(path.read_bytes())
    path.write_text(json.dumps({**record, "replays": None}))
    capsys.readouterr()
    assert main(["verify", str(recorded.bench.out)]) == 1
    said = capsys.readouterr().err
    assert "plan.json.replays is {" in said
    assert "note_replayed" in said


# Cassettes beside the cases


def test_cassettes_are_no_part_of_class_rubric_or_case(recorded):
    live = recorded.report()["digests"]
    shutil.rmtree(recorded.cassette.parent)
    assert recorded.run() == 0
    assert recorded.report()["digests"] == live


def test_a_case_finds_its_own_trial(recorded):
    path = recorded.bench.path
    case = read_case(path / "cases/01", task_class="echo")[0].model_copy(update={"trial": 1})
    for one in (case, pickle.loads(pickle.dumps(case))):  # noqa: S301 - our own
        found = one.cassette("agent")
        assert found.path == recorded.cassette / "01-t1.json"
        assert found.sha256 == recorded.manifest()["files"]["01-t1.json"]
        assert json.loads(found.path.read_bytes())["output"] == {"answer": "Q01"}
    for name in ("other", "../agent"):
        with pytest.raises(CassetteNotFound, match="no cassette") as raised:
            case.cassette(name)
        assert isinstance(raised.value, KeyError)
        assert raised.value.name == name
    with (recorded.cassette / "01-t1.json").open("a") as file:
        file.write(" ")
    with pytest.raises(Unreadable, match="was changed after it was recorded"):
        case.cassette("agent")


def test_the_table_of_a_case_comes_first(recorded):
    bench = recorded.bench
    path = bench.write("cases/01/cassettes/own.json", "{}")
    sha256 = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    table = f'[cassettes.agent]\npath = "cassettes/own.json"\nsha256 = "{sha256}"\n'
    bench.case("01", extra=table)
    case = read_case(bench.path / "cases/01", task_class="echo")[0]
    assert case.cassette("agent").path == path
    path.write_text("[]")
    with pytest.raises(Unreadable, match="was changed"):
        case.cassette("agent")


CHECKED = {
    "a case that was changed": (
        lambda r: r.bench.write("cases/01/input/question.txt", "x"),
        "manifest.json:1: case '01' was changed since; record it again with --bench-record=agent",
    ),
    "a file that was changed": (
        lambda r: (r.cassette / "01.json").write_text("{}"),
        "manifest.json:1: 01.json: was changed after it was recorded; record it again",
    ),
    "a file that was added": (
        lambda r: (r.cassette / "09.json").write_text("{}"),
        "manifest.json:1: 09.json: was not recorded",
    ),
    "a file that is gone": (
        lambda r: (r.cassette / "01.json").unlink(),
        "manifest.json:1: 01.json: missing",
    ),
    "no manifest": (
        lambda r: (r.cassette / "manifest.json").unlink(),
        "manifest.json:1: cannot be read",
    ),
    "of another class": (
        lambda r: (r.cassette / "manifest.json").write_text(
            json.dumps({**r.manifest(), "task_class": "other"})
        ),
        "manifest.json:1: its task class is 'other'; record it again",
    ),
}


@pytest.mark.parametrize("what", CHECKED)
def test_check_names_what_could_not_be_replayed(recorded, capsys, what):
    root = ["check", f"--bench-root={recorded.bench.root / 'bench'}"]
    main(root)
    assert "cassettes" not in capsys.readouterr().err
    change, said = CHECKED[what]
    change(recorded)
    assert main(root) == 1
    assert f"cassettes/agent/{said}" in capsys.readouterr().err


def test_a_system_takes_a_step_from_a_cassette(recorded):
    bench = recorded.bench
    bench.system("""
        import json
        step = json.loads(case.cassette("agent").path.read_bytes())
        assert (step["case_id"], step["result"]["trial"]) == (case.case_id, case.trial)
        return {"answer": (step["output"] or {"answer": ""})["answer"]}
    """)
    assert recorded.run("jobs=3") == 0
    answers = {name: bench.trial(name)["output"]["answer"] for name in ("01", "01-t1", "04-t1")}
    assert answers == {"01": "Q01", "01-t1": "Q01", "04-t1": "q04 1"}
    assert recorded.run("jobs=3", trials=3) == 0
    told = bench.trial("01-t2")["result"]["failure_modes"][0]["detail"]
    assert told.startswith("CassetteNotFound: there is no cassette 'agent' of trial 2 of case '01'")


def test_a_run_of_nothing_but_errors_replaces_no_cassette(recorded):
    before = recorded.manifest()
    recorded.bench.write("system.py", "def system(case):\n    raise KeyError('OPENAI_API_KEY')\n")
    assert recorded.run("record=agent") == 1
    assert "not recorded: no trial returned an output" in recorded.said
    assert recorded.manifest() == before


def test_a_key_in_an_output_is_not_recorded(recorded, monkeypatch):
    monkeypatch.setenv("PROVIDER_API_KEY", "opaque-01234567")  # too short to be masked
    before = recorded.manifest()
    recorded.bench.system(
        "return {'answer': 'Q', 'seen': __import__('os').environ['PROVIDER_API_KEY']}"
    )
    assert recorded.run("record=agent") == 1
    said = recorded.said
    told = "not recorded: 01-t1.json has the value of the environment variable PROVIDER_API_KEY"
    assert told in said
    assert "opaque" not in said
    assert recorded.manifest() == before


def test_a_key_in_an_output_is_masked_in_its_recording(recorded, monkeypatch):
    monkeypatch.setenv("PROVIDER_API_KEY", "opaque-0123456789")
    recorded.bench.system(
        "return {'answer': 'Q', 'seen': __import__('os').environ['PROVIDER_API_KEY']}"
    )
    assert recorded.run("record=agent") == 0
    cassette = recorded.bench.path / "cassettes" / "agent"
    texts = [path.read_text() for path in cassette.iterdir()]
    assert json.loads((cassette / "01-t1.json").read_text())["output"]["seen"] == "[masked]"
    assert not any("opaque" in text for text in texts)


# A run that plays what another one recorded


def replayed(echo, **settings):
    """Return the report of the replay of a run, and that of the run; the replay calls no system."""
    live = echo.run(**settings).judgement.report
    echo.calls.clear()
    echo.instead = dict.fromkeys(("01", "02", "03"), AssertionError("called"))
    report = echo.run(system=None, replay="1", **settings).judgement.report
    assert echo.calls == []
    assert main(["verify", str(echo.out)]) == 0
    return report, live


def test_a_replay_pays_nothing_and_waits_for_nobody(echo):
    echo.instead = dict.fromkeys(("01", "02", "03"), lambda case: case.usage.add(cost_usd=1.0))
    folder = echo.run(baseline="none").published.folder
    run = echo.run(baseline="none", system=None, replay=folder, max_cost_usd=0.5, max_rpm=1)
    report = run.judgement.report
    assert report.complete
    assert report.usage.cost_usd == 3.0


def test_what_is_missing_from_a_run_is_missing_from_its_replay(echo):
    echo.instead["02"] = SystemUnavailable("away")
    report, live = replayed(echo, retries=0)
    assert report.run_id == live.run_id
    assert report.per_case[1] == live.per_case[1]
    assert report.per_case[1].outcome == "unavailable"


def test_inputs_that_the_system_changed_stay_told(echo):
    more = echo.path / "cases/02/input/more.txt"
    echo.instead["02"] = lambda _: more.touch()
    live = echo.run().judgement.report
    more.unlink()
    report = echo.run(system=None, replay="1").judgement.report
    assert report.run_id == live.run_id
    assert [mode.code for mode in report.per_case[1].failure_modes] == ["input_modified"]
    assert main(["verify", str(echo.out)]) == 0


def test_a_replay_is_no_promotion_unless_it_is_allowed(echo, capsys):
    for number in range(4, 15):
        echo.case(f"{number:02}")
    wrong = {f"{number:02}": {"answer": "wrong"} for number in range(1, 15)}
    echo.instead = wrong
    echo.run()
    echo.pin()
    echo.instead = {}
    echo.run(baseline="auto", record="good")
    promoted = ["verify", str(echo.out), "--require-promote"]
    assert main(promoted) == 0
    echo.run(baseline="auto", system=None, replay="good")
    capsys.readouterr()
    assert main(promoted) == 1
    assert "is a replay" in capsys.readouterr().err
    assert main([*promoted, "--allow-replay"]) == 0


@pytest.mark.parametrize("changed", [False, True])
def test_a_rubric_that_gives_one_output_two_scores_is_named(echo, monkeypatch, changed):
    mood = """
    import os
    if os.environ.get("MOOD") == case.case_id:
        return BenchScore(passed=False, score=0.5, safety_penalty=0.0)
    """
    echo.rubric(mood)
    echo.run()
    assert [one.differs for one in echo.engine(replay="1").judgement.report.per_case] == [False] * 3
    monkeypatch.setenv("MOOD", "02")
    if changed:
        echo.rubric(f"{mood}# another rubric, which may give another score\n")
    run = echo.engine(replay="1")
    said = {one.code: one.message for one in run.judgement.decision.remarks}
    text = "not deterministic: 1 of 3 scores differ from what the same rubric gave the same outputs"
    assert said.get("note_not_deterministic") == (None if changed else text)
    assert [r.get("differs") for r in echo.record()["report"]["per_case"]].count(True) == (
        not changed
    )
    assert main(["verify", str(echo.out)]) == 0


@pytest.fixture
def by_rule(monkeypatch):
    """Return a function that adds a way to take over what was recorded."""

    def add(option, rule):
        monkeypatch.setattr(rules, "RECORDED", {**rules.RECORDED, option: rule})

    return add


@pytest.fixture
def tossed(echo, by_rule):
    """The class with a judge that tosses a coin; case 02 failed by it. What failed may be judged again alone."""
    by_rule("retry", replace(rules.REOBSERVE, passed="observations"))
    echo.observer("return {'score': 0.2 if case.case_id == '02' and asked == 1 else 0.9}")
    echo.run(baseline="none")
    echo.pin()
    return echo


@pytest.mark.filterwarnings("ignore:cases that failed have a second chance")
def test_what_failed_alone_is_judged_again(tossed):
    report = tossed.engine(retry="1").judgement.report
    assert tossed.calls == ["01", "02", "03"]
    assert tossed.asked() == ["01", "02", "03", "02"]
    assert report.complete
    assert report.passed_count == 3


@pytest.mark.filterwarnings("ignore:cases that failed have a second chance")
def test_a_second_chance_is_never_judged(tossed):
    """A judge that varies passes by luck what it sees often enough."""
    records = sorted(tossed.out.rglob("record.json"))
    for settings in ({}, {"baseline": "pinned"}, {"baseline": "auto", "exit_rule": "gate"}):
        with pytest.warns(UserWarning, match="so it is not judged and not recorded"):
            run = tossed.engine(retry="1", **settings)
        assert run.judgement.report.scope == "selected"
        assert run.published.verdict == "not_evaluated"
        assert run.published.folder == tossed.out / "last-selected/echo"
    assert tossed.engine(retry="1", baseline="pinned").exit_status == 1
    assert sorted(tossed.out.rglob("record.json")) == records
    with pytest.raises(ArtifactError, match="not recorded: cases that failed have a second chance"):
        tossed.engine(retry="1", record="lucky")
    with pytest.raises(EvalError, match="retry and shard"):
        tossed.engine(retry="1", shard=Shard(1, 2))
    with pytest.raises(ArtifactError, match="only a full run can be resumed"):
        tossed.engine(retry="1", resume="auto")


@pytest.mark.filterwarnings("ignore:cases that failed have a second chance")
def test_of_a_case_that_failed_in_one_trial_all_are_judged_again(tossed):
    tossed.observer(
        "return {'score': 0.2 if (case.case_id, case.trial, asked) == ('02', 1, 2) else 0.9}"
    )
    (tossed.path / "asked.log").unlink()
    tossed.run(trials=2, baseline="none")
    (tossed.path / "asked.log").unlink()
    tossed.engine(retry="2", trials=2)
    assert tossed.asked() == ["02", "02"]


@pytest.mark.filterwarnings("ignore:cases that failed have a second chance")
def test_what_failed_alone_is_asked_again(echo, by_rule):
    by_rule("again", replace(rules.REPLAY, passed="observations", failed="nothing"))
    echo.instead["02"] = {"answer": "wrong"}
    echo.run(baseline="none")
    del echo.instead["02"]
    echo.calls.clear()
    report = echo.run(again="1").judgement.report
    assert echo.calls == ["02"]
    assert (report.passed_count, report.scope) == (3, "selected")


def test_two_recordings_are_not_taken_over_at_once(echo):
    echo.run(baseline="none")
    with pytest.raises(EvalError, match="one recording at a time"):
        echo.engine(replay="1", reobserve="1")
