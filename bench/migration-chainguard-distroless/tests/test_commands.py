# mypy: allow-untyped-defs, allow-untyped-calls
"""Commands: how they are parsed, what they need, and whether the image has it."""

import pytest
from _benchgate_bench.migration_chainguard_distroless.dockerfile.parser import parse
from _benchgate_bench.migration_chainguard_distroless.dockerfile.shell import (
    commands,
    packages_added,
    packages_deleted,
)
from _benchgate_bench.migration_chainguard_distroless.image.files import Files
from _benchgate_bench.migration_chainguard_distroless.image.python_packages import (
    sees_python_packages,
)
from _benchgate_bench.migration_chainguard_distroless.image.run_steps import (
    held_packages,
    installed,
    users_made,
)
from _benchgate_bench.migration_chainguard_distroless.image.runnable import (
    build_problems,
    programs,
    shells_copied,
    start_problems,
)
from _benchgate_bench.migration_chainguard_distroless.image.runtime import (
    is_root,
    starts,
    user_exists,
)
from _benchgate_bench.migration_chainguard_distroless.tests.support import FREE, build

PLAIN = f"FROM {FREE}/python:latest\n"
DEV = f"FROM {FREE}/python:latest-dev\nUSER root\n"
WOLFI = f"FROM {FREE}/wolfi-base\n"


def run(text):
    return commands(parse(f"FROM a\nRUN {text}\n")[1])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a b", (("a", "b"),)),
        ("a && b || c; d | e & f", (("a",), ("b",), ("c",), ("d",), ("e",), ("f",))),
        ("(a; b) && { c; }", (("a",), ("b",), ("c",))),
        ("/usr/bin/a -x", (("a", "-x"),)),
        ("X=1 Y=2 a", (("a",),)),
        ("X=1", ()),
        (
            "if a; then b; elif c; then d; else e; fi",
            (("a",), ("b",), ("c",), ("d",), ("e",), ("fi",)),
        ),
        ("while a; do b; done", (("a",), ("b",), ("done",))),
        ("sudo env X=1 exec time ! a", (("a",),)),
        ("a 'b && c' \"d; e\"", (("a", "b && c", "d; e"),)),
        ("a ${x:-(b)}", (("a", "${x:-(b)}"),)),
        ("a # b", (("a",),)),
        ("a it's", (("a", "it's"),)),
        ('["/bin/a", "b c"]', (("a", "b c"),)),
        ("<<E\na\nb c\nE", (("a",), ("b", "c"))),
        ("<<E bash\na\nE", (("a",),)),
        ("<<E /bin/sh\na\nE", (("a",),)),
        ("<<E\n#!/usr/bin/env python\nimport x\nE", ()),
        ("<<E\n#!/bin/bash\na\nE", (("a",),)),
        ("<<E cat > /x\napk add y\nE", (("cat", ">", "/x"),)),
        ("<<-E dash\na \\\n b\nE", (("a", "b"),)),
        ("<<E ash\na\nE", (("a",),)),
    ],
)
def test_the_text_of_a_run_is_cut_into_commands(text, found):
    assert run(text) == found


@pytest.mark.parametrize(
    ("words", "added", "deleted"),
    [
        ("apk add a b", ("a", "b"), ()),
        ("apk add --no-cache a=1.2 b~3 c>4 d<5 e@edge", ("a", "b", "c", "d", "e"), ()),
        ("apk add --virtual .deps a", ("a",), ()),
        ("apk add -t deps a", ("a",), ()),
        ("apk add -X https://x a", ("a",), ()),
        ("apk add --repository https://x a", ("a",), ()),
        ("apk --no-cache add a", ("a",), ()),
        ("apk -U add a", ("a",), ()),
        ("apk del a", (), ("a",)),
        ("apk --quiet del a", (), ("a",)),
        ("apk update", (), ()),
        ("apk info add", (), ()),
        ("apt add a", (), ()),
        ("other --x add a", (), ()),
        ("apk", (), ()),
    ],
)
def test_packages_are_read_off_apk(words, added, deleted):
    split = tuple(words.split())

    assert (packages_added(split), packages_deleted(split)) == (added, deleted)


def test_what_is_deleted_is_not_installed():
    final = build(
        WOLFI.replace("\n", " AS a\n") + "RUN apk add x y\nFROM a\nRUN apk add z && apk del x\n"
    ).final

    assert installed(final) == {"y", "z"}
    assert held_packages(final) == {"y", "z", "ca-certificates-bundle"}
    assert held_packages(build("FROM debian\n").final) == set()


def test_users_are_made_by_both_tools():
    final = build("FROM a\nRUN adduser -D one && useradd -r two\nRUN groupadd three\n").final

    assert users_made(final) == {"one", "two"}


@pytest.mark.parametrize(
    ("user", "root"),
    [
        ("", True), ("0", True), ("root", True), ("0:0", True), ("root:65532", True), ("00", True), ("65532", False),
        ("65532:0", False), ("nonroot", False), ("10", False), ("rooted", False), ("0" * 5000, True), ("\u00b2", False),
    ],
)  # fmt: skip
def test_root_has_many_names(user, root):
    assert is_root(user) is root


@pytest.mark.parametrize(
    ("text", "exists"),
    [
        (PLAIN, True),
        (PLAIN + "USER nonroot", True),
        (PLAIN + "USER nonroot:nonroot", True),
        (PLAIN + "USER node", False),
        (PLAIN + "USER 1234", True),
        (PLAIN + "USER root", True),
        (PLAIN + "USER \u00b2", False),
        (f"FROM {FREE}/node\nUSER nonroot", False),
        (f"FROM {FREE}/node\nUSER node", True),
        ("FROM debian\nUSER app", False),
        (WOLFI + "RUN adduser -D app\nUSER app", True),
        (WOLFI + "RUN adduser -D app\nUSER app2", False),
    ],
)
def test_a_user_with_a_name_must_have_been_made(text, exists):
    assert user_exists(build(text).final) is exists


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        (PLAIN + "RUN a", ["no sh"]),
        (PLAIN + 'RUN ["python", "-V"]', []),
        (DEV + "RUN a", []),
        (f"FROM {FREE}/node\nRUN a", []),
        ("FROM scratch\nRUN a", ["no sh"]),
        ("FROM debian\nRUN apt-get update && useradd x && apk add y", []),
        (DEV + "RUN apt-get update", ["no apt-get"]),
        (DEV + "RUN useradd x", ["no useradd"]),
        (DEV + "RUN apk add shadow && useradd x", []),
        (DEV + "RUN adduser x", []),
        (DEV + "USER 65532\nRUN apk add x", ["apk needs root"]),
        (DEV + "USER 65532\nRUN adduser x", ["adduser needs root"]),
        (DEV + "USER 65532\nRUN addgroup x", ["addgroup needs root"]),
        (f"FROM {FREE}/python:latest-dev\nRUN apk add x", ["apk needs root"]),
        (WOLFI + "RUN apk add x", []),
        (f"FROM {FREE}/jdk\nUSER root\nRUN apk add x", ["no apk"]),
        (f"FROM {FREE}/go\nRUN apk add x", ["no apk"]),
        (f"FROM {FREE}/something\nRUN a", []),
        (f"FROM {FREE}/something:latest-dev\nRUN apk add x", []),
        (DEV + 'SHELL ["/bin/bash", "-c"]\nRUN a', ["no bash"]),
        (DEV + 'RUN apk add bash\nSHELL ["/bin/bash", "-c"]\nRUN a', []),
        (DEV + 'SHELL ["/bin/bash", "-c"]\nRUN apk add bash', ["no bash"]),
        (f"FROM {FREE}/static\nCOPY --from=busybox /bin/sh /bin/sh\nRUN a", []),
        (PLAIN.replace("\n", " AS unused\n") + "RUN a\n" + PLAIN, []),
        (PLAIN.replace("\n", " AS used\n") + "RUN a\nFROM used\n", ["no sh", "no sh"]),
        *[(DEV + f"RUN {tool} x", [f"no {tool}"]) for tool in
          ("add-apt-repository", "apt", "apt-key", "dnf", "dpkg", "microdnf", "rpm", "yum")],
        *[(DEV + f"RUN {tool} x", [f"no {tool}"]) for tool in ("chpasswd", "groupadd", "usermod")],
    ],
)  # fmt: skip
def test_what_cannot_be_built_is_seen(text, problems):
    assert build_problems(build(text)) == problems


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        (PLAIN + 'CMD ["x"]', []),
        (PLAIN + "CMD x", ["no sh"]),
        (PLAIN + "ENTRYPOINT x", ["no sh"]),
        (PLAIN + "HEALTHCHECK CMD x", ["no sh"]),
        (PLAIN + 'HEALTHCHECK CMD ["x"]', []),
        (PLAIN + "HEALTHCHECK CMD", []),
        (PLAIN + 'HEALTHCHECK CMD ["curl", "x"]', ["no curl"]),
        (PLAIN + 'HEALTHCHECK CMD ["/usr/bin/wget", "x"]', ["no wget"]),
        (PLAIN + 'ENTRYPOINT ["/bin/bash", "x"]', ["no bash"]),
        (PLAIN + 'ENTRYPOINT ["busybox", "x"]', ["no busybox"]),
        (DEV + "CMD curl x", ["no curl"]),
        (DEV + "RUN apk add curl\nCMD curl x", []),
        (DEV + "CMD wget x", []),
        (DEV + "CMD x", []),
        (DEV + "CMD bash x", ["no bash"]),
        (f'FROM {FREE}/curl\nHEALTHCHECK CMD ["curl", "x"]', []),
        ("FROM debian\nCMD x", []),
        ("FROM scratch\nCMD x", ["no sh"]),
        ('FROM scratch\nHEALTHCHECK CMD ["curl"]', ["no curl"]),
        (PLAIN + 'COPY run.sh /run.sh\nENTRYPOINT ["/run.sh"]', ["no bash"]),
        (DEV + 'COPY run.sh /run.sh\nENTRYPOINT ["/run.sh"]', ["no bash"]),
        (DEV + 'RUN apk add bash\nCOPY run.sh /run.sh\nENTRYPOINT ["/run.sh"]', []),
        (DEV + 'WORKDIR /w\nCOPY run.sh .\nENTRYPOINT ["./run.sh"]', ["no bash"]),
        (PLAIN + 'COPY plain.sh /run.sh\nENTRYPOINT ["/run.sh"]', ["no sh"]),
        (DEV + 'COPY plain.sh /run.sh\nENTRYPOINT ["/run.sh"]', []),
        (PLAIN + 'COPY run.py /run.py\nENTRYPOINT ["/run.py"]', []),
        (PLAIN + 'SHELL ["/usr/bin/python", "-c"]\nCMD x', []),
        (PLAIN + "COPY --from=busybox /bin/busybox /bin/sh\nCMD x", []),
    ],
)
def test_what_cannot_start_is_seen(text, problems):
    context = {
        "run.sh": "#!/usr/bin/env bash\n",
        "plain.sh": "#! /bin/sh -e\n",
        "run.py": "#!/usr/bin/python\n",
    }
    found = build(text)

    assert start_problems(found.final, Files(found, context)) == problems


@pytest.mark.parametrize(
    ("lines", "shells"),
    [
        ("COPY a /b", set()),
        ("COPY --from=busybox /bin/busybox /x", {"busybox"}),
        ("COPY --from=busybox /bin/busybox /bin/sh", {"busybox", "sh"}),
        ("COPY tool /bin/bash", {"bash"}),
        ("ADD tool /bin/zsh", {"zsh"}),
        ("COPY --from=debian /bin/d?sh /x/", {"dash"}),
        ("COPY --from=debian /bin /bin", {"sh"}),
        ("COPY --from=debian /usr/bin/ /x/", {"sh"}),
        ("COPY --from=debian / /", {"sh"}),
        ("COPY --from=debian //usr//bin /x", {"sh"}),
        ("COPY --from=debian /x/.. /y", {"sh"}),
        ("COPY --from=debian /opt /opt", set()),
        ("COPY --from=plain / /", set()),
        ("COPY --from=wolfi / /", {"ash", "busybox", "sh"}),
        ("COPY --from=wolfi /usr /usr", {"ash", "busybox", "sh"}),
        ("COPY --from=again / /", {"ash", "busybox", "sh"}),
        ("COPY . /", set()),
        ("COPY / /", set()),
        ("RUN cp bash x", set()),
    ],
)
def test_shells_that_are_copied_are_seen(lines, shells):
    text = (
        f"FROM {FREE}/wolfi-base AS wolfi\nFROM {FREE}/static AS plain\nFROM {FREE}/static AS again\n"
        f"COPY --from=wolfi /bin /bin\nFROM {FREE}/static\n{lines}\n"
    )
    found = build(text)

    assert shells_copied(found.final, found) == shells


def test_shells_of_a_stage():
    def found(text):
        one = build(text)
        return programs(one.final, one)

    assert found("FROM debian\n") == {"sh"}
    assert found("FROM scratch\n") == set()
    assert found(PLAIN) == set()
    assert found(WOLFI) == {"ash", "busybox", "sh"}
    assert found(WOLFI + "RUN apk add bash dash zsh bash-binsh") == {
        "ash",
        "bash",
        "busybox",
        "dash",
        "sh",
        "zsh",
    }
    assert found(f"FROM {FREE}/static\nRUN apk add dash-binsh bash-binsh") == {"sh"}


def test_copies_in_a_circle_of_stages_come_to_an_end():
    double = "".join(
        f"FROM {FREE}/static AS s{n}\nCOPY --from=s{n - 1} / /a\nCOPY --from=s{n - 1} / /b\n"
        for n in range(1, 45)
    )
    found = build(f"FROM {FREE}/wolfi-base AS s0\n{double}")

    assert shells_copied(found.final, found) == {"ash", "busybox", "sh"}


@pytest.mark.parametrize(
    ("lines", "wanted", "same"),
    [
        ('CMD ["app.py"]', ["python", "/app.py"], True),
        ('CMD ["/app.py"]', ["python", "/app.py"], True),
        ('CMD ["app.py"]', ["python", "app.py"], True),
        ('CMD ["x/../app.py"]', ["python", "/app.py"], True),
        ('CMD ["/app.py"]', ["python", "app.py"], False),
        ('CMD ["app.py", "x"]', ["python", "/app.py"], False),
        ('CMD ["app.py"]', ["python", "/app.py", "x"], False),
        ('CMD ["python", "app.py"]', ["python", "/app.py"], False),
        ('WORKDIR /w\nCMD ["app.py"]', ["python", "/w/app.py"], True),
        ('WORKDIR /w\nCMD ["app.py"]', ["python", "/app.py"], False),
        ('ENTRYPOINT ["python"]', ["python"], True),
        ('ENTRYPOINT ["/usr/local/bin/python"]', ["python"], True),
        ('ENTRYPOINT ["/opt/python"]', ["python"], False),
        ('ENTRYPOINT ["/opt/python"]', ["/opt/python"], True),
        ('ENTRYPOINT ["opt/python"]', ["/opt/python"], True),
        ('ENTRYPOINT ["python"]', ["/python"], False),
        ('ENTRYPOINT ["./python"]', ["/python"], True),
        ('ENTRYPOINT ["python3"]', ["python"], False),
        ('COPY x /opt/python\nENTRYPOINT ["/opt/python"]', ["python"], True),
        ("ENTRYPOINT []", [], False),
        ("ENTRYPOINT []", ["python"], False),
    ],
)
def test_what_starts_is_compared_by_what_it_means(lines, wanted, same):
    found = build(PLAIN + lines)

    assert starts(found.final, Files(found, {"x": ""}), [wanted]) is same
    assert starts(found.final, Files(found, {"x": ""}), [["other"], wanted]) is same
    assert not starts(found.final, Files(found, {"x": ""}), [])


VENV = f"FROM {FREE}/python:latest-dev AS b\nRUN python -m venv /v && /v/bin/pip install x\n{PLAIN}"
PIP = f"FROM {FREE}/python:latest-dev AS b\nRUN %s\n{PLAIN}"


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        (VENV + 'COPY --from=b /v /v\nENTRYPOINT ["/v/bin/python", "x"]', True),
        (VENV + 'COPY --from=b /v /v\nCMD ["x"]', False),
        (VENV + 'ENTRYPOINT ["/v/bin/python", "x"]', False),
        (VENV + 'COPY --from=b /v /v\nENV PATH=/v/bin:$PATH\nENTRYPOINT ["python"]', True),
        (VENV + 'COPY --from=b /v /v\nENV PATH=/v/bin:$PATH\nCMD ["x"]', False),
        (VENV + 'COPY --from=b /v /v\nENV PATH=/w/bin:$PATH\nENTRYPOINT ["python"]', False),
        (VENV + 'COPY --from=b /v /w\nENTRYPOINT ["/w/bin/python"]', True),
        (VENV + 'COPY --from=b /v /w\nENTRYPOINT ["/w/bin/gunicorn"]', False),
        (VENV + 'COPY --from=b /v /w\nENTRYPOINT ["/v/bin/python"]', False),
        (VENV + 'COPY --from=b / /w/\nENTRYPOINT ["/w/v/bin/python"]', True),
        (VENV + "COPY --from=b /v /v\nENV PYTHONPATH=/v/lib/python3.13/site-packages", True),
        (
            VENV.replace("python -m venv", "virtualenv")
            + 'COPY --from=b /v /v\nENTRYPOINT ["/v/bin/gunicorn"]',
            True,
        ),
        (PIP % "pip install --target /p x" + "COPY --from=b /p /p\nENV PYTHONPATH=/p", True),
        (PIP % "pip install --target /p x" + "COPY --from=b /p /p\nENV PYTHONPATH=/q:/p", True),
        (PIP % "pip install --target /p x" + "COPY --from=b /p /p\nENV PYTHONPATH=/pq", False),
        (PIP % "pip install --target /p x" + "COPY --from=b /p /p\nENV PYTHONPATH=p", False),
        (PIP % "pip install --target /p x" + "COPY --from=b /p /p", False),
        (
            PIP % "pip install --user x"
            + "COPY --from=b /home/nonroot/.local /home/nonroot/.local",
            True,
        ),
        (
            PIP % "python3 -m pip install --user x"
            + "COPY --from=b /home/nonroot/.local /home/nonroot/.local",
            True,
        ),
        (
            PIP % "pip3 install --user x"
            + "WORKDIR /home/nonroot\nCOPY --from=b /home/nonroot/.local .local",
            True,
        ),
        (PIP % "pip download x" + "COPY --from=b /home/nonroot/.local /home/nonroot/.local", False),
        (
            PIP % "pip install x" + "COPY --from=b /usr/lib/x /usr/lib/python3.13/site-packages/",
            False,
        ),
        (
            PIP % "pip install x"
            + "COPY --from=b /usr/lib/python3.13/site-packages /usr/lib/python3.13/site-packages/",
            True,
        ),
        (
            PIP % "pip install --prefix=/i x"
            + "COPY --from=b /i/lib/python3.13/site-packages /usr/lib/python3.13/site-packages",
            True,
        ),
        (PIP % "pip install --prefix /i x" + "COPY --from=b /i /usr/", True),
        (PIP % "pip install --prefix /i x" + "COPY --from=b /i /usr/local", False),
        (
            PIP % "pip install --prefix /i x"
            + "ENV PYTHONPATH=/usr/local/lib/python3.13/site-packages\nCOPY --from=b /i /usr/local",
            True,
        ),
        (PIP % "true" + "COPY --from=b /usr/lib/x /usr/lib/python3.13/site-packages/", False),
        (
            PIP % "pip install x" + "COPY --from=c /usr/lib/x /usr/lib/python3.13/site-packages/",
            False,
        ),
        (DEV + "RUN pip install x", True),
        (DEV + "RUN pip list", False),
        (DEV + "RUN true\nENTRYPOINT []", False),
    ],
)
def test_packages_of_python_have_to_be_in_reach(text, seen):
    found = build(text)

    assert sees_python_packages(found.final, Files(found, {})) is seen
