"""Finding the runs of an output folder, and taking over those that ended early."""

from __future__ import annotations

import shutil

import pytest

from benchgate.audit.runs import KnownRun, chosen, known_runs, resumable
from benchgate.errors import ArtifactError


def runs_of(echo):
    return echo.out / "runs" / echo.name


@pytest.mark.parametrize("number", ["2", "00000002"])
def test_a_run_is_called_by_its_number_as_its_folder_spells_it_too(echo, number):
    echo.run()
    echo.run()
    run = chosen(echo.out, [runs_of(echo)], number)
    assert (run.seq, run.state) == (2, "complete")
    assert run.stamp == f"{run.record.finished_at:%Y%m%dT%H%M%SZ}"


def test_records_are_not_read_to_find_a_run(echo, monkeypatch):
    echo.run()
    monkeypatch.setattr(KnownRun, "record", property(lambda _: pytest.fail("read")))
    assert chosen(echo.out, [runs_of(echo)], "1").seq == 1


def test_a_run_that_another_process_records_meanwhile_is_no_error(echo):
    unfinished = runs_of(echo) / "incomplete-20260101T000000Z-1-000001"
    unfinished.mkdir(parents=True)
    (runs_of(echo) / "incomplete-notes").write_text("a file of a person")
    (run,) = known_runs(runs_of(echo))
    unfinished.rmdir()
    assert run.state == "unrecorded"


def test_a_run_that_cannot_be_taken_over_is_left_to_others(echo):
    folder = echo.run().published.folder
    left = folder.with_name("incomplete-20260101T000000Z-1-000001")
    folder.rename(left)
    (left.parent / "HEAD.json").unlink()
    shutil.rmtree(left / "cases")
    for _ in range(2):  # the second one is not told that the first one runs it
        left = resumable(left.parent, "auto").folder
        with pytest.raises(ArtifactError, match="cannot be changed: No such file"):
            echo.run(resume=left)
