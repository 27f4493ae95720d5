# mypy: allow-untyped-defs, allow-untyped-calls
"""The systems on files that are not from a case."""

import json

import pytest
from _benchgate_bench.migration_chainguard_distroless.systems import lines, recipe, workspace
from _benchgate_bench.migration_chainguard_distroless.systems.controls import (
    ClaimsSuccess,
    DoNothing,
)
from _benchgate_bench.migration_chainguard_distroless.systems.stage_aware import StageAware
from _benchgate_bench.migration_chainguard_distroless.systems.table_converter import TableConverter
from _benchgate_bench.migration_chainguard_distroless.systems.tables import FURTHER
from _benchgate_bench.migration_chainguard_distroless.tests.support import CASES, build, load

SYSTEMS = (ClaimsSuccess(), DoNothing(), StageAware(), TableConverter())


@pytest.fixture
def convert(tmp_path):
    def run(system, text, *, free=True, **files):
        policy = {"registry": "cgr.dev", "organisation": "o", "tags": "free" if free else "paid"}
        for name, held in {"Dockerfile": text, "policy.json": json.dumps(policy), **files}.items():
            (tmp_path / name).write_text(held, encoding="utf-8")
        case = load(CASES[0]).model_copy(update={"input_path": tmp_path})
        return system(case)["files"]["Dockerfile"]

    return run


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_a_system_answers_the_same_twice_and_reads_no_expected(system):
    for case_id in CASES:
        case = load(case_id).model_copy(update={"expected_path": None})
        assert system(case) == system(case)
        renamed = case.model_copy(update={"case_id": "other", "facts": {}, "tags": ()})
        assert system(renamed) == system(case)


def test_the_digest_is_of_the_sources(monkeypatch):
    found = {system.digest() for system in SYSTEMS}
    monkeypatch.setattr(workspace, "_SOURCES", ("systems/*.py",))

    assert len(found) == 1
    assert StageAware().digest() not in found


@pytest.mark.parametrize(
    ("text", "free", "dev", "found"),
    [
        ("python", True, False, "cgr.dev/o/python:latest"),
        ("python:3.12.1-slim", True, True, "cgr.dev/o/python:latest-dev"),
        ("python:3.12.1-slim", False, True, "cgr.dev/o/python:3.12-dev"),
        ("python:v3", False, False, "cgr.dev/o/python:3"),
        ("python:slim", False, False, "cgr.dev/o/python:latest"),
        ("python:$V-slim", False, True, "cgr.dev/o/python:$V-slim-dev"),
        ("docker.io/library/golang:1.22@sha256:0", False, False, "cgr.dev/o/go:1.22"),
        ("debian:12", False, True, "cgr.dev/o/chainguard-base:latest"),
        ("eclipse-temurin:21-jre", False, False, "cgr.dev/o/jdk:openjdk-21"),
        ("localhost:5000/node", True, False, "cgr.dev/o/node:latest"),
        ("gcr.io/distroless/static-debian12", True, False, "cgr.dev/o/static:latest"),
    ],
)
def test_images_are_mapped(text, free, dev, found):
    assert lines.image(text, workspace.Task({}, "o", free), dev=dev) == found


@pytest.mark.parametrize("base", ["node:20", "debian:12"])
@pytest.mark.parametrize("run", ['RUN ["npm", "ci"]\n', "RUN <<E\nnpm ci\nE\n"])
def test_a_run_without_commands_that_can_be_told_apart_stays_as_it_is(convert, base, run):
    moved = convert(StageAware(), f'FROM {base}\nCOPY . .\n{run}CMD ["node", "a.js"]\n')

    assert run in moved
    assert "RUN RUN" not in moved


def test_packages_and_users_are_mapped():
    assert lines.packages("apt-get install -y xz-utils curl=7 a", {}) == ["xz", "curl", "a"]
    assert lines.packages("apt-get update", {}) == []
    assert lines.packages("dnf install which bind-utils", FURTHER) == ["bind-tools"]
    assert lines.user_command("useradd --system --gid a b") == "adduser -S -G a b"
    assert lines.user_command("groupadd -r a") == "addgroup -S a"
    assert lines.user_command("echo useradd") == "echo useradd"


def test_the_table_converter_works_line_by_line(convert):
    text = (
        "# head\nARG V=1\nFROM ubuntu:24.04 AS a\nRUN apt-get update && apt-get install -y wget xz-utils && make\n\n"
        "FROM a\nRUN true\nFROM $V\nFROM scratch\nUSER 1\n"
    )

    assert convert(TableConverter(), text) == (
        "# head\nARG V=1\nFROM cgr.dev/o/chainguard-base:latest AS a\nUSER root\n"
        "RUN apk add --no-cache wget xz && make\n\n"
        "FROM a\nRUN true\nFROM $V\nFROM scratch\nUSER 1\n"
    )


def test_stage_aware_splits_what_builds_from_what_runs(convert):
    text = (
        "FROM node:22\nWORKDIR /srv\nRUN apt-get update && apt-get install -y make g++\n"
        "COPY package.json yarn.lock ./\n"
        "RUN yarn install\nCOPY main.js .\nUSER node\nEXPOSE 443\nCMD yarn start\n"
    )
    package = json.dumps({"scripts": {"start": "node main.js --fast"}})

    assert convert(StageAware(), text, **{"package.json": package}) == (
        "FROM cgr.dev/o/node:latest-dev AS build\nUSER root\nRUN apk add --no-cache gcc make\nWORKDIR /srv\n"
        "COPY package.json yarn.lock ./\nRUN yarn install\n\nFROM cgr.dev/o/node:latest\nWORKDIR /srv\n"
        "COPY --from=build /srv/node_modules /srv/node_modules\nCOPY package.json yarn.lock ./\n"
        "COPY main.js .\nUSER node\n"
        'EXPOSE 8443\nENTRYPOINT ["node", "main.js", "--fast"]\n'
    )


def test_stage_aware_keeps_a_package_manager_where_something_needs_it_at_run_time(convert):
    found = convert(
        StageAware(), 'FROM python:3.12\nRUN apt-get install -y libpq5\nCMD ["python", "a.py"]\n'
    )

    assert found == (
        "FROM cgr.dev/o/python:latest-dev\nUSER root\nRUN apk add --no-cache libpq\nUSER 65532\n"
        'ENTRYPOINT ["python", "a.py"]\n'
    )


def test_stage_aware_keeps_versions_that_can_be_pulled(convert):
    text = 'FROM maven:3.9-x AS b\nRUN mvn package\nFROM eclipse-temurin:21\nCOPY --from=b /a.jar /\nCMD ["java", "-jar", "/a.jar"]\n'  # noqa: E501
    found = convert(StageAware(), text, free=False)

    assert "FROM cgr.dev/o/maven:3.9-dev AS b\nUSER root\n" in found
    assert "FROM cgr.dev/o/jre:openjdk-21\n" in found


def test_ports_move():
    found = {"80": "8080", "443/tcp": "8443/tcp", "1023": "9023"}

    assert {port: lines.moved(port) for port in found} == found
    assert all(lines.moved(port) == port for port in ("1024", "$P", "1-9"))


def test_nginx_listens_where_it_may():
    text = "user nginx;\nlisten 80;\nlisten [::]:80 default_server;\nlisten 8080;\nreturn 80;\n"

    assert lines.in_configuration(text, {"80": "8080"}) == (
        "listen 8080;\nlisten [::]:8080 default_server;\nlisten 8080;\nreturn 80;\n"
    )


@pytest.mark.parametrize(
    ("text", "argv"),
    [
        ('ENTRYPOINT ["python"]\nCMD ["app.py"]', ("python", "app.py")),
        ('CMD ["x"]\nENTRYPOINT ["ruby"]', ("ruby", "x")),
        ('ENTRYPOINT ["ruby"]\nCMD []', ("ruby",)),
        ("CMD exec a b", ("a", "b")),
        ("CMD a $B", None),
        ("ENTRYPOINT a b\nCMD c", ("a", "b")),
        ('CMD ["a"]\nCMD ["b"]', ("b",)),
        ("", ()),
        ('ENTRYPOINT ["a"]\nCMD ["b"]\nFROM x', ("a", "b")),
        ('ENTRYPOINT ["a"]\nCMD ["b"]\nFROM x\nENTRYPOINT ["d"]', ("d",)),
        ('ENTRYPOINT ["a"]\nCMD ["b"]\nFROM x\nCMD ["c"]\nENTRYPOINT ["d"]', ("d", "c")),
    ],
)
def test_entrypoint_and_command_in_effect(text, argv):
    assert recipe.argv_of(build(f"FROM debian AS x\n{text}\n").final, {}) == argv
