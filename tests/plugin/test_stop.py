"""Sessions that stop once a run is decided: the order of the items, what is skipped, and what is refused."""

from __future__ import annotations

import pytest

from benchgate.cli import main

IDS = [f"{n:02}" for n in range(1, 13)]
FIRST = ["07", "08", "10", "11"]
STOP = ("--bench-stop=decided", "--bench-exit=gate")
SAYS = "stop=decided: no result of it could have led to promote"


@pytest.fixture
def twelve(bench, kept):
    """Twelve cases, of which the pinned baseline passes 03, 06, 09 and 12 and the candidate none."""
    for case_id in IDS[3:]:
        bench.case(case_id)
    bench.write("gate.toml", 'test = "auto"\n')
    bench.system("""
        with open("calls", "a") as file:
            print(case.case_id, file=file)
        return {"answer": "?"}
    """)
    if "record" not in kept:
        good = {case_id: {"answer": f"Q{case_id}"} for case_id in IDS[2::3]}
        bench.engine(system=lambda case: good.get(case.case_id, {"answer": "?"}), baseline="none")
        kept["record"] = (bench.folder() / "record.json").read_bytes()
    (bench.path / "baseline.json").write_bytes(kept["record"])
    return bench


def calls(bench):
    return (bench.root / "calls").read_text().split()


def ran(bench):
    return sorted(name for name, outcome in bench.outcomes().items() if outcome != "not_run")


def test_the_rest_is_skipped_and_the_gate_holds(twelve):
    result = twelve.run(*STOP, "-rs")
    assert (calls(twelve), result.ret) == (FIRST, 10)
    assert result.parseoutcomes() == {"failed": 4, "skipped": 8}
    result.stdout.fnmatch_lines_random(
        [
            f"SKIPPED * {SAYS}",
            "HOLD * no result of the remaining 8 cases could have promoted it; saved: 8 of *",
            "cases     0 of 4 pass",
            "next      improve the candidate: the rest would not help",
        ]
    )
    result.stdout.no_fnmatch_line("*incomplete*")
    assert main(["verify", str(twelve.out)]) == 0


@pytest.mark.parametrize(
    "options",
    [
        ("--bench-jobs=4",),
        ("-p", "randomly", "--randomly-seed=5"),
        ("--ff",),
        ("-p", "no:cacheprovider", "--bench-retries=0"),
    ],
)
def test_each_way_stops_after_the_same_cases_with_one_run_id(twelve, options):
    if "--ff" in options:
        twelve.pytest("--bench=echo", "-k", "12")
    twelve.engine(baseline="auto", stop="decided")
    run_id = twelve.record()["report"]["run_id"]
    assert twelve.run(*STOP, *options).ret == 10
    assert ran(twelve) == FIRST
    assert twelve.record()["report"]["run_id"] == run_id


def test_the_class_and_the_environment_say_it_and_a_part_is_not_stopped(twelve, monkeypatch):
    twelve.write("gate.toml", 'test = "auto"\n[run]\nstop = "decided"\n')
    assert twelve.run("--bench-exit=gate").ret == 10
    assert len(calls(twelve)) == 4
    monkeypatch.setenv("BENCHGATE_STOP", "never")
    twelve.run("--bench-exit=gate")
    assert len(calls(twelve)) == 4 + 12
    monkeypatch.delenv("BENCHGATE_STOP")
    twelve.run("-k", "01 or 02 or 04 or 05 or 07 or 08")
    assert len(calls(twelve)) == 4 + 12 + 6


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("-n2",), "*--bench-stop=decided: for runs in one process, without -n"),
        (
            ("--bench-shard=1/2",),
            "*stop decided and shard 1/2: a part does not see the results*",
        ),
        (
            ("--bench-baseline=run:shout",),
            "*stop decided and baseline run:shout: both sides are run*",
        ),
        (("--bench-executor=dask://localhost:1",), "*it is for runs in one process"),
        (("--bench-policy=test=welch",), "*stop = 'decided'*not test = 'welch'*"),
    ],
)
def test_what_cannot_be_known_is_wrong_use(twelve, options, why):
    result = twelve.run(*STOP, *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([why])
    assert not (twelve.root / "calls").exists()


def test_a_run_that_stopped_is_replayed_and_its_outputs_are_not_recorded(twelve):
    recorded = twelve.run(*STOP, "--bench-record=kept")
    assert recorded.ret == 1
    assert not (twelve.path / "cassettes/kept").exists()
    twelve.engine(baseline="auto", record="kept")
    run = twelve.run(*STOP, "--bench-replay=kept")
    assert (run.ret, ran(twelve)) == (10, FIRST)
    assert main(["verify", str(twelve.out)]) == 0


def test_the_command_stops_too(twelve, capsys):
    command = ["run", "--task-class", "echo", "--bench-root", str(twelve.root / "bench")]
    assert main([*command, "--out", str(twelve.out), "--stop", "decided"]) == 10
    assert (calls(twelve), ran(twelve)) == (FIRST, FIRST)
    assert capsys.readouterr().out.count('"outcome": "not_run"') == 8


def test_no_tier_and_no_pin(twelve):
    twelve.run(*STOP)
    record = twelve.record()
    assert record["verdict"] == "not_evaluated" or not record["verdict"]["sufficient"]
    where = ["--out", str(twelve.out), "--bench-root", str(twelve.root / "bench")]
    assert main(["pin", str(record["seq"]), *where, "--yes", "--reason", "x"]) == 1


def test_page_and_comment_show_what_ran(twelve, capsys):
    twelve.run(*STOP)
    assert main(["report", str(twelve.folder())]) == 0
    text = capsys.readouterr().out
    assert "no result of the remaining 8 cases could have promoted it" in text
    assert "0 of 4 pass" in text
    assert text.count("| Failing |") == 4
    assert "\u22121.000" not in text
