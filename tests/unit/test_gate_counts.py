"""``benchgate gate 14/20 17/20``: what two numbers of passes show, and what is refused as one."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchgate.cli import main
from benchgate.gates.compared import Compared
from benchgate.gates.counts import MOST_COUNTED
from benchgate.gates.deciding import deciding
from benchgate.gates.policy import COUNT_DEFAULTS, make_policy
from benchgate.interop.counts import side_of_count


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def way(before, after, **options):
    compared = Compared(
        baseline=side_of_count(before),
        candidate=side_of_count(after),
        policy=make_policy({**COUNT_DEFAULTS, **options}),
    )
    return deciding(compared)


def test_a_hold_says_what_so_few_cases_show(capsys):
    assert main(["gate", "14/20", "17/20"]) == 10
    shown = capsys.readouterr().out
    assert shown.startswith(
        "baseline  14 of 20 cases passed\n"
        "candidate 17 of 20 cases passed\n"
        "          unpaired, and the cases are taken for independent; if both sides ran\n"
    )
    assert "HOLD      `17/20` may not replace `14/20` yet: it may be chance" in shown
    assert "score     0.700 -> 0.850   +0.150, between -0.134 and +0.415 (95%)\n" in shown
    assert "test      Boschloo, p 0.287 (needed 0.05), 20 cases\n" in shown
    assert "about 272 more to the 20 there are" in shown


@pytest.mark.parametrize(
    ("sides", "status", "verdict"),
    [
        (("40/100", "70/100"), 0, "PROMOTE   `70/100` may replace `40/100`: it is better"),
        (("70/100", "40/100"), 1, "REJECT    `40/100` must not replace `70/100`"),
        (("14/20", "14/20"), 10, "HOLD      `14/20` may not replace `14/20` yet"),
        (("14/20", "25/30"), 10, "HOLD      `25/30` may not replace `14/20` yet"),
        (("1/1", "1/1"), 10, "1 case is too few: at least 2 are needed"),
        (("0/10", "0/10"), 10, "between -0.309 and +0.309"),
    ],
)
def test_verdicts(sides, status, verdict, capsys):
    assert main(["gate", *sides]) == status
    shown = capsys.readouterr().out
    assert verdict in shown.replace("\n          ", " ")
    assert "nobody knows which cases differ" not in shown  # that is what a count is


def test_names_may_be_given(capsys):
    main(["gate", "14/20", "17/20", "--baseline-id=old", "--candidate-id=new"])
    assert "`new` may not replace `old` yet" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("sides", "why"),
    [
        (("20/14", "1/2"), "20/14: 20 of 14 cases cannot have passed"),
        (("1/2", "0/0"), "0/0: no cases; expected PASSED/CASES, such as 14/20"),
        (("1/2", "1/999999"), "1/999999: 999999 cases; at most 100000 are counted"),
        (("14/20", "old.jsonl"), "14/20 is a number of passes, old.jsonl a log; expected two of"),
        (("17/20", "14/21"), "17/20 is a number of passes, 14/21 a log; expected two of a kind"),
        (("14/20", "gone.json"), "gone.json: cannot be read: No such file or directory"),
        (("14/20.0", "17/20"), "14/20.0: cannot be read: No such file or directory"),
    ],
)
def test_what_is_no_pair_of_counts_is_wrong_use(sides, why, capsys):
    Path("old.jsonl").write_text('{"id": "a", "score": 1}\n')
    Path("14").mkdir()
    Path("14/21").write_text('{"id": "a", "score": 1}\n')
    assert main(["gate", *sides]) == 2
    shown = capsys.readouterr()
    assert why in shown.err
    assert shown.out == ""


@pytest.mark.parametrize("option", ["--map=case=id", "--out=runs", "--html=page.html"])
def test_options_of_files_are_refused(option, capsys):
    assert main(["gate", "14/20", "17/20", option]) == 2
    assert f"{option.partition('=')[0]} is not for counts" in capsys.readouterr().err


def test_a_ledger_counts_the_looks_at_a_baseline_by_its_name(capsys):
    main(["gate", "14/20", "17/20", "--ledger=looks.jsonl"])
    main(["gate", "14/20", "18/20", "--ledger=looks.jsonl"])
    assert "look no. 2 at this baseline" in capsys.readouterr().out
    main(["gate", "13/20", "18/20", "--ledger=looks.jsonl"])
    assert "compared with this baseline" not in capsys.readouterr().out


def test_boschloo_decides_up_to_a_number_of_cases_and_unless_welch_is_asked_for():
    assert way("40/100", "70/100").name == "boschloo"
    assert way(f"100/{MOST_COUNTED + 1}", "70/100").name == "welch"
    assert way("40/100", "70/100", test="welch").name == "welch"
    assert way("40/100", "70/100", score_range=[0, 2]).name == "welch"


@pytest.mark.parametrize(
    ("margin", "is_shown"), [(0.10, False), (0.11, True)], ids=["beyond", "within"]
)
def test_a_margin_is_judged_by_the_bound_of_the_same_test(margin, is_shown):
    answers = way("90/100", "89/100", claim="not_worse", margin=margin).answers()
    assert answers.interval[0] == answers.exact_lower_bound == pytest.approx(-0.103, abs=1e-3)
    assert answers.passed is is_shown
