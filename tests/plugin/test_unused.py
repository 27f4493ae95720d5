"""With the plugin installed but unused, a pytest run pays nothing for it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = ("pydantic", "pydantic_core", "scipy", "numpy", "tomli", "rfc8785")
CODE = """
import json, sys, pytest
options = ["-p", "no:randomly", "-p", "no:hypothesispytest", "-p", "no:cacheprovider", "-q"]
told = []
for arguments in json.loads(sys.argv[1]):
    status = pytest.main([*options, *arguments])
    loaded = sorted(name for name in sys.modules if name.partition(".")[0] == "benchgate")
    told.append([int(status), [name for name in {heavy} if name in sys.modules], loaded])
sys.stderr.write(json.dumps(told))
"""


def imported(folder, *runs: list[str]) -> list[tuple[int, list[str], list[str]]]:
    """Run pytest in a fresh interpreter; return of each run its status, the heavy modules and ours loaded by then."""
    code = CODE.replace("{heavy}", repr(HEAVY))
    made = subprocess.run(
        [sys.executable, "-c", code, json.dumps(runs)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return [tuple(one) for one in json.loads(made.stderr.splitlines()[-1])]


def test_nothing_heavy_is_imported_without_a_bench(pytester):
    pytester.makepyfile(test_plain="def test_plain(): pass")
    runs = [[], ["test_plain.py"], ["--co"], ["--help"], ["--markers"]]
    for run, (status, heavy, loaded) in zip(runs, imported(pytester.path, *runs), strict=True):
        assert (status, heavy) == (0, []), run
        assert "benchgate.pytest_plugin" in loaded
        assert "benchgate.models" not in loaded, run


def test_nothing_heavy_is_imported_beside_a_bench_that_is_not_asked_for(bench):
    bench.pytester.makepyfile(test_plain="def test_plain(): pass")
    ((status, heavy, _),) = imported(bench.root, [])
    assert status == 0
    assert heavy == []


def test_a_bench_without_a_comparison_needs_no_statistics_to_collect(bench):
    ((status, heavy, _),) = imported(bench.root, ["--bench=echo", "--co"])
    assert status == 0
    assert not {"scipy", "numpy"} & set(heavy)


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
