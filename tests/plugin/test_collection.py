"""Which cases a command line collects, under which ids, and what else it runs."""

from __future__ import annotations

import os

import pytest

from tests.conftest import PLAIN

IDS = [f"bench/echo/cases/0{n}/case.toml::0{n}" for n in (1, 2, 3)]


def collected(result: pytest.RunResult) -> list[str]:
    """Return the ids that ``--co -q`` listed."""
    return [line for line in result.outlines if "::" in line]


def listed(bench, *arguments: object) -> list[str]:
    return collected(bench.pytest("--co", "-q", *arguments))


@pytest.fixture
def mirror(bench):
    """A second class beside ``echo``."""
    return type(bench)(bench.pytester, name="mirror", cases=1)


@pytest.fixture
def tested(bench):
    """The bench has tests of its own, and the project has one too."""
    bench.write(
        "tests/test_rubric.py",
        """
        from _benchgate_bench.echo.rubric import EchoRubric

        def test_rubric_scores():
            assert callable(EchoRubric.score)
        """,
    )
    tests = bench.root / "tests"
    tests.mkdir()
    (tests / "test_plain.py").write_text("def test_plain(): pass\n")
    return bench


# By --bench


def test_each_case_is_one_item_sorted_by_id(bench):
    bench.case("00")
    assert listed(bench, "--bench=echo") == ["bench/echo/cases/00/case.toml::00", *IDS]


def test_further_trials_have_ids_of_their_own(bench):
    ids = listed(bench, "--bench=echo", "--bench-trials=3")
    assert ids[:3] == [IDS[0], f"{IDS[0]}-t1", f"{IDS[0]}-t2"]
    assert len(ids) == 9


@pytest.mark.parametrize("pattern", ["all", "[em]*"])
def test_a_glob_selects_classes(bench, mirror, pattern):
    ids = listed(bench, f"--bench={pattern}")
    assert ids == [*IDS, "bench/mirror/cases/01/case.toml::01"]


def test_bench_may_be_repeated(bench, mirror):
    result = bench.pytest("--bench=echo", "--bench=mirror", "--bench=ec*")
    result.assert_outcomes(passed=4)
    assert bench.head()["seq"] == mirror.head()["seq"] == 1


def test_a_glob_of_one_class_leaves_the_others(bench, mirror):
    assert listed(bench, "--bench=mi*") == ["bench/mirror/cases/01/case.toml::01"]


def test_bench_runs_nothing_else(tested):
    result = tested.run()
    result.assert_outcomes(passed=3)


def test_explicit_paths_win_over_bench(bench, mirror):
    result = bench.run("bench/mirror/cases/01/case.toml")
    result.assert_outcomes(passed=1)
    assert mirror.head()["seq"] == 1
    assert not (bench.out / "runs/echo").exists()


def test_an_explicit_ordinary_test_wins_over_bench(tested):
    result = tested.run("tests/test_plain.py")
    result.assert_outcomes(passed=1)
    assert not tested.out.exists()


# Wrong use


def assert_wrong_use(bench, result, words: str) -> None:
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([words])
    assert not (bench.out / "runs").exists()


def test_an_unknown_class_names_the_expected_path_and_the_known_ones(bench, mirror):
    result = bench.pytest("--bench=ecco")
    path = bench.root / "bench/ecco/registration.py"
    assert_wrong_use(
        bench,
        result,
        f"*--bench=ecco: unknown task class; expected {path}; did you mean 'echo'? known: echo, mirror",
    )


def test_without_a_bench_folder_no_class_is_known(pytester):
    result = pytester.runpytest(*PLAIN, "--bench=echo")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--bench=echo: unknown task class; expected *; known: none"])


@pytest.mark.parametrize("pattern", ["x*", "../echo"])
def test_a_pattern_that_matches_nothing_is_wrong_use(bench, pattern):
    result = bench.pytest(f"--bench={pattern}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert not bench.out.exists()


def test_one_unknown_class_among_known_ones_is_wrong_use(bench):
    assert_wrong_use(bench, bench.pytest("--bench=echo", "--bench=ecco"), "*--bench=ecco: unknown*")


@pytest.mark.parametrize("option", ["-knothing", "--ignore-glob=*/cases/*"])
def test_a_selection_without_cases_is_wrong_use(bench, option):
    assert_wrong_use(bench, bench.run(option), "*--bench=echo: no bench case was selected")


def test_a_class_without_cases_is_wrong_use(bench):
    import shutil

    for case in (bench.path / "cases").iterdir():
        shutil.rmtree(case)
    assert_wrong_use(bench, bench.run(), "*--bench=echo: no bench case was selected")
    (bench.path / "cases").rmdir()
    assert_wrong_use(bench, bench.run(), f"*{bench.path}/cases*")


def test_an_ignored_case_makes_the_run_a_selection(bench):
    result = bench.run("--ignore=bench/echo/cases/02")
    result.assert_outcomes(passed=2)
    assert bench.outcomes(bench.selected()) == {"01": "scored", "03": "scored"}


@pytest.mark.parametrize(
    "option",
    [
        "--bench-seed=-1",
        "--bench-policy",
    ],
)
def test_an_option_out_of_range_is_wrong_use(bench, option):
    assert bench.run(option).ret == pytest.ExitCode.USAGE_ERROR
    assert not bench.out.exists()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("import sys; sys.exit(0)", "SystemExit: 0 (registration.py:1)"),
        ('import pytest; pytest.skip("no", allow_module_level=True)', "Skipped: no*"),
    ],
    ids=["exit", "skip"],
)
def test_a_registration_cannot_end_or_skip_the_session(bench, line, words):
    """Whatever else can be wrong with it is in ``tests/engine/test_registrations.py``."""
    bench.write("registration.py", f"{line}\n")
    assert_wrong_use(bench, bench.run(), f"*bench/echo/registration.py: {words}")


# Classes together


def test_two_classes_of_one_slug_are_wrong_use_also_if_one_is_asked_for(bench):
    for name in ("two-words", "two_words"):
        type(bench)(bench.pytester, name=name)
    assert_wrong_use(bench, bench.pytest("--bench=two_words"), "*two*words*two*words*")


def test_classes_may_have_modules_of_one_name(bench, mirror):
    for cls, part in ((bench, "left"), (mirror, "right")):
        cls.write("helpers.py", f"PART = '{part}'\n")
        cls.rubric(
            "from .helpers import PART\nreturn BenchScore(passed=True, score=1.0, breakdown={PART: 1.0})"
        )
    bench.pytest("--bench=all").assert_outcomes(passed=4)
    assert bench.result("01")["score"]["breakdown"] == {"left": 1.0}
    assert mirror.result("01")["score"]["breakdown"] == {"right": 1.0}


# Without --bench


def test_a_plain_run_never_runs_a_case(tested):
    for arguments in ((), (str(tested.root),)):
        ids = listed(tested, *arguments)
        assert "tests/test_plain.py::test_plain" in ids
        assert not [node for node in ids if "case.toml" in node]
    assert not tested.out.exists()


def test_testpaths_that_name_the_bench_run_no_case(tested):
    tested.pytester.makeini("[pytest]\ntestpaths = tests bench\n")
    result = tested.pytest()
    result.assert_outcomes(passed=2)
    assert not tested.out.exists()


def test_bench_in_addopts_governs_a_plain_run(tested):
    tested.pytester.makeini("[pytest]\naddopts = --bench=echo\n")
    tested.pytest().assert_outcomes(passed=3)
    assert tested.record()["report"]["scope"] == "full"


def test_bench_in_addopts_gives_way_to_ordinary_tests(tested):
    tested.pytester.makeini("[pytest]\naddopts = --bench=echo\n")
    assert listed(tested, "tests/") == ["tests/test_plain.py::test_plain"]
    tested.pytest("tests/").assert_outcomes(passed=1)
    assert not tested.out.exists()


@pytest.mark.parametrize(
    ("option", "argument", "ids"),
    [
        ((), "bench/echo/cases/02/case.toml::02", [IDS[1]]),
        (("--bench=echo",), "bench/echo/cases/02/case.toml::02", [IDS[1]]),
        ((), "bench/echo/cases", IDS),
        (("--bench=echo",), "bench/echo/cases", IDS),
        ((), "bench/echo/../echo/cases/02/", [IDS[1]]),
        (("--bench=echo",), "bench/echo/cases/02", [IDS[1]]),
    ],
)
def test_a_path_collects_the_same_cases_with_and_without_bench(bench, argument, ids, option):
    result = bench.pytest(*option, argument)
    result.assert_outcomes(passed=len(ids))
    assert result.ret == pytest.ExitCode.OK
    report = bench.record()["report"] if len(ids) == 3 else bench.selected()
    assert report["scope"] == ("full" if len(ids) == 3 else "selected")


def test_an_absolute_path_collects_its_case(bench):
    result = bench.pytest(f"{bench.path}/cases/02/case.toml::02")
    result.assert_outcomes(passed=1)
    assert bench.outcomes(bench.selected()) == {"02": "scored"}


def test_one_trial_can_be_named(bench):
    result = bench.pytest("bench/echo/cases/02/case.toml::02-t1", "--bench-trials=2")
    result.assert_outcomes(passed=1)
    assert bench.outcomes(bench.selected()) == {"02-t1": "scored"}


def test_a_trial_beyond_those_asked_for_is_wrong_use(bench):
    result = bench.pytest("bench/echo/cases/02/case.toml::02-t1")
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_a_case_that_does_not_exist_is_wrong_use(bench):
    result = bench.pytest("bench/echo/cases/99/case.toml::99")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert not (bench.out / "runs").exists()


def test_several_paths_collect_all_their_cases(bench, mirror):
    ids = listed(bench, "bench/echo/cases/01", "bench/mirror/cases/01", "bench/echo/cases/03")
    assert ids == [IDS[0], "bench/mirror/cases/01/case.toml::01", IDS[2]]


def test_all_cases_by_name_are_a_full_run(bench):
    bench.pytest(*IDS).assert_outcomes(passed=3)
    assert bench.record()["report"]["scope"] == "full"


def test_the_folder_of_a_class_collects_its_cases_and_its_tests(tested):
    ids = listed(tested, "bench/echo")
    assert ids == [*IDS, "bench/echo/tests/test_rubric.py::test_rubric_scores"]
    tested.pytest("bench/echo").assert_outcomes(passed=4)
    assert tested.record()["report"]["case_count"] == 3


def test_the_bench_folder_collects_all_classes_and_their_tests(tested, mirror):
    ids = listed(tested, "bench")
    assert set(ids) == {
        *IDS,
        "bench/mirror/cases/01/case.toml::01",
        "bench/echo/tests/test_rubric.py::test_rubric_scores",
    }


def test_the_tests_of_a_bench_are_ordinary_tests(tested):
    result = tested.pytest("bench/echo/tests")
    result.assert_outcomes(passed=1)
    assert not tested.out.exists()


def test_cases_and_ordinary_tests_can_be_named_together(tested):
    result = tested.pytest("tests", "bench/echo/cases")
    result.assert_outcomes(passed=4)
    assert tested.record()["report"]["complete"] is True


def test_a_failing_ordinary_test_fails_a_session_whose_gate_is_satisfied(tested):
    (tested.root / "tests/test_plain.py").write_text("def test_plain(): assert False\n")
    tested.case("02", answer="something else")
    result = tested.pytest("tests", "bench/echo/cases", "--bench-exit=gate")
    result.assert_outcomes(passed=2, failed=2)
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_with_exit_gate_failing_cases_alone_do_not_fail_the_session(bench):
    bench.case("02", answer="something else")
    result = bench.run("--bench-exit=gate")
    result.assert_outcomes(passed=2, failed=1)
    assert result.ret == pytest.ExitCode.OK


# From elsewhere


def test_rootdir_from_another_working_directory(bench, monkeypatch):
    elsewhere = bench.root / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    result = bench.run("--rootdir=..")
    result.assert_outcomes(passed=3)
    assert bench.record()["report"]["scope"] == "full"


def test_a_path_from_within_the_bench(bench, monkeypatch):
    bench.pytester.makeini("[pytest]\n")
    monkeypatch.chdir(bench.path / "cases")
    result = bench.pytest("02")
    result.assert_outcomes(passed=1)
    assert bench.outcomes(bench.selected()) == {"02": "scored"}


def test_the_output_folder_is_relative_to_where_pytest_was_called(bench, monkeypatch):
    monkeypatch.chdir(bench.path)
    bench.run("--rootdir=../..", "--bench-out=here").assert_outcomes(passed=3)
    assert (bench.path / "here/runs/echo/HEAD.json").is_file()


def test_an_ini_file_beside_a_case_does_not_hide_the_bench(bench):
    bench.write("cases/02/input/pytest.ini", "[pytest]\naddopts = --no-such-option\n")
    result = bench.pytest("bench/echo/cases/02")
    result.assert_outcomes(passed=1)
    assert bench.outcomes(bench.selected()) == {"02": "scored"}


def test_an_ini_file_in_the_case_folder_moves_rootdir_but_not_the_bench(bench):
    bench.write("cases/02/pytest.ini", "[pytest]\n")
    result = bench.pytest("bench/echo/cases/02/case.toml")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*stray 'pytest.ini' in the case folder*"])


def test_an_ini_file_of_the_class_moves_rootdir_but_not_the_bench(bench):
    bench.write("pytest.ini", "[pytest]\n")
    result = bench.pytest("bench/echo/cases/02/case.toml::02")
    result.assert_outcomes(passed=1)


def test_two_benches_in_one_session_are_wrong_use(bench):
    import shutil

    shutil.copytree(bench.root / "bench", bench.root / "other/bench")
    result = bench.pytest("bench/echo", "other/bench/echo")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*two benches in one session: *"])


def test_a_folder_named_bench_without_classes_is_left_alone(pytester):
    pytester.makepyfile(**{"bench/test_speed": "def test_speed(): pass"})
    pytester.runpytest(*PLAIN, "bench").assert_outcomes(passed=1)


# Marks and keywords


def test_the_marker_selects_by_what_a_case_is(bench):
    bench.case("02", difficulty='"hard"', disposition='"negative"', held_out="true")
    by = {
        "bench_case(difficulty='hard') and bench_case(held_out=True)": [IDS[1]],
        "bench_case(disposition='positive') and bench_case(source='curated')": [IDS[0], IDS[2]],
    }
    for expression, ids in by.items():
        assert listed(bench, "--bench=echo", "-m", expression) == ids


def test_tags_are_keywords_and_no_markers(bench):
    bench.case("02", tags='["npm", "two words"]')
    assert listed(bench, "--bench=echo", "-k", "npm") == [IDS[1]]
    assert listed(bench, "--bench=echo", "-k", "not npm") == [IDS[0], IDS[2]]
    result = bench.run("-m", "npm")
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_the_marker_is_declared(bench):
    result = bench.run("--strict-markers", "--strict-config", "-W", "error")
    result.assert_outcomes(passed=3)
    bench.pytest("--markers").stdout.fnmatch_lines(["@pytest.mark.bench_case(*"])


def test_the_place_of_a_case_is_its_file_and_the_line_of_its_table(bench):
    text = bench.case("02", answer="something else").read_text()
    bench.write("cases/02/case.toml", f"# one\n# two\n{text}")
    items, recorder = bench.pytester.inline_genitems("bench/echo/cases/02", *PLAIN)
    assert items[0].location[0] == os.path.join("bench", "echo", "cases", "02", "case.toml")
    assert items[0].location[1] == 2
    assert items[0].path == bench.path / "cases/02/case.toml"
    assert isinstance(items[0].parent, pytest.File)
    assert recorder.ret == 0
    for name in ("callspec", "cls", "module", "function", "obj"):
        assert not hasattr(items[0], name)


@pytest.mark.parametrize("mode", ["append", "importlib"])  # all others here prepend
def test_every_import_mode_runs_cases_and_the_tests_of_a_bench(tested, mode):
    result = tested.pytest(f"--import-mode={mode}", "bench/echo")
    result.assert_outcomes(passed=4)


def test_nothing_is_added_to_the_path_and_nothing_stays_imported(bench):
    import sys

    before = list(sys.path), list(sys.meta_path)
    bench.run().assert_outcomes(passed=3)
    assert (sys.path, sys.meta_path) == before
    assert not [name for name in sys.modules if name.startswith("_benchgate_bench.echo")]


def test_without_bench_another_plugin_or_assertion_mode_changes_nothing(bench):
    result = bench.run("--assert=plain", "-q", "-q", "-s")
    assert result.ret == pytest.ExitCode.OK
    assert bench.head()["seq"] == 1


def test_sessions_may_nest(bench):
    bench.write("marks.py", "WHOSE = 'outer'\n")
    bench.rubric("from .marks import WHOSE\nassert WHOSE == 'outer'")
    bench.write(
        "tests/test_nested.py",
        """
        import shutil

        PLAIN = PLACE

        def test_an_inner_session_has_a_bench_of_its_own(pytester, pytestconfig):
            shutil.copytree(pytestconfig.rootpath / "bench/echo", pytester.path / "bench/echo")
            inner = pytester.path / "bench/echo"
            (inner / "marks.py").write_text("WHOSE = 'inner'")
            text = (inner / "rubric.py").read_text().replace("'outer'", "'inner'")
            (inner / "rubric.py").write_text(text)

            from _benchgate_bench.echo import marks
            pytester.runpytest(*PLAIN, "--bench=echo").assert_outcomes(passed=3)
            from _benchgate_bench.echo import marks as again

            assert marks is again
            assert marks.WHOSE == "outer"
        """.replace("PLACE", repr(PLAIN)),
    )
    result = bench.pytest("-p", "pytester", "bench/echo/tests", "bench/echo/cases")
    result.assert_outcomes(passed=4)
    assert bench.record()["report"]["complete"] is True
