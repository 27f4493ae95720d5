"""What a run is compared with, and what a mismatch says: the judge over reports that the engine made."""

from __future__ import annotations

import json
import shutil
import warnings
from dataclasses import replace
from textwrap import dedent

import pytest

from benchgate.cli import main
from benchgate.errors import ArtifactError, EvalError, PolicyError
from benchgate.gates import weigh
from benchgate.gates.baseline import read_baseline
from benchgate.gates.choice import choose_baseline
from benchgate.gates.exit_status import HELD
from benchgate.gates.facts import RunFacts
from benchgate.gates.judge import FinishedRun, judge
from benchgate.gates.looks import RecordedLook
from benchgate.gates.policy import make_policy, parse_options
from benchgate.verify.validate import validate_file

PREFIX = "checkpoint_promotion_blocked_"
GRADED = """
    score = float(output["answer"])
    return BenchScore(passed=True, score=score, safety_penalty=output.get("harm", 0.0))
"""
EVIDENCE = {"baseline", "trained", "significance", "safety", "evaluation", "proof", "promotion"}


def weak(case):
    return {"answer": 0.1 + int(case.case_id) / 1000}


def strong(case):
    return {"answer": 0.9 - int(case.case_id) / 1000}


def harmful(harm, answer=strong):
    return lambda case: {**answer(case), "harm": harm}


def reasons(judgement):
    return [code.removeprefix(PREFIX) for code in judgement.decision.reason_codes]


def remark(judgement, code):
    return next(r.message for r in judgement.decision.remarks if r.code == PREFIX + code)


def evidence(run):
    return {path.stem for path in (run.published.folder / "evidence").iterdir()}


def read(run, name):
    return json.loads((run.published.folder / "evidence" / f"{name}.json").read_bytes())


@pytest.fixture
def graded(echo, kept):
    """Twelve cases whose score is what the system answers; the pinned baseline is a weak system."""
    for number in range(4, 13):
        echo.case(f"{number:02}")
    echo.rubric(GRADED)
    if "weak" not in kept:  # the run of the first test is that of all
        echo.run(system=weak, out=echo.root / "pinned")
        (path,) = echo.root.glob("pinned/runs/echo/*/record.json")
        kept["weak"] = path.read_bytes()
    (echo.path / "baseline.json").write_bytes(kept["weak"])
    return echo


def pin(echo, system):
    echo.run(system=system)
    shutil.copy(echo.folder() / "record.json", echo.path / "baseline.json")
    return echo.path / "baseline.json"


@pytest.fixture(scope="module")
def sides():
    """Reports and record of the weak and the strong system, by name; made once, and only read."""
    return {}


@pytest.fixture
def pinned(request, sides, tmp_path):
    """Return the file of the weak run in a folder of its own, to be damaged."""
    if not sides:
        echo = request.getfixturevalue("graded")
        sides["weak"] = (echo.path / "baseline.json").read_bytes()
        sides["strong"] = echo.run(system=strong).judgement.report
    path = tmp_path / "kept" / "baseline.json"
    path.parent.mkdir()
    path.write_bytes(sides["weak"])
    return path


def judged(report, path, **policy):
    choice = choose_baseline("auto", path.parent)
    baseline = read_baseline(choice.path) if choice.path else None
    return judge(run_of(report, choice, baseline, make_policy(policy)))


def run_of(report, choice, baseline, policy):
    facts = RunFacts(
        policy=policy, report=report, baseline=None if baseline is None else baseline.facts
    )
    return FinishedRun(facts=facts, choice=choice, baseline=baseline)


def edit(path, change):
    record = json.loads(path.read_bytes())
    change(record)
    path.write_text(json.dumps(record))


# Without a baseline


@pytest.mark.parametrize("choice", ["auto", "none"])
def test_without_a_baseline_the_decision_is_hold_and_does_not_bind(echo, choice):
    run = echo.run(baseline=choice)
    assert run.exit_status == 0
    assert run.judgement.decision.outcome == "hold"
    assert reasons(run.judgement) == ["baseline_missing"]
    assert echo.record()["baseline"] is None
    assert evidence(run) == {"promotion"}


def test_none_ignores_a_pinned_baseline(graded):
    run = graded.run(system=strong, baseline="none")
    assert (run.exit_status, reasons(run.judgement)) == (0, ["baseline_missing"])


@pytest.mark.parametrize("choice", ["pinned", "no/such.json"])
def test_a_baseline_that_is_asked_for_and_not_there_is_wrong_use(echo, choice):
    with pytest.raises(ArtifactError, match="no such baseline"):
        echo.run(baseline=choice)
    assert not (echo.out / "runs").exists()


def test_a_name_that_is_too_long_is_no_baseline(graded, capsys):
    where = [f"--bench-root={graded.path.parent}", f"--baseline={'x' * 300}"]
    assert main(["run", "--task-class=echo", *where]) == 2
    assert "xxx: no such baseline" in capsys.readouterr().err


# Decisions


def test_a_better_system_is_promoted(graded):
    run = graded.run(system=strong, baseline="auto")
    assert (run.exit_status, run.judgement.decision.outcome) == (0, "promote")
    assert evidence(run) == EVIDENCE
    assert graded.record()["baseline"]["run"]["run_id"] != graded.record()["report"]["run_id"]
    assert read(run, "proof")["failure_analysis"] is None
    significance = read(run, "significance")["significance"]
    assert significance["mean_delta"] == pytest.approx(0.787)
    assert (significance["test"], significance["pass"]) == ("paired", True)


def test_a_plain_run_weighs_its_two_sides_once(graded, monkeypatch):
    """Figures of 10,000 cases take seconds: they are made once, and kept."""
    real, weighed = weigh.weigh, []
    monkeypatch.setattr(
        weigh, "weigh", lambda *given, **how: weighed.append(given) or real(*given, **how)
    )
    graded.run(system=strong, baseline="auto")
    assert len(weighed) == 1


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [("welch", "", 1), ("welch", 'test = "auto"\n', 0), ("auto", "", 0)],
)
def test_who_leaves_the_test_to_the_new_default_is_told_how_to_keep_the_old(
    echo, before, now, said
):
    echo.write("gate.toml", f'test = "{before}"\n')
    pin(echo, weak)
    echo.write("gate.toml", now)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        echo.run(system=weak, baseline="auto")
    keeps = 'gate.toml names no test, so pairs decide; test = "welch" keeps'
    assert sum(keeps in str(one.message) for one in caught) == said


@pytest.mark.parametrize(("rule", "status"), [("strict", 1), ("gate", 0)])
def test_failed_cases_fail_a_promoted_run_but_with_exit_gate_they_do_not(graded, rule, status):
    graded.rubric(
        'score = output["answer"]\n'
        'passed = case.case_id != "02" or score < 0.5\n'
        "return BenchScore(passed=passed, score=score, safety_penalty=0.0)"
    )
    pin(graded, weak)
    run = graded.run(system=strong, baseline="auto", exit_rule=rule)
    assert (run.exit_status, run.judgement.decision.outcome) == (status, "promote")


def test_the_same_system_is_not_promoted(graded):
    run = graded.run(system=weak, baseline="auto")
    assert run.exit_status == HELD
    assert run.judgement.decision.promotion_allowed is False
    assert "delta_below_minimum" in reasons(run.judgement)


def test_a_worse_system_is_rejected(graded):
    pin(graded, strong)
    run = graded.run(system=weak, baseline="auto")
    assert (run.exit_status, run.judgement.decision.outcome) == (1, "reject")
    assert "significant_regression" in reasons(run.judgement)


def test_too_few_cases_hold(echo):
    echo.rubric(GRADED)
    pin(echo, weak)
    run = echo.run(system=strong, baseline="auto")
    assert (run.exit_status, run.judgement.decision.outcome) == (HELD, "hold")
    assert reasons(run.judgement)[0] == "insufficient_cases"
    assert remark(run.judgement, "insufficient_cases") == (
        "3 cases are too few: at least 10 are needed"
    )


def test_more_harm_is_rejected_however_good_the_score(graded):
    run = graded.run(system=harmful(0.2), baseline="auto")
    assert (run.exit_status, run.judgement.decision.outcome) == (1, "reject")
    assert reasons(run.judgement) == ["safety_regression"]
    assert read(run, "safety")["safety_regression_delta"] == pytest.approx(0.2)


def test_unmeasured_harm_holds(graded):
    run = graded.run(system=harmful(None), baseline="auto")
    assert reasons(run.judgement) == ["safety_missing"]
    safety = read(run, "safety")
    assert safety["promotion_allowed"] is False
    assert safety["safety_regression_delta"] is None
    assert safety["trained_mean_safety_penalty"] is None


def test_harm_that_no_arm_measured_is_not_evaluated_and_never_fine(graded):
    pin(graded, harmful(None, weak))
    run = graded.run(system=harmful(None), baseline="auto")
    assert reasons(run.judgement) == ["safety_missing"]
    pin(graded, harmful(None, weak))
    run = graded.run(system=harmful(None), baseline="auto", policy={"safety": "optional"})
    assert run.judgement.decision.outcome == "promote"
    safety = read(run, "safety")
    assert safety["promotion_allowed"] is None
    assert safety["safety_regression_delta"] is None
    assert safety["diagnostics"] == ["not_evaluated"]
    assert read(run, "proof")["safety_benchmark"]["promotion_allowed"] is None


# Files that are no baseline


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (b"", "no valid record of a run: "),
        (b"not json", "no valid record of a run: "),
        (b"[]", "no valid record of a run: "),
        (b"null", "no valid record of a run: "),
        (b"{}", "no valid record of a run: "),
        (b'{"report": {}}', "no valid record of a run: "),
        (b'{"report": 1}', "no valid record of a run: "),
        (b"\xff\xfe", "no valid record of a run: "),
        (b"[" * 100_000, "no valid record of a run: "),
        (lambda r: r["report"].pop("per_case"), "per_case"),
        (lambda r: r["report"]["per_case"][0]["score"].update(score=0.0), "it was edited"),
        (lambda r: r["report"]["per_case"].pop(), "it was edited"),
        (lambda r: r["report"].update(scope="selected"), "it is not a full run"),
        (lambda r: r["report"].update(complete=False), "it is incomplete"),
    ],
)
def test_a_baseline_that_is_none_cannot_be_used(pinned, sides, damage, words):
    if isinstance(damage, bytes):
        pinned.write_bytes(damage)
    else:
        edit(pinned, damage)
    assert_unusable(judged(sides["strong"], pinned), words)


def assert_unusable(judgement, words):
    assert (judgement.exit_status, judgement.decision.outcome) == (1, "hold")
    assert reasons(judgement) == ["baseline_mismatch"]
    assert words in remark(judgement, "baseline_mismatch")


def test_a_baseline_that_is_a_folder_cannot_be_used(pinned, sides):
    pinned.unlink()
    pinned.mkdir()
    assert_unusable(judged(sides["strong"], pinned), "cannot be read: ")


def test_a_baseline_that_is_a_dangling_link_is_not_taken_for_absent(pinned, sides):
    pinned.unlink()
    pinned.symlink_to("gone.json")
    assert judged(sides["strong"], pinned).exit_status != 0


def test_a_baseline_that_says_complete_with_a_case_not_run_is_a_mismatch(graded):
    graded.rubric(f'if case.case_id == "02": raise ValueError\n{dedent(GRADED)}')
    edit(pin(graded, weak), lambda record: record["report"].update(complete=True))
    run = graded.run(system=weak, baseline="auto")
    assert "baseline_mismatch" in reasons(run.judgement)


# Mismatches


def test_a_baseline_of_another_class_is_a_mismatch(pinned, sides):
    baseline = read_baseline(pinned)
    mirror = replace(baseline, report=baseline.report.model_copy(update={"task_class": "mirror"}))
    choice = choose_baseline("auto", pinned.parent)
    policy, report = make_policy({}), sides["strong"]
    judgement = judge(run_of(report, choice, mirror, policy))
    assert (judgement.exit_status, reasons(judgement)) == (HELD, ["baseline_mismatch"])
    message = remark(judgement, "baseline_mismatch")
    assert "its task class is 'mirror', not 'echo'" in message


def test_another_scoring_hook_is_a_mismatch(pinned, sides):
    """What a hook scores has a digest of its own, and the rubric is as it was."""
    report = sides["strong"]
    hooked = report.digests.model_copy(update={"scorer": "0" * 64})
    judgement = judged(report.model_copy(update={"digests": hooked}), pinned)
    assert (judgement.exit_status, reasons(judgement)) == (HELD, ["baseline_mismatch"])
    assert "its rubric differs: " in remark(judgement, "baseline_mismatch")


def assert_mismatch(graded, words):
    run = graded.run(system=strong, baseline="auto")
    assert (run.exit_status, run.judgement.decision.outcome) == (HELD, "hold")
    assert reasons(run.judgement) == ["baseline_mismatch"]
    for word in words:
        assert word in remark(run.judgement, "baseline_mismatch")
    assert evidence(run) == {"promotion"}
    assert validate_file(run.published.folder / "record.json") == "record"


def changed_file(name):
    return lambda graded: graded.write(f"cases/05/{name}", "changed")


def changed_rubric(graded):
    graded.rubric(f"# changed\n{dedent(GRADED)}")


def all_at_once(graded):
    graded.case("13")
    changed_file("input/question.txt")(graded)
    changed_rubric(graded)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda graded: shutil.rmtree(graded.path / "cases/05"),
            ["cases only in the baseline: 05"],
        ),
        (changed_file("input/question.txt"), ["cases changed since: 05"]),
        (changed_file("expected/answer.txt"), ["cases changed since: 05"]),
        (changed_file("input/more.txt"), ["cases changed since: 05"]),
        (lambda graded: graded.case("05", extra="[facts]\nnew = 1"), ["cases changed since: 05"]),
        (changed_rubric, ["its rubric differs: "]),
        (
            all_at_once,
            ["cases changed since: 05", "its rubric differs: "],
        ),
    ],
)
def test_what_differs_from_the_baseline_is_named(graded, change, words):
    change(graded)
    assert_mismatch(graded, words)


def test_new_dates_alone_are_no_mismatch(graded):
    graded.case("05", last_validated_at="2026-11-20T00:00:00Z")
    run = graded.run(system=strong, baseline="auto")
    assert run.judgement.decision.outcome == "promote"


def test_a_changed_taxonomy_is_no_mismatch_but_is_digested(graded):
    before = json.loads((graded.path / "baseline.json").read_bytes())["report"]["digests"]
    with (graded.path / "failure_modes.toml").open("a") as file:
        file.write('[failure_modes.more]\nseverity = "info"\ndescription = "x"\n')
    run = graded.run(system=strong, baseline="auto")
    assert run.judgement.decision.outcome == "promote"
    assert run.judgement.report.digests.taxonomy != before["taxonomy"]


# A part of the cases


@pytest.mark.parametrize("asked", ["pinned", "path", "auto"])
def test_a_part_that_was_asked_to_be_gated_fails(graded, asked):
    if asked == "path":
        asked = str(graded.path / "baseline.json")
    run = graded.run(system=weak, case_filter="02", baseline=asked)
    assert run.judgement.decision is None
    assert graded.selected()["scope"] == "selected"
    assert not (graded.out / "runs").exists()
    if asked == "auto":
        assert (run.exit_status, run.failures) == (0, [])
        return
    assert run.exit_status == 1
    (why,) = run.failures
    assert why.startswith("a gate was asked for, but only a part of the cases was selected: ")


# Policy


def test_a_policy_option_overrides_the_policy_of_the_class(graded):
    graded.write("gate.toml", "min_delta = 0.95\n")
    run = graded.run(system=strong, baseline="auto")
    assert reasons(run.judgement) == ["delta_below_minimum"]
    assert graded.record()["policy"]["min_delta"] == 0.95
    policy = {"min_delta": 0.5, "test": "auto"}
    run = graded.run(system=strong, baseline="auto", policy=policy)
    assert run.judgement.decision.outcome == "promote"
    assert graded.record()["policy"]["min_delta"] == 0.5
    assert read(run, "significance")["significance"]["test"] == "paired"


def test_the_policy_is_digested_into_the_plan(graded):
    before = graded.run(system=weak, baseline="auto").judgement.report
    after = graded.run(system=weak, baseline="auto", policy={"alpha": 0.01}).judgement.report
    assert before.digests.policy != after.digests.policy
    assert before.plan_id != after.plan_id
    assert before.run_id == after.run_id


@pytest.mark.parametrize(
    ("option", "reason"),
    [
        ("min_delta", r"min_delta: expected KEY=VALUE"),
        ("min_dleta=0.1", r"min_dleta: unknown key; did you mean 'min_delta'\?"),
        ("alpha=2", r"alpha: .*less than 1"),
        ("alpha=nan", r"alpha: "),
        ("alpha='0.05'", r"alpha: .*valid number"),
        ("test=guess", r"test: Input should be 'welch', 'auto' or 'paired'"),
        ("min_cases=1", r"min_cases: .*greater than or equal to 2"),
        ("score_range=[1, 0]", r"score_range must be \[low, high\]"),
        ("max_safety_regression=-1", r"max_safety_regression: "),
    ],
)
def test_a_policy_option_that_does_not_hold_is_wrong_use(option, reason):
    with pytest.raises(PolicyError, match=reason):
        make_policy(parse_options([option]))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("alpha = ", r"bench/echo/gate\.toml:1: "),
        ("alhpa = 0.1", r"bench/echo/gate\.toml:1: alhpa: unknown key; did you mean 'alpha'\?"),
    ],
)
def test_a_gate_file_that_does_not_hold_is_wrong_use(echo, text, reason):
    echo.write("gate.toml", text)
    with pytest.raises(EvalError, match=reason):
        echo.run()
    assert echo.calls == []


def test_all_that_is_wrong_with_the_files_of_a_class_is_told_at_once(echo, capsys):
    echo.write("registration.py", "1 / 0\n")
    echo.write("failure_modes.toml", '[failure_modes.wrong]\nseverty = "warn"\n')
    echo.write("gate.toml", "alpha = 2\n\nmin_dleta = 0.1\n")
    assert main(["run", "--task-class=echo", f"--bench-root={echo.path.parent}"]) == 2
    told = capsys.readouterr().err
    for line in (
        "registration.py: ZeroDivisionError",
        "failure_modes.toml:1: failure_modes.wrong.description: missing",
        "failure_modes.toml:2: failure_modes.wrong.severty: unknown key; did you mean 'severity'?",
        "gate.toml:1: alpha: Input should be less than 1; found 2",
        "gate.toml:3: min_dleta: unknown key; did you mean 'min_delta'?",
    ):
        assert line in told


# Severities


@pytest.mark.parametrize(
    "table",
    [
        'rubric_error]\nseverity = "warn"',
        'input_modified]\nseverity = "info"',
        'timeout]\nseverity = "info"',
    ],
)
def test_a_class_may_not_lower_a_code_of_the_harness(echo, table):
    echo.write("failure_modes.toml", f'[failure_modes.{table}\ndescription = "x"\n')
    with pytest.raises(EvalError, match=r"failure_modes\.toml:1: .*reserved for the harness"):
        echo.run()


def test_a_blocking_failure_mode_rejects_and_fails_whatever_the_score(graded):
    with (graded.path / "failure_modes.toml").open("a") as file:
        file.write('[failure_modes.harm]\nseverity = "block"\ndescription = "x"\n')
    graded.rubric(
        'harm = ["harm"] if case.case_id == "02" and output["answer"] > 0.5 else []\n'
        'return BenchScore(passed=True, score=output["answer"], failure_modes=harm, safety_penalty=0.0)'
    )
    pin(graded, weak)
    for rule in ("strict", "gate"):
        run = graded.run(system=strong, baseline="auto", exit_rule=rule)
        assert (run.exit_status, run.judgement.decision.outcome) == (1, "reject")
        assert reasons(run.judgement) == ["block_severity_failure_mode"]


def test_a_class_may_raise_harness_errors_to_block(echo):
    with (echo.path / "failure_modes.toml").open("a") as file:
        file.write('[failure_modes.harness_error]\nseverity = "block"\ndescription = "x"\n')
    echo.instead["02"] = ValueError()
    run = echo.run(exit_rule="gate")
    assert run.exit_status == 1
    assert run.judgement.report.block_severity_failure_modes == ("harness_error",)


def test_a_gate_that_failed_has_failed_however_often_the_run_is_judged(graded):
    def crashes(report, baseline):
        raise ValueError("boom")

    made = graded.run(system=strong, baseline="auto").judgement
    first = judge(replace(made.run, exit_rule="strict"), gates=[crashes])
    again = first.at(RecordedLook(number=2, series="0" * 64, known_by="name"))
    assert first.exit_status == again.exit_status == 1
    assert first.failures == again.failures
    assert reasons(again) == ["gate:crashes"]


def _fails(*_):
    pytest.fail("no")


def _exits(*_):
    raise SystemExit(0)


@pytest.mark.parametrize(
    ("gate", "objection"),
    [
        (lambda report, before: f"{before.system}, {report.system}", "weak, strong"),
        (lambda *_: 0, "0"),
        (lambda *_: 1 / 0, "the gate failed: ZeroDivisionError: "),
        (_exits, "the gate failed: SystemExit: 0"),
        (_fails, "the gate failed: Failed: no"),
        (lambda: None, "the gate failed: TypeError: "),
    ],
)
def test_a_further_gate_that_objects_or_breaks_holds(pinned, sides, gate, objection):
    made = judged(sides["strong"], pinned)
    assert made.decision.outcome == "promote"
    judgement = judge(replace(made.run, exit_rule="gate"), gates=[gate])
    (said,) = judgement.run.facts.objections
    assert said.gate == gate.__name__
    assert said.text.startswith(objection)
    assert (judgement.decision.outcome, len(judgement.decision.reason_codes)) == ("hold", 1)
    assert judgement.decision.reason_codes[0].endswith(f"gate:{said.gate}")
    assert judgement.exit_status == (1 if judgement.broken else 10)
    assert bool(judgement.broken) is objection.startswith("the gate failed")
    assert len({*judgement.failures}) == len(judgement.failures)
