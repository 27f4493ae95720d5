"""Every kind of artifact against its model and its published schema: what lacks a field or has another type is none."""

from __future__ import annotations

import copy
import json
import shutil

import jsonschema
import pytest
from pydantic import ValidationError

from benchgate.artifacts.kinds import KINDS
from benchgate.artifacts.schemas import schema_kinds, schema_text
from benchgate.cli import main
from benchgate.errors import ArtifactError
from benchgate.verify.validate import validate_file
from benchgate.wire.model import SCHEMA_VERSION
from tests.conftest import Echo
from tests.regenerate_schemas import make_schema


@pytest.fixture(scope="module")
def artifacts(tmp_path_factory):
    """Every kind of artifact; each test leaves them as they were."""
    return make_artifacts(Echo(tmp_path_factory.mktemp("artifacts")))


@pytest.fixture(scope="module")
def kinds(artifacts):
    """The largest artifact of each kind."""
    by_size = sorted(artifacts, key=lambda path: path.stat().st_size)
    return {validate_file(path): path for path in by_size}


def make_artifacts(bench):
    """Run twice in full, the second time compared with the first, and a selection; return what was written."""
    bench.rubric("""
        score = float(output["answer"])
        return BenchScore(
            passed=score > 0.05, score=score, breakdown={"part": score}, failure_modes=["wrong"],
            safety_penalty=0.0,
        )
    """)
    for number in range(1, 13):
        bench.case(f"{number:02}", held_out="true" if number > 9 else "false")
    (bench.root / "docs").mkdir()
    (bench.root / "docs/trust-tiers.toml").write_text("")
    bench.system('return {"answer": 0.1 + int(case.case_id) / 1000}')
    bench.engine()
    root = f"--bench-root={bench.root / 'bench'}"
    assert main(["pin", "1", root, f"--out={bench.out}", "--yes"]) == 0
    for name in ("baseline.json", "baseline.pin.json"):
        shutil.copy(bench.path / name, bench.out)
    bench.system("""
        if case.case_id == "02":
            raise ValueError("boom")
        return {"answer": 0.9 - int(case.case_id) / 1000}
    """)
    bench.engine(baseline="auto", policy={"test": "auto"}, record="outputs")
    (bench.path / "cassettes/outputs").rename(bench.out / "outputs")
    bench.engine(case_filter="0[12]")
    folder = bench.folder()
    selected = bench.out / "last-selected/echo"
    return [
        bench.out / "runs/echo/HEAD.json",
        folder / "record.json",
        folder / "plan.json",
        folder / "cases/01.json",
        folder / "cases/02.json",
        *sorted((folder / "evidence").glob("*.json")),
        *sorted((bench.out / "evidence/echo").glob("*.json")),
        bench.out / "outputs/manifest.json",
        bench.out / "baseline.pin.json",
        selected / "report.json",
        selected / "cases/01.json",
    ]


def test_every_artifact_of_a_run_is_valid_and_every_kind_is_among_them(artifacts, capsys):
    assert {validate_file(path) for path in artifacts} == set(KINDS)
    capsys.readouterr()
    assert main(["verify", *map(str, artifacts)]) == 0
    assert capsys.readouterr().err == ""


def test_every_artifact_holds_its_published_schema(kinds):
    for kind, path in kinds.items():
        schema = json.loads(schema_text(kind))
        validator = jsonschema.Draft202012Validator(
            schema, format_checker=jsonschema.FormatChecker()
        )
        assert not list(validator.iter_errors(json.loads(path.read_bytes()))), path.name


@pytest.mark.parametrize(
    ("kind", "field", "beyond"),
    [
        ("record", ("report", "mean_score"), 1.5),
        ("record", ("policy", "alpha"), 1),
        ("case", ("result", "duration_seconds"), -1),
    ],
)
def test_a_published_schema_has_the_limits_of_its_model(kinds, kind, field, beyond):
    raw = replaced(json.loads(kinds[kind].read_bytes()), field, beyond)
    validator = jsonschema.Draft202012Validator(json.loads(schema_text(kind)))
    assert [tuple(error.path) for error in validator.iter_errors(raw)] == [field]
    assert is_told(field, refusal(kind, raw))


FREE = {
    "output",
    "breakdown",
    "cases",
    "files",
    "case_files",
    "evidence_files",
    "severities",
    "meanings",
    "about_cases",
}
"""What stands below these keys is named by the class, not by us: any key may be absent there."""


OLDER = {("rules",), ("look",), ("significance", "paired", "p_half_ties")}
"""Fields that a file may lack: it has rules 0, or it is no look, which the chain says too."""


def fields(value, path=()):
    """Yield the path of each field; of a list only the first element's."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield (*path, key)
            if key not in FREE:
                yield from fields(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value[:1]):
            yield from fields(item, (*path, index))


def cut(value, *, is_free=False):
    """Keep one item of lists of objects, and of what stands below free keys: a schema says no more of two."""
    if isinstance(value, dict):
        items = list(value.items())[: 1 if is_free else None]
        return {key: cut(item, is_free=key in FREE) for key, item in items}
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [cut(value[0])]
    return value


def replaced(raw, path, *value):
    """Return a copy with the field at a path deleted, or replaced by a value."""
    made = copy.deepcopy(raw)
    inner = made
    for key in path[:-1]:
        inner = inner[key]
    if value:
        inner[path[-1]] = value[0]
    else:
        del inner[path[-1]]
    return made


def other_types(value) -> list:
    """Return values of types that a field which holds ``value`` cannot have."""
    others = [{"x": 1} if isinstance(value, list) else [value]]
    if isinstance(value, bool):
        others += [int(value), str(value)]
    elif isinstance(value, int | float):
        others += [str(value), True]
    elif isinstance(value, str):
        others += [7]
    return others


def complaint(path, raw) -> str | None:
    """Validate another content in the place of an artifact, beside the files that it refers to."""
    aside = path.rename(path.parent.parent / "aside")
    path.write_text(json.dumps(raw))
    try:
        validate_file(path)
    except ArtifactError as error:
        return error.message
    finally:
        aside.replace(path)
    return None


def refusal(kind, raw) -> str | None:
    """Return what the model of a kind says against a content, and where."""
    try:
        KINDS[kind].read_json(json.dumps(raw).encode())
    except ValidationError as error:
        return str([(fault["loc"], fault["msg"]) for fault in error.errors(include_url=False)])
    return None


def is_told(field, message: str | None) -> bool:
    """Whether a complaint is about the field, or comes of one without which the kind cannot be told."""
    if message is None:
        return False
    return field[-1] == "report_kind" or "of no known kind" in message or str(field[-1]) in message


def test_an_artifact_that_lacks_any_field_is_invalid(kinds):
    for kind, path in kinds.items():
        raw = cut(json.loads(path.read_bytes()))
        assert refusal(kind, raw) is None
        needed = {*fields(raw)} - OLDER
        found = {field: refusal(kind, replaced(raw, field)) for field in needed}
        assert not [field for field in found if not is_told(field, found[field])], kind


def test_an_artifact_that_lacks_a_field_is_no_valid_file(kinds):
    """Also where its kind cannot be told any more."""
    for path in kinds.values():
        raw = json.loads(path.read_bytes())
        for field in raw:
            assert is_told((field,), complaint(path, replaced(raw, (field,)))), path.name


def test_an_artifact_that_lacks_any_field_does_not_hold_its_schema(kinds):
    for kind, path in kinds.items():
        validator = jsonschema.Draft202012Validator(json.loads(schema_text(kind)))
        raw = cut(json.loads(path.read_bytes()))
        validator.validate(raw)
        needed = {*fields(raw)} - OLDER
        wrong = [field for field in needed if validator.is_valid(replaced(raw, field))]
        assert not wrong, path.name


def test_an_artifact_with_a_field_of_another_type_is_invalid(kinds):
    for kind, path in kinds.items():
        raw = cut(json.loads(path.read_bytes()))
        wrong = []
        for field in fields(raw):
            value = raw
            for key in field:
                value = value[key]
            if field[-1] == "output":  # of any type
                continue
            made = [refusal(kind, replaced(raw, field, other)) for other in other_types(value)]
            wrong += [field for message in made if not is_told(field, message)]
        assert not wrong, kind


def test_an_artifact_with_an_unknown_field_is_read(kinds):
    for kind, path in kinds.items():
        raw = {**json.loads(path.read_bytes()), "unknown": 1}
        assert refusal(kind, raw) is None
        schema = json.loads(schema_text(kind))
        jsonschema.Draft202012Validator(schema).validate(raw)


def test_an_artifact_of_another_version_is_invalid(kinds):
    for path in kinds.values():
        raw = json.loads(path.read_bytes())
        now = SCHEMA_VERSION
        for version in (0, now - 1, now + 1, now + 0.5, str(now), True, None):
            message = complaint(path, {**raw, "schema_version": version})
            assert is_told(("schema_version",), message), path.name


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_kept_schema_is_the_one_that_its_model_makes(kind):
    kept = json.loads(schema_text(kind))
    assert kept == make_schema(kind)
    jsonschema.Draft202012Validator.check_schema(kept)


def test_there_is_a_schema_for_every_kind():
    assert schema_kinds() == sorted(KINDS)
