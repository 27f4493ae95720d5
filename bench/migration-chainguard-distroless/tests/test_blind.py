# mypy: allow-untyped-defs, allow-untyped-calls
"""Answers that were written before the rubric was read, against what they are meant to be."""

import pytest
import tomli
from _benchgate_bench.migration_chainguard_distroless.tests.support import CLASS, score

ANSWERS = {
    name: tomli.loads((CLASS / "tests" / f"{name}.toml").read_text(encoding="utf-8"))["answer"]
    for name in ("blind", "unseen")
}
SIZES = {"blind": (124, 52), "unseen": (32, 16)}
"""How many answers each list has, and how many of them are right."""

WRONG = {
    ("unseen", 9): "CARGO_TARGET_DIR, as all variables that say where a tool writes, is not read"
}
"""Those that the rubric judges wrongly, by their number, each with the reason; at most five."""


def test_the_lists_have_more_than_a_hundred_and_few_are_judged_wrongly():
    for name, (size, right) in SIZES.items():
        assert len(ANSWERS[name]) == size
        assert sum(one["right"] for one in ANSWERS[name]) == right
    assert len(WRONG) <= 5


@pytest.mark.parametrize(
    ("name", "at"), [(name, at) for name in SIZES for at in range(SIZES[name][0])]
)
def test_an_answer_is_judged_as_it_was_meant(name, at):
    one = ANSWERS[name][at]
    found = score(one["case"], {"Dockerfile": one["dockerfile"], **one.get("files", {})})
    good = found.passed and found.safety_penalty == 0.0

    assert good is (one["right"] is not ((name, at) in WRONG)), (one["why"], found.failure_modes)
