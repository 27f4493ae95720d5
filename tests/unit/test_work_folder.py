"""The folder of a trial is there when somebody asks for it, by whatever way, and not before or afterwards."""

from __future__ import annotations

import copy
import json
import os
import pickle
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchgate.errors import EvalError
from benchgate.models import BenchCase
from benchgate.trials.containment import WorkFolder

DAY = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """An empty folder in which those of trials are made."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def case_in(work):
    return BenchCase(
        case_id="a",
        task_class="toy",
        disposition="positive",
        difficulty="easy",
        source="curated",
        added_at=DAY,
        last_validated_at=DAY,
        input_path=Path("/in"),
        expected_path=None,
    ).working_in(work.path)


WAYS = {
    "read": lambda case: case.work_path,
    "getattr": lambda case: getattr(case, "work_path", None),
    "model_dump": lambda case: case.model_dump()["work_path"],
    "model_dump_json": lambda case: Path(json.loads(case.model_dump_json())["work_path"]),
    "a copy": lambda case: case.model_copy(update={"expected_path": None}).work_path,
    "copy.copy": lambda case: copy.copy(case).work_path,
    "copy.deepcopy": lambda case: copy.deepcopy(case).work_path,
    "a pickled one": lambda case: pickle.loads(pickle.dumps(case)).work_path,  # noqa: S301
}


@pytest.mark.parametrize("way", WAYS)
def test_whoever_asks_gets_the_one_folder(temporary, way):
    with WorkFolder() as work:
        case = case_in(work)
        assert "work_path" not in repr(case)
        assert not os.listdir(temporary)
        found = WAYS[way](case)
        assert [found] == list(temporary.iterdir())
        assert found == case.work_path == work.path()
        assert found.stat().st_mode & 0o777 == 0o700
        assert f"work_path={found!r}" in repr(case)
        assert not work.has_files()
        (found / "deep").mkdir()
        (found / "deep" / "file").write_text("x")
        assert work.has_files()
    assert not os.listdir(temporary)


def test_a_folder_that_nobody_asked_for_is_never_made(temporary):
    with WorkFolder() as work:
        assert not work.has_files()
    assert not os.listdir(temporary)


def test_whoever_asks_after_the_trial_gets_an_error_and_no_folder(temporary):
    with WorkFolder() as work:
        case = case_in(work)
    with pytest.raises(EvalError, match="the trial is over, and its folder with it"):
        _ = case.work_path
    assert not os.listdir(temporary)


def test_a_case_outside_of_a_trial_has_none(temporary):
    with WorkFolder() as work:
        plain = case_in(work).model_copy(update={"work_path": None})
        assert plain.work_path is None
        assert plain.model_dump()["work_path"] is None
    with pytest.raises(AttributeError, match="work_paht"):
        _ = plain.work_paht
    assert not os.listdir(temporary)
