"""The example of ``docs/how-to/gate-an-llm-agent.md``; its commands are run by ``test_console_sessions.py``."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "llm-agent"
CLASS = EXAMPLE / "bench" / "field-extraction"
GLUE = (
    EXAMPLE / "agent.py",
    *(CLASS / name for name in ("systems/versions.py", "registration.py", "rubric.py")),
)
CASES = sorted(path.parent for path in CLASS.glob("cases/*/case.toml"))
FIELDS = {"sender", "date", "amount", "currency", "reference"}


def server():
    return runpy.run_path(str(EXAMPLE / "server.py"))


def request(version, text):
    prompt = (EXAMPLE / f"prompt-{version}.txt").read_text()
    roles = zip(("system", "user"), (prompt, text), strict=True)
    messages = [{"role": role, "content": content} for role, content in roles]
    return {"model": "m", "messages": messages}


def test_what_a_user_writes_is_short():
    lines = [line for path in GLUE for line in path.read_text().splitlines() if line.strip()]
    assert len(lines) < 60


def test_there_are_forty_different_cases_with_all_fields():
    assert len(CASES) == 40
    assert len({(case / "input/text.txt").read_text() for case in CASES}) == 40
    for case in CASES:
        assert set(json.loads((case / "expected/fields.json").read_text())) == FIELDS


@pytest.mark.slow
def test_the_class_keeps_to_the_contract_and_its_tests_pass():
    tests = ["pytest", "-q", "-p", "no:cacheprovider", str(CLASS / "tests")]
    for command in (["benchgate", "check"], tests):
        run = [sys.executable, "-B", "-m", *command]
        done = subprocess.run(run, cwd=EXAMPLE, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_server_has_an_answer_to_each_text_and_is_busy_or_gone_every_second_time_for_some():
    completion = server()["completion"]
    statuses = []
    for case in CASES:
        text = (case / "input/text.txt").read_text()
        for version in ("v1", "v2"):
            first, second = (completion(request(version, text)) for _ in range(2))
            statuses.append(first[0])
            status, _, content, seconds = second
            assert status == 200
            assert content["choices"][0]["message"]["content"] != "I have no answer to that."
            assert content["usage"]["total_tokens"] > 0
            assert 0.05 <= seconds <= 0.3
    assert {status: statuses.count(status) for status in set(statuses)} == {
        200: 60,
        429: 6,
        None: 14,
    }


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_neither_prompt_is_perfect(version):
    answers = json.loads((EXAMPLE / "answers.json").read_text())
    wanted = [json.loads((case / "expected/fields.json").read_text()) for case in CASES]
    right = sum(
        a[version] == json.dumps(w, ensure_ascii=False)
        for a, w in zip(answers, wanted, strict=True)
    )
    assert right == {"v1": 5, "v2": 32}[version]
