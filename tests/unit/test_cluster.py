"""What becomes of a trial when workers are silent, or a cluster goes away, without one."""

from __future__ import annotations

import gc
import threading
from types import SimpleNamespace

import pytest

from benchgate.remote import cluster as module
from benchgate.remote import connection, sent_attempt
from benchgate.remote.attempt import Answer
from benchgate.remote.cluster import Cluster
from benchgate.remote.worker import profile
from benchgate.trials.executor import TrialRecord

CASE = SimpleNamespace(task_class="echo")
REQUEST = SimpleNamespace(not_run=lambda why, retries: (why, retries), case=CASE)
ELSEWHERE = Answer(kind="elsewhere", worker="w")


class Result(SimpleNamespace):
    def model_copy(self, update):
        return Result(**{**vars(self), **update})


def ran(outcome="scored", seconds=0.5):
    result = Result(outcome=outcome, duration_seconds=seconds, retries=0)
    return Answer(kind="ran", worker="w", record=TrialRecord(result=result, output_json=None))


class Sent:
    """Attempts whose answers are given in advance: a list of those at each look."""

    def __init__(self, *looks, started=True):
        self.looks = list(looks)
        self.is_started = started
        self.attempt = SimpleNamespace(id="benchgate-1", limit=1.0, sent=SimpleNamespace(name="e"))
        self.is_closed = False

    def answer(self):
        return self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]

    def has_started(self):
        return self.is_started

    withdraw = has_started

    def close(self):
        self.is_closed = True


@pytest.fixture
def cluster(monkeypatch):
    """A cluster whose attempts are those in ``cluster.coming``, in which no time passes in vain."""
    monkeypatch.setattr(module, "POLL", 0.001)
    monkeypatch.setattr(module, "MARGIN", -1.0)
    cluster = Cluster("dask://nowhere:1", ())
    cluster._client = SimpleNamespace(status="running")
    cluster._benches["echo"] = SimpleNamespace(path=None)
    cluster._watch = SimpleNamespace(look=lambda _: cluster.stuck, silent=frozenset())
    cluster.coming, cluster.sent, cluster.stuck = [], [], frozenset()

    def send(*_):
        cluster.sent.append(cluster.coming.pop(0))
        return cluster.sent[-1]

    monkeypatch.setattr(module, "SentAttempt", send)
    monkeypatch.setattr(cluster, "_attempt", lambda _: cluster.coming[0].attempt)
    return cluster


def run(cluster, *coming, affords=True):
    cluster.coming = list(coming)
    record = cluster.run(REQUEST, lambda: affords)
    assert all(sent.is_closed for sent in cluster.sent)
    return record.result if isinstance(record, TrialRecord) else record


def test_an_attempt_without_an_answer_is_sent_again_and_then_not_run(cluster):
    why = "no answer -1 s after its limit of 1 s, again"
    assert run(cluster, Sent(None), Sent(None)) == (why, 2)
    answered = run(cluster, Sent(None), Sent(ran()))
    assert (answered.outcome, answered.retries) == ("scored", 1)
    why = "no answer -1 s after its limit of 1 s, and the cap of costs allows no other"
    assert run(cluster, Sent(None), affords=False) == (why, 1)


@pytest.mark.parametrize("second_started", [True, False])
def test_a_late_answer_counts_if_the_system_kept_its_limit(cluster, second_started):
    late = run(cluster, Sent(None, ran()), Sent(None, started=second_started))
    assert (late.outcome, late.retries) == ("scored", int(second_started))


@pytest.mark.parametrize("answer", [ran("timeout"), ran(seconds=1.5), ELSEWHERE])
def test_a_late_answer_that_tells_of_the_silence_does_not(cluster, answer):
    assert run(cluster, Sent(None, answer), Sent(None))[1] == 2


def test_what_a_silent_worker_has_not_started_goes_to_another_and_is_no_retry(cluster):
    cluster.stuck = frozenset({"benchgate-1"})
    answered = run(cluster, Sent(None, started=False), Sent(ran()))
    assert (answered.outcome, answered.retries) == ("scored", 0)


def test_only_what_was_started_is_a_retry(cluster):
    answered = run(cluster, Sent(ELSEWHERE, started=False), Sent(ran()))
    assert answered.retries == 0
    assert run(cluster, Sent(ELSEWHERE), Sent(ran())).retries == 1


@pytest.mark.parametrize(
    ("status", "why"),
    [
        ("running", "the scheduler cannot be reached: gone"),
        ("closed", "the connection to the scheduler was lost"),
    ],
)
def test_a_scheduler_that_is_gone_when_a_class_is_sent_leaves_the_trial_not_run(
    cluster, monkeypatch, status, why
):
    asked = []

    def sending(*_):
        def call():
            asked.append(1)
            cluster._client.status = status
            raise OSError("gone")

        connection.steady(cluster._client, call)

    monkeypatch.setattr(connection.time, "sleep", lambda _: None)
    monkeypatch.setattr(cluster, "_send", sending)
    assert run(cluster, Sent(ELSEWHERE), Sent(Answer(kind="lacks", worker="w"), started=False)) == (
        why,
        1,
    )
    assert len(asked) == (connection.ASKS if status == "running" else 1)
    assert cluster.run(REQUEST, lambda: True) == (why, 0)  # and no later trial waits for it


@pytest.mark.parametrize("error", [TimeoutError("5 s"), UnboundLocalError("result")])
def test_one_request_that_failed_is_no_scheduler_that_is_gone(monkeypatch, error):
    monkeypatch.setattr(connection.time, "sleep", lambda _: None)
    answers = iter([error, 3])

    def sync(call, callback_timeout, **fields):
        found = next(answers)
        if isinstance(found, Exception):
            raise found
        return found, call, fields

    client = SimpleNamespace(
        status="running", sync=sync, scheduler=SimpleNamespace(queue_qsize="asked")
    )
    assert connection.ask(client, "queue_qsize", name="a") == (3, "asked", {"name": "a"})


def test_the_first_trials_of_a_session_go_before_the_hundredth_of_another(monkeypatch):
    asked = {}

    def submit(*_, **given):
        asked.update(given)
        return SimpleNamespace(add_done_callback=lambda _: None)

    monkeypatch.setattr(sent_attempt, "ask", lambda *_, **__: None)
    client = SimpleNamespace(submit=submit, futures={"one": 1, "two": 2})
    sent_attempt.SentAttempt(client, SimpleNamespace(id="three"), threading.Event(), {})
    assert (asked["key"], asked["priority"]) == ("three", -2)


def test_a_worker_that_left_is_sent_no_class(cluster):
    pytest.importorskip("distributed")

    def scatter(data, workers, **_):
        raise KeyError(workers[0])

    cluster._client.scatter = scatter
    cluster._packed["echo"] = "sent", "call", b"data"
    assert cluster._send("echo", ["tcp://gone:1"]) == []


def test_who_is_silent_is_seen_by_the_clock_of_the_scheduler(monkeypatch):
    workers = {"a": {"last_seen": 5.0}, "b": {"last_seen": 5.0 + connection.SILENT_SECONDS + 1}}
    answers = {"identity": {"workers": workers}, "processing": {"a": ["k"], "b": ["other"]}}
    monkeypatch.setattr(connection, "ask", lambda _, operation: answers[operation])
    watched = connection.Watch()
    assert watched.look(None) == {"k"}
    assert watched.silent == {"a"}
    workers.clear()
    assert watched.look(None) == {"k"}  # it is not asked again so soon


def test_dask_is_given_a_second_chance_to_start_its_thread(monkeypatch):
    made = []

    class Client:
        def __init__(self, address, **_):
            made.append(address)
            if len(made) == 1:
                raise AssertionError

        def submit(self, *_, **__):
            return SimpleNamespace(release=lambda: None)

        def wait_for_workers(self, *_, **__):
            pass

    monkeypatch.setattr("distributed.Client", Client)
    assert isinstance(connection.connect("dask://somewhere:1"), Client)
    assert made == ["tcp://somewhere:1"] * 2


@pytest.mark.parametrize("collects", [True, False])
def test_a_worker_is_profiled_without_collecting_garbage(collects):
    seen = []

    def trigger():
        seen.append(gc.isenabled())
        raise KeyError("a thread that ended meanwhile")

    if not collects:
        gc.disable()
    try:
        with pytest.raises(KeyError):
            profile(SimpleNamespace(trigger_profile=trigger))
        assert (seen, gc.isenabled()) == ([False], collects)
    finally:
        gc.enable()
