# mypy: allow-untyped-defs, allow-untyped-calls
"""Whose the folders of a build stage are, as BuildKit made them when it was asked."""

import pytest
from _benchgate_bench.migration_chainguard_distroless.image.owners import (
    MAKERS,
    WRITERS,
    not_writable,
)
from _benchgate_bench.migration_chainguard_distroless.tests.support import FREE, build

DEV = f"FROM {FREE}/node:latest-dev\n"
ROOT = f"{DEV}USER root\nWORKDIR /w\nUSER node\n"


def unwritable(text):
    return list(not_writable(build(text).final))


def test_the_tools_that_write_are_those_that_are_known():
    assert sorted(" ".join(words) for words in WRITERS) == [
        "bundle install", "cargo build", "composer install", "dotnet build", "dotnet publish", "gradle", "mvn",
        "npm ci", "npm install", "pnpm", "uv sync", "yarn",
    ]  # fmt: skip
    assert sorted(" ".join(words) for words in MAKERS) == [
        "python -m venv", "python3 -m venv", "uv venv", "virtualenv",
    ]  # fmt: skip


@pytest.mark.parametrize("words", WRITERS)
def test_each_tool_that_writes_where_it_starts(words):
    tool = " ".join(words)

    assert unwritable(f"{ROOT}RUN {tool} x\n") == [f"{words[0]} may not write to /w"]
    assert unwritable(f"{ROOT}USER root\nRUN {tool} x\n") == []
    assert unwritable(f"{DEV}WORKDIR /w\nRUN {tool} x\n") == []
    assert unwritable(f"{DEV}RUN {tool} x\n") == []


@pytest.mark.parametrize("words", MAKERS)
def test_each_tool_that_makes_the_folder_it_names(words):
    tool = " ".join(words)

    assert unwritable(f"{DEV}RUN {tool} /opt/e\n") == [f"{words[0]} may not write to /opt"]
    assert unwritable(f"{DEV}RUN {tool} --copies /opt/e\n") != []
    assert unwritable(f"{ROOT}RUN {tool} e\n") == [f"{words[0]} may not write to /w"]
    assert unwritable(f"{DEV}USER root\nRUN {tool} /opt/e\n") == []
    assert unwritable(f"{DEV}WORKDIR /opt/e\nRUN {tool} /opt/e\n") == []
    assert unwritable(f"{DEV}WORKDIR /w\nRUN {tool} e\n") == []
    for folder in ("/app/e", "/tmp/e", "/home/nonroot/e", "/unheard/of/e"):  # noqa: S108
        assert unwritable(f"{DEV}RUN {tool} {folder}\n") == []


@pytest.mark.parametrize(
    ("lines", "fine"),
    [
        ("WORKDIR /app", True),
        ("WORKDIR /tmp", True),
        ("WORKDIR /app/below", True),
        ("WORKDIR /w", True),
        ("USER root\nWORKDIR /app\nUSER node", True),
        ("USER root\nWORKDIR /home/nonroot\nUSER node", True),
        ("USER root\nWORKDIR /w\nUSER node", False),
        ("USER root\nWORKDIR /w\nUSER node\nWORKDIR /w", False),
        ("USER root\nWORKDIR /w\nUSER node\nWORKDIR /w/x", True),
        ("USER root\nWORKDIR /w/x\nUSER node\nWORKDIR /w", False),
        ("USER 1000\nWORKDIR /w\nUSER node", False),
        ("USER 1000\nWORKDIR /w\nUSER 1000", True),
        ("COPY a /w/\nWORKDIR /w", False),
        ("COPY a /w/x/\nWORKDIR /w", False),
        ("ADD a /w/\nWORKDIR /w", False),
        ("COPY --chown=node a /w/\nWORKDIR /w", True),
        ("COPY --chown=node a /w/x/\nUSER root\nWORKDIR /w\nUSER node", True),
        ("COPY --chown=1000 a /w/\nWORKDIR /w", False),
        ("USER root\nWORKDIR /w\nUSER node\nCOPY --chown=node a ./", False),
        ("WORKDIR /w\nCOPY a ./", True),
        ("USER 0\nRUN mkdir -p /w\nUSER node\nWORKDIR /w", False),
        ("RUN mkdir -p /w\nWORKDIR /w", True),
        ("USER 0\nWORKDIR /w\nRUN chown node /w\nUSER node", True),
        ("USER 0\nWORKDIR /w\nRUN chmod 777 .\nUSER node", True),
        ("USER 0\nWORKDIR /w/x\nRUN chown -R node /w\nUSER node", True),
        ("USER 0\nWORKDIR /w\nRUN chown node /x\nUSER node", False),
        ("USER 0\nWORKDIR /wx\nRUN chown node /w\nUSER node", False),
        ("USER 0\nWORKDIR /w\nRUN ls /w\nUSER node", False),
    ],
)
def test_a_folder_belongs_to_whoever_made_it_first(lines, fine):
    found = unwritable(f"{DEV}{lines}\nRUN npm ci\n")

    assert (found == []) is fine


def test_cd_counts_in_its_own_run():
    assert unwritable(f"{ROOT}RUN cd /app && npm ci\n") == []
    assert unwritable(f"{ROOT}RUN cd /app\nRUN npm ci\n") == ["npm may not write to /w"]


def test_of_an_image_that_is_not_known_nothing_is_said():
    assert unwritable("FROM node\nUSER root\nWORKDIR /w\nUSER node\nRUN npm ci\n") == []
