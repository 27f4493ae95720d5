# mypy: allow-untyped-defs, allow-untyped-calls
"""Who may read, start and write what."""

import pytest
from _benchgate_bench.migration_chainguard_distroless.image.files import Files
from _benchgate_bench.migration_chainguard_distroless.image.rights import (
    WRITERS,
    not_writable,
    programs_with_setuid,
    refusals,
)
from _benchgate_bench.migration_chainguard_distroless.tests.support import FREE, build

PLAIN = f"FROM {FREE}/python:latest\n"
DEV = f"FROM {FREE}/node:latest-dev\n"
GO = f"FROM {FREE}/go:latest-dev AS b\n"


def refused(text, *paths, context=("a", "s.sh")):
    built = build(text)
    return list(refusals(built.final, Files(built, dict.fromkeys(context, "")), paths))


@pytest.mark.parametrize(
    ("line", "readable"),
    [
        ("COPY a /a", True),
        ("COPY --chmod=644 a /a", True),
        ("COPY --chmod=0600 a /a", False),
        ("COPY --chmod=0640 a /a", False),
        ("COPY --chmod=600 --chown=65532 a /a", True),
        ("COPY --chmod=600 --chown=nonroot a /a", True),
        ("COPY --chmod=600 --chown=root a /a", False),
        ("COPY --chmod=640 --chown=0:65532 a /a", True),
        ("COPY --chmod=604 --chown=65532 a /a", True),
        ("COPY --chmod=044 --chown=65532 a /a", False),
        ("USER 0\nCOPY --chmod=600 a /a", True),
        ("USER 1000\nCOPY --chmod=640 a /a", True),
        ("USER 1000\nCOPY --chmod=604 a /a", False),
        ("USER 1000:5\nCOPY --chmod=604 a /a", True),
        ("COPY --chmod=u=rw,go= a /a", True),
        ("COPY --chmod=$MODE a /a", True),
        ("COPY --chmod=600 a /a\nCOPY a /a", True),
        ("COPY a /a\nCOPY --chmod=600 a /a", False),
        ("ADD --chmod=600 a /a", False),
        ("COPY --chmod=600 a /elsewhere", True),
    ],
)
def test_files_are_read_by_those_who_may(line, readable):
    assert refused(PLAIN + line + "\n", "/a") == ([] if readable else ["may not read /a"])


def test_rights_are_kept_from_stage_to_stage():
    made = f"FROM {FREE}/python:latest-dev AS b\nCOPY --chmod=600 a /x\n{PLAIN}"

    assert refused(made + "COPY --from=b /x /a\n", "/a") == ["may not read /a"]
    assert refused(made + "COPY --from=b --chown=65532:65532 /x /a\n", "/a") == []
    assert refused(made + "COPY --from=b --chmod=644 /x /a\n", "/a") == []
    assert refused(GO + "RUN go build -o /x .\n" + PLAIN + "COPY --from=b /x /a\n", "/a") == []


@pytest.mark.parametrize(
    ("lines", "starts"),
    [
        ("COPY s.sh /s.sh", False),
        ("COPY --chmod=755 s.sh /s.sh", True),
        ("COPY --chmod=700 s.sh /s.sh", False),
        ("COPY --chmod=700 --chown=65532 s.sh /s.sh", True),
        ("COPY --chmod=444 s.sh /s.sh", False),
        ("COPY s.sh /s.sh\nRUN chmod +x /s.sh", True),
        ("COPY s.sh /s.sh\nRUN chmod 0755 /s.sh", True),
        ("COPY s.sh /s.sh\nRUN chmod 0644 /s.sh", False),
        ("COPY s.sh /s.sh\nRUN chmod +x /other.sh", False),
        ("COPY s.sh /s.sh\nRUN chmod a+rx /s.sh", True),
        ("COPY s.sh /s.sh\nRUN chmod +r /s.sh", False),
        ("COPY s.sh /s.sh\nRUN install -m 755 /s.sh /t.sh", True),
        ("RUN make /s.sh", True),
    ],
)
def test_a_program_is_started_by_those_who_may(lines, starts):
    found = refused(f'{PLAIN}{lines}\nENTRYPOINT ["/s.sh"]\n')

    assert found == ([] if starts else ["may not execute /s.sh"])


def test_a_program_without_a_slash_is_not_looked_for():
    assert refused(f'{PLAIN}COPY s.sh /usr/bin/s.sh\nENTRYPOINT ["s.sh"]\n') == []
    assert refused(f"FROM {FREE}/static\n") == []


def unwritable(text):
    return list(not_writable(build(text).final))


@pytest.mark.parametrize("words", WRITERS)
def test_each_tool_that_writes_where_it_starts(words):
    tool = " ".join(words)

    assert unwritable(f"{DEV}WORKDIR /w\nRUN {tool} x\n") == [f"{words[0]} may not write to /w"]
    assert unwritable(f"{DEV}USER root\nWORKDIR /w\nRUN {tool} x\n") == []
    assert unwritable(f"{DEV}RUN {tool} x\n") == []


@pytest.mark.parametrize(
    ("lines", "fine"),
    [
        ("WORKDIR /app", True),
        ("WORKDIR /tmp", True),
        ("WORKDIR /app/below", False),
        ("WORKDIR /w\nCOPY --chown=65532 a ./", True),
        ("WORKDIR /w\nCOPY --chown=node a /x/", False),
        ("USER 0\nWORKDIR /w\nRUN chown node /w\nUSER node", True),
        ("USER 0\nWORKDIR /w/x\nRUN chown -R node /w\nUSER node", True),
        ("USER 0\nWORKDIR /w\nRUN chown node /x\nUSER node", False),
    ],
)
def test_folders_are_roots_unless_they_were_given_away(lines, fine):
    found = unwritable(f"{DEV}{lines}\nRUN npm ci\n")

    assert (found == []) is fine


def test_cd_counts_in_its_own_run():
    assert unwritable(f"{DEV}WORKDIR /w\nRUN cd /app && npm ci\n") == []
    assert unwritable(f"{DEV}WORKDIR /w\nRUN cd /app\nRUN npm ci\n") != []
    assert unwritable("FROM node\nWORKDIR /w\nUSER node\nRUN npm ci\n") == []


@pytest.mark.parametrize(
    ("line", "raised"),
    [
        ("RUN chmod u+s /x", True),
        ("RUN chmod 4755 /x", True),
        ("RUN chmod 02755 /x", True),
        ("RUN chmod g+s /x", True),
        ("RUN chmod 0755 /x", False),
        ("RUN chmod +x /x", False),
        ("RUN chmod 1777 /x", False),
        ("COPY --chmod=4755 a /x", True),
        ("COPY --chmod=0755 a /x", False),
        ("RUN install -m 4755 a /x", True),
        ("RUN install -m 755 a /x", False),
        ("RUN install --mode=4755 a /x", True),
        ("RUN echo chmod u+s /x", False),
    ],
)
def test_programs_that_lend_the_rights_of_their_owner(line, raised):
    found = list(programs_with_setuid(build(f"{DEV}{line}\n").final))

    assert found == (["x"] if raised and "COPY" in line else ["/x"] if raised else [])
