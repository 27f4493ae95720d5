# mypy: allow-untyped-defs, allow-untyped-calls
"""Docker's rules for making one configuration of many instructions."""

import pytest
from _benchgate_bench.migration_chainguard_distroless.dockerfile.instruction import Refused
from _benchgate_bench.migration_chainguard_distroless.dockerfile.parser import parse
from _benchgate_bench.migration_chainguard_distroless.dockerfile.reference import Reference
from _benchgate_bench.migration_chainguard_distroless.dockerfile.stages import borrowed, resolve
from _benchgate_bench.migration_chainguard_distroless.dockerfile.words import MAX_VALUE, expand
from _benchgate_bench.migration_chainguard_distroless.tests.support import FREE, build

OTHER = "FROM debian\n"


def final(text):
    return build(text).final


def test_a_stage_hands_on_all_but_its_arguments():
    text = "FROM debian AS base\nARG A=1\nENV B=2\nUSER x\nUSER y\nWORKDIR /w\nFROM base\nENV C=$A-$B\nWORKDIR z\n"
    config = final(text).config

    assert dict(config.env) == {"B": "2", "C": "-2"}
    assert (config.user, config.workdir, config.args) == ("y", "/w/z", {})


def test_an_image_of_chainguards_is_assumed_to_run_as_nobody_and_others_as_root():
    assert final(f"FROM {FREE}/node\n").config.user == "65532"
    assert (final(OTHER).config.user, final(OTHER).config.workdir) == ("", "")


@pytest.mark.parametrize(
    ("lines", "workdir"),
    [("WORKDIR /a", "/a"), ("WORKDIR /a\nWORKDIR b", "/a/b"), ("WORKDIR /a\nWORKDIR ../c", "/c"),
     ("ENV D=/x\nWORKDIR $D/y", "/x/y"), ("WORKDIR a", "/a")],
)  # fmt: skip
def test_working_folders_add_up(lines, workdir):
    assert final(OTHER + lines).config.workdir == workdir


@pytest.mark.parametrize(
    ("text", "base"),
    [
        ("ARG T=1\nFROM a:${T}-x\n", "a:1-x"),
        ("ARG T=\nFROM a:${T:-2}\n", "a:2"),
        ("FROM a:${T:-2}\n", "a:2"),
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
        "FROM --platform=$P a AS base\nFROM b AS unused\nFROM c AS tools\nFROM base AS build\n"
        "RUN --mount=type=bind,from=tools,target=/t x\nFROM d\nCOPY --from=build /x /x\nCOPY --from=nginx /y /y\n"
    )
    found = build(text)

    assert [stage.index for stage in found.built] == [0, 2, 3, 4]
    assert borrowed(found.final) == ("build", "nginx")
    assert borrowed(found.stages[3]) == ("tools",)
    assert [stage.base for stage in found.stages[3].lineage] == ["a", ""]
    assert found.stages[3].root_base == "a"
    assert [stage.platform for stage in found.built] == ["$P", "", "", ""]
    assert [step.name for step in found.stages[3].all_steps] == ["RUN"]


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("python:3.12-slim", Reference("python", "3.12-slim")),
        ("localhost:5000/a/b", Reference("localhost:5000/a/b")),
        ("a:1@sha256:" + "0" * 64, Reference("a", "1", "sha256:" + "0" * 64)),
        ("a@sha256:" + "0" * 63, None),
        ("a:", None),
        ("", None),
        ("A", None),
        ("$x", None),
    ],
)
def test_references_are_taken_apart(text, reference):
    assert Reference.read(text) == reference


def test_references_say_what_they_are():
    digest = "sha256:" + "0" * 64

    assert Reference("cgr.dev/o/python").text == "cgr.dev/o/python:latest"
    assert Reference("cgr.dev/o/python", "", digest).text == f"cgr.dev/o/python@{digest}"
    assert Reference("cgr.dev/o/python", "3", digest).text == f"cgr.dev/o/python:3@{digest}"
    assert Reference("cgr.dev/o/a").chainguard
    for name in ("cgr.dev/a", "cgr.dev/o/a/b", "docker.io/o/a", "cgr.dev//a", "notcgr.dev/o/a"):
        assert not Reference(name).chainguard, name


def test_the_stage_that_is_asked_for_is_built():
    steps = parse("FROM a AS one\nFROM b AS two\nFROM one\n")

    assert resolve(steps).final.index == 2
    assert resolve(steps, "TWO").final.base == "b"
    assert resolve(steps, "0").final.base == "a"
    assert [stage.index for stage in resolve(steps, "two").built] == [1]
    with pytest.raises(Refused) as refused:
        resolve(steps, "three")
    assert refused.value.code == "target_missing"


def test_onbuild_runs_when_a_stage_starts_from_the_one_that_has_it():
    text = "FROM a AS b\nONBUILD USER 1\nONBUILD ENV A=1\nUSER 0\nFROM b AS c\n"

    assert (final(text).config.user, final(text).config.env) == ("1", {"A": "1"})
    assert final(text + "USER 2\nFROM c\nENV B=$A\n").config.env == {"A": "1", "B": "1"}
    assert final(text.replace("FROM b AS c\n", "")).config.user == "0"
    assert "ONBUILD" not in [step.name for step in final(text).steps]


def test_the_builder_passes_platforms_to_those_who_ask():
    assert final("FROM a\nARG TARGETARCH\nENV A=$TARGETARCH B=$TARGETOS\n").config.env == {
        "A": "amd64",
        "B": "",
    }
    assert final("FROM a-${TARGETARCH}\n").base == "a-amd64"


def test_arguments_that_the_builder_is_given_come_before_defaults():
    steps = parse("ARG T=1 U\nFROM a:$T$U\nARG V=2\nENV A=$V B=$W\n")
    found = resolve(steps, given={"T": "3", "U": "x", "V": "4", "W": "5"}).final

    assert (found.base, found.config.env) == ("a:3x", {"A": "4", "B": ""})
