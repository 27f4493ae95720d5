"""The notes that follow from runs and not from their figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchgate.aggregate import fingerprints
from benchgate.errors import counted, few
from benchgate.gates.episodes import episode_notes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.gates.decision import Blocker
    from benchgate.gates.facts import RunFacts
    from benchgate.gates.run_side import RunSide
    from benchgate.models import BenchRunReport, TrialResult


SAME_BYTES: Final = (
    "same_bytes",
    "both files have the same bytes: is the baseline the old one?",
)
"""The note on two files that are no evidence of two versions, unless both gave exactly the same."""


def run_notes(facts: RunFacts, before: RunSide | None) -> Iterator[Blocker]:
    """
    Yield what to know of a run besides its figures: what was not called, not compared, or not of one build.

    :param before: what it was compared with; ``None`` if it was not.
    """
    yield from episode_notes(facts.episodes)
    if facts.replays is not None:
        yield "replayed", f"no system was called; the outputs are those of {facts.replays}"
    yield from _rescored(facts.report)
    yield from _masked(facts.report, facts.beside)
    yield from _http(facts.report, facts.beside)
    builds = fingerprints(facts.beside)
    if before is not None:
        builds = before.fingerprints
    yield from _builds(fingerprints(facts.report), builds)
    if before is not None:
        yield from _source(facts.report, facts.beside)


def _rescored(report: BenchRunReport) -> Iterator[Blocker]:
    count = sum(result.differs for result in report.per_case)
    if count:
        text = f"not deterministic: {count} of {len(report.per_case)} scores differ"
        yield "not_deterministic", f"{text} from what the same rubric gave the same outputs"


def _builds(now: tuple[str, ...], before: tuple[str, ...]) -> Iterator[Blocker]:
    """Yield that more than one build of a model observed the two sides."""
    if len({*now, *before}) < 2:
        return
    text = f"the observer's provider was {few(now)}"
    if before:
        text += f"; for the baseline {few(before)}"
    yield "observer_fingerprint", text


def _results(*reports: BenchRunReport | None) -> list[TrialResult]:
    """Return the results of the reports of a session."""
    return [result for report in reports if report is not None for result in report.per_case]


def _masked(*reports: BenchRunReport | None) -> Iterator[Blocker]:
    """Yield how many trials of the session said a key or token."""
    results = _results(*reports)
    count = sum(result.masked for result in results)
    if count:
        what = "a key or token in what they returned or said was masked"
        yield "secret_masked", f"{count} of {counted(len(results), 'trial')}: {what}"


def _http(*reports: BenchRunReport | None) -> Iterator[Blocker]:
    """Yield how many trials of the session asked no service, because a recording answered them."""
    results = _results(*reports)
    names = {name for result in results for name in result.http_cassettes}
    if names:
        count = sum(bool(result.http_cassettes) for result in results)
        of = f"{len(results)} trials were answered by {', '.join(sorted(names))}"
        yield "http_replayed", f"the requests of {count} of {of}"


def _source(report: BenchRunReport, before: BenchRunReport | None) -> Iterator[Blocker]:
    """Yield that both logs are the same, and which cases both name and neither has a result of: not compared."""
    if report.source is None or before is None or before.source is None:
        return
    one, other = report.source, before.source
    if (one.sha256, one.told) == (other.sha256, other.told):
        yield SAME_BYTES
    both = {*report.source.without} & {*before.source.without}
    if both:
        text = f"{counted(len(both), 'case')} without a result in either log: {few(both)}"
        yield "not_compared", text
