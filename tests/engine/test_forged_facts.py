"""Each fact of a run, forged together with the decision that follows from it: somebody else says otherwise."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, get_args, get_origin

import pytest
from pydantic import ValidationError

from benchgate.aggregate import aggregates
from benchgate.artifacts.plan import plan_file
from benchgate.artifacts.run_evidence import views
from benchgate.artifacts.run_kinds import RunRecord
from benchgate.artifacts.trial_kinds import PlanFile
from benchgate.audit.chain import numbered, record_folder
from benchgate.audit.evidence_copy import write_copy
from benchgate.cli import main
from benchgate.errors import ArtifactError
from benchgate.gates.decide import decide
from benchgate.gates.facts import IN_RECORD
from benchgate.ids import RunPlan, run_id, suite_version
from benchgate.looks.chain import ChainLooks
from benchgate.sentences.says import Says
from benchgate.taxonomy import Taxonomy
from benchgate.training.checkpoints import CheckpointFiles
from benchgate.verify.against_bench import Terms
from benchgate.verify.validate import validate_file
from benchgate.verify.verification import verify_class
from benchgate.wire.canonical import sha256_hex
from benchgate.wire.model import WireModel
from benchgate.wire.writing import model_bytes
from tests.conftest import Echo
from tests.engine.test_looks import GRADED, SPEND
from tests.engine.test_rl_episodes import whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from benchgate.gates.looks import RecordedLook
    from benchgate.models import BenchRunReport

PAGE: Final = Path(__file__).parents[2] / "docs/reference/facts.md"
GIVEN: Final = "*given*"


# The leaves, and the table that says of each who contradicts it


def models_in(annotation: Any) -> list[type[WireModel]]:
    if isinstance(annotation, type) and issubclass(annotation, WireModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in models_in(part)]


def leaves_of(
    model: type[WireModel], names: Iterable[str] = (), at: str = ""
) -> Iterator[tuple[str, Any]]:
    """Yield path and annotation of each field of a model that may be another one, and of all fields below."""
    for name in names or model.model_fields:
        annotation = model.model_fields[name].annotation
        below = [one for one in models_in(annotation) if one is not Says]
        if annotation not in below:
            yield at + name, annotation
        for one in below:
            yield from leaves_of(one, at=f"{at}{name}.")


def table() -> dict[str, str]:
    """Return the rows of the page: leaves, and who contradicts them."""
    _, _, text = PAGE.read_text("utf-8").partition("| fact |")
    rows = re.findall(r"^\| (`[^|]*) \| ([^|]*) \|", text, re.MULTILINE)
    return {leaf: who for words, who in rows for leaf in re.findall(r"`([^`]+)`", words)}


def row_of(leaf: str, rows: Iterable[str]) -> str | None:
    """Return the row that says most exactly what is said of a leaf."""
    parts = leaf.split(".")
    above = [".".join([*parts[:at], "*"]) for at in range(len(parts) - 1, 0, -1)]
    return next((row for row in (leaf, *above) if row in rows), None)


LEAVES: Final = dict(leaves_of(RunRecord, IN_RECORD))
ROWS: Final = table()
WHO: Final = {leaf: ROWS.get(row_of(leaf, ROWS) or "", "") for leaf in LEAVES}


def test_the_facts_of_a_run_are_those_of_its_record():
    assert set(IN_RECORD) <= RunRecord.model_fields.keys()


def test_each_leaf_has_a_row_and_each_row_a_leaf():
    assert [leaf for leaf, who in WHO.items() if not who] == []
    assert ROWS.keys() - {row_of(leaf, ROWS) for leaf in LEAVES} == set()


# Small runs, of which each leaf is in one


JUDGE = "return {'score': output['answer'], 'usage': {'cost_usd': 0.25, 'model': 'j'}, 'fingerprint': 'a'}"
GATE = """
test = "auto"
safety = "optional"
observer_min_agreement = 0.1
[run]
observations = 3
"""
SYSTEMS = """
from benchgate import register_task_class
from .rubric import EchoRubric

def answering(answer):
    def system(case):
        case.usage.add(cost_usd=0.5, tokens_in=1, tokens_out=3, calls=1, model="m")
        if case.case_id == "03":
            raise ValueError("broken")
        return {"answer": answer}
    return system

systems = {"old": answering(0.25), "other": answering(0.75), "new": answering(1.0)}
systems["new"].digest = lambda: "0" * 64
register_task_class("echo", systems=systems, default_system="new", observe="observers.judge:judge")(EchoRubric)
"""
LABEL = '[[label]]\ncase = "{}"\noutput = "{}"\n{}\nby = "ada"\nat = 2026-11-25T00:00:00Z\n'


def judged(root: Path) -> Echo:
    """A class with an observer, and a label of each kind on a case."""
    echo = Echo(root)
    echo.case("01", cluster='"one"')
    echo.case("02", critical="true")
    echo.case("03", held_out="true")
    echo.case("04", retired='"its answer was wrong"')
    echo.write("gate.toml", GATE)
    echo.observer(JUDGE)
    echo.write("registration.py", SYSTEMS)
    return echo


def pinned(root: Path) -> Echo:
    """A run that is compared with a file; people say something of its outputs, and of those of others."""
    echo = judged(root)
    echo.engine(system="old", baseline="none", out=root / "pinned")
    [record] = (root / "pinned/runs/echo").glob("*/record.json")
    shutil.copy(record, echo.path / "baseline.json")
    echo.engine(system="other", baseline="none")
    text = ""
    for answer, says in ((0.25, "passed = false"), (0.75, "score = 0.5"), (1.0, "passed = true")):
        text += LABEL.format("01", sha256_hex(json.dumps({"answer": answer}).encode()), says)
    echo.write("labels.toml", text)
    echo.engine(system="new", baseline="auto")
    return echo


def beside(root: Path) -> Echo:
    """A run whose baseline ran too."""
    echo = judged(root)
    echo.engine(system="new", baseline="run:old")
    return echo


def incomplete(root: Path) -> Echo:
    """A run whose baseline ran too, and of which one trial of each could not be scored."""
    echo = judged(root)
    rubric = (echo.path / "rubric.py").read_text()
    echo.write("rubric.py", rubric.replace("said =", "assert case.case_id != '02'; said ="))
    echo.engine(system="new", baseline="run:old")
    return echo


def looks(root: Path) -> Echo:
    """Looks of which the last has something in each field."""
    echo = Echo(root)
    echo.rubric(GRADED)
    echo.write("gate.toml", 'test = "auto"\n')

    def run(score: float, baseline: str = "auto") -> None:
        system = lambda case: {"answer": score + int(case.case_id) / 100}  # noqa: E731
        echo.run(system=system, baseline=baseline, **SPEND)

    run(0.1, "none")
    echo.pin()
    run(0.2)
    where = [f"--bench-root={echo.path.parent}", f"--out={echo.out}"]
    assert main(["pin", "1", "--yes", *where, "--new-series=ten cases were wrong"]) == 0
    run(0.3)
    echo.case("03", retired='"its answer was wrong"')
    run(0.3)
    echo.case("02", critical="true")
    run(0.3)
    return echo


def stopped(root: Path) -> Echo:
    """A run that stopped early."""
    echo = Echo(root)
    for case_id in ("04", "05", "06"):
        echo.case(case_id)
    echo.write("gate.toml", 'test = "auto"\n')
    echo.run()
    echo.pin()
    echo.instead |= {f"{number:02}": {"answer": "?"} for number in range(1, 7)}
    echo.run(baseline="auto", stop="decided")
    return echo


def extended(root: Path) -> Echo:
    """A baseline that was extended."""
    echo = Echo(root)
    where = [f"--bench-root={echo.path.parent}", f"--out={echo.out}", "--task-class=echo"]
    assert main(["run", *where]) == 0
    assert main(["pin", "1", "--yes", *where]) == 0
    echo.case("04")
    assert main(["pin", "--extend", "--yes", "--reason=a new case", *where]) == 0
    return echo


def replayed(root: Path) -> Echo:
    """A run that replays another one."""
    echo = Echo(root)
    first = echo.run()
    echo.run(system=None, replay=first.published.folder)
    return echo


def playing(root: Path) -> Echo:
    """A run whose outputs are episodes."""
    echo = Echo(root)
    echo.run(system=lambda case: {"answer": "?", "rl_payload": whole(case)})
    return echo


def of_another_checkpoint(root: Path) -> Echo:
    """A run that is said to be of a checkpoint that its system was not handed."""
    echo = Echo(root)
    record = {
        "schema_version": 1,
        "created_at": "2026-05-12T00:00:00Z",
        "checkpoint_id": "late",
        "algorithm": "q-learning",
        "policy_version": "v2",
        "global_step": 100,
        "episode_count": 10,
        "mean_reward": 0.5,
        "artifact_uri": "file:weights.bin",
        "metadata": {"artifact_sha256": "0" * 64},
    }
    (root / "late.json").write_text(json.dumps(record))
    echo.run(checkpoints=CheckpointFiles(checkpoint=root / "late.json"))
    return echo


def logs(root: Path) -> Echo:
    """Two logs of another harness."""
    echo = Echo(root)
    for name, score in (("old", 0.25), ("new", 1.0)):
        rows = [{"id": f"c{number}", "score": score} for number in range(3)]
        (root / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    given = [str(root / "old.jsonl"), str(root / "new.jsonl"), f"--out={echo.out}"]
    main(["gate", *given, "--task-class=echo"])
    return echo


RUNS: Final = {
    "": pinned,
    "look": looks,
    "checkpoint_problems": of_another_checkpoint,
    "report.complete": incomplete,
    "report.parts": extended,
    "report.source.": logs,
    "report.stopped": stopped,
    "baseline.report": beside,
    "baseline.report.complete": incomplete,
    "baseline.report.source.": logs,
    "episodes": playing,
    "replays": replayed,
}
"""The run that has a leaf, by the beginning of its path; the longest counts."""


class Forged:
    """The newest record of a class, which is forged and put back."""

    def __init__(self, echo: Echo) -> None:
        self.out, self.name, self.bench = echo.out, echo.name, echo.path.parent
        self.runs = echo.out / "runs" / echo.name
        self.copy = echo.out / "evidence" / echo.name
        self.folder = echo.folder()
        self.record = RunRecord.read_file(self.folder / "record.json", "record")
        parts = (self.folder, self.copy)
        paths = [path for part in parts for path in part.rglob("*") if path.is_file()]
        self.kept = {path: path.read_bytes() for path in (*paths, self.runs / "HEAD.json")}
        assert verify_class(self.out, self.name).faults == ()
        self.said: list[str] = []
        self.said = self.faults()

    def faults(self) -> list[str]:
        """Return what ``verify --bench-root`` says of the newest record, or if it is valid, of the bench."""
        found = verify_class(self.out, self.name)
        faults = [one.message for one in found.faults]
        if not faults:
            faults += Terms.of(found.newest, self.out, self.bench, {}).objections()
        return [fault for fault in faults if fault not in self.said]

    def restore(self) -> None:
        for folder in self.runs.iterdir():
            if folder.name.startswith(self.folder.name[:8]) and folder != self.folder:
                folder.rename(self.folder)
        for path in (*self.folder.rglob("*"), *self.copy.rglob("*")):
            if path.is_file() and path not in self.kept:
                path.unlink()
        for path, data in self.kept.items():
            if not path.exists() or path.read_bytes() != data:
                path.write_bytes(data)

    def write(self, record: RunRecord, leaf: str, who: str) -> None:
        """
        Write a record with a forged leaf, and mend all that follows from it in there and in the files beside it.

        :param who: contradicts the leaf, and says what it said.
        """
        record = mended(self.record, record, leaf)
        folder = self.folder.with_name(
            record_folder(record.seq, record.finished_at, record.report.run_id)
        )
        if folder != self.folder:
            self.folder.rename(folder)
        if who != "`plan.json`":
            stated = PlanFile.read_file(folder / "plan.json", "plan")
            plan = model_bytes(planned(record, stated.timeout_seconds))
            (folder / "plan.json").write_bytes(plan)
            record = record.model_copy(update={"plan_sha256": sha256_hex(plan)})
        record = decided_again(record, folder)
        if who == "the bench":
            look = self.look_of(record, folder)
            record = decided_again(record.model_copy(update={"look": look}), folder)
        data = model_bytes(record)
        (folder / "record.json").write_bytes(data)
        head = self.runs / "HEAD.json"
        head.write_text(json.dumps(json.loads(head.read_bytes()) | {"sha256": sha256_hex(data)}))
        if (record.evidence_files, folder) != (self.record.evidence_files, self.folder):
            assert write_copy(self.copy, folder) is None

    def look_of(self, record: RunRecord, folder: Path) -> RecordedLook | None:
        """Return the look that the records before a forged one give."""
        (folder / "record.json").write_bytes(model_bytes(record))
        chain = ChainLooks()
        counted = [chain.add(run / "record.json") for _, run in numbered(self.runs)][-1]
        return counted.look if counted else None


def decided_again(record: RunRecord, folder: Path) -> RunRecord:
    """Return a record with the decision that follows from its facts, and write its evidence."""
    decided = decide(record.facts)
    record = record.model_copy(update={"decision": decided.decision})
    files = views(record, decided.comparison)
    for path in (folder / "evidence").iterdir():
        if path.name not in files:
            path.unlink()
    for name, data in files.items():
        path = folder / "evidence" / name
        if not path.exists() or path.read_bytes() != data:
            path.write_bytes(data)
    digests = {name: sha256_hex(data) for name, data in files.items()}
    return record.model_copy(update={"evidence_files": digests})


# How a leaf is forged


SHA256: Final = "0" * 64
PART: Final = {"sha256": SHA256, "finished_at": "2020-01-01T00:00:00Z", "counted_by": SHA256}
SOURCE: Final = {
    "tool": "json",
    "version": None,
    "sha256": SHA256,
    "metric": "score",
    "score_range": [0.0, 1.0],
    "without": [],
}
VALUES: Final[dict[str, Any]] = {
    "baseline": None,
    "baseline.problems": [{"sentence": "baseline.incomplete", "values": {}}],
    "baseline.report.parts": [PART],
    "baseline.report.per_case.outcome": "timeout",
    "baseline.report.source": SOURCE,
    "baseline.run.table.scores": [[0.5], [0.25], [0.0]],
    "baseline.run.table.timeouts": {"03": [0]},
    "checkpoint_problems": [],
    "look.declared": "count",
    "look.known.scores": [0.5],
    "look.seen.scores": [0.5],
    "policy.looks": "spend:3",
    "policy.margin": 0.5,
    "policy.max_newly_failing": 1,
    "policy.tolerance": 0.5,
    "report.parts": [PART],
    "report.per_case.outcome": "timeout",
    "report.source": SOURCE,
}
"""Values that do not come of themselves."""
CLAIMS: Final = {
    "policy.margin": "not_worse",
    "policy.max_newly_failing": "no_regression",
    "policy.tolerance": "no_regression",
}
"""The claim that a threshold belongs to."""


def choices(annotation: Any) -> Iterator[Any]:
    """Yield the values that are listed in an annotation."""
    if get_origin(annotation) is Literal:
        yield from get_args(annotation)
    for part in get_args(annotation):
        yield from choices(part)


def others(value: Any, annotation: Any) -> Iterator[Any]:
    """Yield other values of the same kind, and then of any: the first that the model takes is the forged one."""
    yield from choices(annotation)
    if models_in(annotation):
        yield None
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield value + 1
    elif isinstance(value, float):
        yield from (value / 2 + 0.125, value / 2)
    elif isinstance(value, list) and value:
        yield value[:-1]
        yield from ([*value[:-1], other] for other in others(value[-1], None))
    elif isinstance(value, dict) and value:
        yield {**value, [*value][-1]: SHA256}
        yield dict([*value.items()][:-1])
    yield from ("forged", "0" * 64, "2020-01-01T00:00:00Z", 0.25, 3, True, None, [], {})
    yield from (["forged"], ["0" * 64], [1], [[True, 0.5]], {"01": "forged"}, [0.0, 2.0])


def places(node: Any, path: list[str]) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield each object that has a field of this path, and the name that it has there."""
    if isinstance(node, list):
        for one in node:
            yield from places(one, path)
    elif isinstance(node, dict) and len(path) == 1:
        yield node, path[0]
    elif isinstance(node, dict):
        yield from places(node.get(path[0]), path[1:])


def forged(record: RunRecord, leaf: str) -> RunRecord:
    """Return a record with another value of a leaf, at the first place that has one."""
    raw = json.loads(model_bytes(record))
    raw["policy"]["claim"] = CLAIMS.get(leaf, raw["policy"]["claim"])
    found = [*places(raw, leaf.split("."))]
    if not found:  # what no run has is made up with all that belongs to it
        return forged(record, leaf.rpartition(".")[0])
    node, name = min(found, key=lambda place: not place[0].get(place[1]))
    before = node.get(name)
    for value in [VALUES[leaf]] if leaf in VALUES else others(before, LEAVES[leaf]):
        node[name] = value
        try:
            changed = RunRecord.read_json(json.dumps(raw).encode())
        except ValidationError:
            continue
        if changed.facts != record.facts:
            return changed
    raise AssertionError(f"no other value than {before!r}")


def planned(record: RunRecord, timeout: float) -> PlanFile:
    return plan_file(
        RunPlan.of_report(record.report, harness_version=record.harness.benchgate),
        timeout=timeout,
        started=record.started_at,
        resumes=record.resumes,
        replays=record.replays,
        baseline_system=record.rerun.system if record.rerun else None,
    )


def mended(before: RunRecord, record: RunRecord, leaf: str) -> RunRecord:
    """Return a record with a forged leaf, in which all that follows from it does."""
    report = mended_report(record, record.report, leaf.removeprefix("report."))
    if leaf != "report.digests.baseline":
        baseline = record.baseline.sha256 if record.baseline else None
        digests = report.digests.model_copy(update={"baseline": baseline})
        report = report.model_copy(update={"digests": digests})
    update: dict[str, Any] = {"report": report}
    if leaf in {"labels.case", "labels.output"}:
        known = {(label.case, label.output) for label in before.labels}
        update["labels"] = tuple(
            label
            if (label.case, label.output) in known
            else label.model_copy(update={"observed": ()})
            for label in record.labels
        )
    if record.rerun is not None:
        rerun = mended_report(record, record.rerun, leaf.removeprefix("baseline.report."))
        update["baseline"] = record.baseline.model_copy(update={"report": rerun})
    if record.subject.kind == "system":
        own = {"id": report.system, "digest": report.digests.system, "source": report.source}
        update["subject"] = record.subject.model_copy(update=own)
    return record.model_copy(update=update)


def mended_report(record: RunRecord, report: BenchRunReport, leaf: str) -> BenchRunReport:
    """Return a report in which all that follows does, but for the leaf itself."""
    terms: dict[str, Any] = {"bounded": True, "clusters": report.clusters}
    taxonomy = Taxonomy(record.severities)
    held_out = [result for result in report.per_case if result.held_out]
    derived = {
        **dict(aggregates(report.per_case, taxonomy, **terms)),
        "held_out": aggregates(held_out, taxonomy, **terms) if held_out else None,
        "run_id": run_id(report.task_class, report.per_case),
    }
    if not leaf.startswith("suite."):
        suite = {"name": report.task_class, "version": suite_version(report.digests.cases)}
        derived["suite"] = report.suite.model_copy(update=suite)
    if leaf != "digests.policy":
        policy = {"policy": record.policy.digest}
        derived["digests"] = report.digests.model_copy(update=policy)
    derived.pop(leaf.partition(".")[0], None)
    report = report.model_copy(update=derived)
    if leaf == "plan_id":
        return report
    plan = RunPlan.of_report(report, harness_version=record.harness.benchgate)
    return report.model_copy(update={"plan_id": plan.plan_id()})


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Return the run that has a leaf; it is made once."""
    made: dict[Any, Forged] = {}

    def of(leaf: str) -> Forged:
        start = max((one for one in RUNS if leaf.startswith(one)), key=len)
        make = RUNS[start]
        if make not in made:
            made[make] = Forged(make(tmp_path_factory.mktemp(make.__name__)))
        return made[make]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "dont_write_bytecode", True)
        yield of


WORDS: Final[dict[str, str]] = {
    "baseline": "^it was not compared with .*, but with none$",
    "baseline.report.per_case": "case_files: not one file for each result",
    "baseline.report.per_case.case_id": "case_files: not one file for each result",
    "baseline.report.per_case.trial": "case_files: not one file for each result",
    "baseline.report.system": "plan.json.baseline_system is",
    "baseline.report.parts.*": "^baseline: report.parts is",
    "baseline.report.digests.system": "plan.json.digests.baseline is",
    "baseline.report.digests.checkpoint": "plan.json.digests.baseline is",
    "baseline.report.task_class": r"^baseline: cases/\S+\.task_class is ",
    "baseline.sha256": "^its baseline is not ",
    "checkpoint_problems": "a scored output belongs to another checkpoint",
    "labels": "^it lacks 1 label of ",
    "labels.*": "^1 of its labels are not in ",
    "labels.observed": "^labels: the baseline has other results of output ",
    "labels.observed.*": "^labels: (the|no) .* has (other|this) results? of output ",
    "labels.observed.seq": "^labels: no earlier run has this result of output ",
    "report.clusters": "^its cases are labelled otherwise in .*: cluster of 01 was ",
    "report.critical": "^its cases are labelled otherwise in .*: critical of 02 was ",
    "report.digests.cases": "^its cases are not those of ",
    "report.digests.rubric": "^it was not scored by the rubric of ",
    "report.parts": "^report.parts: they are not those of a record before it",
    "report.parts.*": "^report.parts: they are not those of a record before it",
    "report.per_case": "case_files: not one file for each result",
    "report.per_case.case_id": "case_files: not one file for each result",
    "report.per_case.trial": "case_files: not one file for each result",
    "report.retired": "^its cases are labelled otherwise in .*: case 04 was retired: ",
    "report.source": "^its results were read from the log of another harness$",
}
"""What is said of a leaf that is not named by its path."""


def named(leaf: str, who: str) -> str:
    """Return how a message begins that names a leaf."""
    if leaf.startswith("policy."):
        return f"^decided with {leaf.removeprefix('policy.')} = "
    more = r"(\.\S+)?(:| is) "
    side = "baseline: " if leaf.startswith("baseline.report.") else ""
    inside = leaf.removeprefix("baseline.")
    if inside.startswith("report.per_case."):
        return rf"^{side}cases/\S+\.result\.{inside.removeprefix('report.per_case.')}{more}"
    if who == "`plan.json`":
        return rf"^plan\.json\.{inside.removeprefix('report.')}{more}"
    if inside.startswith("report."):
        return f"^{side}{inside}{more}"
    return f"^{leaf}{more}"


@pytest.mark.parametrize("start", RUNS)
def test_a_record_that_is_written_again_with_no_leaf_forged_is_valid(runs, start):
    run = runs(start)
    run.write(run.record, "", "nobody")
    assert run.faults() == []


@pytest.mark.parametrize("start", RUNS)
def test_each_file_of_honest_evidence_is_valid_wherever_it_lies(runs, start, tmp_path):
    run = runs(start)
    lone = tmp_path / "lone"
    shutil.copytree(run.copy, lone)
    for folder in (run.folder / "evidence", run.copy, lone):
        for path in folder.glob("*.json"):
            if (folder, path.name) == (lone, "promotion.json"):
                with pytest.raises(ArtifactError, match=r"it needs its record$"):
                    validate_file(path)
            else:
                assert validate_file(path) == path.stem


def test_a_decision_follows_from_its_record_without_those_before_it(runs):
    record = runs("look").record
    assert [case.case_id for case in record.look.seen] == ["02", "03"]
    assert [case.case_id for case in record.look.known] == ["03"]
    assert decide(record.facts).decision == record.decision
    assert record.decision.look.over_seen is not None


@pytest.mark.parametrize("leaf", [leaf for leaf, who in WHO.items() if who != GIVEN])
def test_a_forged_fact_is_contradicted(runs, leaf):
    run = runs(leaf)
    try:
        run.write(forged(run.record, leaf), leaf, WHO[leaf])
        faults = run.faults()
    finally:
        run.restore()
    shown = [re.sub(r"\.\d+(?=[. ])", "", fault) for fault in faults]
    wanted = WORDS.get(row_of(leaf, WORDS) or "", named(leaf, WHO[leaf]))
    assert any(re.search(wanted, fault) for fault in shown), faults
