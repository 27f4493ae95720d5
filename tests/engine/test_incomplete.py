"""A run in which something is missing shows no figure that a whole run would have."""

from __future__ import annotations

from benchgate.cli import main
from benchgate.report.words import UNKNOWN
from benchgate.wording.block import Door, block


def test_trials_that_a_cap_kept_from_running_are_no_failures(echo, capsys, monkeypatch):
    monkeypatch.chdir(echo.root)
    run = echo.run(max_cost_usd=0.3, baseline=None)
    why = "2 of 3 not run: the cap of $0.3"
    assert run.failures == [f"the run is incomplete: {why}"]
    assert run.exit_status == 1
    lines = list(block(run.judgement, Door(prefix="--bench-", verbosity=1)))
    text = {line.label: line.text for line in lines}
    assert text["cases"] == "1 of 3 pass"
    assert text["missing"] == "2 of 3 trials have no result; --bench-resume runs only them"
    assert "score" not in text
    in_shell = {line.label: line.text for line in block(run.judgement, Door())}
    assert in_shell["missing"].endswith("; --resume runs only them")
    assert in_shell["next"].endswith("with a higher cap: --resume --max-cost-usd=USD")
    assert text["next"].endswith("with a higher cap: --bench-resume --bench-max-cost-usd=USD")
    main(["runs", "--scores", "--out", str(echo.out)])
    header, row = (line.split() for line in capsys.readouterr().out.splitlines()[1:3])
    assert (header[3:6], row[4:7]) == (["mean", "bound", "delta"], [UNKNOWN, UNKNOWN, "-"])


def test_a_case_of_several_trials_says_how_many_pass(echo):
    for number in range(4, 11):
        echo.case(f"{number:02}")
    before = echo.run(trials=3, baseline=None).published.folder / "record.json"
    echo.instead["01"] = lambda case: {"answer": "no"} if case.trial == 1 else None
    echo.instead["02"] = lambda case: {"answer": "no"} if case.trial else None
    run = echo.run(trials=3, baseline=before)
    rows = [line.text for line in block(run.judgement, Door()) if line.label == "  fails"]
    assert rows == [
        "02  1.000 -> 0.333  1 of 3 trials pass, before 3 of 3",
        "01  1.000 -> 0.667  2 of 3 trials pass, before 3 of 3",
    ]
    assert [one.keeps_majority for one in run.judgement.changes.newly_failing] == [False, True]
