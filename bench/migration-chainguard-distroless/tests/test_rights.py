# mypy: allow-untyped-defs, allow-untyped-calls
"""Who may read, start and write what."""

import pytest
from _benchgate_bench.migration_chainguard_distroless.image.files import Files
from _benchgate_bench.migration_chainguard_distroless.image.rights import (
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


@pytest.mark.parametrize(
    ("line", "starts"),
    [
        ("COPY --from=b --chmod=700 /usr/bin/x /x", False),
        ("COPY --from=b --chmod=0755 /usr/bin/x /x", True),
        ("COPY --from=b --chmod=700 /usr/bin/x /", False),
        ("COPY --from=b --chmod=700 --chown=65532 /usr/bin/x /x", True),
        ("COPY --from=tini:1 --chmod=700 /x /x", False),
        ("COPY --from=b --chmod=700 /usr/bin/x /other", True),
        ("COPY --from=b /usr/bin/x /x", True),
        ("COPY --chmod=700 x /x", True),
    ],
)
def test_a_program_that_a_package_brought_has_the_rights_of_its_copy(line, starts):
    made = f"FROM {FREE}/node:latest-dev AS b\nUSER root\nRUN apk add x\n{PLAIN}{line}\n"

    assert (refused(f'{made}ENTRYPOINT ["/x"]\n') == []) is starts


def test_a_program_without_a_slash_is_not_looked_for():
    assert refused(f'{PLAIN}COPY s.sh /usr/bin/s.sh\nENTRYPOINT ["s.sh"]\n') == []
    assert refused(f"FROM {FREE}/static\n") == []


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
