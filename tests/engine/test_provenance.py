"""A record says who made it and of which code, and nothing depends on that."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from benchgate.verify.verification import verify_class


def test_no_id_and_no_comparison_depends_on_who_made_a_run(echo, monkeypatch):
    monkeypatch.setenv("BENCHGATE_ACTOR", "ada")
    echo.run()
    first = echo.record()
    echo.pin()
    monkeypatch.setenv("BENCHGATE_ACTOR", "grace")
    run = echo.run(baseline="auto")
    second = echo.record()
    assert [one["provenance"]["actor"] for one in (first, second)] == ["ada", "grace"]
    for name in ("run_id", "plan_id"):
        assert first["report"][name] == second["report"][name]
    assert not [code for code in run.judgement.decision.reason_codes if "mismatch" in code]
    assert not verify_class(echo.out, "echo").faults


def test_a_function_is_known_by_the_source_of_its_module(echo):
    echo.run()
    own = Path(type(echo).agent.__code__.co_filename).read_bytes()
    assert echo.record()["provenance"]["system_source"] == sha256(own).hexdigest()
    assert echo.record()["report"]["digests"]["system"] is None
    echo.run(system=None, replay="1")
    assert echo.record()["provenance"]["system_source"] is None


def test_a_system_that_declares_a_digest_needs_no_source(echo):
    def agent(case):
        return {"answer": ""}

    agent.digest = lambda: "v1"
    echo.run(system=agent)
    assert echo.record()["provenance"]["system_source"] is None
    assert echo.record()["report"]["digests"]["system"] == "v1"


def test_a_part_of_the_cases_asks_git_nothing(echo, monkeypatch):
    monkeypatch.setattr("benchgate.artifacts.provenance.git", None)
    assert not echo.run(case_filter="01").problems
