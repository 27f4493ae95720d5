"""``benchgate verify`` of single files, and the schemas that it prints."""

from __future__ import annotations

import json

import pytest

from benchgate.artifacts.schemas import schema_text
from benchgate.cli import main


@pytest.fixture
def verify(capsys):
    """Run the command; return status, stdout and stderr."""

    def run(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        try:
            status = main(["verify", *map(str, arguments)])
        except SystemExit as error:  # argparse
            status = error.code
        return status, *capsys.readouterr()

    return run


NO_ARTIFACT = {
    "empty": b"",
    "text": b"not json",
    "list": b"[]",
    "null": b"null",
    "number": b"1",
    "object": b"{}",
    "bytes": b"\xff",
    "deep": b"[" * 100_000,
    "kind": b'{"report_kind": "frobnication"}',
    "list kind": b'{"report_kind": ["record"]}',
    "NaN": b'{"schema_version": 1, "seq": NaN, "sha256": ""}',
    "a key twice": b'{"schema_version": 1, "seq": 1, "seq": 1, "sha256": "' + b"0" * 64 + b'"}',
}


@pytest.mark.parametrize("what", NO_ARTIFACT)
def test_what_is_no_artifact_is_refused_in_one_line(tmp_path, verify, what):
    path = tmp_path / "x.json"
    path.write_bytes(NO_ARTIFACT[what])
    status, _, err = verify(path)
    assert status == 1
    assert err.startswith(f"{path}: ")
    assert err.count("\n") == 1


def test_files_are_verified_alone(tmp_path, verify):
    file = tmp_path / "x.json"
    file.write_text("{}")
    for words in (["--require-promote", file], [tmp_path, file]):
        status, _, err = verify(*words)
        assert (status, err) == (2, "expected one output folder, or files without an option\n")


def test_a_file_that_cannot_be_read_exits_with_2(tmp_path, verify):
    status, _, err = verify(tmp_path / "no.json")
    assert status == 2
    assert err == f"{tmp_path / 'no.json'}: cannot be read: No such file or directory\n"
    assert verify(tmp_path, tmp_path / "no.json")[0] == 2


def test_every_file_is_checked_and_the_worst_decides_the_status(echo, tmp_path, verify):
    echo.run()
    (tmp_path / "bad.json").write_text("{}")
    files = [tmp_path / "bad.json", echo.folder() / "record.json", tmp_path / "no.json"]
    status, out, err = verify(*files)
    assert status == 2
    assert out == f"{files[1]}: valid record\n"
    assert len(err.splitlines()) == 2


def test_the_schema_of_a_kind_is_printed(verify):
    """Those of all kinds are in ``tests/unit/test_schemas.py``."""
    status, out, err = verify("--schema=record")
    assert (status, err) == (0, "")
    assert json.loads(out) == json.loads(schema_text("record"))


@pytest.mark.parametrize("arguments", [["--head"], ["--schema=frobnication"]], ids=" ".join)
def test_wrong_use_exits_with_2_and_says_why(verify, arguments):
    status, out, err = verify(*arguments)
    assert (status, out) == (2, "")
    assert err
    assert "Traceback" not in err
