"""From what is known of a finished run to its decision, and from that to its record."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import takewhile
from typing import TYPE_CHECKING, Final, NamedTuple

from benchgate.aggregate import STOP, case_figures, irregular, mean
from benchgate.artifacts.run_kinds import SelectedRecord
from benchgate.audit.runs import parts_of, read_record
from benchgate.audit.store import RunStore, unfinished_name
from benchgate.errors import counted, listed
from benchgate.gates.baseline import BaselineChoice, arm, baseline_beside
from benchgate.gates.judge import RunFacts, judge
from benchgate.gates.labels import Observing, seen_in
from benchgate.ids import RunPlan
from benchgate.looks.chain import ChainLooks, counter_of
from benchgate.wire import clock
from benchgate.wire.writing import write_draft

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from benchgate.artifacts.record import ChainSlot, Entry, RunTerms
    from benchgate.audit.store import Published
    from benchgate.gates.baseline import Baseline
    from benchgate.gates.judge import Gate, Judgement
    from benchgate.gates.labels import Label
    from benchgate.gates.policy import GatePolicy
    from benchgate.looks.chain import Counting
    from benchgate.models import BenchCase, BenchRunReport, Side
    from benchgate.runner.settings import Grounds, RunRequest
    from benchgate.trials.planned import PlannedTrials


MUCH: Final = 0.2
"""Mean score above which the next runs say what doing nothing scores."""


class DoingNothing(NamedTuple):
    """
    What a system that does nothing got.

    :param score: mean over the positive cases.
    :param text: says the score and which cases passed.
    :param is_fault: whether it passed a positive case, which it must not: the rubric or the case is wrong.
    """

    score: float
    text: str
    is_fault: bool


def facts_of_run(
    request: RunRequest,
    grounds: Grounds,
    sides: Mapping[Side, PlannedTrials],
    baseline: Baseline | None,
) -> RunFacts:
    """Return what is known of a run once no trial of it runs any more."""
    candidate, beside = sides["candidate"], sides.get("baseline")
    recording = request.recording
    problems = candidate.checkpoint_problems()
    if beside is not None:
        baseline = baseline_beside(beside.report())
        problems += tuple(f"baseline: {why}" for why in beside.checkpoint_problems())
    report = candidate.report(baseline.sha256 if baseline else None)
    if before := request.settings.extends:
        report = report.model_copy(update={"parts": parts_of(before.folder)})
    facts = RunFacts(
        report=report,
        policy=request.bench.policy,
        choice=grounds.choice,
        baseline=baseline,
        checkpoints=grounds.checkpoints,
        checkpoint_problems=problems,
        episodes=candidate.episodes(),
        replays=recording and recording.source,
        exit_rule=request.settings.exit_rule,
        is_part=bool(request.settings.shard or request.settings.floor),
    )
    facts = replace(facts, labels=_labels(request.settings.out, grounds.labels, facts))
    if request.settings.floor and facts.report.complete:
        facts = _with_floor(facts, candidate.cases)
    return facts


def floor_notes(out: Path | None, plan: RunPlan, cases: Iterable[BenchCase]) -> Iterator[str]:
    """Yield what doing nothing scores, if it is much, by its records on these cases, with this rubric and observer."""
    known = f"runs/{plan.task_class}/floor/*/report.json"
    paths = sorted(out.glob(known)) if out and plan.scope == "full" else ()
    for found in filter(None, map(SelectedRecord.read_or_none, paths)):
        if not _is_comparable(found.report, plan):
            continue
        got = _doing_nothing(found.report, cases)
        if got.score > MUCH:
            yield f"a system that does nothing scores {got.score:.2f} here: {got.text}"


def _is_comparable(floor: BenchRunReport, plan: RunPlan) -> bool:
    """Return whether a run that did nothing is complete, and its scores mean the same as those of a planned run."""
    return (
        floor.complete
        and floor.observer == plan.observer
        and floor.digests.scorer == plan.digests.scorer
        and floor.digests.cases == plan.digests.cases
    )


def _with_floor(facts: RunFacts, cases: Iterable[BenchCase]) -> RunFacts:
    """Add what doing nothing got."""
    got = _doing_nothing(facts.report, cases)
    return replace(facts, floor=(got.text,), is_floor_fault=got.is_fault)


def _doing_nothing(report: BenchRunReport, cases: Iterable[BenchCase]) -> DoingNothing:
    """Return what a run got whose system does nothing."""
    positive = {case.case_id for case in cases if case.disposition == "positive"}
    scores = [one.score for one in case_figures(report.per_case) if one.case_id in positive]
    score = mean(scores or [0.0])
    passed = {result.case_id for result in report.per_case if result.passed}
    faults = sorted(passed & positive)
    # On a negative or ambiguous case, doing nothing may be right.
    others = sorted(passed - positive)
    count = counted(len(scores), "positive case")
    text = f"{report.system} scores {score:.3f} over {count} and passes "
    if faults:
        text += f"{len(faults)}, which it must not: {', '.join(map(listed, faults))}"
    else:
        text += "none of them"
    if others:
        text += f"; other cases that it passes: {', '.join(map(listed, others))}"
    return DoingNothing(score, text, is_fault=bool(faults))


def _labels(out: Path | None, labels: Sequence[Label], facts: RunFacts) -> tuple[Label, ...]:
    """Return labels with what the observer has their outputs at: in this run, its baseline, or an earlier run."""
    report, before = facts.report, facts.baseline
    runs = [Observing("candidate", report)]
    if before and before.report:
        runs.append(Observing("baseline", before.report))
    if out and labels:
        for folder in sorted(out.glob(f"runs/{report.task_class}/*")):
            runs += _earlier(folder)
    return seen_in(labels, report.observer, runs)


def _earlier(folder: Path) -> Iterator[Observing]:
    """Yield the runs that the record in a folder has."""
    past = read_record(folder)
    if past is None:
        return
    for report in (past.report, past.rerun):
        if report is not None:
            yield Observing("earlier", report, past.seq)


def stopping(
    request: RunRequest, trials: PlannedTrials, baseline: Baseline, count: Counting
) -> Callable[[], None]:
    """Put the trials of a run in their order; return what notes in the request, after each, that they are decided."""
    from benchgate.gates.blockers import baseline_blockers
    from benchgate.gates.certificate import certificate, ordered

    before = baseline.report
    compared = baseline.facts.run
    assert before is not None and compared is not None  # noqa: PT018, S101 - else nothing is decided
    policy = request.bench.policy
    look_of = counter_of(count, baseline, policy)
    side = arm(compared, trials.report(baseline.sha256))
    places = {case_id: place for place, case_id in enumerate(ordered(side))}
    trials.keys = tuple(sorted(trials.keys, key=lambda key: places.get(key[0], -1)))
    whole = cache(lambda: trials.report(baseline.sha256))

    def check() -> None:
        ran = tuple(takewhile(lambda result: not irregular(result), trials.results()))
        if not ran or len(ran) % trials.trials or len(ran) == len(trials.keys):
            return
        if len(places) * trials.trials < len(trials.keys):  # a new case may have anything to gain
            return
        number = look_of(before, whole()).number
        part = arm(whole().model_copy(update={"per_case": ran}))
        if not any(baseline_blockers(whole(), baseline.facts)) and certificate(
            side, part, policy, number
        ):
            request.stopped.append(STOP)

    return check


def facts_of_logs(
    before: BenchRunReport,
    after: BenchRunReport,
    policy: GatePolicy,
    *,
    place: str | None = None,
    new_series: str | None = None,
) -> RunFacts:
    """
    Return what two logs say, a baseline's and a candidate's, which were read as reports.

    :param place: of the baseline's log, as :class:`~benchgate.gates.baseline.Baseline` has it.
    :param new_series: why a person begins a new series of looks at it.
    """
    baseline = replace(baseline_beside(before), place=place, new_series=new_series)
    return RunFacts(
        report=after,
        policy=policy,
        choice=BaselineChoice(path=None, binding=True, requested=True, system=before.system),
        baseline=baseline,
        exit_rule="gate",
    )


def judged(facts: RunFacts, count: Counting | None, gates: Iterable[Gate] = ()) -> Judgement:
    """Decide; ``count`` is ``None`` if nobody counts looks."""
    counter = None
    if count is not None:
        is_beside = facts.beside is not None
        counter = counter_of(count, facts.baseline, facts.policy, is_beside=is_beside)
    return judge(facts, gates=gates, count=counter)


def publish(
    store: RunStore, judgement: Judgement, count: Counting, terms: Callable[[], RunTerms]
) -> tuple[Judgement, Published]:
    """
    Record a judgement as the next run of its class.

    :returns: the judgement that is recorded: another run may have looked meanwhile.
    :raises ArtifactError: a file cannot be written, or the chain is damaged.
    """
    finished = clock.now()
    if judgement.decision is None:
        return judgement, store.publish_selected(judgement.reports, finished)
    from benchgate.artifacts.record import record_entry

    last = judgement
    is_beside = judgement.beside is not None
    counter = counter_of(count, judgement.baseline, judgement.policy, is_beside=is_beside)

    def entry(slot: ChainSlot) -> Entry:
        nonlocal last
        before = judgement.baseline.report if judgement.baseline else None
        look = counter(before, judgement.report) if judgement.look and before else None
        if look is not None and look != judgement.look:  # another run has ended since
            last = judge(judgement, count=lambda *_: look, asked=judgement)
        return record_entry(last, terms(), finished, slot)

    published = store.publish(judgement.reports, entry)
    return last, published


def record_reports(
    out: Path, facts: RunFacts, started: datetime, terms: RunTerms, timeout: float
) -> tuple[Judgement, Published]:
    """
    Judge reports that were read, and record them as the next run of their class.

    :param timeout: the time limit that the record states, in seconds.
    :raises ArtifactError: it cannot be written, or the chain is damaged.
    """
    from benchgate.artifacts.plan import plan_file

    store = RunStore(
        out, facts.report.task_class, "full", unfinished_name(clock.now(), command="gate")
    )
    plan = plan_file(
        RunPlan.of_report(facts.report),
        timeout=timeout,
        started=started,
        baseline_system=facts.choice.system,
    )
    store.open(plan)
    try:
        count = ChainLooks(store.folder.parent).number
        return publish(store, judged(facts, count), count, lambda: terms)
    finally:
        store.close()


def write_evidence(judgement: Judgement, folder: Path) -> None:
    """
    Write the evidence into an empty folder.

    :raises ArtifactError: it cannot be written.
    """
    from benchgate.artifacts.run_evidence import judged_comparison, run_files

    if judgement.decision is None:
        return
    files = run_files(*judged_comparison(judgement, judgement.decision, clock.now()))
    for name, data in files.items():
        write_draft(folder / name, data)
