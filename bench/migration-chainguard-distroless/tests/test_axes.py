# mypy: allow-untyped-defs, allow-untyped-calls
"""Each axis, just within and just beyond what is accepted."""

import pytest
from _benchgate_bench.migration_chainguard_distroless.axes import (
    axes,
    migrated,
    right_command,
    right_user,
    runs_as_root,
)
from _benchgate_bench.migration_chainguard_distroless.explain import evidence, explanation
from _benchgate_bench.migration_chainguard_distroless.tests.support import FREE, answer

PLAIN = f"FROM {FREE}/python:latest\n"
ROOTS = {"Dockerfile": "FROM a\nWORKDIR /root/\n"}
DIGEST = "@sha256:" + "0" * 64


def seen(**held):
    return {"built": True, "folder": "/app", **held}


@pytest.mark.parametrize(
    ("held", "same"),
    [
        ({"argv": ["node", "server.js"]}, True),
        ({"argv": ["/usr/bin/node", "/app/server.js"]}, True),
        ({"argv": ["node", "./server.js"]}, True),
        ({"argv": ["node", "/srv/server.js"]}, False),
        ({"argv": ["node", "server.js", "-x"]}, False),
        ({"argv": ["nodejs", "server.js"]}, False),
        ({"argv": ["/bin/sh", "-c", "node server.js"]}, True),
        ({"argv": ["/bin/sh", "-c", "exec node server.js"]}, True),
        ({"argv": ["/bin/sh", "-e", "node server.js"]}, False),
        ({"argv": ["/bin/sh", "-c", "node $F"]}, False),
        ({"argv": ["/bin/sh", "-c", "node $F"], "ran": [["node", "server.js"]]}, True),
        ({"argv": ["tini", "--", "node", "server.js"], "ran": [["node", "server.js"]]}, True),
        ({"argv": ["run.sh"], "ran": [["/bin/bash", "/usr/bin/node", "server.js"]]}, True),
        ({"argv": []}, False),
        ({}, False),
    ],
)
def test_what_is_started_itself_or_through_others(held, same):
    one = answer(PLAIN, seen(**held), argv=[["node", "/app/server.js"]])

    assert right_command(one) is same


def test_a_command_may_be_tied_to_an_image():
    tied = {"words": ["python", "a"], "images": [f"{FREE}/python:latest"]}
    held = seen(argv=["python", "a"])
    wanted = {"final_images": {f"{FREE}/python:latest": 1}, "argv": [["x"], tied]}

    assert right_command(answer(PLAIN, held, **wanted))
    assert not right_command(answer(f"FROM {FREE}/python:latest-dev\n", held, **wanted))
    assert right_command(answer(f"FROM {FREE}/node\n", seen(argv=["x"]), **wanted))


def test_a_command_may_be_accepted_by_its_form():
    one = [{"pattern": r"node .*server\.js( --x=\d+)?"}]

    assert right_command(answer(PLAIN, seen(argv=["node", "server.js", "--x=1"]), argv=one))
    assert not right_command(answer(PLAIN, seen(argv=["node", "server.js", "--x=y"]), argv=one))


def test_ports_may_be_one_of_several_sets():
    asked = {"ports": ["80"], "other_ports": [["8080"], ["8080", "8443"]]}
    for ports, right in ((["8080"], 1.0), (["8080", "8443"], 1.0), (["8443"], 0.0)):
        held = seen(argv=["x"], exposed=ports)
        assert axes(answer(PLAIN, held, **asked))["ports"] == right
    held = seen(argv=["x"], exposed=["8080"], ports=[80])
    assert axes(answer(PLAIN, held, **asked))["ports"] == 0.5


@pytest.mark.parametrize(
    ("held", "text", "root"),
    [
        ({"uid": 0}, "USER 1\n", True),
        ({"uid": 1}, "USER 0\n", False),
        ({"user": "0", "exit": 126}, "USER 1\n", True),
        ({"user": "app"}, "", False),
        ({"user": ""}, "", True),
        ({"built": False}, "", False),
        ({"built": False}, "USER 0:0\n", True),
    ],
)
def test_root_is_seen_or_else_read(held, text, root):
    assert runs_as_root(answer(PLAIN + text, {"built": True, **held})) is root


def test_users_that_a_case_allows():
    assert right_user(answer(PLAIN, seen(uid=5)))
    assert right_user(answer(PLAIN, seen(uid=5), users=["5"]))
    assert right_user(answer(PLAIN, seen(uid=5, user="app:app"), users=["app"]))
    assert not right_user(answer(PLAIN, seen(uid=5, user="app"), users=["6"]))
    assert not right_user(answer(PLAIN, seen(uid=0)))
    assert right_user(answer(PLAIN, seen(uid=0), root_allowed=True))
    missing = {"exit": 126, "error": "unable to find user app: no matching entries", "user": "app"}
    assert not right_user(answer(PLAIN, seen(**missing)))


@pytest.mark.parametrize(
    ("expects", "held", "kept"),
    [
        # Nobody but root can enter it, so that a right answer leaves it.
        ({}, {"folder": "/app"}, True),
        ({}, {"folder": "/root"}, True),
        ({"root_allowed": True}, {"folder": "/app"}, False),
        ({"root_allowed": True}, {"folder": "/root"}, True),
        ({"workdir": "/srv"}, {"folder": "/app"}, False),
        ({"workdir": ["/srv", "/app"]}, {"folder": "/app"}, True),
        ({"workdir": ["/srv", "/app"]}, {"folder": "/a"}, False),
        # As the image has it, for the answer sets none.
        ({"workdir": ["/srv", ""]}, {"folder": "/a"}, True),
        ({"workdir": "any"}, {"folder": "/a"}, True),
        # What is set, where the program has gone to another.
        ({"workdir": "/srv"}, {"folder": "/", "workdir": "/srv"}, True),
        ({"env": {"A": "any"}}, {"lost": ["A"]}, False),
        ({"platforms": [["$BUILDPLATFORM", "linux/amd64"]]}, {}, True),
        ({"platforms": [["$TARGETPLATFORM", "linux/arm64"]]}, {}, False),
    ],
)
def test_settings_that_a_case_accepts(expects, held, kept):
    text = f"FROM --platform=linux/amd64 {FREE}/python:latest\n"
    one = answer(text, seen(argv=["x"], **held), ROOTS, **expects)

    assert (axes(one)["settings_kept"] == 1.0) is kept


def test_the_folder_of_the_image_is_another_than_one_that_is_set():
    text = f"FROM {FREE}/python:latest\nWORKDIR /a\n"
    one = answer(text, seen(argv=["x"], folder="/a"), ROOTS, workdir=["/srv", ""])

    assert axes(one)["settings_kept"] == 0.0


@pytest.mark.parametrize(
    ("expects", "exposed", "right"),
    [
        ({"ports": "any"}, ["8080"], 1.0),
        ({"ports": "any"}, [], 1.0),
        # One of what is exposed is still listened on.
        ({"ports": "any"}, ["9000"], 0.5),
        ({"ports": ["80"], "other_ports": [["8080"]]}, ["8080"], 1.0),
    ],
)
def test_a_case_may_accept_any_port(expects, exposed, right):
    held = seen(argv=["x"], exposed=exposed, ports=[8080])

    assert axes(answer(PLAIN, held, **expects))["ports"] == right


@pytest.mark.parametrize(
    ("wanted", "root", "same"),
    [
        (["python", "/root/app.py"], False, True),
        (["python", "/root/app.py"], True, False),
        (["python", "/root/b/app.py"], False, False),
        (["python", "/srv/app.py"], False, False),
    ],
)
def test_a_command_leaves_the_folder_of_root_as_well(wanted, root, same):
    held = seen(argv=["python", "app.py"])

    assert right_command(answer(PLAIN, held, argv=[wanted], root_allowed=root)) is same


def test_a_case_may_accept_any_user():
    assert right_user(answer(PLAIN, seen(uid=5), users="any"))
    assert not right_user(answer(PLAIN, seen(uid=0), users="any"))


@pytest.mark.parametrize(
    ("image", "fine"),
    [
        ("ghcr.io/astral-sh/uv:0.9", True),
        ("composer:2", True),
        ("docker.io/library/composer:2", True),
        ("busybox", False),
        (f"{FREE}/go:latest-dev", True),
        (f"{FREE}/go:1.22", False),
        (f"{FREE}/go{DIGEST}", False),
        ("cgr.dev/other/go", False),
        ("scratch", True),
    ],
)
def test_images_that_may_lend_files(image, fine):
    asked = {
        "helper_images": ["ghcr.io/astral-sh/uv", "docker.io/library/composer"],
        "final_images": {f"{FREE}/python:latest": 1.0},
    }

    assert axes(answer(f"{PLAIN}COPY --from={image} /x /x\n", **asked))["build_images"] == float(
        fine
    )
    based = answer(f"FROM {image} AS b\n{PLAIN}COPY --from=b /x /x\n", **asked)
    assert axes(based)["build_images"] == float(fine)


def test_the_image_of_another_registry_or_organisation_is_another_image():
    asked = {"final_images": {f"{FREE}/python:latest": 1.0, "scratch": 0.5}}

    assert axes(answer(PLAIN, **asked))["final_image"] == 1.0
    assert axes(answer("FROM scratch\n", **asked))["final_image"] == 0.5
    for name in (f"x.org/{FREE}/python", "cgr.dev/other/python", f"{FREE}/python{DIGEST}", "$X"):
        assert axes(answer(f"FROM {name}\n", **asked))["final_image"] == 0.0
    assert migrated(answer(f"FROM debian AS b\n{PLAIN}COPY --from=b /x /x\n")) == 0.5
    assert migrated(answer(f"FROM debian AS b\n{PLAIN}")) == 1.0


HOPELESS = answer(
    "FROM debian AS a\nFROM debian\nCOPY --from=a /x /y\n",
    seen(
        argv=["x", "y z"], exit=3, error="no", user="", uid=0, lacks=["/p", "/q"], needs=["jq"], exposed=["80"],
        check="false", lost=["A"], folder="/", shells=["bin/sh"], needless=["curl"], left=list("abcdef"),
        breaks=["/n"],
    ),
    {"Dockerfile": "FROM a\nWORKDIR /w\n"},
    final_images={f"{FREE}/python:latest": 1.0},
    argv=[["python"]],
    files=["/p", "/q"],
    ports=["8080"],
    packages=[{"any_of": ["jq", "jq2"]}],
    env={"A": "b"},
    platforms=["$BUILDPLATFORM"],
    healthcheck="ask",
    unneeded=["a"],
    port_rules=[{"path": "/n", "must": ["8080"]}],
)  # fmt: skip


def test_each_axis_below_1_is_explained_by_what_was_seen():
    found = axes(HOPELESS)

    assert set(found.values()) == {0.0}
    assert evidence(HOPELESS, found) == {
        "final_image": f"debian:latest; accepted: {FREE}/python:latest",
        "build_images": "not the right image, or not one to pull: debian",
        "runs": "ends with 3: no",
        "argv": "starts x 'y z'",
        "user": "runs as root, 0",
        "files_carried": "not in the image: /p, /q",
        "packages": "not in the image: jq",
        "ports": "exposes 80, listens on nothing; not as it should be: EXPOSE, /n",
        "healthcheck": "false",
        "settings_kept": "not kept: A, WORKDIR, --platform=$BUILDPLATFORM",
        "no_shell": "a shell or a package manager is in the image: bin/sh",
        "no_needless_package": "curl",
        "nothing_left_over": "a, b, c, d, e and 1 more",
    }
    assert evidence(HOPELESS, dict.fromkeys(found, 1.0)) == {}


def test_the_reasons_are_one_text():
    harm = frozenset({("root_at_run_time", "root"), ("secret_in_env", "TOKEN")})

    assert explanation({"user": "runs as root"}, harm, edited=True) == (
        "user: runs as root; a source was edited; runs as root: root; a secret in the text: TOKEN"
    )
    assert explanation({}, frozenset(), edited=False) == ""
