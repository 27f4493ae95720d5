"""Shared by all tests: ``bench`` builds a toy bench in a temporary folder and runs pytest over it."""

from __future__ import annotations

import faulthandler
import gc
import hashlib
import json
import os
import pkgutil
import shutil
import sys
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module, metadata
from importlib.util import find_spec
from textwrap import dedent, indent
from threading import Thread
from typing import TYPE_CHECKING

import pytest

import benchgate

if TYPE_CHECKING:
    from pathlib import Path

# Small matrices, and other tests beside: more threads only wait for each other. Workers and commands inherit it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# To collect modules, and to run a session, makes objects by the ten thousand: looking for cycles after each 700 of them
# took a sixth of the time.
gc.set_threshold(20_000, 20, 20)
if "PYTEST_XDIST_WORKER" in os.environ:  # traced or not, what its tests start is not
    for name in ("COVERAGE_PROCESS_START", "COVERAGE_PROCESS_CONFIG"):
        os.environ.pop(name, None)

REGISTRATION = """
from benchgate import register_task_class
from .rubric import EchoRubric

@register_task_class("{name}", systems={{"shout": "system:system"}})
class Registered(EchoRubric): ...
"""
SYSTEM = """
def system(case):
{body}
    return {{"answer": (case.input_path / "question.txt").read_text().upper()}}
"""
RUBRIC = """
from benchgate import BenchScore

class EchoRubric:
    def score(self, case, output, /):
{body}
        right = output["answer"] == (case.expected_path / "answer.txt").read_text()
        return BenchScore(
            passed=right, score=float(right), breakdown={{"exact": float(right)}},
            failure_modes=[] if right else ["wrong"], cost_usd=0.25, safety_penalty=0.0,
        )
"""
OBSERVED_RUBRIC = """
from benchgate import BenchScore

class EchoRubric:
    def score(self, case, output, /):
        said = case.observation["score"]
        return BenchScore(
            passed=said > 0.5, score=said, breakdown={"judged": said},
            failure_modes=case.observation.get("modes", ()), safety_penalty=0.0,
        )
"""
OBSERVER = """
from pathlib import Path
from benchgate import SystemUnavailable

LOG = Path(__file__).parents[1] / "asked.log"

def judge(case, output):
    with LOG.open("a") as log:
        log.write(case.case_id + "\\n")
    asked = LOG.read_text().split().count(case.case_id)
{body}
    right = output["answer"] == (case.expected_path / "answer.txt").read_text()
    return {{"score": 0.9 if right else 0.1}}

{attributes}
"""
FAILURE_MODES = """
[failure_modes.wrong]
severity = "warn"
description = "The answer is not the expected one."
"""
HTTP_LIBRARY = next((name for name in ("httpx2", "httpx") if find_spec(name)), None)
ASKING = f"""
import os
import {HTTP_LIBRARY} as httpx

async def system(case):
    question = (case.input_path / "question.txt").read_text()
    url = os.environ.get("ECHO_URL", "http://127.0.0.1:9") + "/ask"
    async with httpx.AsyncClient(transport=case.http_transport()) as client:
        response = await client.post(url, json={{"question": question}})
    return {{"answer": response.json()["answer"]}}
"""
"""A system that asks a service; at the port 9 nothing answers."""
CASE = {
    "disposition": '"positive"',
    "difficulty": '"easy"',
    "source": '"curated"',
    "added_at": "2026-11-01T00:00:00Z",
    "last_validated_at": "2026-11-01T00:00:00Z",
}

LEFT_OUT = ["randomly", "hypothesispytest", "anyio", "platformdirs", "xdist.looponfail"]
LEFT_OUT += ["pastebin", "setuponly", "setupplan"]
"""Plugins that no test of a bench needs; one that does names it with ``-p``."""
PLAIN = tuple(f"-pno:{name}" for name in LEFT_OUT)


def write_source(target: Path, text: str) -> Path:
    """Write a file, such as a source that a test writes anew within a second: Python runs what it says now."""
    before = target.stat().st_mtime if target.exists() else 0.0
    # A file that is cut and written anew goes to the disk at once.
    target.unlink(missing_ok=True)
    target.write_text(text, encoding="utf-8")
    # Of two sources of one size and one second Python would run what it compiled of the first.
    if target.suffix == ".py" and target.stat().st_mtime < before + 1:
        os.utime(target, (before + 1, before + 1))
    return target


class BenchFolder:
    """A bench of one class, ``echo``: the right answer to a question is the question in capitals."""

    def __init__(self, root: Path, name: str = "echo", cases: int = 3) -> None:
        self.name = name
        self.root = root
        self.path = self.root / "bench" / name
        self.out = self.root / ".benchgate"
        self.write("registration.py", REGISTRATION.format(name=name))
        self.write("failure_modes.toml", FAILURE_MODES)
        self.system()
        self.rubric()
        for number in range(1, cases + 1):
            self.case(f"{number:02}")

    def write(self, path: str, text: str):
        """Write a file below the class's folder."""
        target = self.path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        return write_source(target, dedent(text).lstrip())

    def append(self, path: str, text: str):
        """Add to a file below the class's folder."""
        return self.write(path, (self.path / path).read_text(encoding="utf-8") + text)

    def system(self, body: str = "") -> None:
        """Write the system; ``body`` comes before what it does by default."""
        self.write("system.py", SYSTEM.format(body=indent(dedent(body), " " * 4)))

    def rubric(self, body: str = "") -> None:
        """Write the rubric; ``body`` comes before what its ``score`` does by default."""
        self.write("rubric.py", RUBRIC.format(body=indent(dedent(body), " " * 8)))

    def grant(self, **rights: object) -> None:
        """Grant the system ``checkpoint``, ``network`` or ``reads``, in the registration."""
        entry = {"call": "system:system", **rights}
        text = REGISTRATION.format(name=self.name).replace('"system:system"', repr(entry))
        self.write("registration.py", text)

    def observer(self, body: str = "", attributes: str = "") -> None:
        """Have a judge observe outputs, whose score is the rubric's; ``asked`` counts what it was asked of a case."""
        self.write(
            "registration.py",
            REGISTRATION.format(name=self.name).replace(
                "})", '}, observe="observers.judge:judge")'
            ),
        )
        self.write("rubric.py", OBSERVED_RUBRIC)
        text = OBSERVER.format(body=indent(dedent(body), " " * 4), attributes=dedent(attributes))
        self.write("observers/judge.py", text)

    def asked(self) -> list[str]:
        """Return of which cases the judge was asked, in order."""
        log = self.path / "asked.log"
        return log.read_text().split() if log.exists() else []

    def case(self, case_id: str, *, answer: str | None = None, extra: str = "", **fields: str):
        """Write a case; fields of ``[case]`` are TOML texts, ``extra`` follows that table."""
        keys = {"case_id": f'"{case_id}"', "task_class": f'"{self.name}"', **CASE, **fields}
        table = "".join(f"{key} = {value}\n" for key, value in keys.items())
        self.write(f"cases/{case_id}/input/question.txt", f"q{case_id}")
        self.write(f"cases/{case_id}/expected/answer.txt", answer or f"Q{case_id}".upper())
        return self.write(f"cases/{case_id}/case.toml", f"[case]\n{table}{dedent(extra)}")

    def read(self, path: str):
        """Return a JSON file below the output folder."""
        return json.loads((self.out / path).read_bytes())

    def head(self):
        return self.read(f"runs/{self.name}/HEAD.json")

    def folder(self):
        """Return the folder of the newest full run."""
        return next((self.out / "runs" / self.name).glob(f"{self.head()['seq']:08}-*"))

    def record(self):
        """Return the record of the newest full run."""
        return self.read(self.folder() / "record.json")

    def trial(self, item: str):
        """Return the file of a trial of the newest full run."""
        return self.read(self.folder() / "cases" / f"{item}.json")

    def selected(self):
        """Return the report of the last run of a part of the cases."""
        return self.read(f"last-selected/{self.name}/report.json")["report"]

    def outcomes(self, report=None) -> dict[str, str]:
        """Return how each trial of a report, by default the newest full run's, ended."""
        trials = (report or self.record()["report"])["per_case"]
        return {
            t["case_id"] + (f"-t{t['trial']}" if t["trial"] else ""): t["outcome"] for t in trials
        }

    def result(self, case_id: str):
        """Return the result of a case in the newest full run."""
        trials = self.record()["report"]["per_case"]
        return next(trial for trial in trials if trial["case_id"] == case_id)

    def engine(self, **settings):
        """Run the class without pytest and without the command line; one that is interrupted is recorded too."""
        from benchgate.results.rules import RECORDED
        from benchgate.runner.run import RunSettings, run_class

        where = {"bench_root": self.root / "bench", "out": self.out}
        recorded = {name: settings.pop(name) for name in RECORDED if name in settings}
        return run_class(RunSettings(task_class=self.name, recorded=recorded, **where | settings))

    def pin(self) -> None:
        """Make the newest full run the baseline, as a person would."""
        (self.path / "baseline.json").write_bytes((self.folder() / "record.json").read_bytes())


class Echo(BenchFolder):
    """A bench that the engine runs, without pytest or the command line; its system notes each call."""

    def __init__(self, root) -> None:
        super().__init__(root)
        self.calls: list[str] = []
        self.instead: dict[str, object] = {}

    def agent(self, case):
        """Answer, or do for a case what ``instead`` has for it: return a value, raise an error or call a function."""
        self.calls.append(case.case_id + (f"-t{case.trial}" if case.trial else ""))
        other = self.instead.get(case.case_id)
        if isinstance(other, BaseException):
            raise other
        if callable(other):
            other = other(case)
        return other or {"answer": (case.input_path / "question.txt").read_text().upper()}

    def run(self, **settings):
        """Run the class with the system that notes its calls."""
        return self.engine(**{"system": self.agent, **settings})

    def left(self, at="03", **settings):
        """Return the folder of a run that was killed in a case; nothing records it."""
        head = self.out / "runs" / self.name / "HEAD.json"
        before = head.read_bytes() if head.exists() else None
        self.instead[at] = KeyboardInterrupt()
        with pytest.raises(KeyboardInterrupt):
            self.run(**settings)
        del self.instead[at]
        self.calls.clear()
        folder = self.folder()
        shutil.rmtree(folder / "evidence")
        (folder / "record.json").unlink()
        head.unlink()
        if before is not None:
            head.write_bytes(before)
        for path in (folder / "cases").iterdir():
            if json.loads(path.read_bytes())["result"]["outcome"] == "not_run":
                path.unlink()
        self.relist(folder)
        return folder.rename(folder.with_name("incomplete-20260101T000000Z-1-000000"))

    def relist(self, folder):
        """Write the lines of all files in the folder of a run, and return the digest of these lines."""
        files = [*folder.glob("plan.json"), *folder.glob("cases/*.json")]
        lines = (
            f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder)}\n"
            for path in files
        )
        (folder / "trials.sha256").write_text("".join(lines))
        return hashlib.sha256((folder / "trials.sha256").read_bytes()).hexdigest()

    def files(self, folder):
        """Return the files of the trials in the folder of a run."""
        return sorted(path.name for path in (folder / "cases").glob("*.json"))

    def edit(self, path, **fields):
        """Change fields of the score in the file of a trial, as whoever wants another decision would."""
        text = json.loads(path.read_text())
        text["result"]["score"].update(fields)
        path.write_text(json.dumps(text))


class Bench(BenchFolder):
    """A bench over which pytest runs."""

    def __init__(self, pytester: pytest.Pytester, name: str = "echo", cases: int = 3) -> None:
        self.pytester = pytester
        super().__init__(pytester.path, name, cases)

    def pytest(self, *arguments: object, apart: bool = False) -> pytest.RunResult:
        """Run pytest, by default in this process, without plugins that shuffle, or that only take time."""
        given = (*PLAIN, *arguments)
        if apart:
            return self.pytester.runpytest_subprocess(*given, timeout=600)
        # Ctrl-C in a bench ends its session, as at the command line, not the test around it.
        return self.pytester.runpytest(*given, no_reraise_ctrlc=True)

    def run(self, *arguments: object, apart: bool = False) -> pytest.RunResult:
        """Run the class."""
        return self.pytest(f"--bench={self.name}", *arguments, apart=apart)

    def pin_once(self, kept: dict) -> None:
        """Pin a run of the bench as it is now; only the first test of a module makes it."""
        if "record" not in kept:
            assert self.engine(out=self.root / "pinned", exit_rule="gate").exit_status == 0
            (path,) = (self.root / "pinned/runs" / self.name).glob("*/record.json")
            kept["record"] = path.read_bytes()
        (self.path / "baseline.json").write_bytes(kept["record"])


@pytest.fixture(scope="module")
def kept() -> dict:
    """What the tests of a module make once and only read."""
    return {}


@pytest.fixture(scope="session", autouse=True)
def cheap_runs():
    """Make a run in this process cheap; what a run does is not touched."""
    with pytest.MonkeyPatch.context() as patch:
        # Nothing here has to outlive a power failure, and some disks take 10 ms to promise it.
        patch.setattr(os, "fsync", lambda _: None)
        # What is installed stays the same; pytest would read it all again for each run.
        for name in ("entry_points", "files", "metadata"):
            once = cached_property(getattr(metadata.Distribution, name).fget)
            once.__set_name__(metadata.Distribution, name)
            patch.setattr(metadata.Distribution, name, once)
        installed = tuple(metadata.distributions())
        patch.setattr(metadata, "distributions", lambda: installed)
        yield


@pytest.fixture(scope="session", autouse=True)
def no_backstop():
    """Keep the backstop of a time limit from ending this process; in a process of its own a run has it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(faulthandler, "dump_traceback_later", lambda *_, **__: None)
        yield


@pytest.fixture(scope="session")
def imported() -> None:
    """Import all of benchgate: pytester forgets what a test imported, and numpy cannot be imported twice."""
    for module in pkgutil.walk_packages(benchgate.__path__, "benchgate."):
        import_module(module.name)
    import_module("scipy.special")
    gc.freeze()  # what was imported stays: nobody has to look through it for cycles


@pytest.fixture
def pytester(imported: None, pytester: pytest.Pytester) -> pytest.Pytester:
    return pytester


@pytest.fixture
def bench(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setenv("COLUMNS", "200")  # lines that are cut cannot be matched
    # A file that is rewritten within a second, with as many bytes, would run from its old bytecode.
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return Bench(pytester)


@pytest.fixture
def echo(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return Echo(tmp_path)


class Asked(list):
    """What a service was asked, in order; ``key`` is in each of its answers."""

    key = ""


@pytest.fixture
def service(monkeypatch):
    """Answer what :data:`ASKING` asks; return what was asked, by this process or by others."""
    asked = Asked()

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

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
    monkeypatch.setenv("ECHO_URL", f"http://127.0.0.1:{server.server_address[1]}")
    yield asked
    server.shutdown()
    server.server_close()
