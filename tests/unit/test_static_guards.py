"""What the harness must never contain: a model, a self-assessment, a way to promote."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import BaseModel

import benchgate
from benchgate.artifacts.kinds import KINDS
from benchgate.loader.rubric_source import rubric_files
from benchgate.models import BenchCase, BenchScore
from benchgate.wire.model import BANNED_TOKENS, WireModel, banned_token

PACKAGE = Path(benchgate.__file__).parent
BENCH = Path(__file__).parents[2] / "bench"
CLASSES = sorted(path.parent for path in BENCH.glob("*/rubric.py"))
LLM_SDKS = {
    "anthropic",
    "cohere",
    "google",
    "groq",
    "langchain",
    "litellm",
    "llama_index",
    "mistralai",
    "ollama",
    "openai",
    "transformers",
    "vllm",
}


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.partition(".")[0]


def told(paths):
    """The files that import an LLM SDK, a line for each with what it imports."""
    found = {path: sorted(LLM_SDKS & set(imports(path))) for path in paths}
    return "\n".join(f"{path}: {', '.join(names)}" for path, names in found.items() if names)


def test_the_package_imports_no_llm_sdk():
    files = sorted(PACKAGE.rglob("*.py"))
    assert PACKAGE / "registry.py" in files
    assert not told(files), told(files)


def test_no_shipped_rubric_imports_an_llm_sdk():
    files = {folder: rubric_files(folder) for folder in CLASSES}
    assert all(folder / "rubric.py" in found for folder, found in files.items())
    wrong = told(path for found in files.values() for path in found)
    assert not wrong, wrong


def test_every_file_that_imports_an_llm_sdk_is_named(tmp_path):
    texts = {"a": "import openai.types, vllm", "b": "import json", "c": "from cohere import x"}
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text)
    found = told(sorted(tmp_path.glob("*.py")))
    assert found == f"{tmp_path / 'a.py'}: openai, vllm\n{tmp_path / 'c.py'}: cohere"


def models():
    from importlib import import_module

    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if {"pytest_plugin", "cli"} & set(parts):
            continue
        module = import_module(".".join(["benchgate", *(p for p in parts if p != "__init__")]))
        yield from (value for value in vars(module).values() if isinstance(value, type))


# The level of a test, and of a bound: statistics, no opinion of a system on itself.
STATISTICS = {"confidence_level", "min_confidence_level", "safety_confidence"}


def test_no_field_of_a_wire_model_smuggles_a_self_assessment():
    found = {model for model in models() if issubclass(model, BaseModel) and model is not WireModel}
    assert {BenchScore, BenchCase, *KINDS.values()} <= found
    fields = {name for model in found for name in model.model_fields}
    assert {name for name in fields if banned_token(name)} <= STATISTICS
    assert not {name for name in BenchScore.model_fields if banned_token(name)}


@pytest.mark.parametrize("token", sorted(BANNED_TOKENS))
@pytest.mark.parametrize("form", ["{}", "a.{}", "{}-x", "a_{}_b", "{}.SUM"])
def test_no_breakdown_key_smuggles_a_self_assessment(token, form):
    for key in (form.format(token), form.format(token).upper()):
        with pytest.raises(ValueError, match="self-assessment"):
            BenchScore(passed=True, score=1.0, breakdown={key: 1.0})
    BenchScore(passed=True, score=1.0, breakdown={f"{token}ed": 1.0, "fulfillment": 1.0})


WATCHED = """
import sys
touched = []
def watch(event, args):
    if event == "open" and "trust-tiers" in str(args[0]):
        touched.append((event, args[1], args[2]))
    elif event in ("os.rename", "os.remove", "os.link", "os.symlink", "os.truncate", "os.chmod"):
        touched.extend((event, str(a), 1) for a in args if "trust-tiers" in str(a))
sys.addaudithook(watch)

import os
from pathlib import Path
from benchgate.cli import main
from benchgate.errors import PromotionMustBeHumanAuthorized
from benchgate.promotion import PromotionGate, TierConfig
from benchgate.promotion.verdict import PromotionVerdict
import contextlib, io

def said(*arguments):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        main(list(arguments))
    return text.getvalue()

said("run", "--task-class=one", "--out=out", "--system=weak")
(weak,) = Path("out").glob("runs/one/*/record.json")
said("run", "--task-class=one", "--out=out", f"--baseline={weak}")
said("verify", "out")
said("check")
verdict = said("verdict", "--task-class=one", "--target-tier=silver", "--out=out", "--json")
try:
    PromotionGate(TierConfig()).apply(PromotionVerdict.read_json(verdict.encode()))
except PromotionMustBeHumanAuthorized:
    pass
else:
    raise AssertionError("something was applied")
assert touched, "the file of tiers was never read: this watches nothing"
writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
wrong = [t for t in touched if t[0] != "open" or t[2] & writing or t[1] not in (None, "r", "rb")]
assert not wrong, wrong
"""
CASE = """\
[case]
case_id = "{}"
task_class = "one"
disposition = "positive"
difficulty = "easy"
source = "curated"
added_at = 2026-01-01T00:00:00Z
last_validated_at = 2026-01-01T00:00:00Z
"""


def test_no_code_path_writes_the_file_of_tiers(tmp_path):
    folder = tmp_path / "bench" / "one"
    for number in range(10, 20):
        (folder / "cases" / str(number) / "input").mkdir(parents=True)
        (folder / "cases" / str(number) / "case.toml").write_text(CASE.format(number))
    (folder / "rubric.py").write_text(
        "from benchgate import BenchScore\n"
        "class Constant:\n"
        "    def score(self, case, output, /):\n"
        "        score = output['score']\n"
        "        return BenchScore(passed=score > 0.5, score=score, safety_penalty=0.0)\n"
    )
    (folder / "registration.py").write_text(
        "from benchgate import register_task_class\n"
        "from .rubric import Constant\n"
        'systems = {"weak": lambda case: {"score": 0.0}, "good": lambda case: {"score": 1.0}}\n'
        'register_task_class("one", systems=systems, default_system="good")(Constant)\n'
    )
    tiers = tmp_path / "docs" / "trust-tiers.toml"
    tiers.parent.mkdir()
    tiers.write_text('[current]\none = "bronze"\n')
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WATCHED],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert tiers.read_text() == '[current]\none = "bronze"\n'
    promotion = tmp_path / "out" / "evidence" / "one" / "promotion.toml"
    assert 'one = "silver"' in promotion.read_text()  # what it would have written, left to a person


FOR_PEOPLE = {"detail", "message", "reason"}
"""Fields with a sentence for people. What code asks for is a field of its own, such as ``why`` of a result."""

READING = {
    *("startswith", "endswith", "removeprefix", "removesuffix", "partition", "rpartition"),
    *("find", "index", "count", "match", "search", "fullmatch"),
}
OF_OTHERS = [
    # Whether a client shows the text of an error that it wraps, or a copy of it, has no field either.
    ("importer.py", "hint not in str(error)"),
    # What pytest and pytest-timeout say has no field.
    ("reports.py", "crash.message.removeprefix('Failed: ')"),
    ("trials.py", "str(error).endswith('from pytest-timeout.')"),
]


def is_for_people(node):
    """Whether an expression is a sentence for people: such a field, or the text of an exception."""
    if isinstance(node, ast.Attribute):
        return node.attr in FOR_PEOPLE
    return ast.unparse(node) == "str(error)"


def reads(node):
    """Whether an expression looks into a sentence for people, or compares it with another."""
    if isinstance(node, ast.Compare):
        asks = any(isinstance(op, (ast.In, ast.NotIn, ast.Eq, ast.NotEq)) for op in node.ops)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        asks = node.func.attr in READING or ast.unparse(node.func) == "re.split"
    else:
        return False
    return asks and any(is_for_people(part) for part in ast.walk(node))


def readers(paths):
    """Yield each such expression with the name of its file."""
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text())):
            if reads(node):
                yield path.name, ast.unparse(node)


def test_no_state_is_read_from_a_sentence_for_people():
    assert sorted(readers(PACKAGE.rglob("*.py"))) == OF_OTHERS


@pytest.mark.parametrize(
    ("code", "is_found"),
    [
        ("(result.detail or '').startswith(CAP)", True),
        ("r.detail in (STOP, BEGUN)", True),
        ("[r.detail for r in results].count(STOP)", True),
        ("TYPE.match(mode.detail or '')", True),
        ("re.split('[:,]', str(result.detail))", True),
        ("'timed out' in str(error)", True),
        ("remark.message == text", True),
        ("result.why == 'capped'", False),
        ("result.detail is None", False),
        ("' '.join(remark.message.split())", False),
        ("Line('reason', remark.message)", False),
    ],
)
def test_reading_a_sentence_is_found(code, is_found):
    assert any(map(reads, ast.walk(ast.parse(code)))) == is_found


EXACT = {
    *(
        "abs",
        "array",
        "asarray",
        "clip",
        "diff",
        "ldexp",
        "max",
        "maximum",
        "minimum",
        "rint",
        "sqrt",
    ),
    *("arange", "ones_like", "zeros", "zeros_like", "empty_like", "append", "concatenate", "stack"),
    *("sort", "partition", "searchsorted", "unique", "where", "isfinite", "count_nonzero"),
    *("cumsum", "random", "unpackbits", "errstate", "float64", "int64", "uint8"),
}
"""
What src uses of numpy. None depends on the BLAS or on vector instructions: it rounds once, adds in one order or moves
numbers.

``sum``, ``mean``, ``dot`` and ``@`` of floats do depend on them, for they add in numpy's or the BLAS's order. So do
``exp``, ``log`` and the like, products of complex numbers, and ``linalg``. Use ``math.fsum``, plain arithmetic, or
``scipy.special``, whose functions are those of the C library and depend on that, and on FMA, alone.
``tests/e2e/test_same_bytes.py`` shows what goes wrong otherwise.
"""
WHOLE_NUMBERS = [
    "at_least.sum()",
    "at_most.sum()",
    "bits @ counts",
    "bits @ steps",
    "bits @ steps",
    "counts.sum()",
    "counts.sum()",
    "steps.sum()",
]
"""Sums that may come in any order, because they are exact."""


def numpy_name(node):
    """The name that an expression takes from numpy, or ``None``."""
    of_numpy = isinstance(node, ast.Attribute) and ast.unparse(node.value) == "np"
    return node.attr if of_numpy else None


def is_sum(node):
    """Whether an expression adds the elements of arrays in an order that numpy or the BLAS chooses."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.MatMult)
    is_method = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    return is_method and node.func.attr in {"sum", "mean", "dot", "std", "var", "prod"}


def test_no_figure_depends_on_the_vector_instructions_of_the_processor():
    files = PACKAGE.rglob("*.py")
    nodes = [node for path in files for node in ast.walk(ast.parse(path.read_text()))]
    assert {numpy_name(node) for node in nodes} - {None} <= EXACT
    assert sorted(ast.unparse(node) for node in nodes if is_sum(node)) == WHOLE_NUMBERS
