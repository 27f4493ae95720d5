# mypy: allow-untyped-defs, allow-untyped-calls
"""The observer: what is shipped of it, what it looks at, and what it says when nobody can build."""

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import threading
import time
from contextlib import nullcontext

import pytest
from _benchgate_bench.migration_chainguard_distroless.dockerfile.reference import Reference
from _benchgate_bench.migration_chainguard_distroless.expected import Expected, read_expected
from _benchgate_bench.migration_chainguard_distroless.forms import accepts
from _benchgate_bench.migration_chainguard_distroless.observers import build, builder, store
from _benchgate_bench.migration_chainguard_distroless.observers.content import Content
from _benchgate_bench.migration_chainguard_distroless.observers.standins import (
    facts,
    images,
    limits,
)
from _benchgate_bench.migration_chainguard_distroless.tests import support
from _benchgate_bench.migration_chainguard_distroless.tests.support import stood_in
from _benchgate_bench.migration_chainguard_distroless.tools import (
    real_tools,
    record_observations,
    score_answers,
)
from _benchgate_bench.migration_chainguard_distroless.tools.answers import task

from benchgate import run_eval

KEY = "-----BEGIN RSA PRIVATE KEY-----\n"
TIMED = ("error", "exit", "folder", "health", "ports", "ran", "uid")
"""What depends on when one looks."""


def wanted(**held):
    fields = {"schema_version": 1, "final_images": {"scratch": 1}, "argv": [["x"]], **held}
    return build.asked(Expected.model_validate(fields))


def packed(files):
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as out:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            body = data if isinstance(data, bytes) else data.encode()
            info.size, info.mode = len(body), 0o4755 if data == "set-uid" else 0o644
            out.addfile(info, io.BytesIO(body))
    return held.getvalue()


def opened(files):
    return tarfile.open(fileobj=io.BytesIO(packed(files)), mode="r|")


def test_an_observation_of_every_answer_is_shipped():
    assert not support.unobserved(), "build them with tools/record_observations.py"


def test_observations_are_small():
    kept = store.stored("stand-in")

    assert max(len(store.compact(one).encode()) for one in kept.values()) <= store.MAX_BYTES
    assert sum(path.stat().st_size for path in store.SHELF.iterdir()) <= 2_000_000


def test_the_store_is_the_same_for_the_same_observations(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "SHELF", tmp_path)
    store.store("x", {"b": {"built": True}, "a": {"error": "\u00e9"}})
    first = (tmp_path / "x.json.gz").read_bytes()
    store.store("x", {"a": {"error": "\u00e9"}, "b": {"built": True}})

    assert (tmp_path / "x.json.gz").read_bytes() == first
    assert store.stored("x") == {"a": {"error": "\u00e9"}, "b": {"built": True}}
    assert store.stored("y") == {}
    store.stored.cache_clear()


def test_an_answer_is_its_files_and_what_is_asked_of_it():
    key = store.key_of(wanted(files=["/a"]), {"Dockerfile": "FROM a"})

    assert key != store.key_of(wanted(files=["/b"]), {"Dockerfile": "FROM a"})
    assert key != store.key_of(wanted(files=["/a"]), {"Dockerfile": "FROM a", "x": ""})
    assert key == store.key_of(wanted(files=["/a"], argv=[["x"]]), {"Dockerfile": "FROM a"})


@pytest.fixture
def without_builder(monkeypatch, tmp_path):
    """No docker on PATH, and nobody who asks for one."""
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("BENCHGATE_BUILDER", "BENCHGATE_IMAGES"):
        monkeypatch.delenv(name, raising=False)


@support.needs_observations()
@pytest.mark.usefixtures("without_builder")
@pytest.mark.parametrize("system", ["stage-aware", "table-converter"])
def test_a_run_of_a_shipped_system_needs_no_builder(system):
    report = run_eval(support.CLASS.name, system_under_test=system, bench_root=support.CLASS.parent)

    assert (report.complete, len(report.per_case)) == (True, len(support.CASES))
    assert (report.observer.name, report.observer.digest) == ("build", "stand-in")


@pytest.mark.usefixtures("without_builder")
def test_an_answer_that_nobody_built_is_unavailable_and_the_run_incomplete(monkeypatch):
    # Nobody has observed anything with these images.
    monkeypatch.setenv("BENCHGATE_IMAGES", "cgr.dev")
    some = {"case_filter": "01[6-8]*", "bench_root": support.CLASS.parent}
    report = run_eval(support.CLASS.name, system_under_test="stage-aware", **some)
    said = "observer build: Unavailable: not built: set BENCHGATE_BUILDER=docker|podman"

    assert not report.complete
    assert [one.outcome for one in report.per_case] == ["unavailable", "scored", "scored"]
    assert (report.per_case[0].score, report.per_case[0].detail) == (None, said)


@pytest.mark.usefixtures("without_builder")
def test_a_builder_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setenv("BENCHGATE_BUILDER", "podman")
    with pytest.raises(builder.Unavailable, match=r"^not built: podman is not installed$"):
        build.built({"Dockerfile": "FROM a\n"}, wanted())


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for podman is a shell script")
@pytest.mark.parametrize(
    ("version", "why"), [("4.9.3", "podman 4.9.3 reads no here-documents; 5 does"), ("5.4.2", "")]
)
def test_a_podman_that_reads_other_dockerfiles_is_not_used(tmp_path, monkeypatch, version, why):
    (tmp_path / "podman").write_text(f"#!/bin/sh\necho {version}\n")
    (tmp_path / "podman").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    ready = contextlib.nullcontext() if not why else pytest.raises(builder.Unavailable, match=why)
    with ready:
        builder.Builder("podman", stands_in=True).ready()


def test_images_come_from_one_of_two_sources(monkeypatch):
    monkeypatch.setenv("BENCHGATE_IMAGES", "docker.io")
    with pytest.raises(ValueError, match=r"BENCHGATE_IMAGES is 'docker.io'; it is one of stand-in"):
        build.build.digest()


@pytest.mark.parametrize(
    ("builder", "digest"),
    [("", "stand-in"), ("docker", "stand-in"), ("podman", "stand-in-podman")],
)
def test_what_podman_builds_is_kept_apart(monkeypatch, builder, digest):
    monkeypatch.setenv("BENCHGATE_BUILDER", builder)
    monkeypatch.delenv("BENCHGATE_IMAGES", raising=False)

    assert build.build.digest() == digest


@pytest.mark.usefixtures("without_builder")
def test_what_is_no_dockerfile_is_not_built():
    case = support.load("001-python-cmd-clash")

    assert build.build(case, {"files": {"Dockerfile": "USER a"}})["error"] == "from_missing"
    assert build.build(case, {}) == {"built": False, "error": "output_missing_file"}
    assert build.build(support.load("018-already-static"), {}) == {"asked": False}


@pytest.mark.usefixtures("without_builder")
def test_what_another_frontend_would_read_is_not_built():
    case = support.load("001-python-cmd-clash")
    files = support.best("001")

    def seen(line):
        text = f"{line}\n{files['Dockerfile']}"
        return build.build(case, {"files": {**files, "Dockerfile": text}})

    assert seen("# syntax=docker.io/o/dockerfile")["built"] is False
    with pytest.raises(builder.Unavailable, match=r"^not built: set"):
        seen("# syntax=docker/dockerfile:1")


@pytest.fixture
def docker(tmp_path, monkeypatch):
    """A docker that notes what it is given, and whose build fails with a text."""
    if os.name == "nt":
        pytest.skip("it is a shell script")

    def make(text):
        program = tmp_path / "docker"
        program.write_text(
            "#!/bin/sh\n"
            f"echo '{text}' >&2\n[ $1 = build ] || exit 1\necho \"$@\" > {tmp_path}/words\n"
            f"for last; do :; done\nls -l $last > {tmp_path}/files\nexit 1\n"
        )
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
        return builder.Builder("docker", stands_in=True)

    return make


def test_what_names_the_folder_of_the_stand_ins_is_not_built(docker, tmp_path):
    text = "FROM a\nRUN cp -a /usr/share/standin/pkg/jq/. /\n"
    said = "it names /usr/share/standin, which only stand-ins have"

    found = docker("gone").observe({"Dockerfile": text}, tmp_path / "x", wanted())
    assert found == {"built": False, "error": said}


def test_the_frontend_of_docker_is_the_one_of_the_builder(docker, tmp_path):
    own = ("# syntax = docker/dockerfile:1.3\n", "#Syntax=docker.io/docker/dockerfile:1\n")
    for line in (*own, "# syntax=somebody/frontend\n"):
        docker("gone").observe({"Dockerfile": f"{line}FROM a\n"}, tmp_path / "context", wanted())
        sent = (tmp_path / "context/Dockerfile").read_text()
        assert sent == ("FROM a\n" if line in own else f"{line}FROM a\n")


def test_a_case_may_ask_for_arguments_and_rights(docker, tmp_path):
    asks = wanted(build_args={"V": "2", "A": "b c"}, modes={"run.sh": "755"}, target="one")
    files = {"Dockerfile": "# syntax=docker/dockerfile:1\nFROM a\n", "run.sh": "", "a.txt": ""}
    found = docker("gone").observe(files, tmp_path / "context", asks)

    assert found == {"built": False, "error": "gone"}
    words = (tmp_path / "words").read_text()
    assert "--target one --build-arg A=b c --build-arg V=2 --network=none --pull=false" in words
    rights = {line[-6:]: line[:10] for line in (tmp_path / "files").read_text().splitlines()}
    assert (rights["run.sh"], rights[" a.txt"]) == ("-rwxr-xr-x", "-rw-r--r--")
    assert (tmp_path / "context/Dockerfile").read_text() == "FROM a\n"
    assert "args" not in wanted()
    assert "modes" not in wanted()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="isolation=process needs Linux")
def test_what_was_not_built_is_later_and_no_system_called_again(docker, tmp_path, monkeypatch):
    docker("gone")
    (tmp_path / "calls").touch()
    (tmp_path / "nobody.py").write_text(
        f"def system(case):\n    open({str(tmp_path / 'calls')!r}, 'a').write('1')\n"
        "    return {'files': {'Dockerfile': 'FROM scratch'}}\n"
    )
    words = [
        *(sys.executable, "-m", "benchgate", "run", f"--task-class={support.CLASS.name}"),
        *(f"--bench-root={support.CLASS.parent}", f"--pythonpath={tmp_path}"),
        *("--system=nobody:system", "--baseline=none", f"--out={tmp_path / 'out'}"),
    ]
    whys = ("set BENCHGATE_BUILDER=docker|podman", "docker does not answer")
    for program, why in zip(("", "docker"), whys, strict=True):
        monkeypatch.setenv("BENCHGATE_BUILDER", program)
        done = subprocess.run(  # noqa: S603 - benchgate
            words, capture_output=True, text=True, check=False, cwd=tmp_path
        )
        said = f'"detail": "observer build: Unavailable: not built: {why}'
        *results, _ = done.stdout.splitlines()  # the last line is the decision, which quotes it
        assert "\n".join(results).count(said) == 38, done.stderr
        assert (tmp_path / "calls").read_text() == "1" * len(support.CASES)
        words.append("--resume")


def test_an_image_without_a_stand_in_says_nothing_of_the_answer(docker, tmp_path):
    def seen(image, said="failed to solve: {}: failed to resolve source metadata for x"):
        made = docker(f"ERROR: {said.format(image)}")
        return made.observe({"Dockerfile": "FROM a"}, tmp_path / "x", wanted())

    for words in ((), ("creating build container: {}: image not known",)):
        with pytest.raises(builder.Unavailable, match=r"no stand-in of cgr.dev/o/redis:latest"):
            seen("cgr.dev/o/redis:latest", *words)
    for image in ("python:3.12", "cgr.dev/o/redis:7", "cgr.dev/o/nothing:latest"):
        assert seen(image) == {"built": False, "error": f"cannot pull {image}"}


def test_a_check_whose_program_is_not_there_never_began(docker):
    for said, code in (
        ("/bin/sh: curl: not found", 127),
        ("curl: (22) error: 404 Not Found", 1),
        # It began, and what a package gave it was not what it asked for.
        ("stand-in limit: pip-value", 1),
    ):
        assert docker(said)._health("box", "CMD-SHELL", "curl http://localhost || exit 1") == code
    with pytest.raises(builder.Unavailable, match="nothing stands in for it"):
        docker("stand-in limit: program")._health("box", "CMD", "curl")


def test_the_last_line_names_no_place_of_the_machine():
    assert builder.last_line("a\n\nERROR: failed to solve: process x\n") == "process x"
    assert builder.last_line("2026/11/25 10:00:00 gone\n") == "gone"
    assert builder.last_line("lstat /var/lib/x/buildkit-mount123/a") == "lstat /a"
    podman = 'Error: unable to start container "0a1b": '
    assert builder.last_line(f"{podman}unable to find user a: x") == "unable to find user a: x"
    started = f'{podman}runc: create failed: unable to start container process: exec: "a": gone'
    assert builder.last_line(started) == 'exec: "a": gone'
    assert (
        builder.last_line('{"msg":"exec `a`: gone","level":"error","time":"2026"}')
        == "exec `a`: gone"
    )
    assert (
        builder.last_line('Error: x: checking on sources under "/var/x": gone') == "Error: x: gone"
    )
    assert builder.last_line("") == ""
    assert len(builder.last_line("x" * 999)) == 100


@pytest.mark.skipif(not shutil.which("unshare"), reason="unshare: makes users of its own")
def test_a_user_is_the_one_that_the_container_sees():
    words = ["unshare", "--map-user=77", "sleep", "9"]
    with subprocess.Popen(words) as process:  # noqa: S603 - unshare
        time.sleep(0.5)
        if process.poll() is not None:
            pytest.skip("unshare cannot make users here")
        assert builder._live(process.pid, [])["uid"] == 77
        process.kill()


def test_what_an_image_has_and_lacks():
    held = wanted(
        files=["/app/a", "/app/b"],
        packages=[{"any_of": ["jq"]}, {"any_of": ["certs"], "files": ["/etc/ssl"]}],
        packages_allowed=["xz"],
        unneeded=["test.py", "gone.py", "*/bin/curl", "/bin/wget"],
        file_rules=[{"path": "/c", "must": ["x"], "must_not": ["y"]}],
        port_rules=[{"path": "/d", "must": ["x"]}],
    )
    project = {"test.py": "test\n", "gone.py": "gone!\n", ".env": "A=123", "k": KEY}
    content = Content(project, held, {"curl": {"usr/bin/curl": images.digest_of(b"c")}})
    content.read(opened({
        "./app/a": "1", "app/s": "set-uid", "etc/ssl/c": "c", "copied": "test\n", "c": "x # y", "d": "# x",
        "usr/share/standin/installed/curl": "curl\n", "usr/share/standin/installed/xz": "xz\n", "usr/bin/curl": "c",
        "bin/sh": "", "app/renamed": "A=123", "usr/lib/id_rsa": "1", "app/id_rsa": "1",
    }))  # fmt: skip

    assert content.seen() == {
        "lacks": ["/app/b"],
        "needs": ["jq"],
        "needless": ["curl"],
        "breaks": ["/d"],
        "shells": ["bin/sh"],
        "left": ["*/bin/curl", "test.py"],
        "secrets": [".env", "app/id_rsa"],
        "setuid": ["/app/s"],
    }


def test_a_file_of_the_base_image_is_no_copied_one():
    held = wanted(packages=[{"any_of": ["tzdata"], "files": ["zoneinfo"]}])
    module = "usr/lib/python3.14/zoneinfo/_tzpath.py"

    def needs(*names):
        content = Content({}, held, {}, lambda: frozenset({module}))
        content.read(opened(dict.fromkeys(names, "")))
        return content.seen()["needs"]

    assert needs(module) == ["tzdata"]
    assert needs(module, "usr/share/zoneinfo/UTC") == []


def test_the_base_image_is_the_one_that_the_last_stage_starts_from():
    text = "ARG T=latest\nFROM a:$T AS x\nFROM b AS y\nFROM x\n"

    assert builder.base_of(text, wanted()) == "a:latest"
    assert builder.base_of(text, wanted(target="y")) == "b"


@pytest.mark.parametrize(
    ("expects", "right"),
    [
        ({"files": [["/srv/a", "/app/a"]]}, True),
        ({"files": [["/srv/a", "/srv/b"]]}, False),
        ({"files": ["*/a"]}, True),
        ({"files": ["*/b"]}, False),
        ({"files": ["/root/a"]}, True),
        ({"files": ["/root/b/a"]}, False),
        ({"files": ["/root/a"], "root_allowed": True}, False),
        ({"files": ["/app/[id].js"]}, True),
        ({"file_rules": [{"path": ["/x", "/app/c"], "must": ["y"]}]}, True),
        ({"file_rules": [{"path": ["/x", "/app/c"], "must": ["z"]}]}, False),
        ({"file_rules": [{"path": "/root/c", "must": ["y"]}]}, True),
        ({"packages_allowed": "any"}, True),
        ({"packages_allowed": ["jq"]}, False),
    ],
)
def test_a_case_may_accept_a_file_in_several_places_and_any_package(expects, right):
    content = Content({}, wanted(**{"packages_allowed": ["curl"], **expects}), {})
    content.read(opened({
        "app/a": "1", "app/[id].js": "1", "app/c": "y", "usr/share/standin/installed/curl": "curl\n",
    }))  # fmt: skip
    found = content.seen()

    assert any(found[key] for key in ("lacks", "breaks", "needless")) is not right


@pytest.mark.parametrize(
    ("held", "value", "kept"),
    [
        ("a", "a", True),
        ("a", "b", False),
        ("a", None, False),
        (["a", "b"], "b", True),
        (["a", "b"], "c", False),
        ("any", "c", True),
        ("any", None, False),
        (["any"], "c", False),
    ],
)
def test_a_variable_may_have_several_values(held, value, kept):
    assert accepts(wanted(env={"A": held})["env"]["A"], value) is kept


def test_a_secret_in_a_layer_is_in_the_image():
    content = Content({".env": "A=123"}, wanted(), {})
    content.read(opened({"app/other": "x"}))
    assert content.seen()["secrets"] == []
    layer = packed({"app/.env": "A=123"})
    content.read_layers(opened({"manifest.json": "[]", "blobs/1": layer, "blobs/2": b"x" * 600}))

    assert content.seen()["secrets"] == [".env"]


def installed(expects, files, packages):
    """Return which packages a case lacks in an image with some files, and which are needless."""
    content = Content({}, wanted(packages=[{"any_of": [one]} for one in expects]), packages)
    content.read(opened(files))
    return [content.seen()[key] for key in ("needs", "needless")]


NOTE = "usr/share/standin/installed/"
JQ = {"jq": {"usr/bin/jq": images.digest_of(b"jq")}}


@pytest.mark.parametrize(
    ("files", "is_there"),
    [
        ({NOTE + "jq": "jq\n", "usr/bin/jq": "jq"}, True),
        ({"usr/share/standin/held/jq": "jq\n", "usr/bin/jq": "jq"}, True),
        # The note, the files or apk's own database alone count for nothing, and neither does another file in its place.
        ({NOTE + "jq": "jq\n"}, False),
        ({NOTE + "jq": "", "usr/bin/jq": "jq"}, False),
        ({NOTE + "jq/x": "jq\n", "usr/bin/jq": "jq"}, False),
        ({NOTE + "jq": "jq\n", "usr/bin/jq": "no"}, False),
        ({"usr/bin/jq": "jq"}, False),
        ({"usr/lib/apk/db/installed": "P:jq\nF:usr/bin\nR:jq\n", "usr/bin/jq": "jq"}, False),
        ({"lib/apk/db/installed": "P:jq\n"}, False),
    ],
)
def test_a_package_is_there_if_its_files_are(files, is_there):
    assert installed(["jq"], files, JQ) == [[] if is_there else ["jq"], []]


def test_a_package_that_the_image_has_is_not_needless():
    files = {"usr/share/standin/held/certs": "certs\n", NOTE + "xz": "xz\n"}

    assert installed(["certs"], files, JQ) == [[], ["xz"]]


def test_packages_of_real_images_are_those_of_their_database_with_their_files():
    entries = (
        "P:jq\nF:usr\nF:usr/bin\nR:jq\nZ:Q1x", "P:xz\nF:usr/bin\nR:xz\nR:gone", "P:none\nV:1"
    )  # fmt: skip
    files = {"lib/apk/db/installed": "\n\n".join(entries), "usr/bin/jq": "", "usr/bin/xz": ""}

    assert installed(["jq", "xz", "none"], files, None) == [["none", "xz"], []]


@pytest.mark.skipif(os.name == "nt", reason="a shell script")
@pytest.mark.parametrize(
    ("script", "there"),
    [
        ("apk add --no-cache jq", "jq"),
        ("apk add jq && apk del jq", ""),
        ("apk add jq && apk --no-cache --purge del jq", ""),
        ("apk add -U jq xz 'curl>8' && apk del xz", "curl jq"),
        ("apk add --virtual .b jq xz && apk add jq && apk del .b", "jq"),
        ("apk add --virtual=.b jq xz && apk del .b", ""),
        ("apk add -t .b jq && apk add -X http://x xz && apk del --repository http://x .b", "xz"),
        # What a virtual package needs stays until that goes.
        ("apk add -t .b jq && apk del jq", "jq"),
        ("apk add -t b jq && apk add xz && apk del b", "xz"),
        ("apk del jq", ""),
        ("apk add jq && apk add jqs", "jq ERROR: unable to select packages: jqs (no such package)"),
        ("apk install jq", "ERROR: 'install' is not an apk command."),
        ("apk update && apk upgrade && apk add jq && apk cache clean", "jq"),
        ("apk info -e jq || apk add jq && apk info -e jq && apk add xz", "jq xz"),
        # One package brings a file that another has as well, and one that the image had.
        ("apk add jq jq2 && apk del jq", "jq2"),
        ("apk add jq jq2 && apk del jq2", "jq"),
        ("apk add -t .b jq jq2 && apk del .b", ""),
        ("apk add own && apk del own", ""),
        # What is on the list of limits.
        ("apk del held", "stand-in limit: apk-base"),
        ("apk add jq=1.7-r0", "stand-in limit: apk-version"),
        ("apk add gone=1.7-r0", "ERROR: unable to select packages: gone (no such package)"),
        ("apk add --frobnicate jq", "stand-in limit: option"),
        ("apk list", "stand-in limit: apk-verb"),
        ("apk add --root /x jq", "stand-in limit: apk-root"),
        ("apk add odd && usr/bin/odd", "odd stand-in limit: program"),
        ("apk add odd && apk del odd && ! test -e usr/bin/odd && apk add xz", "xz"),
    ],
)
def test_apk_adds_packages_and_takes_them_away(tmp_path, script, there):
    for name, text in {
        "kept/packages": "jq\njq2\nxz\ncurl\nown\nheld\nodd\n",
        "kept/pkg/jq/usr/bin/jq": "jq",
        "kept/pkg/jq2/usr/bin/jq": "jq",
        "kept/pkg/own/lib/libc.so": "c",
        "kept/programs": "xz xz unxz\n",
        "kept/held/held": "held\n",
        "kept/limit": (images.HERE / "scripts/limit").read_text(),
        "kept/common": (images.HERE / "scripts/common")
        .read_text().replace(images.KEPT, str(tmp_path / "kept")),
        "root/lib/libc.so": "c",
        "bin/apk": (images.HERE / "scripts/apk").read_text()
        .replace(images.KEPT, str(tmp_path / "kept")).replace("to=/", f"to={tmp_path / 'root'}"),
        "bin/id": "#!/bin/sh\necho 0\n",
    }.items():  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(  # noqa: S602 - what is tested
        script,
        shell=True,
        capture_output=True,
        text=True,
        check=False,
        env=env,
        cwd=tmp_path / "root",
    )
    notes = sorted(path.name for path in tmp_path.glob("kept/installed/*"))

    said = re.sub(r"stand-in brought: .*\n", "", done.stderr)
    assert " ".join([*notes, said.strip()]).strip() == there
    assert (tmp_path / "root/usr/bin/jq").exists() is bool({"jq", "jq2"} & {*notes})
    assert (tmp_path / "root/lib/libc.so").exists()


def test_shells_of_an_accepted_image_are_its_own():
    busybox = ["bin/ash", "bin/busybox", "bin/sh"]
    for case_id, own in {
        "001-python-cmd-clash": [],
        "002-node-npm-start": busybox,
        "006-apt-names": [*busybox, "usr/bin/apk"],
    }.items():
        expected = read_expected(support.load(case_id).expected_path)
        assert build.asked(expected)["shells"] == own


def test_facts_are_those_of_the_locked_configurations():
    facts_of, held = facts.facts_of, facts.FACTS
    plain, dev = (facts_of(Reference.read(f"cgr.dev/o/node{tag}")) for tag in ("", ":x-dev"))

    assert (plain.entrypoint, plain.user, plain.users, plain.workdir, plain.shells, plain.apk) == (
        ("/usr/bin/node",), "65532", ("node",), "/app", ("busybox",), False,
    )  # fmt: skip
    assert (dev.shells, dev.apk, dev.user) == (("bash", "busybox"), True, "65532")
    assert {"pnpm", "yarn"} <= set(dev.holds) - set(plain.holds)
    assert held["aspnet-runtime"].env["APP_UID"] == "65532"
    assert held["chainguard-base"] == held["wolfi-base"]
    assert sum("ca-certificates-bundle" in one.holds for one in held.values()) > 50
    assert facts_of(Reference("cgr.dev/o/something")) is None
    assert facts_of(Reference("python")) is facts_of(None) is None


@pytest.mark.usefixtures("without_builder")
def test_answers_to_others_are_scored_and_compared_with_labels(tmp_path, monkeypatch, capsys):
    case = support.load("001-python-cmd-clash")
    app = tmp_path / "app"
    shutil.copytree(case.input_path, app / "input")
    shutil.copytree(case.expected_path, app / "expected")
    good = support.best(case.case_id)["Dockerfile"]
    for name, text in {"good": good, "new": "FROM scratch\n"}.items():
        (app / "answers" / name).mkdir(parents=True)
        (app / "answers" / name / "Dockerfile").write_text(text)
    (app / "answers/labels.json").write_text('{"good": true, "new": false}')
    monkeypatch.setattr(sys, "argv", ["", str(tmp_path)])

    assert score_answers.main() == 1
    said = capsys.readouterr().out
    assert "app/good: passed" in said
    assert "app/new: unknown not built: set BENCHGATE_BUILDER=docker|podman" in said
    assert "0 of 1 judged wrongly: 0 right ones refused, 0 broken ones passed; 95 %" in said
    assert said.endswith("1 not built\n")
    assert score_answers.interval(26, 104) == pytest.approx((0.177, 0.341), abs=1e-3)


@pytest.mark.skipif(os.name == "nt", reason="a shell script")
def test_a_real_tool_finds_what_was_fetched_in_every_step_of_a_build(tmp_path, monkeypatch):
    kept, script = tmp_path / "kept", tmp_path / "tool"
    kept.mkdir()
    (kept / "wheel").write_text("held")
    (kept / "link").symlink_to("wheel")
    asked = {"variable": "CACHE", "home": ".tool", "program": "sh -c 'cat $0/link' $cache"}
    script.write_text(real_tools.SEEDED.format(kept=kept, **asked))
    monkeypatch.setenv("HOME", str(tmp_path))

    for cache in ("", "", str(tmp_path / "a/b")):
        monkeypatch.setenv("CACHE", cache)
        done = subprocess.run(["/bin/sh", script], capture_output=True, check=True)  # noqa: S603
        assert done.stdout == b"held"
    assert (tmp_path / ".tool/link").is_symlink()


NO_SUM = "missing go.sum entry for module providing package example.org/dep\n"


@pytest.mark.skipif(os.name == "nt", reason="a shell script")
@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("go build -o m", NO_SUM),
        ("go vet ./...", NO_SUM),
        # Only the sum of its go.mod is written then.
        ("go mod download; go build", NO_SUM),
        ("go mod download all; go build; cat m", "static64"),
        ("go mod tidy; go build; cat m", "static64"),
        ("go build -mod=mod; cat m", "static64"),
        ("echo example.org/dep v1.0.0 h1:x= > go.sum; go build; cat m", "static64"),
        ("echo 'replace example.org/dep => ./dep' >> go.mod; go build; cat m", "static64"),
        ("echo > main.go; go build; cat m", "static64"),
        ("mkdir vendor; go build -a --trimpath --installsuffix cgo -p 2; cat m", "static64"),
        ("mkdir vendor; echo '\"net\"' > net.go; go build -o m .; cat m", "shared64"),
        ("mkdir vendor; GOARCH= go build; cat m", "static64"),
        ("mkdir vendor; GOARCH=arm64 go build; cat m", "static\ufffd4"),
        ("mkdir vendor; go build -o", "flag needs an argument: -o\n"),
        ("mkdir vendor; go build ./cmd", "go: no such directory ./cmd\n"),
        # What a program is called by.
        ("mkdir vendor; go build main.go; cat main", "static64"),
        ("mkdir vendor; go build -o out main.go; cat out", "static64"),
        ("mkdir vendor out; go build -o out ./main.go; cat out/main", "static64"),
        ("mkdir vendor; go build two/a.go two/b.go; cat a", "static64"),
        ("mkdir vendor; go build gone.go", "no required module provides package gone.go"),
        ("mkdir vendor; go build -o p m/two; cat p", "static64"),
        ("mkdir vendor; go build -o p ./two; cat p", "static64"),
        ("mkdir vendor; echo module e.org/m/v2 > go.mod; go build; cat m", "static64"),
        ("mkdir vendor; go build -o out/ ./...; cat out/m out/two", "static64This one is static64"),
        ("mkdir vendor; go build ./...; ls", "go.mod\nmain.go\ntwo\nvendor\n"),
        ("mkdir vendor; go build -o out ./...", "go: cannot write multiple packages to"),
        ("mkdir vendor; GOBIN=$PWD/bin go install ./two; cat bin/two", "static64"),
        ("mkdir vendor; go install e.org/x@latest", "stand-in limit: go-install"),
        ("go generate ./...", "stand-in limit: go-verb"),
        ("rm go.mod; go mod tidy", "go: go.mod file not found in current directory or any parent"),
    ],
)
def test_go_needs_the_sums_of_modules_and_builds_for_one_machine(tmp_path, script, said):
    files = {
        "kept/static": "This one is static64",
        "kept/dynamic": "This one is shared64",
        "project/go.mod": "module m\n\nrequire (\n\texample.org/dep v1.0.0 // more\n)\n",
        "project/main.go": 'package main\nimport "example.org/dep/a"\n',
        "project/two/a.go": "package main\n",
        "project/two/b.go": "package main\n",
    }

    assert said in stood_in(tmp_path, "go", files, script)


OWN = "<artifactId>shop</artifactId><version>1.2</version>"
ABOVE = "<parent><artifactId>above</artifactId><version>9</version></parent>"


@pytest.mark.skipif(os.name == "nt", reason="a shell script")
@pytest.mark.parametrize(
    ("pom", "words", "said"),
    [
        (OWN, "package", "shop-1.2.jar\n"),
        (OWN, "compile", ""),
        (ABOVE + OWN, "-q -B clean package", "shop-1.2.jar\n"),
        (ABOVE + "<artifactId>shop</artifactId>", "verify", "shop-9.jar\n"),
        ("<!-- <artifactId>no</artifactId> -->\n" + OWN, "package", "shop-1.2.jar\n"),
        (f"<dependencies><dependency>{ABOVE}</dependency></dependencies>{OWN}", "package", "shop-1.2.jar\n"),
        (OWN + "<packaging>war</packaging>", "package", "shop-1.2.war\n"),
        (OWN + "<packaging>pom</packaging>", "package", "stand-in limit: mvn-packaging\n"),
        (OWN + "<build><finalName>a</finalName></build>", "install", "a.jar\n"),
        (OWN + "<build><finalName>${project.artifactId}-x</finalName></build>", "package", "shop-x.jar\n"),
        (
            "<properties><revision>3</revision></properties><artifactId>a</artifactId><version>${revision}</version>",
            "package", "a-3.jar\n",
        ),
        ("<artifactId>a</artifactId><version>${revision}</version>", "package -Drevision=4", "a-4.jar\n"),
        ("<artifactId>a</artifactId><version>${gone}</version>", "package", "stand-in limit: mvn-property\n"),
        (OWN + "<modules><module>a</module></modules>", "package", "stand-in limit: mvn-modules\n"),
        (OWN, "-pl a -am package", "stand-in limit: mvn-modules\n"),
        (OWN, "dependency:copy-dependencies", "stand-in limit: mvn-goal\n"),
        (OWN, "-q dependency:go-offline", ""),
        (OWN + "<build>maven-assembly-plugin</build>", "package", "stand-in limit: mvn-plugin\n"),
        (OWN, "-f gone.xml package", "there is no POM in this directory\n"),
    ],
)  # fmt: skip
def test_maven_names_the_archive_as_the_project_does(tmp_path, pom, words, said):
    files = {"project/pom.xml": f'<?xml version="1.0"?>\n<project>\n{pom}\n</project>\n'}

    assert stood_in(tmp_path, "mvn", files, f"mvn {words}; [ ! -d target ] || ls target") == said


@pytest.mark.skipif(os.name == "nt", reason="a shell script")
@pytest.mark.parametrize(
    ("name", "script", "said"),
    [
        ("gcc", "touch a.c; gcc -O2 -o a a.c && cat a", "dynamic"),
        ("gcc", "gcc -dM -E -xc - < /dev/null", "stand-in limit: gcc-preprocess\n"),
        (
            "cargo",
            "echo '[workspace]' > Cargo.toml; cargo build",
            "stand-in limit: cargo-workspace\n",
        ),
        ("dotnet", "dotnet publish Shop.sln", "stand-in limit: dotnet-project\n"),
        ("limit", "limit", "stand-in limit: program\n"),
    ],
)
def test_a_stand_in_says_what_it_cannot_do(tmp_path, name, script, said):
    assert stood_in(tmp_path, name, {"kept/dynamic": "dynamic"}, script) == said


@pytest.mark.skipif(os.name == "nt" or not shutil.which("node"), reason="a shell script with node")
@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("mkdir -p node_modules/tsx; npm run build", "stand-in limit: npm-program\n"),
        # Without the package the real one finds no program as well.
        ("npm run build", "tsc: not found\n"),
        ("npm run say", "hello\n"),
        ("npm run gone", 'npm error Missing script: "gone"\n'),
    ],
)
def test_npm_runs_what_is_there(tmp_path, script, said):
    held = {"scripts": {"build": "tsc -p .", "say": "echo hello"}, "devDependencies": {"tsx": "1"}}
    files = {"project/package.json": json.dumps(held)}

    assert stood_in(tmp_path, "npm", files, script).endswith(said)


def test_the_limits_are_those_that_stand_ins_say():
    # These are said by modules of Python, or by the observer of what other programs say.
    said = {"apk-files", "apk-older", "module", "npm-file", "npm-module", "pip-hash", "pip-package"}
    said |= {
        "apk-program",
        "network",
        "nginx-version",
        "node-version",
        "python-build",
        "pipenv-verb",
        "poetry-verb",
        "python-folder",
        "python-version",
    }
    for path in (images.HERE / "scripts").iterdir():
        said |= {
            *re.findall(
                r"(?:limit |limit\(\"|stand-in limit: )([a-z]+(?:-[a-z]+)*)", path.read_text()
            )
        }

    assert said == {*limits.LIMITS}


@pytest.mark.parametrize(
    ("line", "is_limit"),
    [
        ("#8 0.52 stand-in limit: mvn-modules", True),
        ("stand-in limit: mvn-modules", True),
        ("1.25 stand-in limit: mvn-modules", True),
        # What is no limit on the list is a verdict, and so is what a step is called.
        ("#8 0.52 stand-in limit: whatever", False),
        ("#8 [2/3] RUN echo stand-in limit: mvn-modules", False),
        ("#8 0.52 the stand-in limit: mvn-modules", False),
    ],
)
def test_only_what_is_on_the_list_of_limits_is_no_verdict(docker, tmp_path, line, is_limit):
    with pytest.raises(builder.Unavailable, match="several modules") if is_limit else nullcontext():
        found = docker(f"{line}\ngone").observe({"Dockerfile": "FROM a"}, tmp_path / "x", wanted())
        assert found == {"built": False, "error": "gone"}


def test_a_build_past_its_time_is_built_once_more_alone_and_then_judged(
    docker, tmp_path, monkeypatch
):
    turns = []

    @contextlib.contextmanager
    def turn(*, alone):
        turns.append(alone)
        yield

    docker("gone")
    (tmp_path / "docker").write_text("#!/bin/sh\nexec sleep 9\n")
    monkeypatch.setattr(builder, "BUILD_PATIENCE", 0.1)
    monkeypatch.setattr(builder, "_turn", turn)
    one = builder.Builder("docker", stands_in=True)

    found = one.observe({"Dockerfile": "FROM a"}, tmp_path / "x", wanted())
    assert found == {"built": False, "error": "not built in 0.2 s, alone"}
    assert turns == [False, True]


@pytest.mark.skipif(os.name == "nt", reason="there is no fcntl")
def test_who_builds_alone_has_nobody_beside(tmp_path, monkeypatch):
    monkeypatch.setattr(builder, "HERE", tmp_path / "lock")
    (tmp_path / "lock").touch()
    said, first, second = [], threading.Event(), threading.Event()

    def build(name, *, alone, begun, until):
        with builder._turn(alone=alone):
            said.append(f"{name} begins")
            begun.set()
            until.wait(9)
            said.append(f"{name} ends")

    done = threading.Event()
    done.set()
    begun, alone = threading.Event(), threading.Event()
    threads = [
        threading.Thread(
            target=build, args=("a",), kwargs={"alone": False, "begun": begun, "until": first}
        ),
        threading.Thread(
            target=build, args=("b",), kwargs={"alone": False, "begun": second, "until": first}
        ),
        threading.Thread(
            target=build, args=("c",), kwargs={"alone": True, "begun": alone, "until": done}
        ),
    ]
    threads[0].start()
    threads[1].start()
    assert begun.wait(9)
    assert second.wait(9)
    threads[2].start()
    assert not alone.wait(0.3)
    first.set()
    for thread in threads:
        thread.join(9)
    assert said[-2:] == ["c begins", "c ends"]


@pytest.mark.parametrize("option", ["--load", "--python", "--node", "--projects"])
def test_a_path_that_cannot_be_used_is_refused_when_it_is_read(
    option, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "debian/bin").mkdir(parents=True)
    (tmp_path / "debian/bin/busybox").touch()
    said = {"debian": f"debian is a relative path; write {tmp_path / 'debian'}"}
    said |= {f"{tmp_path}/gone": f"there is no {tmp_path}/gone"}
    if option == "--load":
        said |= {
            f"{tmp_path}/debian": "debian lacks tini, nginx, nginx-common, make, libpcre2-8-0: "
        }
    for path, why in said.items():
        monkeypatch.setattr(sys, "argv", ["", option, path])
        with pytest.raises(SystemExit):
            record_observations.main()
        assert f"{option}: {why}" in capsys.readouterr().err.replace(
            f"{tmp_path}/debian l", "debian l"
        )


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("BENCHGATE_BUILDER"), reason="no BENCHGATE_BUILDER")
@pytest.mark.parametrize("number", ["001", "004", "038"])
def test_a_build_of_today_shows_the_same(number):
    key, files, asks = task(support.load(number), support.best(number))
    today, known = build.built(files, asks), store.stored("stand-in")[key]
    fixed = [{k: v for k, v in one.items() if k not in TIMED} for one in (today, known)]

    assert json.loads(json.dumps(fixed[0])) == fixed[1]
