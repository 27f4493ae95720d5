"""Nothing is appended to a chain that does not hold, and the file that is damaged is named."""

from __future__ import annotations

import pytest

from benchgate.errors import EvalError

DAMAGES = {
    "a head that is no JSON": ("HEAD.json", lambda _: b"{"),
    "an empty head": ("HEAD.json", lambda _: b""),
    "a head of another digest": ("HEAD.json", lambda data: data.replace(data[-40:-36], b"0000")),
    "a head that is ahead": ("HEAD.json", lambda data: data.replace(b'"seq": 1', b'"seq": 2')),
    "an empty record": ("0*/record.json", lambda _: b""),
    "a torn record": ("0*/record.json", lambda data: data[: len(data) // 2]),
    "an edited record": (
        "0*/record.json",
        lambda data: data.replace(b'"passed_count": 3', b'"passed_count": 2'),
    ),
    "a deep record": ("0*/record.json", lambda _: b"[" * 100_000),
}


def tree(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("what", DAMAGES)
def test_nothing_is_appended_to_a_damaged_chain_and_the_file_is_named(echo, what):
    pattern, damage = DAMAGES[what]
    echo.run()
    (path,) = (echo.out / "runs/echo").glob(pattern)
    path.write_bytes(damage(path.read_bytes()))
    before = tree(echo.out)
    with pytest.raises(EvalError) as error:
        echo.run()
    assert str(path if "0*" in pattern else path.parent) in str(error.value)
    assert tree(echo.out) == before
