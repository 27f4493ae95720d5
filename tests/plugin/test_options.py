"""Every option can also be set in the ini file and in the environment; the command line wins over both."""

from __future__ import annotations

import json

import pytest

from benchgate.cli import main
from benchgate.options.table import RUN_OPTIONS


def trials(bench):
    return bench.record()["report"]["trial_count"]


def test_command_line_over_environment_over_ini(bench, monkeypatch):
    bench.pytester.makeini("[pytest]\nbench_trials = 2\n")
    bench.run()
    assert trials(bench) == 2
    monkeypatch.setenv("BENCHGATE_TRIALS", "3")
    bench.run()
    assert trials(bench) == 3
    bench.run("--bench-trials=4")
    assert trials(bench) == 4


def test_the_environment_counts_for_the_command_too(bench, monkeypatch, capsys):
    monkeypatch.setenv("BENCHGATE_TRIALS", "2")
    monkeypatch.setenv("BENCHGATE_OUT", "written")
    assert main(["run", "--task-class=echo"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["trial_count"] == 2
    assert (bench.root / "written" / "runs" / "echo" / "HEAD.json").is_file()
    assert main(["run", "--task-class=echo", "--trials=1"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["trial_count"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("workers", [(), ("-n2",)], ids=["in process", "xdist"])
def test_workers_see_the_environment_and_the_ini_file(bench, monkeypatch, workers):
    bench.pytester.makeini("[pytest]\nbench_seed = 7\n")
    monkeypatch.setenv("BENCHGATE_TRIALS", "2")
    bench.run(*workers, apart=bool(workers)).assert_outcomes(passed=6)
    report = bench.record()["report"]
    assert (report["seed"], report["trial_count"]) == (7, 2)


def test_thresholds_add_up_and_the_later_place_wins(bench, monkeypatch):
    bench.pytester.makeini(
        "[pytest]\nbench_policy =\n    alpha = 0.01\n    min_cases = 3\n    target_effect = 0.2\n"
    )
    monkeypatch.setenv("BENCHGATE_POLICY", "alpha=0.02\nmin_cases=4")
    said = bench.run("--bench-policy=alpha=0.03", "--bench-policy=claim=no_regression").stdout
    policy = bench.record()["policy"]
    assert (policy["alpha"], policy["min_cases"], policy["target_effect"]) == (0.03, 4, 0.2)
    said.fnmatch_lines(
        [
            "policy    alpha = 0.03, from the command line",
            "          min_cases = 4, from the environment, BENCHGATE_POLICY",
            "          target_effect = 0.2, from the ini setting bench_policy",
            "          claim = no_regression, from the command line",
        ],
        consecutive=True,
    )


def test_a_threshold_that_is_added_to_the_command_line_says_by_what(bench, monkeypatch):
    bench.pytester.makeini("[pytest]\naddopts = --bench-policy=target_effect=0.2\n")
    monkeypatch.setenv("PYTEST_ADDOPTS", "--bench-policy='alpha = 0.03'")
    bench.pytester.makeconftest(
        "def pytest_configure(config): config.option.bench_policy.append('min_cases=4')"
    )
    bench.run("-q").stdout.fnmatch_lines(
        [
            "*target_effect = 0.2, from the ini setting addopts",
            "*alpha = 0.03, from the environment, PYTEST_ADDOPTS",
            "*min_cases = 4, from a conftest or plugin",
        ]
    )


def test_the_command_says_where_a_threshold_is_from(bench, monkeypatch, capsys):
    monkeypatch.setenv("BENCHGATE_POLICY", "claim=no_regression")
    main(["run", "--task-class=echo", "--policy=alpha=0.03"])
    said = capsys.readouterr().err
    assert "policy    claim = no_regression, from the environment, BENCHGATE_POLICY\n" in said
    assert "          alpha = 0.03, from the command line\n" in said


def test_a_path_in_the_ini_file_is_relative_to_rootdir_and_not_to_where_one_is(bench, monkeypatch):
    bench.pytester.makeini("[pytest]\nbench_out = kept\n")
    (bench.root / "below").mkdir()
    monkeypatch.chdir(bench.root / "below")
    bench.pytest(f"--rootdir={bench.root}", "-c", str(bench.root / "tox.ini"), "--bench=echo")
    assert (bench.root / "kept" / "runs" / "echo" / "HEAD.json").is_file()


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("trials", "0", "'0': expected a whole number, 1 or more"),
        ("seed", "9" * 5000, "'999*': expected a whole number, 0 or more"),
        ("exit", "never", "'never': expected strict or gate"),
        ("out", "", "'': expected a path"),
    ],
)
def test_a_wrong_value_is_named_with_its_place(bench, monkeypatch, option, value, message):
    bench.pytester.makeini(f"[pytest]\nbench_{option} = {value}\n")
    result = bench.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*bench_{option}: {message}*"])
    if not value:  # an empty variable counts as not set
        return
    bench.pytester.makeini("[pytest]\n")
    monkeypatch.setenv(f"BENCHGATE_{option.upper()}", value)
    result = bench.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*BENCHGATE_{option.upper()}: {message}*"])
    if option != "exit":  # which the command does not have: it always decides by the gate
        assert main(["run", "--task-class=echo"]) == 2


def test_an_array_of_pyproject_toml_is_several_values(bench):
    text = '[tool.pytest.ini_options]\nbench_policy = ["alpha=0.01", "min_cases=3"]\n'
    (bench.root / "pyproject.toml").write_text(text)
    bench.run()
    policy = bench.record()["policy"]
    assert (policy["alpha"], policy["min_cases"]) == (0.01, 3)


def test_all_wrong_values_are_named_at_once(bench, monkeypatch, capsys):
    monkeypatch.setenv("BENCHGATE_TRIALS", "0")
    monkeypatch.setenv("BENCHGATE_SEED", "x")
    result = bench.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    lines = ["*BENCHGATE_TRIALS: '0': expected *", "*BENCHGATE_SEED: 'x': expected *"]
    result.stderr.fnmatch_lines(lines)
    capsys.readouterr()
    assert main(["run", "--task-class=echo"]) == 2
    said = capsys.readouterr().err
    assert "BENCHGATE_TRIALS: '0'" in said
    assert "BENCHGATE_SEED: 'x'" in said


def test_a_variable_that_nearly_has_the_name_of_an_option_is_named(bench, monkeypatch, capsys):
    monkeypatch.setenv("BENCHGATE_TRIAL", "3")
    monkeypatch.setenv("BENCHGATE_REQUIRE_NPM", "1")
    line = "BENCHGATE_TRIAL is not read; did you mean BENCHGATE_TRIALS?"
    result = bench.run()
    result.stdout.fnmatch_lines([line])
    result.stdout.no_fnmatch_line("*BENCHGATE_REQUIRE_NPM*")
    assert trials(bench) == 1
    capsys.readouterr()
    assert main(["run", "--task-class=echo"]) == 0
    assert capsys.readouterr().err.startswith(f"{line}\n")


needs_numbers = pytest.mark.skipif(
    pytest.version_tuple < (9, 2), reason="a setting is either a number or a text before pytest 9.2"
)


@pytest.mark.skipif(
    pytest.version_tuple < (9, 0), reason="there is no [tool.pytest] before pytest 9"
)
@pytest.mark.parametrize("number", ['"{}"', pytest.param("{}", marks=needs_numbers)])
def test_native_toml(bench, number):
    numbers = {"trials": "2", "seed": "7", "timeout": "1.5"}
    lines = [f"bench_{name} = {number.format(value)}\n" for name, value in numbers.items()]
    text = f'[tool.pytest]\nbench_policy = ["alpha=0.01", "min_cases=3"]\n{"".join(lines)}'
    (bench.root / "pyproject.toml").write_text(text)
    bench.system("import time\nif case.case_id == '02' and case.trial: time.sleep(60)")
    bench.run()
    record = bench.record()
    assert (record["report"]["seed"], record["policy"]["min_cases"]) == (7, 3)
    assert bench.outcomes() == {
        **dict.fromkeys(("01", "01-t1", "02", "03", "03-t1"), "scored"),
        "02-t1": "timeout",
    }


@needs_numbers
@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("2.5", "the ini setting bench_trials: '2.5': expected a whole number, 1 or more"),
        ("true", "*'bench_trials' expects one of *, got bool: True"),
        ("[2]", "*'bench_trials' expects one of *"),
    ],
)
def test_a_wrong_value_in_native_toml(bench, value, message):
    (bench.root / "pyproject.toml").write_text(f"[tool.pytest]\nbench_trials = {value}\n")
    result = bench.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {message}*"])


def test_neither_ini_nor_environment_makes_a_plain_pytest_run_cases(bench, monkeypatch):
    for variable in ("BENCHGATE_BENCH", "BENCHGATE_CLASSES", "BENCHGATE_SYSTEM"):
        monkeypatch.setenv(variable, "echo")
    monkeypatch.setenv("BENCHGATE_TRIALS", "none of its business")
    bench.pytester.makepyfile(test_plain="def test_plain(): pass")
    bench.pytest("test_plain.py").assert_outcomes(passed=1)


def test_both_doors_take_the_same_options(bench, capsys):
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    command = capsys.readouterr().out
    plugin = str(bench.pytest("--help").stdout)
    for option in RUN_OPTIONS:
        assert f"--{option.name} " in command
        assert f"--bench-{option.name}=" in plugin
        assert f"bench_{option.key} (" in plugin


@pytest.mark.parametrize("typed", [("-n4",), ("-n", "4"), ("--numprocesses=4",)])
def test_workers_without_xdist_say_what_to_install(bench, typed):
    result = bench.run("-p", "no:xdist", *typed)
    result.stderr.fnmatch_lines([f"ERROR: {typed[0]} needs pytest-xdist: pip install pytest-xdist"])
    assert result.ret == pytest.ExitCode.USAGE_ERROR
