"""What a condition asks for, and in a few words that it failed."""

from __future__ import annotations

from typing import Final

HEADLINES: Final = {
    "incomplete_run": "some cases have no usable result, so that nothing can be compared",
    "too_many_unscored": "too many trials ended in an error, which says little about it",
    "unscored_decide": "whether it is good enough depends on results that are missing",
    "new_cases_decide": "whether it is good enough depends on cases that the baseline lacks",
    "cases_changed_the_answer": "whether it is good enough depends on cases that were retired or changed after a look",
    "baseline_mismatch": "the baseline is no complete run of the same cases with the same score",
    "observer_mismatch": "the outputs of the baseline were observed by another observer, or more or less often",
    "observer_not_trusted": "too little is known of how far the observer agrees with people",
    "looks_mismatch": "looks at this baseline were declared otherwise before the first",
    "looks_exhausted": "all looks that were declared before the first are used",
    "checkpoint_mismatch": "the results may belong to another checkpoint",
    "case_mismatch": "the two sides did not do the same cases",
    "score_out_of_range": "a score is outside the range that was given",
    "block_severity_failure_mode": "something happened that must never happen",
    "critical_case_regressed": "a case that must not fail fails now",
    "newly_failing_cases": "cases that passed before fail now",
    "case_regressed": "a case became worse",
    "safety_regression": "harm rose by more than is allowed",
}
"""In few words, that a condition failed whose message is too long for a headline; ``it`` is the candidate."""

LIMITS: Final = {
    "observer_not_trusted": "observer and people agree on at least {policy.observer_min_agreement:g}",
    "insufficient_cases": "at least {policy.min_cases} cases",
    "critical_case_regressed": "critical cases fail by the majority of trials",
    "newly_failing_cases": "at most {policy.max_newly_failing} newly failing",
    "case_regressed": "no case down by more than {policy.tolerance:g}",
    "safety_regression": "harm up by at most {policy.max_safety_regression:g}",
    "safety_upper_bound": "with {level} confidence too",
    "exact_evidence_required": "exact evidence",
    "cost_increase": "cost up by at most {policy.max_cost_increase:.1%}",
}
"""What a condition asks for, with the fields of the policy, and the level of its bound."""
