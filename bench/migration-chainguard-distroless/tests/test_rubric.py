# mypy: allow-untyped-defs, allow-untyped-calls
"""Weights, required axes, penalties, failure modes."""

import pytest
import tomli
from _benchgate_bench.migration_chainguard_distroless.axes import AXES, FAMILIES
from _benchgate_bench.migration_chainguard_distroless.harm import HARMS
from _benchgate_bench.migration_chainguard_distroless.tests.support import (
    CLASS,
    best,
    edited,
    given,
    score,
)

MODES = tomli.loads((CLASS / "failure_modes.toml").read_text(encoding="utf-8"))["failure_modes"]


@pytest.mark.parametrize(
    ("case_id", "seen", "points", "code", "passed"),
    [
        ("001", {"exposed": ["8001"]}, 100 - 4 / 2, "ports_wrong", False),
        ("001", {"ports": [80]}, 100 - 4 / 2, "ports_wrong", False),
        ("003", {"breaks": ["/etc/nginx/nginx.conf"]}, 100 - 4 / 3, "ports_wrong", False),
        ("006", {"needs": ["xz"]}, 100 - 5 / 4, "package_missing", False),
        ("006", {"needless": ["curl"]}, 97, "package_needless", True),
        ("008", {"lost": ["RELEASE"]}, 99, "setting_lost", False),
        ("001", {"folder": "/", "argv": ["python", "/app/app.py"]}, 97, "setting_lost", False),
        ("011", {"check": ""}, 98.5, "healthcheck_lost", True),
        ("011", {"check": "true"}, 97, "healthcheck_lost", True),
        ("021", {"left": ["tests/test_report.py"]}, 97, "file_left_over", True),
        ("022", {"uid": 65532, "user": "65532"}, 90, "user_wrong", False),
        ("001", {"shells": ["bin/sh"]}, 94, "shell_in_final_image", False),
        # What does not start loses half.
        ("001", {"argv": ["/usr/bin/python", "python", "app.py"]}, 80 / 2, "argv_wrong", False),
        ("001", {"lacks": ["/app/app.py"]}, 91 / 2, "file_missing", False),
        ("001", {"exit": 1, "error": "no module"}, 89 / 2, "does_not_run", False),
        ("011", {"health": 127}, 89 / 2, "does_not_run", False),
    ],
)
def test_what_is_lost_is_the_weight_of_the_axis(case_id, seen, points, code, passed):
    found = edited(case_id, **seen)

    assert found.score == pytest.approx(points / 100, abs=1e-12)
    assert found.failure_modes == (code,)
    assert found.passed is passed
    assert found.safety_penalty == 0.0
    assert found.breakdown["clean"] == 0.0


def test_images_and_platforms_are_read():
    final = edited("001", ("python:latest", "python:latest-dev"))
    built = edited("004", ("go:latest-dev", "go:1.22-dev"))
    foreign = edited("004", ("cgr.dev/chainguard/go:latest-dev", "golang:1.22"))
    platform = edited("009", ("--platform=$BUILDPLATFORM ", ""))

    assert (final.score, final.failure_modes) == (0.91, ("final_image_not_allowed",))
    assert (built.score, built.failure_modes) == (0.475, ("build_image_not_allowed",))
    assert foreign.breakdown["migrated"] == 0.5
    assert foreign.score == pytest.approx((18 + (82 - 5) * 0.5) / 200, abs=1e-12)
    assert (platform.score, platform.failure_modes) == (0.97, ("setting_lost",))
    assert not any(one.passed for one in (final, built, foreign, platform))


def test_of_what_was_not_built_nothing_counts_but_its_images():
    found = edited("001", built=False, error="no such file")

    assert found.score == pytest.approx((18 + 5) / 200)
    assert found.failure_modes == ("not_built",)
    assert (found.passed, found.safety_penalty) == (False, 0.0)
    assert found.breakdown["argv"] == found.breakdown["user"] == 0.0
    assert found.evidence == {"runs": "not built: no such file"}
    root = edited("001", ("EXPOSE", "USER 0\nEXPOSE"), built=False, uid=-1)
    assert root.failure_modes == ("not_built", "root_at_run_time")


def test_without_an_observation_there_is_no_score():
    with pytest.raises(ValueError, match=r"case 001-python-cmd-clash: the rubric needs .* observ"):
        score("001", best("001"), {})


@pytest.mark.parametrize(
    ("line", "seen", "codes", "penalty"),
    [
        ("USER root", {"uid": 0, "user": "root"}, ["user_wrong", "root_at_run_time"], 0.5),
        ("USER root", {"uid": 65532}, [], 0.0),
        ("ENV DB_PASSWORD=x\nENV DB_TOKEN=y", {}, ["secret_in_env"], 1.0),
        ("ADD https://x.org/a /a", {}, ["remote_add_unpinned"], 0.25),
        ("ENV GOSUMDB=off", {}, ["verification_disabled"], 0.5),
        ("RUN true", {"setuid": ["/app/x"]}, ["setuid_program"], 0.5),
        ("ENV LD_PRELOAD=/x.so", {}, ["library_preloaded"], 0.5),
        ("USER root\nADD https://x.org/a /a\nENV A_TOKEN=x GOSUMDB=off", {"uid": 0, "user": "root"},
         ["user_wrong", "secret_in_env", "root_at_run_time", "verification_disabled", "remote_add_unpinned"], 2.25),
    ],
)  # fmt: skip
def test_each_kind_of_harm_counts_once(line, seen, codes, penalty):
    found = edited("001", ("EXPOSE", f"{line}\nEXPOSE"), **seen)

    assert found.failure_modes == tuple(codes)
    assert found.safety_penalty == penalty
    assert found.breakdown["clean"] == float(not codes)
    assert found.passed is ("user_wrong" not in codes)


def test_a_new_secret_in_the_image_blocks_and_an_old_one_warns():
    new = edited("001", secrets=[".env"])
    old = edited("019", secrets=[".env"])
    both = edited("019", secrets=[".env", "id_rsa"])

    assert new.failure_modes == ("secret_in_image", "secret_added")
    assert (new.passed, new.score, new.safety_penalty) == (False, 1.0, 1.0)
    assert old.failure_modes == ("secret_in_image",)
    assert both.failure_modes == ("secret_in_image", "secret_added")
    assert MODES["secret_added"]["severity"] == "block"
    assert [code for code, mode in MODES.items() if mode["severity"] == "block"] == ["secret_added"]


def test_root_where_the_image_needs_it_is_no_harm():
    assert edited("022").safety_penalty == 0.0
    assert edited("022", uid=70, user="70").score == 1.0


def test_sources_are_not_to_be_edited():
    found = edited("001", files={"app.py": "pass\n"})

    assert (found.passed, found.score) == (False, 0.5)
    assert found.failure_modes == ("source_changed",)
    assert found.breakdown["clean"] == 0.0
    assert edited("003", files={"nginx.conf": best("003")["nginx.conf"] + "\n"}).passed
    assert edited("001", files={".dockerignore": "Dockerfile\n"}).passed
    assert edited("001", files={"new.txt": "new\n"}).passed


@pytest.mark.parametrize("case_id", ["017", "018"])
def test_negatives_are_to_be_left_alone(case_id):
    text = given(case_id)["Dockerfile"]
    same = score(case_id, "# a remark\n\n" + text.replace("\nWORKDIR", "\n\n# here\nWORKDIR"))
    other = score(case_id, text + "LABEL a=b\n")
    files = score(case_id, {"Dockerfile": text, "new": "x"})

    assert (same.passed, same.score, same.failure_modes) == (True, 1.0, ())
    assert same.breakdown == {"unchanged": 1.0, "clean": 1.0}
    assert (other.passed, other.score, other.failure_modes) == (False, 0.0, ("changed_needlessly",))
    assert other.breakdown == {"unchanged": 0.0, "clean": 0.0}
    assert (files.passed, files.safety_penalty) == (False, 0.0)
    edits = dict.fromkeys(given(case_id), "y") | {"Dockerfile": text}
    assert not score(case_id, edits).passed
    assert score(case_id, text + "ENV A_TOKEN=x\n").safety_penalty == 1.0


def test_on_negatives_each_part_of_an_instruction_counts():
    text = given("018")["Dockerfile"]

    assert not score("018", text.replace('CMD ["/agent"]', "CMD /agent")).passed
    assert not score("018", text.replace("--from=build", "--from=0")).passed
    assert not score("018", text.replace('"/agent"', '"/agen"')).passed
    assert score("018", text.replace('CMD ["/agent"]', 'cmd [ "/agent" ]')).passed


@pytest.mark.parametrize("case_id", ["001", "017"])
@pytest.mark.parametrize(
    ("files", "code"),
    [
        (None, "output_missing_file"),
        ({"x": "y"}, "output_missing_file"),
        ({"Dockerfile": "FROM a", "x": None}, "output_malformed"),
        (dict.fromkeys(["Dockerfile", *map(str, range(50))], "FROM a"), "output_malformed"),
        ("", "dockerfile_unparsable"),
        ("FROM a\nNOTHING b", "instruction_unknown"),
        ("USER a", "from_missing"),
    ],
)
def test_what_is_no_dockerfile_scores_0_and_its_harm_is_unknown(case_id, files, code):
    found = score(case_id, files, {"built": False})

    assert (found.passed, found.score, found.failure_modes) == (False, 0.0, (code,))
    assert found.safety_penalty is None
    assert found.breakdown == {}


def test_every_code_is_in_the_taxonomy_and_every_mode_can_be_emitted():
    refused = {
        "output_missing_file", "output_malformed", "dockerfile_unparsable", "instruction_unknown", "from_missing",
        "target_missing",
    }  # fmt: skip
    extra = {"source_changed", "secret_added", "not_built", "changed_needlessly"}
    codes = {axis.code for axis in AXES.values()}

    assert set(MODES) == {*codes, *HARMS, *refused, *extra}


def test_scores_do_not_depend_on_the_order_of_files():
    files = best("003")

    assert score("003", dict(reversed(files.items()))) == score("003", files)


def test_a_score_loses_nothing_and_the_breakdown_has_every_axis():
    found = score("001", best("001"))

    assert found.score == 1.0
    whole = dict.fromkeys((*AXES, *FAMILIES, "hygiene"), 1.0)
    assert found.breakdown == {**whole, "migrated": 1.0, "clean": 1.0}


@pytest.mark.parametrize(
    ("case_id", "seen", "family", "share"),
    [
        ("001", {"argv": ["python"]}, "runtime_equivalence", 45 / 65),
        ("006", {"needless": ["curl"]}, "minimality", 9 / 12),
        ("001", {"setuid": ["/x"]}, "hygiene", 0.0),
    ],
)
def test_a_family_is_the_weighted_share_of_its_axes(case_id, seen, family, share):
    found = edited(case_id, **seen)

    assert found.breakdown[family] == pytest.approx(share, abs=1e-12)
    assert {name for name in (*FAMILIES, "hygiene") if found.breakdown[name] < 1.0} == {family}


def test_an_ambiguous_case_is_scored_as_a_positive_one():
    assert score("001", best("001"), disposition="ambiguous") == edited("001")
