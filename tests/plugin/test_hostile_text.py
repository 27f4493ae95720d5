"""What a system, a rubric or a file name says reaches people as text: it moves no cursor and forges no line."""

from __future__ import annotations

import json
import sys
import unicodedata
from xml.etree import ElementTree as ET

import pytest

from benchgate.cli import main
from benchgate.errors import printable

FORGED = "PROMOTE   it may replace all: it is better"
HOSTILE = f"\x1b[2J\x1b[1;1H{FORGED}\r\x9b32m\u202egpj\u2066\u2028\x07\x7f\n{FORGED}\n"
SEEN = rf"\x1b[2J\x1b[1;1H{FORGED}\r\x9b32m\u202egpj\u2066\u2028\x07\x7f\n{FORGED}\n"


@pytest.fixture
def hostile(bench):
    """The system of 01 and 02 and the rubric of 03, 04 and 05 say whatever could steer a terminal."""
    for number in (4, 5):
        bench.case(f"{number:02}")
    bench.write(
        "failure_modes.toml",
        f'[failure_modes.{json.dumps(HOSTILE)}]\nseverity = "block"\n'
        'description = "\\u001b[2J\\u202e"\n',
    )
    bench.system(f"""
        if case.case_id == "01":
            raise ValueError({HOSTILE!r} + chr(0xDC9B))
        if case.case_id == "02":
            raise type({HOSTILE!r}, (Exception,), {{}})("x")
    """)
    bench.rubric(f"""
        said = {HOSTILE!r}
        if case.case_id == "04":
            raise ValueError(said)
        codes = [said] if case.case_id == "03" else [said + "?"]
        return BenchScore(passed=False, score=0.5, breakdown={{said: 0.5}}, failure_modes=codes)
    """)
    return bench


def assert_harmless(text) -> None:
    assert {c for c in text if not c.isprintable()} <= {"\n"}
    assert FORGED not in text.splitlines()


def is_assigned(char):
    return unicodedata.category(char) not in {"Cn", "Co"}


def test_whatever_is_not_plainly_visible_is_escaped():
    assigned = (c for c in map(chr, range(sys.maxunicode + 1)) if is_assigned(c) or not ord(c) % 50)
    everything = "".join(assigned)
    kinds = {unicodedata.category(c) for c in printable(everything)}
    assert kinds.isdisjoint({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
    assert printable(HOSTILE) == SEEN
    assert printable("a\nb\t\ud800", keep="\n") == "a\nb\\t\\ud800"
    assert printable("naïve 東京 🙂 \\x1b") == "naïve 東京 🙂 \\x1b"


@pytest.mark.parametrize("workers", [(), pytest.param(("-n2",), marks=pytest.mark.slow)])
def test_a_session_shows_it_escaped_and_records_it_exactly(hostile, workers):
    result = hostile.run("-ra", "--junitxml=out.xml", *workers, apart=bool(workers))
    assert_harmless(result.stdout.str())
    assert_harmless(result.stderr.str())
    assert f"ValueError: {SEEN}" in result.stdout.str()
    details = [hostile.result(case)["failure_modes"][0]["detail"] for case in ("01", "02", "04")]
    said = [f"ValueError: {HOSTILE}\\udc9b", f"{HOSTILE}: x", f"ValueError: {HOSTILE}"]
    assert details == said
    assert hostile.result("03")["failure_modes"] == [{"code": HOSTILE, "detail": None}]
    assert (hostile.folder() / "record.json").read_bytes().isascii()
    tree = ET.parse(hostile.root / "out.xml")  # noqa: S314 - our own file
    for element in tree.iter():
        for text in (*element.attrib.values(), element.text or "", element.tail or ""):
            assert_harmless(text)
    assert main(["verify", str(hostile.out)]) == 0


def test_the_command_prints_it_escaped_too(hostile, capfd):
    assert main(["run", "--task-class=echo", f"--out={hostile.out}"]) == 1
    out, err = capfd.readouterr()
    assert_harmless(out)
    assert_harmless(err)
    first = json.loads(out.splitlines()[0])
    assert first["failure_modes"][0]["detail"] == f"ValueError: {HOSTILE}\\udc9b"


def test_the_commands_that_read_print_it_escaped(hostile, capfd):
    """A record is a file that anybody may have written."""
    hostile.engine()
    record = hostile.folder() / "record.json"
    (hostile.root / "docs").mkdir()
    (hostile.root / "docs/trust-tiers.toml").touch()
    raw = json.loads(record.read_bytes())
    raw["report"]["per_case"][0]["case_id"] = HOSTILE
    raw["report"]["system"] = HOSTILE
    forged = hostile.root / "forged.json"
    forged.write_text(json.dumps(raw))
    (hostile.out / "runs/echo" / HOSTILE.replace("/", "")).touch()
    odd = hostile.root / f"{HOSTILE}.json"
    odd.write_text(json.dumps({**raw, "report_kind": HOSTILE}))
    (hostile.path / HOSTILE).touch()
    hostile.case("06", **{json.dumps(HOSTILE): "1"})
    (hostile.root / "samples.json").write_text(json.dumps({HOSTILE: 1}))
    capfd.readouterr()
    vectors = [f"--{side}-samples={hostile.root}/samples.json" for side in ("baseline", "trained")]
    for arguments, status in (
        (["verify", str(hostile.out)], 1),
        (["verify", str(forged), str(odd), str(hostile.root / HOSTILE)], 2),
        (["check"], 1),
        (["gate", str(record), str(forged)], 1),
        (["gate", str(odd), str(forged)], 1),
        (["verdict", "--task-class=echo", "--target-tier=silver"], 1),
        (["new", "case", "echo", HOSTILE], 2),
        (["new", "case", HOSTILE, "07"], 1),
        (["run", f"--task-class={HOSTILE}"], 1),
        (["proof", "--run-id=r", *vectors], 2),
    ):
        assert (arguments, main(arguments)) == (arguments, status)
        out, err = capfd.readouterr()
        assert out + err
        assert_harmless(out)
        assert_harmless(err)
