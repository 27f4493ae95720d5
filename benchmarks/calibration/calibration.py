"""
Measure how often gates and bounds err: writes calibration.json, and the tables of tables.md and error-rates.md.

    python benchmarks/calibration/calibration.py --jobs 2    # half an hour
    python benchmarks/calibration/calibration.py --only safety --only noise
    python benchmarks/calibration/calibration.py --tables    # only writes the tables into the pages

Every cell has a stream of its own, seeded with SEED and the names of its row; counts are kept, not shares. numpy may
draw other numbers in another version: the one that was used is in the file.
"""

from __future__ import annotations

import argparse
import json
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import calibration_tables
import numpy as np
from further_rows import FURTHER, further
from further_tables import bars
from gates_under_test import bca, bca_lower, flat, outcomes, raw_welch, welch_p, z
from scenarios import LAWS, SCENARIOS, Scenario, passed
from scipy import special
from streams import SEED, stream

from benchgate.statistics.bounds import gaffke_lower

if TYPE_CHECKING:
    from collections.abc import Sequence

REPETITIONS = {"error": 10_000, "power": 1000, "coverage": 4000}
KINDS = ("error", "power", "coverage", "worse", "attempts", "picked", *FURTHER)
HERE = Path(__file__).parent
RESULTS = HERE / "calibration.json"
PAGES = (HERE.parents[1] / "docs" / "explanation" / "error-rates.md", HERE / "tables.md")


def compared(scenario: Scenario, n: int, what: str) -> dict[str, Any]:
    """Count the promotions of each column in one row, without a gain (``error``) or with it (``power``)."""
    rng = stream(scenario.name, n, what)
    gain = scenario.gain if what == "power" else 0.0
    before, after = scenario.draw(rng, REPETITIONS[what], n, gain)
    decided = outcomes(before, after, paired=scenario.paired)
    promoted = {
        **{rule: np.array(rows) == "promote" for rule, rows in decided.items()},
        "z": flat(z)(before, after),
        "raw Welch": flat(raw_welch)(before, after),
        "BCa": flat(bca)(before, after, rng, paired=scenario.paired),
    }
    row = {
        "what": what,
        "scenario": scenario.name,
        "paired": scenario.paired,
        "n": n,
        "gain": gain,
        "promoted": {column: int(np.sum(rows)) for column, rows in promoted.items()},
    }
    if what == "error":
        row["rejected"] = {rule: rows.count("reject") for rule, rows in decided.items()}
    return row


def covered(number: int, n: int) -> dict[str, Any]:
    """Count how often each 95 % lower bound is at most the true mean of a law; one that does not exist is not."""
    law = LAWS[number]
    rng = stream(law.name, n)
    scores = law.draw(rng, (REPETITIONS["coverage"], n))
    mean, error = scores.mean(axis=1), np.sqrt(scores.var(axis=1, ddof=1) / n)
    bounds = {
        "Gaffke": np.array([gaffke_lower(row.tolist()) for row in scores]),
        "Wald (z)": mean - special.ndtri(0.95) * error,
        "Student t": mean - special.stdtrit(n - 1, 0.95) * error,
        "BCa": bca_lower(scores, rng=rng),
    }
    if law.name.startswith("bern"):
        ones = scores.sum(axis=1)
        exact = special.betaincinv(np.maximum(ones, 1), n - ones + 1, 0.05)
        bounds["Clopper-Pearson"] = np.where(ones == 0, 0.0, exact)
    return {
        "what": "coverage",
        "law": law.name,
        "n": n,
        "covered": {name: int(np.sum(low <= law.mean + 1e-9)) for name, low in bounds.items()},
    }


def worse(n: int) -> dict[str, Any]:
    """Count two-sided p of at most 0.05 for candidates of which 50 % pass, where 80 % did."""
    before, after = passed(0.8)(stream("worse", n), REPETITIONS["error"], n, -0.3)
    _, p = welch_p(before, after)
    return {"what": "worse", "n": n, "significant": int(np.sum(p <= 0.05))}


def attempts(n: int, number: int) -> dict[str, Any]:
    """Count baselines that at least one of several useless candidates passes Welch's test against."""
    rng = stream("attempts", n)
    before, _ = passed(0.8)(rng, REPETITIONS["error"], n, 0.0)
    tried = [raw_welch(before, passed(0.8)(rng, len(before), n, 0.0)[1]) for _ in range(number)]
    return {
        "what": "attempts",
        "n": n,
        "number": number,
        "passed": int(np.sum(np.any(tried, axis=0))),
    }


def picked(n: int, number: int, runs: int) -> dict[str, Any]:
    """
    Count how often several useless candidates pass Welch's test against one baseline, the worst of some runs.

    :param runs: of the baseline; 0 runs it anew for each candidate.
    """
    rng = stream("picked", n, runs)
    passes, count = passed(0.8), REPETITIONS["error"]
    tried = []
    before = _worst([passes(rng, count, n, 0.0)[0] for _ in range(max(runs, 1))])
    for _ in range(number):
        tried.append(raw_welch(before, passes(rng, count, n, 0.0)[1]))
        before = before if runs else passes(rng, count, n, 0.0)[0]
    return {
        "what": "picked",
        "n": n,
        "number": number,
        "runs": runs,
        "passed": int(np.sum(tried)),
        "any": int(np.sum(np.any(tried, axis=0))),
    }


def _worst(runs: list[np.ndarray]) -> np.ndarray:
    lowest = np.argmin([run.mean(axis=1) for run in runs], axis=0)
    return np.array(runs)[lowest, np.arange(len(lowest))]


def measure(jobs: int, kinds: Sequence[str], known: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Measure the rows of some kinds, and keep those known of the others."""
    tasks: list[tuple[Any, ...]] = [
        (what, _row, number, n, what)
        for number, scenario in enumerate(SCENARIOS)
        for what in ("error", "power")
        for n in scenario.sizes
    ]
    tasks += [
        ("coverage", covered, number, n) for number in range(len(LAWS)) for n in (10, 30, 100, 500)
    ]
    tasks += [("worse", worse, n) for n in (10, 100)]
    tasks.append(("attempts", attempts, 100, 10))
    tasks += [("picked", picked, 100, 20, runs) for runs in (0, 1, 5)]
    tasks += [
        (kind, further, kind, number) for kind in FURTHER for number in range(len(FURTHER[kind][1]))
    ]
    old = {what: [row for row in known if row["what"] == what] for what in KINDS}
    with ProcessPoolExecutor(jobs) as pool:
        rows = [
            pool.submit(*task[1:]).result if task[0] in kinds else partial(old[task[0]].pop, 0)
            for task in tasks
            if task[0] in kinds or old[task[0]]
        ]
        return {
            "seed": SEED,
            "numpy": np.__version__,
            "repetitions": REPETITIONS,
            "rows": [row() for row in rows],
        }


def _row(number: int, n: int, what: str) -> dict[str, Any]:
    return compared(SCENARIOS[number], n, what)


def main() -> None:
    """Measure what is asked for, then write the tables into the pages and print the bars."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (default: 1)")
    parser.add_argument("--tables", action="store_true", help="measure nothing")
    parser.add_argument(
        "--only", action="append", choices=KINDS, metavar="KIND", help="measure only these rows"
    )
    given = parser.parse_args()
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    if not given.tables:
        began = time.monotonic()
        results = measure(given.jobs, given.only or KINDS, results["rows"])
        lines = ",\n".join(json.dumps(row) for row in results["rows"])
        head = json.dumps({key: results[key] for key in results if key != "rows"})[:-1]
        RESULTS.write_text(f'{head}, "rows": [\n{lines}\n]}}\n', encoding="utf-8")
        print(f"{RESULTS}: {time.monotonic() - began:.0f} s")
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    for page, text in zip(PAGES, calibration_tables.put_into(texts, results), strict=True):
        page.write_text(text, encoding="utf-8")
    print("\n".join(bars(results)))


if __name__ == "__main__":
    main()
