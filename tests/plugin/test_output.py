"""The output folder: refused early if unusable, appended to in a chain, readable by its owner only."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import subprocess
import sys

import pytest

from benchgate.audit import store
from benchgate.cli import main
from benchgate.errors import ArtifactError
from benchgate.verify.validate import validate_file
from benchgate.wire import writing
from benchgate.wire.model import SCHEMA_VERSION


def sha256(path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def tree(folder) -> dict[str, bytes]:
    return {
        str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()
    }


# Refused at the start


def test_a_file_in_place_of_the_output_folder_is_refused_before_anything_runs(bench):
    (bench.root / "taken").write_text("kept")
    bench.system('raise AssertionError("was run")')
    for out in ("taken", "taken/deep/er"):
        result = bench.run(f"--bench-out={out}")
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines(["*taken*: cannot be created: *"])
        result.stdout.no_fnmatch_line("*was run*")
    assert (bench.root / "taken").read_text() == "kept"


def test_a_file_in_place_of_a_folder_of_the_class_is_refused_before_anything_runs(bench):
    (bench.out / "runs").mkdir(parents=True)
    (bench.out / "runs/echo").write_text("kept")
    with pytest.raises(ArtifactError, match="runs/echo: cannot be created: "):
        bench.engine()
    assert (bench.out / "runs/echo").read_text() == "kept"


def test_a_link_in_place_of_a_file_is_replaced_and_not_followed(bench):
    bench.engine()
    victim = bench.root / "victim"
    victim.write_text("kept")
    evidence = bench.out / "evidence/echo/promotion.json"
    evidence.unlink()
    evidence.symlink_to(victim)
    assert not bench.engine().failures
    assert victim.read_text() == "kept"
    assert not evidence.is_symlink()


@pytest.mark.parametrize("linked", ["runs", "runs/echo", "evidence", "evidence/echo"])
def test_a_link_in_place_of_a_folder_is_refused_before_anything_runs(bench, linked):
    bench.system('raise AssertionError("was run")')
    victim = bench.root / "victim"
    victim.mkdir()
    path = bench.out / linked
    path.parent.mkdir(parents=True)
    path.symlink_to(victim)
    with pytest.raises(ArtifactError, match=f"{linked}: is a link"):
        bench.engine()
    assert not list(victim.iterdir())
    root = f"--bench-root={bench.root / 'bench'}"
    assert main(["run", "--task-class=echo", root, f"--out={bench.out}"]) == 2
    assert not list(victim.iterdir())


@pytest.mark.parametrize("linked", ["runs/echo", "evidence"])
def test_verify_does_not_follow_a_link_either(bench, capsys, linked):
    bench.engine()
    (bench.out / linked).rename(bench.root / "elsewhere")
    (bench.out / linked).symlink_to(bench.root / "elsewhere")
    assert main(["verify", str(bench.out)]) == 1
    assert f"{linked} is a link" in capsys.readouterr().err


def test_a_link_is_refused_for_a_part_of_the_cases_too(bench):
    (bench.out / "last-selected").mkdir(parents=True)
    victim = bench.root / "victim"
    victim.mkdir()
    (bench.out / "last-selected/echo").symlink_to(victim)
    with pytest.raises(ArtifactError, match="last-selected/echo: is a link"):
        bench.engine(case_filter="01")
    assert not list(victim.iterdir())


def test_the_output_folder_itself_may_be_a_link(bench):
    (bench.root / "disk").mkdir()
    bench.out.symlink_to(bench.root / "disk")
    assert not bench.engine().failures
    assert bench.record()["report"]["complete"]


def test_a_link_that_appears_during_the_run_is_refused_and_the_report_is_not_lost(bench):
    (bench.root / "victim").mkdir()
    bench.system(f"""
        from pathlib import Path
        copy = Path({str(bench.out / "evidence")!r})
        if not copy.exists():
            copy.symlink_to({str(bench.root / "victim")!r})
    """)
    result = bench.run()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["FAILED the run is not recorded: *evidence: is a link*"])
    assert json.loads(result.stderr.str())["case_count"] == 3
    assert not list((bench.root / "victim").iterdir())


@pytest.mark.parametrize("folder", [".", "runs/echo", "evidence"])
def test_a_folder_that_every_user_can_write_to_is_refused(bench, folder):
    path = bench.out / folder
    path.mkdir(parents=True)
    path.chmod(0o777)
    with pytest.raises(ArtifactError, match="every user can write to it"):
        bench.engine()
    path.chmod(0o1777)  # as /tmp: others cannot replace files of this user
    assert not bench.engine().failures


def test_a_folder_of_another_user_is_a_warning(bench, monkeypatch):
    bench.out.mkdir()
    owner = os.stat(bench.out).st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    result = bench.run()
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(
        [f"warning   *.benchgate belongs to user {owner}, not to {owner + 1}"]
    )
    root = f"--bench-root={bench.root / 'bench'}"
    with pytest.warns(UserWarning, match="belongs to user"):
        assert main(["run", "--task-class=echo", root, f"--out={bench.out}"]) == 0


# Failing at the end


def break_writing(monkeypatch, name: str) -> None:
    """Let opening a file of some name for writing, also under a temporary name, fail as on a full disk."""
    real = os.open

    def open_(path, flags, *arguments, **options):
        if flags & os.O_WRONLY and os.path.basename(path).lstrip(".").startswith(name):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(path, flags, *arguments, **options)

    monkeypatch.setattr(os, "open", open_)


def test_a_full_disk_at_the_end_is_told_and_the_report_is_not_lost(bench, monkeypatch):
    bench.engine()
    before = bench.head(), tree(bench.folder()), tree(bench.out / "evidence")
    break_writing(monkeypatch, "record.json")
    result = bench.run()
    result.assert_outcomes(passed=3)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        ["FAILED the run is not recorded: */record.json: cannot be written: No space left*"]
    )
    report = json.loads(result.stderr.str())
    assert report["case_count"] == 3
    monkeypatch.undo()
    monkeypatch.chdir(bench.root)
    assert (bench.head(), tree(bench.folder()), tree(bench.out / "evidence")) == before
    assert not list(bench.out.rglob("*.tmp"))


def test_after_a_full_disk_the_chain_goes_on(bench, monkeypatch):
    bench.engine()
    with monkeypatch.context() as broken:
        break_writing(broken, "HEAD.json")
        result = bench.run()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["FAILED */HEAD.json: cannot be written: *; run 2 is recorded, *"])
    assert bench.read("evidence/echo/promotion.json")["record_ref"]["seq"] == 2
    assert not bench.engine().failures
    seq = bench.head()["seq"]
    records = sorted((bench.out / "runs/echo").glob("0*/record.json"))
    assert len(records) == seq
    for earlier, later in zip(records, records[1:], strict=False):
        assert json.loads(later.read_bytes())["prev_hash"] == sha256(earlier)


def test_a_full_disk_while_cases_run_fails_the_session(bench, monkeypatch):
    break_writing(monkeypatch, "02.json")
    result = bench.run()
    result.assert_outcomes(passed=3)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["FAILED */02.json: cannot be written: No space left*"])


def test_a_system_that_removes_the_output_folder_fails_the_session(bench):
    bench.system("""
        import shutil
        if case.case_id == "02":
            shutil.rmtree(case.input_path.parents[4] / ".benchgate")
    """)
    result = bench.run()
    result.assert_outcomes(passed=3)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["FAILED *: cannot be written: No such file or directory*"])


def test_a_full_disk_takes_no_result_of_the_command_along(bench, monkeypatch, capsys):
    from benchgate.cli import main

    break_writing(monkeypatch, "02.json")
    status = main(["run", "--task-class=echo", "--out=out"])
    printed = capsys.readouterr()
    assert status == 1
    assert "02.json: cannot be written: No space left" in printed.err
    assert [json.loads(line)["case_id"] for line in printed.out.splitlines()[:3]] == [
        "01",
        "02",
        "03",
    ]
    assert json.loads(printed.out.splitlines()[3])["complete"] is True
    assert '"run_id"' in printed.err


# The chain


def test_a_second_run_is_appended_after_the_first(bench):
    bench.engine()
    first = bench.folder()
    bench.engine()
    second = bench.record()
    assert second["seq"] == 2
    assert second["prev_hash"] == sha256(first / "record.json")
    assert bench.head() == {
        "schema_version": SCHEMA_VERSION,
        "seq": 2,
        "sha256": sha256(bench.folder() / "record.json"),
    }
    assert bench.read(first / "record.json")["prev_hash"] == "0" * 64


def test_a_record_names_the_digest_of_each_file_beside_it(bench):
    bench.engine()
    record, folder = bench.record(), bench.folder()
    assert set(record["case_files"]) == {"01.json", "02.json", "03.json"}
    for part in ("cases", "evidence"):
        listed = record["case_files" if part == "cases" else "evidence_files"]
        assert listed == {path.name: sha256(path) for path in (folder / part).iterdir()}


def test_the_folder_is_named_by_number_time_and_run(bench):
    bench.engine()
    seq, stamp, run = bench.folder().name.split("-")
    assert seq == "00000001"
    assert len(stamp) == len("20260512T000000Z")
    assert bench.record()["report"]["run_id"].startswith(run)
    assert len(run) == 8


def test_the_evidence_refers_to_its_record(bench):
    bench.engine()
    for place in (bench.folder() / "evidence", bench.out / "evidence/echo"):
        reference = bench.read(place / "promotion.json")["record_ref"]
        assert reference["seq"] == 1
        assert (place / reference["path"]).samefile(bench.folder() / "record.json")


def test_nothing_is_appended_to_a_damaged_chain_and_the_file_is_named(bench):
    bench.engine()
    (path,) = (bench.out / "runs/echo").glob("0*/record.json")
    path.write_bytes(path.read_bytes().replace(b'"passed_count": 3', b'"passed_count": 2'))
    before = tree(bench.out)
    result = bench.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{path}: *"])
    assert tree(bench.out) == before


def test_a_record_that_is_gone_is_a_damaged_chain(bench):
    bench.engine()
    shutil.rmtree(bench.folder())
    with pytest.raises(ArtifactError, match=r"HEAD\.json: names record 1, which is not there"):
        bench.engine()


def test_a_head_that_is_gone_is_a_damaged_chain(bench):
    bench.engine()
    bench.engine()
    (bench.out / "runs/echo/HEAD.json").unlink()
    with pytest.raises(ArtifactError, match=r"HEAD\.json: missing, though there is a record 2"):
        bench.engine()


def test_a_damaged_chain_does_not_stop_a_selection(bench):
    bench.engine()
    (bench.out / "runs/echo/HEAD.json").write_bytes(b"{")
    assert not bench.engine(case_filter="02").failures


def test_the_chain_of_another_class_does_not_matter(bench):
    bench.engine()
    (bench.out / "runs/echo/HEAD.json").write_bytes(b"{")
    other = type(bench)(bench.pytester, name="mirror")
    assert not other.engine().failures


def test_a_selection_replaces_the_last_one_and_leaves_the_chain_alone(bench):
    bench.engine()
    before = tree(bench.out / "runs"), tree(bench.out / "evidence")
    bench.run("-k", "02 or 03")
    bench.engine(case_filter="01")
    assert bench.outcomes(bench.selected()) == {"01": "scored"}
    cases = bench.out / "last-selected/echo/cases"
    assert [path.name for path in cases.iterdir()] == ["01.json"]
    assert (tree(bench.out / "runs"), tree(bench.out / "evidence")) == before


@pytest.mark.parametrize("umask", [0o000, 0o277])
def test_only_the_owner_can_read_whatever_the_umask(bench, umask):
    out = bench.root / "deep/out"
    before = os.umask(umask)
    try:
        bench.engine(out=out)
        bench.engine(out=out, case_filter="01")
    finally:
        os.umask(before)
    paths = [out, *out.rglob("*")]
    assert {p.name for p in paths} >= {
        "HEAD.json",
        "record.json",
        "report.json",
        "01.json",
        "promotion.json",
    }
    wrong = [p for p in paths if (p.stat().st_mode & 0o777) != (0o700 if p.is_dir() else 0o600)]
    assert wrong == []


@pytest.mark.slow
def test_two_processes_do_not_fork_the_chain(bench):
    code = "import sys; from benchgate.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "run", "--task-class=echo", "--out=.benchgate"]
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(3)]
    assert [process.wait(timeout=600) for process in running] == [0, 0, 0]
    assert bench.head()["seq"] == 3
    records = sorted((bench.out / "runs/echo").glob("0*/record.json"))
    assert json.loads(records[2].read_bytes())["prev_hash"] == sha256(records[1])
    assert json.loads(records[1].read_bytes())["prev_hash"] == sha256(records[0])


def test_the_lock_is_taken_for_each_append(bench, monkeypatch):
    held = []
    real = writing.locked

    def locked(folder):
        held.append(folder.name)
        return real(folder)

    monkeypatch.setattr(store, "locked", locked)
    bench.engine()
    assert set(held) == {"echo"}


def test_an_unknown_artifact_is_no_valid_one(bench):
    path = bench.root / "x.json"
    path.write_text('{"schema_version": 1}')
    with pytest.raises(ArtifactError, match="of no known kind"):
        validate_file(path)


@pytest.mark.parametrize(
    ("depth", "outcome"), [(149, "scored"), (153, "harness_error"), (900, "harness_error")]
)
def test_an_output_that_nobody_could_read_back_is_no_output(bench, depth, outcome):
    bench.system(f"""
        nested = []
        for _ in range({depth - 2}):
            nested = [nested]
        return {{"answer": (case.input_path / "question.txt").read_text().upper(), "nested": nested}}
    """)
    bench.engine()
    assert bench.result("01")["outcome"] == outcome
    assert validate_file(bench.folder() / "cases" / "01.json") == "case"
    assert validate_file(bench.folder() / "record.json") == "record"
