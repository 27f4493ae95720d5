"""Observers: what has to be asked of the world about an output is asked as a system is, and the rubric reads it."""

from __future__ import annotations

import json
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from benchgate import accept
from benchgate.aggregate import outputs_digest
from benchgate.artifacts.run_kinds import RunRecord
from benchgate.cli import main
from benchgate.errors import EvalError
from benchgate.gates.decision import PREFIX
from benchgate.gates.exit_status import HELD
from benchgate.loader.imports import bench_package
from benchgate.loader.loaded_class import load_class
from benchgate.registry import TaskClassRegistry
from benchgate.trials import pacing
from benchgate.verify.against_bench import Terms

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="isolation needs Linux")


@pytest.fixture
def judged(echo, monkeypatch):
    """The class with a judge; waits are short."""
    monkeypatch.setattr(pacing, "FIRST_DELAY", 0.01)
    echo.observer()
    return echo


def _report(echo, **settings):
    return echo.run(**settings).judgement.report


def test_the_rubric_reads_what_was_observed_and_the_file_has_it(judged):
    report = judged.engine(baseline="none").judgement.report
    assert report.complete
    assert report.mean_score == pytest.approx(0.9)
    assert judged.asked() == ["01", "02", "03"]
    assert judged.trial("02")["observations"] == [{"score": 0.9}]
    assert report.observer.name == "observers.judge:judge"
    assert report.observer.observations == 1
    assert {one.score.score for one in report.per_case} == {0.9}


@pytest.mark.parametrize(
    ("jobs", "isolation"),
    [
        (3, "none"),
        pytest.param(1, "process", marks=ON_LINUX),
        pytest.param(2, "process", marks=ON_LINUX),
    ],
)
def test_it_is_one_run_however_many_run_and_where(judged, jobs, isolation):
    judged.write("gate.toml", "[run]\nobservations = 3\n")
    judged.observer("if case.case_id == '03': return {'score': [0.2, 0.9, 0.7][asked % 3]}")
    plain = judged.engine(baseline="none", out=judged.root / "plain").judgement.report
    (judged.path / "asked.log").unlink()
    report = judged.engine(baseline="none", jobs=jobs, isolation=isolation).judgement.report
    assert (report.run_id, report.observer) == (plain.run_id, plain.observer)
    assert [one["score"] for one in judged.trial("03")["observations"]] == [0.9, 0.7, 0.2]
    assert sorted(judged.asked()) == sorted(["01", "02", "03"] * 3)
    assert main(["verify", str(judged.out)]) == 0


def test_an_observation_cannot_be_changed_and_is_empty_without_an_observer(echo, judged):
    judged.observer("return {'score': 1.0, 'list': [1]}")
    text = 'case.observation["score"]'
    rubric = (judged.path / "rubric.py").read_text()
    judged.write("rubric.py", rubric.replace(text, f"{text}; case.observation['score'] = 2"))
    report = _report(judged)
    assert report.per_case[0].outcome == "rubric_error"
    assert "does not support item assignment" in report.per_case[0].failure_modes[0].detail


def test_the_system_does_not_see_what_is_observed(judged):
    seen = []
    judged.instead["02"] = lambda case: seen.append((case.observation, case.expected_path))
    _report(judged)
    assert seen == [({}, None)]


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_429_of_the_judge_is_tried_again_and_the_system_is_not(judged, jobs):
    judged.observer("if case.case_id == '02' and asked < 3: raise SystemUnavailable('429')")
    report = _report(judged, jobs=jobs)
    assert report.complete
    assert judged.calls == ["01", "02", "03"]
    assert judged.asked().count("02") == 3
    assert report.per_case[1].retries == 2


def test_an_unavailable_judge_keeps_the_output_and_resume_asks_it_alone(judged):
    judged.observer("if case.case_id == '02' and asked < 3: raise SystemUnavailable('429')")
    run = judged.run(retries=0)
    trial = run.judgement.report.per_case[1]
    assert (trial.outcome, trial.score) == ("unavailable", None)
    assert trial.detail == "observer observers.judge:judge: SystemUnavailable: 429"
    assert judged.trial("02")["output"] == {"answer": "Q02"}
    assert run.exit_status == 1
    judged.calls.clear()
    assert not _report(judged, retries=0, resume="auto").complete
    report = _report(judged, resume="auto")
    assert judged.calls == []
    assert report.complete
    assert judged.asked() == ["01", "02", "03", "02", "02"]


@pytest.mark.parametrize(
    ("body", "outcome", "text"),
    [
        ("raise ValueError('no JSON')", "unavailable", "judge: ValueError: no JSON"),
        ("import sys; sys.exit(0)", "unavailable", "judge: SystemExit: 0"),
        (
            "return 7",
            "unavailable",
            "judge: ValueError: returned int; expected a mapping",
        ),
        ("return {'x': object()}", "unavailable", "observation.x"),
        ("return {'usage': 7}", "unavailable", "usage: "),
    ],
)
def test_a_broken_observer_says_nothing_of_the_system(judged, body, outcome, text):
    judged.observer(f"if case.case_id == '02': {body}" if ";" not in body else body)
    report = _report(judged)
    trial = report.per_case[0 if ";" in body else 1]
    assert trial.outcome == outcome
    assert text in f"{trial.detail} {[mode.detail for mode in trial.failure_modes]}"
    assert not report.complete
    assert judged.asked().count(trial.case_id) == 1  # only what it declares is tried again


@pytest.mark.parametrize("jobs", [1, 3])
def test_an_observer_that_hangs_is_no_timeout_of_the_system(judged, jobs):
    judged.observer("if case.case_id == '02': __import__('time').sleep(30)")
    begun = time.monotonic()
    judged.case("02", timeout_seconds="1")
    report = _report(judged, jobs=jobs)
    assert time.monotonic() - begun < 10
    trial = report.per_case[1]
    assert (trial.outcome, trial.detail) == (
        "unavailable",
        "neither observed nor scored within 1 s",
    )
    assert judged.trial("02")["output"] == {"answer": "Q02"}


def test_each_observation_has_the_whole_limit_whatever_was_used_before(judged):
    judged.write("gate.toml", "[run]\nobservations = 3\n")
    # Who sets the timer ahead has used up most of the limit, without a test that waits for it.
    judged.instead["02"] = lambda _: signal.setitimer(signal.ITIMER_REAL, 60) and None
    judged.observer("""
        import signal
        left, _ = signal.setitimer(signal.ITIMER_REAL, 60)
        return {"score": left / 600}
    """)
    _report(judged, timeout=600)
    for case_id in ("01", "02", "03"):
        left = [one["score"] for one in judged.trial(case_id)["observations"]]
        assert left == pytest.approx([1.0, 1.0, 1.0], abs=0.2)


def test_an_async_observer_is_awaited(judged):
    judged.observer()
    text = (judged.path / "observers/judge.py").read_text()
    judged.write("observers/judge.py", text.replace("def judge", "async def judge"))
    assert _report(judged).complete


def test_what_the_judge_costs_is_a_cost_of_the_trial_and_not_of_the_system(judged):
    judged.observer("case.usage.add(cost_usd=0.5)")
    report = _report(judged)
    assert report.total_cost_usd == pytest.approx(1.5)
    assert report.usage is None
    run = judged.run(max_cost_usd=0.9)
    assert [one.outcome for one in run.judgement.report.per_case] == [
        "scored",
        "not_run",
        "not_run",
    ]


def test_several_observations_are_one_score(judged):
    judged.write("gate.toml", "[run]\nobservations = 3\n")
    judged.observer(
        "return {'score': [0.0, 0.9, 0.6][asked - 1], 'modes': ['wrong'] * (asked < 3)}"
    )
    run = judged.run()
    trial = run.judgement.report.per_case[0]
    assert judged.asked().count("01") == 3
    assert trial.score.score == pytest.approx(0.5)
    assert trial.score.passed
    assert trial.score.breakdown == {"judged": pytest.approx(0.5)}
    assert [mode.code for mode in trial.failure_modes] == ["wrong"]
    assert [one["score"] for one in judged.trial("01")["observations"]] == [0.0, 0.9, 0.6]
    assert run.judgement.report.observer.observations == 3


def test_one_block_code_counts_and_a_minority_of_others_does_not(judged):
    judged.write("gate.toml", "[run]\nobservations = 3\n")
    modes = (judged.path / "failure_modes.toml").read_text()
    judged.write(
        "failure_modes.toml",
        modes + '[failure_modes.harm]\nseverity = "block"\ndescription = "Harm."\n',
    )
    judged.observer("return {'score': 1.0, 'modes': [['wrong'], ['harm'], []][asked - 1]}")
    report = _report(judged)
    assert [mode.code for mode in report.per_case[0].failure_modes] == ["harm"]
    assert report.block_severity_failure_modes == ("harm",)


def test_an_unknown_code_counts_though_one_observation_alone_has_it(judged):
    judged.write("gate.toml", "[run]\nobservations = 3\n")
    judged.observer("return {'score': 1.0, 'modes': [['nonsense'], [], []][asked - 1]}")
    assert _report(judged).block_severity_failure_modes == ("unknown_failure_mode",)


def test_an_observation_that_was_made_is_kept_when_the_next_one_is_unavailable(judged):
    judged.write("gate.toml", "[run]\nobservations = 3\n")
    judged.observer("if asked == 2: raise SystemUnavailable('429')")
    assert not _report(judged, retries=0).complete
    assert len(judged.trial("01")["observations"]) == 1
    report = _report(judged, retries=0, resume="auto")
    assert report.complete
    assert judged.asked().count("01") == 4
    assert len(judged.trial("01")["observations"]) == 3


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("interrupted", [1, 2])
def test_each_stage_is_kept_as_it_ends_and_not_asked_for_again(judged, interrupted, jobs):
    judged.write("gate.toml", "[run]\nobservations = 3\n")
    judged.observer(f"if case.case_id == '02' and asked == {interrupted}: raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        judged.run(jobs=jobs)
    assert judged.trial("02")["output"] == {"answer": "Q02"}
    assert len(judged.trial("02").get("observations", ())) == interrupted - 1
    report = _report(judged, resume="auto")
    assert report.complete
    assert judged.calls.count("02") == 1
    assert judged.asked().count("02") == 4  # the one that was interrupted had been asked


@pytest.mark.parametrize("count", [2, 0, 101, '"three"'])
def test_the_number_of_observations_is_odd(judged, count):
    judged.write("gate.toml", f"[run]\nobservations = {count}\n")
    with pytest.raises(EvalError, match=r"observations.*1, 3, 5, 7 or 9"):
        judged.run()


def test_a_resumed_run_has_the_observer_that_it_had(judged):
    judged.left()
    judged.write("observers/prompt.txt", "Be kind.")
    with pytest.raises(EvalError, match="the observer: source was "):
        judged.run(resume="auto")


@pytest.mark.parametrize(
    ("observe", "message"),
    [
        (
            '"observers.judge:nothing"',
            "observer 'observers.judge:nothing' cannot be used: AttributeError",
        ),
        ('"observers.none:judge"', "ModuleNotFoundError"),
        ("EchoRubric", "is no callable of observers/"),
        ('"observers.judge:LOG"', "is no callable of observers/"),
    ],
)
def test_an_observer_that_cannot_be_used(judged, observe, message):
    text = (judged.path / "registration.py").read_text()
    judged.write("registration.py", text.replace('"observers.judge:judge"', observe))
    with pytest.raises(EvalError, match=message):
        judged.run()


@pytest.mark.parametrize("declares", ["concurrency = 'threads'", "unavailable = 'OSError'"])
def test_an_observer_declares_only_what_can_be_acted_upon(judged, declares):
    judged.observer(attributes=f"judge.{declares}")
    with pytest.raises(EvalError, match=f"observer 'observers.judge:judge' says {declares}; "):
        judged.run()


def test_threads_that_ask_for_it_at_once_load_it_once(judged, monkeypatch):
    """A worker of a cluster has threads, and parsers of Python 3.11 fail beside each other."""
    loads = []

    def load(*_):
        loads.append(1)
        time.sleep(0.05)

    monkeypatch.setattr("benchgate.loader.loaded_class.load_observer", load)
    with bench_package(judged.root / "bench"):
        loaded = load_class(judged.root / "bench", "echo", TaskClassRegistry())
    with ThreadPoolExecutor(4) as pool:
        [*pool.map(lambda _: loaded.observer(), range(4))]
    assert len(loads) == 1


def test_the_observer_is_in_the_plan_and_says_what_it_is(judged):
    first = _report(judged)
    judged.observer(attributes="judge.name, judge.model, judge.digest = 'j', 'm-1', lambda: 'abc'")
    second = _report(judged)
    assert first.plan_id != second.plan_id
    assert (second.observer.name, second.observer.model, second.observer.digest) == (
        "j",
        "m-1",
        "abc",
    )
    assert first.run_id == second.run_id


def test_a_replay_reads_the_observations_and_asks_nobody(judged):
    judged.write("gate.toml", "[run]\nobservations = 3\n")
    judged.observer("return {'score': [0.0, 0.9, 0.6][asked - 1]}")
    first = _report(judged, record="kept")
    (judged.path / "observers/judge.py").unlink()
    judged.calls.clear()
    asked = judged.asked()
    for source in ("1", "kept"):
        again = judged.engine(replay=source).judgement.report
        assert again.run_id == first.run_id
        assert again.observer == first.observer
        assert again.per_case[0].observed == first.per_case[0].observed
    assert judged.calls == []
    assert judged.asked() == asked


def test_the_work_folder_of_the_system_is_not_handed_on(judged):
    judged.instead["02"] = lambda case: (case.work_path / "file").write_text("x") and None
    report = _report(judged)
    assert not report.per_case[1].left_files


def test_inputs_that_the_system_changed_are_noted_once(judged):
    judged.instead["02"] = lambda case: (case.input_path / "question.txt").write_text("x") and None
    report = _report(judged)
    assert [mode.code for mode in report.per_case[1].failure_modes].count("input_modified") == 1
    assert judged.trial("02")["observations"]


def test_http_of_each_observation_is_recorded_and_replayed(judged, monkeypatch):
    pytest.importorskip("httpx")
    judged.write("gate.toml", "[run]\nobservations = 3\n")
    judged.observer(
        """
        import httpx
        mock = httpx.MockTransport(lambda _: httpx.Response(200, json={"score": [0.2, 0.7, 0.9][asked - 1]}))
        with httpx.Client(transport=case.http_transport("kept", inner=mock)) as client:
            return client.get("http://judge/").json()
        """
    )
    first = _report(judged, record="kept")
    assert first.complete
    files = sorted(path.name for path in (judged.path / "cassettes/kept").iterdir())
    assert files[:4] == ["01.json", *(f"01.observed-{n}.http.json" for n in (1, 2, 3))]
    again = _report(judged)
    assert again.run_id == first.run_id
    assert again.per_case[0].http_cassettes == ("kept",)
    manifest = json.loads((judged.path / "cassettes/kept/manifest.json").read_text())
    assert manifest["observer"]["name"] == "observers.judge:judge"


def test_http_of_an_observer_without_a_recording_keeps_the_output(judged):
    judged.observer("case.http_transport('none')")
    trial = _report(judged).per_case[0]
    assert trial.outcome == "unavailable"
    assert "no cassette 'none' has the HTTP of this trial" in trial.detail


@pytest.fixture
def compared(judged):
    """The class with twelve cases and a pinned baseline."""
    for number in range(4, 13):
        judged.case(f"{number:02}")
    judged.observer("return {'score': float(output['answer'])}")
    _answer(judged, 0.1)
    judged.run(baseline="none")
    judged.pin()
    return judged


def _answer(echo, score):
    for number in range(1, 13):
        echo.instead[f"{number:02}"] = lambda _, n=number: {"answer": score + n**2 / 1000}


def _decided(echo, **settings):
    run = echo.run(baseline="auto", **settings)
    decision = run.judgement.decision
    assert main(["verify", str(echo.out)]) == 0
    codes = [code.removeprefix(PREFIX) for code in decision.reason_codes]
    return run, codes, {remark.code: remark.message for remark in decision.remarks}


def test_runs_of_one_observer_are_compared(compared):
    _answer(compared, 0.6)
    run, codes, _ = _decided(compared)
    assert (run.judgement.decision.outcome, codes) == ("promote", [])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda echo: echo.write("observers/prompt.txt", "Be kind."), "source"),
        (
            lambda echo: echo.write("gate.toml", "[run]\nobservations = 3\n"),
            "observations was 1, is 3",
        ),
    ],
)
def test_another_observer_holds_and_says_how_to_mend_it(compared, change, words):
    change(compared)
    _answer(compared, 0.6)
    run, codes, messages = _decided(compared)
    assert codes == ["observer_mismatch"]
    assert run.exit_status == HELD
    message = messages[f"{PREFIX}observer_mismatch"]
    assert words in message
    assert run.judgement.decision.next_step == (
        "its outputs are not kept: run its system again, then pin that run: --baseline=none"
    )
    assert message.endswith(run.judgement.decision.next_step)


def test_the_step_names_where_the_outputs_of_the_baseline_are(compared):
    compared.run(baseline="none")
    kept = compared.folder()
    assert (
        main(["pin", "2", "--yes", f"--out={compared.out}", f"--bench={compared.path.parent}"]) == 0
    )
    compared.write("observers/prompt.txt", "Be kind.")
    for baseline, where in ((kept / "record.json", kept), ("auto", "pinned")):
        step = compared.run(baseline=baseline).judgement.decision.next_step
        assert step == f"observe it again, then pin that run: --reobserve={where} --baseline=none"


def test_a_fingerprint_that_changed_is_a_note(compared):
    compared.observer("return {'score': float(output['answer']), 'fingerprint': str(asked)}")
    compared.run(baseline="none")
    compared.pin()
    _answer(compared, 0.6)
    _, codes, messages = _decided(compared)
    assert codes == []
    assert (
        messages["note_observer_fingerprint"] == "the observer's provider was 3; for the baseline 2"
    )


def test_outputs_are_observed_again_without_the_system(judged):
    first = _report(judged)
    judged.observer("return {'score': 0.7}", "judge.model = 'm-2'")
    judged.calls.clear()
    run = judged.engine(reobserve="1", baseline="none")
    report = run.judgement.report
    assert judged.calls == []
    assert report.mean_score == pytest.approx(0.7)
    assert report.system == first.system
    assert report.observer.model == "m-2"
    assert outputs_digest(report) == outputs_digest(first)
    assert judged.record()["replays"]["observed"] is True
    assert "run 00000001" in run.judgement.decision.remarks[-1].message
    assert "observed again" in run.judgement.decision.remarks[-1].message
    assert main(["verify", str(judged.out)]) == 0


def test_observing_again_has_pace_retries_and_cap_and_can_be_resumed(judged):
    _report(judged)
    judged.observer("if case.case_id == '02' and asked < 4: raise SystemUnavailable('429')")
    assert not judged.engine(reobserve="1", retries=0).judgement.report.complete
    report = judged.engine(reobserve="1", resume="auto").judgement.report
    assert report.complete
    assert judged.asked().count("01") == 2
    judged.observer("case.usage.add(cost_usd=1)")
    capped = judged.engine(reobserve="1", max_cost_usd=1.5).judgement.report
    assert [one.outcome for one in capped.per_case] == ["scored", "not_run", "not_run"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_cap_counts_an_answer_once_though_another_run_observes_it(judged, jobs):
    judged.system("case.usage.add(cost_usd=1)")
    judged.observer("if asked < 3: raise SystemUnavailable('429')")
    assert judged.engine(retries=0).judgement.report.total_cost_usd == 3
    # It pays for nothing, also when it asks a judge twice.
    report = judged.engine(resume="auto", max_cost_usd=4, jobs=jobs).judgement.report
    assert report.complete
    assert report.total_cost_usd == 3
    judged.observer("case.usage.add(cost_usd=1)")
    # Of what was recorded the answers are paid for already.
    assert judged.engine(reobserve="2", max_cost_usd=3, jobs=jobs).judgement.report.complete


def test_an_answer_that_a_cap_leaves_unobserved_says_so_and_is_kept(judged):
    judged.observer("case.usage.add(cost_usd=1)\nif asked == 1: raise SystemUnavailable('429')")
    judged.run(retries=0)
    judged.calls.clear()
    report = _report(judged, resume="auto", max_cost_usd=4.5)
    assert [one.outcome for one in report.per_case] == ["scored", "unavailable", "unavailable"]
    assert report.per_case[2].detail.startswith("max_cost_usd=4.5: $4.0000 is spent")
    assert main(["verify", str(judged.out)]) == 0
    assert _report(judged, resume="auto").complete
    assert judged.calls == []


def test_what_the_same_observer_said_before_is_kept_and_that_of_another_is_not(judged):
    judged.observer("return {'score': asked / 10}", "judge.unavailable = ()")
    _report(judged)
    again = judged.engine(reobserve="1").judgement.report
    assert [one.verdicts() for one in again.per_case] == [((False, 0.1), (False, 0.2))] * 3
    third = judged.engine(reobserve="2").judgement.report
    assert third.per_case[0].verdicts() == ((False, 0.1), (False, 0.2), (False, 0.3))
    assert judged.engine(replay="3").judgement.report.run_id == third.run_id
    assert main(["verify", str(judged.out)]) == 0
    judged.observer("return {'score': 0.7}")
    fourth = judged.engine(reobserve="3").judgement.report
    assert fourth.per_case[0].verdicts() == ((True, 0.7),)


def test_what_failed_before_it_was_observed_stays_what_it_was(judged):
    judged.instead["02"] = ValueError("broken")
    _report(judged)
    report = judged.engine(reobserve="1").judgement.report
    assert [one.outcome for one in report.per_case] == ["scored", "harness_error", "scored"]
    assert judged.asked().count("01") == 2


def test_there_must_be_an_observer_and_a_replay_needs_observations(echo):
    _report(echo)
    with pytest.raises(EvalError, match="reobserve: class echo has no observer"):
        echo.engine(reobserve="1")
    echo.observer()
    with pytest.raises(EvalError, match="nothing observed the outputs of 1: --bench-reobserve=1"):
        echo.engine(replay="1")
    assert echo.engine(reobserve="1").judgement.report.complete
    with pytest.raises(EvalError, match="known: none"):
        echo.engine(reobserve="nothing")


def test_a_replay_is_no_look_and_a_new_observation_is_one_of_either_side(compared):
    _answer(compared, 0.6)

    def look(**settings):
        return _decided(compared, **settings)[0].judgement.decision.look.number

    # The same observer, whose judge may change its mind.
    compared.observer(
        "noise = float((LOG.parent / 'noise.txt').read_text()); return {'score': output['answer'] + noise}"
    )
    compared.write("noise.txt", "0")
    _answer(compared, 0.1)
    compared.run(baseline="none")
    compared.pin()
    baseline = compared.record()["seq"]
    _answer(compared, 0.6)
    assert look() == 1
    candidate = compared.record()["seq"]
    assert look(replay=str(candidate), system=None) == 1
    compared.write("noise.txt", "0.01")
    assert look(reobserve=str(candidate), system=None) == 2
    compared.run(reobserve=str(baseline), baseline="none", system=None)
    compared.pin()
    assert look() == 3
    assert look(replay=str(candidate), system=None) == 4


def test_another_observer_renews_no_part_of_a_cassette(judged):
    _report(judged, record="kept")
    judged.observer(attributes="judge.model = 'm-2'")
    with pytest.raises(EvalError, match="the observer: model was None, is m-2"):
        judged.run(record="kept", case_filter="01")


def test_shards_are_merged_with_what_was_observed(judged, monkeypatch):
    monkeypatch.chdir(judged.root)
    whole = judged.engine(baseline="none", out=judged.root / "whole").judgement.report
    asked = len(judged.asked())
    for number in (1, 2):
        given = ["--task-class=echo", "--out=.benchgate", "--baseline=none", f"--shard={number}/2"]
        assert main(["run", *given]) == 0
    merged = ["merge", "--out=.benchgate", *map(str, judged.out.glob("shards/echo/*"))]
    assert main(merged) in {0, 10}
    assert judged.record()["report"]["run_id"] == whole.run_id
    assert judged.trial("02")["observations"] == [{"score": 0.9}]
    assert len(judged.asked()) == 2 * asked


def test_what_is_observed_again_is_recorded_too(judged):
    pytest.importorskip("httpx")
    judged.observer(
        """
        import httpx
        mock = httpx.MockTransport(lambda _: httpx.Response(200, json={"score": 0.4 + asked / 10}))
        with httpx.Client(transport=case.http_transport("again", inner=mock)) as client:
            return client.get("http://judge/").json()
        """
    )
    first = _report(judged, record="again")
    second = judged.engine(reobserve="again", record="again").judgement.report
    assert (first.mean_score, second.mean_score) == (pytest.approx(0.5), pytest.approx(0.6))
    names = {path.name for path in (judged.path / "cassettes/again").iterdir()}
    assert {"01.json", "01.observed-1.http.json"} <= names
    assert judged.engine(replay="again").judgement.report.run_id == second.run_id
    assert _report(judged).run_id == second.run_id


def test_accept_holds_reports_of_two_observers(compared):
    before = compared.run(baseline="none").judgement.report
    compared.observer("return {'score': float(output['answer'])}", "judge.model = 'm-2'")
    _answer(compared, 0.6)
    after = compared.run(baseline="none").judgement.report
    decision = accept(before, after)
    assert not decision.promotion_allowed
    assert [code.removeprefix(PREFIX) for code in decision.reason_codes] == ["observer_mismatch"]
    assert "model was None, is m-2" in decision.remarks[0].message
    assert accept(after, after).reason_codes != decision.reason_codes


def test_an_observer_that_runs_alone_is_not_run_beside_itself(judged):
    judged.observer(attributes="judge.concurrency = 'none'")
    assert _report(judged).complete
    with pytest.raises(
        EvalError, match=r"jobs=2: observer observers\.judge:judge says concurrency"
    ):
        judged.run(jobs=2)


def test_pin_keeps_the_outputs_and_who_has_the_repository_can_observe_them(bench, capsys):
    bench.observer()
    bench.engine()
    capsys.readouterr()
    assert main(["pin", "1", "--yes"]) == 0
    out = capsys.readouterr().out
    assert "written   bench/echo/cassettes/pinned, 0.0 MB\n" in out
    bench.observer("return {'score': 0.8}")
    assert main(["check", "echo"]) == 1
    assert "its observer differs from the one in observers/" in capsys.readouterr().err
    assert main(["run", "--task-class=echo", "--out=.benchgate"]) == 10
    assert "observer_mismatch" in capsys.readouterr().out
    again = [
        "run",
        "--task-class=echo",
        "--out=.benchgate",
        "--reobserve=pinned",
        "--baseline=none",
    ]
    assert main(again) in {0, 10}
    assert main(["pin", "3", "--yes"]) == 0
    assert main(["check", "echo"]) == 1
    assert "observer" not in capsys.readouterr().err
    assert main(["run", "--task-class=echo", "--out=.benchgate"]) == 10
    assert "observer_mismatch" not in capsys.readouterr().out


@pytest.mark.parametrize("answer", ["y", "n", None])
def test_many_megabytes_are_kept_only_if_a_person_says_so(bench, capsys, monkeypatch, answer):
    bench.observer()
    bench.engine()
    if answer is None:  # outputs of an older baseline would be taken for those of this one
        bench.write("cassettes/pinned/manifest.json", "{}")
    monkeypatch.setattr("benchgate.cli.pin.LARGE", 0.0)
    monkeypatch.setattr("sys.stdin.isatty", lambda: answer is not None, raising=False)
    monkeypatch.setattr("builtins.input", lambda _: answer)
    assert main(["pin", "1", "--yes"]) == 0
    assert (bench.path / "cassettes/pinned").exists() == (answer == "y")
    out = capsys.readouterr().out
    assert ("not kept  bench/echo/cassettes/pinned: its 0 MB are above 0, " in out) == (
        answer != "y"
    )
    assert (bench.path / "baseline.json").exists()


def test_verify_holds_the_observer_against_the_bench(bench):
    bench.observer()
    bench.engine()
    bench.pin()
    bench.engine(baseline="auto")
    record = RunRecord.read_file(bench.folder() / "record.json", "record")

    def objections():
        return [*Terms.of(record, bench.out, bench.root / "bench", {}).objections()]

    assert not objections()
    bench.write("gate.toml", "[run]\nobservations = 3\n")
    (text,) = objections()
    assert text.startswith("its observer, or how often it observed, is not those of ")
    bench.write("gate.toml", "")
    bench.write("observers/prompt.txt", "Be kind.")
    assert objections() == [text]


def test_a_rubric_imports_no_observer_and_no_sdk(bench, capsys):
    bench.observer()
    bench.write("observers/judge.py", "import openai\ndef judge(case, output): return {}\n")
    main(["check", "echo"])
    assert "openai" not in capsys.readouterr().err
    rubric = (bench.path / "rubric.py").read_text()
    bench.write("rubric.py", f"from .observers.judge import judge\n{rubric}")
    main(["check", "echo"])
    assert (
        "imports observers.judge, which the rubric's digest does not cover"
        in capsys.readouterr().err
    )
