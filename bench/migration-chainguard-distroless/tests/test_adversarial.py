# mypy: allow-untyped-defs, allow-untyped-calls
"""Answers that look right and are not, and outputs that are no answers at all."""

import pytest
from _benchgate_bench.migration_chainguard_distroless.rubric import MigrationRubric
from _benchgate_bench.migration_chainguard_distroless.tests.support import (
    CASES,
    FREE,
    best,
    edited,
    full_id,
    given,
    load,
    score,
)


@pytest.mark.parametrize(
    ("case_id", "old", "new", "code"),
    [
        ("001", "COPY app.py .", "COPY --from=busybox /bin/busybox /bin/sh\nCOPY app.py .", "shell_in_final_image"),
        ("001", "COPY app.py .", "COPY --from=busybox / /\nCOPY app.py .", "shell_in_final_image"),
        ("001", 'CMD ["app.py"]', 'CMD ["app.py"]\nUSER nonroot\nUSER 0', "root_at_run_time"),
        ("001", 'CMD ["app.py"]', 'CMD ["app.py"]\nUSER ${U:-root}', "root_at_run_time"),
        ("001", 'CMD ["app.py"]', 'CMD ["app.py"]\nENTRYPOINT []', "argv_wrong"),
        ("001", 'CMD ["app.py"]', 'CMD ["app.py"]\nENTRYPOINT ["python"]\nFROM scratch', "final_image_not_allowed"),
        ("001", 'CMD ["app.py"]', '# CMD ["app.py"]', "argv_wrong"),
        ("001", 'CMD ["app.py"]', 'COPY <<E /x\nCMD ["app.py"]\nE', "argv_wrong"),
        ("001", 'CMD ["app.py"]', 'ONBUILD CMD ["app.py"]', "argv_wrong"),
        ("001", 'CMD ["app.py"]', 'CMD ["app.py"]\nCMD app.py', "argv_wrong"),
        ("001", 'CMD ["app.py"]', 'SHELL ["python", "-c"]\nCMD app.py', "argv_wrong"),
        ("001", "COPY app.py .", "COPY app.py /elsewhere/", "file_missing"),
        ("001", "COPY app.py .", "COPY <<app.py .\nprint()\napp.py", None),
        ("001", "COPY app.py .", "ADD https://x.org/app.py .", "file_missing"),
        ("004", "RUN CGO_ENABLED=0 go build -o /out/fetcher .", "RUN echo /out/fetcher", "file_missing"),
        ("004", "--from=build /out/fetcher", "--from=golang:1.22 /out/fetcher", "file_missing"),
        ("005", "RUN mvn -q -B package", "RUN true mvnw", "file_missing"),
        ("012", "COPY --from=build /app/venv /app/venv\n", "", "file_missing"),
        ("013", "USER node", "USER app", "user_wrong"),
        ("013", "USER node", "USER nonroot", "user_wrong"),
        ("014", "bash curl", "curl", "command_cannot_run"),
        ("016", "USER root", "USER 1", "setting_lost"),
        ("021", 'ENTRYPOINT ["python", "report.py"]', "ENTRYPOINT python report.py", "command_cannot_run"),
    ],
)  # fmt: skip
def test_what_only_looks_right_is_seen(case_id, old, new, code):
    found = edited(case_id, (old, new))

    if code is None:
        # A file of the same name from a here-document is taken for the project's, as the README says.
        assert found.passed
    else:
        assert code in found.failure_modes
        assert not found.passed


def test_everything_copied_is_not_passed_for_its_secret():
    files = {**best(full_id("019"))}
    files["Dockerfile"] = files["Dockerfile"].replace("COPY package.json server.js ./", "COPY . .")
    open_files = {**files, ".dockerignore": ""}

    assert score("019", files).passed
    assert not score("019", open_files).passed
    assert score("019", open_files).safety_penalty == 1.0


def test_a_good_stage_that_is_not_the_last_does_not_help():
    good, bad = best(full_id("001"))["Dockerfile"], given(full_id("001"))["Dockerfile"]

    assert not score("001", f"{good}\n{bad}").passed
    assert score("001", f"{good}\n{bad}").score == 0.0
    assert score("001", f"{bad}\n{good}").passed


def test_only_the_last_stage_is_named_right():
    text = f"FROM python:3.12 AS all\nCOPY . /app\nFROM {FREE}/python:latest\n"

    assert not score("001", text).passed
    assert score("001", text).score < 0.5


def test_the_image_of_another_registry_or_organisation_is_another_image():
    for name in (
        "cgr.dev.example.org/chainguard/python",
        "docker.io/cgr.dev/chainguard/python",
        "cgr.dev/other/python",
    ):
        assert not edited("001", (f"{FREE}/python", name)).passed


def test_a_digest_that_belongs_to_another_image_is_not_taken():
    assert not edited("001", ("python:latest", "python:latest@sha256:" + "0" * 64)).passed


RUBBISH = [
    None, 0, True, "", "x", b"FROM a", [], ["FROM a"], {}, {"Dockerfile": 1}, {"Dockerfile": None},
    {"Dockerfile": ["a"]},
    {"Dockerfile": {}}, {"Dockerfile": b"FROM a"}, {1: 2}, {"Dockerfile": "FROM a", None: ""},
    {"Dockerfile": "FROM a", "/etc/passwd": ""}, {"Dockerfile": "FROM a", "a/../../b": ""},
]  # fmt: skip
TEXTS = [
    "", "\0", "\ud800", "FROM \udfff", "FROM a\0b", "\ufeff", "FROM", "FROM a\n" * 2000, "x" * 300_000, "\n" * 200_001,
    "FROM a\nCMD [" + "[" * 20_000, "FROM a\nENV " + "a=$a$a " * 5000, "FROM a\nRUN " + "(" * 30_000,
    "FROM a\nRUN <<A <<B <<C\n", "FROM a\n" + "ENV A=$A$A\n" * 900, "FROM a\nENV A=xx\n" + "ENV A=$A$A\n" * 900,
    "FROM ${" * 5000, "FROM a\nCOPY " + "* " * 5000, "FROM a\nCOPY [\n", "FROM a\nUSER " + "0" * 50_000,
    "FROM a\nUSER \u00b2", "FROM a\nRUN " + "'" * 9999, "FROM a\nCOPY [a-[ /x\n", "FROM a\nCOPY <<$ /x\n$\n",
    "# escape=x\nFROM a\n", "FROM a\nEXPOSE " + "9" * 6000, 'FROM a\nSHELL [""]\nRUN x\nCMD y',
    'FROM a\nENTRYPOINT [""]\nHEALTHCHECK CMD [""]\nCMD ""', "FROM a\nCOPY --from= x y\nRUN --mount=from= z",
    "FROM a AS 0\nFROM 0 AS 1\nCOPY --from=1 / /", "FROM a\nHEALTHCHECK CMD   ", "FROM a\nRUN \"\"\nRUN ''",
]  # fmt: skip


@pytest.mark.parametrize("case_id", ["001", "012", "018"])
def test_rubbish_scores_nothing_and_breaks_nothing(case_id):
    case = load(full_id(case_id))
    outputs = [{"files": one} for one in RUBBISH] + [
        {"files": {"Dockerfile": text}} for text in TEXTS
    ]

    for output in outputs:
        found = MigrationRubric().score(case, output)
        assert (found.score, found.passed) == (0.0, False)


def test_hostile_texts_behind_a_right_image_break_nothing():
    for text in TEXTS:
        lines = text.partition("\n")[2]
        found = score("012", f"FROM {FREE}/python:latest\n{lines}")
        assert not found.passed
        assert score("012", f"FROM {FREE}/python:latest\n{lines}") == found


@pytest.mark.parametrize("case_id", CASES)
def test_what_a_system_says_is_not_read(case_id):
    case = load(case_id)
    files = given(case_id)
    plain = MigrationRubric().score(case, {"files": files})

    assert (
        MigrationRubric().score(case, {"files": files, "passed": True, "score": 1, "status": "x"})
        == plain
    )
