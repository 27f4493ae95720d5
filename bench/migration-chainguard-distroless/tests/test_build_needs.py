# mypy: allow-untyped-defs, allow-untyped-calls
"""What steps of a build need: sources, users, programs, packages, and the files that tools read."""

import pytest
from _benchgate_bench.migration_chainguard_distroless.image.absent_packages import ABSENT
from _benchgate_bench.migration_chainguard_distroless.image.base_images import FACTS
from _benchgate_bench.migration_chainguard_distroless.image.build_needs import (
    PROVIDERS,
    READS,
    missing,
)
from _benchgate_bench.migration_chainguard_distroless.image.files import Files
from _benchgate_bench.migration_chainguard_distroless.tests.support import FREE, build

DEV = f"FROM {FREE}/%s:latest-dev\nUSER root\n"
PLAIN = f"FROM {FREE}/python:latest\n"


def needs(text, *context, absent=()):
    built = build(text)
    return list(missing(built, Files(built, dict.fromkeys(context, "")), frozenset(absent)))


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("COPY a /a", None),
        ("COPY b /a", "b is not in the context"),
        ("COPY ./a /a", None),
        ("COPY /a /a", None),
        ("COPY . /a", None),
        ("COPY d /a", None),
        ("COPY d/ /a", None),
        ("COPY d/e /a", None),
        ("COPY d/x /a", "d/x is not in the context"),
        ("COPY b* /a", None),
        ("ADD https://x.org/b /a", None),
        ("ADD git@x.org:b /a", None),
        ("ADD b /a", "b is not in the context"),
        ("COPY <<E /a\nb\nE", None),
        ("COPY a b /a/", "b is not in the context"),
        ("COPY --from=busybox /b /a", None),
        ("COPY --chown=nobody a /a", "no user nobody"),
        ("COPY --chown=nonroot:nonroot a /a", None),
        ("COPY --chown=1:2 a /a", None),
        ("COPY --chown=root a /a", None),
        ("ARG U\nCOPY --chown=$U a /a", None),
    ],
)
def test_sources_of_copies_are_there(line, problem):
    assert needs(PLAIN + line + "\n", "a", "d/e") == ([problem] if problem else [])


@pytest.mark.parametrize(
    ("made", "source", "there"),
    [
        ("COPY a /app/", "/app/a", True),
        ("COPY a /app/", "/app/b", False),
        ("COPY a /app/", "/app", True),
        ("RUN x /app/b", "/app/b", True),
        ("RUN mkdir /out", "/out", True),
        ("", "/out", False),
        ("", "/usr/lib/x", True),
        ("WORKDIR /app", "/app", True),
        ("WORKDIR /app\nRUN make", "/app/b", True),
        ("WORKDIR /app\nRUN apk add x", "/app/b", False),
    ],
)
def test_sources_in_a_stage_are_there(made, source, there):
    text = f"{DEV % 'python'}{made}\n{PLAIN}COPY --from=0 {source} /x\n".replace(
        "-dev\n", "-dev AS b\n", 1
    )

    assert needs(text, "a") == ([] if there else [f"{source} is not in the stage"])


@pytest.mark.parametrize("tool", PROVIDERS)
def test_each_tool_is_brought_by_each_of_its_images_and_packages_alone(tool):
    for owner in PROVIDERS[tool]:
        name = owner.replace("*", "1")
        assert needs(f"FROM {FREE}/wolfi-base\nRUN apk add {name} && {tool} --version\n") == []
    assert needs(f"FROM {FREE}/wolfi-base\nRUN {tool} --version\n") == [f"no {tool}"]
    assert (
        needs(f"FROM {FREE}/wolfi-base\nCOPY --from=x /y/{tool} /bin/\nRUN {tool} --version\n")
        == []
    )
    assert needs(f"FROM {FREE}/wolfi-base\nCOPY --from=x /usr /usr\nRUN {tool} --version\n") == []
    assert needs(f"FROM {FREE}/wolfi-base\nRUN /opt/{tool} --version\n") == []
    assert needs(f"FROM debian\nRUN {tool} --version\n") == []


@pytest.mark.parametrize(
    ("image", "tool"),
    [
        ("node", "pip"),
        ("python", "npm"),
        ("go", "mvn"),
        ("maven", "go"),
        ("python", "uv"),
        ("jdk", "mvn"),
        ("static", "go"),
    ],
)
def test_images_have_their_own_tools_alone(image, tool):
    assert needs(f"{DEV % image}RUN {tool} --version\n") == [f"no {tool}"]


def test_a_language_brings_tools_of_its_own():
    assert (
        needs(f"{DEV % 'python'}RUN pip install uv poetry && uv --version && poetry --version\n")
        == []
    )
    assert needs(f"{DEV % 'python'}RUN uv --version\n") == ["no uv"]


def test_what_is_unknown_is_not_missing():
    assert needs(f"{DEV % 'python'}RUN some-tool --version\n") == []
    assert needs(f"FROM {FREE}/something-else\nRUN npm ci\n") == []


@pytest.mark.parametrize(
    ("name", "tool"),
    [
        ("dotnet-9-sdk", "dotnet"), ("openjdk-21", "java"), ("openjdk-21", "javac"), ("maven-3.9", "mvn"),
        ("gradle-8", "gradle"), ("ruby-3.4", "bundle"), ("go-1.25", "go"), ("rust-1.82", "cargo"),
        ("nodejs-22", "npm"), ("php-8.3", "php"), ("python-3.13", "python"), ("py3.13-pip", "pip"),
        ("py3-poetry", "poetry"), ("build-base", "gcc"),
    ],
)  # fmt: skip
def test_packages_with_a_version_bring_their_programs(name, tool):
    lines = f"FROM {FREE}/wolfi-base\nRUN %s{tool} --version\n"

    assert needs(lines % f"apk add {name} && ") == []
    assert needs(lines % "") == [f"no {tool}"]


@pytest.mark.parametrize("words", READS)
def test_each_tool_finds_what_it_reads(words):
    tool = " ".join(words)
    lines = f"FROM {FREE}/%s\nWORKDIR /w\nCOPY . /%s\nRUN {tool} x\n"
    image = next((name for name in PROVIDERS[words[0]] if name in FACTS), "uv")
    image = f"{image}:latest-dev" if image not in ("uv", "poetry") else "something"
    for name in READS[words]:
        wanted = name.replace("*", "x")
        if image == "something":
            continue
        assert needs(lines % (image, "w"), wanted) == []
        assert needs(lines % (image, "elsewhere"), wanted) == [f"{tool} finds no {READS[words][0]}"]


def test_inputs_may_be_mounted_made_or_asked_for_elsewhere():
    node = f"{DEV % 'node'}WORKDIR /w\n"

    assert needs(f"{node}RUN --mount=type=bind,target=. npm ci\n", "package.json") == []
    assert needs(f"{node}RUN --mount=type=cache,target=/c npm ci\n") != []
    assert (
        needs(f"{node}COPY package-lock.json /x/\nRUN cd /x && npm ci\n", "package-lock.json") == []
    )
    assert needs(f"{node}RUN npm ci\nCOPY package-lock.json ./\n", "package-lock.json") != []
    assert needs(f"{DEV % 'maven'}WORKDIR /w\nRUN mvn -f /x/pom.xml package\n") == []
    assert needs("FROM node\nRUN npm ci\n") == []


@pytest.mark.parametrize(
    ("lines", "fine"),
    [
        ("COPY r.txt /app/\nRUN pip install -r r.txt", True),
        ("RUN pip install -r r.txt", False),
        ("RUN pip install -r /tmp/r.txt", True),
        ("RUN echo x > r.txt && pip install -r r.txt", True),
        ("RUN pip3 install -r other.txt", False),
        ("RUN python -m build -r x", True),
    ],
)
def test_requirements_are_there(lines, fine):
    assert (needs(f"{DEV % 'python'}WORKDIR /app\n{lines}\n", "r.txt") == []) is fine


@pytest.mark.parametrize(
    "name",
    ["build-essential", "dnsutils", "libpq-dev", "musl-dev", "xz-utils", "g++"],
)
def test_names_of_other_distributions_are_not_found(name):
    assert name in ABSENT
    assert needs(f"FROM {FREE}/wolfi-base\nRUN apk add --no-cache curl {name}\n") == [
        f"no package {name}"
    ]


def test_packages_are_looked_up_by_name():
    assert not ABSENT & {
        "bash",
        "bind-tools",
        "build-base",
        "curl",
        "gcc",
        "jq",
        "libpq",
        "rsync",
        "tini",
        "xz",
    }
    assert needs(f"FROM {FREE}/wolfi-base\nRUN apk add own\n", absent=["own"]) == ["no package own"]
    assert needs(f"FROM {FREE}/wolfi-base\nARG P='curl dnsutils'\nRUN apk add $P\n") == [
        "no package dnsutils"
    ]
    assert needs(f"FROM {FREE}/wolfi-base\nRUN echo apk add dnsutils\n") == []


@pytest.mark.parametrize(
    ("line", "problems"),
    [
        ("RUN chown -R api:api /a", ["no user api"]),
        ("RUN chown nonroot /a", []),
        ("RUN chown 1:1 /a", []),
        ("RUN chown root:x /a", []),
        ("RUN adduser -D api && chown api /a", []),
        ("RUN chown -R $OWNER /a", []),
    ],
)
def test_files_are_given_to_users_that_exist(line, problems):
    assert needs(f"{DEV % 'python'}{line}\n") == problems


def test_stages_that_are_not_built_need_nothing():
    assert needs(f"{DEV % 'node'}RUN pip list\n{PLAIN}") == []
