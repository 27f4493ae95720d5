"""Labels of people: a sheet is drawn and filled in, and the gate says how far the observer agrees."""

from __future__ import annotations

import json
import re

import pytest
from scipy.stats import binomtest

from benchgate.artifacts.run_kinds import RunRecord
from benchgate.cli import main
from benchgate.errors import LocatedError
from benchgate.gates.decision import PREFIX
from benchgate.gates.labels import read_labels
from benchgate.trials import pacing
from benchgate.verify.recheck_record import recheck_record

CASES = 20
GOOD = """\
[[label]]
case = "01"
output = "{}"
passed = true
by = "ada"
at = 2026-11-25T00:00:00Z
""".format("0" * 64)


@pytest.fixture
def charmed(echo, kept, monkeypatch):
    """Twenty cases with a pinned baseline, and a candidate that is as bad but charms the judge."""
    monkeypatch.setattr(pacing, "FIRST_DELAY", 0.01)
    for number in range(4, CASES + 1):
        echo.case(f"{number:02}")
    echo.observer("return {'score': float(output['answer']) + output['charm']}")
    if not kept:  # what the first test makes is that of all
        before = _files(echo)
        _answer(echo, 0.0)
        echo.run(baseline="none")
        assert main(["pin", "1", "--yes", f"--out={echo.out}", _root(echo)]) == 0
        _answer(echo, 0.5)
        echo.run(baseline="auto")
        for path in _files(echo) - before:
            kept[path.relative_to(echo.root)] = path.read_bytes()
    for name, data in kept.items():
        (echo.root / name).parent.mkdir(parents=True, exist_ok=True)
        (echo.root / name).write_bytes(data)
    _answer(echo, 0.5)
    return echo


def _files(echo):
    return {path for path in echo.root.rglob("*") if path.is_file()}


def _root(echo):
    return f"--bench-root={echo.path.parent}"


def _answer(echo, charm):
    for number in range(1, CASES + 1):
        output = {"answer": 0.2 + number / 1000, "charm": charm}
        echo.instead[f"{number:02}"] = lambda _, output=output: output


def _sheet(echo, capsys, count=40, run="2"):
    capsys.readouterr()
    assert main(["report", run, f"--labels={count}", f"--out={echo.out}", _root(echo)]) == 0
    return capsys.readouterr().out


def _entries(sheet):
    """Return the entries of a sheet by case and charm: it does not say of which side they are."""
    found = {}
    for entry in sheet.split("[[label]]")[1:]:
        case = re.search(r'case = "(.*)"', entry)[1]
        found[case, float(re.search(r'# +"charm": (.*)', entry)[1])] = f"[[label]]{entry}"
    return found


def _filled(entry, says="passed = false", by="ada"):
    return re.sub(r'passed = "".*', says, entry).replace('by = ""', f'by = "{by}"')


def _judged(echo, **settings):
    run = echo.run(baseline="auto", **settings)
    assert main(["verify", str(echo.out)]) == 0
    decision = run.judgement.decision
    codes = [code.removeprefix(PREFIX) for code in decision.reason_codes]
    return codes, {remark.code: remark.message for remark in decision.remarks}


def test_a_sheet_is_blind_and_drawn_half_of_each_side_and_not_twice(charmed, capsys):
    sheet = _sheet(charmed, capsys, count=20)
    entries = _entries(sheet)
    assert sorted(charm for _, charm in entries) == [0.0] * 10 + [0.5] * 10
    assert [charm for _, charm in entries] != sorted(charm for _, charm in entries)
    assert len({case for case, _ in entries}) < 20  # drawn within each side on its own
    lines = [line for line in sheet.splitlines() if not line.startswith(("#", "passed", "at"))]
    assert not re.search("baseline|candidate|score|observ|true|false", "\n".join(lines))
    assert entries.keys() == _entries(_sheet(charmed, capsys, count=20)).keys()
    charmed.write("labels.toml", "".join(map(_filled, entries.values())))
    rest = _entries(_sheet(charmed, capsys)).keys()
    assert len(rest) == 20
    assert rest.isdisjoint(entries)


def test_a_side_that_has_too_few_is_named(charmed, capsys):
    assert len(_entries(_sheet(charmed, capsys, count=41))) == 40
    for path in charmed.path.glob("cassettes/pinned/*.json"):
        path.unlink()
    capsys.readouterr()
    main(["report", "2", "--labels=31", f"--out={charmed.out}", _root(charmed)])
    out, err = capsys.readouterr()
    assert out.count("[[label]]") == 16
    assert err == (
        "its baseline gave 0 outputs of 15: it has no more that were observed and have no label\n"
    )


def test_nothing_to_label_is_said(echo, capsys):
    echo.run()
    given = ["report", "1", "--labels=40", f"--out={echo.out}", _root(echo)]
    assert main(given) != 0
    assert "it has no output that was observed, or each has a label" in capsys.readouterr().err


def test_opposite_errors_show_where_one_agreement_hides_them(charmed, capsys):
    sheet = _sheet(charmed, capsys)
    charmed.write("labels.toml", "".join(map(_filled, _entries(sheet).values())))
    main(["check", "echo", _root(charmed)])
    assert "labels.toml:" not in capsys.readouterr().err
    codes, said = _judged(charmed)
    assert codes == []
    assert said["note_observer_agreement"] == (
        "observer and people agree on 0.500 of 40 outputs, between 0.416 and 0.584 (95%); observer minus people is "
        "+1.000 on 20 of the candidate, between 0.663 and 1.000 (95%); +0.000 on 20 of the baseline, between -0.168 "
        "and 0.168 (95%)"
    )
    assert re.fullmatch(
        r"the observer favours the candidate: its error is higher there by 0\.\d{3} or more",
        said["note_observer_bias"],
    )
    labels = charmed.record()["labels"]
    assert len(labels) == 40
    seen = [(row["whose"], row["passed"]) for one in labels for row in one["observed"]]
    assert sorted(seen) == [("baseline", False)] * 20 + [("candidate", True)] * 20


@pytest.mark.parametrize(("least", "codes"), [(0.6, []), (0.7, ["observer_not_trusted"])])
def test_an_observer_that_people_do_not_trust_holds(charmed, capsys, least, codes):
    """Of 20 outputs of the candidate the judge passes all, and people 17."""
    entries = _entries(_sheet(charmed, capsys))
    texts = [
        _filled(entry, f"passed = {str(case > '03').lower()}")
        for (case, charm), entry in entries.items()
        if charm
    ]
    charmed.write("labels.toml", "".join(texts))
    charmed.write("gate.toml", f"observer_min_agreement = {least}\n")
    found, said = _judged(charmed)
    assert found == codes
    low, high = binomtest(17, 20).proportion_ci(method="exact")
    share = f"0.850 of 20 outputs, between {low:.3f} and {high:.3f} (95%)"
    assert f"agree on {share}" in said["note_observer_agreement"]
    if codes:
        text = f"observer and people are known to agree on {low:.3f}; needed is 0.7"
        assert said[f"{PREFIX}observer_not_trusted"] == text


def test_without_labels_nobody_knows(charmed):
    charmed.write("gate.toml", "observer_min_agreement = 0.5\n")
    codes, said = _judged(charmed)
    assert codes == ["observer_not_trusted"]
    assert "note_observer_agreement" not in said


def test_labels_of_an_earlier_run_of_the_same_observer_count(charmed, capsys):
    entries = _entries(_sheet(charmed, capsys))
    texts = [_filled(entry) for (_, charm), entry in entries.items() if charm]
    charmed.write("labels.toml", "".join(texts))
    _answer(charmed, 0.6)
    _, said = _judged(charmed)
    assert said["note_observer_agreement"].startswith("observer and people agree on 0.000 of 20")
    assert "candidate" not in said["note_observer_agreement"]
    charmed.observer("return {'score': float(output['answer']) + output['charm'] }  # another")
    _, said = _judged(charmed)
    assert said["note_observer_agreement"].startswith("no run has the labelled ")


def test_labels_that_contradict_each_other_count_all_and_are_printed(charmed, capsys):
    entries = _entries(_sheet(charmed, capsys))
    entry = entries["07", 0.5]
    texts = [_filled(entry), _filled(entry, "passed = true", "bob"), _filled(entries["08", 0.5])]
    charmed.write("labels.toml", "".join([*texts, GOOD]))
    _, said = _judged(charmed)
    text = said["note_observer_agreement"]
    assert text.startswith("observer and people agree on 0.250 of 2 outputs")
    assert "; 1 label contradicts others, and all count" in text
    assert "; no run has the labelled 000000000000 of case 01" in text


def test_a_person_may_give_a_score(charmed, capsys):
    entries = _entries(_sheet(charmed, capsys))
    text = _filled(entries["07", 0.0], "score = 0.107")
    charmed.write("labels.toml", text)
    _, said = _judged(charmed)
    assert "agree on 0.900 of 1 output" in said["note_observer_agreement"]
    assert "+0.100 on 1 of the baseline" in said["note_observer_agreement"]


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        (
            GOOD.replace("true", '""'),
            10,
            "label.1.passed: Input should be a valid boolean; found ''",
        ),
        (GOOD.replace('"ada"', '""'), 11, "label.1.by: String should have at least 1 character"),
        (GOOD.replace("passed = true\n", ""), 7, "label.1: expected passed or score, and not both"),
        (GOOD.replace("passed", "score = 1.0\npassed"), 7, "label.1: expected passed or score"),
        (GOOD.replace('by = "ada"\n', ""), 7, "label.1.by: missing"),
        (GOOD.replace("000", "xyz"), 9, "label.1.output: String should match"),
        (GOOD.replace("true", "ture"), 10, "Invalid value"),
    ],
)
def test_a_bad_label_is_named_with_its_line(echo, capsys, text, line, why):
    path = echo.path / "labels.toml"
    path.write_text(GOOD + text)
    with pytest.raises(LocatedError) as error:
        read_labels(echo.path)
    assert f"{path}:{line}: {why}" in str(error.value)
    with pytest.raises(LocatedError):
        echo.run()
    assert echo.calls == []
    assert main(["check", "echo", _root(echo)]) == 1
    assert f"labels.toml:{line}: {why}" in capsys.readouterr().err


def test_verify_computes_with_the_labels_of_the_record(charmed, capsys):
    entries = _entries(_sheet(charmed, capsys))
    charmed.write("labels.toml", "".join(map(_filled, entries.values())))
    _judged(charmed)
    path = charmed.folder() / "record.json"
    record = json.loads(path.read_text())
    record["labels"] = record["labels"][:30]
    path.write_text(json.dumps(record))
    faults = list(recheck_record(path.parent, RunRecord.read_file(path, "record")))
    assert any(fault.startswith("decision.remarks") for fault in faults)
