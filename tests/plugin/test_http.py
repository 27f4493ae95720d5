"""``case.http_transport()`` in a run: what answers a system's requests, and what becomes of a trial if nothing does."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import json
import pickle
from textwrap import dedent

import pytest

from benchgate.cli import main
from benchgate.errors import EvalError
from benchgate.http.exchange import HttpRecording
from benchgate.loader.case_folder import read_case
from benchgate.models import BenchScore
from benchgate.taxonomy import Taxonomy
from benchgate.trials.executor import TrialRequest
from benchgate.trials.trial import TrialRunner
from benchgate.trials.trial_http import HttpTerms

LIBRARY = next((name for name in ("httpx2", "httpx") if importlib.util.find_spec(name)), None)
pytestmark = pytest.mark.skipif(LIBRARY is None, reason="needs httpx2 or httpx")

ASYNC = """
    import LIBRARY as httpx

    async def system(case):
        question = (case.input_path / "question.txt").read_text()
        async with httpx.AsyncClient(transport=case.http_transport()) as client:
            response = await client.post("http://127.0.0.1:9/ask", json={"question": question})
        return {"answer": response.json()["answer"]}
"""
SYNC = ASYNC.replace("async ", "").replace("await ", "").replace("Async", "")
STUBBORN = SYNC.replace(
    "        return {", "        return {'answer': question.upper()} if response is None else {"
).replace(
    "            response = client",
    "            response = None\n            with suppress(Exception): response = client",
)


@pytest.fixture
def shop(bench):
    """Return a function that writes the system, and what was recorded of it."""

    def write(source=ASYNC, name="shout", **changed):
        bench.write(
            "system.py",
            "from contextlib import suppress\n" + dedent(source.replace("LIBRARY", LIBRARY)),
        )
        files = {}
        for number in ("01", "02", "03"):
            request = {"method": "POST", "path": "/ask", "body": f'{{"question":"q{number}"}}'}
            answer = {"status": 200, "text": json.dumps({"answer": f"Q{number}"})}
            exchange = {"request": request | changed, "answer": answer}
            content = {"schema_version": 1, "exchanges": [exchange]}
            path = bench.write(f"cassettes/{name}/{number}.http.json", json.dumps(content))
            files[path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
        bench.write(f"cassettes/{name}/manifest.json", json.dumps({"files": files}))
        return bench

    return write


@pytest.mark.parametrize("source", [ASYNC, SYNC], ids=["async", "sync"])
@pytest.mark.parametrize(
    "arguments",
    [(), ("--bench-jobs=3",), pytest.param(("-n2", "--bench-jobs=2"), marks=pytest.mark.slow)],
    ids=["one", "three", "workers"],
)
def test_requests_are_answered_from_the_recording(shop, source, arguments, kept):
    bench = shop(source)
    result = bench.run(*arguments, "--bench-baseline=none", apart="-n2" in arguments)
    assert result.ret == pytest.ExitCode.OK
    assert set(bench.outcomes().values()) == {"scored"}
    run_id = bench.record()["report"]["run_id"]
    assert run_id == kept.setdefault("run_id", run_id)


def test_the_other_door_answers_them_too(shop, kept):
    bench = shop()
    places = [f"--bench-root={bench.root / 'bench'}", f"--out={bench.out}"]
    assert main(["run", "--task-class=echo", "--baseline=none", *places]) == 0
    run_id = bench.record()["report"]["run_id"]
    assert run_id == kept.setdefault("run_id", run_id)


def test_a_recording_can_be_named(shop):
    bench = shop(ASYNC.replace("http_transport()", "http_transport('tuesday')"), name="tuesday")
    assert bench.run("--bench-baseline=none").ret == pytest.ExitCode.OK


@pytest.mark.parametrize("source", [ASYNC, SYNC, STUBBORN], ids=["async", "sync", "stubborn"])
@pytest.mark.parametrize("unavailable", [False, True])
def test_a_request_that_was_not_recorded_fails_its_trial(shop, source, unavailable):
    """Also if the system goes on without an answer, and if it says that any error is an outage."""
    if unavailable:
        source += "\n    system.unavailable = Exception\n"
    bench = shop(source, path="/other")
    bench.run()
    assert set(bench.outcomes().values()) == {"harness_error"}
    (mode,) = bench.result("01")["failure_modes"]
    assert mode["detail"] == (
        "recording 'shout': POST /ask was not recorded; the nearest is request 1 of 1, POST /other, which differs in "
        "path"
    )
    assert bench.result("01")["retries"] == 0
    assert main(["verify", str(bench.out)]) == 0


def test_a_request_that_is_not_sent_again_fails_its_trial(shop):
    bench = shop("""
        def system(case):
            case.http_transport()
            return {"answer": (case.input_path / "question.txt").read_text().upper()}
    """)
    bench.run()
    (mode,) = bench.result("01")["failure_modes"]
    assert (
        "1 of 1 recorded requests were not sent; the first of them is POST /ask" in mode["detail"]
    )


def test_a_recording_that_is_missing_or_changed_fails_its_trial(shop):
    bench = shop()
    (bench.path / "cassettes/shout/01.http.json").unlink()
    changed = bench.path / "cassettes/shout/02.http.json"
    changed.write_text(changed.read_text().replace("Q02", "Q20"))
    manifest = bench.path / "cassettes/shout/manifest.json"
    files = json.loads(manifest.read_text())["files"]
    manifest.write_text(json.dumps({"files": {k: v for k, v in files.items() if "03" not in k}}))
    bench.run()
    details = [bench.result(c)["failure_modes"][0]["detail"] for c in ("01", "02", "03")]
    assert "01.http.json: cannot be read: No such file" in details[0]
    assert "02.http.json: it was changed after it was recorded" in details[1]
    assert "no recording 'shout' of this trial's HTTP; --bench-record=shout makes one" in details[2]


def test_a_rubric_has_no_transport(shop):
    bench = shop()
    bench.rubric("case.http_transport()")
    result = bench.run()
    assert set(bench.outcomes().values()) == {"rubric_error"}
    result.stdout.fnmatch_lines(["*only the case that a system is called with has one*"])


@pytest.fixture
def trial(bench):
    """Return a function that runs a system on a case, and returns the trial's record."""
    case, _ = read_case(bench.path / "cases/01", task_class="echo")

    def run(system, *, record=True):
        terms = HttpTerms(system="s", class_path=bench.path, record=record)
        runner = TrialRunner(
            task_class="echo",
            system=system,
            score=lambda *_: BenchScore(passed=True, score=1.0),
            taxonomy=Taxonomy({}),
            wait=None,
            http=terms,
        )
        return runner.run(TrialRequest.of(case, 0, bench_seed=0, system="s", limit=60))

    return run


def asking(paths, answer="ok", *, fails=None):
    """Return a system that asks a service within this process."""
    library = importlib.import_module(LIBRARY)
    service = library.MockTransport(lambda _: library.Response(200, text=answer))

    def system(case):
        for path in paths:  # each by a client of its own
            with library.Client(transport=case.http_transport(inner=service)) as client:
                client.get(f"http://a.test/{path}")
        if fails:
            raise fails
        return {}

    return system


def test_what_a_trial_asked_is_in_its_record(trial):
    found = HttpRecording.read_json(trial(asking(["a", "b"])).http.encode())
    assert [e.request.path for e in found.exchanges] == ["/a", "/b"]
    assert trial(asking([])).http is None
    failed = trial(asking(["a"], fails=ValueError("mine")))
    assert "ValueError: mine" in failed.result.failure_modes[0].detail
    assert len(HttpRecording.read_json(failed.http.encode()).exchanges) == 1


def test_a_trial_whose_http_has_a_key_fails_and_leaves_no_recording(trial, monkeypatch):
    monkeypatch.setenv("SHOP_TOKEN", "hush-hush-1")

    def stubborn(case):
        try:
            return asking(["a"], answer="it is hush-hush-1")(case)
        except Exception:
            return {}

    record = trial(stubborn)
    assert (record.result.outcome, record.result.score, record.http) == (
        "harness_error",
        None,
        None,
    )
    assert record.result.failure_modes[0].detail == (
        "request 1 (GET) cannot be recorded: in its answer the body has the value of the environment variable "
        "SHOP_TOKEN"
    )


def test_a_case_that_went_to_another_process_has_no_transport(trial):
    def system(case):
        pickle.loads(pickle.dumps(case)).http_transport()  # noqa: S301

    assert "in the process of its trial" in trial(system).result.failure_modes[0].detail


def test_a_case_of_nobodys_trial_has_no_transport(bench):
    case, _ = read_case(bench.path / "cases/01", task_class="echo")
    with pytest.raises(EvalError, match="only the case that a system is called with"):
        case.http_transport()
