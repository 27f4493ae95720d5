"""
What the tests of determinism and of rubbish share: classes, cases, outputs of systems, rubbish, scores.

``python scoring.py OUTPUTS.json BENCH`` prints a digest for each stored output: a fresh process to compare with.
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchgate.ids import trial_seed
from benchgate.loader.systems import find_system
from benchgate.testing import loaded_class
from benchgate.trials.containment import WorkFolder
from benchgate.wire.canonical import canonical_bytes
from benchgate.wire.frozen import freeze_json
from benchgate.wire.plain import MAX_DEPTH, output_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager

    from benchgate import BenchCase, BenchScore
    from benchgate.loader.loaded_class import LoadedClass

BENCH = Path(__file__).resolve().parents[2] / "bench"

DEEP: Any = 1
for _ in range(MAX_DEPTH // 2):
    DEEP = [DEEP]

JUNK: tuple[Any, ...] = (
    None,
    True,
    -1,
    1.5,
    10**400,
    "",
    "{}",
    "[]",
    "null",
    "fixed",
    "\0",
    '{"name": "\\ud800", "packages": {"": null}}',
    "[" * 5000,
    "9" * 5000,
    "x" * 1_000_000,
    [],
    {},
    [None, {"a": []}],
    {"": {"\0": {"": 0}}},
    DEEP,
)
"""What may stand in any place of an output; JSON all of it, or the harness would refuse it first."""

SHORT = 20_000
KEYS = ("files", "rl_payload", "status", "score", "passed", "breakdown", "output", "diff", "result")


@dataclass(frozen=True)
class Sample:
    """One output of a case, as the text that the harness would keep of it."""

    task_class: str
    case_id: str
    label: str
    text: str


def loaded(name: str) -> AbstractContextManager[LoadedClass]:
    return loaded_class(BENCH / name)


def cases(bench: LoadedClass) -> Iterator[BenchCase]:
    """Yield the cases as the first trial of a run sees them."""
    for case_id in sorted(bench.folders):
        seed = trial_seed(bench.name, case_id, 0, 0)
        yield bench.load(case_id).model_copy(update={"seed": seed})


def rubbish() -> Iterator[dict[str, Any]]:
    """Yield outputs that answer nothing, whatever the class."""
    yield {}
    yield {"": ""}
    yield dict.fromkeys(KEYS)
    for junk in JUNK:
        yield dict.fromkeys(KEYS, junk)
        yield {key: {"package.json": junk, "trajectory": junk, "": junk} for key in KEYS}


@cache
def rubbish_texts() -> tuple[str, ...]:
    return tuple(map(output_json, rubbish()))


def damaged_texts(text: str, most: int = 60) -> Iterator[str]:
    """Yield an output with one place after another left out, taken by each piece of junk, and twisted."""
    output = json.loads(text)
    places = sorted(_places(output))
    chosen = random.Random(0).sample(places, min(most, len(places)))  # noqa: S311 - any will do
    for place in chosen:
        yield output_json(_with(output, place, None, drop=True))
        for junk in (*JUNK, *_twisted(_at(output, place))):
            yield output_json(_with(output, place, junk))


def _twisted(value: Any) -> Iterator[Any]:
    """Yield a text cut off at each sixteenth, backwards, without line ends, and with junk in its middle."""
    if not isinstance(value, str):
        return
    yield from (value[: len(value) * part // 16] for part in range(1, 16))
    yield from (value[::-1], value.replace("\n", "\0"), value.replace("\n", ""), value * 2)
    middle = len(value) // 2
    for junk in JUNK:
        if isinstance(junk, str) and len(junk) < SHORT:
            yield f"{value[:middle]}{junk}{value[middle:]}"


def _at(value: Any, place: tuple[str, ...]) -> Any:
    for key in place:
        value = value[0] if isinstance(value, list) else _object(value)[key]
    return value


def _places(value: Any, depth: int = 6) -> Iterator[tuple[str, ...]]:
    """Yield the way to everything that has a name, also in objects that are kept as text."""
    held = _object(value)
    for key in (held or {}) if depth else ():
        yield (key,)
        yield from ((key, *below) for below in _places(held[key], depth - 1))
    if isinstance(value, list) and value and depth:
        yield from (("0", *below) for below in _places(value[0], depth - 1))


def _object(value: Any) -> Any:
    if isinstance(value, str) and value.startswith("{"):
        with suppress(ValueError):
            return json.loads(value)
    return value if isinstance(value, dict) else None


def _with(value: Any, place: tuple[str, ...], junk: Any, *, drop: bool = False) -> Any:
    key, *below = place
    if isinstance(value, list):
        return [_with(value[0], tuple(below), junk, drop=drop), *value[1:]]
    held = dict(_object(value))
    if below:
        held[key] = _with(held[key], tuple(below), junk, drop=drop)
    else:
        held = {name: inner for name, inner in held.items() if name != key}
        held |= {} if drop else {key: junk}
    return json.dumps(held) if isinstance(value, str) else held


def made_by(bench: LoadedClass, case: BenchCase) -> dict[str, str]:
    """Return what each registered system makes of a case, by its name, as the harness keeps it."""
    made = {}
    for name in sorted(bench.task_class.systems):
        found = find_system(bench.task_class, name)
        with closing(found), WorkFolder() as work:
            given = {"expected_path": None, "work_path": work.path(), "checkpoint": found.handed()}
            made[name] = output_json(found.call(case.model_copy(update=given)))
    return made


def samples(bench: LoadedClass, case: BenchCase) -> Iterator[Sample]:
    """Yield stored outputs of a case: of all systems, and the rubbish that is quickly stored."""
    for name, text in made_by(bench, case).items():
        yield Sample(bench.name, case.case_id, name, text)
    for number, text in enumerate(rubbish_texts()):
        if len(text) < SHORT:
            yield Sample(bench.name, case.case_id, f"rubbish {number}", text)


def observed(bench: LoadedClass, case: BenchCase, text: str) -> Any:
    """Return what the class's observer says of an output; empty without one."""
    observer = bench.observer()
    return observer.call(case, json.loads(text)) if observer else {}


def scored(bench: LoadedClass, case: BenchCase, text: str, seen: Any = None) -> BenchScore:
    """Return the score that the class's rubric gives an output, of what its observer says of it, or of ``seen``."""
    seen = observed(bench, case, text) if seen is None else seen
    with WorkFolder() as work:
        given = {"work_path": work.path(), "observation": freeze_json(seen)}
        score: BenchScore = bench.rubric.score(case.model_copy(update=given), json.loads(text))
    return score


def score_digest(bench: LoadedClass, case: BenchCase, text: str) -> str:
    """Return the SHA-256 of the canonical bytes of a score, the order of its breakdown and codes included."""
    told = scored(bench, case, text).model_dump(mode="json")
    ordered = [canonical_bytes(told), json.dumps(list(told["breakdown"])).encode()]
    return hashlib.sha256(b"\n".join(ordered)).hexdigest()


def digests(held: Iterable[Sample]) -> dict[str, str]:
    """Score samples in the order given, each class loaded anew; by class, case and label."""
    by_class: dict[str, list[Sample]] = {}
    for sample in held:
        by_class.setdefault(sample.task_class, []).append(sample)
    found = {}
    for name, chosen in by_class.items():
        with loaded(name) as bench:
            known = {case.case_id: case for case in cases(bench)}
            for one in chosen:
                key = f"{name}/{one.case_id}/{one.label}"
                found[key] = score_digest(bench, known[one.case_id], one.text)
    return found


if __name__ == "__main__":
    BENCH = Path(sys.argv[2])
    with open(sys.argv[1], encoding="utf-8") as file:
        stored = [Sample(*fields) for fields in json.load(file)]
    json.dump(digests(stored), sys.stdout)
