"""A run that plays what another one recorded."""

from __future__ import annotations


def test_a_replay_pays_nothing_and_waits_for_nobody(echo):
    echo.instead = dict.fromkeys(("01", "02", "03"), lambda case: case.usage.add(cost_usd=1.0))
    folder = echo.run(baseline="none").published.folder
    run = echo.run(baseline="none", system=None, replay=folder, max_cost_usd=0.5, max_rpm=1)
    report = run.judgement.report
    assert report.complete
    assert report.usage.cost_usd == 3.0
