"""A damaged artifact is found and named, whichever of its values is gone or another: nothing raises, nothing passes."""

from __future__ import annotations

import copy
import json
import random
import shutil

import pytest

from benchgate.artifacts.proof import PROOF_PARTS
from benchgate.cli import main
from benchgate.errors import ArtifactError
from benchgate.verify.validate import validate_file

REPLACEMENTS = (None, [], {}, "", -1)


@pytest.fixture
def recorded(bench, kept, tmp_path_factory):
    """The folder of a gated run with every artifact there is; it is made once."""
    if kept:
        shutil.rmtree(bench.root / "bench")
        shutil.copytree(kept["tree"], bench.root, dirs_exist_ok=True)
        return bench
    for number in range(4, 11):
        bench.case(f"{number:02}")
    (bench.root / "docs").mkdir()
    (bench.root / "docs/trust-tiers.toml").touch()
    bench.system("if int(case.case_id) > 2: return {'answer': ''}")
    bench.pin_once({})
    bench.system("if case.case_id == '10': raise ValueError('boom')")
    bench.run()
    kept["tree"] = tmp_path_factory.mktemp("recorded")
    shutil.copytree(bench.root, kept["tree"], dirs_exist_ok=True)
    return bench


def places(value, here=()):
    """Yield the path of every value in a JSON value; of arrays the first element alone."""
    inside = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value[:1])
        if isinstance(value, list)
        else ()
    )
    for key, item in inside:
        yield (*here, key)
        yield from places(item, (*here, key))


def damaged(raw, most):
    """Yield the path of a value, of so many or of all, and the artifact without it or with another in its place."""
    found = [*places(raw)]
    if most is not None and len(found) > most:
        found = random.Random(0).sample(found, most)  # noqa: S311 - any will do
    for place in found:
        for new in (..., *REPLACEMENTS):
            made = copy.deepcopy(raw)
            at = made
            for key in place[:-1]:
                at = at[key]
            if new is ...:
                del at[place[-1]]
            else:
                at[place[-1]] = new
            if made != raw:
                yield place, new, made


def problem(path):
    """Return what `validate` says against a file, ``None`` if it is valid; any other exception propagates."""
    try:
        validate_file(path)
    except ArtifactError as error:
        return str(error)
    return None


@pytest.mark.parametrize("part", ["baseline_report", "safety_regression_report"])
@pytest.mark.parametrize("name", ["", "proof.json", "../record.json", "/etc/hosts", "gone.json"])
def test_a_proof_that_names_other_files_is_invalid(recorded, part, name):
    path = recorded.folder() / "evidence/proof.json"
    raw = json.loads(path.read_bytes())
    was, raw["artifacts"][part] = raw["artifacts"][part], name
    path.write_text(json.dumps(raw))
    assert f"proof.artifacts.{part} is {name!r}; recomputed: {was!r}" in problem(path)


@pytest.mark.parametrize(
    "place", [("subject", "id"), ("decision", "notes"), ("verdict", "reasons"), ("task_class",)]
)
def test_a_promotion_report_agrees_with_its_record_in_every_part(recorded, place):
    path = recorded.folder() / "evidence/promotion.json"
    raw = json.loads(path.read_bytes())
    at = raw[place[0]] if place[1:] else raw
    at[place[-1]] = [] if isinstance(at[place[-1]], list) else "another"
    path.write_text(json.dumps(raw))
    assert f"{'.'.join(place)} is " in problem(path)


@pytest.mark.parametrize(
    "most",
    [
        pytest.param(6, id="some", marks=pytest.mark.slow),
        pytest.param(None, id="all", marks=pytest.mark.nightly),
    ],
)
def test_whatever_is_damaged_is_found_and_nothing_raises(recorded, capsys, most):
    folder = recorded.folder()
    assert main(["verify", str(recorded.out)]) == 0
    evidence = folder / "evidence"
    copied = recorded.out / "evidence/echo/promotion.json"
    tried = (
        folder / "record.json",
        folder / "cases/02.json",
        folder / "cases/10.json",
        folder.parent / "HEAD.json",
        copied,
        *evidence.glob("*.json"),
    )
    assert len(tried) == 12
    for path in tried:
        data = path.read_bytes()
        assert problem(path) is None
        for place, new, made in damaged(json.loads(data), most):
            path.write_text(json.dumps(made))
            if (
                problem(path) is None
            ):  # what is wrong is the file beside it, or its place in the chain
                assert main(["verify", str(recorded.out)]) == 1, (path, place, new)
            if path.parent in (folder / "cases", evidence):
                assert problem(folder / "record.json"), (path, place, new)
            if path.name in PROOF_PARTS.values():
                assert problem(evidence / "proof.json"), (path, place, new)
        path.write_bytes(data)
    assert main(["verify", str(recorded.out)]) == 0
