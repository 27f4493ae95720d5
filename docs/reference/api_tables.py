"""
Write the tables and lists of ``api.md`` and ``hooks.md`` between their markers, from the docstrings.

::

    python docs/reference/api_tables.py

A forge shows Markdown, but not what Sphinx takes from docstrings. A test fails until the tables are as they are now.
"""
# ruff: noqa: INP001

from __future__ import annotations

import ast
import importlib
import inspect
import re
from pathlib import Path
from typing import Any

from pydantic import BaseModel

import benchgate
from benchgate.models.case import CaseTable
from benchgate.pytest_plugin import hookspecs
from benchgate.wire.model import SCHEMA_VERSION

HERE = Path(__file__).parent
MODELS = (
    "benchgate.BenchCase",
    "benchgate.BenchScore",
    "benchgate.TrialResult",
    "benchgate.FailureMode",
    "benchgate.Usage",
    "benchgate.models.Aggregates",
    "benchgate.BenchRunReport",
    "benchgate.CheckpointPromotionDecision",
)
"""The models whose fields the page lists."""
ELSEWHERE = {
    CaseTable: "The keys of `[case]`, see {doc}`case-toml`.",
    benchgate.models.Aggregates: "The fields of `benchgate.models.Aggregates`.",
}
"""Models that others extend, and what stands for their fields there."""
HOOKS = {
    "pytest_bench_system": ("before the first case, in every process", "plugins, root conftest"),
    "pytest_bench_score": ("for each trial, in its process", "plugins, all conftests"),
    "pytest_bench_case_finished": (
        "for each recorded trial, in the controller",
        "plugins, root conftest",
    ),
    "pytest_bench_gates": (
        "for each full run at its end, in the controller",
        "plugins, root conftest",
    ),
    "pytest_bench_run_finished": (
        "after the artifacts are written, in the controller",
        "plugins, root conftest",
    ),
    "pytest_bench_executor": (
        "after the systems are found, where items run",
        "plugins, root conftest",
    ),
}
"""When and where each hook is called, and what may implement it; its docstring says it at length."""


WORDS = {
    "Count": "int >= 0",
    "Number": "float",
    "NonNegative": "float >= 0",
    "UnitInterval": "float in [0, 1]",
    "Seconds": "float > 0",
    "Sha256": "SHA-256",
    "Version": str(SCHEMA_VERSION),
    "Text": "str",
    "DisplayText": "str",
    "CaseId": "str",
    "Name": "str",
    "Words": "tuple[str, ...]",
    "FrozenJson": "Mapping[str, Any]",
    "Breakdown": "Mapping[str, float]",
    "Evidence": "Mapping[str, str]",
    "Clusters": "Mapping[str, str]",
    "Digests": "Mapping[str, SHA-256]",
}
"""What the names of our own types mean."""


class Bare(ast.NodeTransformer):
    """Leaves of ``Annotated[type, checks]`` the type."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Replace the annotation by its type."""
        self.generic_visit(node)
        is_annotated = isinstance(node.value, ast.Name) and node.value.id == "Annotated"
        return node.slice.elts[0] if is_annotated and isinstance(node.slice, ast.Tuple) else node


def first_sentence(text: str | None) -> str:
    """Return the first paragraph of a docstring on one line, without Sphinx's roles."""
    paragraph = inspect.cleandoc(text or "").partition("\n\n")[0]
    return plain(" ".join(paragraph.split()))


def plain(text: str) -> str:
    """Return text of a docstring as Markdown."""
    text = re.sub(r":\w+:`~?([^`]+)`", lambda found: f"``{found[1].rpartition('.')[2]}``", text)
    return text.replace("``", "`").replace("*", "\\*")


def parameters(text: str | None) -> dict[str, str]:
    """Return what a docstring says of each parameter."""
    found = re.findall(
        r"^:param (\w+): (.*?)(?=^:|\Z|\n\n)",
        inspect.cleandoc(text or ""),
        re.MULTILINE | re.DOTALL,
    )
    return {name: plain(" ".join(said.split())) for name, said in found}


def type_name(model: type[BaseModel], name: str) -> str:
    """Return the annotation of a field as it is written in the source, in words where it is a type of ours."""
    for one in model.__mro__:
        if name in getattr(one, "__annotations__", {}):
            text = ast.unparse(Bare().visit(ast.parse(str(one.__annotations__[name]))))
            return re.sub(r"\w+", lambda word: WORDS.get(word[0], word[0]), text)
    return ""


def described(model: type[BaseModel]) -> dict[str, str]:
    """Return what the docstrings of a model and of those that it extends say of its fields."""
    said: dict[str, str] = {}
    for one in reversed(model.__mro__):
        if issubclass(one, BaseModel):
            said |= parameters(one.__doc__)
    return said


def found(name: str) -> Any:
    """Return an object by its dotted name."""
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def is_error(name: str) -> bool:
    """Whether a public name is that of an error, which the page has further down."""
    value = getattr(benchgate, name)
    return inspect.isclass(value) and issubclass(value, benchgate.EvalError)


def names_table() -> str:
    """Return the table of the public names."""
    lines = ["| name of `benchgate` | what it is |", "|---|---|"]
    for name in sorted(benchgate.__all__, key=str.casefold):
        if is_error(name):
            continue
        what = first_sentence(getattr(benchgate, name).__doc__)
        if name == "default_registry":
            what = "Where the decorator registers outside a session."
        lines.append(f"| `{name}` | {what} |")
    return "\n".join(lines)


def fields_lists() -> str:
    """Return a list of the fields of each model; those without a remark are in its last line."""
    parts = []
    for name in MODELS:
        model = found(name)
        lines = [f"### {name}\n"]
        inherited: set[str] = set()
        for other, text in ELSEWHERE.items():
            if issubclass(model, other) and model is not other:
                inherited |= set(other.model_fields)
                lines.append(f"* {text}")
        own = [field for field in model.model_fields if field not in inherited]
        said = described(model)
        lines += [
            f"* `{field}: {type_name(model, field)}`: {said[field]}"
            for field in own
            if field in said
        ]
        rest = [f"`{field}: {type_name(model, field)}`" for field in own if field not in said]
        if rest:
            lines.append(f"* {', '.join(rest)}.")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def hooks_table() -> str:
    """Return the table of the hooks."""
    lines = ["| hook | what for | called | implemented in |", "|---|---|---|---|"]
    for name, (called, where) in HOOKS.items():
        hook = getattr(hookspecs, name)
        arguments = ", ".join(inspect.signature(hook).parameters)
        lines.append(
            f"| `{name}({arguments})` | {first_sentence(hook.__doc__)} | {called} | {where} |"
        )
    return "\n".join(lines)


TABLES = {
    ("api.md", "names"): names_table,
    ("api.md", "fields"): fields_lists,
    ("hooks.md", "hooks"): hooks_table,
}


def written(page: str) -> str:
    """Return the text of a page with its tables as they are now."""
    text = (HERE / page).read_text("utf-8")
    for (where, name), table in TABLES.items():
        if where == page:
            pattern = (
                rf"(?<=<!-- {name}: written by api_tables.py -->\n).*?(?=<!-- end of {name} -->)"
            )
            made = f"\n{table()}\n\n"
            text, count = re.subn(pattern, lambda _, made=made: made, text, flags=re.DOTALL)
            if count != 1:
                msg = f"{page}: no place for the table {name}"
                raise ValueError(msg)
    return text


def main() -> None:
    """Write the pages."""
    for page in sorted({page for page, _ in TABLES}):
        (HERE / page).write_text(written(page), "utf-8")


if __name__ == "__main__":
    main()
