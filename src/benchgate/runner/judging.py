"""From what is known of a finished run to its decision, and from that to its record."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import takewhile
from typing import TYPE_CHECKING, Final, NamedTuple

from benchgate.aggregate import STOP, case_figures, irregular, mean
from benchgate.artifacts.trial_kinds import SelectedRecord
from benchgate.audit.runs import parts_of, read_record
from benchgate.audit.store import RunStore, unfinished_name
from benchgate.errors import counted, listed
from benchgate.gates.choice import BaselineChoice
from benchgate.gates.facts import RunFacts
from benchgate.gates.judge import FinishedRun, judge
from benchgate.gates.labels import Observing, seen_in
from benchgate.ids import RunPlan
from benchgate.wire import clock
from benchgate.wire.writing import write_draft

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from benchgate.artifacts.record import ChainSlot, Entry, RunTerms
    from benchgate.audit.store import Published
    from benchgate.gates.baseline import Baseline
    from benchgate.gates.judge import Counter, Gate, Judgement
    from benchgate.gates.labels import Label
    from benchgate.gates.policy import GatePolicy
    from benchgate.gates.run_side import BaselineFacts, RerunBaseline
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


def finished_run(
    request: RunRequest,
    grounds: Grounds,
    sides: Mapping[Side, PlannedTrials],
    baseline: Baseline | None,
) -> FinishedRun:
    """Return what is known of a run once no trial of it runs any more."""
    candidate = sides["candidate"]
    beside = sides.get("baseline")
    settings = request.settings
    problems = candidate.checkpoint_problems()
    if beside is not None:
        from benchgate.gates.baseline import baseline_beside

        baseline = baseline_beside(beside.report())
        problems += tuple(f"baseline: {why}" for why in beside.checkpoint_problems())
    report = candidate.report(baseline.sha256 if baseline else None)
    if before := settings.extends:
        report = report.model_copy(update={"parts": parts_of(before.folder)})
    recording = request.recording
    facts = RunFacts(
        policy=request.bench.policy,
        report=report,
        baseline=_as_fact(baseline, grounds.choice),
        checkpoint_problems=problems,
        labels=_labels(settings.out, grounds.labels, report, baseline),
        episodes=candidate.episodes(),
        replays=recording and recording.replays,
    )
    floor: tuple[str, ...] = ()
    is_floor_fault = False
    if settings.floor and report.complete:
        got = _doing_nothing(report, candidate.cases)
        floor = (got.text,)
        is_floor_fault = got.is_fault
    return FinishedRun(
        facts=facts,
        choice=grounds.choice,
        baseline=baseline,
        checkpoints=grounds.checkpoints,
        exit_rule=settings.exit_rule,
        is_part=bool(settings.shard or settings.floor),
        floor=floor,
        is_floor_fault=is_floor_fault,
    )


def _as_fact(
    baseline: Baseline | None, choice: BaselineChoice
) -> BaselineFacts | RerunBaseline | None:
    """Return what a decision asks of a baseline: the results of one that ran too, else what its file says."""
    if baseline is None:
        return None
    if choice.system is not None:
        return baseline.rerun
    return baseline.facts


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


def _labels(
    out: Path | None,
    labels: Sequence[Label],
    report: BenchRunReport,
    baseline: Baseline | None,
) -> tuple[Label, ...]:
    """Return labels with what the observer has their outputs at: in this run, its baseline, or an earlier run."""
    runs = [Observing("candidate", report)]
    if baseline is not None and baseline.report is not None:
        runs.append(Observing("baseline", baseline.report))
    if out is not None and labels:
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
) -> Callable[[], str]:
    """Put the trials of a run in their order; return what says, after each, why no other begins; empty: it does."""
    from benchgate.gates.baseline import arm
    from benchgate.gates.blockers import baseline_blockers
    from benchgate.gates.certificate import certificate, ordered
    from benchgate.looks.chain import counter_of

    before = baseline.report
    compared = baseline.facts.run
    assert before is not None and compared is not None  # noqa: PT018, S101 - else nothing is decided
    policy = request.bench.policy
    look_of = counter_of(count, baseline, policy)
    side = arm(compared, trials.report(baseline.sha256))
    places = {case_id: place for place, case_id in enumerate(ordered(side))}
    trials.keys = tuple(sorted(trials.keys, key=lambda key: places.get(key[0], -1)))
    # Made once, and not after each trial: a report digests all inputs anew.
    whole = cache(lambda: trials.report(baseline.sha256))

    def check() -> str:
        ran = tuple(takewhile(lambda result: not irregular(result), trials.results()))
        if not ran or len(ran) % trials.trials or len(ran) == len(trials.keys):
            return ""
        if len(places) * trials.trials < len(trials.keys):  # a new case may have anything to gain
            return ""
        number = look_of(before, whole()).number
        part = arm(whole().model_copy(update={"per_case": ran}))
        if any(baseline_blockers(whole(), baseline.facts)):
            return ""
        if not certificate(side, part, policy, number):
            return ""
        return STOP

    return check


def run_of_logs(
    before: BenchRunReport,
    after: BenchRunReport,
    policy: GatePolicy,
    *,
    place: str | None = None,
    new_series: str | None = None,
) -> FinishedRun:
    """
    Return what two logs say, a baseline's and a candidate's, which were read as reports.

    :param place: of the baseline's log, as :class:`~benchgate.gates.baseline.Baseline` has it.
    :param new_series: why a person begins a new series of looks at it.
    """
    from benchgate.gates.baseline import baseline_beside

    baseline = replace(baseline_beside(before), place=place, new_series=new_series)
    choice = BaselineChoice(path=None, binding=True, requested=True, system=before.system)
    facts = RunFacts(policy=policy, report=after, baseline=_as_fact(baseline, choice))
    return FinishedRun(facts=facts, choice=choice, baseline=baseline, exit_rule="gate")


def judged(run: FinishedRun, count: Counting | None, gates: Iterable[Gate] = ()) -> Judgement:
    """Decide; ``count`` is ``None`` if nobody counts looks."""
    counter = None
    if count is not None:
        counter = _counter(run, count)
    return judge(run, gates=gates, count=counter)


def _counter(run: FinishedRun, count: Counting) -> Counter:
    from benchgate.looks.chain import counter_of

    is_beside = run.beside is not None
    return counter_of(count, run.baseline, run.facts.policy, is_beside=is_beside)


def publish(
    store: RunStore, judgement: Judgement, count: Counting, terms: Callable[[], RunTerms]
) -> tuple[Judgement, Published]:
    """
    Record a judgement as the next run of its class.

    :returns: the judgement that is recorded: another run may have looked meanwhile.
    :raises ArtifactError: a file cannot be written, or the chain is damaged.
    """
    finished = clock.now()
    run = judgement.run
    if judgement.decision is None:
        return judgement, store.publish_selected(run.reports, finished)
    from benchgate.artifacts.record import record_entry

    last = judgement
    counter = _counter(run, count)

    def entry(slot: ChainSlot) -> Entry:
        nonlocal last
        if run.facts.look is not None and run.before is not None:
            look = counter(run.before, run.report)
            if look != run.facts.look:  # another run has ended since
                last = judgement.at(look)
        return record_entry(last, terms(), finished, slot)

    published = store.publish(run.reports, entry)
    return last, published


def record_reports(
    out: Path, run: FinishedRun, started: datetime, terms: RunTerms, timeout: float
) -> tuple[Judgement, Published]:
    """
    Judge reports that were read, and record them as the next run of their class.

    :param timeout: the time limit that the record states, in seconds.
    :raises ArtifactError: it cannot be written, or the chain is damaged.
    """
    from benchgate.artifacts.plan import plan_file
    from benchgate.looks.chain import ChainLooks

    store = RunStore(
        out, run.report.task_class, "full", unfinished_name(clock.now(), command="gate")
    )
    plan = plan_file(
        RunPlan.of_report(run.report),
        timeout=timeout,
        started=started,
        baseline_system=run.choice.system,
    )
    store.open(plan)
    try:
        count = ChainLooks(store.folder.parent).number
        return publish(store, judged(run, count), count, lambda: terms)
    finally:
        store.close()


def write_evidence(judgement: Judgement, folder: Path) -> None:
    """
    Write the evidence into an empty folder.

    :raises ArtifactError: it cannot be written.
    """
    from benchgate.artifacts.run_evidence import unrecorded_files

    if judgement.decided is None:
        return
    files = unrecorded_files(judgement.run, judgement.decided, clock.now())
    for name, data in files.items():
        write_draft(folder / name, data)
