"""``benchgate gate`` on logs of other harnesses: what they print, record and exit with."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import pytest

from benchgate.audit import store
from benchgate.cli import main
from benchgate.gates import forecast
from benchgate.wire.holding import hold
from benchgate.wire.model import MAX_DIGESTS
from benchgate.wire.parsing import MAX_JSON_BYTES, MAX_JSON_VALUES

LOGS = Path(__file__).parents[2] / "docs" / "examples" / "logs"
REQUIRED = bool(os.environ.get("BENCHGATE_REQUIRE_INSPECT"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


def rows(path, scores, **fields):
    lines = [{"id": f"c{n:02}", "score": score, **fields} for n, score in enumerate(scores)]
    Path(path).write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.fixture
def pair(folder):
    rows("old.jsonl", [0, 1] * 10)
    rows("new.jsonl", [1, 1] * 9 + [0, 1])
    return folder


EVIDENCE = "chain/evidence/log"


def promotion(at=EVIDENCE):
    return json.loads((Path(at) / "promotion.json").read_text())


def codes(at=EVIDENCE):
    prefix = "checkpoint_promotion_blocked_"
    return [code.removeprefix(prefix) for code in promotion(at)["decision"]["reason_codes"]]


def test_a_better_log_is_promoted_and_its_evidence_is_valid(pair, capsys):
    assert main(["gate", "old.jsonl", "new.jsonl", "--out=chain"]) == 0
    shown = capsys.readouterr().out
    assert "PROMOTE   " in shown
    assert "`new.jsonl` may replace `old.jsonl`: it is better" in shown
    source = promotion()["subject"]["source"]
    assert source["tool"] == "json"
    assert source["sha256"] == promotion()["subject"]["digest"]
    files = sorted(map(str, Path(EVIDENCE).iterdir()))
    assert len(files) == 7
    assert main(["verify", *files]) == 0
    shutil.copy(f"{EVIDENCE}/baseline.json", "BASELINE")  # a file all the same
    assert main(["verify", "BASELINE"]) == 0


def test_a_policy_file_leaves_a_log_its_own_defaults(pair):
    """No harm was measured, which a bench must do, and the file says nothing of it."""
    Path("gate.toml").write_text("min_delta = 0.01\n")
    policy = "--policy=gate.toml"
    assert main(["gate", "old.jsonl", "new.jsonl", "--out=chain", policy]) == 0
    assert main(["verify", "chain", "--require-promote", policy]) == 0
    assert main(["gate", "14/50", "47/50", policy]) == 0


def test_the_same_decision_by_proof(pair):
    """One gate: the same vectors, given as plain ones."""
    for side in ("old", "new"):
        found = [json.loads(line) for line in Path(f"{side}.jsonl").read_text().splitlines()]
        Path(f"{side}.json").write_text(json.dumps({row["id"]: row["score"] for row in found}))
    options = [
        "--policy=test=auto",
        "--policy=min_cases=10",
        "--policy=score_range=[0,1]",
        "--run-id=x",
    ]
    sides = ["--baseline-samples=old.json", "--trained-samples=new.json", "--out=plain"]
    assert main(["proof", *sides, *options]) == 0
    assert main(["gate", "old.jsonl", "new.jsonl", "--out=chain"]) == 0
    found = [json.loads((Path(at) / "significance.json").read_text()) for at in ("plain", EVIDENCE)]
    for key in ("mean_delta", "delta_ci_low", "delta_ci_high", "n"):
        assert found[0]["significance"].get(key) == found[1]["significance"].get(key)


def test_errors_are_counted_and_named_and_hold(pair, capsys):
    lines = Path("new.jsonl").read_text().splitlines()
    for n in (1, 3):
        lines[n] = json.dumps({"id": f"c{n:02}", "error": "TimeoutError: x"})
    Path("new.jsonl").write_text("\n".join(lines))
    assert main(["gate", "old.jsonl", "new.jsonl"]) == 10
    shown = capsys.readouterr().out
    assert "2 cases with an error or without a score, which counts as the worst: c01, c03" in shown
    assert "candidate: 2 of 20 trials ended in harness_error (TimeoutError 2)" in shown
    asked = ["gate", "old.jsonl", "new.jsonl", "--policy=max_unscored=0.1", "--out=chain"]
    assert main(asked) == 0
    assert codes() == []
    after = json.loads(Path(f"{EVIDENCE}/trained.json").read_text())
    assert [s["score"] for s in after["samples"]][:4] == [1.0, 0.0, 1.0, 0.0]


@pytest.mark.parametrize("side", ["old", "new"])
def test_a_case_that_one_side_lacks_holds_or_counts_as_the_worst(pair, capsys, side):
    path = Path(f"{side}.jsonl")
    path.write_text("".join(path.read_text().splitlines(keepends=True)[1:]))
    assert main(["gate", "old.jsonl", "new.jsonl", "--out=chain"]) == 10
    assert codes() == ["case_mismatch"]
    assert "c00" in capsys.readouterr().out
    assert main(["gate", "old.jsonl", "new.jsonl", "--policy=missing=worst", "--out=chain"]) in (
        0,
        10,
    )
    end = "best" if side == "old" else "worst"
    assert f"counted as the {end} score: c00" in capsys.readouterr().out
    assert main(["verify", "chain"]) == 0


def test_repeated_samples_hold(pair, capsys):
    with Path("new.jsonl").open("a") as file:
        file.write(json.dumps({"id": "c00", "score": 1}) + "\n")
    assert main(["gate", "old.jsonl", "new.jsonl", "--out=chain"]) == 1
    said = capsys.readouterr()
    assert (
        "1 case more than once in it, as one trial; --map trial=FIELD numbers repetitions, "
        "--where FIELD=VALUE reads a part: c00 (lines 1, 21)" in said.out
    )
    assert "the run is incomplete: 1 with several results (c00)" in said.err
    assert main(["verify", "chain"]) == 0


def test_a_chain_counts_looks_by_the_file_of_the_baseline(pair, capsys):
    for n in (1, 2):
        rows("new.jsonl", [1, 1] * 8 + [0, 1] * 2, note=n)  # other bytes, same results
        rows("next.jsonl", [1, 1] * 9 + [n % 2, 1])
        status = main(["gate", "old.jsonl", "new.jsonl", "--out=chain", "--policy=looks=spend"])
        assert status == 0, n
        main(["gate", "old.jsonl", "next.jsonl", "--out=chain", "--policy=looks=spend"])
    capsys.readouterr()
    rows("other.jsonl", [0, 1] * 9 + [1, 1])
    main(["gate", "old.jsonl", "other.jsonl", "--out=chain"])
    assert "look no. 4 at this baseline" in capsys.readouterr().out
    assert main(["verify", "chain"]) == 0
    assert main(["runs", "--out=chain"]) == 0
    shutil.copy("old.jsonl", "copy.jsonl")  # under another name it is the same baseline
    main(["gate", "copy.jsonl", "other.jsonl", "--out=chain"])
    assert "look no. 4 at this baseline" in capsys.readouterr().out
    Path("fewer.jsonl").write_text(Path("other.jsonl").read_text().partition("\n")[2])
    main(["gate", "old.jsonl", "fewer.jsonl", "--out=chain", "--policy=missing=worst"])
    assert "look no. 5 at this baseline" in capsys.readouterr().out
    rows("old.jsonl", [0, 1] * 10, note="made again")  # at its place it is the same baseline
    main(["gate", "old.jsonl", "other.jsonl", "--out=chain"])
    assert "look no. 4 at this baseline" in capsys.readouterr().out  # the results were seen
    for name in ("old", "other"):  # a part of the rows, and another score
        rows(f"{name}.jsonl", [0, 1] * 7 + [1, 1], score_range="low")
    rows("other.jsonl", [1, 1] * 7 + [1, 1], score_range="low")
    main(["gate", "old.jsonl", "other.jsonl", "--out=chain", "--where=score_range=low"])
    assert "look no. 6 at this baseline" in capsys.readouterr().out
    assert main(["verify", "chain"]) == 0


def test_a_log_has_a_new_series_once_its_candidate_was_promoted_or_a_person_says_why(pair, capsys):
    rows("next.jsonl", [1, 1] * 5 + [0, 1] * 5)

    def number(base, candidate, *words):
        main(["gate", base, candidate, "--out=chain", *words])
        capsys.readouterr()
        records = sorted(Path("chain/runs/log").glob("0*/record.json"))
        return json.loads(records[-1].read_bytes())["decision"]["look"]["number"]

    assert number("old.jsonl", "next.jsonl") == 1
    assert number("old.jsonl", "new.jsonl") == 2
    shutil.copy("new.jsonl", "old.jsonl")
    assert number("old.jsonl", "next.jsonl") == 1
    rows("next.jsonl", [1, 1] * 4 + [0, 1] * 6)
    assert number("old.jsonl", "next.jsonl") == 2
    assert number("old.jsonl", "next.jsonl", "--new-series=another harness") == 1
    assert main(["verify", "chain"]) == 0
    assert main(["gate", "old.jsonl", "next.jsonl", "--new-series=x"]) == 2


def test_the_number_of_a_look_at_a_log_cannot_be_lowered(pair, capsys):
    for name in ("new", "other"):
        rows("other.jsonl", [1, 1] * 7 + [0, 1] * 3)
        main(["gate", "old.jsonl", f"{name}.jsonl", "--out=chain"])
    path = max(Path("chain/runs/log").glob("0*/record.json"))
    path.write_text(path.read_text().replace('"number": 2', '"number": 1'))
    capsys.readouterr()
    assert main(["verify", "chain"]) == 1
    assert ": look.number is 1; recomputed: 2" in capsys.readouterr().err


def test_a_ledger_counts_looks_without_a_chain(pair, capsys):
    assert main(["gate", "old.jsonl", "new.jsonl", "--policy=looks=spend"]) == 2
    assert "needs --out or --ledger" in capsys.readouterr().err
    assert not Path("proof").exists()
    for n, name in enumerate(("new", "other", "new"), 1):
        rows("other.jsonl", [1, 1] * 7 + [0, 1] * 3)
        main(["gate", "old.jsonl", f"{name}.jsonl", "--ledger=l"])
        assert ("look no. 2 at this baseline" in capsys.readouterr().out) is (n == 2)
    assert len(Path("l").read_text().splitlines()) == 4  # both were promoted, which is a line each
    assert main(["gate", "old.jsonl", "new.jsonl", "--out=c", "--ledger=l"]) == 2


def test_a_plan_of_a_log_says_what_a_comparison_can_show(pair, capsys, monkeypatch):
    monkeypatch.setattr(forecast, "REPETITIONS", 20)  # what it foresees is not asked here
    assert main(["plan", "sums", "--log=old.jsonl", "--policy=alpha=0.1"]) == 0
    said = capsys.readouterr().out
    assert "plan      sums: 20 cases, 1 trial each, claim better, alpha 0.1, against old" in said
    assert "cost" not in said
    assert sorted(path.name for path in Path().iterdir()) == ["new.jsonl", "old.jsonl"]


def test_a_page_of_the_proof_and_of_the_record(pair):
    pytest.importorskip("jinja2")
    assert main(["gate", "old.jsonl", "new.jsonl", "--html=proof.html"]) == 0
    assert main(["gate", "old.jsonl", "new.jsonl", "--html=run.html", "--out=chain"]) == 0
    for name in ("proof.html", "run.html"):
        text = Path(name).read_text()
        assert "new.jsonl" in text
        assert "json" in text
        assert "output is the same" not in text  # which is said of runs
    assert main(["gate", "old.jsonl", "new.jsonl", "--html=none/run.html"]) == 2


def test_what_a_job_shows_is_beside_the_records(pair, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(pair / "summary.md"))
    assert main(["gate", "old.jsonl", "new.jsonl", "--out=chain"]) == 0
    text = Path("chain/gate.xml").read_text()
    assert 'failures="0"' in text
    assert '<testcase classname="bench.log" name="gate" time="0">' in text
    assert "<system-out>PROMOTE   `new.jsonl` may replace `old.jsonl`" in text
    assert main(["gate", "new.jsonl", "old.jsonl", "--out=chain"]) == 1
    text = Path("chain/gate.xml").read_text()
    assert 'failures="1"' in text
    assert (
        '<failure message="REJECT    `old.jsonl` must not replace `new.jsonl`: its score ' in text
    )
    assert Path("summary.md").read_text().count("<!-- benchgate: log -->") == 2
    assert main(["gate", "old.jsonl", "new.jsonl"]) == 0  # and of a proof
    assert Path("summary.md").read_text().count("PROMOTE") == 2
    if find_spec("jinja2"):
        assert "old.jsonl" in Path("chain/gate.html").read_text()
    assert main(["verify", "chain"]) == 0


def test_an_error_in_a_proof_can_be_shown(pair, capsys):
    with Path("old.jsonl").open("a") as file:
        file.write(json.dumps({"id": "c99", "score": 1}) + "\n")
    with Path("new.jsonl").open("a") as file:
        file.write(json.dumps({"id": "c99", "error": "x"}) + "\n")
    assert main(["gate", "old.jsonl", "new.jsonl", "--out=chain"]) == 0
    assert main(["report", EVIDENCE]) == 0
    assert "PROMOTE" in capsys.readouterr().out


def test_the_map_of_a_class_is_that_of_its_folder(pair, capsys):
    """Never one beside a log: who writes the log would say what is harm."""
    mapping = 'case = "id"\nharm = "bad"\n'
    for name, harms in (("old", 0), ("new", 1)):
        found = [json.loads(line) for line in Path(f"{name}.jsonl").read_text().splitlines()]
        rows = (json.dumps(row | {"bad": harms}) + "\n" for row in found)
        Path(f"{name}.jsonl").write_text("".join(rows))
    Path("logs.toml").write_text(mapping)
    Path("bench/sums").mkdir(parents=True)
    asked = ["gate", "old.jsonl", "new.jsonl", "--task-class=sums", "--out=chain"]
    assert main(asked) == 0
    Path("logs.toml").rename("bench/sums/logs.toml")
    assert main(asked) == 1
    shown = capsys.readouterr().out
    assert "case=id, harm=bad (less is better) by bench/sums/logs.toml" in shown
    assert codes("chain/evidence/sums") == ["safety_regression"]
    source = promotion("chain/evidence/sums")["subject"]["source"]
    digest = hashlib.sha256(mapping.encode()).hexdigest()
    assert source["told"] == [f"map bench/sums/logs.toml {digest}", "map case=id,harm=bad"]
    assert main([*asked, "--map=case=id"]) == 0
    assert main(["verify", "chain"]) == 0


def test_the_evidence_of_an_earlier_comparison_does_not_stay(pair):
    assert main(["gate", "old.jsonl", "new.jsonl", "--out=chain"]) == 0
    with Path("old.jsonl").open("a") as file:
        file.write(json.dumps({"id": "c00", "score": 1}) + "\n")
    assert main(["gate", "old.jsonl", "new.jsonl", "--out=chain"]) == 1
    assert [path.name for path in Path(EVIDENCE).iterdir()] == ["promotion.json"]


def test_nothing_is_written_that_nobody_asked_for(pair, monkeypatch, tmp_path_factory):
    """``./proof`` was overwritten unasked once."""
    temporary = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    Path("proof").mkdir()
    Path("proof/promotion.json").write_text("of somebody else")
    before = sorted(pair.rglob("*"))
    assert main(["gate", "old.jsonl", "new.jsonl"]) == 0
    assert sorted(pair.rglob("*")) == before
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(pair / "summary.md"))
    assert main(["gate", "old.jsonl", "new.jsonl"]) == 0
    assert set(pair.rglob("*")) - set(before) == {pair / "summary.md"}
    assert "PROMOTE" in Path("summary.md").read_text()
    assert Path("proof/promotion.json").read_text() == "of somebody else"
    assert [*temporary.iterdir()] == []


def test_a_gate_that_was_killed_keeps_verify_from_passing_until_the_next_one(pair, capsys):
    assert main(["gate", "old.jsonl", "new.jsonl", "--out=chain"]) == 0
    runs = Path("chain/runs/log")
    killed = runs / "incomplete-gate-20260101T000000Z-1-000001"
    session = runs / "incomplete-20260101T000000Z-1-000001"
    merge = runs / "incomplete-merge-20260101T000000Z-1-000001"
    for folder in (killed, session, merge):
        (folder / "cases").mkdir(parents=True)
    capsys.readouterr()
    assert main(["verify", "chain", "--require-promote"]) == 1
    left = "benchgate gate began and left no record: it was killed; type it again"
    assert f"{killed}: {left}" in capsys.readouterr().err
    assert main(["gate", "old.jsonl", "new.jsonl", "--out=chain"]) == 0
    assert not killed.exists()
    assert session.exists()  # its trials were paid for
    assert merge.exists()
    session.rename(pair / "session")
    merge.rename(pair / "merge")
    assert main(["verify", "chain", "--require-promote"]) == 0


def test_a_gate_that_still_runs_keeps_its_folder(pair):
    held = Path("chain/runs/log/incomplete-gate-20260101T000000Z-1-000001")
    held.mkdir(parents=True)
    holding = hold(held)
    assert main(["gate", "old.jsonl", "new.jsonl", "--out=chain"]) == 0
    assert held.exists()
    holding.close()
    assert main(["gate", "old.jsonl", "new.jsonl", "--out=chain"]) == 0
    assert not held.exists()


def test_a_record_of_too_many_trials_is_refused_before_anything_is_written(
    pair, capsys, monkeypatch
):
    monkeypatch.setattr(store, "MAX_DIGESTS", 39)
    assert main(["gate", "old.jsonl", "new.jsonl", "--out=chain"]) == 2
    said = "a record has at most 39 trials, and this would have 40 (20 cases, 1 trial of each, both"
    assert said in capsys.readouterr().err
    assert not Path("chain/runs/log").exists()
    monkeypatch.setattr(store, "MAX_DIGESTS", 40)
    assert main(["gate", "old.jsonl", "new.jsonl", "--out=chain"]) == 0


def test_the_largest_record_can_be_written_and_read(pair):
    """Two logs of 10,000 cases with 10 trials; the record of fewer trials says what one trial takes."""
    assert main(["gate", "old.jsonl", "new.jsonl", "--out=chain"]) == 0
    data = next(Path("chain").glob("runs/*/*/record.json")).read_bytes()
    assert MAX_DIGESTS >= 10_000 * 10 * 2
    assert sum(map(data.count, (b",", b"[", b"{"))) / 40 * MAX_DIGESTS < MAX_JSON_VALUES
    assert len(data) / 40 * MAX_DIGESTS < MAX_JSON_BYTES


def test_scores_of_which_less_is_better(folder, capsys):
    rows("old.jsonl", [90, 70] * 10)
    rows("new.jsonl", [40, 60] * 10)
    assert main(["gate", "old.jsonl", "new.jsonl"]) == 2
    step = "name the worst and the best score: --policy 'score_range=[WORST, BEST]'"
    assert step in capsys.readouterr().err
    assert main(["gate", "old.jsonl", "new.jsonl", "--policy=score_range=[100,0]", "--out=c"]) == 0
    assert "   +0.300, " in capsys.readouterr().out
    assert main(["verify", "c"]) == 0
    assert main(["gate", "old.jsonl", "new.jsonl", "--policy=score_range=[5,5]"]) == 2


@pytest.mark.parametrize(
    ("name", "range_", "is_told"),
    [
        ("time", "[0, 100]", True),
        ("avgLatency", "[0, 100]", True),
        ("time", "[100, 0]", False),
        ("sometimes", "[0, 100]", False),
    ],
)
def test_a_score_whose_name_says_less_is_better_is_told_apart(
    folder, capsys, name, range_, is_told
):
    for side, of_first in (("old", 40), ("new", 90)):
        lines = [{"id": f"c{n}", name: of_first + n} for n in range(10)]
        Path(f"{side}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    main(
        ["gate", "old.jsonl", "new.jsonl", f"--map=score={name}", f"--policy=score_range={range_}"]
    )
    told = (
        f"careful   higher {name} counts as better; if less is better: --policy "
        "'score_range=[100, 0]'\n"
    )
    assert (told in capsys.readouterr().out) is is_told


def test_other_inputs_under_the_same_ids_are_refused(pair):
    rows("old.jsonl", [0, 1] * 10, input="a")
    rows("new.jsonl", [1, 1] * 10, input="b")
    assert main(["gate", "old.jsonl", "new.jsonl", "--out=chain"]) == 10
    assert codes() == ["baseline_mismatch"]


def test_inputs_that_one_log_lacks_are_not_compared(pair):
    rows("old.jsonl", [0, 1] * 10, input="a", target="t")
    rows("new.jsonl", [1, 1] * 10, target="t")
    assert main(["gate", "old.jsonl", "new.jsonl"]) == 0


def test_cases_in_other_clusters_are_no_cases_that_one_side_lacks(pair, capsys):
    rows("old.jsonl", [0, 1] * 10, cluster="a")
    rows("new.jsonl", [1, 1] * 10, cluster="b")
    assert main(["gate", "old.jsonl", "new.jsonl"]) == 10
    assert "next      give both logs the same cases and clusters" in capsys.readouterr().out


def test_a_log_of_errors_alone_holds(pair, capsys):
    lines = "".join(json.dumps({"id": f"c{n:02}", "error": "x"}) + "\n" for n in range(20))
    Path("new.jsonl").write_text(lines)
    assert main(["gate", "old.jsonl", "new.jsonl"]) == 2
    assert "every sample has an error, and none a score; name its field" in capsys.readouterr().err
    assert main(["gate", "old.jsonl", "new.jsonl", "--map=score=score", "--out=chain"]) == 10
    assert codes() == ["too_many_unscored"]


def test_errors_of_the_baseline_are_said_to_be_in_the_candidates_favour(pair, capsys):
    path = Path("old.jsonl")
    first, *others = path.read_text().splitlines(keepends=True)
    path.write_text(
        json.dumps({**json.loads(first), "score": None, "error": "x"}) + "\n" + "".join(others)
    )
    main(["gate", "old.jsonl", "new.jsonl"])
    said = " ".join(capsys.readouterr().out.split())
    assert "trials of the baseline have no score and count as 0, in the candidate's favour" in said


def test_logs_with_other_scores_are_refused(pair, capsys):
    Path("new.jsonl").write_text(Path("new.jsonl").read_text().replace("score", "reward"))
    assert main(["gate", "old.jsonl", "new.jsonl"]) == 2
    assert (
        "the scores are 'score' and 'reward'; name one, --metric NAME, or both"
        in capsys.readouterr().err
    )


def test_an_edited_record_of_a_log_is_found(pair, capsys):
    assert main(["gate", "old.jsonl", "new.jsonl", "--out=chain"]) == 0
    record = next(Path("chain").glob("runs/*/*/record.json"))
    told = json.loads(record.read_text())
    told["subject"]["source"]["tool"] = "pytest"
    record.write_text(json.dumps(told))
    assert main(["verify", str(record)]) == 1
    assert "subject.source" in "".join(capsys.readouterr())


def test_records_of_logs_are_read_as_those_of_runs(pair, capsys):
    assert main(["gate", "old.jsonl", "new.jsonl", "--out=chain"]) == 0
    rows("next.jsonl", [1, 1] * 10)
    assert main(["gate", "new.jsonl", "next.jsonl", "--out=chain"]) == 10
    first, second = sorted(Path("chain").glob("runs/log/0*"))
    capsys.readouterr()
    assert main(["gate", str(first), str(second)]) == 10
    assert "HOLD      `next.jsonl` may not replace `new.jsonl` yet: " in capsys.readouterr().out
    for words in (
        ["runs", "--scores", "--task-class=log", "--out=chain"],
        ["runs", "--out=chain"],
        ["report", str(second)],
        ["verify", "chain", "--require-complete"],
    ):
        assert main(words) == 0, words
    assert main(["verify", "chain", "--require-promote"]) == 1
    assert main(["pin", "1", "--task-class=log", "--out=chain", "--yes"]) == 1  # there is no class
    capsys.readouterr()
    assert main(["gate", "old.jsonl", f"{first}/record.json"]) == 2
    assert "old.jsonl is a log" in capsys.readouterr().err


def made_by_pytest():
    Path("test_it.py").write_text(
        "import os, pytest\n"
        "new = 'NEW' in os.environ\n"
        "@pytest.mark.parametrize('n', range(20))\n"
        "def test_n(n): assert n % 2 or new\n"
        "@pytest.mark.skip\ndef test_never(): pass\n"
        "@pytest.mark.skipif(new, reason='x')\ndef test_sometimes(): pass\n"
        "@pytest.fixture\ndef broken(): assert not new\n"
        "def test_setup(broken): pass\n"
    )
    for name, extra in (("old", {}), ("new", {"NEW": "1"})):
        command = [sys.executable, "-m", "pytest", "-qpno:randomly", f"--junitxml={name}.xml"]
        subprocess.run(command, check=False, capture_output=True, env={**os.environ, **extra})


def made_before():
    """As above, by pytest 9.2."""
    shutil.copytree(Path(__file__).parents[1] / "data" / "junit", ".", dirs_exist_ok=True)


@pytest.mark.parametrize(
    "make", [made_before, pytest.param(made_by_pytest, marks=pytest.mark.slow)]
)
def test_junit_of_pytest(folder, capsys, make):
    make()
    assert main(["gate", "old.xml", "new.xml"]) == 10
    shown = capsys.readouterr().out
    assert "the sides have different cases; 1 only in baseline: test_it::test_sometimes" in shown
    assert "1 case without a result in either log: test_it::test_never" in shown
    assert "unscored  1 of 21 (" in shown
    assert main(["gate", "old.xml", "new.xml", "--policy=missing=worst", "--out=chain"]) == 0
    assert main(["verify", "chain"]) == 0


def test_swebench(folder, capsys):
    pair = [str(LOGS / "swebench" / f"agent-{n}.demo.json") for n in (1, 2)]
    assert main(["gate", *pair]) == 0
    shown = capsys.readouterr().out
    assert (
        "log of swebench schema 2, 40 samples of 40 cases\n          case=instance_id, "
        "score=resolved (more is better), error=error as swebench has it" in shown
    )
    assert "2 cases named without a result: astropy__astropy-1280, django__django-1287" in shown
    assert "2 cases with an error or without a score" in shown
    assert main(["gate", *pair, "--map=cluster=repo", "--task-class=log", "--out=chain"]) == 10
    assert codes()[0] == "insufficient_cases"


@pytest.mark.parametrize(
    ("tool", "options", "errors"),
    [
        ("promptfoo", [], 1),
        ("lm-eval", [], 0),
        ("pydantic-evals", [], 1),
        ("harbor", [], 1),
    ],
)
def test_a_recipe(folder, capsys, tool, options, errors):
    for side in ("old", "new"):
        if tool == "harbor":
            trials = (LOGS / tool / side).glob("*/result.json")
            rows = (json.dumps(json.loads(path.read_text())) for path in sorted(trials))
            Path(f"{side}.jsonl").write_text("\n".join(rows))
        else:
            shutil.copy(LOGS / tool / f"{side}.jsonl", f"{side}.jsonl")
    asked = ["gate", "old.jsonl", "new.jsonl", *options, "--task-class=log", "--out=chain"]
    assert main(asked) in (0, 10)
    assert capsys.readouterr().out.count("with an error or without a score") == errors
    files = [json.loads(Path(f"{EVIDENCE}/{n}.json").read_text()) for n in ("baseline", "trained")]
    assert len({tuple(s["case_id"] for s in one["samples"]) for one in files}) == 1
    lines = Path("old.jsonl").read_text().splitlines()
    assert len(files[0]["samples"]) == len(lines)


MAKE_LOGS = """
import os
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes, match
from inspect_ai.solver import generate, solver

def make(name, right, broken=(), scorers=None, log_format="eval", cases=40, epochs=2, stop=False):
    @solver
    def failing():
        async def solve(state, generate):
            if state.sample_id in broken:
                raise RuntimeError(f"no sandbox for {state.sample_id}")
            return state
        return solve

    def answer(messages, *_):
        number = int(messages[-1].text.split()[2])
        output = ModelOutput.from_content("mockllm/model", str(2 * number) if right(number) else "unknown")
        output.usage = ModelUsage(input_tokens=9, output_tokens=1, total_tokens=10)
        return output

    samples = [
        Sample(id=f"sum-{n:02}", input=f"What is {n} + {n} ?", target=str(2 * n), metadata={"repo": f"r{n % 20}"})
        for n in range(cases)
    ]
    task = Task(
        dataset=MemoryDataset(samples, name="sums"),
        solver=[failing(), generate()],
        scorer=scorers or match(),
        name="sums",
    )
    model = get_model("mockllm/model", custom_outputs=answer)
    [log] = eval(
        task, model=model, epochs=epochs, log_dir="logs", log_format=log_format, fail_on_error=stop, display="none"
    )
    os.rename(log.location.removeprefix("file://"), name)

make("base.eval", lambda n: n % 2)
make("cand.eval", lambda n: n % 2 or n % 3)
make("quarter.eval", lambda n: True, {f"sum-{n:02}" for n in range(0, 40, 4)})
make("cand.json", lambda n: n % 2 or n % 3, log_format="json")
make("two.eval", lambda n: True, scorers=[match(), includes()])
make("stopped.eval", lambda n: True, {"sum-35"}, stop=True)
"""


@pytest.fixture(scope="module")
def inspect_logs(tmp_path_factory):
    if not REQUIRED:
        pytest.importorskip("inspect_ai")
    folder = tmp_path_factory.mktemp("inspect")
    subprocess.run([sys.executable, "-c", MAKE_LOGS], cwd=folder, check=True, capture_output=True)
    return folder


RUN_COMMANDS = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout
from benchgate.cli import main

runs = []
for words in json.loads(sys.argv[1]):
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        status = main(words)
    runs.append([words, status, out.getvalue(), err.getvalue()])
print(json.dumps(runs))
"""


def commands(folder, *lines):
    """Run commands in a process of their own: inspect_ai warns of things that are not ours, and imports for seconds."""
    done = subprocess.run(
        [sys.executable, "-c", RUN_COMMANDS, json.dumps(lines)],
        cwd=folder,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "200"},
    )
    return [subprocess.CompletedProcess(*run) for run in json.loads(done.stdout)]


def command(folder, *words):
    """Run one command as the shell does."""
    return subprocess.run(
        [sys.executable, "-m", "benchgate", *words],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "200"},
    )


@pytest.mark.slow
def test_two_logs_of_inspect(inspect_logs, tmp_path):
    out = str(tmp_path / "chain")
    done, verified, other = commands(
        inspect_logs,
        ["gate", "base.eval", "cand.eval", f"--out={out}", "-v"],
        ["verify", out],
        ["gate", "base.eval", "cand.json", f"--out={tmp_path}/p"],
    )
    assert done.returncode == 0, done.stderr
    assert (
        "80 samples of 40 cases\n          case=id, score=match (more is better), trial=epoch, "
        in done.stdout
    )
    assert "2 trials of a case count as one observation [epochs_collapsed]" in done.stdout
    assert verified.returncode == 0
    source = promotion(f"{out}/evidence/sums")["subject"]["source"]
    assert source["tool"] == "inspect_ai"
    assert source["version"][0].isdigit()
    assert other.returncode == 0
    (score,) = (line for line in done.stdout.splitlines() if line.startswith("score"))
    assert score in other.stdout.splitlines()


@pytest.mark.slow
def test_a_log_of_inspect_with_a_quarter_of_its_samples_failing_holds(inspect_logs, tmp_path):
    """Inspect's own accuracy of it is 1.0, over the samples that are left."""
    done = command(inspect_logs, "gate", "base.eval", "quarter.eval", f"--out={tmp_path}/chain")
    assert done.returncode == 10, done.stderr
    assert (
        "10 cases with an error or without a score, which counts as the worst: sum-00, sum-04"
        in done.stdout
    )
    assert "20 of 80 trials ended in harness_error (RuntimeError 20)" in done.stdout
    assert codes(f"{tmp_path}/chain/evidence/sums") == ["too_many_unscored"]
    report = json.loads(Path(f"{tmp_path}/chain/evidence/sums/trained.json").read_text())
    assert report["metrics"]["mean_reward"] == 0.75
    assert len(report["samples"]) == 40


@pytest.mark.slow
def test_a_log_of_inspect_that_stopped_is_incomplete(inspect_logs, tmp_path):
    done = command(inspect_logs, "gate", "base.eval", "stopped.eval", f"--out={tmp_path}/p")
    assert done.returncode == 1
    assert "the run is incomplete: its log says that it did not end" in done.stderr


@pytest.mark.slow
def test_the_score_and_the_cluster_of_a_log_of_inspect(inspect_logs, tmp_path):
    words = ["gate", "base.eval", "two.eval", f"--out={tmp_path}/p"]
    clusters = [*words, "--metric=match", "--map=cluster=metadata.repo"]
    refused, done = commands(inspect_logs, words, clusters)
    assert refused.returncode == 2
    expected = "two.eval: samples have several scores: match, includes; --metric NAME\n"
    assert refused.stderr == expected
    assert done.returncode == 0
    assert "40 cases in 20 clusters" in done.stdout


@pytest.mark.slow
def test_a_damaged_log_of_inspect_is_refused_in_one_line(inspect_logs, tmp_path):
    data = (inspect_logs / "base.eval").read_bytes()
    (tmp_path / "cut.eval").write_bytes(data[: len(data) // 2])
    done = command(inspect_logs, "gate", "base.eval", str(tmp_path / "cut.eval"))
    assert done.returncode == 2
    assert "inspect_ai cannot read it" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_key_that_is_twice_in_a_log_of_inspect_is_refused(inspect_logs, tmp_path):
    pytest.importorskip("inspect_ai.log")  # teaches zipfile the compression of its logs
    twice = b'{"status": "error", '
    with ZipFile(inspect_logs / "base.eval") as log, ZipFile(tmp_path / "a.eval", "w") as other:
        for name in log.namelist():
            data = log.read(name)
            other.writestr(name, data if name != "header.json" else data.replace(b"{", twice, 1))
    (tmp_path / "a.json").write_bytes(
        (inspect_logs / "cand.json").read_bytes().replace(b"{", twice, 1)
    )
    logs = [str(tmp_path / name) for name in ("a.eval", "a.json")]
    for done in commands(inspect_logs, *(["gate", "base.eval", log] for log in logs)):
        assert done.returncode == 2, done.stdout
        assert "key 'status' appears twice in one object" in done.stderr
        assert done.stderr.count("\n") == 1
