"""``case.http_transport()`` in a run: what answers a system's requests, and what becomes of a trial if nothing does."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import json
import pickle
from textwrap import dedent

import pytest

from benchgate.check.cases import cassette_problems
from benchgate.cli import main
from benchgate.errors import EvalError
from benchgate.http.exchange import HttpRecording
from benchgate.loader.case_folder import read_case
from benchgate.models import BenchScore
from benchgate.taxonomy import Taxonomy
from benchgate.trials.executor import TrialRequest
from benchgate.trials.trial import TrialRunner
from benchgate.trials.trial_http import HttpTerms
from benchgate.wire.model import SCHEMA_VERSION

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
        bench.write(f"cassettes/{name}/manifest.json", json.dumps(manifest))
        return bench

    return write


@pytest.mark.parametrize(
    ("source", "arguments"),
    [
        (SYNC, ()),
        (ASYNC, ("--bench-jobs=3",)),
        pytest.param(ASYNC, ("-n2", "--bench-jobs=2"), marks=pytest.mark.slow),
    ],
    ids=["sync", "async", "workers"],
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
    assert bench.engine().judgement.report.passed_count == 3


@pytest.mark.parametrize(
    ("source", "unavailable"),
    [(ASYNC, False), (SYNC, True), (STUBBORN, False)],
    ids=["async", "sync", "stubborn"],
)
def test_a_request_that_was_not_recorded_says_nothing_about_the_system(shop, source, unavailable):
    """Also if the system goes on without an answer, and if it says that any error is an outage."""
    if unavailable:
        source += "\n    system.unavailable = Exception\n"
    bench = shop(source, path="/other")
    bench.engine()
    assert set(bench.outcomes().values()) == {"not_run"}
    assert not bench.record()["report"]["complete"]
    assert bench.result("01")["detail"] == (
        "recording 'shout': POST /ask was not recorded; the nearest is request 1 of 1, POST /other, which differs in "
        "path"
    )
    assert main(["verify", str(bench.out)]) == 0


def test_a_trial_that_went_on_without_an_answer_until_its_limit_is_no_timeout(shop):
    waits = STUBBORN.replace(
        "        return {", "        import time; time.sleep(60)\n        return {"
    )
    bench = shop(waits, path="/other")
    bench.engine(timeout=0.2)
    assert set(bench.outcomes().values()) == {"not_run"}


def test_a_request_that_is_not_sent_again_is_told(shop):
    bench = shop("""
        def system(case):
            case.http_transport()
            return {"answer": (case.input_path / "question.txt").read_text().upper()}
    """)
    bench.engine()
    detail = bench.result("01")["detail"]
    assert "1 of 1 recorded requests were not sent; the first of them is POST /ask" in detail


@pytest.mark.parametrize("source", [ASYNC, STUBBORN.replace("question.upper()", "'Q01'")])
def test_a_recording_that_is_missing_or_changed_is_told(shop, source):
    bench = shop(source)
    (bench.path / "cassettes/shout/01.http.json").unlink()
    changed = bench.path / "cassettes/shout/02.http.json"
    changed.write_text(changed.read_text().replace("Q02", "Q20"))
    manifest = bench.path / "cassettes/shout/manifest.json"
    content = json.loads(manifest.read_text())
    del content["files"]["03.http.json"]
    manifest.write_text(json.dumps(content))
    bench.engine()
    details = [bench.result(c)["detail"] for c in ("01", "02", "03")]
    assert "01.http.json: cannot be read: No such file" in details[0]
    assert "02.http.json: it was changed after it was recorded" in details[1]
    assert details[2] == (
        "no cassette 'shout' has the HTTP of this trial; run once with --bench-record=shout"
    )


def cassette(bench, name="shout"):
    return bench.path / "cassettes" / name


@pytest.fixture
def service(bench, monkeypatch):
    """Make a bench whose system asks a service; return what it was asked, in its process or in others."""
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
    from threading import Thread

    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append(body["question"])
            reply = {"answer": body["question"].upper(), "key": asked.key}
            data = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    class Asked(list):
        key = ""

    asked = Asked()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
    monkeypatch.setenv("ECHO_URL", f"http://127.0.0.1:{server.server_address[1]}")
    source = ASYNC.replace('"http://127.0.0.1:9/ask"', "os.environ['ECHO_URL'] + '/ask'")
    bench.write("system.py", "import os\n" + dedent(source.replace("LIBRARY", LIBRARY)))
    yield asked
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    "arguments",
    [("--bench-jobs=3",), pytest.param(("-n2", "--bench-jobs=2"), marks=pytest.mark.slow)],
    ids=["three", "workers"],
)
def test_what_is_recorded_is_replayed_without_the_service(bench, service, arguments, monkeypatch):
    apart = "-n2" in arguments
    given = ("--bench-baseline=none", "--bench-trials=2", *arguments)
    assert bench.run("--bench-record=shout", *given, apart=apart).ret == 0
    assert sorted(service) == sorted(2 * ["q01", "q02", "q03"])
    run_id = bench.record()["report"]["run_id"]
    assert "note_http_replayed" not in bench.record()["decision"]["notes"]
    names = sorted(path.name for path in cassette(bench).glob("*.http.json"))
    assert names[:2] == ["01-t1.http.json", "01.http.json"]
    assert not list((bench.out / "recording").rglob("*.json"))
    assert not list(cassette_problems(bench.path, {}))

    monkeypatch.setenv("ECHO_URL", "http://127.0.0.1:9")
    assert bench.run(*given, apart=apart).ret == 0
    assert len(service) == 6
    record = bench.record()
    assert record["report"]["run_id"] == run_id
    assert "note_http_replayed" in record["decision"]["notes"]
    told = "the requests of 6 of 6 trials were answered by shout"
    assert told in [remark["message"] for remark in record["decision"]["remarks"]]
    assert main(["verify", str(bench.out)]) == 0


def test_the_other_door_records_too(bench, service):
    places = [f"--bench-root={bench.root / 'bench'}", f"--out={bench.out}", "--baseline=none"]
    assert main(["run", "--task-class=echo", "--record=shout", *places]) == 0
    assert main(["run", "--task-class=echo", *places]) == 0
    assert len(service) == 3


def test_a_part_of_the_cases_renews_its_part(bench, service):
    bench.engine(record="shout")
    before = {path.name: path.read_bytes() for path in cassette(bench).glob("*.http.json")}
    service.key = "another"
    bench.run("--bench-record=shout", "-k", "02")
    after = {path.name: path.read_bytes() for path in cassette(bench).glob("*.http.json")}
    assert {name for name in before if before[name] != after[name]} == {"02.http.json"}
    assert bench.run("--bench-baseline=none").ret == 0


def test_a_run_that_is_resumed_has_the_http_of_both_sessions(bench, service, monkeypatch):
    bench.write(
        "system.py",
        (bench.path / "system.py")
        .read_text()
        .replace(
            "    question =",
            "    if case.case_id == '03' and not os.environ.get('GO'):\n"
            "        from benchgate import SystemUnavailable\n        raise SystemUnavailable\n    question =",
        ),
    )
    assert bench.engine(record="shout", retries=0).failures
    assert not cassette(bench).exists()
    monkeypatch.setenv("GO", "1")
    assert not bench.engine(record="shout", resume="auto").failures
    assert list(service) == ["q01", "q02", "q03"]
    assert len(list(cassette(bench).glob("*.http.json"))) == 3


def test_a_key_in_an_answer_leaves_no_cassette_at_all(bench, service, monkeypatch):
    monkeypatch.setenv("SHOP_TOKEN", "hush-hush-1")
    service.key = "hush-hush-1"
    result = bench.run("--bench-record=shout", "--bench-baseline=none")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        ["*request 1 (POST) cannot be recorded: in its answer the body has*SHOP_TOKEN*"]
    )
    assert not cassette(bench).exists()
    for path in bench.root.rglob("*.http.json"):
        pytest.fail(f"{path} was written")


def test_a_rubric_has_no_transport(shop):
    bench = shop()
    bench.rubric("case.http_transport()")
    bench.engine()
    assert set(bench.outcomes().values()) == {"rubric_error"}
    detail = bench.result("01")["failure_modes"][0]["detail"]
    assert "only the case that a system is called with has one" in detail


@pytest.fixture
def trial(bench):
    """Return a function that runs a system on a case, and returns the trial's record."""
    case, _ = read_case(bench.path / "cases/01", task_class="echo")

    def run(system):
        drafts = bench.root / "drafts"
        terms = HttpTerms(system="s", class_path=bench.path, record=drafts)
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


def recorded(bench):
    return HttpRecording.read_json((bench.root / "drafts/01.http.json").read_bytes()).exchanges


def test_what_a_trial_asked_is_written_by_the_attempt_that_counts(bench, trial):
    trial(asking(["a", "b"]))
    assert [e.request.path for e in recorded(bench)] == ["/a", "/b"]
    failed = trial(asking(["c"], fails=ValueError("mine")))
    assert "ValueError: mine" in failed.result.failure_modes[0].detail
    assert [e.request.path for e in recorded(bench)] == ["/c"]
    trial(asking([]))
    assert not (bench.root / "drafts/01.http.json").exists()
    (bench.root / "drafts/01.http.json").mkdir()
    assert "01.http.json: cannot be removed" in trial(asking(["d"])).result.detail


def test_a_trial_whose_http_has_a_key_has_no_result_and_leaves_no_recording(
    bench, trial, monkeypatch
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
    assert not (bench.root / "drafts/01.http.json").exists()


def test_a_case_that_went_to_another_process_has_no_transport(trial):
    def system(case):
        pickle.loads(pickle.dumps(case)).http_transport()  # noqa: S301

    assert "in the process of its trial" in trial(system).result.failure_modes[0].detail


def test_a_case_of_nobodys_trial_has_no_transport(bench):
    case, _ = read_case(bench.path / "cases/01", task_class="echo")
    with pytest.raises(EvalError, match="only the case that a system is called with"):
        case.http_transport()


def test_a_recording_of_another_run_is_not_taken(bench, service):
    assert not bench.engine(record="shout").failures
    drafts = bench.out / "recording" / "echo" / "shout"
    bench.pytester.makeconftest(f"""
        import pathlib
        def pytest_runtest_teardown(item):
            for path in pathlib.Path({str(drafts)!r}).glob("02*.http.json"):
                path.write_text(path.read_text() + " ")
    """)
    result = bench.run("--bench-record=shout", "--bench-baseline=none")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["FAILED *not recorded: 02.http.json is gone or of another run*"])


def test_a_trial_that_was_not_answered_keeps_its_cost(bench, service):
    source = (bench.path / "system.py").read_text()
    head = "async def system(case):"
    assert head in source
    bench.write("system.py", source.replace(head, f"{head}\n    case.usage.add(cost_usd=1.0)"))
    bench.engine()
    assert set(bench.outcomes().values()) == {"not_run"}
    assert bench.record()["report"]["total_cost_usd"] == 3.0
