# mypy: allow-untyped-defs, allow-untyped-calls
"""Each axis alone: what moves it, how far, and what does not."""

import pytest
from _benchgate_bench.migration_chainguard_distroless import axes
from _benchgate_bench.migration_chainguard_distroless.tests.support import FREE, answer

PLAIN = f"FROM {FREE}/python:latest\n"
DIGEST = "@sha256:" + "0" * 64


@pytest.mark.parametrize(
    ("base", "credit"),
    [
        (f"{FREE}/python:latest", 1.0),
        (f"{FREE}/python", 1.0),
        (f"{FREE}/python:latest-dev", 0.5),
        (f"{FREE}/python:3.12", 0.0),
        (f"{FREE}/python:latest{DIGEST}", 0.0),
        ("python:latest", 0.0),
        ("scratch", 0.0),
        ("$nothing", 0.0),
    ],
)
def test_final_image(base, credit):
    allowed = {f"{FREE}/python:latest": 1.0, f"{FREE}/python:latest-dev": 0.5}

    assert axes.final_image(answer(f"FROM {base}\n", final_images=allowed)) == credit
    assert axes.final_image(answer(f"FROM {base} AS x\nFROM x\n", final_images=allowed)) == credit
    assert axes.final_image(answer(f"FROM {base}\nFROM debian\n", final_images=allowed)) == 0.0


@pytest.mark.parametrize(
    ("text", "free", "share"),
    [
        (PLAIN, True, 1.0),
        (f"FROM {FREE}/go:latest-dev\n{PLAIN}COPY --from=0 /a /b", True, 1.0),
        (f"FROM {FREE}/go\n{PLAIN}COPY --from=0 /a /b", True, 1.0),
        (f"FROM {FREE}/go:1.22\n{PLAIN}COPY --from=0 /a /b", True, 0.0),
        (f"FROM {FREE}/go:1.22\n{PLAIN}COPY --from=0 /a /b", False, 1.0),
        (f"FROM {FREE}/go:latest{DIGEST}\n{PLAIN}COPY --from=0 /a /b", False, 0.0),
        (f"FROM {FREE}/rust\n{PLAIN}COPY --from=0 /a /b", True, 1.0),
        (f"FROM {FREE}/rust:1\n{PLAIN}COPY --from=0 /a /b", True, 0.0),
        (f"FROM {FREE}/something\n{PLAIN}COPY --from=0 /a /b", True, 0.0),
        (f"FROM cgr.dev/other/rust\n{PLAIN}COPY --from=0 /a /b", True, 0.0),
        (f"FROM golang\n{PLAIN}COPY --from=0 /a /b", True, 0.0),
        (f"FROM $x\n{PLAIN}COPY --from=0 /a /b", True, 0.0),
        (f"FROM golang\n{PLAIN}", True, 1.0),
        (f"FROM scratch\n{PLAIN}COPY --from=0 /a /b", True, 1.0),
        (f"FROM golang AS a\nFROM {FREE}/go AS b\nCOPY --from=a /x /y\n{PLAIN}COPY --from=b /x /y", True, 0.5),
        (f"{PLAIN}COPY --from={FREE}/go /a /b", True, 1.0),
        (f"{PLAIN}COPY --from=busybox /a /b", True, 0.0),
        (f"{PLAIN}COPY --from=7 /a /b", True, 0.0),
        (f"FROM {FREE}/python AS base\nFROM base\n", True, 1.0),
    ],
)  # fmt: skip
def test_build_images(text, free, share):
    assert axes.build_images(answer(text, build_images=[f"{FREE}/go"], free_tags=free)) == share


@pytest.mark.parametrize(
    ("text", "share"),
    [
        (PLAIN, 1.0), ("FROM python\n", 0.0), ("FROM scratch\n", 0.0), (f"FROM a\n{PLAIN}", 1.0),
        (f"FROM a\n{PLAIN}COPY --from=0 /x /y", 0.5), (f"FROM a AS b\n{PLAIN}FROM b", 0.0),
        (f"FROM {FREE}/python AS a\nFROM a\n", 1.0), ("FROM $x\n", 0.0),
    ],
)  # fmt: skip
def test_migrated_is_the_share_of_images_that_are_needed(text, share):
    assert axes.migrated(answer(text)) == share


@pytest.mark.parametrize(
    ("lines", "asked", "right"),
    [
        ("", {}, True),
        ("USER nonroot", {}, True),
        ("USER 0", {}, False),
        ("USER 0", {"root_allowed": True}, True),
        ("USER nobody", {}, False),
        ("USER 70", {"users": ["70"]}, True),
        ("USER 70:70", {"users": ["70"]}, True),
        ("USER 71", {"users": ["70"]}, False),
        ("USER nobody", {"users": ["nobody"]}, False),
        ("USER 71", {"users": ["70"], "root_allowed": True}, False),
        ("USER 0", {"users": ["70"]}, False),
    ],
)
def test_user(lines, asked, right):
    assert axes.right_user(answer(PLAIN + lines, **asked)) is right


def test_files_carried_is_a_share():
    text = PLAIN + "COPY a b /x/\n"
    context = {"a": "", "b": ""}

    assert axes.files_carried(answer(text, context)) == 1.0
    assert axes.files_carried(answer(text, context, files=["/x/a", "/x/b"])) == 1.0
    assert axes.files_carried(answer(text, context, files=["/x/a", "/x/c"])) == 0.5
    assert axes.files_carried(answer(text, context, files=["/x/c"])) == 0.0
    assert axes.files_carried(answer(text, context, files=["/x/a"], python_packages=True)) == 0.5


def test_commands_that_cannot_run_while_building_or_afterwards():
    assert axes.problems(answer(PLAIN)) == []
    assert axes.problems(answer(PLAIN + "RUN a\nCMD b\n")) == ["no sh", "no sh"]


@pytest.mark.parametrize(
    ("lines", "share"),
    [
        ("RUN apk add libpq xz", 1.0),
        ("RUN apk add postgresql xz", 1.0),
        ("RUN apk add xz", 0.5),
        ("", 0.0),
        ("COPY --from=b /usr/lib/libpq.so.5 /usr/lib/", 0.5),
        ("ADD /usr/lib/libpq.so.5 /usr/lib/", 0.0),
        ("COPY x /usr/lib/libpq.so.5", 0.0),
    ],
)
def test_packages(lines, share):
    needs = [{"any_of": ["libpq", "postgresql"], "files": ["libpq.so"]}, {"any_of": ["xz"]}]

    assert axes.packages(answer(f"FROM {FREE}/wolfi-base\n{lines}\n", packages=needs)) == share


def test_packages_of_the_image_count():
    needs = [{"any_of": ["tzdata"]}]

    assert axes.packages(answer(f"FROM {FREE}/static\n", packages=needs)) == 1.0
    assert axes.packages(answer(PLAIN, packages=needs)) == 0.0
    assert axes.packages(answer(PLAIN)) == 1.0


@pytest.mark.parametrize(
    ("lines", "conf", "share"),
    [
        ("EXPOSE 8080\nCOPY c /c", "listen 8080;", 1.0),
        ("EXPOSE 8080/tcp\nCOPY c /c", "listen 8080;", 1.0),
        ("EXPOSE 80\nCOPY c /c", "listen 8080;", 0.5),
        ("EXPOSE 80 8080\nCOPY c /c", "listen 8080;", 0.5),
        ("COPY c /c", "listen 8080;", 0.5),
        ("EXPOSE 8080\nCOPY c /c", "listen 8080; listen 80;", 0.5),
        ("EXPOSE 8080\nCOPY c /c", "", 0.5),
        ("EXPOSE 8080", "listen 8080;", 0.5),
        ("EXPOSE 80\nCOPY c /c", "listen 80;", 0.0),
    ],
)
def test_ports(lines, conf, share):
    rules = [{"path": "/c", "must": ["listen 8080"], "must_not": ["listen 80;"]}]

    assert axes.ports(answer(PLAIN + lines, {"c": conf}, ports=["8080"], port_rules=rules)) == share


def test_no_ports_are_asked_for_and_none_exposed():
    assert axes.ports(answer(PLAIN)) == 1.0
    assert axes.ports(answer(PLAIN + "EXPOSE 1")) == 0.0


@pytest.mark.parametrize(
    ("lines", "wanted", "credit"),
    [
        ("", None, 1.0), ("HEALTHCHECK CMD x", None, 1.0), ("", "health", 0.5), ("HEALTHCHECK NONE", "health", 0.5),
        ('HEALTHCHECK CMD ["python", "health.py"]', "health", 1.0), ('HEALTHCHECK CMD ["true"]', "health", 0.0),
        ('HEALTHCHECK CMD ["python", "a"]', "python a", 1.0),
    ],
)  # fmt: skip
def test_healthcheck(lines, wanted, credit):
    assert axes.HALF_CHECK == 0.5
    assert axes.healthcheck(answer(PLAIN + lines, healthcheck=wanted)) == credit


def test_settings_kept():
    asked = {
        "env": {"A": "1", "B": "2"},
        "platforms": ["$P"],
        "file_rules": [{"path": "/c", "must": ["x"]}],
    }
    full = f"FROM --platform=$P {FREE}/python\nENV A=1 B=2\nCOPY c /c\n"

    assert axes.settings_kept(answer(full, {"c": "x"}, **asked)) == 1.0
    assert axes.settings_kept(answer(full, {"c": "y"}, **asked)) == 0.75
    assert axes.settings_kept(answer(full.replace("$P", "$Q"), {"c": "x"}, **asked)) == 0.75
    assert axes.settings_kept(answer(full.replace("B=2", "B=3"), {"c": "x"}, **asked)) == 0.75
    assert axes.settings_kept(answer(full.replace(" B=2", ""), {"c": "x"}, **asked)) == 0.75
    assert axes.settings_kept(answer(PLAIN, **asked)) == 0.0
    assert axes.settings_kept(answer(PLAIN)) == 1.0


@pytest.mark.parametrize(
    ("text", "free_of_shells"),
    [
        (PLAIN, True),
        (f"FROM {FREE}/node\n", True),
        (f"FROM {FREE}/ruby:latest-dev\n", True),
        (f"FROM {FREE}/jdk\n", False),
        (f"FROM {FREE}/python:latest-dev\n", False),
        (f"FROM {FREE}/wolfi-base\n", False),
        ("FROM debian\n", False),
        ("FROM scratch\n", True),
        (f"FROM {FREE}/something\n", True),
        (f"FROM {FREE}/something:latest-dev\n", False),
        (f"FROM {FREE}/node\nRUN apk add bash\n", False),
        (f"FROM {FREE}/node\nRUN apk add apk-tools\n", False),
        (f"FROM {FREE}/node\nRUN apk add bash && apk del bash\n", True),
        (f"FROM {FREE}/node\nRUN apk add curl\n", True),
        (f"FROM {FREE}/node\nCOPY --from=busybox /bin/sh /bin/sh\n", False),
    ],
)
def test_no_shell(text, free_of_shells):
    allowed = {f"{FREE}/python:latest": 1.0, f"{FREE}/python:latest-dev": 0.5, f"{FREE}/node:latest": 1.0,
               f"{FREE}/ruby:latest-dev": 1.0}  # fmt: skip

    assert axes.no_shell(answer(text, final_images=allowed)) is free_of_shells
    assert axes.no_shell(answer(text, final_images=allowed, shell_needed=True))


def test_needless_packages():
    text = f"FROM {FREE}/wolfi-base AS b\nRUN apk add one\nFROM {FREE}/wolfi-base\nRUN apk add a b c d && apk del d\n"
    asked = {"packages": [{"any_of": ["a", "x"]}], "packages_allowed": ["b"]}

    assert axes.needless_packages(answer(text, **asked)) == {"c"}
    assert axes.needless_packages(answer(text)) == {"a", "b", "c"}


def test_left_over():
    text = "FROM a AS s\nCOPY . /s\n" + PLAIN + "COPY --from=s /s/src /src\n"
    context = {"src/a": "", "src/b": "", "c": ""}

    assert axes.left_over(answer(text, context, unneeded=["src/a", "c"])) == {"src/a"}
    assert axes.left_over(answer(text, context)) == set()


def test_unknown_packages_in_any_stage_that_is_built():
    text = (
        "FROM a AS s\nRUN apk add one\nFROM a AS u\nRUN apk add two\n"
        + PLAIN
        + "RUN apk add three\nCOPY --from=s /a /b\n"
    )

    assert axes.unknown_packages(answer(text, not_packages=["one", "two", "three"])) == {
        "one",
        "three",
    }
    assert axes.unknown_packages(answer(text, not_packages=["four"])) == set()


def test_every_axis_is_there_and_a_perfect_answer_has_them_all():
    found = axes.axes(
        answer(
            PLAIN + 'CMD ["a"]', final_images={f"{FREE}/python:latest": 1}, argv=[["python", "a"]]
        )
    )

    assert found == dict.fromkeys(
        ["final_image", "build_images", "argv", "user", "files_carried", "commands_can_run", "packages", "ports",
         "healthcheck", "settings_kept", "no_shell", "no_needless_package", "nothing_left_over", "packages_known"], 1.0,
    )  # fmt: skip


def test_every_axis_of_a_hopeless_answer_is_0():
    text = (
        f"FROM golang AS b\nRUN x\nFROM {FREE}/python:latest-dev\nUSER root\nRUN apk add bad && yum x\nCOPY s /s\n"
        'EXPOSE 1\nHEALTHCHECK CMD ["x"]\nCOPY --from=b /x /y\nCMD z\n'
    )
    found = axes.axes(
        answer(
            text, {"s": ""}, argv=[["python"]], files=["/n"], packages=[{"any_of": ["n"]}], healthcheck="health",
            env={"A": "1"}, unneeded=["s"], not_packages=["bad"],
        )
    )  # fmt: skip

    assert set(found.values()) == {0.0}
