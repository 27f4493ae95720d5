"""The same gates bind in every form of a run."""

import pytest

ROOT = """
import pytest
seen = []
{extra}
@pytest.hookimpl(optionalhook=True)
def pytest_bench_gates(task_class):
    return [lambda report, baseline: "no"]
@pytest.hookimpl(optionalhook=True)
def pytest_bench_run_finished(config, report, decision):
    (config.rootpath / "finished").write_text(decision.outcome)
"""
FORMS = {
    "option": ["--bench=echo"],
    "cases": ["bench/echo/cases"],
    "class": ["bench/echo"],
    "bench": ["bench"],
    "ids": [f"bench/echo/cases/0{n}/case.toml::0{n}" for n in (1, 2, 3)],
}


@pytest.mark.parametrize("extra", ["", "pytest_plugins = ['helping']"], ids=["", "plugins"])
@pytest.mark.parametrize("workers", [(), ("-n2",)], ids=["serial", "xdist"])
@pytest.mark.parametrize("where", ["here", "elsewhere"])
@pytest.mark.parametrize("form", FORMS)
def test_gates(bench, form, where, workers, extra, monkeypatch, tmp_path_factory):
    bench.pytester.makeconftest(ROOT.format(extra=extra))
    bench.pytester.makepyfile(helping="")
    bench.pytester.syspathinsert()
    arguments = list(FORMS[form])
    if where == "elsewhere":
        other = tmp_path_factory.mktemp("elsewhere")
        monkeypatch.chdir(other)
        arguments = [a if a.startswith("--") else str(bench.root / a) for a in arguments] + [
            f"--rootdir={bench.root}"
        ]
    result = bench.pytest(*arguments, *workers, apart=True)
    print(result.stdout.str()[-1500:])
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert (
        bench.record()["decision"]["reason_codes"][-1]
        == "checkpoint_promotion_blocked_gate:<lambda>"
    )
    assert (bench.root / "finished").read_text() == "hold"


@pytest.mark.parametrize("place", ["new", "there", "outside"])
def test_an_output_folder_in_a_word_of_its_own_does_not_move_the_root_of_workers(
    bench, place, tmp_path_factory
):
    # pytest takes the second word for a path while it looks for rootdir, but only once that path exists.
    out = (
        tmp_path_factory.mktemp("out") / "kept"
        if place == "outside"
        else bench.root / "kept" / "here"
    )
    if place == "there":
        out.mkdir(parents=True)
    bench.pytester.makeini("[pytest]\nbench_seed = 7\n")
    result = bench.pytest("--bench=echo", "--bench-out", str(out), "-n2", apart=True)
    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(passed=3)
