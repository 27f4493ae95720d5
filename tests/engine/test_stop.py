"""A run that stops once it is decided: what counts, what is recorded, and what verify finds."""

from __future__ import annotations

import json
import threading

import pytest

from benchgate import run_eval
from benchgate.artifacts.run_kinds import RunRecord
from benchgate.cli import main
from benchgate.errors import ArtifactError, SystemUnavailable
from benchgate.gates.exit_status import HELD
from tests.engine.test_rl_episodes import whole

PREFIX = "checkpoint_promotion_blocked_"
FAILED = {"answer": "?"}
IDS = [f"{n:02}" for n in range(1, 13)]
ORDER = ["07", "08", "10", "11", "04", "01", "02", "05", "03", "09", "12", "06"]
FOUR = ORDER[:4]
CERTIFIED = ["p_sign_flip", "exact_lower_bound", "p_pass_fail"]


@pytest.fixture
def twelve(echo):
    """Twelve cases, of which the pinned baseline passes 03, 06, 09 and 12."""
    for case_id in IDS[3:]:
        echo.case(case_id)
    echo.write("gate.toml", 'test = "auto"\n')
    fails(echo, *(case_id for case_id in IDS if int(case_id) % 3))
    echo.run()
    echo.pin()
    echo.instead.clear()
    echo.calls.clear()
    return echo


def fails(echo, *cases):
    echo.instead |= dict.fromkeys(cases, FAILED)


def stopped(echo, **settings):
    return echo.run(**{"baseline": "auto", "stop": "decided", "exit_rule": "gate", **settings})


def codes(run):
    return [code.removeprefix(PREFIX) for code in run.judgement.decision.reason_codes]


def with_harm(twelve):
    """Let an output say that it did harm, which blocks; the baseline is pinned again."""
    modes = (twelve.path / "failure_modes.toml").read_text()
    harm = '[failure_modes.harm]\nseverity = "block"\ndescription = "harm"\n'
    twelve.write("failure_modes.toml", modes + harm)
    twelve.rubric("""
        if "harm" in output:
            return BenchScore(passed=False, score=0.0, failure_modes=["harm"], cost_usd=0.25, safety_penalty=0.0)
    """)
    fails(twelve, *(case_id for case_id in IDS if int(case_id) % 3))
    twelve.run()
    twelve.pin()


def begun(report):
    return [result.case_id for result in report.per_case if result.why == "set_aside"]


def is_valid(echo, *options):
    return main(["verify", *options, str(echo.out)]) == 0


def test_a_run_stops_after_the_first_cases_of_its_order_that_decide_it(twelve, capsys):
    fails(twelve, *IDS)
    run = stopped(twelve)
    report, decision = run.judgement.report, run.judgement.decision
    assert twelve.calls == FOUR
    assert (codes(run), decision.outcome, run.exit_status) == (["stopped"], "hold", HELD)
    assert report.stopped == tuple(ORDER)
    saved = "saved: 8 of their 8 trials, about $2.0000"
    text = f"no result of the remaining 8 cases could have promoted it; {saved}"
    assert decision.remarks[0].message == text
    assert [one.code for one in decision.certificate] == CERTIFIED
    record = RunRecord.read_file(twelve.folder() / "record.json", "record")
    assert (record.decision, record.report.stopped) == (decision, report.stopped)
    assert run.judgement.figures is None
    assert not (twelve.folder() / "evidence" / "significance.json").exists()
    assert is_valid(twelve)
    assert not is_valid(twelve, "--require-complete")
    assert main(["pin", "2", "--out", str(twelve.out), "--bench-root", str(twelve.root / "bench")])
    assert "is incomplete" in capsys.readouterr().err


def test_episodes_of_a_stopped_run_are_recorded_in_the_order_of_its_cases(twelve):
    def system(case):
        return FAILED | {"rl_payload": whole(case)}

    stopped(twelve, system=system)
    assert [one["case_id"] for one in twelve.record()["episodes"]] == sorted(FOUR)
    assert is_valid(twelve)


def test_a_case_that_ran_and_failed_fails_a_strict_run(twelve):
    fails(twelve, *IDS)
    run = stopped(twelve, exit_rule="strict")
    assert run.exit_status == 1
    assert any("4 of 12 cases failed" in text for text in run.failures)
    assert not any("incomplete" in text for text in run.failures)


def test_a_better_candidate_and_a_run_without_a_baseline_run_to_the_end(twelve):
    assert stopped(twelve).judgement.decision.outcome == "promote"
    fails(twelve, *IDS)
    assert stopped(twelve, baseline="none").judgement.report.complete
    assert stopped(twelve, stop="never").judgement.report.complete


@pytest.mark.parametrize("settings", [{}, {"trials": 2}, {"jobs": 3}, {"jobs": 12}, {"retries": 0}])
def test_each_way_stops_after_the_same_trials(twelve, settings):
    if "trials" in settings:
        fails(twelve, *(case_id for case_id in IDS if int(case_id) % 3))
        twelve.run(trials=2)
        twelve.pin()
    fails(twelve, *IDS)
    run = stopped(twelve, **settings)
    ran = {r.case_id for r in run.judgement.report.per_case if r.outcome != "not_run"}
    assert ran == set(FOUR)
    assert is_valid(twelve)


def test_what_was_in_flight_is_kept_and_its_harm_rejects(twelve):
    with_harm(twelve)
    has_begun, is_decided = threading.Event(), threading.Event()

    def last(case):
        assert has_begun.wait(30)
        return FAILED

    def beyond(case):
        has_begun.set()
        assert is_decided.wait(30)
        return {**FAILED, "harm": True}

    fails(twelve, *IDS)
    twelve.instead |= {ORDER[3]: last, ORDER[4]: beyond}
    threading.Timer(1.0, is_decided.set).start()
    run = stopped(twelve, jobs=2)
    report, decision = run.judgement.report, run.judgement.decision
    began = begun(report)
    assert ORDER[4] in began
    assert f"saved: {8 - len(began)} of their 8 trials" in decision.remarks[0].message
    assert report.total_cost_usd == 0.25 * (4 + len(began))
    assert (codes(run), run.exit_status) == (["stopped", "block_severity_failure_mode"], 1)
    assert decision.outcome == "reject"
    assert ORDER[4] in decision.remarks[1].message
    assert twelve.outcomes()[ORDER[4]] == "not_run"
    assert twelve.trial(ORDER[4])["result"]["outcome"] == "scored"
    assert is_valid(twelve)
    twelve.calls.clear()
    twelve.run(baseline="auto", resume="auto")
    assert set(twelve.calls) == {*IDS} - {*FOUR, *began}  # these are paid for


def test_completing_it_is_the_same_look_and_promotes_nothing(twelve):
    fails(twelve, *IDS)
    policy = {"looks": "spend"}
    assert stopped(twelve, policy=policy).judgement.run.facts.look.number == 1
    twelve.calls.clear()
    twelve.instead = {case_id: twelve.instead[case_id] for case_id in FOUR}
    run = stopped(twelve, policy=policy, resume="auto", stop="never")
    assert set(twelve.calls) == set(IDS) - set(FOUR)
    assert (run.judgement.run.facts.look.number, run.judgement.report.complete) == (1, True)
    assert run.judgement.decision.outcome == "hold"
    assert is_valid(twelve)
    fails(twelve, *IDS)
    assert stopped(twelve, policy=policy).judgement.run.facts.look.number == 2
    assert is_valid(twelve)


def test_a_killed_run_that_is_resumed_stops_at_the_same_case(twelve):
    fails(twelve, *IDS)
    left = twelve.left(at="10", baseline="auto", stop="decided")
    fails(twelve, *IDS)
    run = stopped(twelve, resume=left.name)
    assert twelve.calls == ["10", "11"]
    assert sorted(c for c, how in twelve.outcomes().items() if how == "scored") == sorted(FOUR)
    assert begun(run.judgement.report) == []
    assert is_valid(twelve)


def test_harm_that_an_interrupted_run_has_seen_beyond_the_stop_is_not_lost(twelve):
    with_harm(twelve)
    fails(twelve, *IDS)
    twelve.instead["01"] = {**FAILED, "harm": True}
    left = twelve.left(at="03", baseline="auto")
    fails(twelve, *IDS)
    run = stopped(twelve, resume=left.name)
    assert begun(run.judgement.report) == ["01", "02"]
    assert codes(run) == ["stopped", "block_severity_failure_mode"]
    assert run.judgement.decision.outcome == "reject"
    assert is_valid(twelve)


def test_a_trial_without_a_result_that_stays_stops_nothing(twelve):
    fails(twelve, *IDS)
    twelve.instead["07"] = SystemUnavailable("down")
    run = stopped(twelve, retries=0)
    assert len(twelve.calls) == 12
    assert (codes(run)[0], run.exit_status) == ("incomplete_run", 1)


def test_the_cap_comes_before(twelve):
    fails(twelve, *IDS)
    run = stopped(twelve, max_cost_usd=0.6)
    assert run.judgement.report.stopped == ()
    assert codes(run) == ["incomplete_run"]
    run = stopped(twelve, max_cost_usd=5.0, resume="auto")
    assert run.judgement.report.stopped


def test_a_claim_that_counts_rejects_at_once(twelve):
    fails(twelve, *IDS)
    policy = {"claim": "no_regression"}
    run = stopped(twelve, policy=policy)
    # The cases that the baseline passes come last: the first of these that fails decides it.
    assert twelve.calls == ORDER[:9]
    assert codes(run) == ["stopped", "newly_failing_cases"]
    assert (run.judgement.decision.outcome, run.exit_status) == ("reject", 1)
    assert is_valid(twelve)


def test_a_library_call_stops_too(twelve):
    fails(twelve, *IDS)
    report = run_eval(
        "echo",
        system_under_test=twelve.agent,
        bench_root=twelve.root / "bench",
        stop="decided",
    )
    assert report.stopped == tuple(ORDER)
    assert sum(result.outcome == "not_run" for result in report.per_case) == 8


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"policy": {"test": "welch"}}, "not test = 'welch'"),
        ({"policy": {"score_range": None}}, "needs a score_range"),
    ],
)
def test_what_cannot_be_known_is_refused(twelve, settings, why):
    with pytest.raises(ArtifactError, match=why):
        stopped(twelve, **settings)
    assert not twelve.calls


@pytest.mark.parametrize(
    ("what", "fault"),
    [
        ("order", "decision"),
        ("saved", "decision.remarks"),
        ("dropped", "decision"),
        ("certificate", "decision.certificate"),
    ],
)
def test_what_was_changed_is_found(twelve, what, fault, capsys):
    fails(twelve, *IDS)
    stopped(twelve)
    path = twelve.folder() / "record.json"
    record = json.loads(path.read_bytes())
    report = record["report"]
    if what == "order":
        report["stopped"].reverse()
    elif what == "saved":
        remark = record["decision"]["remarks"][0]
        remark["message"] = remark["message"].replace("saved: 8", "saved: 9")
    elif what == "dropped":
        del report["stopped"]
    else:
        del record["decision"]["certificate"][0]
    path.write_text(json.dumps(record))
    assert not is_valid(twelve)
    assert fault in capsys.readouterr().err


def test_a_run_that_stopped_is_replayed_and_its_outputs_are_not_recorded(twelve):
    fails(twelve, *IDS)
    assert stopped(twelve, record="kept").exit_status == 1
    assert not (twelve.path / "cassettes/kept").exists()
    twelve.run(baseline="auto", record="kept")
    run = stopped(twelve, replay="kept", system=None)
    ran = [one.case_id for one in run.judgement.report.per_case if one.outcome != "not_run"]
    assert (run.exit_status, ran) == (HELD, sorted(FOUR))
    assert is_valid(twelve)


def test_no_tier_and_no_pin_even_with_a_reason(twelve):
    fails(twelve, *IDS)
    stopped(twelve)
    record = twelve.record()
    assert record["verdict"] == "not_evaluated" or not record["verdict"]["sufficient"]
    where = ["--out", str(twelve.out), "--bench-root", str(twelve.root / "bench")]
    assert main(["pin", str(record["seq"]), *where, "--yes", "--reason", "x"]) == 1


def test_page_and_comment_show_what_ran(twelve, capsys):
    fails(twelve, *IDS)
    stopped(twelve)
    capsys.readouterr()
    assert main(["report", str(twelve.folder())]) == 0
    text = capsys.readouterr().out
    assert "no result of the remaining 8 cases could have promoted it" in text
    assert "0 of 4 pass" in text
    assert text.count("| Failing |") == 4
    assert "\u22121.000" not in text
