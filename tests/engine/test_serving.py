"""What a class serves to its systems: who gets the address, and who is refused."""

from __future__ import annotations

import pytest

from benchgate.errors import EvalError
from tests.conftest import REGISTRATION
from tests.engine.test_isolation import without_sandbox

SERVER = """
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

LOG = Path(__file__).parent / "served.log"

class Capitals(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.path.strip("/").upper().encode())

    def log_message(self, *_):
        pass

def note(event):
    with LOG.open("a") as log:
        log.write(event + "\\n")

@contextmanager
def serve():
    note("started")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Capitals)
    Thread(target=server.serve_forever, args=(0.05,)).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    note("ended")
"""
ASKING = """
from urllib.request import ProxyHandler, build_opener

def system(case):
    with build_opener(ProxyHandler({})).open(case.served, timeout=30) as answer:
        return {"answer": "Q" + answer.read().decode()}

system.needs_served = True
"""
SHUT_IN = pytest.mark.skipif(bool(without_sandbox()), reason=without_sandbox())
LEVELS = ["none", "process", pytest.param("sandbox", marks=SHUT_IN)]


@pytest.fixture
def serving(echo):
    """A bench that serves to each case its id in capitals, and a system that answers with it."""

    def write(entry='{"call": "system:system", "network": True}', serves="tools.capitals:serve"):
        text = REGISTRATION.format(name=echo.name).replace('"system:system"', entry)
        text = text.replace("})", f"}}, serves={serves!r})")
        echo.write("registration.py", text)

    echo.write("tools/capitals.py", SERVER)
    echo.write("system.py", ASKING)
    echo.serves = write
    write()
    return echo


def log(bench):
    path = bench.path / "tools/served.log"
    return path.read_text().split() if path.exists() else []


@pytest.mark.parametrize("level", LEVELS)
def test_each_case_has_its_address_on_a_server_that_lasts_as_long_as_the_run(serving, level):
    report = serving.engine(isolation=level, baseline="none").judgement.report

    assert report.passed_count == 3, report.per_case
    assert log(serving) == ["started", "ended"]


@pytest.mark.parametrize("level", LEVELS)
def test_a_system_that_needs_it_and_is_granted_no_network_is_refused(serving, level):
    serving.serves(entry='"system:system"')

    with pytest.raises(EvalError, match=r"shout needs what its class serves: .*'network': True"):
        serving.engine(isolation=level)
    assert log(serving) == []


def test_one_that_needs_nothing_gets_no_address_without_the_right(serving):
    serving.serves(entry='"system:system"')
    serving.system("assert case.served is None")

    assert serving.engine(baseline="none").judgement.report.passed_count == 3
    assert log(serving) == []


def test_gate_toml_grants_it_to_a_system_that_is_not_registered(serving):
    def agent(case):
        assert case.served.endswith(f"/{case.case_id}/")
        return {"answer": f"Q{case.case_id}"}

    agent.needs_served = True
    with pytest.raises(EvalError, match="needs what its class serves"):
        serving.engine(system=agent)
    serving.write("gate.toml", "[run]\nnetwork = true\n")

    assert serving.engine(system=agent, baseline="none").judgement.report.passed_count == 3


def test_the_rubric_is_never_told_the_address(serving):
    serving.rubric("assert case.served is None")

    assert serving.engine(baseline="none").judgement.report.passed_count == 3


def test_a_replay_starts_no_server(serving):
    serving.engine(baseline="none")

    assert serving.engine(baseline="none", replay="1").judgement.report.passed_count == 3
    assert log(serving) == ["started", "ended"]


def test_a_class_that_serves_nothing_refuses_a_system_that_needs_it(serving):
    serving.grant(network=True)

    with pytest.raises(EvalError, match=r"class echo has no serves= in its registration"):
        serving.engine()


def test_workers_elsewhere_do_not_reach_it(serving):
    with pytest.raises(EvalError, match="workers of --bench-executor are not"):
        serving.engine(executor="dask://127.0.0.1:9")


@pytest.mark.parametrize(
    ("serves", "why"),
    [
        ("tools.absent:serve", "ModuleNotFoundError"),
        ("tools.capitals:absent", "AttributeError"),
        ("tools.other:none", "TypeError"),
        ("tools.other:far", "expected an address of this machine"),
        ("tools.other:nothing", "expected an address of this machine"),
        ("tools.other:leaves", "SystemExit"),
    ],
)
def test_what_cannot_serve_is_refused_before_a_case_runs(serving, serves, why):
    serving.write(
        "tools/other.py",
        """
        import sys
        from contextlib import nullcontext

        none = 7
        leaves = sys.exit

        def far():
            return nullcontext("http://registry.example/")

        def nothing():
            return nullcontext("")
        """,
    )
    serving.serves(serves=serves)

    with pytest.raises(EvalError, match=rf"class echo: {serves} cannot serve: .*{why}"):
        serving.engine()


@pytest.mark.parametrize("serves", ["tools/registry.py", ":serve", ""])
def test_a_registration_names_it_as_module_and_attribute(serving, serves):
    serving.serves(serves=serves)

    with pytest.raises(EvalError, match=r"expected module:attr, such as 'tools\.registry:serve'"):
        serving.engine()
