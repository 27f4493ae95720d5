# mypy: allow-untyped-defs, allow-untyped-calls
"""Docker's rules for making one configuration of many instructions."""

import pytest
from _benchgate_bench.migration_chainguard_distroless.dockerfile.expand import MAX_VALUE, expand
from _benchgate_bench.migration_chainguard_distroless.dockerfile.instruction import Refused
from _benchgate_bench.migration_chainguard_distroless.image.base_images import (
    FACTS,
    Reference,
    facts_of,
)
from _benchgate_bench.migration_chainguard_distroless.image.config import Command
from _benchgate_bench.migration_chainguard_distroless.image.stages import borrowed
from _benchgate_bench.migration_chainguard_distroless.tests.support import FREE, build

PYTHON = f"FROM {FREE}/python:latest\n"
OTHER = "FROM debian\n"


def final(text):
    return build(text).final


def argv(text):
    return final(text).config.argv


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (PYTHON, ("/usr/bin/python",)),
        (PYTHON + 'CMD ["app.py"]', ("/usr/bin/python", "app.py")),
        (PYTHON + 'CMD ["python", "app.py"]', ("/usr/bin/python", "python", "app.py")),
        (PYTHON + 'ENTRYPOINT ["python", "app.py"]', ("python", "app.py")),
        (PYTHON + 'ENTRYPOINT []\nCMD ["python", "app.py"]', ("python", "app.py")),
        (PYTHON + 'CMD ["python", "app.py"]\nENTRYPOINT []', ("python", "app.py")),
        (f"FROM {FREE}/ruby\n", ("/usr/bin/ruby", "--version")),
        (f"FROM {FREE}/ruby\n" + 'ENTRYPOINT ["ruby"]', ("ruby",)),
        (f"FROM {FREE}/ruby\n" + 'ENTRYPOINT ["ruby"]\nCMD ["x"]', ("ruby", "x")),
        (f"FROM {FREE}/ruby\n" + 'CMD ["x"]\nENTRYPOINT ["ruby"]', ("ruby", "x")),
        (f"FROM {FREE}/ruby\n" + "CMD []", ("/usr/bin/ruby",)),
        (OTHER + "CMD a b", ("/bin/sh", "-c", "a b")),
        (OTHER + "ENTRYPOINT a b\nCMD c", ("/bin/sh", "-c", "a b")),
        (OTHER + 'SHELL ["/bin/bash", "-lc"]\nCMD a b', ("/bin/bash", "-lc", "a b")),
        (OTHER + 'CMD a\nSHELL ["/bin/bash", "-lc"]', ("/bin/sh", "-c", "a")),
        (OTHER + 'CMD ["a"]\nCMD ["b"]', ("b",)),
        (OTHER, ()),
    ],
)
def test_entrypoint_and_command_after_the_image(text, found):
    assert argv(text) == found


def test_a_command_of_the_parent_stage_does_not_outlive_a_new_entrypoint():
    base = 'FROM debian AS base\nENTRYPOINT ["a"]\nCMD ["b"]\n'

    assert argv(base + "FROM base\n") == ("a", "b")
    assert argv(base + 'FROM base\nCMD ["c"]') == ("a", "c")
    assert argv(base + 'FROM base\nENTRYPOINT ["d"]') == ("d",)
    assert argv(base + 'FROM base\nCMD ["c"]\nENTRYPOINT ["d"]') == ("d", "c")


def test_a_stage_hands_on_all_but_its_arguments():
    text = (
        "FROM debian AS base\nARG A=1\nENV B=2\nUSER x\nWORKDIR /w\nEXPOSE 1\nVOLUME /v\nHEALTHCHECK CMD h\n"
        "FROM base\nENV C=$A-$B\nWORKDIR y\nEXPOSE 2/tcp 3/UDP\nVOLUME /u\n"
    )
    config = final(text).config

    assert dict(config.env) == {"B": "2", "C": "-2"}
    assert (config.user, config.workdir) == ("x", "/w/y")
    assert config.ports == {"1", "2", "3/udp"}
    assert config.volumes == {"/v", "/u"}
    assert config.healthcheck == Command(("/bin/sh", "-c", "h"), shell_form=True)
    assert config.args == {}


def test_what_the_images_bring_is_where_a_stage_begins():
    node = final(f"FROM {FREE}/node\nWORKDIR src\n").config
    aspnet = final(f"FROM {FREE}/aspnet-runtime\n").config

    assert (node.user, node.workdir) == ("65532", "/app/src")
    assert aspnet.env == {"ASPNETCORE_HTTP_PORTS": "8080"}
    assert (final(OTHER).config.user, final(OTHER).config.workdir) == ("", "/")


@pytest.mark.parametrize(
    ("lines", "workdir"),
    [("WORKDIR /a", "/a"), ("WORKDIR /a\nWORKDIR b", "/a/b"), ("WORKDIR /a\nWORKDIR ../c", "/c"),
     ("ENV D=/x\nWORKDIR $D/y", "/x/y"), ("WORKDIR a", "/a")],
)  # fmt: skip
def test_working_folders_add_up(lines, workdir):
    assert final(OTHER + lines).config.workdir == workdir


def test_the_last_user_and_the_last_check_count():
    text = OTHER + 'USER 1\nUSER 0\nHEALTHCHECK CMD ["a"]\nHEALTHCHECK none\n'

    assert final(text).config.user == "0"
    assert final(text).config.healthcheck is None
    assert final(text + 'HEALTHCHECK --timeout=3s CMD ["b"]').config.healthcheck == Command(("b",))
    assert final(text).config.commands == (Command(()), Command(()))


@pytest.mark.parametrize(
    ("text", "base"),
    [
        ("ARG T=1\nFROM a:$T\n", "a:1"),
        ("ARG T=1\nFROM a:${T}-x\n", "a:1-x"),
        ("ARG T\nFROM a:${T:-2}\n", "a:2"),
        ("ARG T=\nFROM a:${T:-2}\n", "a:2"),
        ("ARG T=\nFROM a:${T-2}\n", "a:"),
        ("FROM a:${T:-2}\n", "a:2"),
        ("ARG T=1\nFROM a${T:+-b}\n", "a-b"),
        ("ARG T=\nFROM a${T:+-b}\n", "a"),
        ("ARG T=1\nARG I=a:$T\nFROM $I\n", "a:1"),
        ("ARG T=1 I=a:$T\nFROM $I\n", "a:1"),
        ("FROM x\nARG T=1\nFROM a:${T:-2}\n", "a:2"),
    ],
)
def test_global_arguments_choose_the_image(text, base):
    assert final(text).base == base


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("ARG A=1\nFROM x\nENV V=$A", ""),
        ("ARG A=1\nFROM x\nARG A\nENV V=$A", "1"),
        ("ARG A=1\nFROM x\nARG A=2\nENV V=$A", "2"),
        ("FROM x\nARG A\nENV V=${A:-3}", "3"),
        ("FROM x\nARG A=1 B=$A\nENV V=$B", "1"),
        ("FROM x\nARG A=1\nENV A=2\nENV V=$A", "2"),
        ("FROM x\nENV A=1\nENV A=2 V=$A", "1"),
        ("FROM x\nENV V 'a b' c", "a b c"),
    ],
)
def test_arguments_and_variables_of_a_stage(text, value):
    assert final(text).config.env["V"] == value


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("$A$B", "12"), ("${A}x", "1x"), ("$Ax", ""), (r"\$A", "$A"), ("'$A'", "$A"), ('"$A b"', "1 b"),
        ("\"'$A'\"", "'1'"), ("${C:-$A}", "1"), ("${C:-${A}}", "1"), ("${C-x}", "x"), ("${E-x}", ""), ("${E:-x}", "x"),
        ("${A+x}", "x"), ("${E+x}", "x"), ("${E:+x}", ""), ("${C+x}", ""), ("${A:+${B}}", "2"), ("$", "$"),
        ("${A", "${A"), ("a'", "a'"), ("${A:-x}", "1"), ("${C:+x}", ""), ("''", ""), ('""', ""),
    ],
)  # fmt: skip
def test_words_are_filled_in(text, filled):
    assert expand(text, {"A": "1", "B": "2", "E": ""}) == filled


def test_words_that_grow_without_measure_are_refused():
    assert MAX_VALUE == 20_000
    assert len(expand("$A", {"A": "x" * MAX_VALUE})) == MAX_VALUE
    with pytest.raises(Refused, match="dockerfile_unparsable"):
        expand("$A", {"A": "x" * (MAX_VALUE + 1)})


def test_stages_are_found_by_name_and_number_and_only_earlier_ones():
    found = build("FROM a AS one\nFROM b AS Two\nFROM c\n")
    last = found.final

    assert found.find("ONE", last) is found.stages[0]
    assert found.find("two", last) is found.stages[1]
    assert found.find("1", last) is found.stages[1]
    assert found.find("2", last) is None
    assert found.find("two", found.stages[1]) is None
    assert found.find("", last) is None
    assert found.find("debian", last) is None


def test_a_name_used_twice_means_the_later_stage():
    found = build("FROM a AS x\nUSER 1\nFROM b AS x\nUSER 2\nFROM x\n")

    assert found.final.config.user == "2"
    assert found.find("x", found.final) is found.stages[1]


def test_only_what_the_last_stage_needs_is_built():
    text = (
        "FROM a AS base\nFROM b AS unused\nFROM c AS tools\nFROM base AS build\n"
        "RUN --mount=type=bind,from=tools,target=/t x\nFROM d\nCOPY --from=build /x /x\nCOPY --from=nginx /y /y\n"
    )
    found = build(text)

    assert [stage.index for stage in found.built] == [0, 2, 3, 4]
    assert borrowed(found.final) == ("build", "nginx")
    assert borrowed(found.stages[3]) == ("tools",)
    assert [stage.base for stage in found.stages[3].lineage] == ["a", ""]
    assert found.stages[3].root_base == "a"
    assert [step.name for step in found.stages[3].all_steps] == ["RUN"]


def test_the_platform_is_kept_as_written():
    found = build("FROM --platform=$BUILDPLATFORM a\nFROM b\n")

    assert [stage.platform for stage in found.stages] == ["$BUILDPLATFORM", ""]


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("python", Reference("python")),
        ("python:3.12-slim", Reference("python", "3.12-slim")),
        ("localhost:5000/a/b", Reference("localhost:5000/a/b")),
        ("localhost:5000/a/b:1", Reference("localhost:5000/a/b", "1")),
        ("a@sha256:" + "0" * 64, Reference("a", "", "sha256:" + "0" * 64)),
        ("a:1@sha256:" + "0" * 64, Reference("a", "1", "sha256:" + "0" * 64)),
        ("a@sha256:" + "0" * 63, None),
        ("a:", None),
        ("", None),
        ("A", None),
        ("a b", None),
        ("$x", None),
    ],
)
def test_references_are_taken_apart(text, reference):
    assert Reference.read(text) == reference


def test_references_say_what_they_are():
    digest = "sha256:" + "0" * 64

    assert Reference("cgr.dev/o/python").text == "cgr.dev/o/python:latest"
    assert Reference("cgr.dev/o/python", "3").text == "cgr.dev/o/python:3"
    assert Reference("cgr.dev/o/python", "", digest).text == f"cgr.dev/o/python@{digest}"
    assert Reference("cgr.dev/o/python", "3", digest).text == f"cgr.dev/o/python:3@{digest}"
    assert Reference("cgr.dev/o/python", "", digest).full_tag == ""
    assert Reference("cgr.dev/o/python").image == "python"
    names = (
        "cgr.dev/o/a",
        "cgr.dev/a",
        "cgr.dev/o/a/b",
        "docker.io/o/a",
        "cgr.dev//a",
        "notcgr.dev/o/a",
    )
    assert [Reference(name).chainguard for name in names] == [
        True,
        False,
        False,
        False,
        False,
        False,
    ]


def test_the_dev_variant_adds_busybox_and_apk():
    plain, dev = (facts_of(Reference(f"{FREE}/python", tag)) for tag in ("latest", "latest-dev"))
    node = facts_of(Reference(f"{FREE}/node", "20-dev"))

    assert (plain, dev.shells, dev.apk, dev.user) == (FACTS["python"], ("busybox",), True, "65532")
    assert (node.shells, node.apk) == (("busybox",), True)
    assert facts_of(Reference(f"{FREE}/python", "dev")) == plain
    assert facts_of(Reference(f"{FREE}/something")) is None
    assert facts_of(Reference(f"{FREE}/something", "x-dev")) is None
    assert facts_of(Reference("python")) is None
    assert facts_of(None) is None


def test_the_facts_are_those_of_the_snapshot():
    shown = {
        name: (facts.entrypoint, facts.cmd, facts.user, facts.users, facts.workdir, facts.shells)
        for name, facts in FACTS.items()
    }

    assert shown == {
        "apko": (("/usr/bin/apko",), ("--help",), "0", (), "/work", ()),
        "aspnet-runtime": (("/usr/bin/dotnet",), ("--help",), "65532", ("nonroot",), "/", ()),
        "bash": (("/bin/bash", "-c"), (), "0", ("nonroot",), "/", ("bash", "busybox")),
        "busybox": ((), (), "65532", ("nonroot",), "/", ("busybox",)),
        "chainctl": (("chainctl",), (), "65532", ("nonroot",), "/", ()),
        "chainguard-base": ((), ("/bin/sh", "-l"), "0", ("nonroot",), "/", ("busybox",)),
        "cinc-auditor": (
            ("cinc-auditor",),
            ("help",),
            "65532",
            ("nonroot",),
            "/share",
            ("busybox",),
        ),
        "cosign": (("/usr/bin/cosign",), ("help",), "65532", ("nonroot",), "/", ("busybox",)),
        "crane": (("/usr/bin/crane",), (), "65532", ("nonroot",), "/", ()),
        "curl": (("/usr/bin/curl",), (), "65532", ("nonroot",), "/", ()),
        "dfc": (("/usr/bin/dfc",), ("--help",), "65532", ("nonroot",), "/work", ()),
        "dive": (("dive",), (), "65532", ("nonroot",), "/", ()),
        "docker-dind": (
            ("/usr/bin/dockerd-entrypoint.sh",),
            (),
            "0",
            ("root",),
            "/",
            ("bash", "busybox"),
        ),
        "dotnet-runtime": (
            ("/usr/bin/dotnet",),
            ("--help",),
            "65532",
            ("nonroot",),
            "/",
            ("busybox",),
        ),
        "dotnet-sdk": ((), ("/bin/sh", "-l"), "65532", ("nonroot",), "/", ("busybox",)),
        "gcc-glibc": (("/usr/bin/gcc",), ("--help",), "0", (), "/work", ("busybox",)),
        "git": (("/usr/bin/git",), (), "65532", ("git",), "/home/git", ("dash", "dash-binsh")),
        "glibc-dynamic": ((), (), "65532", ("nonroot",), "/", ()),
        "go": (("/usr/bin/go",), ("help",), "0", ("nonroot",), "/", ("busybox",)),
        "gradle": (("/usr/bin/gradle",), (), "65532", ("nonroot",), "/home/build", ("busybox",)),
        "grype": (("/usr/bin/grype",), ("help",), "65532", ("nonroot",), "/", ("busybox",)),
        "haproxy": (
            ("/usr/local/bin/docker-entrypoint.sh",),
            ("haproxy", "-f", "/usr/local/etc/haproxy/haproxy.cfg"),
            "haproxy",
            ("haproxy",),
            "/",
            ("bash", "busybox"),
        ),
        "helm": (("/usr/bin/helm",), ("help",), "65532", ("nonroot",), "/", ()),
        "hollywood": (("/usr/bin/hollywood",), (), "65532", ("nonroot",), "/", ("bash",)),
        "hugo": (("/usr/bin/hugo",), (), "65532", ("nonroot",), "/hugo", ()),
        "jdk": ((), (), "65532", ("java",), "/home/build", ("busybox",)),
        "jre": (("/usr/bin/java",), (), "65532", ("java",), "/app", ()),
        "k3s": (("/bin/k3s",), ("agent",), "0", (), "/", ("busybox",)),
        "ko": (("/usr/bin/ko",), (), "65532", ("nonroot",), "/", ("busybox",)),
        "kubectl": (("/usr/bin/kubectl",), ("--help",), "65532", ("nonroot",), "/", ()),
        "laravel": (("/bin/s6-svscan", "/sv"), (), "65532", ("php", "laravel"), "/app", ()),
        "malcontent": (("/usr/bin/mal",), ("--help",), "65532", ("nonroot",), "/", ()),
        "mariadb": (
            ("/usr/local/bin/docker-entrypoint.sh", "mariadbd"),
            (),
            "65532",
            ("mysql",),
            "/",
            ("bash", "busybox"),
        ),
        "maven": (("/usr/bin/mvn",), (), "65532", ("nonroot",), "/home/build", ("busybox",)),
        "melange": (("/usr/bin/melange",), ("--help",), "0", ("nonroot",), "/work", ()),
        "min-toolkit-debug": (("/bin/bash", "-c"), (), "0", (), "/", ("bash", "busybox")),
        "minio": (("/usr/bin/minio",), (), "65532", ("nonroot",), "/", ("bash",)),
        "minio-client": (("/usr/bin/mc",), (), "65532", ("nonroot",), "/", ("bash",)),
        "mongodb": (("/usr/bin/mongod",), (), "65532", ("mongo",), "/data", ()),
        "nginx": (
            ("/usr/sbin/nginx",),
            ("-c", "/etc/nginx/nginx.conf", "-e", "/dev/stderr", "-g", "daemon off;"),
            "65532",
            ("nginx",),
            "/",
            (),
        ),
        "node": (("/usr/bin/node",), ("--help",), "65532", ("node",), "/app", ("busybox",)),
        "openscap": (("/usr/bin/oscap",), (), "65532", ("nonroot",), "/", ("bash",)),
        "opentelemetry-collector-contrib": (
            ("/usr/bin/otelcol-contrib",),
            (),
            "65532",
            ("nonroot",),
            "/",
            ("busybox",),
        ),
        "php": (("/bin/php",), (), "65532", ("php",), "/app", ()),
        "postgres": (
            ("/usr/bin/docker-entrypoint.sh", "postgres"),
            (),
            "0",
            ("postgres",),
            "/home/postgres",
            ("bash", "busybox"),
        ),
        "python": (("/usr/bin/python",), (), "65532", ("nonroot",), "/", ()),
        "pytorch": (
            ("/usr/bin/cuda-entrypoint.sh",),
            (),
            "65532",
            ("nonroot",),
            "/work",
            ("bash",),
        ),
        "redis": (("/usr/bin/redis-server",), (), "redis", ("redis",), "/data", ("busybox",)),
        "ruby": (("/usr/bin/ruby",), ("--version",), "65532", ("nonroot",), "/work", ()),
        "rust": (("/usr/bin/rustc",), ("--help",), "65532", ("nonroot",), "/work", ("busybox",)),
        "static": ((), (), "65532", ("nonroot",), "/", ()),
        "stunnel": (("/usr/bin/stunnel",), ("-help",), "65532", ("nonroot",), "/", ()),
        "tomcat": (
            ("/usr/local/tomcat/bin/catalina.sh",),
            ("run",),
            "65532",
            ("nonroot",),
            "/usr/local/tomcat",
            ("bash", "busybox"),
        ),
        "valkey": (("/usr/bin/valkey-server",), (), "65532", ("valkey",), "/data", ("bash",)),
        "wait-for-it": (("/usr/bin/wait-for-it",), (), "65532", ("nonroot",), "/", ("bash",)),
        "wolfi-base": ((), ("/bin/sh", "-l"), "0", ("nonroot",), "/", ("busybox",)),
        "wordpress": (("php-fpm",), (), "65532", ("php",), "/var/www/html", ()),
    }
    assert {name for name, facts in FACTS.items() if facts.apk} == {"chainguard-base", "wolfi-base"}
    assert {name: facts.holds for name, facts in FACTS.items() if facts.holds} == {
        "chainguard-base": ("ca-certificates-bundle",),
        "curl": ("curl",),
        "glibc-dynamic": ("ca-certificates-bundle",),
        "static": ("ca-certificates-bundle", "tzdata"),
        "wolfi-base": ("ca-certificates-bundle",),
    }
