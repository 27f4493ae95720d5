# mypy: allow-untyped-defs, allow-untyped-calls
"""The cases: each can be solved, and only those that are right already by changing nothing."""

import json
import re
from itertools import product

import pytest
from _benchgate_bench.migration_chainguard_distroless.dockerfile.parser import parse
from _benchgate_bench.migration_chainguard_distroless.dockerfile.stages import borrowed, resolve
from _benchgate_bench.migration_chainguard_distroless.expected import read_expected
from _benchgate_bench.migration_chainguard_distroless.project import POLICY
from _benchgate_bench.migration_chainguard_distroless.tests import support

from benchgate.loader.systems import find_system
from benchgate.testing import loaded_class

with loaded_class(support.CLASS) as bench:
    SYSTEMS = {name: find_system(bench.task_class, name).call for name in bench.task_class.systems}


def scored(name, case_id):
    blank = support.load(case_id).model_copy(update={"expected_path": None})
    return support.score(case_id, SYSTEMS[name](blank)["files"])


@pytest.mark.parametrize("case_id", support.CASES)
def test_the_best_answer_is_right_in_everything(case_id):
    found = support.score(case_id, support.best(case_id))

    assert (found.passed, found.score, found.failure_modes) == (True, 1.0, ())
    assert (found.safety_penalty, found.breakdown["clean"]) == (0.0, 1.0)


@pytest.mark.parametrize("case_id", support.CASES)
@pytest.mark.parametrize("system", ["do-nothing", "claims-success"])
def test_doing_nothing_is_right_on_negatives_alone(system, case_id):
    found = scored(system, case_id)
    negative = case_id in support.disposed("negative")

    assert (found.passed, found.score) == (negative, float(negative))


def test_the_set_of_cases():
    cases = {case_id[:3]: support.load(case_id) for case_id in support.CASES}
    assert list(cases) == [f"{n:03}" for n in range(1, len(support.CASES) + 1)]
    assert [one[:3] for one in support.disposed("negative")][:2] == ["017", "018"]
    held_out = [number for number, case in cases.items() if case.held_out]
    assert held_out[:9] == ["010", "013", "015", "018", "020", "027", "033", "036", "038"]
    assert cases["015"].facts["tags"] == "paid"


@pytest.mark.parametrize("case_id", support.CASES)
def test_case_facts_and_policy_say_the_same(case_id):
    case = support.load(case_id)
    policy = json.loads((case.input_path / POLICY).read_text(encoding="utf-8"))
    expected, organisation = read_expected(case.expected_path), case.facts["organisation"]

    assert case.case_id == case_id
    assert case.tags
    assert case.facts["what"].endswith(".")
    said = {"registry": "cgr.dev", "organisation": organisation, "tags": case.facts["tags"]}
    assert policy == said | ({"target": expected.target} if expected.target else {})
    assert (case.facts["tags"] == "free") is expected.free_tags
    images = {*expected.final_images, *expected.build_images} - {"scratch"}
    assert all(image.startswith(f"cgr.dev/{organisation}/") for image in images)
    assert 1.0 in expected.final_images.values()
    built = resolve(parse(support.given(case_id)["Dockerfile"]))
    bases = {stage.base for stage in built.stages if stage.base}
    lent = {
        name for stage in built.stages for name in borrowed(stage) if not built.find(name, stage)
    }
    known = [re.split("[:@]", image)[0] for image in case.facts["from_images"]]
    assert {re.split("[:@]", base)[0] for base in bases | lent} == set(known)


def test_each_axis_is_moved_by_some_system_and_right_in_some_case():
    systems = product(("stage-aware", "table-converter"), support.disposed("positive"))
    found = [scored(*one).breakdown for one in systems]

    for axis in found[0]:
        values = {breakdown[axis] for breakdown in found if axis in breakdown}
        assert max(values) == 1.0, axis
        assert min(values) < 1.0 or axis == "migrated", axis


def test_texts_have_no_address_of_an_index_and_no_machine():
    own = re.compile(r"registry\.npmjs|pypi\.org|/work/|/tmp/|localhost:(?!8000/healthz)\d{4}/")
    for path in (support.CLASS / "cases").rglob("*"):
        assert not path.is_file() or not own.search(path.read_text(encoding="utf-8")), path
