"""
Scores again what a run takes over from another run or from its shards: a score in a file is believed by nobody.

An error, a time limit and a cost cannot be had again; the rule of the source says what becomes of them.
"""

from __future__ import annotations

import json
import math
import shutil
from typing import TYPE_CHECKING, Any, NamedTuple

from benchgate.errors import ArtifactError
from benchgate.ids import SCORE
from benchgate.results.folder import CASES, Results
from benchgate.trials.calls import CallsHere
from benchgate.trials.executor import TrialRequest
from benchgate.trials.inputs import MODIFIED
from benchgate.trials.trial import TrialRunner

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from benchgate.artifacts.trial_kinds import PlanFile
    from benchgate.audit.sources import Source
    from benchgate.models import Side, TrialResult
    from benchgate.results.rules import Rule
    from benchgate.trials.executor import TrialRecord
    from benchgate.trials.planned import PlannedTrials


class Doubt(NamedTuple):
    """
    Why the score in the file of a trial is not to be taken as it is.

    :param is_wrong: its output has another score now; else its output alone does not say which it has.
    """

    file: str
    why: str
    is_wrong: bool


def score_again(
    sides: Mapping[Side, PlannedTrials],
    folder: Path,
    sources: Sequence[Source[PlanFile]],
    *,
    is_expected: bool,
) -> None:
    """
    Score what a run takes over, and do with what cannot be scored again as the rule of its sources says.

    :param folder: of the run.
    :param sources: of what it takes over, all by one rule.
    :param is_expected: whether a person says that the files are those which were written.
    :raises ArtifactError: a score is not that of its output, or of a shard that nobody expects.
    """
    rule = sources[0].rule
    is_refused = rule.otherwise == "refused" and not is_expected
    for side, planned in sides.items():
        for doubt in _doubts(planned, folder, side, rule):
            if doubt.is_wrong:
                raise ArtifactError(_original(doubt.file, folder, sources), doubt.why)
            if is_refused:
                why = f"{doubt.why}, so that it cannot be checked: --expect I=SHA256 of its shard"
                raise ArtifactError(_original(doubt.file, folder, sources), why)
            if rule.otherwise == "run again":
                (folder / CASES / doubt.file).unlink()


def _original(name: str, folder: Path, sources: Iterable[Source[PlanFile]]) -> Path:
    """Return the file of a source that a run has a copy of, and remove the copies; else that of the run itself."""
    copied = [one.folder / CASES / name for one in sources if one.folder != folder]
    there = [path for path in copied if path.exists()]
    if not there:
        return folder / CASES / name
    shutil.rmtree(folder)  # all in it are copies, but what an extension left
    return there[0]


def _doubts(planned: PlannedTrials, folder: Path, side: Side, rule: Rule) -> Iterator[Doubt]:
    bench = planned.bench
    runner = TrialRunner(
        task_class=bench.name,
        calls=CallsHere(task_class=bench.name, rubric=bench.rubric.score),
        taxonomy=bench.taxonomy,
        observer=planned.observer,
    )
    results = Results.of_run(folder)
    is_checked = rule.otherwise == "refused"
    is_cost_gated = is_checked and bench.policy.max_cost_increase is not None
    for request in _requests(planned, side):
        record = results.get(request.key)
        if record is None or record.awaits_score:
            continue
        name = request.key.file_name
        if reason := _unknowable(record, bench.rubric_digest, is_checked=is_checked):
            yield Doubt(name, reason, is_wrong=False)
        elif record.result.outcome == "scored":
            again = runner.run(request.after(record))
            if why := _difference(record.result, again.result):
                yield Doubt(name, why, is_wrong=True)
            elif is_cost_gated:
                yield Doubt(name, "what it cost was seen once", is_wrong=False)


def _requests(planned: PlannedTrials, side: Side) -> Iterator[TrialRequest]:
    for case in planned.cases:
        for trial in range(planned.trials):
            yield TrialRequest.of(
                case,
                trial,
                bench_seed=planned.seed,
                system=planned.system.name,
                limit=math.inf,
                side=side,
            )


def _unknowable(record: TrialRecord, scorer: str, *, is_checked: bool) -> str | None:
    """Return why the output of a trial does not say what its result is; ``None`` if it does, or nothing doubts it."""
    if record.result.outcome != "scored":
        return f"it ended in {record.result.outcome}" if is_checked else None
    if record.scorer != scorer:
        return "a hook scored it"
    return "the system left files in work_path" if record.result.left_files else None


def _difference(then: TrialResult, now: TrialResult) -> str | None:
    before = _scored(then)
    after = _scored(now)
    if before == after:
        return None
    names = [name for name in before if before[name] != after.get(name)]
    old = {name: before[name] for name in names}
    new = {name: after.get(name) for name in names}
    if now.score is None:
        new = {"outcome": now.outcome, "failure_modes": [str(m.detail) for m in now.failure_modes]}
    return (
        f"case {then.case_id!r} was recorded with {_text(old)}; scored again, its output has {_text(new)}: the file "
        "was changed, or the rubric is not pure, as it must be: the same output always has the same score"
    )


def _scored(result: TrialResult) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if result.score is not None:
        fields = result.score.model_dump(mode="json", include={*SCORE, "cost_usd"})
    # The rubric says nothing of inputs that a system changed: whoever ran the trial found that.
    codes = [mode.code for mode in result.failure_modes if mode.code != MODIFIED]
    return {"score": None, **fields, "failure_codes": codes}


def _text(fields: dict[str, Any]) -> str:
    return ", ".join(f"{name} {json.dumps(value)}" for name, value in fields.items())
