"""The ``benchgate`` command: what it prints where, how it exits; what ``validate`` and the schemas hold."""

from __future__ import annotations

import copy
import json
import shutil

import jsonschema
import pytest

from benchgate.artifacts.kinds import KINDS
from benchgate.artifacts.schemas import schema_kinds, schema_text
from benchgate.cli import main
from benchgate.errors import ArtifactError
from benchgate.gates import forecast
from benchgate.verify.validate import validate_file
from benchgate.wire.model import SCHEMA_VERSION
from tests.regenerate_schemas import make_schema


@pytest.fixture
def command(bench, capsys):
    """Run the command in the folder of the bench; return status, the JSON lines on stdout, and stderr."""

    def run(*arguments: str) -> tuple[int, list, str]:
        capsys.readouterr()
        try:
            status = main(arguments)
        except SystemExit as error:  # argparse
            status = error.code
        out, err = capsys.readouterr()
        return status, [json.loads(line) for line in out.splitlines() if line.startswith("{")], err

    assert bench.root.is_dir()
    return run


# benchgate run


def test_run_prints_a_line_for_each_trial_and_one_for_the_run(bench, command):
    status, lines, err = command("run", "--task-class=echo", "--trials=2", "--out=.benchgate")
    assert (status, err.splitlines()[0][:10]) == (0, "HOLD      ")
    assert [(line["case_id"], line["trial"]) for line in lines[:-1]] == [
        (case_id, trial) for case_id in ("01", "02", "03") for trial in (0, 1)
    ]
    assert lines[-1]["run_id"] == bench.record()["report"]["run_id"]
    assert lines[-1]["decision"]["outcome"] == "hold"
    assert lines[-1]["folder"] == str(bench.folder())
    assert "per_case" not in lines[-1]


def test_run_gives_the_run_id_of_pytest(bench, command):
    bench.case("02", answer="something else")
    bench.run()
    _, lines, _ = command("run", "--task-class=echo")
    assert lines[-1]["run_id"] == bench.record()["report"]["run_id"]
    assert lines[-1]["plan_id"] == bench.record()["report"]["plan_id"]


def test_run_writes_nothing_unless_told_to(bench, command):
    status, lines, _ = command("run", "--task-class=echo")
    assert status == 0
    assert lines[-1]["folder"] is None
    assert not bench.out.exists()


def test_run_decides_like_exit_gate(bench, command):
    bench.case("02", answer="something else")
    assert command("run", "--task-class=echo", "--out=.benchgate")[0] == 0
    bench.pin()
    status, lines, err = command("run", "--task-class=echo")
    assert status == 10
    assert lines[-1]["decision"]["outcome"] in {"hold", "reject"}
    assert "the gate decided" in err


def test_run_of_a_part_is_a_selection(bench, command):
    status, lines, _ = command("run", "--task-class=echo", "--cases=0[12]", "--out=.benchgate")
    assert status == 0
    assert lines[-1]["scope"] == "selected"
    assert bench.outcomes(bench.selected()) == {"01": "scored", "02": "scored"}


def test_run_of_no_case_says_no(command):
    status, _, err = command("run", "--task-class=echo", "--cases=nothing*")
    assert status != 0
    assert "Traceback" not in err
    assert err


def test_run_of_a_malformed_case_says_no_and_where(bench, command):
    bench.write("cases/02/case.toml", "[case\n")
    status, lines, err = command("run", "--task-class=echo")
    assert status == 1
    assert lines[-1]["complete"] is False
    assert "the run is incomplete: 1 not_run (02)" in err
    trials = {line["case_id"]: line for line in lines[:-1]}
    assert {case_id: trial["outcome"] for case_id, trial in trials.items()} == {
        "01": "scored",
        "02": "not_run",
        "03": "scored",
    }
    assert "cases/02/case.toml:1: " in trials["02"]["detail"]


def test_run_of_a_rubric_that_breaks_its_contract_says_no(bench, command):
    bench.rubric("return None")
    status, lines, err = command("run", "--task-class=echo")
    assert status == 1
    assert lines[-1]["complete"] is False
    assert "incomplete" in err


def test_run_with_a_system_by_its_place(bench, command):
    bench.pytester.makepyfile(other='def system(case):\n    return {"answer": "no"}\n')
    status, lines, _ = command("run", "--task-class=echo", "--system=other:system")
    assert status == 0
    assert lines[-1]["system"] == "other:system"
    assert lines[-1]["passed_count"] == 0


def test_run_of_a_class_that_is_not_there_says_no(bench, command):
    status, lines, err = command("run", "--task-class=ecco")
    assert (status, lines) == (1, [])
    path = bench.root / "bench/ecco/registration.py"
    assert err == f"unknown task class 'ecco'; expected {path}; known: echo\n"


WRONG_USE = {
    "no command": [],
    "an unknown command": ["frobnicate"],
    "no class": ["run"],
    "an unknown option": ["run", "--task-class=echo", "--verbose"],
    "no trials": ["run", "--task-class=echo", "--trials=0"],
    "a negative seed": ["run", "--task-class=echo", "--seed=-1"],
    "an unknown system": ["run", "--task-class=echo", "--system=louder"],
    "a baseline that is not there": ["run", "--task-class=echo", "--baseline=pinned"],
    "a policy without value": ["run", "--task-class=echo", "--policy=alpha"],
    "a policy out of range": ["run", "--task-class=echo", "--policy=alpha=2"],
    "an output folder in a file": ["run", "--task-class=echo", "--out=bench/echo/rubric.py/out"],
    "a time of NaN": ["run", "--task-class=echo", "--timeout=nan"],
    "no file to validate": ["verify", "--head"],
    "an unknown schema": ["verify", "--schema=frobnicate"],
}


@pytest.mark.parametrize("what", WRONG_USE)
def test_wrong_use_exits_with_2_and_says_why(command, what):
    status, lines, err = command(*WRONG_USE[what])
    assert (status, lines) == (2, [])
    assert err
    assert "Traceback" not in err


def test_a_wrong_registration_exits_with_2_and_names_the_file(bench, command):
    bench.write("registration.py", "import sys; sys.exit(0)\n")
    status, _, err = command("run", "--task-class=echo")
    assert status == 2
    assert "bench/echo/registration.py: SystemExit: 0" in err


def test_a_damaged_baseline_says_no(bench, command):
    (bench.path / "baseline.json").write_text("{}")
    status, lines, _ = command("run", "--task-class=echo")
    assert status == 1
    assert lines[-1]["decision"]["reason_codes"] == [
        "checkpoint_promotion_blocked_baseline_mismatch"
    ]


def test_a_selection_that_was_asked_to_be_gated_says_no(bench, command):
    bench.engine()
    bench.pin()
    assert command("run", "--task-class=echo", "--cases=01")[0] == 0
    status, _, err = command("run", "--task-class=echo", "--cases=01", "--baseline=pinned")
    assert status == 1
    assert "a gate was asked for" in err


def test_what_a_system_prints_does_not_get_between_the_json_lines(bench, capsys):
    bench.system('print("thinking")')
    assert main(["run", "--task-class=echo"]) == 0
    for line in capsys.readouterr().out.splitlines():
        json.loads(line)


# benchgate verify, benchgate verify --schema


@pytest.fixture
def artifacts(request, kept, tmp_path_factory):
    """Every kind of artifact; made once, and each test leaves them as they were."""
    if "artifacts" not in kept:
        out = tmp_path_factory.mktemp("artifacts") / "out"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(forecast, "REPETITIONS", 20)
            made = make_artifacts(request.getfixturevalue("bench"))
        shutil.copytree(request.getfixturevalue("bench").out, out)
        kept["artifacts"] = [out / path for path in made]
    return kept["artifacts"]


@pytest.fixture
def kinds(artifacts):
    """The largest artifact of each kind."""
    by_size = sorted(artifacts, key=lambda path: path.stat().st_size)
    return list({validate_file(path): path for path in by_size}.values())


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
    where = [root, f"--runs={bench.out}"]
    assert main(["plan", "echo", *where, f"--out={bench.out / 'echo.plan.json'}"]) == 0
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
    made = [
        bench.out / "runs/echo/HEAD.json",
        folder / "record.json",
        folder / "plan.json",
        folder / "cases/01.json",
        folder / "cases/02.json",
        *sorted((folder / "evidence").glob("*.json")),
        *sorted((bench.out / "evidence/echo").glob("*.json")),
        bench.out / "outputs/manifest.json",
        bench.out / "echo.plan.json",
        bench.out / "baseline.pin.json",
        selected / "report.json",
        selected / "cases/01.json",
    ]
    return [path.relative_to(bench.out) for path in made]


def test_every_artifact_of_a_run_is_valid_and_every_kind_is_among_them(artifacts, command):
    assert {validate_file(path) for path in artifacts} == set(KINDS)
    status, _, err = command("verify", *map(str, artifacts))
    assert (status, err) == (0, "")


def test_every_artifact_holds_its_published_schema(kinds):
    for path in kinds:
        schema = json.loads(schema_text(validate_file(path)))
        validator = jsonschema.Draft202012Validator(
            schema, format_checker=jsonschema.FormatChecker()
        )
        assert not list(validator.iter_errors(json.loads(path.read_bytes()))), path.name


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


def is_told(field, message: str | None) -> bool:
    """Whether a complaint is about the field, or comes of one without which the kind cannot be told."""
    if message is None:
        return False
    return field[-1] == "report_kind" or "of no known kind" in message or str(field[-1]) in message


def test_an_artifact_that_lacks_any_field_is_invalid(artifacts):
    for path in artifacts:
        raw = json.loads(path.read_bytes())
        found = {field: complaint(path, replaced(raw, field)) for field in fields(raw)}
        assert not [field for field in found if not is_told(field, found[field])], path.name


def test_an_artifact_that_lacks_any_field_does_not_hold_its_schema(kinds):
    for path in kinds:
        validator = jsonschema.Draft202012Validator(json.loads(schema_text(validate_file(path))))
        raw = cut(json.loads(path.read_bytes()))
        validator.validate(raw)
        wrong = [field for field in fields(raw) if validator.is_valid(replaced(raw, field))]
        assert not wrong, path.name


def test_an_artifact_with_a_field_of_another_type_is_invalid(kinds):
    for path in kinds:
        raw = json.loads(path.read_bytes())
        wrong = []
        for field in fields(raw):
            value = raw
            for key in field:
                value = value[key]
            if field[-1] == "output":  # of any type
                continue
            made = [complaint(path, replaced(raw, field, other)) for other in other_types(value)]
            wrong += [field for message in made if not is_told(field, message)]
        assert not wrong, path.name


def test_an_artifact_with_an_unknown_field_is_valid(kinds):
    for path in kinds:
        raw = {**json.loads(path.read_bytes()), "unknown": 1}
        assert complaint(path, raw) is None
        schema = json.loads(schema_text(validate_file(path)))
        jsonschema.Draft202012Validator(schema).validate(raw)


def test_an_artifact_of_another_version_is_invalid(artifacts):
    for path in artifacts:
        raw = json.loads(path.read_bytes())
        now = SCHEMA_VERSION
        for version in (0, now - 1, now + 1, now + 0.5, str(now), True, None):
            message = complaint(path, {**raw, "schema_version": version})
            assert is_told(("schema_version",), message), path.name


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"", 1),
        (b"not json", 1),
        (b"[]", 1),
        (b"null", 1),
        (b"1", 1),
        (b"{}", 1),
        (b"\xff", 1),
        (b"[" * 100_000, 1),
        (b'{"report_kind": "frobnication"}', 1),
        (b'{"report_kind": ["record"]}', 1),
        (b'{"schema_version": 1, "seq": NaN, "sha256": ""}', 1),
        (b'{"schema_version": 1, "seq": 1, "seq": 1, "sha256": "' + b"0" * 64 + b'"}', 1),
    ],
    ids=[
        "empty",
        "text",
        "list",
        "null",
        "number",
        "object",
        "bytes",
        "deep",
        "kind",
        "list kind",
        "NaN",
        "a key twice",
    ],
)
def test_validate_refuses_what_is_no_artifact(tmp_path, command, content, status):
    path = tmp_path / "x.json"
    path.write_bytes(content)
    found, _, err = command("verify", str(path))
    assert found == status
    assert err.startswith(f"{path}: ")
    assert err.count("\n") == 1


def test_files_are_verified_alone(tmp_path, command):
    file = tmp_path / "x.json"
    file.write_text("{}")
    for words in (["--require-promote", str(file)], [str(tmp_path), str(file)]):
        status, _, err = command("verify", *words)
        assert (status, err) == (2, "expected one output folder, or files without an option\n")


def test_validate_exits_with_2_for_a_file_that_cannot_be_read(tmp_path, command):
    status, _, err = command("verify", str(tmp_path / "no.json"))
    assert status == 2
    assert err == f"{tmp_path / 'no.json'}: cannot be read: No such file or directory\n"
    assert command("verify", str(tmp_path), str(tmp_path / "no.json"))[0] == 2


def test_validate_checks_every_file_and_exits_with_the_worst(bench, command, tmp_path, capsys):
    bench.engine()
    (tmp_path / "bad.json").write_text("{}")
    files = [tmp_path / "bad.json", bench.folder() / "record.json", tmp_path / "no.json"]
    capsys.readouterr()
    assert main(["verify", *map(str, files)]) == 2
    out, err = capsys.readouterr()
    assert out == f"{files[1]}: valid record\n"
    assert len(err.splitlines()) == 2


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_kept_schema_is_the_one_that_its_model_makes(kind):
    assert json.loads(schema_text(kind)) == make_schema(kind)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_command_prints_the_schema_of_a_kind(kind, capsys):
    assert main(["verify", f"--schema={kind}"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads(schema_text(kind))
    jsonschema.Draft202012Validator.check_schema(printed)


def test_there_is_a_schema_for_every_kind():
    assert schema_kinds() == sorted(KINDS)
