"""
Holds a decision against the bench that it must have been made under.

Where a threshold came from does not protect it: an ini setting, a variable and a conftest set it alike. So it is
compared here, in another process. The bench is read and nothing of it is imported.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from benchgate.artifacts.trial_kinds import PlanFile
from benchgate.audit.chain import PLAN_FILE, record_folder
from benchgate.errors import EvalError, brief, counted, few
from benchgate.gates.baseline import rank, read_baseline
from benchgate.gates.case_labels import labels_of, relabelled
from benchgate.gates.choice import FILE_NAME, PIN_FILE, RERUN
from benchgate.gates.labels import LABELS, read_labels
from benchgate.gates.policy import load_policy, load_run_table, log_policy, make_policy
from benchgate.gates.run_side import BaselineFacts
from benchgate.loader.case_digest import case_digest, files_digest
from benchgate.loader.case_folder import case_folders, read_case, retired_cases
from benchgate.loader.failure_modes import load_taxonomy
from benchgate.loader.observer import observer_digest
from benchgate.loader.registration_source import registered_system
from benchgate.loader.rubric_source import rubric_digest
from benchgate.loader.systems import is_address
from benchgate.registry import FLOORS, SystemEntry
from benchgate.sentences.says import joined
from benchgate.verify.recheck_decision import baseline_faults

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from benchgate.artifacts.run_kinds import RunRecord
    from benchgate.gates.policy import GatePolicy
    from benchgate.gates.run_table import RunTable
    from benchgate.models import BenchRunReport, LogSource

BY_CASE: Final = ("auto", "paired")
"""Tests that compare case by case: other than the default, and no easier to pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """
    What a recorded decision must have been made under.

    :param folder: of the record.
    :param class_path: folder of the class in the bench; ``None`` if there is none, and the defaults count.
    :param policy: that of the bench or the defaults, with what is said to differ.
    :param said: the thresholds that are said to differ.
    """

    record: RunRecord
    folder: Path
    class_path: Path | None
    policy: GatePolicy
    said: Mapping[str, Any]

    @classmethod
    def of(
        cls, record: RunRecord, out: Path, bench_root: Path | None, said: Mapping[str, Any]
    ) -> Terms:
        """
        Read the policy of a record's class.

        :param out: the output folder with the record.
        :raises PolicyError: its ``gate.toml``, or what is said to differ, cannot be used.
        """
        path = None
        if bench_root is not None:
            path = bench_root / record.report.task_class
            policy = load_policy(path, said)
        elif record.report.source is not None:
            policy = log_policy(said)
        else:
            policy = make_policy(said)
        name = record_folder(record.seq, record.finished_at, record.report.run_id)
        folder = out / "runs" / record.report.task_class / name
        return cls(record=record, folder=folder, class_path=path, policy=policy, said=said)

    def lines(self) -> Iterator[tuple[str, str]]:
        """
        Yield candidate, claim and baseline of the record, how logs were read, and each threshold that differs.

        Each text is after its label.
        """
        baseline = self.record.baseline
        report = self.record.report
        yield "candidate", _called(self.record)
        if report.source is not None:
            yield from (("read", f"--{said}") for said in report.source.told)
        yield "claim", self.record.policy.claim
        if isinstance(baseline, BaselineFacts):
            yield "baseline", f"{baseline.path}, SHA-256 {baseline.sha256}"
        elif baseline is None:
            yield "baseline", "none"
        elif baseline.report.source is not None:
            yield "baseline", _called_log(baseline.report.system, baseline.report.source)
            known = report.source.told if report.source is not None else ()
            own = [said for said in baseline.report.source.told if said not in known]
            yield from (("read", f"--{said}") for said in own)
        else:
            yield "baseline", f"{RERUN}{baseline.report.system}"
        yield from (("policy", text) for text in self._differing().values())

    def objections(self) -> Iterator[str]:
        """Yield why the decision was not made under these terms; nothing if it was."""
        recorded = self.record.policy
        for key, text in self._differing().items():
            is_no_easier = key == "test" and recorded.test in BY_CASE and key not in self.said
            if self.class_path is not None:
                yield f"decided with {text}"
            elif not is_no_easier:
                yield f"decided with {text}; expected --bench-root DIR, whose policy counts, or --policy KEY=VALUE"
        if self.class_path is not None:
            try:
                yield from self._of_the_class(self.class_path)
            except (EvalError, OSError, ValueError) as error:  # facts may be nested too deeply
                yield f"{self.class_path} cannot be compared with: {error}"

    def _differing(self) -> dict[str, str]:
        """Return in words, by its key, each threshold that the record has otherwise."""
        recorded = self.record.policy
        expected = self.policy
        source = self.record.report.source
        if source is not None:  # its scores were scaled to that range
            recorded = recorded.model_copy(update={"score_range": source.score_range})
        found: dict[str, str] = {}
        for key, value in recorded:
            if value != getattr(expected, key):
                stated = f"{key} = {recorded.text(key)}"
                found[key] = f"{stated}, where {self._where_from(key)} {expected.text(key)}"
        return found

    def _where_from(self, key: str) -> str:
        """Return who says what a threshold must be, with the verb."""
        if key in self.said:
            return "--policy says"
        if self.class_path is None:
            return "the default is"
        return f"{self.class_path} has"

    def _of_the_class(self, class_path: Path) -> Iterator[str]:
        """Yield which of its terms are not those of the class: cases, labels, scoring, runs, rights, baseline."""
        report = self.record.report
        there = f"not those of {class_path}"
        yield from self._of_the_cases(class_path)
        # A hook that scored has a digest of its own.
        if {report.digests.rubric, report.digests.scorer} != {rubric_digest(class_path)}:
            yield f"it was not scored by the rubric of {class_path}"
        if report.digests.taxonomy != load_taxonomy(class_path).digest:
            yield f"its failure modes and their severities are {there}"
        table = load_run_table(class_path)
        observed = None
        if report.observer is not None:
            observed = (report.observer.source, report.observer.observations)
        expected = None
        source = observer_digest(class_path)
        if source is not None:
            expected = (source, table.observations or 1)
        if observed != expected:
            yield f"its observer, or how often it observed, is {there}"
        yield from self._as_it_is_run(class_path, table)
        yield from self._labels(class_path)
        level = table.options.get("isolation", "none")
        # Whether a system may use the network in a sandbox is its own right, and checked as one.
        least = min(rank(level), rank("sandbox+network"))
        if not report.source and rank(report.isolation_class) < least:
            yield f"its isolation is {report.isolation_class}, where {class_path} has {level}"
        yield from self._rights(class_path, table)
        yield from self._of_the_baseline(class_path / FILE_NAME)

    def _of_the_cases(self, class_path: Path) -> Iterator[str]:
        """Yield which cases the class has otherwise, and which of them are labelled otherwise there."""
        report = self.record.report
        folders = case_folders(class_path)
        cases = [read_case(folder, task_class=class_path.name)[0] for folder in folders]
        digests = {case.case_id: case_digest(case, files_digest(case)) for case in cases}
        changed = {case_id for case_id, _ in digests.items() ^ report.digests.cases.items()}
        if changed:
            yield f"its cases are not those of {class_path}: {few(changed)}"
        here = {"per_case": cases, "retired": retired_cases(class_path)}
        here["clusters"] = {case.case_id: case.cluster for case in cases if case.cluster}
        here["critical"] = [case.case_id for case in cases if case.critical]
        now = labels_of(report.model_copy(update=here))
        changes = relabelled(labels_of(report), now)
        if changes:
            differing = brief((change.text for change in changes), "; ")
            yield f"its cases are labelled otherwise in {class_path}: {differing}"

    def _as_it_is_run(self, class_path: Path, table: RunTable) -> Iterator[str]:
        """Yield which terms of its runs that a class sets were others: variables and options win over them."""
        report = self.record.report
        if report.source is not None:
            yield "its results were read from the log of another harness"
        limit = PlanFile.read_file(self.folder / PLAN_FILE, "plan of a run").timeout_seconds
        declared = table.options
        timeout = declared.get("timeout", limit)
        seed = declared.get("seed", report.seed)
        trials = declared.get("trials", 1)
        if timeout != limit:
            yield f"its time limit is {limit:g} s, where {class_path} has {timeout:g} s"
        if seed != report.seed:
            yield f"its seed is {report.seed}, where {class_path} has {seed}"
        if report.trial_count < trials:
            yield f"it has {counted(report.trial_count, 'trial')} of a case, where {class_path} has {trials}"

    def _rights(self, class_path: Path, table: RunTable) -> Iterator[str]:
        """Yield which rights its systems had in a sandbox that the class does not grant them, or lacked."""
        yield from _rights_of("system", self.record.report, class_path, table)
        if self.record.rerun is not None:
            yield from _rights_of("baseline", self.record.rerun, class_path, table)

    def _labels(self, class_path: Path) -> Iterator[str]:
        """Yield which labels nobody gave, and where they decide, which were left out."""
        given = set(read_labels(class_path))
        said = {one.model_copy(update={"observed": ()}) for one in self.record.labels}
        invented = said - given
        if invented:
            cases = few({one.case for one in invented})
            yield f"{len(invented)} of its labels are not in {class_path / LABELS}: of case {cases}"
        lost = given - said
        if lost and self.policy.observer_min_agreement is not None:
            cases = few({one.case for one in lost})
            yield f"it lacks {counted(len(lost), 'label')} of {class_path / LABELS}: of case {cases}"

    def _of_the_baseline(self, path: Path) -> Iterator[str]:
        stated = self.record.baseline
        expected = read_baseline(path)
        if not isinstance(stated, BaselineFacts):
            yield f"it was not compared with {path}, but with {dict(self.lines())['baseline']}"
            return
        if expected.report is None:
            yield f"{path} is no baseline: {joined(expected.problems)}"
        elif expected.sha256 != stated.sha256:
            yield f"its baseline is not {path}, SHA-256 {expected.sha256}"
        else:
            yield from baseline_faults(expected, stated, self.record)
            begun = stated.new_series
            # One that began since makes these looks no fewer.
            if begun not in {None, expected.new_series}:
                yield f"baseline.new_series is {begun!r}, which {path.with_name(PIN_FILE)} does not say"


def _rights_of(
    whose: str, report: BenchRunReport, class_path: Path, table: RunTable
) -> Iterator[str]:
    if report.source or not report.isolation_class.startswith("sandbox"):
        return
    granted = SystemEntry(call="", network=table.network is True, reads=table.reads or ())
    if report.system in FLOORS:
        granted = SystemEntry(call="")
    elif not is_address(report.system):
        granted = registered_system(class_path, report.system)
    had_network = report.isolation_class == "sandbox+network"
    if had_network and not granted.network:
        yield f"its {whose} had the network, which {class_path} does not grant it"
    if granted.network and not had_network:
        yield f"its {whose} had no network, which {class_path} grants it"
    if report.reads != granted.reads:
        names = ", ".join(report.reads) or "nothing"
        there = ", ".join(granted.reads) or "nothing"
        yield f"its {whose} could read {names} besides its code, where {class_path} has {there}"


def _called(record: RunRecord) -> str:
    """Return what a decision is about, and the digest by which somebody who has it knows it again."""
    subject = record.subject
    if subject.source is not None:
        return _called_log(subject.id, subject.source)
    if subject.kind == "checkpoint":
        return f"checkpoint {subject.id}, SHA-256 {subject.digest}"
    if subject.digest is None:
        return subject.id
    return f"{subject.id}, digest {subject.digest}"


def _called_log(name: str, source: LogSource) -> str:
    tool = " ".join(filter(None, (source.tool, source.version)))
    return f"{name}: log of {tool}, score {source.metric}, SHA-256 {source.sha256}"
