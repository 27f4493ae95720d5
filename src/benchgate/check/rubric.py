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
        token = banned_token(name)
        if token is not None:
            message = f"{what} {name!r} contains the banned token {token!r}"
            yield line, f"{message}; expected a measured fact: a score is never a self-assessment"


def _fields(tree: ast.Module) -> Iterator[tuple[str, int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for part in node.body:
                if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                    yield f"field of {node.name}", part.lineno, part.target.id


def _breakdown_keys(tree: ast.Module) -> Iterator[tuple[str, int, str]]:
    """Yield the keys that are written where a breakdown is passed; BenchScore refuses all others when they come."""
    nodes = list(ast.walk(tree))
    passed = [
        node.value for node in nodes if isinstance(node, ast.keyword) and node.arg == "breakdown"
    ]
    passed += [value for node in nodes for key, value in _entries(node) if key == "breakdown"]
    written = {
        (value.lineno, key)
        for breakdown in passed
        for node in ast.walk(breakdown)
        for key, value in _entries(node)
    }
    for line, key in sorted(written):
        yield "breakdown key", line, key


def _entries(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield the literal keys that a node gives a dict, each with its value."""
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value, value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict":
        yield from ((word.arg, word.value) for word in node.keywords if word.arg)


def _llm_imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        packages = [found for found in map(_llm_package, _imported(node)) if found is not None]
        if packages and isinstance(node, (ast.stmt, ast.expr)):
            message = (
                f"imports {packages[0]}; expected a rubric without a model: the harness has no LLM, "
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
