"""What speaks against a run stays with the baseline that it becomes, and with what that is extended to."""

from __future__ import annotations

import hashlib
import json
import shutil

import pytest

from benchgate.check.pinned import pin_of
from benchgate.cli import main
from benchgate.training.checkpoints import CheckpointFiles
from tests.engine.test_extend import Pinned, again

HARMFUL = """
    if case.case_id == "02":
        return {"answer": "no"}
"""


@pytest.fixture
def pinned(echo, capsys, monkeypatch):
    monkeypatch.setenv("BENCHGATE_ACTOR", "ada")
    monkeypatch.setenv("COLUMNS", "400")  # lines that are cut cannot be matched
    return Pinned(echo, capsys, {})


def shown(pinned):
    return pinned.main("runs", "--deployed").out


def rejected(pinned):
    """Pin a run that the gate rejected, by force."""
    pinned.echo.system(HARMFUL)
    assert pinned.main("run", "--trials=2", "--policy=claim=no_regression").status == 1
    assert pinned.main("pin", "2", "--yes").status == 1
    assert pinned.main("pin", "2", "--yes", "--reason=it runs today").status == 0
    pinned.calls()
    return pin_of(pinned.echo.path)


def test_an_extension_of_a_rejected_baseline_says_so_and_asks_for_a_reason(pinned, monkeypatch):
    before = rejected(pinned)
    runs = sorted(pinned.echo.out.glob("runs/echo/0*"))
    pinned.echo.case("04")
    monkeypatch.setenv("BENCHGATE_ACTOR", "bob")
    done = pinned.extend()
    assert (done.status, pin_of(pinned.echo.path)) == (0, before)
    assert "is pinned with --reason=TEXT only: the gate rejected it" in done.err
    done = pinned.extend("--yes")
    assert done.status == 1
    assert sorted(pinned.echo.out.glob("runs/echo/0*")) == runs  # nothing was paid for in vain
    done = pinned.extend("--yes", "--reason=one case more")
    assert (done.status, done.err) == (0, "")
    assert "gate reject, extended by 1 case\n" in done.out
    pin = pin_of(pinned.echo.path)
    assert (pin.outcome, pin.by, pin.reason) == ("hold", "bob", "one case more")
    [part] = pin.extends
    assert (part.sha256, part.outcome, part.added) == (before.sha256, "reject", 1)
    assert (part.by, part.at, part.reason) == (before.by, before.at, "it runs today")
    text = shown(pinned)
    assert "reason    one case more\n" in text
    assert f"extends   reject, {before.at:%Y-%m-%d %H:%M} UTC, by ada: it runs today\n" in text
    assert "gate reject, extended by 1 case\n" in text
    assert "gate hold" not in text


def test_a_rejection_is_not_lost_by_extending_twice_nor_by_pinning_the_number(pinned):
    rejected(pinned)
    for case_id in ("04", "05"):
        pinned.echo.case(case_id)
        assert pinned.extend("--yes", f"--reason=with {case_id}").status == 0
    pins = pin_of(pinned.echo.path).extends
    assert [(one.outcome, one.reason, one.added) for one in pins] == [
        ("reject", "it runs today", 1),
        ("hold", "with 04", 1),
    ]
    assert "gate reject, extended by 2 cases\n" in shown(pinned)
    for name in ("baseline.json", "baseline.pin.json"):
        (pinned.echo.path / name).unlink()
    done = pinned.main("pin", "4", "--yes")
    assert done.status == 1
    assert "--reason=TEXT only: it extends run 2: the gate rejected it" in done.err
    assert pinned.main("pin", "4", "--yes", "--reason=all of it").status == 0
    first, _ = pin_of(pinned.echo.path).extends
    assert (first.outcome, first.by, first.at, first.reason) == ("reject", None, None, None)
    assert "extends   reject, pinned by hand\n" in shown(pinned)


def test_an_extension_of_a_promoted_baseline_asks_for_nothing(pinned):
    pinned.echo.system(HARMFUL.replace('"02"', '"01"'))
    again(pinned, "--baseline=none", number=2)
    shutil.rmtree(pinned.echo.path / "cases/04")
    pinned.echo.system()
    policy = ["--policy=claim=no_regression"]
    assert pinned.main("run", "--trials=2", *policy).status == 0
    assert pinned.main("pin", "3", "--yes").status == 0
    pinned.echo.case("04")
    done = pinned.extend("--yes")
    assert (done.status, done.err) == (0, "")
    assert "gate promote, extended by 1 case\n" in done.out
    pin = pin_of(pinned.echo.path)
    assert (pin.reason, [one.outcome for one in pin.extends]) == (None, ["promote"])
    assert "gate promote, extended by 1 case\n" in shown(pinned)


def test_a_pin_that_leaves_out_what_was_extended_is_of_another_record(pinned):
    rejected(pinned)
    pinned.echo.case("04")
    assert pinned.extend("--yes", "--reason=x").status == 0
    path = pinned.echo.path / "baseline.pin.json"
    assert main(["verify", str(path)]) == 0
    text = json.loads(path.read_text())
    del text["extends"]
    path.write_text(json.dumps(text))
    assert main(["verify", str(path)]) == 1
    assert pin_of(pinned.echo.path) is None
    assert "pinned by hand" in shown(pinned)


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def of_a_checkpoint(pinned, named: str):
    """Run a system that is handed ``these weights``, as that of a checkpoint ``late`` with other or the same ones."""
    echo = pinned.echo
    weights = echo.root / "weights.bin"
    weights.write_text("these weights")
    record = {
        "schema_version": 1,
        "created_at": "2026-05-12T00:00:00Z",
        "checkpoint_id": "late",
        "algorithm": "q-learning",
        "policy_version": "v2",
        "global_step": 100,
        "episode_count": 10,
        "mean_reward": 0.5,
        "artifact_uri": "file:weights.bin",
        "metadata": {"artifact_sha256": sha256(named)},
    }
    path = echo.root / "late.json"
    path.write_text(json.dumps(record))
    echo.system()
    module = echo.path / "system.py"
    line = f"import pathlib; system.checkpoint = pathlib.Path({str(weights)!r})"
    module.write_text(f"{module.read_text()}{line}\n")
    run = echo.engine(baseline="none", checkpoints=CheckpointFiles(checkpoint=path))
    return run.judgement.decision.reason_codes


def test_a_run_that_may_be_of_another_checkpoint_needs_a_reason(pinned):
    codes = of_a_checkpoint(pinned, "other weights")
    assert "checkpoint_promotion_blocked_checkpoint_mismatch" in codes
    done = pinned.main("pin", "2", "--yes")
    assert done.status == 1
    assert (
        "--reason=TEXT only: it was held, for its results may belong to another checkpoint: "
        in done.err
    )
    assert pinned.main("pin", "2", "--yes", "--reason=a test").status == 0
    text = shown(pinned)
    assert f"weights   checkpoint late, SHA-256 {sha256('other weights')}\n" in text
    assert f"          but its system was handed SHA-256 {sha256('these weights')}\n" in text


def test_what_was_handed_is_shown_if_nobody_named_it(pinned):
    pinned.echo.system()
    module = pinned.echo.path / "system.py"
    (pinned.echo.root / "weights.bin").write_text("these weights")
    weights = str(pinned.echo.root / "weights.bin")
    line = f"import pathlib; system.checkpoint = pathlib.Path({weights!r})"
    module.write_text(f"{module.read_text()}{line}\n")
    assert pinned.main("run", "--baseline=none").status == 0
    assert pinned.main("pin", "2", "--yes").status == 0
    assert (
        f"weights   SHA-256 {sha256('these weights')}, of no checkpoint that was named\n"
        in shown(pinned)
    )


def test_a_run_with_another_observer_needs_a_reason(echo, capsys):
    echo.observer()
    pinned = Pinned(echo, capsys, {})
    echo.observer("pass")
    assert pinned.main("run", "--trials=2").status == 10
    done = pinned.main("pin", "2", "--yes")
    assert done.status == 1
    assert "may belong to another observer: " in done.err
    assert pinned.main("pin", "2", "--yes", "--reason=a better judge").status == 0


def test_errors_of_what_is_pinned_are_said_and_what_follows(pinned):
    pinned.echo.system('if case.case_id == "01":\n    raise ValueError("no")')
    assert pinned.main("run", "--trials=2", "--baseline=none").status in {0, 10}
    done = pinned.main("pin", "2", "--yes")
    said = "errors    2 of 6 trials ended in harness_error (ValueError 2); allowed is a share of 0.05, or one"
    assert done.status == 0
    assert f"{said}: every run that is compared with it will be held\n" in done.out
    assert said in shown(pinned)
    run = pinned.echo.engine(baseline="auto", trials=2)
    codes = run.judgement.decision.reason_codes
    assert "checkpoint_promotion_blocked_too_many_unscored" in codes


def test_a_run_of_nothing_but_errors_is_not_pinned(pinned):
    pinned.echo.system('raise ValueError("no")')
    assert pinned.main("run", "--baseline=none").status in {0, 10}
    done = pinned.main("pin", "2", "--yes", "--reason=what runs today")
    assert done.status != 0
    assert "cannot be pinned: every trial ended in an error" in done.err


def test_one_error_is_said_and_nothing_follows(pinned):
    pinned.echo.system('if case.case_id == "01" and case.trial:\n    raise ValueError("no")')
    assert pinned.main("run", "--trials=2", "--baseline=none").status in {0, 10}
    done = pinned.main("pin", "2")
    assert (
        "errors    1 of 6 trials of the baseline have no score and count as 0, in the candidate's favour\n"
        in done.out
    )
    assert "will be held" not in done.out


def test_a_policy_that_changed_is_named_by_its_keys_and_severities_by_their_codes(pinned):
    pinned.echo.write("gate.toml", 'claim = "no_regression"\nmax_newly_failing = 1\n')
    block = '[failure_modes.wrong]\nseverity = "info"\ndescription = "-"\n'
    pinned.echo.write("failure_modes.toml", block)
    assert pinned.main("run", "--trials=2", "--baseline=none").status in {0, 10}
    lines = [line for line in pinned.main("pin", "2").out.splitlines() if " changed: " in line]
    assert lines == [
        "severity of wrong changed: warn, now info",
        "policy claim changed: better, now no_regression",
        "policy max_newly_failing changed: 0, now 1",
    ]
