"""Observes the output of a trial: asks the world about it, for the rubric, which asks nobody."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from benchgate.aggregate import mean
from benchgate.models import BenchScore, Observed
from benchgate.trials.inputs import MODIFIED
from benchgate.wire.canonical import sha256_hex
from benchgate.wire.frozen import freeze_json
from benchgate.wire.plain import output_json
from benchgate.wire.usage import Usage, UsageMeter, total

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchgate.loader.observer import ClassObserver
    from benchgate.models import BenchCase, TrialResult
    from benchgate.taxonomy import Taxonomy
    from benchgate.trials.executor import TrialRecord

USAGE: Final = "usage"
"""The key of an output that is taken out of it: a :class:`~benchgate.wire.usage.Usage`."""

FINGERPRINT: Final = "fingerprint"
"""The key of an observation under which a provider says which build of a model answered."""


def without_usage(produced: object, meter: UsageMeter) -> object:
    """Add the usage in an output to a meter, and return the output without it."""
    if not isinstance(produced, Mapping) or USAGE not in produced:
        return produced
    meter.include(Usage.of(produced[USAGE]))
    return {key: value for key, value in produced.items() if key != USAGE}


class Observing:
    """
    What one attempt observes: ``texts`` are all observations so far; if it ``goes_on``, another makes the next.

    :param masked: takes keys out of a JSON text.
    """

    def __init__(
        self,
        observer: ClassObserver | None,
        then: TrialRecord | None,
        masked: Callable[[str], str],
    ) -> None:
        self._observer, self._is_on = observer, then is not None
        self._masked = masked
        self.seen = then.result.observed if then else None
        self.texts = then.observations if then else ()
        self.goes_on = False

    def cases(self, case: BenchCase, output: str, call: Callable[..., object]) -> list[BenchCase]:
        """Return the case with each observation, for the rubric; none if the trial goes on."""
        if self._observer is None:
            return [case]
        wanted = self._observer.identity.observations
        self.seen = self.seen or Observed(output=sha256_hex(output.encode()))
        if self._is_on and len(self.texts) < wanted:
            own = case.for_trial()
            try:
                found = call(self._observer.call, own, json.loads(output))
                text = self._masked(output_json(without_usage(found, own.usage), "observation"))
            finally:
                used = total((self.seen.usage, own.usage.total()))
                self.seen = self.seen.model_copy(update={"usage": used})
            self.texts = (*self.texts, text)
        self.goes_on = not self._is_on or len(self.texts) < wanted
        seen = () if self.goes_on else self.texts
        return [case.model_copy(update={"observation": freeze_json(json.loads(s))}) for s in seen]

    def scored(self, scores: Sequence[BenchScore]) -> None:
        """Note what each of several observations came to."""
        if self.seen is not None and len(scores) > 1:
            verdicts = tuple((one.passed, one.score) for one in scores)
            self.seen = self.seen.model_copy(update={"verdicts": verdicts})

    def result(self, then: TrialRecord, http: str | None, now: dict[str, Any]) -> TrialResult:
        """Return the result of a trial whose system had answered before: what it was then, it stays."""
        before, seen = then.result, self.seen
        if seen is not None and len(self.texts) > len(then.observations):
            named = json.loads(self.texts[-1]).get(FINGERPRINT)
            prints = {*seen.fingerprints}
            if named is not None:
                prints.add(str(named))
            made = {"fingerprints": tuple(sorted(prints)), "http": (*seen.http, http)}
            seen = Observed(**{**dict(seen), **made})
        now["http_cassettes"] = tuple(sorted({*before.http_cassettes, *now["http_cassettes"]}))
        now["failure_modes"] += tuple(m for m in before.failure_modes if m.code == MODIFIED)
        return before.model_copy(update=now | {"observed": seen})


def combined(scores: Sequence[BenchScore], taxonomy: Taxonomy) -> BenchScore:
    """
    Return one score for several observations of one output.

    Score, breakdown and penalty are means; passed and failure modes are those of more than half, and a code of severity
    ``block`` counts in any. The texts are those of the first that says the same as the result.
    """
    if len(scores) == 1:
        return scores[0]
    most, counts = len(scores) / 2, Counter(code for one in scores for code in one.failure_modes)
    passed = sum(one.passed for one in scores) > most
    axes = dict.fromkeys(axis for one in scores for axis in one.breakdown)
    parts = {axis: [s.breakdown[axis] for s in scores if axis in s.breakdown] for axis in axes}
    penalties = [one.safety_penalty for one in scores if one.safety_penalty is not None]
    codes = [c for c, n in counts.items() if n > most or taxonomy.blocks(taxonomy.classify([c]))]
    like = next(one for one in scores if one.passed == passed)
    return BenchScore(
        passed=passed,
        score=mean([one.score for one in scores]),
        breakdown={axis: mean(values) for axis, values in parts.items()},
        failure_modes=codes,
        cost_usd=math.fsum(one.cost_usd for one in scores),
        safety_penalty=mean(penalties) if len(penalties) == len(scores) else None,
        explanation=like.explanation,
        evidence=like.evidence,
    )
