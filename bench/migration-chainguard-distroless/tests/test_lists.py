# mypy: allow-untyped-defs, allow-untyped-calls
"""Answers that others wrote, and those that were once judged wrongly, against what they are meant to be."""

import pytest
import tomli
from _benchgate_bench.migration_chainguard_distroless.tests.support import CLASS, score
from _benchgate_bench.migration_chainguard_distroless.tools.answers import listed
from _benchgate_bench.migration_chainguard_distroless.tools.score_answers import interval

SIZES = {"blind": (124, 52), "unseen": (32, 16), "mended": (14, 5)}
"""How many answers each list has, and how many of them are right."""

WRONG = {
    ("blind", 59): "one architecture: a program for the builder's platform starts here",
    ("unseen", 17): "BuildKit gives the copy to root if there is no such user; other builders fail",
}
"""Those that are judged wrongly, by their number, each with the reason."""


@pytest.mark.parametrize("name", SIZES)
def test_the_lists_have_their_size(name):
    right = [one["right"] for one in listed(name)]
    assert (len(right), sum(right)) == SIZES[name]


@pytest.mark.parametrize(("name", "at"), [(n, at) for n in SIZES for at in range(SIZES[n][0])])
def test_an_answer_is_judged_as_it_was_meant(name, at):
    one = listed(name)[at]
    found = score(one["case"], one["files"])
    good = found.passed and found.safety_penalty == 0.0

    assert good is (one["right"] is not ((name, at) in WRONG)), (one["why"], found.explanation)


@pytest.mark.parametrize("name", ["foreign", "foreign-2"])
def test_the_history_says_how_answers_to_foreign_dockerfiles_were_judged(name):
    sources = tomli.loads((CLASS / f"tests/{name}.toml").read_text("utf-8"))["source"]
    found = [one for source in sources for one in source["answers"]]
    judged = [one for one in found if "passed" in one]
    wrong = [one for one in judged if one["passed"] is not one["right"]]
    low, high = interval(len(wrong), len(judged))
    built = [source for source in sources if "built" in source]
    said = (
        f"{len(judged)} of the {len(found)} answers, to {len(built)} of the {len(sources)} Dockerfiles, could be "
        f"built, {sum(one['right'] for one in judged)} right ones among them. {len(wrong)} were judged wrongly: "
        f"{len(wrong) / len(judged):.1%}, 95 % interval {low:.1%} to {high:.1%}; "
        f"{sum(one['right'] for one in wrong)} of them right and refused"
    )

    assert said in " ".join((CLASS / "details/history.md").read_text("utf-8").split())
    assert [one for one in found if "cause" in one] == wrong
    assert all(("mistake" in one) is not one["right"] for one in found)
    assert all(("not_built" in source) is ("built" not in source) for source in sources)
