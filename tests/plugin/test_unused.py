"""With the plugin installed but unused, a pytest run pays nothing for it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

DECIDES = (
    "artifacts.record",
    "artifacts.run_kinds",
    "audit.walk",
    "gates.decision",
    "gates.figures",
    "looks",
    "statistics",
)
"""Of ours, what a run of a part of the cases is not to wait for."""
HEAVY = ("pydantic", "pydantic_core", "scipy", "numpy", "tomli", "rfc8785")
CODE = """
import json, os, sys, pytest
options = ["-p", "no:randomly", "-p", "no:hypothesispytest", "-p", "no:cacheprovider", "-q"]
told = []
for folder, arguments in json.loads(sys.argv[1]):
    os.chdir(folder)
    status = pytest.main([*options, *arguments])
    loaded = sorted(name for name in sys.modules if name.partition(".")[0] == "benchgate")
    told.append([int(status), [name for name in {heavy} if name in sys.modules], loaded])
sys.stderr.write(json.dumps(told))
"""


def imported(*runs) -> list[tuple[int, list[str], list[str]]]:
    """Run pytest in a fresh interpreter; return of each run its status, the heavy modules and ours loaded by then."""
    code = CODE.replace("{heavy}", repr(HEAVY))
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(runs)],
        capture_output=True,
        text=True,
        check=True,
    )
    return [tuple(one) for one in json.loads(done.stderr.splitlines()[-1])]


@pytest.mark.slow
def test_nothing_heavy_is_imported_before_a_bench_is_compared(bench, tmp_path_factory):
    """Neither where no bench is, nor beside one that is not asked for; to list its cases needs no statistics."""
    elsewhere, here = str(tmp_path_factory.mktemp("elsewhere")), str(bench.root)
    for folder, name in ((elsewhere, "test_plain.py"), (here, "test_here.py")):
        Path(folder, name).write_text("def test_plain(): pass")
    options = ([], ["test_plain.py"], ["--co"], ["--help"], ["--markers"])
    runs = [*((elsewhere, args) for args in options), (here, []), (here, ["--bench=echo", "--co"])]
    *plain, listed = imported(*runs)
    for run, (status, heavy, loaded) in zip(runs, plain, strict=False):
        assert (status, heavy) == (0, []), run
        assert "benchgate.pytest_plugin" in loaded
        assert "benchgate.models" not in loaded, run
    assert listed[0] == 0
    assert not {"scipy", "numpy"} & set(listed[1])


@pytest.mark.slow
def test_a_case_by_its_id_waits_for_nothing_that_decides(bench):
    """An editor runs one at each click."""
    bench.case("01")
    bench.case("02")
    ((status, _, loaded),) = imported((str(bench.root), ["bench/echo/cases/01/case.toml::01"]))
    assert status == 0
    assert not {f"benchgate.{name}" for name in DECIDES} & set(loaded)


def test_an_unused_plugin_writes_nothing(bench):
    bench.pytester.makepyfile(test_plain="def test_plain(): pass")
    bench.pytest().assert_outcomes(passed=1)
    assert not bench.out.exists()


@pytest.mark.slow
def test_the_plugin_can_be_switched_off(bench):
    bench.pytester.makepyfile(test_plain="def test_plain(): pass")
    result = bench.pytest("-p", "no:benchgate", "test_plain.py", apart=True)
    result.assert_outcomes(passed=1)


@pytest.mark.slow
def test_the_plugin_can_be_named_where_entry_points_are_off(bench, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    result = bench.run("-p", "pytest_timeout", "-p", "benchgate.pytest_plugin", apart=True)
    result.assert_outcomes(passed=3)
    assert result.ret == pytest.ExitCode.OK
