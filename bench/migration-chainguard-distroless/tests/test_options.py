# mypy: allow-untyped-defs, allow-untyped-calls
"""Flags that no builder takes, and directives that hand the file to another program."""

import pytest
from _benchgate_bench.migration_chainguard_distroless.dockerfile.directives import (
    foreign_frontend,
    frontend,
)
from _benchgate_bench.migration_chainguard_distroless.dockerfile.instruction import Refused
from _benchgate_bench.migration_chainguard_distroless.dockerfile.options import FLAGS
from _benchgate_bench.migration_chainguard_distroless.dockerfile.parser import parse
from _benchgate_bench.migration_chainguard_distroless.tests.support import edited

REST = {"ADD": "a b", "COPY": "a b", "FROM": "a", "HEALTHCHECK": "CMD a", "RUN": "a"}


@pytest.mark.parametrize(("name", "flag"), [(n, f) for n, flags in FLAGS.items() for f in flags])
def test_each_flag_is_taken(name, flag):
    head = "" if name == "FROM" else "FROM a\n"

    assert parse(f"{head}{name} --{flag}=1 {REST[name]}\n")[-1].flags == (f"--{flag}=1",)


def test_the_flags_are_those_of_the_reference():
    assert {name: " ".join(sorted(flags)) for name, flags in FLAGS.items()} == {
        "ADD": "checksum chmod chown exclude keep-git-dir link unpack",
        "COPY": "chmod chown exclude from link parents",
        "FROM": "platform",
        "HEALTHCHECK": "interval retries start-interval start-period timeout",
        "RUN": "device mount network security",
    }


@pytest.mark.parametrize(
    "line",
    [
        "COPY --platform=x a b",
        "COPY --chmode=755 a b",
        "COPY --Chown=1 a b",
        "ADD --from=x a b",
        "RUN --user=1 a",
        "FROM --target=x a",
        "HEALTHCHECK --every=1s CMD a",
        "WORKDIR --chown=1 /a",
        "USER --x=1 a",
        "ENV --x=1 a=b",
        "COPY --from= a b",
        "COPY --chown a b",
        "COPY --from=a --from=b a b",
        "RUN --network=a --network=b a",
    ],
)
def test_other_flags_are_refused(line):
    with pytest.raises(Refused) as refused:
        parse(f"FROM a\n{line}\n")

    assert refused.value.code == "dockerfile_unparsable"


@pytest.mark.parametrize(
    "line",
    [
        "RUN --mount=type=cache,target=/a --mount=type=tmpfs,target=/b a",
        "COPY --link --parents a b",
        "COPY --exclude=a --exclude=b . c",
    ],
)
def test_some_flags_may_be_given_twice_or_without_a_value(line):
    assert len(parse(f"FROM a\n{line}\n")) == 2


@pytest.mark.parametrize(
    ("text", "named", "foreign"),
    [
        ("FROM a\n", "", False),
        ("# syntax=docker/dockerfile:1\nFROM a\n", "docker/dockerfile:1", False),
        (
            "#syntax = docker.io/docker/dockerfile:1.7-labs\nFROM a\n",
            "docker.io/docker/dockerfile:1.7-labs",
            False,
        ),
        (
            "# syntax=docker/dockerfile-upstream:master\n",
            "docker/dockerfile-upstream:master",
            False,
        ),
        ("# escape=`\n# syntax=docker/dockerfile:1\n", "docker/dockerfile:1", False),
        ("\ufeff# SYNTAX=example.org/other\n", "example.org/other", True),
        ("# syntax=docker/dockerfilex\n", "docker/dockerfilex", True),
        ("# syntax=evil/docker/dockerfile\n", "evil/docker/dockerfile", True),
        ("# a remark\n# syntax=example.org/other\n", "", False),
        ("\n# syntax=example.org/other\n", "", False),
        ("FROM a\n# syntax=example.org/other\n", "", False),
    ],
)
def test_who_reads_the_file(text, named, foreign):
    assert (frontend(text), foreign_frontend(text)) == (named, foreign)


def test_what_another_program_reads_is_not_built():
    found = edited("001", ("FROM ", "# syntax=example.org/frontend\nFROM "))

    assert found.failure_modes == ("command_cannot_run",)
    assert (found.passed, found.score) == (False, pytest.approx(0.91 / 2))
