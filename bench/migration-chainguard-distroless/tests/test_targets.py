# mypy: allow-untyped-defs, allow-untyped-calls
"""Which stage is built, what ONBUILD does to it, what the builder passes, and where copies land."""

import pytest
from _benchgate_bench.migration_chainguard_distroless.axes import (
    build_images,
    final_image,
    final_image_exists,
    migrated,
    no_shell,
)
from _benchgate_bench.migration_chainguard_distroless.dockerfile.instruction import Refused
from _benchgate_bench.migration_chainguard_distroless.dockerfile.parser import parse
from _benchgate_bench.migration_chainguard_distroless.image.files import Files
from _benchgate_bench.migration_chainguard_distroless.image.runtime import starts, user_exists
from _benchgate_bench.migration_chainguard_distroless.image.stages import resolve
from _benchgate_bench.migration_chainguard_distroless.tests.support import (
    FREE,
    answer,
    best,
    build,
    edited,
    score,
)

PLAIN = f"FROM {FREE}/python:latest\n"
DIGEST = "@sha256:" + "0" * 64


def test_the_stage_that_is_asked_for_is_built():
    steps = parse("FROM a AS one\nFROM b AS two\nFROM one\n")

    assert resolve(steps).final.index == 2
    assert resolve(steps, "TWO").final.base == "b"
    assert resolve(steps, "0").final.base == "a"
    assert [stage.index for stage in resolve(steps, "two").built] == [1]
    with pytest.raises(Refused) as refused:
        resolve(steps, "three")
    assert refused.value.code == "target_missing"


def test_an_answer_without_the_stage_is_not_read():
    text = best("031-target-production")["Dockerfile"].replace("AS production", "AS prod")
    found = score("031", text)

    assert (found.passed, found.failure_modes) == (False, ("target_missing",))


def test_onbuild_runs_when_a_stage_starts_from_the_one_that_has_it():
    text = "FROM a AS b\nONBUILD USER 1\nONBUILD ENV A=1\nUSER 0\nFROM b AS c\n"
    final = build(text).final

    assert (final.config.user, final.config.env) == ("1", {"A": "1"})
    assert build(text + "USER 2\nFROM c\nENV B=$A\n").final.config.env == {"A": "1", "B": "1"}
    assert build(text.replace("FROM b AS c\n", "")).final.config.user == "0"
    assert "ONBUILD" not in [step.name for step in final.steps]


def test_the_builder_passes_platforms_to_those_who_ask():
    final = build("FROM a\nARG TARGETARCH\nENV A=$TARGETARCH B=$TARGETOS\n").final

    assert final.config.env == {"A": "amd64", "B": ""}
    assert build("FROM a-${TARGETARCH}\n").final.base == "a-amd64"


@pytest.mark.parametrize(
    ("lines", "path"),
    [
        ("WORKDIR /w\nCOPY a /w", "/w/a"),
        ("COPY a /etc", "/etc/a"),
        ("COPY a /new", "/new"),
        ("COPY a /new/", "/new/a"),
        ("COPY b /d/\nCOPY a /d", "/d/a"),
        ("COPY b /d/e\nCOPY a /d", "/d/a"),
        ("RUN mkdir -p /x/y\nCOPY a /x/y", "/x/y/a"),
        ("RUN cd /x && mkdir y\nCOPY a /x/y", "/x/y/a"),
        ("RUN install -d /x\nCOPY a /x", "/x/a"),
        ("COPY a /app\nWORKDIR /app", "/app"),
    ],
)
def test_a_copy_lands_in_a_folder_that_is_there_by_then(lines, path):
    built = build(f"{PLAIN}{lines}\n")

    assert path in Files(built, {"a": "", "b": ""}).contents(built.final)


def test_the_working_folder_of_the_image_is_there():
    built = build(f"FROM {FREE}/node\nCOPY a /app\n")

    assert list(Files(built, {"a": ""}).contents(built.final)) == ["/app/a"]


@pytest.mark.parametrize(
    ("user", "there"),
    [
        ("65532", True),
        ("2147483647", True),
        ("2147483648", False),
        ("9" * 5000, False),
        ("-1", False),
        ("+5", True),
        ("nobody", False),
        ("nonroot", True),
    ],
)
def test_numbers_of_users_have_a_range(user, there):
    assert user_exists(build(f"{PLAIN}USER {user}\n").final) is there


@pytest.mark.parametrize(
    ("lines", "same"),
    [
        ("ENTRYPOINT exec node server.js", True),
        ("ENTRYPOINT node server.js", True),
        ("ENTRYPOINT node 'server.js'", True),
        ("ENV F=server.js\nENTRYPOINT node $F", True),
        ("ENV F=server.js\nENTRYPOINT node ${F}", True),
        ("ENTRYPOINT node $F", False),
        ("ENTRYPOINT node server.js && true", False),
        ("ENTRYPOINT node server.js --x", False),
        ("ENTRYPOINT node 'server.js", False),
        ('ENTRYPOINT ["/bin/sh", "-c", "node server.js"]', True),
        ('ENTRYPOINT ["/bin/sh", "-e", "node server.js"]', False),
        ("CMD node server.js", False),
    ],
)
def test_shell_form_starts_what_it_says(lines, same):
    built = build(f"FROM {FREE}/node\n{lines}\n")

    assert starts(built.final, Files(built, {}), [["node", "server.js"]]) is same


def test_scratch_may_be_the_image_that_is_wanted():
    asked = {"final_images": {"scratch": 1.0, f"{FREE}/static:latest": 1.0}, "build_images": []}
    found = answer(f"FROM {FREE}/go AS b\nFROM scratch\nCOPY --from=b /x /x\nUSER 1\n", **asked)

    assert (final_image(found), migrated(found), final_image_exists(found)) == (1.0, 1.0, True)
    assert no_shell(found)


@pytest.mark.parametrize(
    ("base", "there"),
    [
        (f"{FREE}/python:latest", True),
        (f"{FREE}/python:latest-dev", True),
        (f"{FREE}/node", True),
        (f"{FREE}/node:20", False),
        (f"{FREE}/python:latest{DIGEST}", False),
        ("debian", True),
        ("", False),
    ],
)
def test_final_images_that_cannot_be_pulled(base, there):
    asked = {"final_images": {f"{FREE}/python:latest": 1.0}}

    assert final_image_exists(answer(f"FROM {base or '$x'}\n", **asked)) is there


def test_an_image_that_does_not_exist_is_not_built():
    found = edited("001", (":latest", ":3.12"))

    assert found.failure_modes == ("final_image_not_allowed",)
    assert found.score == pytest.approx(0.82 / 2)


@pytest.mark.parametrize(
    ("image", "fine"),
    [
        ("ghcr.io/astral-sh/uv:0.9", True),
        ("composer:2", True),
        ("library/composer", True),
        ("docker.io/library/composer:2", True),
        ("busybox", False),
    ],
)
def test_helpers_that_a_case_names_may_lend_files(image, fine):
    asked = {
        "helper_images": ["ghcr.io/astral-sh/uv", "docker.io/library/composer"],
        "final_images": {f"{FREE}/python:latest": 1.0},
    }

    assert build_images(answer(f"{PLAIN}COPY --from={image} /x /x\n", **asked)) == float(fine)
