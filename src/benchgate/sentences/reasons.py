"""Why a candidate is not promoted: what its cases, its gain and its cost lack."""

from __future__ import annotations

from typing import Final

REASONS: Final = {
    "baseline_missing": "there is no baseline",
    "baseline_mismatch": "{path}: {problems:texts}",
    "observer_mismatch": "{path}: its observer: {changes:texts}",
    "observer_mismatch.change": "{name} was {before}, is {after}",
    "observer_not_trusted": "observer and people are known to agree on {agreed:.3f}; needed is {needed:g}",
    "checkpoint_mismatch": "{problems:texts}",
    "incomplete_run.may_promote": "the rest might have promoted it",
    "block_severity_failure_mode": "severity block: {modes:texts}",
    "block_severity_failure_mode.cases": "{mode} in {cases:names}",
    "block_severity_failure_mode.unknown": "{mode} {detail!r} in {cases:names}",
    "too_many_unscored": "{side}: {errors}",
    "too_many_unscored.hidden": (
        "{which}: {cases:names} ended in an error in the baseline, so that nobody knows whether they newly fail"
    ),
    "cases.all": "cases",
    "case.change": "{case} {change:+.3g}",
    "cases.critical": "critical cases",
    "unscored_decide.no_best": "{trials} have no score, and no score_range says what the best is",
    "unscored_decide.against": (
        "{trials} have no score; at the values that speak most against the candidate the decision is {outcome}: "
        "{codes:names}"
    ),
    "unscored_trials.baseline": "baseline: {trials:names}",
    "unscored_trials.candidate": "candidate: {trials:names}",
    "unscored_trials.both": "baseline: {before:names}; candidate: {after:names}",
    "new_cases_decide": (
        "if the baseline had solved the new cases, the decision would not be promote: {codes:names}"
    ),
    "cases_changed_the_answer": (
        "with the cases as they were at earlier looks at this baseline the decision is {outcome}"
    ),
    "case_mismatch.differ": "the sides have different cases; {how}",
    "case_mismatch.unpaired_test": "a paired test needs case ids on both sides",
    "case_mismatch.unpaired_claim": "claim no_regression needs case ids on both sides",
    "case_mismatch.unsaid": "{which}: the {side} does not say which cases passed",
    "cases_differ.ids": "only the {side} has case ids",
    "cases_differ.one": "{count} only in {side}: {cases:names}",
    "cases_differ.both": "{gone} only in baseline: {old:names}; {new} only in candidate: {added:names}",
    "cases_differ.clusters": "in other clusters: {cases:names}",
    "score_out_of_range": "{side}: {score!r} is outside [{low:g}, {high:g}]",
    "insufficient_cases.cases": "{size:count case} {size:is|are} too few: at least {needed} are needed",
    "insufficient_cases.clusters": "{size:count cluster} {size:is|are} too few: at least {needed} are needed",
    "zero_variance.no_test": "{equal}: no test can be made",
    "zero_variance.p_alone": "{equal}: p {p:.3g} alone is no evidence",
    "equal.sides": "all scores of a side are equal and no score_range is given",
    "equal.pairs": "all differences are equal and no score_range is given",
    "critical_case_regressed.any": "critical cases newly fail: {cases:names}",
    "critical_case_regressed.majority": "critical cases newly fail in most trials: {cases:names}",
    "newly_failing_cases": (
        "on these cases {count} {count:newly fails|newly fail} ({cases:names}); allowed: {allowed}"
    ),
    "case_regressed": "on these cases {count} lost more than {tolerance:g}: {losses:names}",
    "seed_reproducibility": (
        "its trials of the same cases disagree: the gains of {trials} trials differ by {spread:.4g}; chance explains "
        "{allowed:.4g}"
    ),
    "significant_regression": "its score fell by {loss:.3f}, more than chance explains",
    "worse_than_margin": (
        "its score changed by {change:+.3f}, at best by {high:+.3f} ({alpha:confidence.1} confidence); a loss of "
        "{margin:g} is allowed"
    ),
    "margin_not_shown.unbounded": "the difference cannot be bounded: no score_range is given",
    "margin_not_shown.loss": (
        "its true score may be lower by {loss:.3f} ({alpha:confidence.1} confidence); {margin:g} is allowed"
    ),
    "margin_not_shown.least": "if no case changed, so many cases would show a margin of {margin:.3g}",
    "delta_below_minimum.gain": "its gain is {gain:+.3f}, not above {least:g}",
    "delta_below_minimum.unchanged": (
        "its results are those of the baseline: no gain above {least:g}, and only a loss above {loss:.3f} is excluded "
        "({alpha:confidence.1} confidence)"
    ),
    "gain_excluded": "its gain is at most {high:+.3f} ({alpha:confidence.1} confidence); {wanted}",
    "not_significant": "{doubt}, though so many cases would have shown a gain of {detectable:.2g}",
    "inconclusive_underpowered.large": (
        "{doubt}: so small a comparison reliably finds only gains above {detectable:.2g}; {wanted}"
    ),
    "inconclusive_underpowered.any": (
        "{doubt}: so small a comparison may miss even the largest gain; {wanted}"
    ),
    "inconclusive_underpowered.alike": (
        "every case gained {gain:.3g}, but so few cannot rule out a rare large loss: the true gain may be as low as "
        "{bound:+.3f}"
    ),
    "inconclusive_underpowered.equal": (
        "the scores of each side are all equal: the true gain may be as low as {bound:+.3f}"
    ),
    "wanted.by_default": "the gate looks for {gain:g} (target_effect)",
    "wanted.by_policy": "you asked for {gain:g}",
    "doubt.chance": "it may be chance",
    "doubt.above": "that its gain is above {least:g} may be chance",
    "doubt.equal": "all scores of a side are equal, and the true gain may be as low as {bound:+.3g}",
    "exact_evidence_required.bound": "the exact lower bound of its gain is {bound:+.4g}",
    "exact_evidence_required.unknown": "the exact lower bound of its gain cannot be computed",
    "cost_increase.unknown": "what it costs is not known of every case of both sides",
    "cost_increase.rise": "a case costs {change}; {allowed:+.1%} is allowed",
    "cost.means": "from {before:usd} to {after:usd}",
    "cost.change": "from {before:usd} to {after:usd}, {change:+.1%}",
    "cost.between": "from {before:usd} to {after:usd}, {change:+.1%} [{low:+.1%}, {high:+.1%}]",
    "certificate": "{value:.3g} at best, needed {needed:.3g}",
    "reward_gain_below_threshold": "delta {delta:.4g}; asked for is more than {least:g}",
    "reward_gain_below_threshold.unknown": "delta undefined; asked for is more than {least:g}",
    "p_value_above_threshold": "p {p:.4g}; asked for is at most {most:g}",
    "p_value_above_threshold.unknown": "p undefined; asked for is at most {most:g}",
    "confidence_below_threshold": "confidence 1 - p with p {p:.4g}; asked for is p of at most {most:.4g}",
    "confidence_below_threshold.unknown": (
        "confidence 1 - p with p undefined; asked for is p of at most {most:.4g}"
    ),
    "gate": "{text}",
}
"""By a code, and after a dot the variant; a clause in another sentence has a name of its own."""
