"""Trials that ended in an error of the system: how many are allowed, and what a run says about them."""

from __future__ import annotations

import threading

import pytest

from benchgate.cli import main
from benchgate.wording import unscored

PREFIX = "checkpoint_promotion_blocked_"
GRADED = 'return BenchScore(passed=True, score=float(output["answer"]))'


class RateLimitError(Exception):
    """An error of a client's library that the system did not catch."""


@pytest.fixture
def graded(echo):
    """Forty cases whose score is what the system answers; too many errors are 3 and more."""
    for number in range(4, 41):
        echo.case(f"{number:02}")
    echo.rubric(GRADED)
    echo.write("gate.toml", 'safety = "optional"')
    return echo


def system(base, errors):
    """Return a system that answers from ``base`` on, and fails in the first cases."""

    def answer(case):
        number = int(case.case_id)
        if number <= errors:
            raise (ValueError if number == 1 else RateLimitError)("429")
        return {"answer": base + number / 1000}

    return answer


def measured(echo, base, errors, **settings):
    """Run it against the pinned baseline; return the run and the codes of its reasons."""
    made = {"system": system(base, errors), "baseline": "auto", "exit_rule": "gate", **settings}
    run = echo.engine(**made)
    codes = [code.removeprefix(PREFIX) for code in run.judgement.decision.reason_codes]
    return run, codes


def pinned(echo, base, errors=0):
    where = echo.root / "before"
    echo.engine(system=system(base, errors), baseline="none", out=where)
    (path,) = (where / "runs" / echo.name).glob("*/record.json")
    (echo.path / "baseline.json").write_bytes(path.read_bytes())


def remarks(run):
    return {remark.code: remark.message for remark in run.judgement.decision.remarks}


def test_few_errors_are_counted_as_0(graded):
    pinned(graded, 0.1)
    run, codes = measured(graded, 0.8, 2)
    assert (run.judgement.decision.outcome, codes, run.exit_status) == ("promote", [], 0)
    assert main(["verify", str(graded.out)]) == 0


def test_an_outage_holds_and_concludes_nothing_about_the_candidate(graded):
    pinned(graded, 0.8)
    run, codes = measured(graded, 0.8, 12)
    assert (codes, run.exit_status) == (["too_many_unscored"], 10)
    assert main(["verify", str(graded.out)]) == 0
    files = [str(path) for path in (graded.out / "evidence/echo").glob("*.json")]
    assert main(["verify", *files]) == 0


def test_an_outage_of_the_baseline_is_no_gain_of_the_same_system(graded, capsys):
    pinned(graded, 0.8, errors=12)
    run, codes = measured(graded, 0.8, 0)
    assert (codes, run.exit_status) == (["too_many_unscored"], 10)
    told = remarks(run)
    assert told[f"{PREFIX}too_many_unscored"].startswith("baseline: 12 of 40 trials")
    said = "12 of 40 trials of the baseline have no score and count as 0, in the candidate's favour"
    assert told["note_unscored_baseline"] == said
    assert main(["verify", str(graded.out)]) == 0
    (graded.path / "baseline.json").unlink()
    path = graded.folder() / "record.json"
    path.write_text(path.read_text().replace(f"{PREFIX}too_many_unscored", "note_few_cases"))
    assert main(["verify", str(path)]) == 1
    assert "recomputed: 'checkpoint_promotion_blocked_too_many_un" in capsys.readouterr().err


def test_a_run_of_errors_alone_says_so(graded):
    pinned(graded, 0.8)
    run, codes = measured(graded, 0.8, 40)
    assert (codes, run.exit_status) == (["too_many_unscored"], 10)
    told = remarks(run)[f"{PREFIX}too_many_unscored"]
    assert told.startswith("candidate: all 40 trials ended in ")


@pytest.mark.parametrize(
    ("limit", "outcome"), [("0", "hold"), ("0.05", "hold"), ("0.5", "promote")]
)
def test_the_limit_is_a_policy_key(graded, limit, outcome):
    pinned(graded, 0.1)
    run, _ = measured(graded, 0.8, 3, policy={"max_unscored": float(limit)})
    assert run.judgement.decision.outcome == outcome


def test_one_error_is_always_allowed(graded):
    pinned(graded, 0.1)
    assert measured(graded, 0.8, 1, policy={"max_unscored": 0.0})[0].exit_status == 0


def test_a_timeout_is_the_systems_own_result(graded):
    for case_id in ("01", "02", "03"):
        graded.case(case_id, timeout_seconds="1")
    pinned(graded, 0.1)
    answer = system(0.8, 0)
    ends = threading.Event()

    def hangs(case):
        return answer(case) if int(case.case_id) > 3 else ends.wait(60)

    run, codes = measured(graded, 0.8, 0, system=hangs, jobs=3)
    ends.set()
    assert list(graded.outcomes().values()).count("timeout") == 3
    assert (codes, run.exit_status) == ([], 0)
    assert [line.text for line in unscored([run.judgement.report], "")] == [
        "3 timeouts: counted as score 0"
    ]


@pytest.mark.parametrize(("errors", "allowed"), [(29, True), (30, False)])
def test_the_share_itself_is_allowed(errors, allowed):
    from benchgate.gates.figures import Arm, CaseFacts
    from benchgate.gates.unscored import too_many

    known = {"passed": None, "critical": False, "cost_usd": None, "duration_seconds": None}
    facts = CaseFacts(**known, errors=tuple(range(errors)))
    side = Arm(scores=(0.5,), trials=((0.5,) * 100,), facts=(facts,))
    assert (too_many(side, 0.29, None) is None) is allowed
