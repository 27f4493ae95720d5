# mypy: allow-untyped-defs, allow-untyped-calls
"""Every entry of every table of the rubric has an effect, and every limit is exact."""

import sys
from importlib.util import find_spec
from types import ModuleType

import pytest
from _benchgate_bench.migration_chainguard_distroless import axes
from _benchgate_bench.migration_chainguard_distroless.dockerfile import buildkit, plain_parser
from _benchgate_bench.migration_chainguard_distroless.dockerfile.expand import MAX_VALUE, expand
from _benchgate_bench.migration_chainguard_distroless.dockerfile.instruction import (
    KNOWN,
    Heredoc,
    Instruction,
    Refused,
)
from _benchgate_bench.migration_chainguard_distroless.dockerfile.parser import parse
from _benchgate_bench.migration_chainguard_distroless.dockerfile.shell import (
    commands,
    packages_added,
)
from _benchgate_bench.migration_chainguard_distroless.dockerfile.words import (
    SPACE,
    heredoc_names,
    split_flags,
    split_words,
)
from _benchgate_bench.migration_chainguard_distroless.expected import Expected
from _benchgate_bench.migration_chainguard_distroless.harm import findings
from _benchgate_bench.migration_chainguard_distroless.image.base_images import Reference
from _benchgate_bench.migration_chainguard_distroless.image.config import absolute
from _benchgate_bench.migration_chainguard_distroless.image.context import (
    MAX_WILDCARDS,
    read_output,
    sent,
)
from _benchgate_bench.migration_chainguard_distroless.image.files import Files, Made
from _benchgate_bench.migration_chainguard_distroless.image.python_packages import (
    sees_python_packages,
)
from _benchgate_bench.migration_chainguard_distroless.image.run_steps import users_made
from _benchgate_bench.migration_chainguard_distroless.image.runnable import (
    build_problems,
    programs,
    shells_copied,
    start_problems,
)
from _benchgate_bench.migration_chainguard_distroless.image.runtime import is_root, starts
from _benchgate_bench.migration_chainguard_distroless.image.stages import borrowed
from _benchgate_bench.migration_chainguard_distroless.tests.support import (
    FREE,
    answer,
    build,
    edited,
)
from pydantic import ValidationError

STATIC = f"FROM {FREE}/static\n"
PLAIN = f"FROM {FREE}/python:latest\n"
DEV = f"FROM {FREE}/python:latest-dev\nUSER root\n"
BOTH = [pytest.param(parse, id="parser"), pytest.param(plain_parser.parse, id="plain")]


def has(text, path, made=(), context=None):
    found = Files(build(text), context or {}, made)
    return found.has(found.build.final, path)


def contents(lines, context):
    found = Files(build("FROM a\n" + lines), context)
    return dict(found.contents(found.build.final))


def run(text):
    return commands(parse(f"FROM a\nRUN {text}\n")[1])


def harm(lines, context=None):
    return set(findings(Files(build("FROM a\n" + lines), context or {})))


def code(call, *given):
    with pytest.raises(Refused) as refused:
        call(*given)
    return refused.value.code


# instructions and parsers

SHAPES = {
    "ADD": ("a b", ("a", "b")),
    "ARG": ("a=b c", ("a=b", "c")),
    "CMD": ("a  b", ("a  b",)),
    "COPY": ("a b", ("a", "b")),
    "ENTRYPOINT": ("a  b", ("a  b",)),
    "ENV": ("a=b c=d", ("a", "b", "c", "d")),
    "EXPOSE": ("1 2", ("1", "2")),
    "FROM": ("a AS b", ("a", "AS", "b")),
    "HEALTHCHECK": ("CMD a  b", ("CMD", "a  b")),
    "LABEL": ("a=b c=d", ("a", "b", "c", "d")),
    "MAINTAINER": ("a  b", ("a  b",)),
    "ONBUILD": ("USER b", ("USER b",)),
    "RUN": ("a  b", ("a  b",)),
    "SHELL": ('["a", "b"]', ("a", "b")),
    "STOPSIGNAL": ("a", ("a",)),
    "USER": ("a  b", ("a  b",)),
    "VOLUME": ("/a /b", ("/a", "/b")),
    "WORKDIR": ("/a  b", ("/a  b",)),
}


def test_the_parser_of_buildkit_is_taken_where_it_is_installed():
    assert buildkit.available() is (find_spec("dockerfile") is not None)


def test_another_module_of_that_name_is_not_taken(monkeypatch):
    monkeypatch.setitem(sys.modules, "dockerfile", ModuleType("dockerfile"))

    assert buildkit._library.__wrapped__() is None


def test_all_instructions_have_a_shape_here():
    assert set(SHAPES) == KNOWN


@pytest.mark.parametrize("one", BOTH)
@pytest.mark.parametrize("name", sorted(SHAPES))
def test_each_instruction_is_known_and_cut_as_it_should(one, name):
    text, value = SHAPES[name]
    found = one(f"FROM a\n{name.lower()} {text}\n")[1]

    assert (found.name, found.value, found.json, found.line) == (name, value, name == "SHELL", 2)


@pytest.mark.parametrize("one", BOTH)
@pytest.mark.parametrize("name", ["ADD", "CMD", "COPY", "ENTRYPOINT", "RUN", "SHELL", "VOLUME"])
def test_each_exec_form_is_a_list(one, name):
    found = one(f'FROM a\n{name} ["a b", "c"]\n')[1]

    assert (found.value, found.json) == (("a b", "c"), True)


@pytest.mark.parametrize("one", BOTH)
@pytest.mark.parametrize("name", ["ADD", "COPY", "RUN"])
def test_each_instruction_with_heredocs_takes_its_lines(one, name):
    found = one(f"FROM a\n{name} <<E /x\n\tE\nUSER a\nE\nUSER b\n")

    assert [step.name for step in found] == ["FROM", name, "USER"]
    assert found[1].heredocs == (Heredoc("E", "\tE\nUSER a\n"),)


@pytest.mark.parametrize("one", BOTH)
@pytest.mark.parametrize("name", ["syntax", "Syntax"])
def test_a_directive_may_precede_the_escape(one, name):
    found = one(f"# {name}=x\n# escape=`\nFROM a `\nAS b\n")

    assert found == (Instruction("FROM", ("a", "AS", "b"), line=3),)


@pytest.mark.parametrize("one", BOTH)
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("\nFROM a", [("FROM", ("a",))]),
        ("FROM a\nRUN b \\X\nUSER c\n", [("FROM", ("a",)), ("RUN", ("b \\X",)), ("USER", ("c",))]),
        ("FROM a\nRUN b \\ \t\nUSER c\n", [("FROM", ("a",)), ("RUN", ("b USER c",))]),
    ],
)
def test_lines_are_read_to_their_end(one, text, found):
    assert [(step.name, step.value) for step in one(text)] == found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ADD a b\nFROM x\n", "from_missing"),
        ("WORKDIR a\nFROM x\n", "from_missing"),
        ("ARG a\n", "from_missing"),
        ("FROM a\nXYZ b\n", "instruction_unknown"),
        ("FROM a AT b\n", "dockerfile_unparsable"),
        ("FROM a b\n", "dockerfile_unparsable"),
        ("FROM a AS b c\n", "dockerfile_unparsable"),
        ("FROM a\nSHELL b\n", "dockerfile_unparsable"),
        ("FROM a\nHEALTHCHECK b c\n", "dockerfile_unparsable"),
        ("FROM a\x00\n", "dockerfile_unparsable"),
        ("FROM a\nRUN " + "x" * 60_000, "dockerfile_unparsable"),
        ("FROM a\nRUN <<E\n", "dockerfile_unparsable"),
        *[(f"FROM a\n{name}\n", "dockerfile_unparsable") for name in
          ("ENV", "EXPOSE", "HEALTHCHECK", "LABEL", "RUN", "SHELL", "STOPSIGNAL", "USER", "VOLUME", "WORKDIR")],
        *[(f"FROM a\n{name} b\n", "dockerfile_unparsable") for name in ("ADD", "COPY", "ENV")],
    ],
)  # fmt: skip
def test_each_refusal_has_its_code(text, said):
    assert code(parse, text) == said


def test_a_flag_that_ends_within_a_letter_leaves_half_of_it():
    assert split_flags("--a=\u5151 b") == ("\ufffd b", ("--a=\xe5",))


def test_an_instruction_gives_the_last_of_its_flags():
    one = Instruction("COPY", (), ("--from=a", "--from=b=c", "--fromage=d", "--link"))

    assert (one.flag("from"), one.flag("link"), one.flag("f")) == ("b=c", None, None)


# words


@pytest.mark.parametrize("space", [*SPACE])
def test_each_space_of_go_ends_a_word(space):
    assert split_words(f"a=b{space}c=d", "\\") == ["a=b", "c=d"]
    assert list(heredoc_names(f"x{space}<<E{space}y")) == [("E", False)]


@pytest.mark.parametrize("space", ["\x1c", "\x1d", "\x1e", "\x1f", "\u200b"])
def test_what_only_python_calls_a_space_does_not(space):
    assert split_words(f"a=b{space}c=d", "\\") == [f"a=b{space}c=d"]


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("<<E", [("E", False)]),
        ("x <<-E", [("E", True)]),
        ("x 3<<E", [("E", False)]),
        ("x <<A <<-B", [("A", False), ("B", True)]),
        (r"\' <<E", [("E", False)]),
        (r"echo \' <<E", [("E", False)]),
        (r"echo it\'s x <<E", [("E", False)]),
        ("'' <<E", [("E", False)]),
        ("'a' <<E", [("E", False)]),
        (r'"a\"b" <<E', [("E", False)]),
        (r"'a\' <<E", [("E", False)]),
        (r'"a\" <<E', []),
        ("it's <<E", []),
        ("'<<E'", []),
        ("${a <<E", []),
        ("${a} <<E", [("E", False)]),
        ("${a:-<<E}", []),
        ("<<'E F'", [("E F", False)]),
        (r"<<E\ F", [("E F", False)]),
        ('<<"E"', [("E", False)]),
        ("<<''", []),
        ("<<<E", []),
        ("<< E", []),
    ],
)
def test_heredocs_are_announced_outside_quotes(line, names):
    assert list(heredoc_names(line)) == names


@pytest.mark.parametrize(
    ("text", "rest", "flags"),
    [
        ("--a=X b", "b", ("--a=X",)),
        ("--a='b c' d", "d", ("--a=b c",)),
        ('--a="b c" d', "d", ("--a=b c",)),
        ('--a="b\'c" d', "d", ("--a=b'c",)),
        (r"--a=b\ c d", "d", ("--a=b c",)),
        (r"--a=\'b c", "c", ("--a='b",)),
        ("--a --b c --d", "c --d", ("--a", "--b")),
        ("--a -- --b", " --b", ("--a",)),
        ("a --b", "a --b", ()),
    ],
)
def test_flags_are_cut_off(text, rest, flags):
    assert split_flags(text) == (rest, flags)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a='b c' d", ["a='b c'", "d"]),
        ('a="b c" d', ['a="b c"', "d"]),
        (r'a="b\" c" d', [r'a="b\" c"', "d"]),
        (r"a='b\' c", [r"a='b\'", "c"]),
        (r"a=b\ c d", [r"a=b\ c", "d"]),
        ("a=Xb c", ["a=Xb", "c"]),
        ("a=b\\", ["a=b"]),
        (" a  b ", ["a", "b"]),
    ],
)
def test_words_are_cut_outside_quotes(text, words):
    assert split_words(text, "\\") == words


# variables


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("$A\u00e9", "1\u00e9"),
        ("${A\u00e9}", "${A\u00e9}"),
        ("a\\\nb", "a\nb"),
        ('"a\\\nb"', "a\nb"),
        ('"\\""', '"'),
        ('"\\$A"', "$A"),
        ("$_a1", "2"),
        ("${_a1}", "2"),
        ("$1", "$1"),
        ("${1}", "${1}"),
        ("${C:-a b}", "a b"),
        ("${C:-${D:-x}}", "x"),
        ("${E-}", ""),
        ("${A:-}", "1"),
        ("${A:?x}", "${A:?x}"),
    ],
)  # fmt: skip
def test_each_form_of_a_variable_is_filled_in(text, filled):
    assert expand(text, {"A": "1", "_a1": "2", "E": ""}) == filled


def test_a_value_beyond_measure_has_its_code():
    assert code(expand, "$A", {"A": "x" * (MAX_VALUE + 1)}) == "dockerfile_unparsable"


# context and expectations


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("*", set()),
        ("**", set()),
        ("****", set()),
        ("*****", {"Xa", "ab/c", "abcd"}),
        ("????", {"Xa", "ab/c"}),
        ("?????", {"Xa", "ab/c", "abcd"}),
        ("*?*?*", {"Xa", "ab/c", "abcd"}),
        ("?*???", {"Xa", "ab/c", "abcd"}),
        ("??*?", {"Xa", "ab/c"}),
        ("*?", set()),
        ("??", {"abcd"}),
        ("**/c", {"Xa", "abcd"}),
        ("ab/**", {"Xa", "abcd"}),
        ("a*/?", {"Xa", "abcd"}),
        ("Xa", {"ab/c", "abcd"}),
        ("a.cd", {"Xa", "ab/c", "abcd"}),
        ("*\n!ab", {"ab/c"}),
        ("*\n! ab/", {"ab/c"}),
        ("*\n#!ab", set()),
    ],
)
def test_each_wildcard_counts_and_matters(line, left):
    files = dict.fromkeys(("Xa", "ab/c", "abcd"), "")

    assert MAX_WILDCARDS == 4
    assert sent({**files, ".dockerignore": line}).keys() - {".dockerignore"} == left


@pytest.mark.parametrize(
    "name", ["a", ".a", "_a", "a.b", "a@b", "a+b", "a-b", "a/b", "0", "a/.b", "a..b"]
)
def test_each_name_of_a_file_is_taken(name):
    assert read_output({}, {"files": {"Dockerfile": "", name: "x"}})[name] == "x"


@pytest.mark.parametrize(
    "name", ["-a", "a b", "a//b", "a/", "/a", "a\\b", "a:b", "\u00e9", "..", "a/..", "@a"]
)
def test_each_other_name_is_refused(name):
    assert code(read_output, {}, {"files": {"Dockerfile": "", name: "x"}}) == "output_malformed"


def test_no_answer_at_all_has_its_code():
    assert code(read_output, {}, {}) == "output_missing_file"


@pytest.mark.parametrize(
    ("credit", "fine"), [(0, False), (0.1, True), (1, True), (1.1, False), (2, False)]
)
def test_the_credit_of_an_image_is_above_0_and_up_to_1(credit, fine):
    given = {"schema_version": 1, "final_images": {"a": credit}, "argv": []}
    if fine:
        assert Expected.model_validate(given).final_images == {"a": credit}
    else:
        with pytest.raises(ValidationError, match="final_images"):
            Expected.model_validate(given)


# configuration and stages


@pytest.mark.parametrize(
    ("folder", "path", "found"),
    [
        ("/", "Xa", "/Xa"),
        ("/X", "a", "/X/a"),
        ("//a", "b", "/a/b"),
        ("/a", "/b", "/b"),
        ("/a", "..", "/"),
        ("/a", "../../b", "/b"),
        ("/a", "./b/", "/a/b"),
        ("/a", "", "/a"),
    ],
)
def test_where_a_path_leads(folder, path, found):
    assert absolute(folder, path) == found


def test_what_is_said_twice_counts_once():
    config = build("FROM a\nEXPOSE 1/TCP 2\nEXPOSE 1\nVOLUME /a\nVOLUME /a /b\n").final.config

    assert config.ports == {"1", "2"}
    assert config.volumes == {"/a", "/b"}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("CMD $A", ("$A",)),
        ("ENTRYPOINT $A", ("$A",)),
        ("HEALTHCHECK CMD $A", ("CMD", "$A")),
        ("RUN $A", ("$A",)),
        ('SHELL ["$A"]', ("$A",)),
        ("ADD $A b", ("1", "b")),
        ("COPY $A b", ("1", "b")),
        ("ENV B=$A", ("B", "1")),
        ("EXPOSE $A", ("1",)),
        ("LABEL b=$A", ("b", "1")),
        ("STOPSIGNAL $A", ("1",)),
        ("USER $A", ("1",)),
        ("VOLUME $A", ("1",)),
        ("WORKDIR $A", ("1",)),
    ],
)
def test_only_what_a_shell_reads_stays_as_written(line, words):
    assert build(f"FROM a\nENV A=1\n{line}\n").final.steps[-1].words == words


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("RUN --mount=from=t,target=/t x", ("t",)),
        ("RUN --mount=type=bind,from=t x", ("t",)),
        ("RUN --mount=type=cache,target=/t x", ()),
        ("RUN --mount=from=t --mount=from=u x", ("t", "u")),
        ("RUN --network=from=t x", ()),
        ("COPY --from=t a b", ("t",)),
        ("COPY a b", ()),
    ],
)
def test_what_a_stage_borrows(line, names):
    assert borrowed(build(f"FROM a\n{line}\n").final) == names


@pytest.mark.parametrize(
    ("base", "reference"),
    [("scratch", None), ("zzz", Reference("zzz")), ("abc:1", Reference("abc", "1"))],
)
def test_only_scratch_has_no_reference(base, reference):
    assert build(f"FROM {base}\n").final.reference == reference


def test_an_empty_image_is_no_stage_without_a_name():
    final = build("FROM a\nUSER b\nFROM $X\n").final

    assert (final.parent, final.base, final.config.user) == (None, "", "")


def test_only_arg_sets_arguments():
    assert build("FROM a\nADD A=1 /x\nENV V=$A\n").final.config.env == {"V": ""}


@pytest.mark.parametrize("name", ["a.io/o/a", "cgr.de/o/a", "cgr.dev2/o/a", "zzz.io/o/a"])
def test_images_of_other_registries_are_not_chainguards(name):
    assert not Reference(name).chainguard


# files

IDLE = ["[", "cat", "echo", "ls", "mkdir", "printf", "rm", "stat", "test", "touch"]


@pytest.mark.parametrize("tool", IDLE)
def test_each_idle_tool_makes_no_file(tool):
    assert not has(f"FROM a\nRUN {tool} /out/server\n", "/out/server")
    assert has(f"FROM a\nRUN {tool} x >/out/server\n", "/out/server") is False
    assert has(f"FROM a\nRUN {tool} x > /out/server\n", "/out/server")
    assert has(f"FROM a\nRUN {tool} x >> /out/server\n", "/out/server")
    assert has(f"FROM a\nRUN my{tool.strip('[')} /out/server\n", "/out/server")


@pytest.mark.parametrize(
    ("lines", "path", "there"),
    [
        ("WORKDIR /srcX\nRUN mvn", "/srcX/target/app.jar", True),
        ("RUN mkdir /src && mvn", "/src/target/app.jar", False),
        ("RUN cat /src && mvn", "/src/target/app.jar", False),
        ("RUN cd /src && mvn", "/src/target/app.jar", True),
        ("RUN x Xout", "/Xout", True),
        ("RUN x /X", "/X", True),
        ("RUN x >Xout", "/Xout", True),
        ("RUN x --out=/y", "/y", True),
    ],
)
def test_names_are_taken_whole(lines, path, there):
    assert has(f"FROM a\n{lines}\n", path, [Made("target/app.jar", "mvn")]) is there


@pytest.mark.parametrize(
    ("copy", "path", "there"),
    [
        ("/out /dX", "/dX/.x", True),
        ("/out /d", "/d/.x", True),
        ("/none /out/.x /bin/", "/bin/.x", True),
        ("/out/.x /none /bin/", "/bin/.x", True),
        ("/out/server /bin", "/bin", False),
        ("/out/server /bin", "/bin/server", True),
        ("/out/server /none", "/none", True),
        ("/out/server /none", "/none/server", False),
        ("/out/server /bin/", "/bin/server", True),
        ("/out/server /bin/", "/bin/other", False),
        ("/out/server /bin/", "/bin/zzz", False),
    ],
)
def test_files_come_from_where_a_copy_takes_them(copy, path, there):
    made = "FROM a AS b\nCOPY app.py /out/server\nRUN x /out/.x\n"

    assert has(f"{made}FROM c\nCOPY --from=b {copy}\n", path, context={"app.py": ""}) is there


@pytest.mark.parametrize(
    ("lines", "held"),
    [
        ("WORKDIR /w\nCOPY a $E", {"/w/a": "a"}),
        ("WORKDIR /w\nCOPY a .", {"/w/a": "a"}),
        ("WORKDIR /w\nCOPY a ..", {"/a": "a"}),
        ("COPY dirX /y", {"/y/b": "dirX/b"}),
        ("COPY dirX/ /y", {"/y/b": "dirX/b"}),
        ("COPY * /y/", {"/y/a": "a"}),
        ("COPY */b /y/", {"/y/b": "dirX/b"}),
    ],
)
def test_each_way_to_name_a_folder(lines, held):
    assert contents(lines, {"a": "", "dirX/b": ""}) == held


# shell


@pytest.mark.parametrize("mark", ["&&", "||", ";", "|", "&", "(", ")", "{", "}"])
def test_each_separator_ends_a_command(mark):
    assert run(f"a {mark} b") == (("a",), ("b",))


PREFIXES = ["!", "do", "elif", "else", "env", "exec", "if", "sudo", "then", "time", "while"]


@pytest.mark.parametrize("prefix", PREFIXES)
def test_each_prefix_is_no_program(prefix):
    assert run(f"{prefix} a b") == (("a", "b"),)
    assert run(f"{prefix} X_1=y a b") == (("a", "b"),)


@pytest.mark.parametrize("holder", ["", "bash", "sh", "dash", "ash", "/bin/sh"])
def test_each_shell_runs_its_heredoc(holder):
    assert run(f"<<E {holder}\na b\nE") == (("a", "b"),)


@pytest.mark.parametrize("holder", ["python", "cat", "perl -x"])
def test_other_programs_keep_theirs(holder):
    assert run(f"<<E {holder}\na b\nE") == (tuple(holder.split()),)


@pytest.mark.parametrize("shell", ["sh", "bash", "dash", "ash"])
def test_each_shell_is_an_interpreter(shell):
    assert run(f"<<E\n#!/bin/{shell}\na\nE") == (("a",),)
    assert run(f"<<E\n#!/bin/x{shell}\na\nE") == ()


def test_only_the_first_line_names_the_interpreter():
    assert run("<<E\n#!/usr/bin/env python\nrun('sh')\nE") == ()


@pytest.mark.parametrize("flag", ["-t", "--virtual", "-X", "--repository"])
def test_each_flag_with_a_value_takes_it(flag):
    assert packages_added(("apk", "add", flag, "x", "a")) == ("a",)
    assert packages_added(("apk", "add", "a", flag, "x")) == ("a",)


@pytest.mark.parametrize("flag", ["--no-cache", "-U", "-q", "--update", ".x"])
def test_other_flags_take_none(flag):
    assert packages_added(("apk", "add", flag, "a")) == ("a",)


@pytest.mark.parametrize("mark", [*"=<>~@"])
def test_each_mark_ends_the_name_of_a_package(mark):
    assert packages_added(("apk", "add", f"a-b.c{mark}1{mark}2")) == ("a-b.c",)


@pytest.mark.parametrize("tool", ["adduser", "useradd"])
def test_each_tool_makes_users(tool):
    assert users_made(build(f"FROM a\nRUN {tool} -D x\n").final) == {"x"}
    assert users_made(build(f"FROM a\nRUN my{tool} -D x\n").final) == set()


FOREIGN = [
    "add-apt-repository",
    "apt",
    "apt-get",
    "apt-key",
    "dnf",
    "dpkg",
    "microdnf",
    "rpm",
    "yum",
]
SHADOW = ["chpasswd", "groupadd", "useradd", "usermod"]


@pytest.mark.parametrize("tool", FOREIGN)
def test_each_foreign_tool_is_missing(tool):
    assert build_problems(build(f"{DEV}RUN {tool} x\n")) == [f"no {tool}"]


@pytest.mark.parametrize("tool", SHADOW)
def test_each_tool_of_shadow_needs_it_and_root(tool):
    shadow = f"{DEV}RUN apk add shadow\n"

    assert build_problems(build(f"{DEV}RUN {tool} x\n")) == [f"no {tool}"]
    assert build_problems(build(f"{shadow}RUN {tool} x\n")) == []
    assert build_problems(build(f"{shadow}USER 1\nRUN {tool} x\n")) == [f"{tool} needs root"]


@pytest.mark.parametrize("tool", ["adduser", "addgroup", "apk"])
def test_each_tool_of_busybox_needs_root(tool):
    assert build_problems(build(f"{DEV}RUN {tool} x\n")) == []
    assert build_problems(build(f"{DEV}USER 1\nRUN {tool} x\n")) == [f"{tool} needs root"]


# what runs

SHELLS = {
    "busybox": {"ash", "busybox", "sh"},
    "bash": {"bash"},
    "bash-binsh": {"sh"},
    "dash": {"dash"},
    "dash-binsh": {"sh"},
    "zsh": {"zsh"},
    "apk-tools": set(),
}


@pytest.mark.parametrize("package", SHELLS)
def test_each_package_brings_its_shells(package):
    found = build(f"{STATIC}RUN apk add {package}\n")
    one = answer(f"{STATIC}RUN apk add {package}\n")

    assert programs(found.final, found) == SHELLS[package]
    assert not axes.no_shell(one)
    assert axes.no_shell(answer(f"{STATIC}RUN apk add other\n"))


@pytest.mark.parametrize("program", ["ash", "bash", "busybox", "dash", "sh", "zsh", "curl", "wget"])
def test_each_program_has_to_be_there(program):
    found = build(f'{STATIC}CMD ["/usr/bin/{program}"]\n')

    assert start_problems(found.final, Files(found, {})) == [f"no {program}"]


@pytest.mark.parametrize(
    ("program", "package"), [("curl", "curl"), ("wget", "wget"), ("wget", "busybox")]
)
def test_each_fetcher_is_brought_by_its_package(program, package):
    found = build(f'{STATIC}RUN apk add {package}\nCMD ["{program}"]\n')

    assert start_problems(found.final, Files(found, {})) == []


@pytest.mark.parametrize(
    "folder", ["/", "/bin", "/usr", "/usr/bin", "/sbin", "/usr/sbin", "bin", "usr/bin/"]
)
def test_each_folder_with_shells_brings_one(folder):
    found = build(f"{STATIC}COPY --from=debian {folder} /x\n")

    assert shells_copied(found.final, found) == {"sh"}


@pytest.mark.parametrize(
    ("line", "shells"),
    [
        ("COPY a /bin/shX", set()),
        ("COPY a /x/bash/", {"bash"}),
        ("COPY --from=b /a /bin/bash /x/", {"bash"}),
        ("COPY --from=b /bin/bash /a /x/", {"bash"}),
        ("COPY --from=b /bin/bash/ /x/", {"bash"}),
        ("COPY --from=b /opt/bin /x", set()),
    ],
)
def test_each_source_and_the_target_are_looked_at(line, shells):
    found = build(f"{STATIC}{line}\n")

    assert shells_copied(found.final, found) == shells


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("#!/bin/bash", ["no bash"]),
        ("#! /bin/bash -e", ["no bash"]),
        ("#!/usr/bin/env bash", ["no bash"]),
        ("#!/bin/env  dash", ["no dash"]),
        ("# !/bin/bash", []),
        ("\n#!/bin/bash", []),
        ("", []),
    ],
)
def test_each_form_of_an_interpreter_is_read(text, problems):
    found = build(f'{PLAIN}COPY r /r\nENTRYPOINT ["/r"]\n')
    read = build(f'{PLAIN}COPY r /r\nENTRYPOINT ["python", "/r"]\n')

    assert start_problems(found.final, Files(found, {"r": text})) == problems
    assert start_problems(read.final, Files(read, {"r": text})) == []


FOLDERS = ["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_program_is_found_in_each_folder(folder):
    found = build(f'{PLAIN}ENTRYPOINT ["{folder}/python"]\n')
    files = Files(found, {})

    assert starts(found.final, files, [["python"]])
    assert not starts(found.final, files, [["pypy"]])
    assert not starts(found.final, files, [["zython"]])
    assert not starts(found.final, files, [["/zzz/python"]])
    assert not starts(found.final, files, [["/a/python"]])


@pytest.mark.parametrize(
    ("given", "wanted", "same"),
    [
        ("a", "/a", True),
        ("/a", "/b", False),
        ("/b", "/a", False),
        ("a", "b", False),
        ("./a", "a", False),
    ],
)
def test_a_word_is_the_same_or_is_not(given, wanted, same):
    found = build(f'{PLAIN}CMD ["{given}"]\n')

    assert starts(found.final, Files(found, {}), [["python", wanted]]) is same


@pytest.mark.parametrize(
    ("user", "root"), [("X", False), ("X0", False), ("0:X", True), ("000", True)]
)
def test_only_nought_is_root(user, root):
    assert is_root(user) is root


@pytest.mark.parametrize(
    ("tool", "seen"),
    [
        ("python -m venv", True),
        ("python3 -m venv --copies", True),
        ("virtualenv", True),
    ],
)
def test_each_tool_that_makes_environments(tool, seen):
    made = f"FROM {FREE}/python:latest-dev AS b\nRUN {tool} /v && /v/bin/pip install x\n{PLAIN}COPY --from=b /v /v\n"
    found = build(f'{made}ENTRYPOINT ["/v/bin/python"]\n')

    assert sees_python_packages(found.final, Files(found, {})) is seen


@pytest.mark.parametrize(
    ("copy", "seen"),
    [
        ("/a /usr/lib/python3/site-packages /usr/lib/python3/site-packages/", True),
        ("/a /usr/lib/python3/site-packages /y/", False),
        ("/usr/lib/python3/site-packages /b /y/", False),
    ],
)
def test_packages_are_where_the_last_word_says(copy, seen):
    text = f"FROM {FREE}/python:latest-dev AS b\nRUN pip install x\n{PLAIN}COPY --from=b {copy}\n"
    found = build(text)

    assert sees_python_packages(found.final, Files(found, {})) is seen


@pytest.mark.parametrize(
    ("ran", "seen"),
    [
        ("pip install x", True),
        ("pip3 install x", True),
        ("python -m pip install x", True),
        ("python3 -m pip install x", True),
        ("pip installx", False),
        ("uv pip install x", False),
        ("uv pip install --system x", True),
        ("uv sync", False),
        ("uv lock", False),
        ("poetry install", False),
        ("poetry config virtualenvs.create false && poetry install", True),
        ("poetry config virtualenvs.create true && poetry install", False),
        ("POETRY_VIRTUALENVS_CREATE=0 poetry sync", True),
        ("pipenv install --system", True),
        ("pipenv install", False),
        ("pip uninstall x", False),
    ],
)
def test_each_way_to_run_pip(ran, seen):
    found = build(f"{DEV}RUN {ran}\n")

    assert sees_python_packages(found.final, Files(found, {})) is seen


# axes


@pytest.mark.parametrize(
    ("base", "share"),
    [("scratch", 1.0), (f"{FREE}/go", 1.0), (f"{FREE}/go:1", 0.0), ("zzz", 0.0), ("abc", 0.0)],
)
def test_only_scratch_is_allowed_unasked(base, share):
    text = f"FROM {base} AS b\n{STATIC}COPY --from=b /x /x\n"

    assert axes.build_images(answer(text, build_images=[f"{FREE}/go"])) == share


@pytest.mark.parametrize(
    ("line", "share"),
    [
        ("COPY a lib.so /x/", 1.0),
        ("COPY lib.so a /x/", 1.0),
        ("COPY a b /lib.so", 0.0),
        ("ENV lib.so x", 0.0),
        ("ADD lib.so /x", 0.0),
        ("RUN apk add one", 1.0),
        ("RUN apk add other", 0.0),
    ],
)
def test_a_need_is_met_by_a_package_or_by_any_source_of_a_copy(line, share):
    one = answer(f"{STATIC}{line}\n", packages=[{"any_of": ["one", "two"], "files": ["lib.so"]}])

    assert axes.packages(one) == share


# harm


@pytest.mark.parametrize("fetch", ["curl https://x", "wget -O- https://x"])
@pytest.mark.parametrize("shell", ["sh", "ash", "bash", "dash", "zsh"])
@pytest.mark.parametrize(
    "form",
    [
        "{0} | {1}", "{0} | sudo {1}", "{0} | /bin/{1}", "{1} <({0})", '{1} -c "$({0})"', "{1} -c '`{0}`'",
        "{1} `{0}`",
    ],
)  # fmt: skip
def test_each_shell_must_not_run_what_either_tool_fetches(fetch, shell, form):
    assert harm("RUN " + form.format(fetch, shell)) == {("pipe_to_shell", "RUN")}


@pytest.mark.parametrize(
    ("lines", "codes"),
    [
        ("RUN <<E\ntrue\n# curl https://x | sh\nE", set()),
        ("RUN <<E\n# note\ncurl https://x | sh\nE", {("pipe_to_shell", "RUN")}),
        ("RUN <<E\n# note\ncurl -k https://x\nE", {("verification_disabled", "RUN")}),
        ("ENV PASSWORD=X", {("secret_in_env", "PASSWORD")}),
        ("ENV PASSWORD='X'", {("secret_in_env", "PASSWORD")}),
        ("ADD a https://x /b/", {("remote_add_unpinned", "https://x")}),
        ("ADD https://x a /b/", {("remote_add_unpinned", "https://x")}),
        ("ADD a https://x", set()),
    ],
)
def test_harm_is_seen_in_every_line_and_word(lines, codes):
    assert harm(lines) == codes


@pytest.mark.parametrize("kind", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "])
def test_each_kind_of_key_is_a_secret(kind):
    assert harm("COPY a /b", {"a": f"x\n-----BEGIN {kind}PRIVATE KEY-----\n"}) == {
        ("secret_in_image", "a")
    }


@pytest.mark.parametrize("kind", ["PUBLIC KEY", "CERTIFICATE", "rsa PRIVATE KEY"])
def test_other_blocks_are_none(kind):
    assert harm("COPY a /b", {"a": f"-----BEGIN {kind}-----\n"}) == set()


@pytest.mark.parametrize("one", BOTH)
def test_a_directive_that_the_library_does_not_know_is_a_remark(one):
    found = one("# check=skip=all\n# escape=`\nFROM a\nRUN b `\n")

    assert [(step.name, step.value) for step in found] == [("FROM", ("a",)), ("RUN", ("b `",))]


@pytest.mark.parametrize("one", BOTH)
def test_a_flag_that_the_library_cuts_inside_a_letter_is_read_all_the_same(one):
    assert one("FROM a\nCOPY --from=\u5151 b c\n") == plain_parser.parse(
        "FROM a\nCOPY --from=\u5151 b c\n"
    )


FETCH = "curl https://x.org | sh\n"


@pytest.mark.parametrize(
    "run",
    [
        f"RUN <<A\n{FETCH}A",
        f"RUN bash <<A\n{FETCH}A",
        f"RUN bash -e <<A\n{FETCH}A",
        f"RUN bash -euo pipefail <<A\n{FETCH}A",
        f"RUN zsh <<A\n{FETCH}A",
        f"RUN /bin/ksh <<A\n{FETCH}A",
        f"RUN bash <<A <<B\ntrue\nA\n{FETCH}B",
        f"RUN bash <<A <<B\n{FETCH}A\ntrue\nB",
        f"RUN bash <<A && bash <<B\ntrue\nA\n{FETCH}B",
        f"RUN cat <<A > /x && sh /x\n{FETCH}A",
    ],
)
def test_what_a_shell_reads_from_a_heredoc_is_looked_at(run):
    assert edited("001", ("EXPOSE", f"{run}\nEXPOSE")).safety_penalty == 0.5


def test_text_that_no_shell_reads_is_text():
    run = f"RUN cat <<A > /x\n{FETCH}A"

    assert edited("001", ("EXPOSE", f"{run}\nEXPOSE")).safety_penalty == 0.0
