# mypy: allow-untyped-defs, allow-untyped-calls
"""Both parsers read the same, and refuse the same."""

import pytest
from _benchgate_bench.migration_chainguard_distroless.dockerfile.instruction import (
    KNOWN,
    Heredoc,
    Instruction,
    Refused,
    spelt,
)
from _benchgate_bench.migration_chainguard_distroless.dockerfile.parser import (
    MAX_LINE,
    MAX_TEXT,
    parse,
    split,
)
from _benchgate_bench.migration_chainguard_distroless.dockerfile.words import SPACE
from _benchgate_bench.migration_chainguard_distroless.tests.corpus import HARD, ODD, shipped
from hypothesis import given, settings
from hypothesis import strategies as st

try:
    import dockerfile
except ImportError:
    dockerfile = None

# In a Python started with -m in this class's folder, the name means the package of the parser itself.
needs_buildkit = pytest.mark.skipif(
    not hasattr(dockerfile, "parse_string"), reason="the package dockerfile is not installed"
)


def buildkit(text):
    """Return the instructions that BuildKit's own parser reads."""
    try:
        commands = dockerfile.parse_string(text)
    except dockerfile.GoParseError:
        raise Refused("dockerfile_unparsable") from None
    except UnicodeDecodeError:
        # The library cut a flag's value at a byte, and half a character cannot be decoded.
        return split(text)
    return tuple(map(_instruction, commands))


def _instruction(command):
    name = spelt(command.cmd or "")
    if name == "ONBUILD":
        # The library has it split already; the text is wanted, since it is an instruction itself.
        words = command.original.strip(SPACE).split(maxsplit=1)
        return Instruction(name, tuple(words[1:]), line=command.start_line)
    if name not in KNOWN:
        return Instruction(name, (), line=command.start_line)
    return Instruction(
        name,
        tuple(command.value),
        flags=tuple(command.flags),
        json=command.json,
        heredocs=tuple(Heredoc(held.name, held.content) for held in command.heredocs),
        line=command.start_line,
    )


def read(parse_one, text):
    try:
        return parse_one(text)
    except Refused as refused:
        return refused.code


@needs_buildkit
@pytest.mark.parametrize("name", sorted(shipped()))
def test_both_parsers_read_every_shipped_file_and_every_output_alike(name):
    text = shipped()[name]
    found = buildkit(text)

    assert found
    assert split(text) == found


@needs_buildkit
@pytest.mark.parametrize("text", [*HARD.values(), *ODD])
def test_both_parsers_read_the_adversarial_corpus_alike(text):
    assert read(split, text) == read(buildkit, text)


LINES = st.lists(
    st.sampled_from(
        [
            "FROM a AS b", "RUN x", "RUN <<EOF", "EOF", "RUN <<-'E F' cat", "\tE F", "COPY <<A <<B /x/", "A", "B", "",
            "# escape=`", "#note", "CMD [\"a\", 'b']", 'CMD ["a", "b"] ', "ENV a=b c='d e' f=\"g\\\" h\"", "ENV a b  c",
            "RUN a \\", "RUN b `", "   # inside", "&& c", "LABEL x=y", "user 1", "RUN --mount=type=x,y=z --a='b c' d",
            "HEALTHCHECK --x=1 CMD a b", "HEALTHCHECK NONE", "ARG a=b c", "EXPOSE 1 2/udp", "\\", "ONBUILD RUN <<EOF",
            "RUN echo 'it' <<EOF", "RUN echo it's <<EOF", 'SHELL ["a"]', 'VOLUME ["/a"]', "XYZ", "\r",
            'RUN ["a\\u00e9"]',
        ]
    ),
    max_size=8,
)  # fmt: skip


@needs_buildkit
@settings(max_examples=400, deadline=None, derandomize=True, database=None)
@given(LINES, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_both_parsers_read_any_mixture_of_lines_alike(lines, end, ended):
    text = end.join(lines) + (end if ended else "")

    assert read(split, text) == read(buildkit, text)


@pytest.mark.parametrize("one", [pytest.param(one, id=one.__name__) for one in (split, parse)])
def test_hard_files_are_read_as_they_are_meant(one):
    assert one(HARD["heredocs"]) == (
        Instruction("FROM", ("a",), line=1),
        Instruction(
            "RUN", ('<<-"PY" python',), heredocs=(Heredoc("PY", "\tUSER root\n\tFROM b\n"),), line=2
        ),
        Instruction(
            "RUN",
            ("<<A cat && <<B cat",),
            heredocs=(Heredoc("A", "1\n"), Heredoc("B", "2\n")),
            line=6,
        ),
        Instruction("USER", ("7",), line=11),
    )
    assert one(HARD["escape"]) == (
        Instruction("FROM", ("a",), line=2),
        Instruction("RUN", ("dir c:\\x  && echo",), line=3),
    )
    assert one(HARD["continuations"]) == (
        Instruction("FROM", ("a",), line=1),
        Instruction("RUN", ("x   y   z",), line=2),
        Instruction("CMD", ("p", "q"), json=True, line=8),
    )
    assert one(HARD["words"]) == (
        Instruction("FROM", ("a", "as", "b"), flags=("--platform=$P",), line=1),
        Instruction("ENV", ("a", "b c"), line=2),
        Instruction("ENV", ("a", '"b c"', "d", "e\\ f", "g", ""), line=3),
        Instruction("COPY", ("x y", "z"), flags=("--from=b", "--chown=1:1"), json=True, line=4),
        Instruction("HEALTHCHECK", ("CMD", "curl x || exit 1"), flags=("--interval=3s",), line=5),
        Instruction("HEALTHCHECK", ("NONE",), line=6),
        Instruction("ARG", ("a", "b=c"), line=7),
        Instruction("ONBUILD", ("USER root",), line=8),
        Instruction("EXPOSE", ("80", "443/udp"), line=9),
    )
    assert one(HARD["bom and crlf"]) == (
        Instruction("FROM", ("a",), line=1),
        Instruction("RUN", ("b",), line=2),
        Instruction("CMD", ("c",), json=True, line=3),
    )


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("# nothing\n", "dockerfile_unparsable"),
        ("FROM a\nRUN <<E\n", "dockerfile_unparsable"),
        ("FROM a\nCMD [1, 2]\n", "dockerfile_unparsable"),
        ("FROM a\x1f\n", "dockerfile_unparsable"),
        ("FROM a \udfff\n", "dockerfile_unparsable"),
        ("FROM a b\n", "dockerfile_unparsable"),
        ("FROM a to b\n", "dockerfile_unparsable"),
        ("FROM a AS b c\n", "dockerfile_unparsable"),
        ("FROM a\nHEALTHCHECK SOME x\n", "dockerfile_unparsable"),
        ("FROM a\nSHELL sh\n", "dockerfile_unparsable"),
        ("FROM a\nFETCH b\n", "instruction_unknown"),
        ("FROM a\nu\u017fer 1\n", "instruction_unknown"),
        ("RUN a\nFROM a\n", "from_missing"),
        ("ARG a=b\n", "from_missing"),
    ],
)
def test_what_no_builder_would_take_is_refused(text, code):
    assert read(parse, text) == code


@pytest.mark.parametrize(
    "line",
    [
        "RUN x", "USER x", "WORKDIR x", "EXPOSE 1", "VOLUME x", "STOPSIGNAL 9", 'SHELL ["a"]', "HEALTHCHECK none",
        "COPY a b", "ADD a b", "ENV a=", "LABEL a b",
    ],
)  # fmt: skip
def test_each_instruction_needs_its_words(line):
    assert read(parse, f"FROM a\n{line}\n") != "dockerfile_unparsable"
    short = "[]" if "[" in line else " ".join(line.split()[1:-1])
    assert read(parse, f"FROM a\n{line.split()[0]} {short}\n") == "dockerfile_unparsable"


def test_what_needs_no_words():
    assert len(parse("ARG a\nFROM a\tas\tb\nCMD\nENTRYPOINT []\n")) == 4


def test_the_longest_file_and_the_longest_line_are_still_read():
    line = "#" + "x" * (MAX_LINE - 1)
    many = "FROM a\n" + ("#" * 99 + "\n") * ((MAX_TEXT - 7) // 100)
    full = many + "#" * (MAX_TEXT - len(many))

    assert (MAX_TEXT, MAX_LINE) == (200_000, 60_000)
    assert len(parse(f"FROM a\n{line}\n")) == 1
    assert read(parse, f"FROM a\n{line}x\n") == "dockerfile_unparsable"
    assert read(parse, f"FROM a\n{line[:-1]}\u00e9\n") == "dockerfile_unparsable"
    assert len(parse(full)) == 1
    assert read(parse, full + "#") == "dockerfile_unparsable"


def test_a_thousand_instructions_and_fifty_stages_are_still_read():
    assert len(parse("FROM a\n" * 50)) == 50
    assert read(parse, "FROM a\n" * 51) == "dockerfile_unparsable"
    assert len(parse("FROM a\n" + "USER 1\n" * 999)) == 1000
    assert read(parse, "FROM a\n" + "USER 1\n" * 1000) == "dockerfile_unparsable"


def test_the_last_of_two_flags_counts():
    one = split("FROM a\nCOPY --from=b --from=c --chown=1 x y\n")[1]

    assert (one.flag("from"), one.flag("chown"), one.flag("chmod")) == ("c", "1", None)
