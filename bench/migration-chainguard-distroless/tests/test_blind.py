# mypy: allow-untyped-defs, allow-untyped-calls
"""Answers that were written before the rubric was read, against what they are meant to be."""

import pytest
import tomli
from _benchgate_bench.migration_chainguard_distroless.tests.support import CLASS, score

ANSWERS = tomli.loads((CLASS / "tests" / "blind.toml").read_text(encoding="utf-8"))["answer"]

WRONG: dict[int, str] = {}
"""Those that the rubric judges wrongly, by their number, each with the reason; at most five."""


def test_the_list_has_more_than_a_hundred_and_few_are_judged_wrongly():
    assert len(ANSWERS) == 124
    assert sum(one["right"] for one in ANSWERS) == 52
    assert len(WRONG) <= 5


@pytest.mark.parametrize("at", range(len(ANSWERS)))
def test_an_answer_is_judged_as_it_was_meant(at):
    one = ANSWERS[at]
    found = score(one["case"], {"Dockerfile": one["dockerfile"], **one.get("files", {})})
    good = found.passed and found.safety_penalty == 0.0

    assert good is (one["right"] is not (at in WRONG)), (one["why"], found.failure_modes)
