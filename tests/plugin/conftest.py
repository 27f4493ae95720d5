"""What the tests of the page share: a run whose every text is hostile."""

from __future__ import annotations

import json

import pytest

from tests.conftest import Echo

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)> {{ 7*7 }} \u202eevil\u2066 @all #1"


@pytest.fixture
def hostile_text():
    return HOSTILE


@pytest.fixture(scope="module")
def hostile_report(tmp_path_factory):
    """Every text that a bench or a system can give is hostile; one output has 2 MB. Tests only read it."""
    bench = Echo(tmp_path_factory.mktemp("hostile"))
    bench.write(
        "failure_modes.toml",
        f'[failure_modes.{json.dumps(HOSTILE)}]\nseverity = "block"\ndescription = {json.dumps(HOSTILE)}\n',
    )
    bench.case("04", cluster=json.dumps(HOSTILE), tags=f"[{json.dumps(HOSTILE)}]")
    bench.write("cases/04/input/question.txt", HOSTILE)
    bench.write("cases/04/expected/answer.txt", "x")
    (bench.path / "cases/<b>05").mkdir()
    (bench.path / "cases/<b>05/case.toml").write_text("[case]\n")
    bench.system(f"""
        if case.case_id == "03":
            raise ValueError({HOSTILE!r})
        if case.case_id == "04":
            return {{"answer": "x", {HOSTILE!r}: [{HOSTILE!r}] * 9, "long": "<\\u202e" * 400_000 + "é" * 10**6}}
    """)
    bench.rubric(f"""
        if case.case_id == "04":
            said = {HOSTILE!r}
            return BenchScore(passed=False, score=0.5, breakdown={{said: 0.5}}, failure_modes=[said],
                              explanation=said, evidence={{said: said, "other" + said: said}})
    """)
    bench.engine()
    return bench
