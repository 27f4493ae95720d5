# mypy: allow-untyped-defs, allow-untyped-calls
"""The reasons of a score: one for each axis below 1, naming what was seen."""

import pytest
from _benchgate_bench.migration_chainguard_distroless import rubric
from _benchgate_bench.migration_chainguard_distroless.axes import axes
from _benchgate_bench.migration_chainguard_distroless.explain import evidence, explanation
from _benchgate_bench.migration_chainguard_distroless.tests.support import (
    CASES,
    FREE,
    answer,
    best,
    edited,
    score,
)

from benchgate import BenchScore

HOPELESS = answer(
    "FROM debian AS a\nRUN apk add dnsutils\nFROM debian\nRUN apk add curl xz-utils\nCOPY --from=a /x /y\n"
    "COPY a b c d e f g /\nUSER root\nEXPOSE 80\n"
    'HEALTHCHECK CMD false\nCMD ["x", "y z"]\n',
    dict.fromkeys("abcdefg", ""),
    {"Dockerfile": "FROM a\nWORKDIR /w\n"},
    final_images={f"{FREE}/python:latest": 1.0},
    argv=[["python"]],
    files=["/p", "/q"],
    python_packages=True,
    ports=["8080"],
    packages=[{"any_of": ["jq", "jq2"]}],
    not_packages=["xz-utils"],
    env={"A": "b"},
    platforms=["$BUILDPLATFORM"],
    healthcheck="ask",
    unneeded=["a", "b", "c", "d", "e", "f"],
    port_rules=[{"path": "/n", "must": ["8080"]}],
)


def test_each_axis_below_1_is_explained_by_what_was_seen():
    found = axes(HOPELESS)
    seen = evidence(HOPELESS, found)

    assert set(seen) == {axis for axis, value in found.items() if value < 1.0}
    assert seen["final_image"] == f"debian; accepted: {FREE}/python:latest"
    assert seen["build_images"] == "not the right image, or not one to pull: debian"
    assert seen["argv"] == "starts x 'y z'"
    assert seen["user"] == "runs as root"
    assert (
        seen["files_carried"] == "not in the image: /p, /q, the packages of Python, where it looks"
    )
    assert seen["packages"] == "not in the image: jq"
    assert seen["ports"] == "exposes 80; not as it should be: EXPOSE, /n"
    assert seen["healthcheck"] == "/bin/sh -c false"
    assert seen["settings_kept"] == "not kept: A, WORKDIR, --platform=$BUILDPLATFORM"
    assert seen["no_needless_package"] == "curl, xz-utils"
    assert seen["nothing_left_over"] == "a, b, c, d, e and 1 more"
    assert seen["packages_known"] == "xz-utils"
    assert "no package dnsutils" in seen["commands_can_run"]


def test_an_axis_that_is_whole_is_not_explained():
    assert evidence(HOPELESS, dict.fromkeys(axes(HOPELESS), 1.0)) == {}
    assert list(evidence(HOPELESS, {"user": 0.5})) == ["user"]


def test_the_reasons_are_one_text():
    harm = frozenset({("root_at_run_time", "root"), ("secret_in_env", "TOKEN")})
    text = explanation({"user": "runs as root"}, harm, edited=True, exists=False)

    assert text == (
        "user: runs as root; the final image cannot be pulled; a source was edited; "
        "runs as root: root; a secret in the text: TOKEN"
    )
    assert explanation({}, frozenset(), edited=False, exists=True) == ""


@pytest.mark.parametrize("room", [True, False])
def test_the_score_has_its_reasons_where_there_is_room(monkeypatch, room):
    given = {}

    def made(**fields):
        given.update(fields)
        return BenchScore(**{k: v for k, v in fields.items() if k in BenchScore.model_fields})

    made.model_fields = {"explanation": None} if room else {}
    monkeypatch.setattr(rubric, "BenchScore", made)
    edited("001", ("8000", "8001"))

    assert given.get("explanation") == (
        "ports: exposes 8001; not as it should be: EXPOSE" if room else None
    )
    assert given.get("evidence") == (
        {"ports": "exposes 8001; not as it should be: EXPOSE"} if room else None
    )


def test_a_best_answer_needs_no_reasons():
    for case_id in CASES:
        found = score(case_id, best(case_id))
        assert getattr(found, "explanation", None) is None
