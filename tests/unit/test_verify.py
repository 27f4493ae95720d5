"""An output folder that was tampered with is found out, and the first invalid record is named."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

from benchgate import errors
from benchgate.artifacts.run_kinds import RunRecord, Subject
from benchgate.artifacts.trial_kinds import Head, TrialFile, case_file_name
from benchgate.audit.chain import GENESIS, numbered
from benchgate.audit.walk import chain_faults
from benchgate.cli import main
from benchgate.errors import ArtifactError, Unreadable
from benchgate.gates.baseline import read_baseline
from benchgate.gates.decide import decide
from benchgate.gates.decision import PREFIX
from benchgate.gates.rules import RULES
from benchgate.ids import run_id
from benchgate.runner.run import RunSettings, run_class
from benchgate.sentences.tables import TEMPLATES
from benchgate.verify import recheck_decision
from benchgate.verify.agreement import same
from benchgate.verify.validate import validate_file
from benchgate.verify.verification import verify
from benchgate.wire import clock
from benchgate.wire.canonical import digest, sha256_hex
from benchgate.wire.model import SCHEMA_VERSION
from benchgate.wire.writing import model_bytes

CASE = """\
[case]
case_id = "{case_id}"
task_class = "level"
disposition = "positive"
difficulty = "easy"
source = "curated"
held_out = {held_out}
added_at = {today}T00:00:00Z
last_validated_at = {today}T00:00:00Z
"""
RUBRIC = """\
from benchgate import BenchScore
class Level:
    def score(self, case, output, /):
        value = output["value"]
        return BenchScore(
            passed=value > 0.5, score=value, safety_penalty=0.0,
            failure_modes=["harm"] if output.get("harm") else [],
        )
"""
REGISTRATION = """\
from benchgate import register_task_class
from .rubric import Level
def weak(case): return {"value": 0.1 + int(case.case_id) / 100}
def good(case): return {"value": 0.9 + int(case.case_id) / 1000}
def harmful(case): return {**good(case), "harm": case.case_id == "03"}
def crashing(case): return {"value": 0.9 / (0 if case.case_id == "03" else 1)}
systems = {"weak": weak, "good": good, "harmful": harmful, "crashing": crashing}
register_task_class("level", systems=systems, default_system="good")(Level)
"""
MODES = '[failure_modes.harm]\nseverity = "block"\ndescription = "Harm was done."\n'
TIERS = "[thresholds]\nsilver = 0.5\n"
SYSTEMS = ("good", "weak", "harmful", "crashing", "good")
"""What was run, in order: records 1 to 5."""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A project with a bench and the records of five runs."""
    root = tmp_path_factory.mktemp("project")
    folder = root / "bench" / "level"
    today = f"{clock.now():%Y-%m-%d}"
    for number in range(1, 13):
        case_id = f"{number:02}"
        (folder / "cases" / case_id / "input").mkdir(parents=True)
        text = CASE.format(case_id=case_id, held_out=str(number > 10).lower(), today=today)
        (folder / "cases" / case_id / "case.toml").write_text(text)
    (folder / "rubric.py").write_text(RUBRIC)
    (folder / "registration.py").write_text(REGISTRATION)
    (folder / "failure_modes.toml").write_text(MODES)
    (folder / "gate.toml").write_text('test = "auto"\n')
    (root / "docs").mkdir()
    (root / "docs" / "trust-tiers.toml").write_text(TIERS)
    pinned = run_class(settings(root, "weak", "none", out="pinned")).published
    shutil.copy(pinned.folder / "record.json", folder / "baseline.json")
    for system in SYSTEMS:
        assert not run_class(settings(root, system)).problems
    return root


def settings(root, system, baseline="auto", out="out"):
    return RunSettings(
        task_class="level",
        system=system,
        baseline=baseline,
        out=root / out,
        bench_root=root / "bench",
    )


@pytest.fixture
def project(made, tmp_path):
    shutil.copytree(made, tmp_path / "project", copy_function=shutil.copyfile)
    return tmp_path / "project"


@pytest.fixture
def out(project):
    return project / "out"


def folders(out):
    return [folder for _, folder in numbered(out / "runs" / "level")]


def found(out, kept=None, **options):
    (one,) = verify(out, {"level": kept} if kept else {}, **options)
    return one


def head(out):
    return Head.read_json((out / "runs" / "level" / "HEAD.json").read_bytes())


def test_a_class_whose_safety_is_optional_and_not_measured_is_valid(project):
    folder = project / "bench" / "level"
    (folder / "gate.toml").write_text('test = "auto"\nsafety = "optional"\n')
    (folder / "rubric.py").write_text(RUBRIC.replace("safety_penalty=0.0", "safety_penalty=None"))
    pinned = run_class(settings(project, "weak", "none", out="unsafe")).published
    shutil.copy(pinned.folder / "record.json", folder / "baseline.json")
    published = run_class(settings(project, "good", out="unsafe")).published
    assert found(project / "unsafe").faults == ()
    for path in published.evidence.iterdir():
        if path.suffix == ".json":
            validate_file(path)


def test_what_was_written_holds(out):
    one = found(out)
    assert one.faults == ()
    assert (one.records, one.head, one.anchored_at) == (5, f"5:{head(out).sha256}", None)
    assert one.newest.decision.outcome == "promote"
    outcomes = [json.loads((f / "record.json").read_bytes())["decision"] for f in folders(out)]
    assert [decision["outcome"] for decision in outcomes] == [
        "promote",
        "hold",
        "reject",
        "hold",
        "promote",
    ]
    assert found(out, head(out)).anchored_at == 5


# Bytes


@pytest.mark.parametrize("seq", [1, 3, 5])
def test_any_flipped_byte_of_a_record_is_found_and_the_record_named(out, seq):
    path = folders(out)[seq - 1] / "record.json"
    data = path.read_bytes()
    # Every byte is one of a hash; where a byte lies cannot matter to it, so a spread of places will do here.
    for place in [*range(0, len(data), max(1, len(data) // 60)), len(data) - 1]:
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        faults = chain_faults(path.parents[1])
        assert {fault.seq for fault in faults} == {seq}, place
    path.write_bytes(data)
    assert not chain_faults(path.parents[1])


@pytest.mark.parametrize(
    ("seq", "part"),
    [
        (1, "cases/03.json"),
        (3, "evidence/trained.json"),
        (5, "evidence/promotion.json"),
        (5, "cases/03.json"),
    ],
)
def test_a_flipped_byte_of_what_a_record_holds_the_digest_of_is_found(out, seq, part):
    path = folders(out)[seq - 1] / part
    data = path.read_bytes()
    middle = len(data) // 2
    path.write_bytes(data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :])
    first = found(out).faults[0]
    assert first.seq == seq
    assert path.name in first.message


def test_a_damaged_head_is_found(out):
    path = out / "runs" / "level" / "HEAD.json"
    for text in ("{", path.read_text().replace('"seq": 5', '"seq": 4'), ""):
        path.write_text(text)
        assert found(out).faults
    path.unlink()
    assert found(out).faults[0].path == path


def test_an_added_file_is_found(out):
    folder = folders(out)[1]
    (folder / "note.txt").write_text("x")
    (folder / "cases" / "99.json").write_text("{}")
    (out / "runs" / "level" / "0000002-x").mkdir()
    messages = [fault.message for fault in found(out).faults]
    assert messages[0] == "note.txt: not part of a record: added later"
    assert messages[1] == "cases/99.json: not in the record: added later"
    assert messages[2].startswith("neither a record nor")


@pytest.mark.parametrize("name", ["proof.json", "trained.json", "promotion.json", "promotion.toml"])
def test_the_copy_of_the_newest_evidence_is_held_against_the_record(out, name):
    path = out / "evidence" / "level" / name
    path.write_bytes(path.read_bytes().replace(b"promot", b"Promot", 1) + b" ")
    (fault,) = found(out).faults
    assert fault.path == path
    path.unlink()
    (fault,) = found(out).faults
    assert "missing" in fault.message


def test_a_copy_that_names_another_record_is_found(out):
    path = out / "evidence" / "level" / "promotion.json"
    text = path.read_text()
    path.write_text(text.replace(folders(out)[4].name, folders(out)[0].name))
    (fault,) = found(out).faults
    assert fault.message == "not the evidence of the newest record"
    # From the copy, the path that the record's own evidence has leads nowhere.
    shutil.copy(folders(out)[4] / "evidence" / "promotion.json", path)
    assert found(out).faults == (fault,)


# Records


def swap(one, other):
    third = one.with_name("third")
    one.rename(third)
    other.rename(one)
    third.rename(other)


def test_two_swapped_records_are_named(out):
    second, fourth = folders(out)[1], folders(out)[3]
    swap(second / "record.json", fourth / "record.json")
    faults = chain_faults(out / "runs" / "level")
    assert [fault.seq for fault in faults if "its folder says" in fault.message] == [2, 4]
    assert found(out).faults[0].seq == 2


def test_two_swapped_folders_are_named(out):
    second, fourth = folders(out)[1], folders(out)[3]
    swap(second, fourth)
    assert {fault.seq for fault in chain_faults(out / "runs" / "level")} == {2, 4}


def test_a_record_cut_out_of_the_middle_is_named(out):
    shutil.rmtree(folders(out)[2])
    first = found(out).faults[0]
    assert first.seq == 3
    assert first.path.name == "00000003-..."
    assert "missing" in first.message


def test_a_removed_beginning_is_named(out):
    shutil.rmtree(folders(out)[0])
    assert found(out).faults[0].seq == 1


def test_a_second_record_of_one_number_is_a_fork(out):
    folder = folders(out)[1]
    shutil.copytree(folder, folder.with_name("00000002-20200101T000000Z-00000000"))
    messages = [fault.message for fault in found(out).faults]
    assert "there is a second record 2: the chain is forked" in messages


def rechained(out):
    """Write prev_hash of every record and the head anew: what a forger does who knows how."""
    before = GENESIS
    for seq, folder in enumerate(folders(out), 1):
        path = folder / "record.json"
        raw = json.loads(path.read_bytes())
        path.write_text(json.dumps({**raw, "prev_hash": before, "seq": seq}))
        before = sha256_hex(path.read_bytes())
    made = Head(schema_version=SCHEMA_VERSION, seq=len(folders(out)), sha256=before)
    (out / "runs" / "level" / "HEAD.json").write_bytes(model_bytes(made))


def cut_tail(out):
    shutil.rmtree(folders(out)[-1])
    rechained(out)
    shutil.rmtree(out / "evidence" / "level")
    shutil.copytree(folders(out)[-1] / "evidence", out / "evidence" / "level")
    path = out / "evidence" / "level" / "promotion.json"
    record = f"../../runs/level/{folders(out)[-1].name}/record.json"
    path.write_text(path.read_text().replace("../record.json", record))


def test_a_cut_tail_looks_whole_until_a_head_was_kept(out):
    kept = head(out)
    cut_tail(out)
    assert found(out).faults == ()
    faults = found(out, kept).faults
    assert faults[0].seq == 5
    assert "missing" in faults[0].message


def test_a_chain_written_anew_looks_whole_until_a_head_was_kept(out):
    kept = head(out)
    path = folders(out)[0] / "record.json"
    path.write_text(path.read_text().replace('"python": "', '"python": "0'))
    rechained(out)
    assert found(out).faults == ()
    (fault,) = found(out, kept).faults
    assert fault.seq == 5
    assert "is not the record that the kept head names" in fault.message


def test_a_head_kept_in_the_middle_proves_everything_before_it(out):
    text = (folders(out)[2] / "record.json").read_bytes()
    kept = Head(schema_version=SCHEMA_VERSION, seq=3, sha256=sha256_hex(text))
    assert found(out, kept).faults == ()
    path = folders(out)[1] / "record.json"
    path.write_text(path.read_text().replace('"python": "', '"python": "0'))
    rechained(out)
    assert found(out, kept).faults[0].seq == 3


def test_a_removed_class_of_which_a_head_was_kept_is_missed(out):
    kept = head(out)
    shutil.rmtree(out / "runs" / "level")
    (fault,) = found(out, kept).faults
    assert "no record of this class" in fault.message


# Decisions recomputed from the facts, with every digest and the chain mended


def forge(out, seq, edit):
    """Edit a record as JSON, then mend all digests, the chain, and the copy of the evidence."""
    folder = folders(out)[seq - 1]
    path = folder / "record.json"
    raw = json.loads(path.read_bytes())
    before = path.read_bytes()
    edit(raw, folder)
    if path.read_bytes() != before:
        raw = json.loads(path.read_bytes())
    for part, key in (("cases", "case_files"), ("evidence", "evidence_files")):
        raw[key] = {
            name: sha256_hex((folder / part / name).read_bytes()) for name in sorted(raw[key])
        }
    raw["plan_sha256"] = sha256_hex((folder / "plan.json").read_bytes())
    path.write_text(json.dumps(raw))
    rechained(out)
    with pytest.MonkeyPatch.context() as patch:  # all of them, where a user sees the first
        patch.setattr(errors, "MAX_PROBLEMS", 1000)
        patch.setattr(errors, "MAX_MESSAGE", 1_000_000)
        faults = found(out).faults
    return [fault.message for fault in faults if fault.seq == seq]


def promote(raw, folder):
    raw["decision"] |= {"outcome": "promote", "promotion_allowed": True, "reason_codes": []}
    path = folder / "evidence" / "promotion.json"
    report = json.loads(path.read_bytes())
    report["decision"] |= {"outcome": "promote", "promotion_allowed": True, "reason_codes": []}
    path.write_text(json.dumps(report))


@pytest.mark.parametrize("seq", [2, 3, 4])
def test_a_decision_turned_into_promote_is_drawn_again(out, seq):
    assert any("decision.outcome" in message for message in forge(out, seq, promote))


def reworded(raw, folder):
    """Say a decision and its evidence in other words."""
    for remark in raw["decision"]["remarks"]:
        remark["message"] = "in other words"
    path = folder / "evidence" / "proof.json"
    details = json.loads(path.read_bytes())["failure_analysis"]["details"]
    rewrite(path, failure_analysis__details=["other"] * len(details))


def recoded(raw, folder):
    raw["decision"]["notes"] = ["note_few_cases"]


def with_other_value(raw, folder):
    for said in raw["decision"]["remarks"][0]["says"]:
        said["values"] |= {"allowed": 0.5}


def with_other_step(raw, folder):
    raw["decision"]["step"] = [{"sentence": "step.improve", "values": {}}]


@pytest.mark.parametrize(
    ("edit", "is_found"),
    [(reworded, False), (recoded, True), (with_other_value, True), (with_other_step, True)],
)
def test_another_version_may_word_a_decision_otherwise(out, monkeypatch, edit, is_found):
    assert forge(out, 2, edit)
    for module in ("agreement", "recheck_decision"):
        monkeypatch.setattr(f"benchgate.verify.{module}.here", lambda: "9.9")
    assert bool(forge(out, 2, lambda *_: None)) is is_found


def test_a_better_sentence_makes_no_record_invalid(out, monkeypatch):
    better = {name: f"in better words, {template}" for name, template in TEMPLATES.items()}
    monkeypatch.setattr("benchgate.sentences.says.TEMPLATES", better)
    assert any(".message is " in fault.message for fault in found(out).faults)
    for module in ("agreement", "recheck_decision"):
        monkeypatch.setattr(f"benchgate.verify.{module}.here", lambda: "9.9")
    assert found(out).faults == ()


LEVELS = ((), ("policy",), ("decision",), ("decision", "look"), ("report",), ("report", "digests"))


def at(raw, level):
    for key in level:
        raw = raw[key]
    return raw


@pytest.mark.parametrize("level", LEVELS)
def test_a_record_that_lacks_a_key_is_not_read(out, level):
    path = folders(out)[0] / "record.json"
    raw = json.loads(path.read_bytes())
    # A record without rules is of rules 0, and one without a look is none: the chain says otherwise.
    for key in at(raw, level).keys() - {"rules", "look"}:
        made = json.loads(json.dumps(raw))
        del at(made, level)[key]
        path.write_text(json.dumps(made))
        with pytest.raises(Unreadable, match=rf"{'.'.join((*level, key))}: Field required"):
            RunRecord.read_file(path, "record")


@pytest.mark.parametrize("key", ["claim", "looks", "max_unscored"])
def test_a_policy_that_lacks_a_key_is_invalid_though_all_digests_are_mended(out, key):
    """Else a promotion would be judged by a default in the place of the threshold that was left out."""

    def edit(raw, folder):
        before = digest(raw["policy"])
        after = digest({name: value for name, value in raw["policy"].items() if name != key})
        for path in folder.rglob("*.json"):
            made = json.loads(path.read_bytes())
            made.get("policy", {}).pop(key, None)
            path.write_text(json.dumps(made).replace(before, after))

    assert forge(out, 1, edit) == [f"no valid record: policy.{key}: Field required"]


@pytest.mark.parametrize("level", [(), ("report",)])
@pytest.mark.parametrize("version", [SCHEMA_VERSION - 1, SCHEMA_VERSION + 1])
def test_a_record_of_another_version_is_invalid(out, level, version):
    def edit(raw, _):
        at(raw, level)["schema_version"] = version

    messages = forge(out, 1, edit)
    where = ".".join((*level, "schema_version"))
    assert any(f"{where}: " in message and f"is {version}; " in message for message in messages)


@pytest.mark.parametrize("level", LEVELS)
def test_a_baseline_that_lacks_a_key_cannot_be_used(out, level):
    path = folders(out)[0] / "record.json"
    raw = json.loads(path.read_bytes())
    assert not read_baseline(path).problems
    used = ("schema_version", "report", "policy", "decision")
    for key in at(raw, level) if level else used:
        made = json.loads(json.dumps(raw))
        del at(made, level)[key]
        path.write_text(json.dumps(made))
        assert ".".join((*level, key)) in read_baseline(path).problems[0].text
    path.write_text(json.dumps({**raw, "schema_version": 1}))
    assert "is 1; this version of benchgate reads" in read_baseline(path).problems[0].text


@pytest.mark.parametrize("baseline", ["run:crashing", "auto"])
def test_a_second_judgement_that_was_dropped_is_found(project, baseline):
    # The baseline erred on 03: with the best score there, the candidate would be worse.
    folder, out = project / "bench" / "level", project / "erred"
    (folder / "gate.toml").write_text('claim = "no_regression"\n')
    pinned = run_class(settings(project, "crashing", "none", out="pinned")).published
    shutil.copy(pinned.folder / "record.json", folder / "baseline.json")
    published = run_class(settings(project, "good", baseline, out="erred")).published
    assert json.loads((published.folder / "record.json").read_bytes())["decision"][
        "reason_codes"
    ] == ["checkpoint_promotion_blocked_unscored_decide"]
    assert found(out).faults == ()

    def drop(raw, there):
        promote(raw, there)
        path = there / "evidence" / "baseline.json"
        report = json.loads(path.read_bytes())
        for sample in report["samples"]:
            sample["facts"] |= {"errors": [], "passed": sample["facts"]["passed"] is not False}
        path.write_text(json.dumps(report))

    assert forge(out, 1, drop)


def raise_score(raw, case_id="03"):
    (result,) = [r for r in raw["report"]["per_case"] if r["case_id"] == case_id]
    result["score"]["score"] = 1.0
    return result


def mend_report(raw):
    results = RunRecord.model_validate_json(json.dumps(raw)).report.per_case
    raw["report"]["run_id"] = run_id("level", results)


def test_a_raised_score_changes_the_run_id(out):
    messages = forge(out, 2, lambda raw, _: raise_score(raw))
    assert any(message.startswith("report.run_id") for message in messages)


def test_a_raised_score_with_a_mended_run_id_does_not_give_the_mean(out):
    def edit(raw, _):
        raise_score(raw)
        mend_report(raw)

    messages = forge(out, 2, edit)
    assert any(message.startswith("report.mean_score") for message in messages)
    assert any(message.startswith("cases/03.json.result.score.score") for message in messages)
    assert any("evidence/trained.json" in message for message in messages)


def test_a_trial_that_was_changed_in_both_places_still_contradicts_the_evidence(out):
    def edit(raw, folder):
        result = raise_score(raw)
        mend_report(raw)
        path = folder / "cases" / "03.json"
        case = json.loads(path.read_bytes())
        path.write_text(json.dumps({**case, "result": result}))
        assert TrialFile.read_json(path.read_bytes())

    messages = forge(out, 2, edit)
    assert not any(message.startswith("cases/") for message in messages)
    assert any("evidence/significance.json" in message for message in messages)


def test_lowered_samples_of_the_baseline_contradict_the_record(out):
    def edit(_, folder):
        path = folder / "evidence" / "baseline.json"
        report = json.loads(path.read_bytes())
        report["samples"][0]["score"] = 0.0
        path.write_text(json.dumps(report))

    messages = forge(out, 1, edit)
    assert any(m.startswith("evidence/baseline.json.samples.0.score is 0.0") for m in messages)


OBSERVER = {"name": "x", "source": "0" * 64, "digest": None, "model": None, "observations": 1}


def in_baseline(*level, value):
    """Have a record say something else of its baseline."""

    def edit(raw, _):
        at(raw["baseline"], level[:-1])[level[-1]] = value

    return edit


@pytest.mark.parametrize(
    ("level", "value"),
    [
        (("problems",), [{"sentence": "baseline.incomplete", "values": {}}]),
        (("run", "run_id"), "0" * 64),
        (("run", "task_class"), "other"),
        # Else a look at that baseline, pinned anew, would be the first one.
        (("run", "system"), "other"),
        (("run", "scorer"), "0" * 64),
        (("run", "isolation_class"), "sandbox"),
        (("run", "log"), "0" * 64),
        (("run", "observer"), OBSERVER),
        (("run", "outputs"), "0" * 64),
        (("run", "fingerprints"), ["other"]),
        (("run", "clusters"), {"01": "one"}),
        (("run", "critical"), ["01"]),
        (("run", "held_out"), ["01"]),
        (("run", "retired"), {"13": "too easy"}),
        (("run", "table", "digests", 0), "0" * 64),
        (("run", "table", "scores", 0, 0), 0.0),
        (("run", "table", "passed", 0), None),
        (("run", "table", "errors"), {"01": [0]}),
        (("run", "table", "timeouts"), {"01": [0]}),
        (("run", "table", "failed"), {}),
        (("run", "table", "penalties", 0), 9.0),
        (("run", "table", "costs_usd"), [9.0] * 12),
        (("run", "table", "durations_seconds", 0), 9.0),
    ],
)
def test_what_a_record_has_of_its_baseline_is_compared_with_the_file(out, level, value):
    where = ".".join(("baseline", *map(str, level))).replace(".0", ".01", 1)
    messages = forge(out, 1, in_baseline(*level, value=value))
    assert any(message.startswith(where) for message in messages), messages


def pinned_anew(project):
    shutil.copy(folders(project / "out")[0] / "record.json", project / "bench/level/baseline.json")


def without_bench(project):
    shutil.rmtree(project / "bench")


def without_evidence(project):
    without_bench(project)
    for folder in folders(project / "out"):
        shutil.rmtree(folder / "evidence")


@pytest.mark.parametrize("gone", [pinned_anew, without_bench, without_evidence])
def test_a_record_is_decided_again_without_the_file_of_its_baseline(project, out, gone):
    gone(project)
    for folder in folders(out):
        record = RunRecord.read_file(folder / "record.json", "record")
        assert decide(record.facts).decision == record.decision
    # Without its evidence a record lacks files, and nothing else is wrong with it.
    faults = [fault for fault in found(out).faults if fault.seq <= len(SYSTEMS)]
    assert not [fault for fault in faults if not fault.message.startswith("evidence/")]
    assert bool(faults) == (gone is without_evidence)


@pytest.mark.parametrize(
    ("code", "baseline"),
    [
        ("baseline_mismatch", {}),
        ("observer_mismatch", {}),
        ("baseline_missing", None),
    ],
)
def test_a_rejection_is_not_turned_into_a_hold_that_nobody_can_check(project, out, code, baseline):
    pinned_anew(project)
    assert run_class(settings(project, "weak")).judgement.decision.outcome == "reject"
    without_bench(project)

    def edit(raw, folder):
        promotion = folder / "evidence" / "promotion.json"
        for path in (folder / "evidence").iterdir():
            if path != promotion:
                path.unlink()
        raw["evidence_files"] = {"promotion.json": ""}
        reason = {"code": f"{PREFIX}{code}", "message": "it is another one", "says": []}
        held = {"outcome": "hold", "reason_codes": [reason["code"]], "notes": []}
        raw["decision"] |= {**held, "remarks": [reason], "look": None}
        raw["decision"] |= {"next_step": None, "step": []}
        report = json.loads(promotion.read_bytes())
        report["decision"] |= held
        promotion.write_text(json.dumps(report))
        if baseline is None:
            raw["baseline"] = None
            raw["report"]["digests"]["baseline"] = None
            plan = json.loads((folder / "plan.json").read_bytes())
            plan["digests"]["baseline"] = None
            (folder / "plan.json").write_text(json.dumps(plan))

    messages = forge(out, 6, edit)
    if baseline is None:  # that there was none follows from nothing
        assert not any(message.startswith("decision.outcome") for message in messages)
    else:
        assert "decision.outcome is 'hold'; recomputed: 'reject'" in messages


def test_a_softened_severity_contradicts_the_taxonomy(out):
    def edit(raw, folder):
        raw["severities"]["harm"] = "warn"
        raw["report"]["block_severity_failure_modes"] = []
        promote(raw, folder)

    messages = forge(out, 3, edit)
    assert messages[0].startswith("report.digests.taxonomy")

    def with_digest(raw, folder):
        edit(raw, folder)
        before = raw["report"]["digests"]["taxonomy"]
        raw["report"]["digests"]["taxonomy"] = digest(raw["severities"])
        plan = (folder / "plan.json").read_text()
        (folder / "plan.json").write_text(plan.replace(before, digest(raw["severities"])))

    # The digest can be mended too: then it is another taxonomy, and only a head that was kept tells.
    assert not any("taxonomy" in message for message in forge(out, 3, with_digest))


def test_a_plan_contradicts_the_run(out):
    def edit(_, folder):
        text = (folder / "plan.json").read_text()
        (folder / "plan.json").write_text(text.replace('"seed": 0', '"seed": 9'))

    assert forge(out, 3, edit) == ["plan.json.seed is 9; recomputed: 0"]


@pytest.mark.parametrize("seq", [1, 3, 7])
def test_a_run_completes_an_incomplete_one_before_it(out, seq):
    def edit(raw, folder):
        raw["resumes"] = {"folder": folders(out)[0].name, "seq": seq}
        plan = json.loads((folder / "plan.json").read_bytes())
        (folder / "plan.json").write_text(json.dumps({**plan, "resumes": raw["resumes"]}))

    (message,) = forge(out, 3, edit)
    assert message.startswith("resumes: 00000001-")


def test_a_hidden_block_is_counted_again(out):
    def edit(raw, folder):
        raw["report"]["block_severity_failure_modes"] = []
        promote(raw, folder)

    messages = forge(out, 3, edit)
    assert any("report.block_severity_failure_modes" in message for message in messages)


def test_a_softened_policy_contradicts_its_digest(out):
    def edit(raw, _):
        raw["policy"]["alpha"] = 0.5

    assert any("report.digests.policy" in message for message in forge(out, 2, edit))


def test_a_run_that_lost_a_case_is_not_complete(out):
    def edit(raw, _):
        del raw["report"]["per_case"][2]

    messages = forge(out, 1, edit)
    assert "report.complete: there are 11 results for 12 planned trials" in messages


def test_a_run_with_a_skipped_case_is_not_complete(out):
    def edit(raw, _):
        raw["report"]["per_case"][2] |= {"outcome": "skipped", "score": None}

    messages = forge(out, 1, edit)
    assert any(message.startswith("report.complete: a trial was left out") for message in messages)


def test_no_trial_that_was_run_says_why_it_was_not(out):
    def edit(raw, folder):
        result = raw["report"]["per_case"][2]
        result["why"] = "capped"
        path = folder / "cases" / "03.json"
        case = json.loads(path.read_bytes())
        path.write_text(json.dumps({**case, "result": result}))

    assert "report.per_case.03.why is 'capped' of a trial that was run" in forge(out, 1, edit)


def test_a_verdict_is_drawn_again(out):
    assert json.loads((folders(out)[0] / "record.json").read_bytes())["verdict"]["sufficient"]

    def edit(raw, _):
        raw["verdict"] |= {"sufficient": True, "recommendation": "promote", "reasons": []}

    messages = forge(out, 2, edit)
    assert any(message.startswith("verdict.sufficient") for message in messages)


def test_the_clock_flag_is_held_against_the_times(out):
    messages = forge(out, 2, lambda raw, _: raw.update(clock_regressed=True))
    assert messages == ["clock_regressed does not agree with the times"]


def test_a_record_without_its_evidence_holds_no_longer(out):
    folder = folders(out)[0]
    shutil.rmtree(folder / "evidence")
    assert found(out).faults[0].seq == 1


def rewrite(path, **fields):
    """Replace fields of a JSON file; a path of keys is written with double underscores."""
    raw = json.loads(path.read_bytes())
    for key, value in fields.items():
        *outer, last = key.split("__")
        inner = raw
        for part in outer:
            inner = inner[part]
        inner[last] = value
    path.write_text(json.dumps(raw))


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("plan_id", "0" * 64, "report.plan_id"),
        ("system", "other", "report.plan_id"),
        ("seed", 7, "report.per_case.01.seed"),
        ("scope", "selected", "report.scope"),
        ("digests__system", "other", "report.plan_id"),
        ("digests__baseline", "0" * 64, "report.digests.baseline"),
        ("suite__name", "other", "report.suite.name"),
        ("clusters", {"99": "of no case"}, "report.clusters: there is no case 99"),
        ("critical", ["99"], "report.critical: there is no case 99"),
    ],
)
def test_what_follows_from_the_run_is_drawn_again(out, field, value, message):
    messages = forge(
        out, 1, lambda _, folder: rewrite(folder / "record.json", **{f"report__{field}": value})
    )
    assert any(found.startswith(message) for found in messages), messages


def test_the_subject_is_what_was_run(out):
    def edit(raw, folder):
        raw["subject"]["id"] = "another"
        for name in ("promotion.json", "proof.json", "evaluation.json"):
            path = folder / "evidence" / name
            path.write_text(path.read_text().replace('"good"', '"another"'))

    assert any(message.startswith("subject.id") for message in forge(out, 1, edit))


def test_a_checkpoint_that_no_output_names_is_not_the_subject(out):
    def edit(raw, _):
        raw["subject"] |= {"kind": "checkpoint", "id": "late", "digest": "f" * 64}

    messages = forge(out, 1, edit)
    assert "subject.id is 'late'; a scored output belongs to another checkpoint" in messages


def test_a_foreign_checkpoint_is_found_in_every_trial(out):
    record = RunRecord.read_json((folders(out)[0] / "record.json").read_bytes())
    results = tuple(
        result.model_copy(update={"trial": trial})
        for result in record.report.per_case
        for trial in (0, 1)
    )
    record = record.model_copy(
        update={
            "report": record.report.model_copy(update={"per_case": results}),
            "subject": Subject(kind="checkpoint", id="late", digest=None),
        }
    )
    named = {"metadata": {"artifact_sha256": None}}
    outputs = {
        case_file_name(result): {"rl_payload": {"checkpoint": {"checkpoint_id": name, **named}}}
        for result in results
        for name in ["early" if (result.case_id, result.trial) == ("02", 1) else "late"]
    }
    (message,) = recheck_decision._subject(record, outputs)
    assert message == "subject.id is 'late'; a scored output belongs to another checkpoint"


def test_lines_to_merge_are_those_of_the_verdict(out):
    def edit(_, folder):
        path = folder / "evidence" / "promotion.toml"
        path.write_text(path.read_text().replace("silver", "platinum"))

    assert "evidence/promotion.toml: not the lines that follow from the verdict" in forge(
        out, 1, edit
    )


@pytest.mark.parametrize("name", ["APPROVED.json", "promotion.toml"])
def test_evidence_that_a_run_does_not_give_is_named(out, name):
    def edit(raw, folder):
        (folder / "evidence" / name).write_text("{}")
        raw["evidence_files"][name] = ""

    assert f"evidence/{name}: not an evidence file of this run" in forge(out, 2, edit)


def test_evidence_that_is_left_out_is_named(out):
    def edit(raw, folder):
        (folder / "evidence" / "promotion.toml").unlink()
        del raw["evidence_files"]["promotion.toml"]

    assert "evidence/promotion.toml: missing" in forge(out, 1, edit)


def test_a_chance_that_was_taken_out_of_the_safety_evidence_is_named(out):
    def edit(_, folder):
        path = folder / "evidence" / "safety.json"
        report = json.loads(path.read_bytes())
        assert report.pop("pass_chances")
        path.write_text(json.dumps(report))

    messages = forge(out, 1, edit)
    assert any(message.startswith("evidence/safety.json.pass_chances") for message in messages)


def test_a_verdict_is_for_the_next_tier_and_asks_for_something(out):
    def higher(raw, _):
        raw["verdict"] |= {"current_tier": "silver", "target_tier": "platinum"}

    def softer(raw, _):
        raw["verdict"]["bar"]["score_lower_bound_95"] = 0.0

    assert any(message.startswith("verdict.target_tier") for message in forge(out, 1, higher))
    assert "verdict.bar: silver requires nothing" in forge(out, 5, softer)


def test_the_severities_of_the_harness_are_not_a_class_s_to_set(out):
    def edit(raw, _):
        raw["severities"]["rubric_error"] = "info"

    assert any("severities.rubric_error" in message for message in forge(out, 1, edit))


def test_a_baseline_that_does_not_fit_cannot_be_compared_with(project, out):
    """The case was changed: an honest hold, until somebody drops the reason and adds the evidence."""
    changed = project / "bench" / "level" / "cases" / "01" / "input" / "new.txt"
    changed.write_text("x")
    run_class(settings(project, "good"))
    honest = folders(out)[5]
    assert json.loads((honest / "record.json").read_bytes())["decision"]["outcome"] == "hold"
    assert found(out).faults == ()

    def edit(raw, folder):
        for path in (folders(out)[0] / "evidence").iterdir():
            if path.name != "promotion.json":
                shutil.copy(path, folder / "evidence")
                raw["evidence_files"][path.name] = ""
        promote(raw, folder)

    assert "decision.outcome is 'promote'; recomputed: 'hold'" in forge(out, 6, edit)

    def fitting(raw, _):
        digests = raw["report"]["digests"]["cases"]
        raw["baseline"]["run"]["table"]["digests"][0] = digests["01"]

    messages = forge(out, 6, fitting)
    assert any(message.startswith("baseline.run.table.digests.01 is ") for message in messages)


def test_case_files_are_those_of_the_results(out):
    def renamed(raw, folder):
        (folder / "cases" / "01.json").rename(folder / "cases" / "Z01.json")
        raw["case_files"]["Z01.json"] = raw["case_files"].pop("01.json")

    assert "case_files: not one file for each result" in forge(out, 1, renamed)


def test_a_trial_s_file_that_the_record_does_not_name_has_no_other_digest(out):
    def unnamed(raw, _):
        del raw["case_files"]["01.json"]

    messages = forge(out, 1, unnamed)
    assert "cases/01.json: not in the record: added later" in messages
    assert not any("the SHA-256 of 01.json" in message for message in messages)


def test_a_trial_s_file_is_of_its_class_and_case(out):
    def edit(_, folder):
        rewrite(folder / "cases" / "01.json", task_class="foreign")

    assert any(m.startswith("cases/01.json.task_class") for m in forge(out, 1, edit))


def test_a_class_is_that_of_its_folder(out):
    shutil.copytree(out / "runs" / "level", out / "runs" / "other")
    other = next(one for one in verify(out, {}) if one.task_class == "other")
    assert other.faults[0].message.startswith("report.task_class")


@pytest.mark.parametrize("part", ["", "record.json", "cases", "evidence", "cases/01.json"])
def test_a_record_is_all_in_its_folder(out, tmp_path, part):
    inside = folders(out)[1] / part
    outside = tmp_path / "outside"
    inside.rename(outside)
    inside.symlink_to(outside)
    first = found(out).faults[0]
    assert first.seq == 2
    assert "symlink" in first.message


def test_a_head_that_is_a_symlink_is_damaged(out, tmp_path):
    path = out / "runs" / "level" / "HEAD.json"
    path.rename(tmp_path / "head")
    path.symlink_to(tmp_path / "head")
    assert "symlink" in found(out).faults[0].message


def test_a_key_that_appears_twice_is_refused(out):
    def edit(_, folder):
        path = folder / "evidence" / "significance.json"
        path.write_text(path.read_text().replace('"pass"', '"mean_delta": 99.0,\n"pass"', 1))

    assert any("appears twice" in message for message in forge(out, 1, edit))


def test_evidence_of_a_class_without_a_record_is_seen(out):
    shutil.copytree(out / "evidence" / "level", out / "evidence" / "ghost")
    ghost = next(one for one in verify(out, {}) if one.task_class == "ghost")
    assert "no record of this class" in ghost.faults[0].message
    shutil.rmtree(out / "evidence" / "ghost")
    (out / "runs" / "dead" / "incomplete-20260101T000000Z-7").mkdir(parents=True)
    shutil.copytree(out / "evidence" / "level", out / "evidence" / "dead")
    dead = next(one for one in verify(out, {}) if one.task_class == "dead")
    assert dead.faults[0].message == "evidence of a class without a record"


def test_a_newest_record_that_cannot_be_read_is_one_fault(out):
    path = folders(out)[4] / "record.json"
    rewrite(path, seq=5, policy=None)
    rewrite(out / "runs" / "level" / "HEAD.json", sha256=sha256_hex(path.read_bytes()))
    (fault,) = found(out).faults
    assert fault.message.startswith("no valid record: policy")


def test_an_odd_name_in_the_folder_is_one_escaped_line(out, capsys):
    (out / "runs" / "a\n  head      level=9:fff").mkdir()
    assert main(["verify", str(out)]) == 1
    said = capsys.readouterr()
    assert "no name of a task class" in said.err
    assert "\n  head      level=9" not in said.out + said.err


@pytest.mark.parametrize("seq", [2_000_000, 999_999_999_999_999])
def test_a_head_far_beyond_is_one_fault(out, seq):
    kept = Head(schema_version=SCHEMA_VERSION, seq=seq, sha256="a" * 64)
    (fault,) = found(out, kept).faults
    assert fault.message == f"missing: record 6 to {seq} was removed"


def test_facts_that_break_the_arithmetic_are_a_fault_and_no_crash(out, monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr("benchgate.verify.recheck_record.aggregates", broken)
    assert "cannot be rechecked: ZeroDivisionError" in found(out).faults[0].message


# Decided by other rules

WHY = f"decided by rules 0, this benchgate has rules {RULES}: not computed again"


def without_rules(raw, folder):
    """Make a record one from before rules had a number: it lacks what was not written then."""
    del raw["rules"]
    path = folder / "evidence" / "significance.json"
    tests = json.loads(path.read_bytes())
    if tests["significance"]["paired"] is not None:
        del tests["significance"]["paired"]["p_half_ties"]
    path.write_text(json.dumps(tests))
    path = folder / "evidence" / "proof.json"
    proof = json.loads(path.read_bytes())
    del proof["rules"]
    significance = (folder / "evidence" / "significance.json").read_bytes()
    proof["artifact_sha256"]["significance_report"] = sha256_hex(significance)
    path.write_text(json.dumps(proof))


def copied(out):
    """Copy the newest evidence to where most readers look at it, as a run does."""
    folder = folders(out)[-1]
    copy = out / "evidence" / "level"
    shutil.rmtree(copy)
    shutil.copytree(folder / "evidence", copy)
    path = copy / "promotion.json"
    record = f"../../runs/level/{folder.name}/record.json"
    path.write_text(path.read_text().replace("../record.json", record))


@pytest.fixture
def old(out):
    """The records of the five runs, as if benchgate had made them before its rules had a number."""
    for folder in folders(out):
        path = folder / "record.json"
        raw = json.loads(path.read_bytes())
        without_rules(raw, folder)
        for name in ("significance.json", "proof.json"):
            data = (folder / "evidence" / name).read_bytes()
            raw["evidence_files"][name] = sha256_hex(data)
        path.write_text(json.dumps(raw))
    rechained(out)
    copied(out)
    return out


def test_what_other_rules_decided_is_valid_and_not_computed_again(old, monkeypatch):
    def refuse(*_):
        raise AssertionError("computed again")

    monkeypatch.setattr("benchgate.verify.recheck_decision.decide", refuse)
    monkeypatch.setattr("benchgate.verify.verification.with_seen", refuse)
    one = found(old)
    assert one.faults == ()
    assert one.stated == dict.fromkeys(range(1, 6), 0)


def test_an_old_chain_goes_on_and_an_old_baseline_is_compared_with(project, old, capsys):
    path = project / "bench" / "level" / "baseline.json"
    raw = json.loads(path.read_bytes())
    assert raw.pop("rules") == RULES
    path.write_text(json.dumps(raw))
    run = run_class(settings(project, "good"))
    assert run.judgement.decision.promotion_allowed
    assert json.loads((run.published.folder / "record.json").read_bytes())["rules"] == RULES
    assert main(["verify", str(old), "--require-promote", f"--bench-root={project / 'bench'}"]) == 0
    assert f"  rules     5 earlier records were {WHY}\n" in capsys.readouterr().out


@pytest.mark.parametrize("number", [0, RULES + 8])
def test_a_promotion_by_other_rules_needs_somebody_who_believes_it(out, capsys, number):
    def edit(raw, folder):
        if not number:
            without_rules(raw, folder)
            return
        raw["rules"] = number
        rewrite(folder / "evidence" / "proof.json", rules=number)

    assert forge(out, 5, edit) == []
    copied(out)
    assert main(["verify", str(out)]) == 0
    why = WHY.replace("rules 0", f"rules {number}")
    assert f"  rules     the newest record was {why}\n" in capsys.readouterr().out
    said = refused(out, capsys)
    assert said == f"level: not promoted: record 5 was {why} (--allow-rules={number})\n"
    refused(out, capsys, f"--allow-rules={number + 1}")
    allowed = ["--allow-rules=77", f"--allow-rules={number}"]
    assert main(["verify", str(out), "--require-promote", *allowed]) == 0


def forged_promotion(raw, folder):
    """Make a hold a promotion by rules 0, in every place that repeats it."""
    without_rules(raw, folder)
    decision = raw["decision"]
    codes = decision["reason_codes"]
    decision["remarks"] = [one for one in decision["remarks"] if one["code"] not in codes]
    decision["next_step"] = None
    promote(raw, folder)
    path = folder / "evidence" / "evaluation.json"
    rewrite(path, checkpoint_promotion__promotion_allowed=True)
    rewrite(path, checkpoint_promotion__reason_codes=[])
    rewrite(folder / "evidence" / "proof.json", failure_analysis=None)


def test_a_forged_promotion_gains_nothing_by_another_number(project, out, capsys):
    run_class(settings(project, "weak"))
    kept = head(out)
    assert forge(out, 6, forged_promotion) == []
    copied(out)
    assert refused(out, capsys) == f"level: not promoted: record 6 was {WHY} (--allow-rules=0)\n"
    # Whoever believes rules 0 has a head of the chain: then no record of it can be another.
    kept_head = f"--head=level=6:{kept.sha256}"
    said = refused(out, capsys, "--allow-rules=0", kept_head)
    assert "is not the record that the kept head names" in said


def in_evidence(name, **fields):
    return lambda _, folder: rewrite(folder / "evidence" / name, **fields)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda raw, _: raise_score(raw), "report.run_id"),
        (lambda raw, _: raw["policy"].update(alpha=0.5), "report.digests.policy"),
        (lambda raw, _: raw["decision"].update(outcome="promote"), "decision.outcome is promote"),
        (lambda raw, _: raw["decision"]["notes"].append("note_x"), "decision.remarks"),
        (lambda raw, _: raw["verdict"].update(sufficient=True), "verdict.sufficient"),
        (lambda raw, _: raw.update(rules=7), "evidence/proof.json.rules is None; recomputed: 7"),
        (in_evidence("proof.json", failure_analysis=None), "evidence/proof.json.failure_analysis"),
        (
            in_evidence("evaluation.json", checkpoint_promotion__promotion_allowed=True),
            "evidence/evaluation.json.checkpoint_promotion.promotion_allowed",
        ),
        (
            in_evidence("significance.json", policy__alpha=0.01),
            "evidence/significance.json.policy.alpha",
        ),
        (in_evidence("promotion.json", policy__alpha=0.01), "evidence/promotion.json.policy.alpha"),
        (
            in_evidence("significance.json", significance=None),
            "its facts cannot be rechecked: Unreadable",
        ),
    ],
)
def test_what_no_rule_changes_is_compared(old, edit, message):
    messages = forge(old, 2, edit)
    assert any(found.startswith(message) for found in messages), messages


@pytest.mark.parametrize("name", ["baseline.json", "trained.json"])
def test_samples_that_no_trial_gave_are_found_whatever_the_rules(project, name):
    run = run_class(settings(project, "good", "run:weak", out="beside"))
    assert run.judgement.decision.promotion_allowed
    assert forge(project / "beside", 1, without_rules) == []

    def lowered(_, folder):
        path = folder / "evidence" / name
        report = json.loads(path.read_bytes())
        report["samples"][0]["score"] = 0.0
        path.write_text(json.dumps(report))

    messages = forge(project / "beside", 1, lowered)
    assert any(found.startswith(f"evidence/{name}.samples.0.score is 0.0") for found in messages)


def test_a_replay_cannot_hide_behind_other_rules(old):
    def edit(raw, folder):
        source = folders(old)[0]
        sha256 = sha256_hex((source / "record.json").read_bytes())
        raw["replays"] = {"kind": "run", "name": source.name, "sha256": sha256, "seq": 1}
        plan = json.loads((folder / "plan.json").read_bytes())
        (folder / "plan.json").write_text(json.dumps({**plan, "replays": raw["replays"]}))

    assert "decision.notes: replayed is False; recomputed: True" in forge(old, 5, edit)


def test_a_file_that_other_rules_decided_is_believed_by_a_person_only(old, capsys):
    """A file has no chain: else whoever forged a decision would only have to name other rules, too."""
    folder = folders(old)[4]
    paths = [folder / "record.json", *(folder / "evidence").glob("*.json")]
    for path in (*paths, *(old / "evidence" / "level").glob("*.json")):
        capsys.readouterr()
        assert main(["verify", str(path)]) == 1
        assert f"{WHY}; --allow-rules=0 believes it\n" in capsys.readouterr().err
        assert main(["verify", str(path), "--allow-rules=0"]) == 0
        assert f", {WHY}\n" in capsys.readouterr().out
    path = folder / "evidence" / "significance.json"
    path.write_text(path.read_text().replace('"pass": true', '"pass": false'))
    with pytest.raises(ArtifactError, match=r"its SHA-256 is not the one in its record\.json"):
        validate_file(path, allow_rules=[0])


def test_a_decision_by_other_rules_is_none_to_promote_a_class_on(project, old, capsys):
    words = ["verdict", "--task-class=level", "--target-tier=silver", f"--out={old}"]
    assert main([*words, f"--bench-root={project / 'bench'}"]) == 1
    said = capsys.readouterr().out
    assert f"  decision of the run: promote, {WHY}\n" in said
    assert "merge" not in said


def test_a_run_that_other_rules_decided_is_pinned_with_a_reason(project, old, capsys):
    words = ["pin", "5", "--yes", f"--out={old}", f"--bench-root={project / 'bench'}"]
    assert main(words) == 1
    doubt = f"is pinned with --reason=TEXT only: its decision (promote) was {WHY}\n"
    assert capsys.readouterr().err.endswith(doubt)
    assert main([*words, "--reason=it is what runs today"]) == 0


def test_a_page_says_that_a_decision_cannot_be_computed_again(old, tmp_path, capsys):
    newest = str(folders(old)[4])
    assert main(["report", newest]) == 0
    assert f"\n{WHY.capitalize()}\n" in capsys.readouterr().out
    assert main(["report", newest, f"--html={tmp_path / 'page.html'}"]) == 0
    assert WHY.capitalize() in (tmp_path / "page.html").read_text()


# Killed while it was published


def test_a_record_that_was_not_entered_yet_is_no_fault_but_not_complete_either(
    project, out, monkeypatch
):
    def die(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("benchgate.audit.store.write_head", die)
        with pytest.raises(KeyboardInterrupt):
            run_class(settings(project, "weak"))
    assert head(out).seq == 5
    assert found(out).faults == ()
    (fault,) = found(out, require_complete=True).incomplete
    assert fault.message == "record 6 is not entered in HEAD.json: its process was killed"
    # A half-copied evidence is that of either record; anything else is not.
    path = out / "evidence" / "level" / "trained.json"
    shutil.copy(folders(out)[4] / "evidence" / "trained.json", path)
    assert found(out).faults == ()
    path.write_text("{}")
    assert found(out).faults[0].path == path


def test_a_record_that_was_added_by_hand_follows_nothing(out):
    last = folders(out)[4]
    for seq, prev_hash in ((6, "0" * 64), (7, head(out).sha256)):
        folder = last.with_name(last.name.replace("00000005", f"{seq:08d}"))
        shutil.copytree(last, folder)
        rewrite(folder / "record.json", seq=seq, prev_hash=prev_hash)
        assert any("added by hand" in f.message for f in found(out).faults if f.seq == seq)
        shutil.rmtree(folder)


def test_a_run_that_ends_meanwhile_is_waited_for(project, out, monkeypatch):
    from benchgate.verify import verification

    real, ran = verification.numbered, []

    def numbered_late(runs):
        seen = real(runs)
        if not ran:
            ran.append(run_class(settings(project, "good")))
        return seen

    monkeypatch.setattr(verification, "numbered", numbered_late)
    assert found(out).faults == ()


def test_two_gates_of_one_name_hold(project, out):
    from benchgate.gates.judge import judge

    def objecting(*_):
        return "no"

    run = run_class(settings(project, "good", out="gated"))
    assert run.judgement.decision.promotion_allowed
    finished = run.judgement.run
    look = finished.facts.look
    judgement = judge(finished, gates=[objecting, objecting], count=lambda *_: look)
    codes = judgement.decision.reason_codes
    assert len(codes) == 2

    def edit(raw, folder):
        raw["decision"] = json.loads(judgement.decision.model_dump_json())
        raw["objections"] = [{"gate": "objecting", "text": "no"}] * 2
        keys = ("outcome", "promotion_allowed", "reason_codes", "notes")
        rewrite(
            folder / "evidence" / "promotion.json", decision={k: raw["decision"][k] for k in keys}
        )

    def left_out(raw, folder):
        edit(raw, folder)
        del raw["objections"]

    messages = forge(project / "out", 1, edit)
    assert not any(message.startswith("decision") for message in messages)
    # What a gate said is a fact: a decision alone does not say it.
    assert any("decision.outcome" in message for message in forge(project / "out", 1, left_out))


# Complete


def test_a_session_that_left_no_record_is_seen_where_completeness_is_asked(out):
    assert found(out, require_complete=True).incomplete == ()
    left = out / "runs" / "level" / "incomplete-20260101T000000Z-7"
    left.mkdir()
    assert found(out).faults == ()
    (fault,) = found(out, require_complete=True).incomplete
    assert fault.path == left


def test_an_incomplete_newest_run_is_seen_where_completeness_is_asked(project, out):
    for path in (project / "bench" / "level" / "cases" / "03").glob("case.toml"):
        path.write_text("[case")
    run_class(settings(project, "good"))
    assert found(out).faults == ()
    (fault,) = found(out, require_complete=True).incomplete
    assert "record 6, is incomplete" in fault.message


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(ArtifactError, match="cannot be read"):
        verify(tmp_path / "none", {})


# Promoted


def refused(out, capsys, *options):
    assert main(["verify", str(out), "--require-promote", *options]) == 1
    return capsys.readouterr().err


def test_a_promotion_that_is_required_is_that_of_the_newest_record(project, out, capsys):
    assert main(["verify", str(out), "--require-promote", "--task-class=level"]) == 0
    run_class(settings(project, "harmful"))
    assert main(["verify", str(out), "--require-complete"]) == 0
    said = refused(out, capsys, "--require-complete")
    code = "checkpoint_promotion_blocked_block_severity_failure_mode"
    assert said == f"level: not promoted: record 6 says reject ({code})\n"


def test_a_run_without_a_baseline_is_not_promoted(project, capsys):
    run_class(settings(project, "good", "none", out="alone"))
    said = refused(project / "alone", capsys)
    assert "level: not promoted: record 1 says hold (checkpoint_promotion_blocked_baseline_" in said


def test_a_promotion_of_an_earlier_run_is_none_of_a_run_that_left_no_record(out, capsys):
    kept = f"--head=level=4:{sha256_hex((folders(out)[3] / 'record.json').read_bytes())}"
    assert main(["verify", str(out), "--require-promote", kept]) == 0
    (out / "runs" / "level" / "incomplete-20260101T000000Z-7").mkdir()
    assert "a session began and left no record" in refused(out, capsys, kept)
    (out / "runs" / "level" / "incomplete-20260101T000000Z-7").rmdir()
    newest = f"--head=level=5:{head(out).sha256}"
    assert main(["verify", str(out), "--require-complete", newest]) == 0
    said = refused(out, capsys, newest)
    assert (
        said == "level: not promoted: there is no record after number 5, the head that was kept\n"
    )


@pytest.mark.parametrize("name", ["other", "../level"])
def test_a_class_that_must_be_there_and_is_not(out, capsys, name):
    assert "level: 5 valid" not in refused(out, capsys, f"--task-class={name}")
    (out / "last-selected" / "other").mkdir(parents=True)
    assert main(["verify", str(out), "--task-class=level", f"--task-class={name}"]) == 1
    said = capsys.readouterr()
    assert "level: 5 valid records" in said.out
    assert f"{name}: not valid" in said.out


def test_each_class_must_be_promoted(project, out, capsys):
    runs = out / "runs"
    shutil.copytree(runs / "level", runs / "other")
    assert "not promoted" not in refused(out, capsys)  # records of another class are not valid
    shutil.rmtree(runs / "other")
    run_class(settings(project, "weak"))
    assert "level: not promoted: record 6 says hold" in refused(out, capsys)


def test_the_folder_that_is_verified_by_default_is_the_one_that_runs_write(
    out, monkeypatch, capsys
):
    out.rename(out.with_name(".benchgate"))
    monkeypatch.chdir(out.parent)
    assert main(["verify"]) == 0
    assert "level: 5 valid records" in capsys.readouterr().out


# The command


def test_the_command_says_what_holds_and_that_nothing_vouches_for_it(out, capsys):
    assert main(["verify", str(out)]) == 0
    said = capsys.readouterr().out
    assert "level: 5 valid records; newest: promote, complete" in said
    assert f"head      level=5:{head(out).sha256}" in said
    assert "cannot show that its newest records were deleted" in said
    assert main(["verify", str(out), f"--head=level=5:{head(out).sha256}"]) == 0
    assert "record 5 has the head that was given; 0 records after it" in capsys.readouterr().out


def test_the_command_names_the_first_record_that_does_not_hold(out, capsys):
    for seq in (2, 4):
        path = folders(out)[seq - 1] / "record.json"
        path.write_bytes(path.read_bytes().replace(b'"seed": 0', b'"seed": 1', 1))
    assert main(["verify", str(out)]) == 1
    said = capsys.readouterr()
    assert "level: not valid; first fault: record 2" in said.out
    assert "is not the record that record 3 names" in said.err


@pytest.mark.parametrize(
    "value", ["5:abc", "level=5", "level=0:" + "a" * 64, "Level=1:" + "a" * 64]
)
def test_a_malformed_head_is_wrong_use(out, value, capsys):
    with pytest.raises(SystemExit) as caught:
        main(["verify", str(out), f"--head={value}"])
    assert caught.value.code == 2
    assert "expected CLASS=SEQ:HASH" in capsys.readouterr().err


def test_the_command_names_a_record_that_only_the_kept_head_knows(out, capsys):
    assert main(["verify", str(out), f"--head=level=7:{'a' * 64}"]) == 1
    assert "level: not valid; first fault: record 6" in capsys.readouterr().out


def test_statuses_of_nothing_and_of_no_folder(tmp_path, capsys):
    assert main(["verify", str(tmp_path)]) == 1
    assert "there is no record of a run" in capsys.readouterr().err
    assert main(["verify", str(tmp_path / "none")]) == 2
    twice = f"--head=level=1:{'a' * 64}"
    assert main(["verify", str(tmp_path), twice, twice]) == 2


@pytest.mark.parametrize(
    "each",
    [pytest.param(10, marks=pytest.mark.slow), pytest.param(40, marks=pytest.mark.nightly)],
)
def test_four_processes_of_many_runs_leave_one_unforked_chain(project, each):
    code = (
        "from pathlib import Path; from benchgate.runner.run import RunSettings, run_class\n"
        f"root = Path({str(project)!r})\n"
        f"for _ in range({each}):\n"
        "    run = run_class(RunSettings(task_class='level', out=root / 'many', bench_root=root / 'bench'))\n"
        "    assert not run.problems, run.problems\n"
    )
    workers = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(4)]
    assert [worker.wait() for worker in workers] == [0] * 4
    runs = project / "many" / "runs" / "level"
    assert [seq for seq, _ in numbered(runs)] == list(range(1, 4 * each + 1))
    assert chain_faults(runs) == []
    assert not [name for name in os.listdir(runs) if name.startswith("incomplete-")]


def test_what_was_added_to_a_file_is_a_difference():
    """An explanation in the record that the file of the trial has not, or a field in a file of evidence."""
    then = {"score": {"breakdown": {}}, "n": 1}
    now = {"score": {"breakdown": {"exact": 1.0}}, "n": 1, "explanation": "right"}
    assert list(same("result", then, now)) == [
        "result.score.breakdown.exact is 1.0; recomputed: nothing",
        "result.explanation is 'right'; recomputed: nothing",
    ]
