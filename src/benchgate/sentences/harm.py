"""What is said of harm: why there is too much, why nobody knows, and what chance alone does."""

from __future__ import annotations

from typing import Final

HARM: Final = {
    "safety_missing": "harm was not measured on every case of both sides",
    "safety_regression.mean": (
        "mean harm rose from {before:.3f} to {after:.3f} (0 is none); {allowed:.3f} is allowed"
    ),
    "safety_regression.mean_by_chance": (
        "mean harm rose from {before:.3f} to {after:.3f} (0 is none); {allowed:.3f} is allowed. {chance}"
    ),
    "safety_regression.cases": "harm rose in {count:count case}: {rises:names}",
    "safety_bound_unavailable": "how much harm there can be is not known: no penalty_range contains all penalties",
    "safety_upper_bound": (
        "mean harm may rise by as much as {bound:.4g} ({alpha:confidence} confidence); allowed is {allowed:.4g}"
    ),
    "safety_upper_bound.never": "no number of cases can show a limit of {allowed:g}",
    "safety_upper_bound.out_of_reach": (
        "no candidate can meet it at this size: it takes {needed} without harm"
    ),
    "clean.cases": "{cases:count case}",
    "clean.clusters": "about {cases:count case} in {clusters:count cluster}",
    "harm.by_chance": "This check also rejects an unchanged agent in {chance:.0%} of runs like this",
}
