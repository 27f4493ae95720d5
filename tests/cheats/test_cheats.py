"""Which level stops which cheat: each is tried at the level that stops it, at those above, and at the one below."""

from __future__ import annotations

import ast
import inspect
import os
import subprocess
import sys

import pytest

from tests.cheats import agent
from tests.cheats.cheated import HERE, IMPORTS_LATE, JUDGE, JUDGED, Cheats, take_terminal
from tests.engine.test_isolation import without_sandbox

PAGE = HERE / "README.md"
LEVELS = ("none", "process", "sandbox")
IS_ROOT = os.geteuid() == 0

IN_A_CALL = {
    "process": (
        agent.reads_its_environment,
        agent.patches_json,
        agent.patches_math,
        agent.patches_the_rubric,
        agent.finds_the_rubric_in_memory,
        agent.plants_modules,
        agent.leaves_a_daemon,
        agent.exits_below_python,
    ),
    "sandbox": (
        agent.reads_expected,
        agent.searches_expected,
        agent.reads_another_case,
        agent.reads_the_rubric,
        agent.reads_cassettes,
        agent.reads_another_trial,
        agent.writes_the_record,
        agent.reads_the_parents_environment,
        agent.reads_the_parents_arguments,
        agent.reads_the_parents_memory,
        agent.takes_a_descriptor,
        agent.connects_by_tcp,
        agent.sends_by_udp,
        agent.connects_to_a_unix_socket,
        agent.sends_by_a_pair_of_sockets,
        agent.keeps_shared_memory,
        agent.limits_its_parent,
        agent.signals_its_parent,
        agent.counts_events_of_its_parent,
        agent.is_root_in_a_namespace,
        *agent.AS_ROOT,
    ),
    "no level": (
        agent.asks_whether_a_path_exists,
        agent.changes_a_mode,
        agent.watches_a_folder,
    ),
}
"""What a system does in a call; those of :data:`agent.AT_IMPORT` are tried at its import too."""

ALONE = {
    "process": (
        "claims_a_checkpoint",
        "reads_the_judges_key",
        "patches_the_session",
        "patches_by_its_digest",
        "shadows_a_library",
        "exchanges_the_rubric",
        "exchanges_the_bytecode",
        "exchanges_a_late_import",
        "blinds_what_ends_daemons",
        "keeps_a_daemon",
        "sets_a_timer",
        "wakes_itself",
        "wakes_another",
        "types_into_the_terminal",
        "never_ends_its_import",
        "never_says_its_digest",
        "never_forks",
        "forges_its_description",
        "fills_the_disk",
        "fills_the_disk_at_import",
        "starts_processes",
    ),
    "sandbox": (
        "claims_its_records",
        "claims_the_rubric",
        "claims_the_network",
        "links_what_it_reads",
        "imports_the_rubric",
        "imports_the_rubric_at_once",
        "imports_the_cases",
        "imports_a_link_to_expected",
        "imports_a_link_to_the_class",
        "imports_a_link_to_elsewhere",
        "links_its_folder",
        "shadows_the_sandbox",
        "exchanges_expected",
        "reads_the_judges_environment",
    ),
    "no level": ("fills_the_disk_unseen", "shares_memory"),
}
"""What a system does to its class or its session: files of ``alone/``, each tried in sessions of its own."""

CALLS = {cheat.__name__: level for level, cheats in IN_A_CALL.items() for cheat in cheats}
ATTACKS = {name: level for level, names in ALONE.items() for name in names}
ONLY_AS_ROOT = {cheat.__name__ for cheat in agent.AS_ROOT} | {"types_into_the_terminal"}

MAY_BE_REFUSED = {
    *ONLY_AS_ROOT,
    "reads_the_parents_memory",
    "takes_a_descriptor",
    "counts_events_of_its_parent",
    "is_root_in_a_namespace",
}
"""What a machine may refuse at any level: most containers have a root of few rights."""

ONLY_IN_PROCESSES = {
    "exchanges_the_rubric",
    "exchanges_the_bytecode",
    "sets_a_timer",
    "wakes_itself",
    "wakes_another",
    "forges_its_description",
    "never_forks",
}
"""At ``none`` there is nothing that these could attack."""

AS_MODULE = {"patches_the_session", "patches_by_its_digest"}
"""What is also tried as a ``module:attr`` of the working directory."""

SHADOWS = {
    "shadows_a_library": ("statistics.py",),
    "shadows_the_sandbox": ("landlockpy.py", "pyseccomp.py"),
}
"""What is only tried so, and the names of the files beside it."""

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="isolation needs Linux"),
    pytest.mark.slow,
]


def stops(stopped_by, level):
    return stopped_by in LEVELS and LEVELS.index(stopped_by) <= LEVELS.index(level)


def working(names, level):
    """Those of a call that work at a level, for the user who runs this."""
    possible = {name for name in names if IS_ROOT or name not in ONLY_AS_ROOT}
    return {name for name in possible if not stops(CALLS[name], level)}


@pytest.mark.parametrize("name", [cheat.__name__ for cheat in IN_A_CALL["process"]])
def test_at_level_none_a_call_cheats(tmp_path, name):
    cheats = Cheats(tmp_path, "agent", ["does_nothing", name])
    if name != "exits_below_python":
        assert cheats.won("none") == {name}
        return
    assert cheats.session("none")[0] == 0


@pytest.mark.parametrize("level", LEVELS[1:])
def test_what_stops_a_call(tmp_path, level):
    skip_without(level)
    cheats = Cheats(tmp_path, "agent", ["does_nothing", *CALLS])
    won = cheats.won(level)
    assert won - MAY_BE_REFUSED == working(CALLS, level) - MAY_BE_REFUSED
    assert won <= working(CALLS, level)


@pytest.mark.parametrize("level", LEVELS[1:])
def test_what_stops_an_import(tmp_path, level):
    skip_without(level)
    names = [cheat.__name__ for cheat in agent.AT_IMPORT]
    cheats = Cheats(tmp_path, "at_import", ["does_nothing", *names])
    won = cheats.won(level)
    expected = working(names, level)
    # What /proc shows to every user, an import sees too.
    expected |= {"reads_the_parents_arguments"}
    assert won - MAY_BE_REFUSED == expected - MAY_BE_REFUSED
    assert won <= expected


def tries():
    """Each attack at the level below the one that stops it, at that one and at those above."""
    for name, stopped_by in ATTACKS.items():
        first = max(LEVELS.index(stopped_by) - 1, 0) if stopped_by in LEVELS else 1
        for level in LEVELS[first:]:
            if level != "none" or name not in ONLY_IN_PROCESSES:
                if name not in SHADOWS:
                    yield pytest.param(name, level, False, id=f"{name}-{level}")
                if name in AS_MODULE or name in SHADOWS:
                    yield pytest.param(name, level, True, id=f"{name}-{level}-module")


@pytest.mark.parametrize(("name", "level", "as_module"), list(tries()))
def test_what_stops_an_attack(tmp_path, name, level, as_module):
    skip_without(level)
    if name in ONLY_AS_ROOT and not IS_ROOT:
        pytest.skip("only root can")
    is_stopped = stops(ATTACKS[name], level)
    if is_stopped and name == "starts_processes" and IS_ROOT:
        pytest.skip("the kernel counts no processes of root")
    source = (HERE / f"alone/{name}.py").read_text()
    cheats = Cheats(tmp_path, "good" if as_module else "attack", ["attack", "later"])
    system = "it"
    if as_module:
        system = "attack:system"
        (tmp_path / "attack.py").write_text(source)
        for shadow in SHADOWS.get(name, ()):
            (tmp_path / shadow).write_text(source)
    else:
        cheats.write("attack.py", source)
    SCENES.get(name, lambda *_: None)(cheats, level)
    seconds = 45.0 if name.startswith("never_") else 120.0
    worked = bool(cheats.won(level, system, seconds))
    assert worked != is_stopped, cheats.said


def has_records(cheats, level):
    assert cheats.won(level, "good") == {"attack", "later"}


def has_a_link(cheats, level):
    (cheats.path / "data").symlink_to("rubric.py")
    cheats.rights = {"reads": ["data"]}


def has_a_link_to_expected(cheats, level):
    (cheats.path / "answers.py").symlink_to("cases/attack/expected/answer.txt")


def has_a_link_to_the_class(cheats, level):
    (cheats.path / "everything").symlink_to(".")
    (cheats.path / "systems").mkdir()
    (cheats.path / "systems/all_of_it").symlink_to("..")


def has_a_link_to_elsewhere(cheats, level):
    (cheats.root / "key.txt").write_text("# a key")
    (cheats.path / "elsewhere.py").symlink_to("../../key.txt")


def has_another_class(cheats, level):
    answer = cheats.path.parent / "other/cases/01/expected/answer.txt"
    answer.parent.mkdir(parents=True)
    answer.write_text("right")
    (cheats.path / "systems").symlink_to("../other")


def has_few_processes(cheats, level):
    cheats.run_table.append("limits = { processes = 40 }")


def imports_late(cheats, level):
    cheats.write("rubric.py", IMPORTS_LATE)
    cheats.write("weights.py", "ALL_PASS = False\n")


def is_judged(cheats, level):
    cheats.write("observers/judge.py", JUDGE)
    cheats.more = JUDGED


def has_more_cases(cheats, level):
    for number in range(4):
        cheats.case(f"more_{number}")
    has_little_time(cheats, level)


def has_one_slot(cheats, level):
    has_more_cases(cheats, level)
    cheats.jobs = 1


def has_little_time(cheats, level):
    cheats.run_table.append("timeout = 5")


def has_a_small_disk(cheats, level):
    cheats.run_table.append(f"limits = {{ disk = {2**24} }}")


def has_a_terminal(cheats, level):
    cheats.at_start = take_terminal


SCENES = {
    "claims_its_records": has_records,
    "links_what_it_reads": has_a_link,
    "imports_a_link_to_expected": has_a_link_to_expected,
    "imports_a_link_to_the_class": has_a_link_to_the_class,
    "imports_a_link_to_elsewhere": has_a_link_to_elsewhere,
    "links_its_folder": has_another_class,
    "starts_processes": has_few_processes,
    "exchanges_the_rubric": has_more_cases,
    "exchanges_the_bytecode": has_more_cases,
    "exchanges_a_late_import": imports_late,
    "sets_a_timer": has_more_cases,
    "wakes_itself": has_one_slot,
    "keeps_a_daemon": has_more_cases,
    "reads_the_judges_key": is_judged,
    "reads_the_judges_environment": is_judged,
    "never_ends_its_import": has_little_time,
    "never_says_its_digest": has_little_time,
    "never_forks": has_little_time,
    "shares_memory": has_more_cases,
    "fills_the_disk": has_a_small_disk,
    "fills_the_disk_at_import": has_a_small_disk,
    "fills_the_disk_unseen": has_a_small_disk,
    "types_into_the_terminal": has_a_terminal,
}
"""What a class has for an attack."""


def skip_without(level):
    reason = without_sandbox() if level == "sandbox" else ""
    if reason:
        pytest.skip(reason)


def row(name):
    """What a cheat is, as the page says it, and as who it can be done."""
    if name in ATTACKS:
        what = ast.get_docstring(ast.parse((HERE / f"alone/{name}.py").read_text()))
    else:
        what = inspect.getdoc(getattr(agent, name))
    return f"{what} (root)" if name in ONLY_AS_ROOT else what


def table():
    rows = [
        f"| {row(name)} | {level} |"
        for level in (*LEVELS[1:], "no level")
        for name in (*CALLS, *ATTACKS)
        if {**CALLS, **ATTACKS}[name] == level
    ]
    return "\n".join(["| the system | stopped by |", "|---|---|", *rows])


def test_the_page_has_what_was_seen():
    assert table() in PAGE.read_text()


def test_each_cheat_is_tried():
    assert {path.stem for path in (HERE / "alone").glob("*.py")} == set(ATTACKS)
    told = {
        name for name, value in vars(agent).items() if inspect.isfunction(value) and value.__doc__
    }
    assert set(CALLS) <= told


@pytest.mark.nightly
def test_an_ordinary_user_is_stopped_too():
    as_nobody = [HERE / "as_nobody", sys.executable]
    if not IS_ROOT:
        pytest.skip("these tests are run by one")
    if subprocess.run([*as_nobody, "-c", ""], capture_output=True, check=False).returncode:
        pytest.skip("this root may not have Python run by nobody")
    options = ["-q", "-p", "no:cacheprovider", "-m", "slow and not nightly"]
    done = subprocess.run(
        [*as_nobody, "-m", "pytest", *options, HERE], capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stdout
