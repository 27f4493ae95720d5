"""What becomes of a trial when a cluster goes away, without one."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from benchgate.remote.attempt import Answer
from benchgate.remote.cluster import Cluster

REQUEST = SimpleNamespace(not_run=lambda why, retries: (why, retries))
ATTEMPT = SimpleNamespace(sent=SimpleNamespace(name="echo"))


@pytest.mark.parametrize(
    ("status", "why"),
    [
        ("running", "the scheduler cannot be reached: gone"),
        ("closed", "the connection to the scheduler was lost"),
    ],
)
def test_a_scheduler_that_is_gone_when_a_class_is_sent_leaves_the_trial_not_run(
    monkeypatch, status, why
):
    def sending(*_):
        raise OSError("gone")

    cluster = Cluster("dask://nowhere:1", ())
    cluster._client = SimpleNamespace(status=status)
    answers = iter([None, Answer(kind="lacks", worker="w")])  # the first one was lost
    monkeypatch.setattr(cluster, "_attempt", lambda _: ATTEMPT)
    monkeypatch.setattr(cluster, "_ask", lambda _: next(answers))
    monkeypatch.setattr(cluster, "_send", sending)
    assert cluster.run(REQUEST, lambda: True) == (why, 1)
