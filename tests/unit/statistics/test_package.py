"""What the package as a whole promises: light imports, builtin results, no warnings."""

from __future__ import annotations

import dataclasses
import inspect
import math
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchgate import statistics
from benchgate.statistics import bands, bounds, clusters, paired, safety, summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.filterwarnings("error")

ARMS: dict[str, list[float]] = {
    "empty": [],
    "one": [0.5],
    "constant": [0.5] * 5,
    "ulp": [0.5, math.nextafter(0.5, 1), 0.5],
    "binary": [0.0, 1.0, 1.0, 1.0, 0.0, 1.0],
    "plain": [0.1, 0.7, 0.45, 0.9, 0.33, 0.12],
    "tiny": [1e-300, 3e-300, 0.0, 2e-300, 5e-324],
    "long": [abs(math.sin(i * i)) for i in range(40)],
}

GOAL = statistics.Goal(target=0.1)

WIDE: dict[str, list[float]] = ARMS | {
    "huge": [1e300, -1e300, 3e299, 1.7e308],
    "mixed": [1e300, 1e-300, -5.0, 0.0],
}


def leaves(value: Any) -> list[Any]:
    if dataclasses.is_dataclass(value):
        return [x for f in dataclasses.fields(value) for x in leaves(getattr(value, f.name))]
    if isinstance(value, tuple):
        return [x for item in value for x in leaves(item)]
    return [value]


def is_plain(leaf: Any) -> bool:
    if type(leaf) not in {int, float, str, bool, type(None)}:
        return False
    return not isinstance(leaf, float) or math.isfinite(leaf)


def not_plain(what: str, call: Callable[..., Any], *given: Any, **named: Any) -> Iterator[str]:
    """Say which call on which arms gives what is not plain and finite, or raises or warns."""
    try:
        with np.errstate(all="raise"):
            found = [leaf for leaf in leaves(call(*given, **named)) if not is_plain(leaf)]
    except Exception as error:
        yield f"{call.__name__} of {what}: {error!r}"
    else:
        yield from (f"{call.__name__} of {what}: {leaf!r}" for leaf in found)


def test_everything_public_is_listed_and_documented() -> None:
    assert statistics.__all__ == sorted(statistics.__all__)
    for name in statistics.__all__:
        thing = getattr(statistics, name)
        assert inspect.getdoc(thing), name
        assert thing.__module__.startswith("benchgate.statistics.")


def test_results_are_frozen_and_slotted() -> None:
    results = [getattr(statistics, name) for name in statistics.__all__]
    results = [thing for thing in results if inspect.isclass(thing)]
    assert len(results) == 4
    for result in results:
        assert dataclasses.is_dataclass(result)
        assert vars(result)["__dataclass_params__"].frozen
        assert "__slots__" in vars(result)
        assert all(field.kw_only for field in dataclasses.fields(result))


def test_the_import_stays_light() -> None:
    code = (
        "import sys; sys.modules['pytest'] = None; sys.modules['pydantic'] = None;"
        "import benchgate.statistics;"
        "heavy = {'scipy.stats', 'scipy.optimize', 'scipy.integrate', 'scipy.linalg'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert done.stdout.strip() == "[]"


def in_twos(arm: list[float]) -> list[str]:
    return [f"pair {i // 2}" for i in range(len(arm))]


def of_two(b: str, c: str) -> Iterator[str]:
    what = f"{b} and {c}"
    yield from not_plain(what, statistics.welch_test, WIDE[b], WIDE[c], null_delta=0.01)
    yield from not_plain(what, statistics.effect_size, WIDE[b], WIDE[c])
    halves = (in_twos(WIDE[b]), in_twos(WIDE[c]))
    yield from not_plain(what, statistics.welch_test, WIDE[b], WIDE[c], halves)
    yield from not_plain(what, statistics.welch_detectable, WIDE[b], WIDE[c], GOAL)
    if ARMS.get(b) and ARMS.get(c):
        alone = (None,) * len(ARMS[b]), (None,) * len(ARMS[c])
        yield from not_plain(what, bounds.mover_gaffke, ARMS[b], ARMS[c], alone)
        ends = {"score_range": (0.0, 1.0)}
        yield from not_plain(what, statistics.welch_detectable, ARMS[b], ARMS[c], GOAL, **ends)


def test_two_samples_of_any_kind_give_plain_finite_results() -> None:
    wrong = [line for b in WIDE for c in WIDE for line in of_two(b, c)]
    assert not wrong, "\n".join(wrong)


def of_one(name: str) -> Iterator[str]:
    d = WIDE[name]
    figures = summary.summarize(d)
    yield from not_plain(name, summary.summarize, d)
    yield from not_plain(name, lambda: figures.variance)
    yield from not_plain(name, paired.paired_test, d, null_delta=0.01, n_resamples=99)
    yield from not_plain(name, statistics.paired_test, d, in_twos(d), null_delta=0.01)
    yield from not_plain(name, clusters.effective_cases, d, in_twos(d))
    yield from not_plain(name, bands.sample_size_band, d)
    yield from not_plain(name, bands.seed_band, [d, d[::-1]])
    yield from not_plain(name, statistics.paired_detectable, d, GOAL, width=1.0)
    if name in ARMS:
        check = {"limit": 0.05, "confidence": 0.9}
        yield from not_plain(name, safety.safety_pass_chance, 0.1, d, **check)
        yield from not_plain(name, bounds.gaffke_lower, d)
        yield from not_plain(name, bounds.gaffke_upper, d, in_twos(d))


def test_one_sample_of_any_kind_gives_plain_finite_results() -> None:
    wrong = [line for name in WIDE for line in of_one(name)]
    assert not wrong, "\n".join(wrong)


def test_what_is_not_plain_is_named_with_its_arms() -> None:
    assert list(not_plain("a", complex, 1)) == ["complex of a: (1+0j)"]
    assert list(not_plain("a", float, "nan")) == ["float of a: nan"]
    assert next(not_plain("a", int, "one")).startswith("int of a: ValueError(")
    assert list(not_plain("a", float, "1")) == []
