"""Policies: defaults, files, options, and what they refuse."""

from __future__ import annotations

import pytest

from benchgate.errors import PolicyError
from benchgate.gates.policy import (
    LOG_DEFAULTS,
    VECTOR_DEFAULTS,
    GatePolicy,
    load_policy,
    make_policy,
    merged,
    parse_options,
    read_policy,
)


def test_defaults_of_the_contract():
    assert GatePolicy().model_dump(mode="json") == {
        "claim": "better",
        "margin": None,
        "tolerance": 0.0,
        "max_newly_failing": 0,
        "max_cost_increase": None,
        "alpha": 0.05,
        "test": "auto",
        "min_delta": 0.0,
        "min_cases": 10,
        "max_safety_regression": 0.05,
        "safety": "required",
        "safety_confidence": None,
        "score_range": [0.0, 1.0],
        "target_effect": 0.1,
        "evidence": "standard",
        "penalty_range": None,
        "missing": "hold",
        "max_unscored": 0.05,
        "baseline_errors": "both",
        "looks": "count",
    }


def test_thresholds_of_other_claims_are_not_in_charge():
    keys = {key for key, _ in GatePolicy(claim="not_worse", margin=0.1).in_charge()}
    assert set(GatePolicy.model_fields) - keys == {
        *("min_delta", "evidence", "tolerance", "max_newly_failing")
    }


def test_options_win_over_the_file(tmp_path):
    (tmp_path / "gate.toml").write_text('alpha = 0.01\ntest = "auto"\n')
    policy = load_policy(
        tmp_path, parse_options(["alpha=0.02", "score_range=[0, 2]", "safety=optional"])
    )
    assert (policy.alpha, policy.test, policy.width, policy.safety) == (
        0.02,
        "auto",
        2.0,
        "optional",
    )
    assert policy.digest != GatePolicy().digest


def test_a_file_among_the_options_stands_for_every_threshold(tmp_path):
    """In the place of the class's own file, and of the defaults of a door; pairs are laid over it."""
    path = tmp_path / "other.toml"
    path.write_text("alpha = 0.01\nmin_delta = 0.1\n[run]\ntrials = 3\n")
    (tmp_path / "gate.toml").write_text('alpha = 0.02\ntest = "auto"\nmin_cases = 5\n')
    alone = make_policy({"alpha": 0.01, "min_delta": 0.1})
    assert load_policy(tmp_path, parse_options([path])) == alone
    assert make_policy(merged(VECTOR_DEFAULTS, parse_options([str(path)]))) == alone
    for words in (["alpha=0.2", path], [path, "alpha=0.2"]):
        assert load_policy(tmp_path, parse_options(words)) == alone.model_copy(
            update={"alpha": 0.2}
        )
    of_log = parse_options([path], LOG_DEFAULTS)
    assert make_policy(of_log) == alone.model_copy(update={"safety": "optional"})
    other = parse_options([path, "claim=no_regression"])
    assert load_policy(tmp_path, other).min_delta == 0
    path.write_text("alpa = 0.1\n")
    with pytest.raises(PolicyError, match=r"other\.toml:1: alpa: unknown key"):
        parse_options([path])


def test_none_switches_an_optional_threshold_off(tmp_path):
    (tmp_path / "gate.toml").write_text("safety_confidence = 0.95\npenalty_range = [0, 1]\n")
    assert (
        load_policy(tmp_path, parse_options(["safety_confidence=none"])).safety_confidence is None
    )


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("alpa=0.1", "policy option: alpa: unknown key; did you mean 'alpha'?"),
        ("alpha=2", "policy option: alpha: Input should be less than 1"),
        ("alpha=nan", "policy option: alpha: Input should be less than 1|finite"),
        ("min_cases=true", "policy option: min_cases: Input should be a valid integer"),
        ("min_cases=1", "policy option: min_cases: Input should be greater than or equal to 2"),
        (
            "score_range=[1, 0]",
            "score_range must be .low, high. with low < high.*If less is better",
        ),
        (
            "penalty_range=[1, 0]",
            "penalty_range must be .low, high. with low < high; found .1.0, 0.0.$",
        ),
        ("test=ttest", "policy option: test: Input should be 'welch', 'auto' or 'paired'"),
        (
            "looks=spend:0",
            "policy option: looks: expected count, spend, or spend:K with K from 1 to 999999; found .spend:0.",
        ),
        ("alpha", "policy option: alpha: expected KEY=VALUE, or a gate.toml"),
    ],
)
def test_a_wrong_option_is_named(tmp_path, option, message):
    with pytest.raises(PolicyError, match=message):
        load_policy(tmp_path, parse_options([option]))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("alpha = ", "gate.toml:1: "),
        ("alpa = 0.1", "alpa: unknown key"),
        ('alpha = "0.1"', "alpha: "),
    ],
)
def test_a_wrong_file_is_named(tmp_path, text, message):
    path = tmp_path / "gate.toml"
    path.write_text(text)
    with pytest.raises(PolicyError, match=message) as caught:
        read_policy(path)
    assert str(path) in str(caught.value)


def test_a_file_that_was_asked_for_must_be_there(tmp_path):
    with pytest.raises(PolicyError, match="cannot be read: No such file"):
        read_policy(tmp_path / "gate.toml")
