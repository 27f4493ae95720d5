"""A run that stops once it is decided: what counts, what is recorded, and what verify finds."""

from __future__ import annotations

import json
import shutil
import threading

import pytest

from benchgate.cli import main
from benchgate.errors import ArtifactError
from benchgate.gates.certificate import ordered
from benchgate.gates.exit_status import HELD

PREFIX = "checkpoint_promotion_blocked_"
FAILED = {"answer": "?"}


@pytest.fixture
def twelve(echo):
    """Twelve cases, of which the pinned baseline passes 03, 06, 09 and 12."""
    for number in range(4, 13):
        echo.case(f"{number:02}")
    echo.write("gate.toml", 'test = "auto"\n')
    fails(echo, *(f"{n:02}" for n in range(1, 13) if n % 3))
    echo.run()
    echo.instead.clear()
    echo.calls.clear()
    shutil.copy(echo.folder() / "record.json", echo.path / "baseline.json")
    return echo


def fails(echo, *cases):
    echo.instead |= dict.fromkeys(cases, FAILED)


def stopped(echo, **settings):
    return echo.run(**{"baseline": "auto", "stop": "decided", "exit_rule": "gate", **settings})


def codes(run):
    return [code.removeprefix(PREFIX) for code in run.judgement.decision.reason_codes]


def test_a_run_stops_where_nothing_can_promote_it(twelve, capsys):
    fails(twelve, *(f"{n:02}" for n in range(1, 13)))
    run = stopped(twelve)
    record = twelve.record()
    assert codes(run) == ["stopped"]
    assert run.exit_status == HELD
    print(record["decision"], record["report"]["stopped"], twelve.calls)
    assert main(["verify", str(twelve.out)]) == 0
    assert main(["verify", "--require-complete", str(twelve.out)]) == 1
    assert 0, capsys.readouterr()
