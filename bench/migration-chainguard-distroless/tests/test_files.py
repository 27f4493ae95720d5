# mypy: allow-untyped-defs, allow-untyped-calls
"""Where files end up."""

import pytest
from _benchgate_bench.migration_chainguard_distroless.dockerfile.instruction import Refused
from _benchgate_bench.migration_chainguard_distroless.image.context import read_output, sent
from _benchgate_bench.migration_chainguard_distroless.image.files import MAX_FILES, Files, Made
from _benchgate_bench.migration_chainguard_distroless.tests.support import build

CONTEXT = {"app.py": "x", "lib/a.py": "y", "lib/sub/b.py": "z", ".env": "S=1"}


def files(text, context=None, made=()):
    return Files(build(text), CONTEXT if context is None else context, made)


def contents(lines):
    found = files("FROM a\n" + lines)
    return dict(found.contents(found.build.final))


def has(text, path, made=()):
    found = files(text, made=made)
    return found.has(found.build.final, path)


@pytest.mark.parametrize(
    ("lines", "held"),
    [
        ("COPY app.py /x", {"/x": "app.py"}),
        ("COPY app.py /x/", {"/x/app.py": "app.py"}),
        ("WORKDIR //w\nCOPY //app.py .", {"/w/app.py": "app.py"}),
        ("COPY app.py //x", {"/x": "app.py"}),
        ("COPY ./app.py /x/", {"/x/app.py": "app.py"}),
        ("COPY /app.py /x/", {"/x/app.py": "app.py"}),
        ("WORKDIR /w\nCOPY app.py .", {"/w/app.py": "app.py"}),
        ("WORKDIR /w\nCOPY app.py ./", {"/w/app.py": "app.py"}),
        ("WORKDIR /w\nCOPY app.py ..", {"/app.py": "app.py"}),
        ("WORKDIR /w\nCOPY app.py b.py", {"/w/b.py": "app.py"}),
        ("COPY lib /x", {"/x/a.py": "lib/a.py", "/x/sub/b.py": "lib/sub/b.py"}),
        ("COPY lib/ /x/", {"/x/a.py": "lib/a.py", "/x/sub/b.py": "lib/sub/b.py"}),
        ("COPY lib/*.py /x/", {"/x/a.py": "lib/a.py"}),
        ("COPY *.py /x/", {"/x/app.py": "app.py"}),
        ("COPY app.py lib/a.py /x", {"/x/app.py": "app.py", "/x/a.py": "lib/a.py"}),
        ("COPY . /x", {f"/x/{path}": path for path in CONTEXT}),
        ("ADD . /x", {f"/x/{path}": path for path in CONTEXT}),
        ('COPY ["app.py", "/x y"]', {"/x y": "app.py"}),
        ("COPY nothing /x", {}),
        ("COPY --from=nginx /app.py /x", {}),
        ("COPY <<E /x\nhello\nE", {"/x": "<<hello\n"}),
        ("COPY <<-'E' /x/\nhello\nE", {"/x/E": "<<hello\n"}),
        (
            "COPY <<E <<F app.py /x/\n1\nE\n2\nF",
            {"/x/E": "<<1\n", "/x/F": "<<2\n", "/x/app.py": "app.py"},
        ),
        ("COPY app.py /x\nCOPY lib/a.py /x", {"/x": "lib/a.py"}),
        ("RUN cp app.py /x", {}),
    ],
)
def test_copies_land_where_docker_puts_them(lines, held):
    assert contents(lines) == held


def test_files_are_followed_through_stages():
    text = (
        "FROM a AS one\nCOPY . /src\nFROM one AS two\nCOPY app.py /late.py\nFROM b\n"
        "COPY --from=two /src/lib /lib\nCOPY --from=0 /src/.env /config\nCOPY --from=two /late.py /\n"
    )
    found = files(text)

    assert found.contents(found.build.final) == {
        "/lib/a.py": "lib/a.py",
        "/lib/sub/b.py": "lib/sub/b.py",
        "/config": ".env",
        "/late.py": "app.py",
    }
    assert found.text(found.build.final, "/config") == "S=1"
    assert found.text(found.build.final, "/nothing") is None


def test_a_heredoc_is_read_wherever_it_was_written():
    found = files('FROM a AS one\nCOPY <<-"$E" /x\nhi\n$E\nFROM b\nCOPY --from=one /x /y\n')

    assert found.text(found.build.final, "/y") == "hi\n"


@pytest.mark.parametrize(
    ("text", "path", "there"),
    [
        ("FROM a\nCOPY app.py /app/", "/app/app.py", True),
        ("FROM a\nCOPY app.py /app/", "/app/other.py", False),
        ("FROM a\nRUN go build -o /out/server .", "/out/server", True),
        ("FROM a\nRUN go build -o=/out/server .", "/out/server", True),
        ("FROM a\nRUN go build -o /out/server .", "/out/other", False),
        ("FROM a\nRUN go build -o /out .", "/out/server", True),
        ("FROM a\nWORKDIR /src\nRUN go build -o server .", "/src/server", True),
        ("FROM a\nWORKDIR /src\nRUN go build -o ./server .", "/src/server", True),
        ("FROM a\nWORKDIR /src\nRUN go build -o server .", "/server", False),
        ("FROM a\nRUN cd /src && go build -o server .", "/src/server", True),
        ("FROM a\nRUN echo /out/server", "/out/server", False),
        ("FROM a\nRUN mkdir /out", "/out/server", False),
        ("FROM a\nRUN echo x > /out/server", "/out/server", True),
        ("FROM a\nRUN echo x >> /out/server", "/out/server", True),
        ("FROM a\nRUN true / && x /", "/out/server", False),
        ("FROM a\nRUN mkdir /out && cp server /out/", "/out/server", True),
        ("FROM a\nRUN mkdir /out && cp server /outer/", "/out/server", False),
        ("FROM a\nRUN --mount=type=cache,target=/out x /out/server", "/out/server", False),
        ("FROM a\nRUN --mount=type=tmpfs,dst=/out/ x /out/server", "/out/server", False),
        ("FROM a\nRUN --mount=destination=/out x /out/server", "/out/server", False),
        ("FROM a\nWORKDIR /w\nRUN --mount=target=out x out/server", "/w/out/server", False),
        ("FROM a\nRUN --mount=type=cache,target=/ou x /out/server", "/out/server", True),
        ("FROM a\nRUN --mount=type=secret,id=/out x /out/server", "/out/server", True),
        ("FROM a\nRUN --network=none --mount=target=/out x /out/s", "/out/s", False),
        ("FROM a\nRUN --mount=target=/out true\nRUN x /out/s", "/out/s", True),
        ("FROM a AS b\nRUN x /out/server\nFROM c\nCOPY --from=b /out/server /s", "/s", True),
        (
            "FROM a AS b\nRUN x /out/server\nFROM c\nCOPY --from=b /out/server /bin/",
            "/bin/server",
            True,
        ),
        ("FROM a AS b\nRUN x /out/server\nFROM c\nCOPY --from=b /out/ /bin/", "/bin/server", True),
        ("FROM a AS b\nRUN x /out/server\nFROM c\nCOPY --from=b /out /bin", "/bin/server", True),
        ("FROM a AS b\nRUN x /out/server\nFROM c\nCOPY --from=b out /bin", "/bin/server", True),
        ("FROM a AS b\nRUN x /out/server\nFROM c\nCOPY --from=b /other /s", "/s", False),
        ("FROM a AS b\nRUN x /out/server\nFROM c\nCOPY --from=b //out//server /s", "/s", True),
        ("FROM a AS b\nRUN x\nFROM c\nCOPY --from=b // /", "/s", False),
        ("FROM a AS b\nRUN x / //\nFROM c\nCOPY --from=b //o /s", "/s", False),
        ("FROM a AS b\nRUN x /out/server\nFROM c\nCOPY --from=b /out/server /s", "/t", False),
        ("FROM a AS b\nRUN x /out/server\nFROM c\nCOPY --from=d /out/server /s", "/s", False),
        ("FROM a AS b\nRUN x /out/server\nFROM b\n", "/out/server", True),
        ("FROM a AS b\nRUN x /out/server\nFROM c\n", "/out/server", False),
    ],
)
def test_a_file_is_there_if_it_was_copied_or_seen_to_be_made(text, path, there):
    assert has(text, path) is there


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("FROM a\nWORKDIR /src\nRUN mvn -q package", True),
        ("FROM a\nWORKDIR /src\nRUN mvn", True),
        ("FROM a\nRUN cd /src && mvn package", True),
        ("FROM a\nWORKDIR /x\nRUN cd ../src && mvn package", True),
        ("FROM a\nRUN cd && mvn package", False),
        ("FROM a\nWORKDIR /src\nRUN mvnw package", False),
        ("FROM a\nWORKDIR /src\nRUN echo mvn", False),
        ("FROM a\nWORKDIR /src\nRUN gradle build", False),
        ("FROM a\nWORKDIR /other\nRUN mvn package", False),
        ("FROM a\nCOPY mvn /src", False),
        ("FROM a\nWORKDIR /src\nRUN --mount=type=cache,target=target mvn package", False),
        ("FROM a\nWORKDIR /src\nRUN --mount=type=cache,target=/root/.m2 mvn package", True),
    ],
)
def test_a_tool_makes_its_file_in_the_working_folder(text, there):
    assert has(text, "/src/target/app.jar", [Made("target/app.jar", "mvn")]) is there


def test_copies_of_copies_are_not_followed_for_ever():
    double = "".join(
        f"FROM a AS s{n}\nCOPY --from=s{n - 1} / /a/\nCOPY --from=s{n - 1} / /b/\n"
        for n in range(1, 12)
    )
    found = files("FROM a AS s0\nCOPY app.py /\n" + double)

    assert MAX_FILES == 500
    with pytest.raises(Refused, match="dockerfile_unparsable"):
        found.contents(found.build.final)


def test_questions_about_copies_of_copies_come_to_an_end():
    double = "".join(
        f"FROM a AS s{n}\nCOPY --from=s{n - 1} /x/ /\nCOPY --from=s{n - 1} /y/ /\n"
        for n in range(1, 45)
    )
    found = files("FROM a AS s0\n" + double)

    assert not found.has(found.build.final, "/deep/file")


@pytest.mark.parametrize(
    ("ignored", "left"),
    [
        ("", ["a.env", "lib/a.env", "lib/b.py", "x.py"]),
        ("a.env", ["lib/a.env", "lib/b.py", "x.py"]),
        ("*.env", ["lib/a.env", "lib/b.py", "x.py"]),
        ("**/*.env", ["lib/b.py", "x.py"]),
        ("/lib/", ["a.env", "x.py"]),
        ("lib", ["a.env", "x.py"]),
        ("# lib\n\n", ["a.env", "lib/a.env", "lib/b.py", "x.py"]),
        ("*\n!x.py", ["x.py"]),
        ("!x.py\n*", []),
        ("  ?.py  ", ["a.env", "lib/a.env", "lib/b.py"]),
        ("l*/b.py", ["a.env", "lib/a.env", "x.py"]),
        ("****.env", ["lib/b.py", "x.py"]),
        ("*?*?*x.py", ["a.env", "lib/a.env", "lib/b.py", "x.py"]),
    ],
)
def test_what_is_ignored_is_not_sent(ignored, left):
    context = dict.fromkeys(("a.env", "lib/a.env", "lib/b.py", "x.py"), "")

    assert sorted(sent({**context, ".dockerignore": ignored}).keys() - {".dockerignore"}) == left


@pytest.mark.parametrize(
    ("output", "code"),
    [
        ({}, "output_missing_file"),
        ({"files": None}, "output_missing_file"),
        ({"files": ["Dockerfile"]}, "output_missing_file"),
        ({"files": {}}, "output_missing_file"),
        ({"files": {"Dockerfile": None}}, "output_missing_file"),
        ({"files": {"Dockerfile": b"FROM a"}}, "output_missing_file"),
        ({"files": {"Dockerfile": "FROM a", "x": 1}}, "output_malformed"),
        ({"files": {"Dockerfile": "FROM a", 1: "x"}}, "output_malformed"),
        ({"files": {"Dockerfile": "FROM a", "../x": ""}}, "output_malformed"),
        ({"files": {"Dockerfile": "FROM a", "a/../x": ""}}, "output_malformed"),
        ({"files": {"Dockerfile": "FROM a", "/x": ""}}, "output_malformed"),
        ({"files": {"Dockerfile": "FROM a", "": ""}}, "output_malformed"),
        ({"files": {"Dockerfile": "FROM a", "x\n": ""}}, "output_malformed"),
        ({"files": {"Dockerfile": "FROM a", "x" * 101: ""}}, "output_malformed"),
        ({"files": {"Dockerfile": "FROM a", "x": "y" * 200_001}}, "output_malformed"),
        (
            {"files": {"Dockerfile": "FROM a", **{f"f{n}": "" for n in range(50)}}},
            "output_malformed",
        ),
    ],
)
def test_what_is_no_answer_is_refused(output, code):
    with pytest.raises(Refused, match=code):
        read_output({}, output)


def test_an_answer_is_laid_over_what_was_given():
    output = {
        "files": {
            "Dockerfile": "FROM a",
            "b": "2",
            "x" * 100: "y" * 200_000,
            **{f"f{n}": "" for n in range(47)},
        }
    }
    found = read_output({"Dockerfile": "FROM old", "a": "1", "b": "1"}, output)

    assert (found["Dockerfile"], found["a"], found["b"]) == ("FROM a", "1", "2")
