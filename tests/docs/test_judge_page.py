"""The class of ``docs/how-to/score-with-a-judge.md``, with a judge on loopback that is slow, noisy and often away."""

from __future__ import annotations

import json
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path

import pytest

from benchgate.cli import main
from benchgate.trials import pacing
from tests.conftest import write_source

PAGE = Path(__file__).parents[2] / "docs/how-to/score-with-a-judge.md"
CASE = """\
[case]
case_id = "{0}"
task_class = "summaries"
disposition = "positive"
difficulty = "easy"
source = "curated"
added_at = 2026-11-01T00:00:00Z
last_validated_at = 2026-11-01T00:00:00Z
"""
WRITER = """\
QUALITY = {0}
def writer(case):
    with open({1!r}, "a") as log:
        log.write("called\\n")
    return {{"summary": str(QUALITY - int(case.case_id) / 1000)}}
"""


class Judge(BaseHTTPRequestHandler):
    """Says the number in the summary, with noise; every seventh question is one too many, every eleventh is dropped."""

    protocol_version = "HTTP/1.1"
    asked = count(1)

    def do_POST(self):
        time.sleep(0.002)
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        number = next(self.asked)
        if number % 11 == 0:
            self.close_connection = True
            self.connection.close()
            return
        noise = (number * 7919 % 13 - 6) / 1000
        score = float(question["summary"]) + noise - 0.05 * (question["model"] == "judge-2")
        said = {"score": score, "cost_usd": 0.001, "fingerprint": "b1"}
        body = json.dumps(said).encode()
        self.send_response(429 if number % 7 == 0 else 200)
        self.send_header("Retry-After", "0.01")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def summaries(tmp_path, monkeypatch):
    """Forty cases, with the code of the page."""
    folder = tmp_path / "bench/summaries"
    for number in range(1, 41):
        case = folder / f"cases/{number:02}"
        for part, text in (("input/text.txt", "long"), ("expected/summary.txt", "short")):
            (case / part).parent.mkdir(parents=True)
            (case / part).write_text(text)
        (case / "case.toml").write_text(CASE.format(f"{number:02}"))
    for path, text in re.findall(r"```python\n# (\S+)\n(.*?)```", PAGE.read_text(), re.DOTALL):
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text)
    (folder / "observers/prompt.txt").write_text("How faithful is it?")
    (folder / "gate.toml").write_text(
        re.search(r"```toml\n(\[run\]\nobservations.*?)```", PAGE.read_text(), re.DOTALL)[1]
    )
    (folder / "failure_modes.toml").write_text("[failure_modes]\n")
    (folder / "systems").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pacing, "FIRST_DELAY", 0.01)
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    write(tmp_path, 0.6)
    return tmp_path


def write(root, quality):
    text = WRITER.format(quality, str(root / "calls.log"))
    write_source(root / "bench/summaries/systems/writer.py", text)


def run(capsys, *options):
    given = ["run", "--task-class=summaries", "--out=.benchgate", "--jobs=4", *options]
    status = main(given)
    out, err = capsys.readouterr()
    return status, json.loads(out.splitlines()[-1]) if out.endswith("}\n") else out, err


def record(root):
    head = json.loads((root / ".benchgate/runs/summaries/HEAD.json").read_text())
    (folder,) = (root / ".benchgate/runs/summaries").glob(f"{head['seq']:08}-*")
    return json.loads((folder / "record.json").read_text())


@pytest.mark.slow
def test_the_class_of_the_page(summaries, capsys, monkeypatch):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Judge)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("JUDGE_URL", f"http://127.0.0.1:{server.server_port}/")
    calls = summaries / "calls.log"

    run(capsys, "--retries=9", "--record=first", "--baseline=none")
    first = record(summaries)
    assert first["report"]["complete"], first["report"]["per_case"]
    assert len(calls.read_text().splitlines()) == 40
    assert sum(one["retries"] for one in first["report"]["per_case"]) > 10
    assert first["report"]["total_cost_usd"] == pytest.approx(0.12)
    assert first["report"]["observer"]["observations"] == 3

    with monkeypatch.context() as offline:
        offline.setenv("JUDGE_URL", "http://127.0.0.1:9/")
        run(capsys, "--replay=first", "--baseline=none")
        assert record(summaries)["report"]["run_id"] == first["report"]["run_id"]

    assert main(["pin", "1", "--yes"]) == 0
    assert "cassettes/pinned" in capsys.readouterr().out
    write(summaries, 0.9)
    monkeypatch.setenv("JUDGE_MODEL", "judge-2")
    status, *_ = run(capsys, "--retries=9")
    decision = record(summaries)["decision"]
    assert status == 10
    assert decision["reason_codes"] == ["checkpoint_promotion_blocked_observer_mismatch"]

    before = len(calls.read_text().splitlines())
    run(capsys, "--retries=9", "--reobserve=pinned", "--baseline=none")
    again = record(summaries)
    assert len(calls.read_text().splitlines()) == before
    assert again["report"]["complete"]
    assert again["report"]["mean_score"] < first["report"]["mean_score"] - 0.03
    assert main(["pin", str(again["seq"]), "--yes"]) == 0
    status, *_ = run(capsys, "--retries=9")
    assert record(summaries)["decision"]["outcome"] == "promote"
    assert status == 0

    capsys.readouterr()
    assert main(["report", str(record(summaries)["seq"]), "--labels", "40"]) == 0
    sheet = capsys.readouterr().out
    assert sheet.count("[[label]]") == 40
    labels = re.sub(r'passed = "".*', "passed = true", sheet).replace('by = ""', 'by = "ada"')
    (summaries / "bench/summaries/labels.toml").write_text(labels)
    policy = summaries / "bench/summaries/gate.toml"
    policy.write_text(f"observer_min_agreement = 0.8\n{policy.read_text()}")
    status, _, err = run(capsys, "--retries=9")
    shown = re.search(r"```\n(people .*?)```", PAGE.read_text(), re.DOTALL)[1]
    # Which cases are drawn on both sides, and so are alike, differs by run.
    texts = [re.sub(r"between \S+\s+and\s+\S+", "...", text).split() for text in (shown, err)]
    assert " ".join(texts[0]) in " ".join(texts[1])
    assert status == 0
    server.shutdown()
    server.server_close()
    assert main(["verify", ".benchgate", "--require-promote", "--bench-root=bench"]) == 0
