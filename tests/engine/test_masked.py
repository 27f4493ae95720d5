"""A key in what a trial says is masked where it comes in, so that no file, page or report has it."""

from __future__ import annotations

import json
import os
import sys

import pytest

from benchgate.cli import main
from benchgate.loader.case_folder import read_case
from benchgate.loader.imports import forget
from benchgate.remote import worker as remote
from benchgate.remote.worker import run_request
from benchgate.remote.worker_bench import WorkerBenches
from benchgate.trials.executor import TrialRequest
from benchgate.wire.secrets import Masker

OPAQUE = "opaque-0123456789-0123"
SHAPED = "sk-" + "0123456789abcdefghijkl"
NOTE = "note_secret_masked"


@pytest.fixture
def keyed(echo, monkeypatch):
    """Variables with a key, a password that is a word, and a name that nothing but ``pass_env`` says is secret."""
    monkeypatch.setenv("PROVIDER_API_KEY", OPAQUE)
    monkeypatch.setenv("POSTGRES_PASSWORD", "postgres")
    monkeypatch.setenv("ACCOUNT", "account-4711")
    monkeypatch.setenv("REGION", "eu-1")
    echo.write("gate.toml", '[run]\npass_env = ["PROVIDER_API_KEY", "ACCOUNT", "REGION"]\n')
    return echo


def everything(echo):
    """All that a run left, as one text."""
    files = [path for path in echo.out.rglob("*") if path.is_file()]
    return "\n".join(path.read_text("utf-8", "replace") for path in files)


def notes(echo):
    return {remark["code"]: remark["message"] for remark in echo.record()["decision"]["remarks"]}


def test_an_output_is_masked_before_the_rubric_and_the_record_see_it(keyed):
    keyed.rubric(
        "import json, os\n"
        "text = json.dumps(output) + ' by ' + os.environ['PROVIDER_API_KEY']\n"
        "return BenchScore(passed=True, score=1.0, explanation=text, evidence={'key': text})"
    )
    keyed.instead["01"] = {
        "answer": f"the key is {OPAQUE}, of postgres in eu-1",
        "log": [f"first line\n{SHAPED} and", {f"at {OPAQUE}": "account-4711", "n": 1.5}],
        "asked": json.dumps({"key": OPAQUE}),
    }
    expected = {
        "answer": "the key is [masked], of postgres in eu-1",
        "log": ["first line\n[masked] and", {"at [masked]": "[masked]", "n": 1.5}],
        "asked": json.dumps({"key": "[masked]"}),
    }
    keyed.run()
    assert keyed.trial("01")["output"] == expected
    score = keyed.trial("01")["result"]["score"]
    seen = f"{json.dumps(expected)} by [masked]"
    assert (score["explanation"], score["evidence"]) == (seen, {"key": seen})
    assert OPAQUE not in everything(keyed)
    assert SHAPED not in everything(keyed)
    assert main(["verify", str(keyed.out)]) == 0


@pytest.mark.parametrize("settings", [{}, {"jobs": 3}, {"isolation": "process", "system": None}])
def test_an_output_is_masked_wherever_its_trial_runs(keyed, settings):
    keyed.system(
        "import os\n"
        "key = os.environ['PROVIDER_API_KEY']\n"
        "if case.case_id == '01': return {'answer': key}\n"
        "if case.case_id == '02': raise ValueError(f'{case.case_id}: no {key}')\n"
    )
    registered = {"system": "shout"}
    keyed.engine(**registered | {k: v for k, v in settings.items() if v})
    assert keyed.trial("01")["output"] == {"answer": "[masked]"}
    assert (
        keyed.trial("02")["result"]["failure_modes"][0]["detail"] == "ValueError: 02: no [masked]"
    )
    assert [keyed.result(case)["masked"] for case in ("01", "02")] == [True, True]
    assert "masked" not in keyed.result("03")
    assert OPAQUE not in everything(keyed)
    assert NOTE in keyed.record()["decision"]["notes"]
    said = "2 of 3 trials: a key or token in what they returned or said was masked"
    assert notes(keyed)[NOTE] == said


@pytest.fixture
def worker(monkeypatch):
    """Make this process forget the classes that it has as a worker."""
    benches = WorkerBenches()
    monkeypatch.setattr(remote, "worker_benches", lambda: benches)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    outer = forget()
    yield
    benches.prints.close()
    forget()
    sys.modules.update(outer)


@pytest.mark.usefixtures("worker")
def test_a_worker_masks_what_it_runs_and_what_that_prints(keyed):
    """``run_request`` is what an executor of one's own calls; a worker of Dask runs trials by the same function."""
    keyed.system(
        "import os\n"
        "print('asked with', os.environ['ACCOUNT'])\n"
        "return {'answer': os.environ['ACCOUNT']}"
    )
    case, _ = read_case(keyed.path / "cases/01", task_class="echo")
    request = TrialRequest.of(case, 0, bench_seed=0, system="shout", limit=9.0)
    record = run_request(request, keyed.root / "bench")
    assert json.loads(str(record.output_json)) == {"answer": "[masked]"}
    assert record.printed == "asked with [masked]\n"
    assert record.result.masked


def test_an_error_is_masked_before_it_is_cut(keyed):
    keyed.instead["01"] = ValueError("x" * 1_990 + OPAQUE)
    keyed.run()
    assert "opaque" not in everything(keyed)


def test_what_a_system_puts_into_the_environment_is_known_too(keyed):
    def load(case):
        os.environ["LOADED_TOKEN"] = case.case_id * 8
        raise ValueError(case.case_id * 8)

    keyed.instead["01"] = load
    keyed.run()
    assert keyed.result("01")["failure_modes"][0]["detail"] == "ValueError: [masked]"


def test_an_observation_is_masked_and_its_output_stays_marked(keyed):
    keyed.observer(
        "import os\n"
        "if case.case_id == '02': return {'score': 0.9, 'why': os.environ['PROVIDER_API_KEY']}"
    )
    keyed.instead["01"] = {"answer": OPAQUE}
    keyed.run()
    assert keyed.trial("02")["observations"] == [{"score": 0.9, "why": "[masked]"}]
    assert keyed.result("01")["masked"]
    assert keyed.result("02")["masked"]
    assert OPAQUE not in everything(keyed)
    assert main(["verify", str(keyed.out)]) == 0


def test_a_masked_run_is_resumed_and_replayed_without_a_rule(keyed, monkeypatch):
    keyed.instead["01"] = {"answer": OPAQUE}
    keyed.left()
    monkeypatch.delenv("PROVIDER_API_KEY")  # nothing in what is left depends on it
    keyed.run(resume="auto")
    assert "01" not in keyed.calls
    assert keyed.trial("01")["output"] == {"answer": "[masked]"}
    keyed.run(replay="1", system=None)
    assert keyed.result("01")["masked"]
    assert not keyed.result("01").get("differs")


def test_the_baseline_of_the_same_session_counts_too(keyed):
    keyed.instead["01"] = {"answer": OPAQUE}
    keyed.system("if case.case_id == '02': return {'answer': '" + SHAPED + "'}")
    keyed.run(baseline="run:shout")
    said = "2 of 6 trials: a key or token in what they returned or said was masked"
    assert notes(keyed)[NOTE] == said


def test_a_run_without_a_key_says_nothing(echo):
    echo.run()
    assert NOTE not in echo.record()["decision"]["notes"]
    assert "masked" not in everything(echo)


@pytest.mark.parametrize(
    "text",
    [
        f"at {SHAPED}.",
        f"line\n{SHAPED}",
        f"é{SHAPED}",
        "AKIA" + "ABCDEFGHIJKLMNOP",
        "gho_" + "a1" * 18,
        "github_pat_" + "a" * 22,
        "glpat-" + "a" * 20,
        "AIza" + "a" * 35,
        "xoxb-" + "1" * 10,
        "hf_" + "a" * 30,
        "eyJ" + "a" * 10 + ".eyJ" + "a" * 10 + "." + "a" * 10,
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc\n-----END RSA PRIVATE KEY----- rest",
        "-----BEGIN PRIVATE KEY-----\nMIIEow that was cut",
    ],
)
def test_what_looks_like_a_key_is_masked_in_text_and_in_json(text):
    masker = Masker()
    kept = text.split(SHAPED)[0] if SHAPED in text else ""
    assert masker.text(text).startswith(f"{kept}[masked]")
    assert json.loads(masker.json(json.dumps({"a": [text]}))) == {"a": [masker.text(text)]}
    assert "MIIE" not in masker.text(text)


def test_a_key_is_masked_whatever_its_characters(monkeypatch):
    key = 'a"b\\c\n0123456789é'
    monkeypatch.setenv("ODD_SECRET", key)
    monkeypatch.setenv("PIN_KEY", "1234567890123456")
    monkeypatch.setenv("LONGER_KEY", key + "and more")
    masker = Masker()
    masker.look()
    output = {
        "text": f"<{key}>",
        "nested": json.dumps({"k": key}),
        "pin": 1234567890123456,
        "n": 12,
    }
    expected = {"text": "<[masked]>", "nested": '{"k": "[masked]"}', "pin": "[masked]", "n": 12}
    assert json.loads(masker.json(json.dumps(output))) == expected
    assert masker.text(f"{key}and more.") == "[masked]."


def test_a_key_that_takes_the_place_of_another_is_known_too(monkeypatch):
    monkeypatch.setenv("LOADED_TOKEN", "")
    masker = Masker()
    masker.look()
    for number in "123":
        monkeypatch.setenv("LOADED_TOKEN", number * 16)
        masker.look()
        assert masker.text(f"by {number * 16}") == "by [masked]"


def test_a_text_of_beginnings_of_keys_takes_no_longer_than_others():
    masker = Masker()
    for part in (
        "sk-",
        "eyJ",
        "-eyJ",
        "_eyJ",
        "éeyJ",
        "\neyJ",
        "-----BEGIN A",
        "-----BEGIN PRIVATE KEY",
        "eyJaaaaaaaaaaaa.",
    ):
        text = part * (1_000_000 // len(part))
        assert len(masker.text(text)) <= len(text)  # in time that grows with its size
