"""Registering task classes, and finding which files make up a rubric."""

from __future__ import annotations

import textwrap

import pytest

from benchgate.errors import (
    EvalError,
    RegistrationError,
    SystemNotFound,
    TaskClassAlreadyRegistered,
    TaskClassNotFound,
)
from benchgate.loader.rubric_source import rubric_digest, rubric_files
from benchgate.registry import (
    SystemEntry,
    TaskClassRegistry,
    default_registry,
    register_task_class,
)


class Exact:
    def score(self, case, output, /):
        raise NotImplementedError


def nothing(case):
    return {}


@pytest.fixture
def registry():
    with TaskClassRegistry().receiving() as registry:
        yield registry


def test_the_decorator_registers_and_returns_the_class(registry):
    decorate = register_task_class("echo", systems={"nothing": nothing})
    assert decorate(Exact) is Exact
    found = registry.get("echo")
    assert found.rubric_type is Exact
    assert found.system() == ("nothing", SystemEntry(call=nothing))
    assert dict(found.min_cases_for_promotion) == {
        "bronze": 10,
        "silver": 10,
        "gold": 50,
        "platinum": 200,
    }
    assert "echo" in registry
    assert "echo" not in default_registry


def test_outside_a_session_the_default_registry_receives():
    before = len(default_registry)
    register_task_class("only-here-for-a-test")(Exact)
    assert len(default_registry) == before + 1


def test_minimum_cases_are_merged_over_the_default(registry):
    register_task_class("echo", min_cases_for_promotion={"gold": 30})(Exact)
    assert registry.get("echo").min_cases_for_promotion["gold"] == 30
    assert registry.get("echo").min_cases_for_promotion["silver"] == 10


@pytest.mark.parametrize("other", ["a-b", "a_b"])
def test_one_name_or_slug_belongs_to_one_class(registry, other):
    register_task_class("a-b")(Exact)
    with pytest.raises(TaskClassAlreadyRegistered, match=r"test_registry\.Exact") as caught:
        register_task_class(other)(Exact)
    assert caught.value.existing.endswith("Exact")


def test_an_unknown_class_lists_the_known_ones(registry):
    register_task_class("echo")(Exact)
    with pytest.raises(TaskClassNotFound, match="known: echo") as caught:
        registry.get("ecco")
    assert isinstance(caught.value, KeyError)
    assert caught.value.known == ("echo",)


def test_systems_are_found_by_name(registry):
    register_task_class("echo", systems={"a": nothing, "b": nothing})(Exact)
    task_class = registry.get("echo")
    with pytest.raises(SystemNotFound, match="no default system: name one; known systems: a, b"):
        task_class.system()
    with pytest.raises(SystemNotFound, match="no system 'c'; known systems: a, b"):
        task_class.system("c")
    assert task_class.system("b") == ("b", SystemEntry(call=nothing))
    assert "\x1b" not in str(SystemNotFound("a:b", (), "no module: \x1b[2J"))


@pytest.mark.parametrize(
    ("name", "rubric", "options", "message"),
    [
        ("Echo", Exact, {}, "lower-case words"),
        ("a--b", Exact, {}, "lower-case words"),
        ("echo", object, {}, "no rubric"),
        ("echo", Exact(), {}, "no rubric"),
        ("echo", Exact, {"default_system": "x"}, "default system 'x'"),
        ("echo", Exact, {"systems": {"x": 1}}, "'x' has call = 1; expected module:attr"),
        ("echo", Exact, {"min_cases_for_promotion": {"tin": 3}}, "unknown tier 'tin'"),
        ("echo", Exact, {"min_cases_for_promotion": {"silver": 0}}, "0 for 'silver'; expected"),
        ("echo", Exact, {"min_cases_for_promotion": {"gold": None}}, "None for 'gold'"),
        ("echo", Exact, {"min_cases_for_promotion": {"bronze": float("nan")}}, "nan for 'bronze'"),
    ],
)
def test_a_wrong_registration_is_refused(registry, name, rubric, options, message):
    with pytest.raises(EvalError, match=message):
        register_task_class(name, **options)(rubric)
    assert len(registry) == 0


def write(folder, **files):
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(text))


def names(folder):
    return [path.relative_to(folder).as_posix() for path in rubric_files(folder)]


def test_the_rubric_is_what_it_imports_of_its_class(tmp_path):
    folder = tmp_path / "my-class"
    folder.mkdir()
    write(
        folder,
        rubric="""
            import json
            from . import lock
            from .deep import inner
            import _benchgate_bench.my_class.absolute
            from _benchgate_bench.other.rubric import x
            def late():
                from .lazy import thing
        """,
        lock="from .semver import parse",
        semver="",
        deep__inner="from ..up import u",
        up="",
        absolute="",
        lazy="",
        unused="",
        registration="",
        systems__ladder="from ..lock import z",
    )
    expected = [
        "absolute.py",
        "deep/inner.py",
        "lazy.py",
        "lock.py",
        "rubric.py",
        "semver.py",
        "up.py",
    ]
    assert names(folder) == expected


def test_the_digest_follows_the_files(tmp_path):
    write(tmp_path, rubric="from . import helper", helper="A = 1", unused="B = 1")
    before = rubric_digest(tmp_path)
    write(tmp_path, unused="B = 2")
    assert rubric_digest(tmp_path) == before
    write(tmp_path, helper="A = 2")
    assert rubric_digest(tmp_path) != before


@pytest.mark.parametrize(
    ("line", "module"),
    [
        ("from .systems import s", "systems"),
        ("from .systems.s import x", "systems.s"),
        ("from .tools.t import u", "tools.t"),
        ("from . import registration", "registration"),
        ("from . import tests", "tests"),
        ("import _benchgate_bench.my_class.systems.s", "systems.s"),
    ],
)
def test_a_rubric_may_not_lean_on_what_its_digest_does_not_cover(tmp_path, line, module):
    folder = tmp_path / "my-class"
    folder.mkdir()
    write(folder, rubric="from . import helper", helper=f"A = 1\n{line}", systems__s="")
    with pytest.raises(RegistrationError, match=rf"helper\.py:2: imports {module}, which"):
        rubric_files(folder)


@pytest.mark.parametrize(("source", "message"), [(None, "missing"), ("def (", "no Python")])
def test_a_rubric_that_cannot_be_read(tmp_path, source, message):
    if source is not None:
        write(tmp_path, rubric=source)
    with pytest.raises(RegistrationError, match=message):
        rubric_files(tmp_path)
