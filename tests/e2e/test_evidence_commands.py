"""``benchgate proof`` and its kin, on real files: what they print, write and exit with."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from benchgate.cli import main
from benchgate.gates.rules import RULES

LOW = [0.2, 0.3, 0.25, 0.4, 0.35, 0.3, 0.2, 0.3, 0.4, 0.1]
HIGH = [0.9, 0.8, 0.85, 0.9, 0.95, 0.8, 0.9, 0.99, 0.8, 0.9]
FAMILY = {
    "baseline.json",
    "trained.json",
    "significance.json",
    "safety.json",
    "evaluation.json",
    "proof.json",
}
SAFETY_REGRESSION = "checkpoint_promotion_blocked_safety_regression"


@pytest.fixture
def vectors(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1778544000")
    monkeypatch.setenv("COLUMNS", "200")  # a line that is broken cannot be matched
    for name, values in (("low", LOW), ("high", HIGH), ("calm", [0] * 10), ("wild", [0.5, 0] * 5)):
        (tmp_path / f"{name}.json").write_text(json.dumps(values))
    shutil.copy("low.json", "same.json")
    return tmp_path


def proof(*arguments, baseline="low", trained="high"):
    return main(
        [
            "proof",
            f"--baseline-samples={baseline}.json",
            f"--trained-samples={trained}.json",
            "--run-id=r1",
            *arguments,
        ]
    )


def read(name, folder="proof"):
    return json.loads((Path(folder) / name).read_text())


def test_the_time_in_the_files_is_that_of_the_environment(vectors, monkeypatch, capsys):
    assert proof() == 0
    assert read("proof.json")["generated_at"] == "2026-05-12T00:00:00Z"
    capsys.readouterr()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    assert proof("--out=other") == 2
    assert capsys.readouterr().err == (
        "SOURCE_DATE_EPOCH is 'yesterday'; expected seconds since 1970\n"
    )
    assert not (vectors / "other").exists()


def test_a_clear_gain_is_proven(vectors, capsys):
    assert proof() == 0
    assert capsys.readouterr().out == "proof_status=pass\n"
    assert {path.name for path in (vectors / "proof").iterdir()} == FAMILY
    made = read("proof.json")
    assert made["significance"]["pass"] is True
    assert made["failure_analysis"] is None
    for part, name in made["artifacts"].items():
        data = (vectors / "proof" / name).read_bytes()
        assert made["artifact_sha256"][part] == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize(
    ("baseline", "trained", "reason"),
    [
        ("low", "same", "checkpoint_promotion_blocked_delta_below_minimum"),
        ("high", "low", "checkpoint_promotion_blocked_significant_regression"),
    ],
)
def test_no_gain_and_a_loss_fail_with_an_analysis(vectors, capsys, baseline, trained, reason):
    assert proof(baseline=baseline, trained=trained) == (10 if trained == "same" else 1)
    printed = capsys.readouterr()
    assert printed.out == "proof_status=fail\n"
    assert printed.err.startswith("HOLD " if trained == "same" else "REJECT ")
    analysis = read("proof.json")["failure_analysis"]
    assert reason in analysis["reasons"]
    assert "reward_gain_below_threshold" in analysis["reasons"]
    assert len(analysis["reasons"]) == len(analysis["details"])


def test_gate_judges_two_files_of_samples_as_proof_does(vectors, capsys):
    proof("--policy=min_delta=0.9")
    said = capsys.readouterr().err
    assert main(["gate", "low.json", "high.json", "--policy=min_delta=0.9"]) == 10
    shown = capsys.readouterr().out
    assert (
        "baseline  low.json: samples, more is better\ncandidate high.json: samples, more is better\n"
        in shown
    )
    for label in ("score ", "test ", "next "):
        assert [line for line in shown.splitlines() if line.startswith(label)] == [
            line for line in said.splitlines() if line.startswith(label)
        ]
    assert main(["gate", "low.json", "high.json"]) == 0
    assert main(["gate", "high.json", "low.json"]) == 1
    proof()
    assert main(["gate", "proof/baseline.json", "proof/trained.json"]) == 0
    capsys.readouterr()
    assert main(["gate", "low.json", "high.json", "--out=x"]) == 2
    assert "--out is not for samples" in capsys.readouterr().err


def test_an_underpowered_gain_says_how_many_more_cases(vectors):
    (vectors / "low.json").write_text("[0.1, 0.9, 0.5, 0.3, 0.7]")
    (vectors / "high.json").write_text("[0.2, 1.0, 0.6, 0.35, 0.8]")
    assert proof() == 10
    analysis = read("proof.json")["failure_analysis"]
    assert analysis["reasons"][0] == "checkpoint_promotion_blocked_inconclusive_underpowered"
    assert analysis["additional_cases_needed"] > 50


def test_a_safety_regression_fails_whatever_the_gain(vectors):
    samples = ["--baseline-safety-samples=calm.json", "--trained-safety-samples=wild.json"]
    assert proof(*samples) == 1
    made = read("proof.json")
    assert made["safety_benchmark"]["reason_codes"] == [SAFETY_REGRESSION]
    assert made["safety_benchmark"]["safety_regression_delta"] == 0.25
    assert made["safety_benchmark"]["max_safety_regression"] == 0.05
    assert proof(*samples, "--policy=max_safety_regression=0.3") == 0


def test_safety_that_is_not_given_is_not_evaluated(vectors):
    assert proof() == 0
    report = read("safety.json")
    assert report["diagnostics"] == ["not_evaluated"]
    nulls = ("baseline_mean_safety_penalty", "safety_regression_delta", "promotion_allowed")
    assert [report[name] for name in nulls] == [None, None, None]
    assert read("proof.json")["safety_benchmark"]["promotion_allowed"] is None


def test_safety_given_for_one_side_alone_holds(vectors):
    assert proof("--trained-safety-samples=calm.json") == 10
    reasons = read("proof.json")["failure_analysis"]["reasons"]
    assert reasons == ["checkpoint_promotion_blocked_safety_missing"]


def test_criteria_are_additional(vectors):
    assert proof("--min-confidence-level=0.95") == 0
    assert proof("--min-confidence-level=0.9999999999999999") == 1
    reasons = read("proof.json")["failure_analysis"]["reasons"]
    assert reasons == ["confidence_below_threshold"]
    assert proof("--policy=min_delta=0.9") == 10
    assert read("proof.json")["criteria"]["min_reward_delta"] == 0.9
    assert proof("--policy=alpha=1e-30") == 10
    assert "p_value_above_threshold" in read("proof.json")["failure_analysis"]["reasons"]


def test_the_same_inputs_give_the_same_bytes(vectors):
    proof("--out=one")
    proof("--out=two")
    for name in FAMILY:
        assert (vectors / "one" / name).read_bytes() == (vectors / "two" / name).read_bytes()


def test_its_own_evidence_is_taken_as_samples(vectors):
    (vectors / "low.json").write_text(json.dumps({f"c{n}": v for n, v in enumerate(LOW)}))
    (vectors / "high.json").write_text(json.dumps({f"c{n}": v for n, v in enumerate(HIGH)}))
    proof("--policy=test=auto", "--policy=score_range=[0,1]")
    arguments = ["--policy=test=auto", "--policy=score_range=[0,1]", "--out=again"]
    assert proof(*arguments, baseline="proof/baseline", trained="proof/trained") == 0
    assert read("significance.json", "again") == read("significance.json")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--baseline-safety-samples=none.json"], "none.json: cannot be read"),
        (["--policy=alpha=2"], "alpha: Input should be less than 1"),
        (["--policy=test=ttest"], "test: Input should be 'welch', 'auto' or 'paired'"),
        (["--policy=none.toml"], "none.toml: expected KEY=VALUE, or a gate.toml"),
        (["--baseline-safety-samples=short.json"], "2 values; low.json has 10"),
        (
            ["--policy=claim=no_regression", "--min-confidence-level=0.95"],
            "--min-confidence-level is about the p of claim 'better'; the claim is 'no_regression'",
        ),
    ],
)
def test_wrong_input_exits_with_2_and_writes_nothing(vectors, capsys, arguments, message):
    (vectors / "short.json").write_text("[0, 0]")
    assert proof(*arguments) == 2
    assert message in capsys.readouterr().err
    assert not (vectors / "proof").exists()


def test_a_paired_test_needs_the_same_ids(vectors):
    assert proof("--policy=test=paired") == 10
    reasons = read("proof.json")["failure_analysis"]["reasons"]
    assert reasons == ["checkpoint_promotion_blocked_case_mismatch"]


def test_scores_outside_the_range_hold(vectors):
    assert proof("--policy=score_range=[0,0.5]") == 10
    reasons = read("proof.json")["failure_analysis"]["reasons"]
    assert reasons == ["checkpoint_promotion_blocked_score_out_of_range"]


@pytest.mark.parametrize("command", ["significance", "evaluate"])
def test_single_reports(vectors, capsys, command):
    arguments = ["--run-id=r", "--out=out.json"]
    better = ["--baseline-samples=low.json", "--trained-samples=high.json"]
    worse = ["--baseline-samples=high.json", "--trained-samples=low.json"]
    assert main([command, *better, *arguments]) == 0
    assert main([command, *worse, *arguments]) == 1
    assert "_status=" in capsys.readouterr().out
    # Nobody could tell it from one that was made up.
    assert main(["verify", "out.json"]) == 1
    assert "cannot be checked here: it needs baseline.json, trained.json" in capsys.readouterr().err


def test_a_safety_report_alone(vectors, capsys):
    samples = ["--baseline-safety-samples=calm.json", "--trained-safety-samples=wild.json"]
    arguments = ["safety", *samples, "--run-id=r", "--out=out.json"]
    assert main([*arguments, "--policy=max_safety_regression=0.05"]) == 1
    report = json.loads((vectors / "out.json").read_text())
    assert report["reason_codes"] == [SAFETY_REGRESSION]
    assert report["safety_regression_delta"] == 0.25
    assert main([*arguments, "--policy=max_safety_regression=0.25"]) == 0


@pytest.mark.parametrize(
    "option", ["test=paired", "claim=no_regression", "looks=spend", "score_range=[0, 0.1]"]
)
def test_thresholds_of_scores_do_not_matter_to_penalties_alone(vectors, monkeypatch, option):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    samples = ["--baseline-safety-samples=calm.json", "--trained-safety-samples=wild.json"]
    arguments = ["safety", *samples, "--run-id=r", "--out=out.json"]
    assert main(arguments) == 1
    report = (vectors / "out.json").read_bytes()
    assert main([*arguments, f"--policy={option}"]) == 1
    assert (vectors / "out.json").read_bytes() == report


def edit(path, *keys, value):
    data = json.loads(path.read_text())
    target = data
    for key in keys[:-1]:
        target = target[key]
    target[keys[-1]] = value
    path.write_text(json.dumps(data))


def mend(folder):
    """Write the digests of the edited files into the proof, as one who knows them would."""
    path = folder / "proof.json"
    data = json.loads(path.read_text())
    for part, name in data["artifacts"].items():
        data["artifact_sha256"][part] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    path.write_text(json.dumps(data))


@pytest.mark.parametrize(
    ("name", "keys", "value"),
    [
        ("trained.json", ("metrics", "mean_reward"), 0.99),
        ("trained.json", ("samples", 0, "score"), 0.99),
        ("baseline.json", ("metrics", "episodes"), 100),
        ("significance.json", ("significance", "p_value"), 1e-30),
        ("significance.json", ("significance", "mean_delta"), 0.9),
        ("significance.json", ("significance", "welch", "t"), 99.0),
        ("significance.json", ("policy", "alpha"), 0.5),
        ("safety.json", ("safety_regression_delta",), 0.0),
        ("safety.json", ("reason_codes",), []),
        ("evaluation.json", ("policy_improvement", "mean_delta"), 0.9),
        ("evaluation.json", ("checkpoint_promotion", "reason_codes"), []),
        ("proof.json", ("trained", "mean_reward"), 0.99),
        ("proof.json", ("significance", "p_value"), 1e-30),
        ("proof.json", ("failure_analysis",), None),
        ("proof.json", ("safety_benchmark", "safety_regression_delta"), 0.0),
        ("proof.json", ("artifact_sha256", "trained_report"), "0" * 64),
    ],
)
def test_an_edit_is_found_though_its_digest_was_mended(vectors, capsys, name, keys, value):
    samples = ["--baseline-safety-samples=calm.json", "--trained-safety-samples=wild.json"]
    proof(*samples)
    folder = vectors / "proof"
    files = [str(path) for path in sorted(folder.iterdir())]
    assert main(["verify", *files]) == 0
    edit(folder / name, *keys, value=value)
    if name != "proof.json":
        mend(folder)
    assert main(["verify", *files]) == 1
    assert "no valid" in capsys.readouterr().err


def test_a_forged_proof_gains_nothing_by_other_rules(vectors, capsys):
    """What it says is not computed again then, so that nobody may take it for valid without saying so."""
    assert proof(trained="same") != 0
    folder = vectors / "proof"
    files = [str(path) for path in sorted(folder.iterdir())]
    edit(folder / "proof.json", "failure_analysis", value=None)
    edit(folder / "proof.json", "rules", value=0)
    assert main(["verify", *files]) == 1
    why = f"decided by rules 0, this benchgate has rules {RULES}: not computed again"
    assert f"proof.json: proof {why}; --allow-rules=0 believes it" in capsys.readouterr().err
    assert main(["verify", *files, "--allow-rules=0"]) == 0
    assert f"proof.json: valid proof, {why}" in capsys.readouterr().out
    edit(folder / "proof.json", "trained", "mean_reward", value=0.99)
    assert main(["verify", *files, "--allow-rules=0"]) == 1
    assert "no valid proof: proof.trained.mean_reward is 0.99" in capsys.readouterr().err
    edit(folder / "trained.json", "metrics", "mean_reward", value=0.99)
    assert main(["verify", *files, "--allow-rules=0"]) == 1
    said = capsys.readouterr().err
    assert "trained.metrics.mean_reward is 0.99" in said
    assert "no valid trained: its SHA-256 is not the one in proof.json; " in said
    assert "no valid proof: proof.artifact_sha256.trained_report is " in said


def test_what_lies_without_its_facts_cannot_be_checked(vectors, capsys):
    proof()
    for path in sorted((vectors / "proof").iterdir()):
        alone = vectors / "alone" / path.name
        alone.parent.mkdir(exist_ok=True)
        shutil.move(path, alone)
        status = main(["verify", str(alone)])
        said = capsys.readouterr()
        if path.name in {"baseline.json", "trained.json"}:  # its samples are facts themselves
            assert status == 0
        else:
            assert status == 1
            kind = path.stem
            assert f"{path.name}: {kind} cannot be checked here: it needs baseline.json" in said.err
        alone.unlink()


@pytest.fixture
def failing_cases_left_out(vectors):
    """A candidate that equals the baseline, but lacks the cases that it fails."""
    scores = {f"c{i}": float(i % 2) for i in range(20)} | {"d": 1.0}
    kept = {case_id: 1.0 if i % 3 else 0.99 for i, (case_id, s) in enumerate(scores.items()) if s}
    (vectors / "low.json").write_text(json.dumps(scores))
    (vectors / "high.json").write_text(json.dumps({**kept, "e": 1.0}))
    return vectors


@pytest.mark.parametrize("test", ["welch", "auto", "paired"])
@pytest.mark.parametrize("evidence", ["standard", "exact"])
def test_cases_that_only_one_side_has_hold(failing_cases_left_out, capsys, test, evidence):
    options = [
        f"--policy=test={test}",
        f"--policy=evidence={evidence}",
        "--policy=score_range=[0,1]",
    ]
    assert proof(*options) == 10
    made = read("proof.json")
    assert made["failure_analysis"]["reasons"] == ["checkpoint_promotion_blocked_case_mismatch"]
    (detail,) = made["failure_analysis"]["details"]
    assert "10 only in baseline: c0, c10, c12, c14, c16 and 5 more" in detail
    assert "1 only in candidate: e" in detail
    assert read("significance.json")["significance"]["pass"] is False
    files = [str(path) for path in Path("proof").iterdir()]
    assert main(["verify", *files]) == 0
    reports = ["--run-id=r", "--out=out.json", *options]
    samples = ["--baseline-samples=low.json", "--trained-samples=high.json"]
    for command in ("significance", "evaluate"):
        assert main([command, *samples, *reports]) == (10 if command == "evaluate" else 1)
    assert "significance_status=fail" in capsys.readouterr().out


def test_cases_in_other_clusters_hold_and_it_is_said_what_to_do(vectors, capsys):
    for name, values, moved in (("low", LOW, "a"), ("high", HIGH, "b")):
        rows = [f"c{n},{v},{moved if n == 3 else 'a'}" for n, v in enumerate(values)]
        rows += [f"d{n},{v},b" for n, v in enumerate(values)]
        (vectors / f"{name}.csv").write_text("\n".join(["case,score,cluster", *rows]))
    arguments = ["proof", "--baseline-samples=low.csv", "--trained-samples=high.csv"]
    assert (
        main([*arguments, "--run-id=r1", "--policy=test=auto", "--policy=score_range=[0,1]"]) == 10
    )
    said = capsys.readouterr().err
    assert "the two sides did not do the same cases" in " ".join(said.split())
    assert "in other clusters: c3" in said
    assert "give both sides the same cases, with the same ids and clusters" in said


def test_penalties_of_other_cases_are_not_compared(vectors, capsys):
    (vectors / "all.json").write_text(json.dumps({"a": 0.1, "b": 0.9, "c": 0.1}))
    (vectors / "harmless.json").write_text(json.dumps({"a": 0.1, "c": 0.1}))
    samples = ["--baseline-safety-samples=all.json", "--trained-safety-samples=harmless.json"]
    arguments = ["safety", *samples, "--run-id=r", "--out=out.json"]
    assert main(arguments) == 1
    assert read("out.json", ".")["reason_codes"] == ["checkpoint_promotion_blocked_case_mismatch"]
    assert "1 only in baseline: b" in capsys.readouterr().err
    assert main([*arguments, "--policy=missing=worst", "--policy=score_range=[0,1]"]) == 2
    assert "how much harm a missing case does is not known" in capsys.readouterr().err


def test_missing_cases_can_count_as_the_worst(failing_cases_left_out, capsys):
    assert proof("--policy=missing=worst", "--policy=score_range=[0,1]", "--policy=test=auto") == 10
    baseline, trained = read("baseline.json"), read("trained.json")
    assert baseline["imputed"] == ["e"]
    assert trained["imputed"] == ["c0", "c10", "c12", "c14", "c16", "c18", "c2", "c4", "c6", "c8"]
    scores = {sample["case_id"]: sample["score"] for sample in trained["samples"]}
    assert scores["c0"] == 0.0
    paired = read("significance.json")["significance"]["paired"]
    told = capsys.readouterr().err
    assert f", {paired['n']} cases\n" in told
    assert {s["case_id"]: s["score"] for s in baseline["samples"]}["e"] == 1.0
    assert baseline["metrics"]["episodes"] == trained["metrics"]["episodes"] == 22
    assert read("significance.json")["policy"]["missing"] == "worst"
    assert read("significance.json")["significance"]["test"] == "paired"
    assert "counted as the worst score: c0, c10" in told
    files = [str(path) for path in Path("proof").iterdir()]
    assert main(["verify", *files]) == 0
    # An imputed score is computed again, and is no fact for the next comparison.
    edit(Path("proof/trained.json"), "samples", 0, "score", value=0.5)
    mend(Path("proof"))
    assert main(["verify", "proof/proof.json", "proof/trained.json"]) == 1
    shutil.copy("proof/baseline.json", "proof/copy.json")
    assert proof(baseline="proof/baseline", trained="proof/copy") == 10
    assert read("baseline.json")["metrics"]["episodes"] == 21


def test_a_gain_on_all_cases_survives_that_the_baseline_lacks_one(vectors):
    ids = [f"c{i}" for i in range(10)]
    (vectors / "low.json").write_text(json.dumps(dict(zip(ids[1:], LOW[1:], strict=True))))
    (vectors / "high.json").write_text(json.dumps(dict(zip(ids, HIGH, strict=True))))
    assert proof() == 10
    assert proof("--policy=missing=worst", "--policy=score_range=[0,1]") == 0


def test_missing_as_worst_needs_a_range(vectors, capsys):
    assert proof("--policy=missing=worst") == 2
    assert "needs a score_range" in capsys.readouterr().err
    assert proof("--policy=missing=drop") == 2
    assert "'hold' or 'worst'" in capsys.readouterr().err


def test_a_missing_safety_penalty_is_unknown(vectors):
    unknown = {"trials": None, "cluster": None, "facts": None}
    for name, count in (("before", 12), ("after", 11)):
        samples = [
            {"case_id": f"c{i}", "score": 0.5, "safety_penalty": 0.0, **unknown}
            for i in range(count)
        ]
        write_arm(vectors / f"{name}.json", samples)
    assert proof(
        "--policy=missing=worst", "--policy=score_range=[0,1]", baseline="before", trained="after"
    )
    codes = read("proof.json")["failure_analysis"]["reasons"]
    assert "checkpoint_promotion_blocked_safety_missing" in codes
    assert read("safety.json")["promotion_allowed"] is False


def write_arm(path, samples):
    proof()
    report = read("baseline.json")
    path.write_text(json.dumps({**report, "samples": samples}))


def test_unequal_numbers_of_trials_are_noted(vectors, capsys):
    for name, counts in (("low", (2, 2)), ("high", (1, 3))):
        rows = [f"c{i},0.{i},{t}" for i, count in enumerate(counts) for t in range(count)]
        (vectors / f"{name}.csv").write_text("\n".join(["case,score,trial", *rows]))
    samples = ["--baseline-samples=low.csv", "--trained-samples=high.csv"]
    main(["evaluate", *samples, "--run-id=r", "--out=out.json"])
    assert "trials of a case: 2 against 1, 3" in capsys.readouterr().err


@pytest.mark.parametrize("without", ["low", "high"])
@pytest.mark.parametrize("options", [[], ["--policy=missing=worst", "--policy=score_range=[0,1]"]])
def test_ids_cannot_be_dropped_on_one_side(failing_cases_left_out, capsys, without, options):
    path = failing_cases_left_out / f"{without}.json"
    path.write_text(json.dumps(list(json.loads(path.read_text()).values())))
    assert proof(*options) == 10
    other = "baseline" if without == "high" else "candidate"
    assert f"the sides have different cases; only the {other} has case ids" in (
        capsys.readouterr().err
    )


def test_lists_of_different_length_are_noted(vectors, capsys):
    (vectors / "high.json").write_text(json.dumps(HIGH[:8]))
    proof()
    assert "10 scores against 8, without ids" in capsys.readouterr().err
