"""Each rule of the contract of ``bench/``: a class that holds it, and the same class with one thing broken."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from benchgate.check import bench_classes, check_class
from benchgate.errors import TaskClassNotFound
from benchgate.runner.run import RunSettings, run_class
from benchgate.wire.model import SCHEMA_VERSION

SHIPPED = Path(__file__).parents[2] / "bench"
NAME = "echo-it"
REGISTRATION = """
from benchgate import register_task_class
from .rubric import EchoRubric

@register_task_class("echo-it", systems={"echo": lambda case: {"answer": "a"}})
class Registered(EchoRubric): ...
"""
RUBRIC = """
from benchgate import BenchScore
from . import helper

class EchoRubric:
    def score(self, case, output, /):
        return BenchScore(passed=True, score=1.0, breakdown={"fulfillment": 1.0}, safety_penalty=0.0)
"""
CASE = """
[case]
case_id = "{case_id}"
task_class = "{name}"
disposition = "positive"
difficulty = "easy"
source = "curated"
added_at = 2126-01-01T00:00:00Z
last_validated_at = 2126-01-01T00:00:00Z
"""


class ClassFolder:
    """A class that holds the contract, to be broken in one place."""

    def __init__(self, root: Path, name: str = NAME, cases: int = 10) -> None:
        self.root = root
        self.name = name
        self.path = root / name
        self.write("registration.py", REGISTRATION.replace(NAME, name))
        self.write("rubric.py", RUBRIC)
        self.write("helper.py", "")
        self.write(
            "failure_modes.toml", '[failure_modes.wrong]\nseverity = "warn"\ndescription = ""'
        )
        self.write("README.md", "")
        self.write("tests/test_rubric.py", "")
        for number in range(1, cases + 1):
            self.case(f"{number:03}")

    def write(self, path: str, text: str) -> Path:
        target = self.path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(textwrap.dedent(text).lstrip(), encoding="utf-8")
        return target

    def case(self, case_id: str, extra: str = "") -> None:
        self.write(f"cases/{case_id}/input/question.txt", case_id)
        text = CASE.format(case_id=case_id, name=self.name)
        self.write(f"cases/{case_id}/case.toml", text + textwrap.dedent(extra))

    def edit(self, path: str, old: str, new: str) -> None:
        text = (self.path / path).read_text()
        assert old in text
        (self.path / path).write_text(text.replace(old, new))

    def register(self, text: str) -> None:
        self.write("registration.py", text)

    def pin(self) -> dict:
        """Pin a run of the class; return the record, for :meth:`repin` after an edit."""
        out = self.root.parent / "out"
        settings = RunSettings(task_class=self.name, bench_root=self.root, out=out, baseline="none")
        finished = run_class(settings)
        record = json.loads((finished.published.folder / "record.json").read_bytes())
        self.repin(record)
        return record

    def repin(self, record: dict) -> None:
        (self.path / "baseline.json").write_text(json.dumps(record))

    def check(self):
        return check_class(self.root, self.name)

    def problems(self) -> list[str]:
        """Return the problems with paths relative to the class."""
        return [str(p).removeprefix(f"{self.path}/") for p in self.check().problems]

    def only(self) -> str:
        """Return the one problem."""
        found = self.problems()
        assert len(found) == 1, found
        return found[0]


@pytest.fixture
def folder(tmp_path):
    return ClassFolder(tmp_path / "bench")


def test_a_class_that_holds_the_contract(folder):
    check = folder.check()
    assert (check.problems, check.case_count, check.is_small) == ((), 10, False)


@pytest.mark.parametrize("name", sorted(bench_classes(SHIPPED)))
def test_the_shipped_benches_hold_it(name):
    assert [str(problem) for problem in check_class(SHIPPED, name).problems] == []


# files


@pytest.mark.parametrize(
    "name", ["registration.py", "rubric.py", "failure_modes.toml", "README.md", "cases", "tests"]
)
def test_what_is_required_is_named_once(folder, name):
    path = folder.path / name
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    found = [problem for problem in folder.problems() if problem.startswith(f"{name}:1: ")]
    assert len(found) == 1
    assert "; " in found[0]
    rest = {problem.partition(":")[0] for problem in folder.problems()} - {name}
    assert rest == ({"registration.py"} if name == "cases" else set())  # too few cases


def test_tests_without_a_test(folder):
    (folder.path / "tests/test_rubric.py").rename(folder.path / "tests/support.py")
    assert folder.only().startswith("tests:1: the class has no test yet; expected")


@pytest.mark.parametrize("name", ["rubric_test.py", "deep/test_more.py"])
def test_other_names_of_tests(folder, name):
    (folder.path / "tests/test_rubric.py").unlink()
    folder.write(f"tests/{name}", "")
    assert folder.problems() == []


@pytest.mark.parametrize("name", ["notes.txt", ".DS_Store", "rubric.py~", "registration.pyc"])
def test_a_stray_file_in_the_class(folder, name):
    folder.write(name, "")
    assert folder.only().startswith(f"{name}:1: stray file; expected ")


@pytest.mark.parametrize(
    "name",
    [
        "more.py",
        "data/table.csv",
        "__pycache__/rubric.pyc",
        "tests/__pycache__/t.pyc",
        "systems/s.py",
        "inputs/shared/file",
        ".gitignore",
        "LICENSE",
        ".ruff_cache/x",
    ],
)
def test_what_may_lie_in_a_class(folder, name):
    folder.write(name, "")
    assert folder.problems() == []


def test_a_name_that_is_no_class(tmp_path):
    folder = ClassFolder(tmp_path / "bench", name="Echo")
    assert folder.only().endswith("names no class; expected lower-case words joined by '-'")


def test_twins(folder):
    ClassFolder(folder.root, name="echo_it")
    assert "'echo-it' and 'echo_it' are one name in Python" in folder.only()


def test_classes_are_found_also_when_half_written(tmp_path):
    bench = tmp_path / "bench"
    for path in ("a/rubric.py", "b/cases/1/case.toml", "c/registration.py", "d/data.csv", "e.py"):
        (bench / path).parent.mkdir(parents=True, exist_ok=True)
        (bench / path).touch()
    assert list(bench_classes(bench)) == ["a", "b", "c"]


@pytest.mark.parametrize("name", ["nothing", "..", ".", "", "echo-it/cases"])
def test_no_such_class(folder, name):
    with pytest.raises(TaskClassNotFound) as caught:
        check_class(folder.root, name)
    assert caught.value.known == (NAME,)


# registration

IMPORT = "from benchgate import register_task_class\n"
ONE = IMPORT + '@register_task_class("echo-it")\nclass E: ...\n'
GOOD_REGISTRATIONS = {
    "a decorator": ONE,
    "by its module": 'import benchgate as b\n@b.register_task_class("echo-it")\nclass E: ...',
    "with the name by its keyword": IMPORT
    + '@register_task_class(name="echo-it", min_cases_for_promotion=None)\nclass E: ...',
    "beside another decorator": IMPORT + '@final\n@register_task_class("echo-it")\nclass E: ...',
    "that would raise": ONE + "1/0",
    "that imports what is not there": "import no_such_module\n" + ONE,
}


@pytest.mark.parametrize("what", GOOD_REGISTRATIONS)
def test_a_registration(folder, what):
    folder.register(GOOD_REGISTRATIONS[what])
    assert folder.problems() == []


def decorated(call):
    return f"{IMPORT}@register_task_class({call})\nclass E: ...\n"


BAD_REGISTRATIONS = {
    "none": (
        "X = 1",
        "1: registers nothing; expected one class with @register_task_class('echo-it'",
    ),
    "a computed name": (decorated('"echo" + "-it"'), "2: the name is no string literal"),
    "an f-string": (decorated('f"echo-it"'), "2: the name is no string literal"),
    "a name that is a number": (decorated("1"), "2: the name is no string literal"),
    "no name": (decorated(""), "2: the name is no string literal"),
    "two": (ONE + '@register_task_class("echo-it")\nclass F: ...', "4: registers 2; expected one"),
    "not a decorator": (IMPORT + 'register_task_class("echo-it")(int)', "1: registers nothing"),
    "under another name": (
        "from benchgate import register_task_class as r\n@r('echo-it')\nclass E: ...",
        "1: registers nothing",
    ),
    "only in a function": (
        IMPORT + 'def late():\n    @register_task_class("echo-it")\n    class E: ...',
        "1: registers nothing",
    ),
    "only behind a condition": (
        IMPORT + 'if False:\n    @register_task_class("echo-it")\n    class E: ...',
        "1: registers nothing",
    ),
    "hidden arguments": (decorated('"echo-it", **{}'), "2: ** hides"),
    "no Python": (ONE + "def (", "4: no Python"),
    "no text": (ONE + "x = '\0'", "1: no Python"),
}


@pytest.mark.parametrize("name", ["rubric.py", "gate.toml", "cases"])
def test_what_lies_elsewhere_is_not_reviewed_here(folder, tmp_path, name):
    folder.write("gate.toml", "")
    outside = tmp_path / "outside"
    (folder.path / name).rename(outside)
    (folder.path / name).symlink_to(outside)
    assert f"{name}:1: is a symlink; expected it in the class folder itself" in folder.problems()


def test_a_rubric_that_leans_on_a_system_is_told_with_its_line(folder):
    folder.write("systems/agent.py", "X = 1")
    folder.write("rubric.py", "X = 1\nfrom .systems import agent\n")
    assert any(
        p.startswith("rubric.py:2: imports systems, which the rubric's digest does not cover")
        for p in folder.problems()
    )


@pytest.mark.parametrize("what", BAD_REGISTRATIONS)
def test_a_wrong_registration(folder, what):
    text, message = BAD_REGISTRATIONS[what]
    folder.register(text)
    assert any(p.startswith(f"registration.py:{message}") for p in folder.problems()), (
        folder.problems()
    )


# cases


@pytest.mark.parametrize(
    ("minimum", "cases", "seed", "message"),
    [
        (None, 9, False, "registration.py:4: 9 cases; expected at least 10, or a small bench"),
        (3, 3, True, None),
        (3, 2, True, "registration.py:4: 2 cases; expected at least 3"),
        (12, 11, False, "registration.py:4: 11 cases; expected at least 12"),
        (10, 10, False, None),
    ],
)
def test_the_number_of_cases(tmp_path, minimum, cases, seed, message):
    folder = ClassFolder(tmp_path / "bench", cases=cases)
    if minimum is not None:
        tiers = f'{{"bronze": {minimum}}}'
        folder.edit(
            "registration.py", NAME, f'{NAME}", min_cases_for_promotion={tiers}, bench_path="'
        )
    assert folder.check().is_small is seed
    assert folder.problems() == [] if message is None else folder.only().startswith(message)


@pytest.mark.parametrize(
    "value", ["MINIMUM", "dict(bronze=3)", "[3]", '{"bronze": 3.0}', '{"bronze": "3"}']
)
def test_tiers_that_cannot_be_read(folder, value):
    folder.edit("registration.py", NAME, f'{NAME}", min_cases_for_promotion={value}, bench_path="')
    message = "registration.py:4: min_cases_for_promotion cannot be read; expected a literal dict"
    assert folder.only().startswith(message)
    assert not folder.check().is_small


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


CASSETTE = '[cassettes.echo]\npath = "cassettes/a.json"\nsha256 = "{}"\n'
BAD_CASES = {
    "no TOML": (lambda f: f.write("cases/002/case.toml", "[case]\nx ="), "2: *"),
    "an unknown key": (
        lambda f: f.edit("cases/002/case.toml", "difficulty", 'dificulty = ""\ndifficulty'),
        "5: case.dificulty: unknown key; did you mean 'difficulty'?",
    ),
    "another id": (
        lambda f: f.edit("cases/002/case.toml", '"002"', '"003"'),
        "2: case.case_id: '003' differs from its folder '002'",
    ),
    "another class": (
        lambda f: f.edit("cases/002/case.toml", NAME, "other"),
        "3: case.task_class: 'other' differs from its class 'echo-it'",
    ),
    "a time in facts": (
        lambda f: f.case("002", "[facts]\nday = 2026-01-01"),
        "10: facts.day: not plain JSON*",
    ),
    "a cassette that was changed": (
        lambda f: (
            f.write("cases/002/cassettes/a.json", "new"),
            f.case("002", CASSETTE.format(digest_of("old"))),
        ),
        "11: cassettes.echo.sha256: *it was changed after it was recorded",
    ),
    "a cassette that is not there": (
        lambda f: f.case("002", CASSETTE.format(digest_of("old"))),
        "10: cassettes.echo.path: * cannot be read*",
    ),
    "a stray file": (
        lambda f: f.write("cases/002/conftest.py", ""),
        "1: stray 'conftest.py' in the case folder*",
    ),
    "bytecode": (
        lambda f: f.write("cases/002/__pycache__/x.pyc", ""),
        "1: stray '__pycache__' in the case folder*",
    ),
    "no input": (
        lambda f: shutil.rmtree(f.path / "cases/002/input"),
        "1: neither input/ nor input-pointer.toml",
    ),
    "an empty input": (
        lambda f: (f.path / "cases/002/input/question.txt").unlink(),
        "1: input: is empty, and git keeps no empty folder; expected files in it",
    ),
    "an empty expected": (
        lambda f: (f.path / "cases/002/expected").mkdir(),
        "1: expected: is empty, and git keeps no empty folder; expected files in it, or no such folder",
    ),
    "a symlink that leaves": (
        lambda f: (f.path / "cases/002/input/out").symlink_to("/etc/hostname"),
        "1: input: out is a symlink that leaves the folder",
    ),
    "a symlink as case.toml": (
        lambda f: (
            (f.path / "cases/002/case.toml").rename(f.path / "cases/002/input/c.toml"),
            (f.path / "cases/002/case.toml").symlink_to("input/c.toml"),
        ),
        "1: is a symlink; a case must have its files in its own folder",
    ),
    "a pointer to changed inputs": (
        lambda f: (
            shutil.rmtree(f.path / "cases/002/input"),
            f.write("inputs/a/x", "x"),
            f.write("cases/002/input-pointer.toml", f'path = "a"\nsha256 = "{digest_of("")}"'),
        ),
        "1: input-pointer.toml: sha256 differs from that of inputs/a",
    ),
    "a pointer to a name that no system takes": (
        lambda f: (
            shutil.rmtree(f.path / "cases/002/input"),
            f.write("inputs/a/x", "x"),
            f.write("cases/002/input-pointer.toml", f'path = "{"a" * 300}"\nsha256 = "{"0" * 64}"'),
        ),
        "1: input-pointer.toml: path cannot be read: File name too long",
    ),
}


@pytest.mark.parametrize("what", BAD_CASES)
def test_a_wrong_case(folder, what):
    breaks, message = BAD_CASES[what]
    breaks(folder)
    start, _, end = f"cases/002/case.toml:{message}".partition("*")
    found = folder.only()
    assert found.startswith(start)
    assert found.endswith(end.rstrip("*")) or "*" in end


@pytest.mark.parametrize("case_id", ["001-t2", "Upper", "build", "a.b", "venv", "x" * 65])
def test_a_wrong_id(folder, case_id):
    folder.case(case_id)
    assert folder.only().startswith(f"cases/{case_id}/case.toml:2: case.case_id: ")


def test_all_problems_of_all_cases_are_told(folder):
    folder.edit("cases/002/case.toml", '"easy"', '"trivial"')
    folder.edit("cases/002/case.toml", '"positive"', '"good"')
    folder.write("cases/002/notes.txt", "")
    folder.write("cases/004/notes.txt", "")
    shutil.rmtree(folder.path / "cases/004/input")
    places = [problem.partition(": ")[0] for problem in folder.problems()]
    two, four = "cases/002/case.toml", "cases/004/case.toml"
    assert places == [f"{two}:1", f"{two}:4", f"{two}:5", f"{four}:1", f"{four}:1"]


@pytest.mark.parametrize("name", ["notes.txt", ".DS_Store"])
def test_a_file_among_the_cases(folder, name):
    folder.write(f"cases/{name}", "")
    assert folder.only().startswith(
        f"cases/{name}:1: stray file; expected nothing but case folders"
    )


@pytest.mark.parametrize("name", ["__pycache__", "later"])
def test_a_folder_that_is_no_case(folder, name):
    folder.write(f"cases/{name}/x", "")
    assert folder.only().startswith(f"cases/{name}:1: no case; expected a case.toml")
    assert folder.check().case_count == 10


def test_a_case_that_is_a_link(folder, tmp_path):
    shutil.move(folder.path / "cases/002", tmp_path / "002")
    (folder.path / "cases/002").symlink_to(tmp_path / "002")
    assert folder.only().startswith("cases/002:1: is a symlink; expected")


def test_a_name_that_is_no_text(folder):
    try:
        os.mkdir(os.fsencode(folder.path / "cases") + b"/\xff")
    except OSError:
        pytest.skip("the file system takes no such name")
    assert any("no case; expected a case.toml" in problem for problem in folder.problems())


# settings


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[failure_modes", "1: "),
        ('[failure_modes.a]\nseverity = "warn"', "1: failure_modes.a.description: missing"),
        (
            '[failure_modes.a]\nseverity = "bad"\ndescription = ""',
            "2: failure_modes.a.severity: Input should be",
        ),
        (
            '[failure_modes.timeout]\nseverity = "info"\ndescription = ""',
            "1: failure_modes.timeout: reserved for the harness; only",
        ),
        (
            '\n[failure_modes.llm_unsure]\nseverity = "info"\ndescription = ""',
            "1: failure_modes.llm_unsure: contains the banned token 'llm'; expected",
        ),
    ],
)
def test_wrong_failure_modes(folder, text, message):
    folder.write("failure_modes.toml", text)
    assert folder.only().startswith(f"failure_modes.toml:{message}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('\n# how\ntest = "auto"\nalpa = 0.1', "3: alpa: unknown key; did you mean 'alpha'?"),
        ("alpha = 2", "1: alpha: Input should be less than 1"),
        ('test = "auto"\nalpha =', "2: "),
        ("score_range = [1, 0]", "1: score_range must be"),
    ],
)
def test_a_wrong_policy(folder, text, message):
    folder.write("gate.toml", text)
    assert folder.only().startswith(f"gate.toml:{message}")


def test_a_policy(folder):
    folder.write("gate.toml", 'test = "auto"\nscore_range = "none"\n')
    assert folder.problems() == []


# sources

BANNED = {
    "a key": ("rubric.py", 'x = f(breakdown={"a": 1, "llm": 1.0})', "breakdown key 'llm'"),
    "a key by its token": ("helper.py", 'x = f(breakdown={"self-reported.a": 1})', "breakdown key"),
    "a keyword of dict": ("rubric.py", "x = f(breakdown=dict(confidence=1.0))", "breakdown key"),
    "a key of a merged dict": ("rubric.py", 'x = f(breakdown=a | {"my_llm": 1})', "breakdown key"),
    "a key in a dict of fields": (
        "rubric.py",
        'x = f(**{"score": 1, "breakdown": {"llm": 1}})',
        "breakdown key",
    ),
    "a field": ("helper.py", "class Mine(Score): confidence: float", "field of Mine 'confidence'"),
    "a field of a dataclass": (
        "rubric.py",
        "class D: model_says: str = ''",
        "field of D 'model_says'",
    ),
}


@pytest.mark.parametrize("what", BANNED)
def test_a_self_assessment(folder, what):
    path, text, message = BANNED[what]
    line = len((folder.path / path).read_text().splitlines()) + 1
    with (folder.path / path).open("a") as file:
        file.write(text + "\n")
    found = folder.only()
    assert found.startswith(f"{path}:{line}: {message}")
    assert "contains the banned token" in found


@pytest.mark.parametrize(
    "text",
    [
        'x = f(breakdown={"fulfillment": 1.0, "overconfidence_free": 1.0})',
        'x = f(details={"llm": 1.0})',
        'prompt = {"confidence": 1}',
        "x = f(breakdown=parts(confidence=1))",
        'b = {"llm": 1}; x = f(breakdown=b)',  # refused when the rubric scores
        "class Score:\n    def confidence(self): ...",
    ],
)
def test_what_is_no_self_assessment(folder, text):
    with (folder.path / "rubric.py").open("a") as file:
        file.write(text + "\n")
    assert folder.problems() == []


IMPORTS = {
    "import openai": "openai",
    "import os, anthropic.types": "anthropic",
    "from google import genai": "google.genai",
    "import google.generativeai as g": "google.generativeai",
    "from litellm import completion": "litellm",
    "from langchain_core.messages import X": "langchain_core",
    "import transformers": "transformers",
    "def f():\n    import ollama": "ollama",
    "import importlib\nimportlib.import_module('cohere')": "cohere",
    "__import__('mistralai')": "mistralai",
}


@pytest.mark.parametrize("text", IMPORTS)
@pytest.mark.parametrize("path", ["rubric.py", "helper.py"])
def test_a_language_model_in_the_rubric(folder, path, text):
    before = len((folder.path / path).read_text().splitlines())
    with (folder.path / path).open("a") as file:
        file.write(text + "\n")
    line = before + len(text.splitlines())
    assert folder.only().startswith(
        f"{path}:{line}: imports {IMPORTS[text]}; expected a rubric without"
    )
    assert "the harness has no LLM" in folder.only()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("systems/agent.py", "import openai"),
        ("tools/make.py", "import openai"),
        ("unused.py", "import openai"),
        ("rubric.py", "from .openai import x\nfrom google.protobuf import y\nimport json"),
    ],
)
def test_imports_that_are_allowed(folder, path, text):
    folder.write("openai.py", "")
    target = folder.path / path
    folder.write(path, (target.read_text() if target.exists() else "") + text)
    assert folder.problems() == []


@pytest.mark.parametrize("path", ["rubric.py", "helper.py"])
def test_a_rubric_that_is_no_python(folder, path):
    folder.write(path, "x = 1\ndef (\n")
    assert folder.only().startswith(f"{path}:2: no Python")


def test_nothing_of_a_bench_is_run(folder):
    mark = folder.root / "was_run"
    run = f"open({str(mark)!r}, 'w')\nraise SystemExit(3)\n"
    for path in ("rubric.py", "helper.py", "tests/test_rubric.py", "conftest.py", "__init__.py"):
        target = folder.path / path
        folder.write(path, (target.read_text() if target.exists() else "") + run)
    folder.register(ONE + run)
    code = f"""
        import sys
        from pathlib import Path
        from benchgate.check import check_class
        check = check_class(Path({str(folder.root)!r}), {NAME!r})
        print(check.case_count, [str(p) for p in check.problems])
        assert not [name for name in sys.modules if name.startswith("_benchgate_bench")]
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("10 []\n", "")
    assert not mark.exists()
    assert not list(folder.path.rglob("__pycache__"))


# baseline

REMEDY = "the gate will refuse it: make it again"


@pytest.fixture
def pinned(folder):
    folder.record = folder.pin()
    assert folder.problems() == []
    return folder


def pin_file(pinned, **fields):
    """Write the pin of the baseline as ``benchgate pin`` does; with other fields, one that is not."""
    data = (pinned.path / "baseline.json").read_bytes()
    pin = {
        "schema_version": SCHEMA_VERSION,
        "report_kind": "pin",
        "task_class": NAME,
        "sha256": hashlib.sha256(data).hexdigest(),
        "seq": 1,
        "outcome": "hold",
        "by": None,
        "at": "2126-01-01T00:00:00Z",
        "reason": None,
        "change": "the first",
        **fields,
    }
    return pinned.write("baseline.pin.json", json.dumps(pin))


def test_a_baseline_is_pinned_by_hand_unless_its_pin_is_of_it(pinned):
    assert pinned.check().is_by_hand
    pin_file(pinned)
    assert not pinned.check().is_by_hand
    others = ({"seq": 2}, {"outcome": "promote"}, {"sha256": "0" * 64}, {"task_class": "other"})
    for fields in (*others, {"report_kind": "record"}, {"change": None}):
        pin_file(pinned, **fields)
        assert pinned.check().is_by_hand, fields
        assert pinned.problems() == []
    pin_file(pinned)
    pinned.record["finished_at"] = "2126-01-01T00:00:00Z"
    pinned.repin(pinned.record)
    assert pinned.check().is_by_hand
    assert pinned.problems() == []


def test_the_baseline_of_another_class_brings_no_pin(pinned):
    pinned.record["report"]["task_class"] = "other"
    pinned.repin(pinned.record)
    pin_file(pinned, task_class="other")
    assert pinned.check().is_by_hand


def test_a_pin_without_a_baseline_or_elsewhere_is_a_problem(pinned):
    pin_file(pinned)
    (pinned.path / "baseline.pin.json").rename(pinned.root / "pin.json")
    (pinned.path / "baseline.pin.json").symlink_to("../pin.json")
    assert pinned.only().startswith("baseline.pin.json:1: is a symlink")
    (pinned.path / "baseline.pin.json").unlink()
    assert (pinned.root / "pin.json").rename(pinned.path / "baseline.pin.json").is_file()
    (pinned.path / "baseline.json").unlink()
    assert pinned.only() == "baseline.pin.json:1: there is no baseline.json beside it"
    assert not pinned.check().is_by_hand


def test_a_baseline_of_other_cases(pinned):
    pinned.edit("cases/002/case.toml", '"positive"', '"negative"')
    pinned.write("cases/003/input/question.txt", "another")
    shutil.rmtree(pinned.path / "cases/004")
    pinned.case("011")
    pinned.case("012")
    assert pinned.problems() == [
        f"baseline.json:1: case '002' was changed since; {REMEDY}",
        f"baseline.json:1: case '003' was changed since; {REMEDY}",
        f"baseline.json:1: case '004' is in the baseline only; {REMEDY}",
    ]


def test_a_case_that_cannot_be_read_is_told_once(pinned):
    pinned.write("cases/002/case.toml", "[case")
    assert pinned.only().startswith("cases/002/case.toml:1: ")


def test_dates_of_a_case_may_change(pinned):
    pinned.edit("cases/002/case.toml", "2126-01-01", "2126-01-02")
    assert pinned.problems() == []


@pytest.mark.parametrize("path", ["rubric.py", "helper.py"])
def test_a_baseline_of_another_rubric(pinned, path):
    with (pinned.path / path).open("a") as file:
        file.write("# changed\n")
    assert pinned.only().startswith("baseline.json:1: its rubric differs: ")
    assert pinned.only().endswith(REMEDY)


def test_a_baseline_of_another_class(pinned):
    record = pinned.record
    record["report"]["task_class"] = "other"
    pinned.repin(record)
    assert (
        f"baseline.json:1: its task class is 'other', not 'echo-it'; {REMEDY}" in pinned.problems()
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "no valid record"), ("{}", "no valid record"), (None, "cannot be read")],
)
def test_a_baseline_that_is_none(folder, text, message):
    if text is None:
        (folder.path / "baseline.json").symlink_to("nowhere.json")
    else:
        folder.write("baseline.json", text)
    assert any(p.startswith(f"baseline.json:1: {message}") for p in folder.problems())


def test_a_baseline_that_was_edited(pinned):
    pinned.record["report"]["per_case"][0]["score"]["score"] = 0.5
    pinned.repin(pinned.record)
    assert any("it was edited" in problem for problem in pinned.problems())


# leaks

LONG = "the answer is forty characters and a few."


@pytest.fixture
def leaks(folder):
    """Write files of the first case; return the warnings of the class with paths relative to it."""
    folder.write("cases/001/expected/answer.txt", f"one\n  {LONG}\n")

    def warnings(**texts: str) -> list[str]:
        for name, text in texts.items():
            folder.write(f"cases/001/input/{name}", text)
        check = folder.check()
        assert check.problems == ()
        return [str(w).removeprefix(f"{folder.path}/cases/") for w in check.warnings]

    return warnings


def test_a_line_of_the_answer_in_the_input_of_this_case_only(folder, leaks):
    assert leaks() == []
    (line,) = leaks(notes=f"x\n{LONG}\n{LONG.upper()}\n")
    assert line.startswith(
        "001/input/notes:2: this line has a line of expected/ of 40 characters or more"
    )
    folder.write("cases/002/input/other.txt", LONG)  # now it is boilerplate
    assert leaks() == []


def test_a_shorter_line_of_several_is_a_coincidence(folder, leaks):
    folder.write("cases/001/expected/answer.txt", f"one\n{LONG[:39]}")
    assert leaks(notes=LONG[:39]) == []
    folder.write("cases/001/expected/answer.txt", "one\n" + "é" * 32)  # characters, not bytes
    assert leaks(notes="é" * 32) == []


def test_a_longer_line_that_has_the_line_of_the_answer(folder, leaks):
    assert leaks(notes=f"Hint: {LONG} Or so.")[0].startswith("001/input/notes:1: this line has")
    # What a program has in its lines is in those of others too.
    folder.write("cases/001/expected/answer.txt", f"{LONG}\n" + "x\n" * 5)
    assert leaks() == []


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("Oslo", "where? (oslo)"),
        ("70137", "see 70137."),
        ("two words", "x\ny TWO WORDS"),
    ],
)
def test_a_short_answer_in_the_input(folder, leaks, answer, text):
    folder.write("cases/001/expected/answer.txt", f"{answer}\n")
    (line,) = leaks(notes=text)
    assert f"has the answer '{answer}' of expected/answer.txt, and no input with another" in line
    assert line.startswith(f"001/input/notes:{len(text.splitlines())}: ")


@pytest.mark.parametrize("text", ["port", "Osloer", "no"])
def test_a_part_of_a_word_is_no_answer_nor_is_a_very_short_one(folder, leaks, text):
    folder.write("cases/001/expected/answer.txt", {"port": "report"}.get(text, text[:4]))
    assert leaks(notes=f"a {text} b" if text != "no" else "no") == []


@pytest.mark.parametrize(
    "note",
    [
        "it is for billing",
        '{"team": "billing",\n "urgent": true}',
        r'"{\"team\": \"billing\", \"urgent\": true}"',
    ],
)
def test_a_field_of_the_answer_and_the_whole_of_it(folder, leaks, note):
    (folder.path / "cases/001/expected/answer.txt").unlink()
    folder.write("cases/001/expected/label.json", '{"urgent": true, "team": "billing"}')
    lines = leaks(notes=note)
    assert len(lines) == 1
    assert "has the answer 'billing' of expected/label.json (team)" in lines[0]
    folder.write("cases/001/expected/label.json", '{"team": "billing", "urgent": true}')
    assert len(leaks()) == 1 + ("true" in note)


def labels(folder, count, label="billing"):
    """Give the first cases this label, and the others another one."""
    for number in range(1, 11):
        name = f"{number:03}"
        text = label if number <= count else f"other {number}"
        folder.write(f"cases/{name}/expected/answer.txt", text)


def test_a_word_that_inputs_with_other_answers_have_is_no_answer(folder, leaks):
    labels(folder, 1)
    assert len(leaks(notes="for billing")) == 1
    folder.write("cases/009/input/notes", "my billing")
    assert leaks() == []


def test_who_is_to_find_the_answer_in_the_input_finds_it_in_most(folder, leaks):
    labels(folder, 0)
    for number in (1, 2):
        folder.write(f"cases/{number:03}/input/notes", f"it is other {number}")
    assert len(leaks()) == 2
    folder.write("cases/003/input/notes", "it is other 3")
    assert leaks() == []


def test_a_label_whose_word_such_inputs_use_is_no_answer(folder, leaks):
    labels(folder, 4)
    assert len(leaks(notes="for billing")) == 1
    folder.write("cases/002/input/notes", "for billing")
    assert leaks() == []


def test_more_lines_of_one_file_are_one_warning(folder, leaks):
    folder.write("cases/001/expected/answer.txt", f"{LONG}\n{LONG[::-1]}\n-")
    assert leaks(notes=f"{LONG}\n{LONG[::-1]}")[0].startswith(
        "001/input/notes:1: this line and 1 more line have"
    )


def test_a_whole_expected_file_in_an_input_file(folder, leaks):
    answer = "\n".join(f"{n} short" for n in range(9))
    folder.write("cases/001/expected/deep/answer.txt", answer)
    assert len(answer) > 64
    (line,) = leaks(notes=f"before\n{answer}after")
    assert line.startswith("001/input/notes:1: has all of expected/deep/answer.txt; ")
    folder.write("cases/001/expected/deep/answer.txt", answer[:64])
    assert leaks() == []


@pytest.mark.parametrize("name", [".git", ".svn", "sub/.git"])
def test_a_history_is_named_once(folder, leaks, name):
    for path in ("config", "objects/pack/a.pack", "HEAD"):
        folder.write(f"cases/001/input/{name}/{path}", "")
    assert [line.partition("; ")[0] for line in leaks()] == [
        f"001/input/{name}:1: is a history, and the answer may be in it"
    ]


def test_a_pack_alone_and_a_symlink(folder, leaks):
    folder.write("cases/001/input/a.pack", "x")
    (folder.path / "cases/001/input/link").symlink_to("question.txt")
    pack, link = leaks()
    assert pack.startswith("001/input/a.pack:1: is a history")
    assert link.startswith("001/input/link:1: is a symlink")


def test_leak_ok_silences_its_case_and_is_in_no_digest(folder, leaks):
    folder.write("cases/002/expected/answer.txt", LONG[::-1])
    folder.write("cases/002/input/notes", LONG[::-1])
    folder.pin()
    assert len(leaks()) == 1
    folder.edit("cases/002/case.toml", "[case]", '[case]\nleak_ok = "it asks for a copy"')
    assert leaks() == []
    folder.edit("cases/002/case.toml", '"it asks for a copy"', '""')
    assert "leak_ok" in folder.only()


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(bench_classes(SHIPPED)))
def test_few_of_the_shipped_cases_are_suspected(name, tmp_path):
    shutil.copytree(SHIPPED / name, tmp_path / name)
    for path in (tmp_path / name / "cases").glob("*/case.toml"):
        path.write_text(
            "\n".join(line for line in path.read_text().splitlines() if "leak_ok" not in line)
        )
    check = check_class(tmp_path, name)
    suspected = {problem.path.relative_to(tmp_path / name).parts[1] for problem in check.warnings}
    assert len(suspected) <= check.case_count / 20
