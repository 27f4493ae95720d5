"""The gates of the root conftest bind in every form of a run, and workers find the same project."""

from __future__ import annotations

import json
import os

import pytest

CONFTEST = """
import pytest
{}
@pytest.hookimpl(optionalhook=True)
def pytest_bench_gates(task_class):
    def never(report, baseline):
        return "no"
    return [never]
@pytest.hookimpl(optionalhook=True)
def pytest_bench_run_finished(config, report, decision):
    (config.rootpath / "finished").write_text(decision.outcome)
"""
FORMS = {
    "option": ("--bench=echo",),
    "cases": ("bench/echo/cases",),
    "class": ("bench/echo",),
    "bench": ("bench",),
    "ids": tuple(f"bench/echo/cases/0{n}/case.toml::0{n}" for n in (1, 2, 3)),
}
slow = pytest.mark.slow


def assert_the_gate_held(bench, *arguments):
    result = bench.pytest(*arguments, apart="-n2" in arguments)
    assert result.ret == 10
    codes = bench.record()["decision"]["reason_codes"]
    assert codes[-1] == "checkpoint_promotion_blocked_gate:never"
    assert (bench.root / "finished").read_text() == "hold"


@pytest.mark.parametrize("workers", [(), pytest.param(("-n2",), marks=slow)], ids=["", "xdist"])
@pytest.mark.parametrize("form", FORMS)
def test_from_the_root(bench, form, workers):
    bench.pytester.makeconftest(CONFTEST.format(""))
    assert_the_gate_held(bench, *FORMS[form], *workers)


@slow
@pytest.mark.parametrize("plugins", ["", "pytest_plugins = ['helping']"], ids=["", "plugins"])
@pytest.mark.parametrize("workers", [(), ("-n2",)], ids=["", "xdist"])
@pytest.mark.parametrize("form", FORMS)
def test_from_elsewhere(bench, tmp_path_factory, form, workers, plugins):
    bench.pytester.makeconftest(CONFTEST.format(plugins))
    bench.pytester.makepyfile(helping="")
    bench.pytester.syspathinsert()
    os.chdir(tmp_path_factory.mktemp("elsewhere"))  # pytester goes back
    given = [a if a.startswith("--") else str(bench.root / a) for a in FORMS[form]]
    assert_the_gate_held(bench, *given, f"--rootdir={bench.root}", *workers)


@slow
@pytest.mark.parametrize("place", ["new", "there", "outside"])
def test_an_output_folder_as_a_second_word_moves_no_root(bench, tmp_path_factory, place):
    # pytest takes the second word for a path while it looks for rootdir, but only once that path exists.
    inside = bench.root / "kept" / "here"
    out = tmp_path_factory.mktemp("out") / "kept" if place == "outside" else inside
    if place == "there":
        out.mkdir(parents=True)
    bench.pytester.makeini("[pytest]\nbench_seed = 7\n")
    result = bench.pytest("--bench=echo", "--bench-out", str(out), "-n2", apart=True)
    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(passed=3)


def test_a_root_that_is_named_by_a_link_is_the_root(bench, tmp_path_factory):
    bench.pytester.makeconftest(CONFTEST.format(""))
    link = tmp_path_factory.mktemp("links") / "link"
    link.symlink_to(bench.root)
    assert_the_gate_held(bench, "bench/echo/cases", f"--rootdir={link}")


@slow
@pytest.mark.parametrize("given", [None, "-p no:cacheprovider"])
def test_what_tells_workers_their_root_is_not_seen_by_systems(bench, monkeypatch, given):
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    if given:
        monkeypatch.setenv("PYTEST_ADDOPTS", given)
    bench.system(
        "import os, json; open(case.case_id, 'w').write(json.dumps(os.environ.get('PYTEST_ADDOPTS')))"
    )
    bench.pytest("--bench=echo", "-n1", apart=True).assert_outcomes(passed=3)
    assert {json.loads((bench.root / name).read_text()) for name in ("01", "02", "03")} == {given}
