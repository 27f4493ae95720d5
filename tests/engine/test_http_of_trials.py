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
from benchgate.runner.run import RunSettings, run_class
from benchgate.taxonomy import Taxonomy
from benchgate.trials.calls import CallsHere
from benchgate.trials.executor import TrialRequest
from benchgate.trials.trial import TrialRunner
from benchgate.trials.trial_http import HttpTerms
from benchgate.wire.model import SCHEMA_VERSION
from tests.conftest import ASKING, HTTP_LIBRARY

pytestmark = pytest.mark.skipif(HTTP_LIBRARY is None, reason="needs httpx2 or httpx")

SYNC = """
    import LIBRARY as httpx

    async def system(case):
        question = (case.input_path / "question.txt").read_text()
        async with httpx.AsyncClient(transport=case.http_transport()) as client:
            response = await client.post("http://127.0.0.1:9/ask", json={"question": question})
        return {"answer": response.json()["answer"]}
"""
SYNC = ASKING.replace("async ", "").replace("await ", "").replace("Async", "")
STUBBORN = SYNC.replace(
    "        return {", "        return {'answer': question.upper()} if response is None else {"
).replace(
    "            response = client",
    "            response = None\n            with suppress(Exception): response = client",
)


@pytest.fixture
def shop(echo):
    """Return a function that writes the system, and what was recorded of it."""

    def write(source=ASKING, name="shout", **changed):
        echo.write(
            "system.py",
            "from contextlib import suppress\n" + dedent(source),
        )
        files = {}
        for number in ("01", "02", "03"):
            request = {"method": "POST", "path": "/ask", "body": f'{{"question":"q{number}"}}'}
            answer = {"status": 200, "text": json.dumps({"answer": f"Q{number}"})}
            exchange = {"request": request | changed, "answer": answer}
            content = {"schema_version": 1, "exchanges": [exchange]}
            path = echo.write(f"cassettes/{name}/{number}.http.json", json.dumps(content))
            files[path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
        manifest = {
            "schema_version": SCHEMA_VERSION,
            "report_kind": "cassette",
            "task_class": "echo",
            "recorded_at": "2026-11-01T00:00:00Z",
            "benchgate": "0.1.0",
            "system": "shout",
            "system_digest": None,
            "checkpoint": None,
            "trial_count": 1,
            "seed": 0,
            "cases": {},
            "files": files,
        }
        echo.write(f"cassettes/{name}/manifest.json", json.dumps(manifest))
        return echo

    return write


@pytest.mark.parametrize(("source", "jobs"), [(SYNC, 1), (ASKING, 3)], ids=["sync", "async"])
def test_requests_are_answered_from_the_recording(shop, source, jobs, kept):
    echo = shop(source)
    assert not echo.engine(jobs=jobs).failures
    assert set(echo.outcomes().values()) == {"scored"}
    run_id = echo.record()["report"]["run_id"]
    assert run_id == kept.setdefault("run_id", run_id)


def test_the_other_door_answers_them_too(shop, kept):
    echo = shop()
    places = [f"--bench-root={echo.root / 'bench'}", f"--out={echo.out}"]
    assert main(["run", "--task-class=echo", "--baseline=none", *places]) == 0
    run_id = echo.record()["report"]["run_id"]
    assert run_id == kept.setdefault("run_id", run_id)


def test_a_recording_can_be_named(shop):
    echo = shop(ASKING.replace("http_transport()", "http_transport('tuesday')"), name="tuesday")
    assert echo.engine().judgement.report.passed_count == 3


@pytest.mark.parametrize(
    ("source", "unavailable"),
    [(ASKING, False), (SYNC, True), (STUBBORN, False)],
    ids=["async", "sync", "stubborn"],
)
def test_a_request_that_was_not_recorded_says_nothing_about_the_system(shop, source, unavailable):
    """Also if the system goes on without an answer, and if it says that any error is an outage."""
    if unavailable:
        source += "\n    system.unavailable = Exception\n"
    echo = shop(source, path="/other")
    echo.engine()
    assert set(echo.outcomes().values()) == {"not_run"}
    assert not echo.record()["report"]["complete"]
    assert echo.result("01")["detail"] == (
        "recording 'shout': POST /ask was not recorded; the nearest is request 1 of 1, POST /other, which differs in "
        "path"
    )
    assert main(["verify", str(echo.out)]) == 0


def test_a_trial_that_went_on_without_an_answer_until_its_limit_is_no_timeout(shop):
    waits = STUBBORN.replace(
        "        return {", "        import time; time.sleep(60)\n        return {"
    )
    echo = shop(waits, path="/other")
    echo.engine(timeout=1, case_filter="01")
    assert echo.outcomes(echo.selected()) == {"01": "not_run"}


def test_a_request_that_is_not_sent_again_is_told(shop):
    echo = shop("""
        def system(case):
            case.http_transport()
            return {"answer": (case.input_path / "question.txt").read_text().upper()}
    """)
    echo.engine()
    detail = echo.result("01")["detail"]
    assert "1 of 1 recorded requests were not sent; the first of them is POST /ask" in detail


@pytest.mark.parametrize("source", [ASKING, STUBBORN.replace("question.upper()", "'Q01'")])
def test_a_recording_that_is_missing_or_changed_is_told(shop, source):
    echo = shop(source)
    (echo.path / "cassettes/shout/01.http.json").unlink()
    changed = echo.path / "cassettes/shout/02.http.json"
    changed.write_text(changed.read_text().replace("Q02", "Q20"))
    manifest = echo.path / "cassettes/shout/manifest.json"
    content = json.loads(manifest.read_text())
    del content["files"]["03.http.json"]
    manifest.write_text(json.dumps(content))
    echo.engine()
    details = [echo.result(c)["detail"] for c in ("01", "02", "03")]
    assert "01.http.json: cannot be read: No such file" in details[0]
    assert "02.http.json: it was changed after it was recorded" in details[1]
    assert details[2] == (
        "no cassette 'shout' has the HTTP of this trial; run once with --bench-record=shout"
    )


def cassette(echo, name="shout"):
    return echo.path / "cassettes" / name


def test_the_other_door_records_too(echo, service):
    echo.write("system.py", ASKING)
    places = [f"--bench-root={echo.root / 'bench'}", f"--out={echo.out}", "--baseline=none"]
    assert main(["run", "--task-class=echo", "--record=shout", *places]) == 0
    assert main(["run", "--task-class=echo", *places]) == 0
    assert len(service) == 3


def test_a_part_of_the_cases_renews_its_part(echo, service):
    echo.write("system.py", ASKING)
    echo.engine(record="shout")
    before = {path.name: path.read_bytes() for path in cassette(echo).glob("*.http.json")}
    service.key = "another"
    echo.engine(record="shout", case_filter="02")
    after = {path.name: path.read_bytes() for path in cassette(echo).glob("*.http.json")}
    assert {name for name in before if before[name] != after[name]} == {"02.http.json"}
    assert not echo.engine().failures


def test_a_run_that_is_resumed_has_the_http_of_both_sessions(echo, service, monkeypatch):
    echo.write("system.py", ASKING)
    echo.write(
        "system.py",
        (echo.path / "system.py")
        .read_text()
        .replace(
            "    question =",
            "    if case.case_id == '03' and not os.environ.get('GO'):\n"
            "        from benchgate import SystemUnavailable\n        raise SystemUnavailable\n    question =",
        ),
    )
    assert echo.engine(record="shout", retries=0).failures
    assert not cassette(echo).exists()
    monkeypatch.setenv("GO", "1")
    assert not echo.engine(record="shout", resume="auto").failures
    assert list(service) == ["q01", "q02", "q03"]
    assert len(list(cassette(echo).glob("*.http.json"))) == 3


def test_a_key_in_an_answer_leaves_no_cassette_at_all(echo, service, monkeypatch):
    echo.write("system.py", ASKING)
    monkeypatch.setenv("SHOP_TOKEN", "hush-hush-1")
    service.key = "hush-hush-1"
    failures = echo.engine(record="shout").failures
    assert failures
    said = "request 1 (POST) cannot be recorded: in its answer the body has"
    assert said in echo.result("01")["detail"]
    assert "SHOP_TOKEN" in echo.result("01")["detail"]
    assert not cassette(echo).exists()
    assert not list(echo.root.rglob("*.http.json"))


def test_a_rubric_has_no_transport(shop):
    echo = shop()
    echo.rubric("case.http_transport()")
    echo.engine()
    assert set(echo.outcomes().values()) == {"rubric_error"}
    detail = echo.result("01")["failure_modes"][0]["detail"]
    assert "only the case that a system is called with has one" in detail


@pytest.fixture
def trial(echo):
    """Return a function that runs a system on a case, and returns the trial's record."""
    case, _ = read_case(echo.path / "cases/01", task_class="echo")

    def run(system):
        drafts = echo.root / "drafts"
        terms = HttpTerms(system="s", class_path=echo.path, record=drafts)
        runner = TrialRunner(
            task_class="echo",
            calls=CallsHere(
                task_class="echo",
                call=system,
                rubric=lambda *_: BenchScore(passed=True, score=1.0),
            ),
            taxonomy=Taxonomy({}),
            http=terms,
        )
        return runner.run(TrialRequest.of(case, 0, bench_seed=0, system="s", limit=60))

    return run


def asking(paths, answer="ok", *, fails=None):
    """Return a system that asks a service within this process."""
    library = importlib.import_module(HTTP_LIBRARY)
    service = library.MockTransport(lambda _: library.Response(200, text=answer))

    def system(case):
        for path in paths:  # each by a client of its own
            with library.Client(transport=case.http_transport(inner=service)) as client:
                client.get(f"http://a.test/{path}")
        if fails:
            raise fails
        return {}

    return system


def recorded(echo):
    return HttpRecording.read_json((echo.root / "drafts/01.http.json").read_bytes()).exchanges


def test_what_a_trial_asked_is_written_by_the_attempt_that_counts(echo, trial):
    trial(asking(["a", "b"]))
    assert [e.request.path for e in recorded(echo)] == ["/a", "/b"]
    failed = trial(asking(["c"], fails=ValueError("mine")))
    assert "ValueError: mine" in failed.result.failure_modes[0].detail
    assert [e.request.path for e in recorded(echo)] == ["/c"]
    trial(asking([]))
    assert not (echo.root / "drafts/01.http.json").exists()
    (echo.root / "drafts/01.http.json").mkdir()
    assert "01.http.json: cannot be removed" in trial(asking(["d"])).result.detail


def test_a_trial_whose_http_has_a_key_has_no_result_and_leaves_no_recording(
    echo, trial, monkeypatch
):
    monkeypatch.setenv("SHOP_TOKEN", "hush-hush-1")
    trial(asking(["a"]))

    def stubborn(case):
        try:
            return asking(["a"], answer="it is hush-hush-1")(case)
        except Exception:
            return {}

    result = trial(stubborn).result
    assert (result.outcome, result.score, result.failure_modes) == ("not_run", None, ())
    assert result.detail == (
        "request 1 (GET) cannot be recorded: in its answer the body has the value of the environment variable "
        "SHOP_TOKEN"
    )
    assert not (echo.root / "drafts/01.http.json").exists()


def test_a_case_that_went_to_another_process_has_no_transport(trial):
    def system(case):
        pickle.loads(pickle.dumps(case)).http_transport()  # noqa: S301

    assert "in the process of its trial" in trial(system).result.failure_modes[0].detail


def test_a_case_of_nobodys_trial_has_no_transport(echo):
    case, _ = read_case(echo.path / "cases/01", task_class="echo")
    with pytest.raises(EvalError, match="only the case that a system is called with"):
        case.http_transport()


def test_a_recording_of_another_run_is_not_taken(echo, service):
    echo.write("system.py", ASKING)
    drafts = echo.out / "recording" / "echo" / "shout"

    def edit(result):
        for path in drafts.glob(f"{result.case_id}*.http.json"):
            path.write_text(path.read_text() + " ")

    settings = {"bench_root": echo.root / "bench", "out": echo.out, "record": "shout"}
    run = run_class(RunSettings(task_class="echo", **settings), on_result=edit)
    assert "not recorded: 01.http.json is gone or of another run" in "".join(run.failures)


def test_a_trial_that_was_not_answered_keeps_its_cost(echo, service):
    echo.write("system.py", ASKING)
    source = (echo.path / "system.py").read_text()
    head = "async def system(case):"
    assert head in source
    echo.write("system.py", source.replace(head, f"{head}\n    case.usage.add(cost_usd=1.0)"))
    echo.engine()
    assert set(echo.outcomes().values()) == {"not_run"}
    assert echo.record()["report"]["total_cost_usd"] == 3.0
