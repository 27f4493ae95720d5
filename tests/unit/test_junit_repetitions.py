"""Tests of JUnit that may be repetitions: nobody guesses, and each of the readings that are printed is right."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from benchgate.artifacts.run_kinds import RunRecord
from benchgate.cli import main
from benchgate.errors import EvalError
from benchgate.interop import read
from benchgate.interop.asked import parse_map
from benchgate.interop.repetitions import TwoReadings, may_be_repeated
from benchgate.interop.reports import LogTerms, report_of, report_pair
from benchgate.runner.judging import judged, run_of_logs
from benchgate.verify.recheck_record import recheck_record

REPEATED = [f"test_{n}[{k}-5]" for n in range(3) for k in range(1, 6)]
WITH_PARAMETERS = [f"test_x[{name}-{k}-5]" for name in ("a", "b-1", "1-3") for k in range(1, 6)]
PAGES = ["test_page[1-3]", "test_page[2-3]", "test_page[3-3]"]
ONE_MARKED = [*PAGES, *(f"test_plain_{n}" for n in range(20))]


def junit(path, names, failing=(), skipped=()):
    def body(name):
        if name in skipped:
            return "<skipped/>"
        return "<failure/>" if name in failing else ""

    tests = "".join(
        f'<testcase classname="tests.t" name="{name}">{body(name)}</testcase>' for name in names
    )
    path.write_text(f'<testsuites><testsuite name="pytest">{tests}</testsuite></testsuites>')
    return path


def readings(path, **options):
    """The maps that the refusal of a log prints: as repetitions, and as cases."""
    with pytest.raises(TwoReadings) as caught:
        read(path, **options)
    lines = str(caught.value).splitlines()
    assert str(path) in lines[0]
    typed = [shlex.split(line)[:2] for line in lines[1:]]
    assert [words[0] for words in typed] == ["--map", "--map"]
    return [parse_map([words[1]]) for words in typed]


def trials_of(found):
    trials = {}
    for sample in found.samples:
        trials.setdefault(sample.case_id, []).append(sample.trial)
    return trials


@pytest.mark.parametrize(
    ("names", "cases"),
    [
        (REPEATED, {f"tests.t::test_{n}": 5 for n in range(3)}),
        (WITH_PARAMETERS, {f"tests.t::test_x[{name}]": 5 for name in ("a", "b-1", "1-3")}),
        (PAGES, {"tests.t::test_page": 3}),
        (
            ONE_MARKED,
            {"tests.t::test_page": 3} | {f"tests.t::test_plain_{n}": 1 for n in range(20)},
        ),
        # of pytest-flakefinder, which repeats all tests
        ([f"{name}[{k}]" for name in ("test_a", "test_b") for k in range(4)], None),
        ([f"test_x[{k}-{name}]" for name in ("a", "b") for k in range(4)], None),
    ],
)
def test_tests_that_may_be_repetitions_are_asked_about(tmp_path, names, cases):
    path = junit(tmp_path / "a.xml", names, failing=names[:1])
    as_trials, as_cases = readings(path)
    assert as_cases == {"trial": "none"}
    plain = read(path, map=as_cases)
    assert {one.case_id for one in plain.samples} == {f"tests.t::{name}" for name in names}
    assert {one.trial for one in plain.samples} == {""}
    folded = read(path, map=as_trials)
    assert len(folded.samples) == len(names)
    assert not folded.repeated
    found = {case: len(numbers) for case, numbers in trials_of(folded).items()}
    if cases is None:
        assert sorted(found.values()) == [4, 4]
    else:
        assert found == cases
    assert report_of(folded, LogTerms.of("t", {}), "old").complete


@pytest.mark.parametrize(
    "names",
    [
        [f"test_case[{n}]" for n in range(20)] + ["test_gpu"],
        [f"test_case[{n}]" for n in range(20)],
        [f"test_a[{n}]" for n in range(4)] + [f"test_b[{n}]" for n in range(5)],
        ["test_page[1-3]", "test_page[3-3]", "test_x"],  # two pages are not three repetitions
        [*PAGES, *REPEATED],  # two counts: --count gives all tests one
        ["test_x[1-1]", "test_y[1-1]"],
        ["test_x[a]", "test_x[b]"],
    ],
)
def test_other_tests_are_cases_and_nobody_is_asked(tmp_path, names):
    found = read(junit(tmp_path / "a.xml", names))
    assert len(found.samples) == len({one.case_id for one in found.samples}) == len(names)


def outcome(sides):
    terms = LogTerms.of("t", {"claim": "no_regression"})
    facts = run_of_logs(*report_pair(*sides, terms, (None, None)), terms.policy)
    return judged(facts, None).decision.outcome


def test_pages_are_not_folded_into_one_case_that_hides_which_one_newly_fails(tmp_path):
    """The first wrong reading: page 1 fails newly and page 2 passes newly, so the mean of the pages is the same."""
    old = junit(tmp_path / "old.xml", ONE_MARKED, failing=["test_page[2-3]"])
    new = junit(tmp_path / "new.xml", ONE_MARKED, failing=["test_page[1-3]"])
    _, as_cases = readings(old)
    readings(new)
    assert outcome([read(path, map=as_cases) for path in (old, new)]) == "reject"


def test_one_repeated_test_among_plain_ones_leaves_the_log_complete(tmp_path):
    """The second wrong reading: the plain tests have one trial, and lack none."""
    sides = [junit(tmp_path / f"{name}.xml", ONE_MARKED) for name in ("old", "new")]
    as_trials, _ = readings(sides[0])
    found = [read(path, map=as_trials) for path in sides]
    reports = report_pair(*found, LogTerms.of("t", {}), (None, None))
    for report in reports:
        assert report.complete
        assert len(report.per_case) == 23
        assert report.trial_count == 3
        assert report.case_count == 21
    assert outcome(found) == "promote"


def test_repeated_tests_with_parameters_are_not_cases_without_a_question(tmp_path):
    """The third wrong reading: 15 cases, where there are 3 with 5 trials each."""
    as_trials, _ = readings(junit(tmp_path / "a.xml", WITH_PARAMETERS))
    assert (
        report_of(read(tmp_path / "a.xml", map=as_trials), LogTerms.of("t", {}), "a").case_count
        == 3
    )


def test_a_repetition_that_is_missing_makes_the_log_incomplete(tmp_path):
    as_trials, _ = readings(junit(tmp_path / "a.xml", REPEATED))
    less = read(junit(tmp_path / "b.xml", REPEATED[:-1]), map=as_trials)
    report = report_of(less, LogTerms.of("t", {}), "a")
    assert not report.complete
    assert [one.case_id for one in report.per_case if one.outcome == "not_run"] == [
        "tests.t::test_2"
    ]


def test_skipped_repetitions_are_one_case_without_a_result(tmp_path):
    path = junit(tmp_path / "a.xml", REPEATED, skipped=REPEATED[5:10])
    as_trials, _ = readings(path)
    found = read(path, map=as_trials)
    assert found.without == ("tests.t::test_1",)
    assert len(found.samples) == 10


def test_what_the_map_says_already_stays_in_both_readings(tmp_path):
    path = junit(tmp_path / "a.xml", REPEATED)
    found = readings(path, map={"cluster": "classname", "case": "name"})
    assert all(one["cluster"] == "classname" for one in found)
    assert found[0]["case"].startswith("name~")
    assert set(trials_of(read(path, map=found[0]))) == {"test_0", "test_1", "test_2"}
    assert len(read(path, map=found[1]).samples) == 15


def test_the_map_of_a_file_is_told_what_to_add(tmp_path):
    path = junit(tmp_path / "a.xml", REPEATED)
    table = tmp_path / "logs.toml"
    table.write_text('cluster = "classname"\n')
    with pytest.raises(
        TwoReadings, match=re.escape(f"in {table}: cluster = 'classname'")
    ) as caught:
        read(path, map=table)
    trial = re.search(r"trial = '[^']*\]\$'", str(caught.value))[0]
    case = re.search(r"case = '[^']*'", str(caught.value))[0]
    table.write_text(f"cluster = 'classname'\n{trial}\n{case}\n")
    assert len(trials_of(read(path, map=table))) == 3


def test_a_role_may_be_a_part_of_a_field(tmp_path):
    """The expressions that issue writers type, and the cluster of a name."""
    path = junit(tmp_path / "a.xml", REPEATED)
    typed = parse_map(
        [r"trial=name~(\d+)-\d+\]$,case=name~^(.*?)-?\d+-\d+\]$,cluster=case~^(.*?)::"]
    )
    found = read(path, map=typed)
    assert [len(numbers) for numbers in trials_of(found).values()] == [5, 5, 5]
    assert {one.cluster for one in found.samples} == {"tests.t"}


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (r"trial=name~\d+", r"--map: trial: '\\d\+' has no group; expected \(\.\.\.\) around"),
        ("trial=name~(", "is no regular expression"),
        (
            r"trial=name~(\d+)x$,case=name",
            r"no sample has 'name~\(\\d\+\)x\$', which is to be the trial",
        ),
        (r"case=name~(\d+)x$,trial=none", r"no sample has 'name~.*', which is to be the case"),
        (
            r"cluster=name~(b)$,trial=none",
            r"no sample has 'name~\(b\)\$', which is to be the cluster",
        ),
        (r"cluster=name~_(1)\[,trial=none", r"case 'tests.t::test_0\[1-5\]' has no 'name~_\(1\)"),
    ],
)
def test_an_expression_that_finds_nothing_is_refused(tmp_path, typed, message):
    path = junit(tmp_path / "a.xml", REPEATED)
    with pytest.raises(EvalError, match=message):
        read(path, map=parse_map([typed]))


def test_the_command_stops_and_its_record_of_either_reading_is_valid(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    junit(Path("old.xml"), ONE_MARKED, failing=ONE_MARKED[5:])
    junit(Path("new.xml"), ONE_MARKED)
    assert main(["gate", "old.xml", "new.xml"]) == 2
    said = capsys.readouterr().err
    assert said.count("--map") == 2
    assert "1 case of 3 trials, and 20 that are there once" in said
    for n, line in enumerate(said.splitlines()[1:]):
        words = shlex.split(line)[:2]
        assert main(["gate", "old.xml", "new.xml", *words, f"--out=chain{n}"]) == 0
        assert main(["verify", f"chain{n}"]) == 0


def test_many_names_are_looked_at_in_a_moment():
    names = [f"test_{n}[{n}-{n % 997}]" for n in range(50_000)]
    assert may_be_repeated(names) is None


@pytest.mark.parametrize(
    ("lost", "is_found"),
    [
        ({("tests.t::test_page", 2)}, True),
        ({("tests.t::test_plain_3", 0)}, True),
        (set(), False),
    ],
)
def test_a_record_of_a_log_that_lost_a_trial_is_not_complete(tmp_path, monkeypatch, lost, is_found):
    """One trial is all that a test has which was not repeated; two of three are not."""
    monkeypatch.chdir(tmp_path)
    for name in ("old.xml", "new.xml"):
        junit(Path(name), ONE_MARKED)
    typed = r"trial=case~[\[-](\d+)-3\]$,case=case~^(.*)\["
    assert main(["gate", "old.xml", "new.xml", "--map", typed, "--out=chain"]) == 10
    (file,) = Path("chain/runs").glob("*/*/record.json")
    raw = json.loads(file.read_bytes())
    rows = raw["report"]["per_case"]
    raw["report"]["per_case"] = [r for r in rows if (r["case_id"], r["trial"]) not in lost]
    record = RunRecord.parse(file, json.dumps(raw).encode(), "record of a run")
    faults = [text for text in recheck_record(file.parent, record) if "report.complete" in text]
    assert bool(faults) is is_found
