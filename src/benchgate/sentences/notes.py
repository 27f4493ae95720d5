"""What a reader of a decision should know, though it blocks nothing."""

from __future__ import annotations

from typing import Final

NOTES: Final = {
    "new_cases": (
        "{compared} of {all} cases: {cases:names} {count:is new and was|are new and were} not compared; benchgate pin "
        "--extend --task-class CLASS --yes runs the baseline on new cases"
    ),
    "epochs_collapsed": "{trials} trials of a case count as one observation",
    "missing_in_baseline": "counted as the best score: {cases:names}",
    "missing_in_candidate": "counted as the worst score: {cases:names}",
    "unequal_cases": "{before} scores against {after}, without ids: nobody knows which cases differ",
    "unequal_trials.both": (
        "trials of a case: {before:names} against {after:names}; means over fewer trials vary more"
    ),
    "unequal_trials.one": "trials of a case: {trials:names}; means over fewer trials vary more",
    "unchanged_system.cases": (
        "an unchanged system would be rejected in {rejected} of 100 such runs: its trials disagree on {differing} of "
        "{cases:count case}"
    ),
    "unchanged_system.critical": (
        "an unchanged system would be rejected in {rejected} of 100 such runs: its trials disagree on {differing} of "
        "{cases:count critical case}"
    ),
    "these_cases_only": "the claim is about exactly these cases, and says nothing of others",
    "few_cases.cases": "{size:count case} {size:is|are} few for any claim",
    "few_cases.clusters": "{size:count cluster} {size:is|are} few for any claim",
    "clusters": "{cases:count case} come from {clusters:count cluster} of like cases, which are the sample",
    "clusters.effective": "they tell as much as {cases:.0f} independent cases",
    "safety_power": "a true rise of harm by {rise:.2f} would pass in {chance:.0%} of runs like this",
    "zero_variance_exact_bound_used": "no p can be made; the bounded-support bound decides",
    "welch_paired_disagree.welch": (
        "to compare only the two averages (Welch's test) would give another answer"
    ),
    "welch_paired_disagree.paired": (
        "to compare case by case (test = 'auto') would give another answer"
    ),
    "unseen_break.cases": (
        "a loss of {loss:.2g} in 1 of {count} cases would undo the gain, and so few cases might not show it; evidence "
        "= exact rules it out"
    ),
    "unseen_break.clusters": (
        "a loss of {loss:.2g} in 1 of {count} clusters would undo the gain, and so few clusters might not show it; "
        "evidence = exact rules it out"
    ),
    "unscored_baseline": (
        "{count} of {total:count trial} of the baseline have no score and count as 0, in the candidate's favour"
    ),
    "unscored_baseline.late": (
        "{count} of {total:count trial} of the baseline have no score, {late} for want of time, and count as 0, in the "
        "candidate's favour"
    ),
    "unscored_candidate": "{count} of {total:count trial} of the candidate have no score and count as 0",
    "unscored_candidate.late": (
        "{count} of {total:count trial} of the candidate have no score, {late} for want of time, and count as 0"
    ),
    "same_bytes": "both files have the same bytes: is the baseline the old one?",
    "replayed": "no system was called; the outputs are those of {source}",
    "not_deterministic": (
        "not deterministic: {count} of {total:count score} differ from what the same rubric gave the same outputs"
    ),
    "observer_fingerprint": "the observer's provider was {now:names}",
    "observer_fingerprint.before": "for the baseline {before:names}",
    "secret_masked": (
        "{count} of {total:count trial}: a key or token in what they returned or said was masked"
    ),
    "http_replayed": "the requests of {count} of {total:count trial} were answered by {cassettes:names}",
    "not_compared": "{count:count case} without a result in either log: {cases:names}",
    "observer_agreement.agreed": (
        "observer and people agree on {mean:.3f} of {outputs} outputs, between {low:.3f} and {high:.3f} (95%)"
    ),
    "observer_agreement.candidate": (
        "observer minus people is {mean:+.3f} on {outputs} of the candidate, between {low:.3f} and {high:.3f} (95%)"
    ),
    "observer_agreement.baseline": (
        "{mean:+.3f} on {outputs} of the baseline, between {low:.3f} and {high:.3f} (95%)"
    ),
    "observer_agreement.contradictions": "{count:count label} {count:contradicts|contradict} others, and all count",
    "observer_agreement.lost": "no run has the labelled {outputs:names}",
    "labelled_output": "{output} of case {case}",
    "observer_bias": "the observer favours the {side}: its error is higher there by {error:.3f} or more",
    "observer_noise.none": "verdicts differ on {differing} of {outputs:count output}",
    "observer_noise.some": "verdicts differ on {differing} of {outputs:count output}, of case {cases:names}",
    "observer_noise.precision": (
        "the difference is known to +-{now:.3f}, with {verdicts} verdicts an output it would be +-{then:.3f} (the "
        "observer's part is {part:.0%})"
    ),
    "relabelled.pin": "since the baseline was pinned: {changes:texts}",
    "relabelled.look": "since an earlier look at these results: {changes:texts}",
    "label.of": "{label} of {case}",
    "label.of_case": "case {case}",
    "label.change": "{of} was {before}, is {after}",
    "label.set": "{of} was unset, is {after}",
    "label.unset": "{of} was {before}, is unset",
    "no_advantages": "trials without advantages: {count}; they were not compared with the steps",
    "done_before_end": (
        "an RL trajectory goes on after done = true: {trials:names}; a trajectory is one episode"
    ),
    "done_before_end.trial": "{trial} at step {step} of {length}",
    "no_done_at_end": (
        "the last step of an RL trajectory is not done: {trials:names}; an episode ends when it terminates or is "
        "truncated"
    ),
    "shared_trajectory_id.one": (
        "{count} trials have the trajectory_id {id!r}: {trials:names}; each episode needs an id of its own"
    ),
    "shared_trajectory_id.several": (
        "{count} trials have the trajectory_id {id!r}: {trials:names}; and {others:count other id} of several "
        "episodes; each episode needs an id of its own"
    ),
    "same_episode": (
        "all trials of a case are one episode, step by step: {cases:names}; the system may ignore case.seed; if "
        "nothing in it is random, one trial a case tells as much"
    ),
    "same_episode.case": "{case} {count} times",
}
