"""Finds what a rubric must not contain: fields named as self-assessments, and imports of language models."""

from __future__ import annotations

import ast
import os
from typing import TYPE_CHECKING, Final

from benchgate.check.problem import Problem, located
from benchgate.errors import RegistrationError
from benchgate.loader.rubric_source import parse_source, rubric_files
from benchgate.wire.model import banned_token

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LLM_PACKAGES: Final = frozenset(
    {
        "ai21",
        "anthropic",
        "autogen",
        "cohere",
        "crewai",
        "ctransformers",
        "dashscope",
        "dspy",
        "google.genai",
        "google.generativeai",
        "groq",
        "guidance",
        "huggingface_hub",
        "instructor",
        "langgraph",
        "litellm",
        "llama_cpp",
        "llama_index",
        "llm",
        "mistralai",
        "ollama",
        "openai",
        "outlines",
        "pydantic_ai",
        "replicate",
        "semantic_kernel",
        "sentence_transformers",
        "together",
        "transformers",
        "vertexai",
        "vllm",
        "xai_sdk",
        "zhipuai",
    }
)
LLM_PREFIXES: Final = ("langchain", "llama_index_", "openai_")


def rubric_problems(class_path: Path) -> Iterator[Problem]:
    """Yield what is wrong with ``rubric.py`` and the modules of its class that it imports: all that can score."""
    try:
        files = rubric_files(class_path)
    except RegistrationError as error:
        if os.path.lexists(error.path):  # a missing file is reported by the check of required files
            yield from located(error)
        return
    for path in files:
        tree = parse_source(path)
        for line, message in (*_banned_names(tree), *_llm_imports(tree)):
            yield Problem(path, line, message)


def _banned_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for what, line, name in (*_fields(tree), *_breakdown_keys(tree)):
        if token := banned_token(name):
            message = f"{what} {name!r} contains the banned token {token!r}"
            yield line, f"{message}; expected a measured fact: a score is never a self-assessment"


def _fields(tree: ast.Module) -> Iterator[tuple[str, int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for part in node.body:
                if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                    yield f"field of {node.name}", part.lineno, part.target.id


def _breakdown_keys(tree: ast.Module) -> Iterator[tuple[str, int, str]]:
    """Yield the literal keys of what is passed as ``breakdown``, followed through one variable or function."""
    nodes = list(ast.walk(tree))
    given = [
        node.value for node in nodes if isinstance(node, ast.keyword) and node.arg == "breakdown"
    ]
    given += [value for node in nodes if isinstance(node, ast.Dict) for value in _parts_in(node)]
    passed = [part for value in given for part in ast.walk(value)]
    names = {node.id for node in passed if isinstance(node, ast.Name)}
    calls = [node.func for node in passed if isinstance(node, ast.Call)]
    names |= {called.attr for called in calls if isinstance(called, ast.Attribute)}
    sources = [source for node in nodes for source in _sources(node, names)]
    found = {key for node in (*passed, *sources) for key in _keys(node)}
    for line, key in sorted(found):
        yield "breakdown key", line, key


def _parts_in(node: ast.Dict) -> Iterator[ast.expr]:
    for key, value in zip(node.keys, node.values, strict=True):
        if isinstance(key, ast.Constant) and key.value == "breakdown":
            yield value


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _sources(node: ast.AST, names: set[str]) -> Iterator[ast.AST]:
    """Yield what gives a variable or a function's result its keys: assignments, stored items, update(), returns."""
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if names & {_name(target) for target in targets}:
            yield from ast.walk(node.value)
    elif isinstance(node, ast.Subscript) and _name(node.value) in names:
        yield node
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr == "update" and _name(node.func.value) in names:
            yield from ast.walk(node)
    elif isinstance(node, ast.FunctionDef) and node.name in names:
        returned = (part.value for part in ast.walk(node) if isinstance(part, ast.Return))
        yield from (part for value in returned if value is not None for part in ast.walk(value))


def _keys(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and text of the literal keys that a node gives a dict."""
    keys: list[ast.expr | None] = []
    if isinstance(node, ast.Dict):
        keys = node.keys
    elif isinstance(node, ast.Subscript):
        keys = [node.slice] if isinstance(node.ctx, ast.Store) else []
    elif isinstance(node, ast.Call) and _called(node) in {"dict", "update"}:
        yield from ((word.value.lineno, word.arg) for word in node.keywords if word.arg)
    for key in keys:
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            yield key.lineno, key.value


def _called(node: ast.Call) -> str | None:
    return node.func.attr if isinstance(node.func, ast.Attribute) else _name(node.func)


def _llm_imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        package = next((p for name in _imported(node) if (p := _llm_package(name))), None)
        if package is not None and isinstance(node, (ast.stmt, ast.expr)):
            message = (
                f"imports {package}; expected a rubric without a model: the harness has no LLM, "
                "and the same output gets the same score (systems may have one)"
            )
            yield node.lineno, message


def _imported(node: ast.AST) -> list[str]:
    """Return the dotted names that a node imports from outside the class."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and not node.level and node.module:
        return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    if isinstance(node, ast.Call) and node.args:
        called = node.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", None)
        first = node.args[0]
        if name in {"import_module", "__import__"} and isinstance(first, ast.Constant):
            return [str(first.value)]
    return []


def _llm_package(dotted: str) -> str | None:
    parts = dotted.split(".")
    tops = parts[0], ".".join(parts[:2])
    if parts[0].startswith(LLM_PREFIXES):
        return parts[0]
    return next((top for top in tops if top in LLM_PACKAGES), None)
