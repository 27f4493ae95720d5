"""The output folder: refused early if unusable, appended to in a chain, readable by its owner only."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from fnmatch import fnmatchcase

import pytest

from benchgate.audit import store
from benchgate.cli import main
from benchgate.errors import ArtifactError
from benchgate.verify.validate import validate_file
from benchgate.wire import writing
from benchgate.wire.model import SCHEMA_VERSION
from tests.conftest import BenchFolder

NOT_RECORDED = "the run is not recorded: */record.json: cannot be written: No space left*"


def sha256(path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def tree(folder) -> dict[str, bytes]:
    return {
        str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()
    }


# Refused at the start


def test_a_file_in_place_of_the_output_folder_is_refused_before_anything_runs(echo):
    (echo.root / "taken").write_text("kept")
    echo.system('raise AssertionError("was run")')
    for out in ("taken", "taken/deep/er"):
        with pytest.raises(ArtifactError, match=r"taken.*: cannot be created: "):
            echo.engine(out=echo.root / out)
    assert (echo.root / "taken").read_text() == "kept"


def test_a_file_in_place_of_a_folder_of_the_class_is_refused_before_anything_runs(echo):
    (echo.out / "runs").mkdir(parents=True)
    (echo.out / "runs/echo").write_text("kept")
    with pytest.raises(ArtifactError, match="runs/echo: cannot be created: "):
        echo.engine()
    assert (echo.out / "runs/echo").read_text() == "kept"


def test_a_link_in_place_of_a_file_is_replaced_and_not_followed(echo):
    echo.engine()
    victim = echo.root / "victim"
    victim.write_text("kept")
    evidence = echo.out / "evidence/echo/promotion.json"
    evidence.unlink()
    evidence.symlink_to(victim)
    assert not echo.engine().failures
    assert victim.read_text() == "kept"
    assert not evidence.is_symlink()


@pytest.mark.parametrize("linked", ["runs", "runs/echo", "evidence", "evidence/echo"])
def test_a_link_in_place_of_a_folder_is_refused_before_anything_runs(echo, linked):
    echo.system('raise AssertionError("was run")')
    victim = echo.root / "victim"
    victim.mkdir()
    path = echo.out / linked
    path.parent.mkdir(parents=True)
    path.symlink_to(victim)
    with pytest.raises(ArtifactError, match=f"{linked}: is a link"):
        echo.engine()
    assert not list(victim.iterdir())
    root = f"--bench-root={echo.root / 'bench'}"
    assert main(["run", "--task-class=echo", root, f"--out={echo.out}"]) == 2
    assert not list(victim.iterdir())


@pytest.mark.parametrize("linked", ["runs/echo", "evidence"])
def test_verify_does_not_follow_a_link_either(echo, capsys, linked):
    echo.engine()
    (echo.out / linked).rename(echo.root / "elsewhere")
    (echo.out / linked).symlink_to(echo.root / "elsewhere")
    assert main(["verify", str(echo.out)]) == 1
    assert f"{linked} is a link" in capsys.readouterr().err


def test_a_link_is_refused_for_a_part_of_the_cases_too(echo):
    (echo.out / "last-selected").mkdir(parents=True)
    victim = echo.root / "victim"
    victim.mkdir()
    (echo.out / "last-selected/echo").symlink_to(victim)
    with pytest.raises(ArtifactError, match="last-selected/echo: is a link"):
        echo.engine(case_filter="01")
    assert not list(victim.iterdir())


def test_the_output_folder_itself_may_be_a_link(echo):
    (echo.root / "disk").mkdir()
    echo.out.symlink_to(echo.root / "disk")
    assert not echo.engine().failures
    assert echo.record()["report"]["complete"]


def test_a_link_that_appears_during_the_run_is_refused(echo):
    (echo.root / "victim").mkdir()
    echo.system(f"""
        from pathlib import Path
        copy = Path({str(echo.out / "evidence")!r})
        if not copy.exists():
            copy.symlink_to({str(echo.root / "victim")!r})
    """)
    (failure,) = echo.engine().failures
    assert fnmatchcase(failure, "the run is not recorded: *evidence: is a link*")
    assert not list((echo.root / "victim").iterdir())


@pytest.mark.parametrize("folder", [".", "runs/echo", "evidence"])
def test_a_folder_that_every_user_can_write_to_is_refused(echo, folder):
    path = echo.out / folder
    path.mkdir(parents=True)
    path.chmod(0o777)
    with pytest.raises(ArtifactError, match="every user can write to it"):
        echo.engine()
    path.chmod(0o1777)  # as /tmp: others cannot replace files of this user
    assert not echo.engine().failures


def test_a_folder_of_another_user_is_a_warning(echo, monkeypatch, capsys):
    echo.out.mkdir()
    owner = os.stat(echo.out).st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    root = f"--bench-root={echo.root / 'bench'}"
    told = f".benchgate belongs to user {owner}, not to {owner + 1}"
    assert main(["run", "--task-class=echo", root, f"--out={echo.out}"]) == 0
    (line,) = [line for line in capsys.readouterr().err.splitlines() if told in line]
    assert line.startswith("warning   ")


# Failing at the end


def break_writing(monkeypatch, name: str) -> None:
    """Let opening a file of some name for writing, also under a temporary name, fail as on a full disk."""
    real = os.open

    def open_(path, flags, *arguments, **options):
        if flags & os.O_WRONLY and os.path.basename(path).lstrip(".").startswith(name):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(path, flags, *arguments, **options)

    monkeypatch.setattr(os, "open", open_)


def test_a_full_disk_at_the_end_leaves_all_as_it_was(echo, monkeypatch):
    echo.engine()
    before = echo.head(), tree(echo.folder()), tree(echo.out / "evidence")
    break_writing(monkeypatch, "record.json")
    (failure,) = echo.engine().failures
    assert fnmatchcase(failure, NOT_RECORDED)
    monkeypatch.undo()
    assert (echo.head(), tree(echo.folder()), tree(echo.out / "evidence")) == before
    assert not list(echo.out.rglob("*.tmp"))


def test_after_a_full_disk_the_chain_goes_on(echo, monkeypatch):
    echo.engine()
    with monkeypatch.context() as broken:
        break_writing(broken, "HEAD.json")
        (failure,) = echo.engine().failures
    assert fnmatchcase(failure, "*/HEAD.json: cannot be written: *; run 2 is recorded, *")
    assert echo.read("evidence/echo/promotion.json")["record_ref"]["seq"] == 2
    assert not echo.engine().failures
    seq = echo.head()["seq"]
    records = sorted((echo.out / "runs/echo").glob("0*/record.json"))
    assert len(records) == seq
    for earlier, later in zip(records, records[1:], strict=False):
        assert json.loads(later.read_bytes())["prev_hash"] == sha256(earlier)


def test_a_full_disk_while_cases_run_fails_the_run(echo, monkeypatch):
    break_writing(monkeypatch, "02.json")
    run = echo.engine()
    assert run.judgement.report.passed_count == 3
    assert run.exit_status == 1
    told = [
        fnmatchcase(one, "*/02.json: cannot be written: No space left*") for one in run.failures
    ]
    assert any(told)


def test_a_full_disk_takes_no_result_of_the_command_along(echo, monkeypatch, capsys):
    break_writing(monkeypatch, "02.json")
    root = f"--bench-root={echo.root / 'bench'}"
    status = main(["run", "--task-class=echo", root, f"--out={echo.out}"])
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


def test_a_second_run_is_appended_after_the_first(echo):
    echo.engine()
    first = echo.folder()
    echo.engine()
    second = echo.record()
    assert second["seq"] == 2
    assert second["prev_hash"] == sha256(first / "record.json")
    assert echo.head() == {
        "schema_version": SCHEMA_VERSION,
        "seq": 2,
        "sha256": sha256(echo.folder() / "record.json"),
    }
    assert echo.read(first / "record.json")["prev_hash"] == "0" * 64


def test_a_folder_of_an_older_version_is_refused_in_one_line(echo):
    echo.engine()
    before = echo.head() | {"schema_version": SCHEMA_VERSION - 1}
    head = echo.folder().parent / "HEAD.json"
    head.write_text(json.dumps(before))
    with pytest.raises(ArtifactError, match="begin a new output folder") as caught:
        echo.engine()
    assert "\n" not in str(caught.value)
    assert echo.read(head) == before


def test_a_record_names_the_digest_of_each_file_beside_it(echo):
    echo.engine()
    record, folder = echo.record(), echo.folder()
    assert set(record["case_files"]) == {"01.json", "02.json", "03.json"}
    for part in ("cases", "evidence"):
        listed = record["case_files" if part == "cases" else "evidence_files"]
        assert listed == {path.name: sha256(path) for path in (folder / part).iterdir()}


def test_the_folder_is_named_by_number_time_and_run(echo):
    echo.engine()
    seq, stamp, run = echo.folder().name.split("-")
    assert seq == "00000001"
    assert len(stamp) == len("20260512T000000Z")
    assert echo.record()["report"]["run_id"].startswith(run)
    assert len(run) == 8


def test_the_evidence_refers_to_its_record(echo):
    echo.engine()
    for place in (echo.folder() / "evidence", echo.out / "evidence/echo"):
        reference = echo.read(place / "promotion.json")["record_ref"]
        assert reference["seq"] == 1
        assert (place / reference["path"]).samefile(echo.folder() / "record.json")


def test_nothing_is_appended_to_a_damaged_chain_and_the_file_is_named(echo):
    echo.engine()
    (path,) = (echo.out / "runs/echo").glob("0*/record.json")
    path.write_bytes(path.read_bytes().replace(b'"passed_count": 3', b'"passed_count": 2'))
    before = tree(echo.out)
    with pytest.raises(ArtifactError, match=f"^{re.escape(str(path))}: "):
        echo.engine()
    assert tree(echo.out) == before


def test_a_record_that_is_gone_is_a_damaged_chain(echo):
    echo.engine()
    shutil.rmtree(echo.folder())
    with pytest.raises(ArtifactError, match=r"HEAD\.json: names record 1, which is not there"):
        echo.engine()


def test_a_head_that_is_gone_is_a_damaged_chain(echo):
    echo.engine()
    echo.engine()
    (echo.out / "runs/echo/HEAD.json").unlink()
    with pytest.raises(ArtifactError, match=r"HEAD\.json: missing, though there is a record 2"):
        echo.engine()


def test_a_damaged_chain_does_not_stop_a_selection(echo):
    echo.engine()
    (echo.out / "runs/echo/HEAD.json").write_bytes(b"{")
    assert not echo.engine(case_filter="02").failures


def test_the_chain_of_another_class_does_not_matter(echo):
    echo.engine()
    (echo.out / "runs/echo/HEAD.json").write_bytes(b"{")
    other = BenchFolder(echo.root, name="mirror")
    assert not other.engine().failures


def test_a_selection_replaces_the_last_one_and_leaves_the_chain_alone(echo):
    echo.engine()
    before = tree(echo.out / "runs"), tree(echo.out / "evidence")
    echo.engine(case_filter="0[23]")
    echo.engine(case_filter="01")
    assert echo.outcomes(echo.selected()) == {"01": "scored"}
    cases = echo.out / "last-selected/echo/cases"
    assert [path.name for path in cases.iterdir()] == ["01.json"]
    assert (tree(echo.out / "runs"), tree(echo.out / "evidence")) == before


@pytest.mark.parametrize("umask", [0o000, 0o277])
def test_only_the_owner_can_read_whatever_the_umask(echo, umask):
    out = echo.root / "deep/out"
    before = os.umask(umask)
    try:
        echo.engine(out=out)
        echo.engine(out=out, case_filter="01")
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
def test_two_processes_do_not_fork_the_chain(echo):
    code = "import sys; from benchgate.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "run", "--task-class=echo", "--out=.benchgate"]
    given = {"stdout": subprocess.DEVNULL, "cwd": echo.root}
    running = [subprocess.Popen(command, **given) for _ in range(3)]
    assert [process.wait(timeout=600) for process in running] == [0, 0, 0]
    assert echo.head()["seq"] == 3
    records = sorted((echo.out / "runs/echo").glob("0*/record.json"))
    assert json.loads(records[2].read_bytes())["prev_hash"] == sha256(records[1])
    assert json.loads(records[1].read_bytes())["prev_hash"] == sha256(records[0])


def test_the_lock_is_taken_for_each_append(echo, monkeypatch):
    held = []
    real = writing.locked

    def locked(folder):
        held.append(folder.name)
        return real(folder)

    monkeypatch.setattr(store, "locked", locked)
    echo.engine()
    assert set(held) == {"echo"}


def test_an_unknown_artifact_is_no_valid_one(echo):
    path = echo.root / "x.json"
    path.write_text('{"schema_version": 1}')
    with pytest.raises(ArtifactError, match="of no known kind"):
        validate_file(path)


@pytest.mark.parametrize(
    ("depth", "outcome"), [(149, "scored"), (153, "harness_error"), (900, "harness_error")]
)
def test_an_output_that_nobody_could_read_back_is_no_output(echo, depth, outcome):
    echo.system(f"""
        nested = []
        for _ in range({depth - 2}):
            nested = [nested]
        return {{"answer": (case.input_path / "question.txt").read_text().upper(), "nested": nested}}
    """)
    echo.engine()
    assert echo.result("01")["outcome"] == outcome
    assert validate_file(echo.folder() / "cases" / "01.json") == "case"
    assert validate_file(echo.folder() / "record.json") == "record"
