"""
How near many trials at once come to what is possible, as ratios measured in one run.

1. CASES cases that wait, at JOBS jobs: time of the loop against the waiting alone. The judgement at the end of a full
   run is not part of it: it takes as long whatever the number of jobs.
2. An agent that asks a chat-completions server on this machine, which takes 50 to 300 ms and answers some requests with
   429: the run against a bare ``asyncio.gather`` over the same agent with as many requests in flight.
3. One run_id for one trial at a time, many, two workers, and two workers with many.

Run it with the project's own Python: ``python benchmarks/speed/concurrency.py``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

CASE = """\
[case]
case_id = "{case_id}"
task_class = "waiting"
disposition = "positive"
difficulty = "easy"
source = "curated"
added_at = 2026-11-01T00:00:00Z
last_validated_at = 2026-11-01T00:00:00Z
"""
RUBRIC = """\
from benchgate import BenchScore
class Waiting:
    def score(self, case, output, /):
        return BenchScore(passed=True, score=0.5, safety_penalty=0.0)
"""
REGISTRATION = """\
import asyncio, time
from benchgate import SystemUnavailable, register_task_class
from .rubric import Waiting
from chat import agent

async def waits(case):
    await asyncio.sleep(0.1)
    return {}

def blocks(case):
    time.sleep(0.1)
    return {}

register_task_class(
    "waiting", systems={"async": waits, "threads": blocks, "chat": agent}, default_system="async"
)(Waiting)
"""
CHAT = """\
import asyncio, json, os
from benchgate import SystemUnavailable

class Busy(Exception):
    pass

async def ask(case_id):
    \"\"\"One request of the chat-completions protocol, over a connection of its own.\"\"\"
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": case_id}]}).encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", int(os.environ["CHAT_PORT"]))
    head = f"POST /v1/chat/completions HTTP/1.0\\r\\nContent-Length: {len(body)}\\r\\n\\r\\n"
    writer.write(head.encode() + body)
    answer = await reader.read()
    writer.close()
    if b" 429 " in answer.partition(b"\\r\\n")[0]:
        raise Busy
    return json.loads(answer.partition(b"\\r\\n\\r\\n")[2])["choices"][0]["message"]["content"]

async def agent(case):
    try:
        return {"answer": await ask(case.case_id)}
    except Busy:
        raise SystemUnavailable("429", retry_after=0.05) from None

async def gathered(case_ids, jobs):
    room = asyncio.Semaphore(jobs)
    async def one(case_id):
        while True:
            try:
                async with room:
                    return await ask(case_id)
            except Busy:
                await asyncio.sleep(0.05)
    return await asyncio.gather(*map(one, case_ids))
"""


class Server(BaseHTTPRequestHandler):
    """Takes 50 to 300 ms, the same for a case each time; every fifth request is one too many."""

    count = 0

    def do_POST(self) -> None:
        """Answer one request."""
        size = int(self.headers["Content-Length"])
        case_id = json.loads(self.rfile.read(size))["messages"][0]["content"]
        Server.count += 1
        if Server.count % 5 == 0:
            self.send_response(429)
            self.end_headers()
            return
        time.sleep(0.05 + (int(case_id) * 37 % 26) / 100)
        self.send_response(200)
        self.end_headers()
        choice = {"message": {"role": "assistant", "content": case_id}}
        self.wfile.write(json.dumps({"choices": [choice]}).encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Many(ThreadingHTTPServer):
    """Takes all connections at once."""

    request_queue_size = 512
    daemon_threads = True


@contextmanager
def server() -> Iterator[None]:
    """Serve in the background; tell the port in the environment."""
    made = Many(("127.0.0.1", 0), Server)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    os.environ["CHAT_PORT"] = str(made.server_address[1])
    yield
    made.shutdown()


def make(root: Path, cases: int) -> None:
    """Write the bench."""
    folder = root / "bench" / "waiting"
    for number in range(cases):
        case = folder / "cases" / f"{number:04}"
        (case / "input").mkdir(parents=True)
        (case / "input" / "task.txt").write_text(case.name)
        (case / "case.toml").write_text(CASE.format(case_id=case.name))
    (folder / "rubric.py").write_text(RUBRIC)
    (folder / "registration.py").write_text(REGISTRATION)
    (folder / "failure_modes.toml").write_text("[failure_modes]\n")
    (root / "chat.py").write_text(CHAT)
    (root / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    (root / "conftest.py").write_text(
        "import time, pytest\n"
        "@pytest.hookimpl(wrapper=True, trylast=True)\n"  # inside of benchgate's, which judges
        "def pytest_runtestloop():\n"
        "    started = time.perf_counter()\n"
        "    result = yield\n"
        "    print(f'\\nLOOP {time.perf_counter() - started}')\n"
        "    return result\n"
    )


def loop(root: Path, *options: str) -> float:
    """Run under pytest; return the seconds of its loop, in which the trials run and are reported."""
    command = [sys.executable, "-m", "pytest", "--bench=waiting", "-q", "-s", "-p", "no:randomly"]
    done = subprocess.run(
        [*command, "--bench-out=out", *options],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return float(next(x for x in done.stdout.splitlines() if x.startswith("LOOP")).split()[1])


def run_id(root: Path, *options: str) -> str:
    """Run under pytest, and return what the record says."""
    loop(root, *options)
    record = max((root / "out/runs/waiting").glob("0*/record.json"))
    return str(json.loads(record.read_bytes())["report"]["run_id"])


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=32)
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, server():
        root = Path(folder)
        make(root, given.cases)
        ideal = -(-given.cases // given.jobs) * 0.1
        for system in ("async", "threads"):
            options = (f"--bench-jobs={given.jobs}", f"--bench-system={system}")
            best = min(loop(root, *options) for _ in range(given.repeat))
            print(
                f"{given.cases} cases of 100 ms, {given.jobs} jobs, {system}: {best:.2f} s, "
                f"ideal {ideal:.2f} s, ratio {best / ideal:.2f} (goal 1.15)"
            )

        chosen = [f"{number:04}" for number in range(40)]
        sys.path.insert(0, folder)
        from chat import gathered

        options = (
            "--bench-jobs=16",
            "--bench-system=chat",
            "--bench-retries=20",
            "-k",
            " or ".join(chosen),
        )
        pairs = []
        for _ in range(given.repeat):
            Server.count = 0
            started = time.perf_counter()
            asyncio.run(gathered(chosen, 16))
            bare = time.perf_counter() - started
            Server.count = 0
            pairs.append((loop(root, *options), bare))
        run, bare = min(pairs, key=lambda pair: pair[0] / pair[1])
        print(
            f"40 cases of a chat agent, 16 jobs: {run:.2f} s, gather {bare:.2f} s, "
            f"ratio {run / bare:.2f} (goal 1.20)"
        )

        ids = {
            run_id(root, *options)
            for options in (
                ("--bench-jobs=1",),
                ("--bench-jobs=32",),
                ("-n2", "--bench-jobs=1"),
                ("-n2", "--bench-jobs=16"),
            )
        }
        print(f"run_ids of one at a time, many, two workers, both: {len(ids)} different (goal 1)")


if __name__ == "__main__":
    main()
