"""Trials that ended in an error of the system: how many are allowed, and what a run says about them."""

from __future__ import annotations

import pytest

from benchgate.cli import main

PREFIX = "checkpoint_promotion_blocked_"
GRADED = 'return BenchScore(passed=True, score=float(output["answer"]))'
SYSTEM = """
number = int(case.case_id)
if number <= {errors}:
    class RateLimitError(Exception):
        pass
    raise (ValueError if number == 1 else RateLimitError)("429")
return {{"answer": {base} + number / 1000}}
"""


@pytest.fixture
def graded(bench):
    """Forty cases whose score is what the system answers; too many errors are 3 and more."""
    for number in range(4, 41):
        bench.case(f"{number:02}")
    bench.rubric(GRADED)
    bench.write("gate.toml", 'safety = "optional"')
    return bench


def measure(bench, base, errors, *arguments):
    bench.system(SYSTEM.format(base=base, errors=errors))
    return bench.run("--bench-exit=gate", *arguments)


def status(bench, base, errors, *arguments):
    """Return the exit status of a run without pytest."""
    bench.system(SYSTEM.format(base=base, errors=errors))
    where = [f"--bench-root={bench.root / 'bench'}", f"--out={bench.out}"]
    return main(["run", "--task-class=echo", *where, *arguments])


def pinned(bench, base, errors=0):
    status(bench, base, errors, "--baseline=none", f"--out={bench.root / 'before'}")
    (path,) = (bench.root / "before/runs" / bench.name).glob("*/record.json")
    (bench.path / "baseline.json").write_bytes(path.read_bytes())


def codes(bench):
    return [code.removeprefix(PREFIX) for code in bench.record()["decision"]["reason_codes"]]


def test_few_errors_are_counted_as_0_and_named(graded):
    pinned(graded, 0.1)
    result = measure(graded, 0.8, 2)
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(
        [
            "PROMOTE   *",
            "unscored  2 of 40 (RateLimitError 1, ValueError 1): counted as score 0",
        ]
    )
    assert main(["verify", str(graded.out)]) == 0


def test_an_outage_holds_and_concludes_nothing_about_the_candidate(graded):
    pinned(graded, 0.8)
    result = measure(graded, 0.8, 12)
    assert result.ret == 10
    assert codes(graded) == ["too_many_unscored"]
    result.stdout.fnmatch_lines(
        [
            "HOLD      *too many trials ended in an error, which says little about it",
            "why       candidate: 12 of 40 trials *; allowed is a share of 0.05, or one (too_many_unscored)",
            "unscored  12 of 40 (RateLimitError 11, ValueError 1): counted as score 0",
        ]
    )
    assert main(["verify", str(graded.out)]) == 0
    files = [str(path) for path in (graded.out / "evidence/echo").glob("*.json")]
    assert main(["verify", *files]) == 0


def test_an_outage_of_the_baseline_is_no_gain_of_the_same_system(graded, capsys):
    pinned(graded, 0.8, errors=12)
    assert status(graded, 0.8, 0) == 10
    assert codes(graded) == ["too_many_unscored"]
    remarks = {r["code"]: r["message"] for r in graded.record()["decision"]["remarks"]}
    assert remarks[f"{PREFIX}too_many_unscored"].startswith("baseline: 12 of 40 trials")
    said = "12 harness_error of 40 trials count as score 0, in the candidate's favour"
    assert remarks["note_unscored_baseline"] == said
    assert main(["verify", str(graded.out)]) == 0
    (graded.root / "bench" / "echo" / "baseline.json").unlink()
    path = graded.folder() / "record.json"
    path.write_text(path.read_text().replace(f"{PREFIX}too_many_unscored", "note_few_cases"))
    assert main(["verify", str(path)]) == 1
    assert "recomputed: 'checkpoint_promotion_blocked_too_many_un" in capsys.readouterr().err


def test_a_run_of_errors_alone_says_so(graded, capsys):
    pinned(graded, 0.8)
    assert status(graded, 0.8, 40) == 10
    assert codes(graded) == ["too_many_unscored"]
    assert "why       candidate: all 40 trials ended in " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("limit", "outcome"), [("0", "hold"), ("0.05", "hold"), ("0.5", "promote")]
)
def test_the_limit_is_a_policy_key(graded, limit, outcome):
    pinned(graded, 0.1)
    status(graded, 0.8, 3, f"--policy=max_unscored={limit}")
    assert graded.record()["decision"]["outcome"] == outcome


def test_one_error_is_always_allowed(graded):
    pinned(graded, 0.1)
    assert status(graded, 0.8, 1, "--policy=max_unscored=0") == 0


def test_a_timeout_is_the_systems_own_result(graded):
    pinned(graded, 0.1)
    slow = "import time\nif int(case.case_id) <= 3:\n    time.sleep(60)\n"
    graded.system(slow + SYSTEM.format(base=0.8, errors=0))
    result = graded.run("--bench-exit=gate", "--bench-timeout=0.5")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["unscored  3 timeouts: counted as score 0"])


@pytest.mark.slow
def test_workers_and_the_other_door_say_the_same(graded, capsys):
    pinned(graded, 0.1)
    graded.system(SYSTEM.format(base=0.8, errors=12))
    result = graded.run("-n2", "--bench-exit=gate", apart=True)
    assert codes(graded) == ["too_many_unscored"]
    result.stdout.fnmatch_lines(
        ["unscored  12 of 40 (RateLimitError 11, ValueError 1): counted as score 0"]
    )
    root, out = graded.root / "bench", graded.root / "other"
    assert main(["run", "--task-class=echo", f"--bench-root={root}", f"--out={out}"]) == 10
    said = "12 of 40 trials ended in harness_error (RateLimitError 11, ValueError 1)"
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(("errors", "allowed"), [(29, True), (30, False)])
def test_the_share_itself_is_allowed(errors, allowed):
    from benchgate.gates.figures import Arm, CaseFacts
    from benchgate.gates.unscored import too_many

    known = {"passed": None, "critical": False, "cost_usd": None, "duration_seconds": None}
    facts = CaseFacts(**known, errors=tuple(range(errors)))
    side = Arm(scores=(0.5,), trials=((0.5,) * 100,), facts=(facts,))
    assert (too_many(side, 0.29, None) is None) is allowed
