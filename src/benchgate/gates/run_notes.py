"""The notes that follow from runs and not from their figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchgate.aggregate import fingerprints
from benchgate.gates.episodes import episode_notes
from benchgate.sentences.says import every, names, says

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.gates.decision import Blocker
    from benchgate.gates.facts import RunFacts
    from benchgate.gates.run_side import RunSide
    from benchgate.models import BenchRunReport, TrialResult


SAME_BYTES: Final = ("same_bytes", says("same_bytes"))
"""The note on two files that are no evidence of two versions, unless both gave exactly the same."""


def run_notes(facts: RunFacts, before: RunSide | None) -> Iterator[Blocker]:
    """
    Yield what to know of a run besides its figures: what was not called, not compared, or not of one build.

    :param before: what it was compared with; ``None`` if it was not.
    """
    yield from episode_notes(facts.episodes)
    if facts.replays is not None:
        yield "replayed", says("replayed", source=str(facts.replays))
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
        said = says("not_deterministic", count=count, total=len(report.per_case))
        yield "not_deterministic", said


def _builds(now: tuple[str, ...], before: tuple[str, ...]) -> Iterator[Blocker]:
    """Yield that more than one build of a model observed the two sides."""
    if len({*now, *before}) < 2:
        return
    yield "observer_fingerprint", says("observer_fingerprint", now=names(now))
    if before:
        yield "observer_fingerprint", says("observer_fingerprint.before", before=names(before))


def _results(*reports: BenchRunReport | None) -> list[TrialResult]:
    """Return the results of the reports of a session."""
    return [result for report in reports if report is not None for result in report.per_case]


def _masked(*reports: BenchRunReport | None) -> Iterator[Blocker]:
    """Yield how many trials of the session said a key or token."""
    results = _results(*reports)
    count = sum(result.masked for result in results)
    if count:
        yield "secret_masked", says("secret_masked", count=count, total=len(results))


def _http(*reports: BenchRunReport | None) -> Iterator[Blocker]:
    """Yield how many trials of the session asked no service, because a recording answered them."""
    results = _results(*reports)
    cassettes = {name for result in results for name in result.http_cassettes}
    if cassettes:
        count = sum(bool(result.http_cassettes) for result in results)
        yield (
            "http_replayed",
            says(
                "http_replayed",
                count=count,
                total=len(results),
                cassettes=every(sorted(cassettes)),
            ),
        )


def _source(report: BenchRunReport, before: BenchRunReport | None) -> Iterator[Blocker]:
    """Yield that both logs are the same, and which cases both name and neither has a result of: not compared."""
    if report.source is None or before is None or before.source is None:
        return
    one = report.source
    other = before.source
    if (one.sha256, one.told) == (other.sha256, other.told):
        yield SAME_BYTES
    both = {*one.without} & {*other.without}
    if both:
        yield "not_compared", says("not_compared", count=len(both), cases=names(both))
