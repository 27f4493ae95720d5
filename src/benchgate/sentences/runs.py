"""What is wrong with a run or with its baseline, and why a session exits with a status other than 0."""

from __future__ import annotations

from typing import Final

RUNS: Final = {
    "incomplete_run": "{parts:texts}",
    "stopped": (
        "no result of the remaining {cases:count case} could have promoted it; saved: {saved} of their "
        "{trials:count trial}"
    ),
    "stopped.paid": (
        "no result of the remaining {cases:count case} could have promoted it; saved: {saved} of their "
        "{trials:count trial}, about {cost:usd}"
    ),
    "incomplete.capped": "{count} of {total} not run: the cap of ${cap:g}",
    "incomplete.outcome": "{count} {outcome} ({cases:names})",
    "incomplete.outcome_because": "{count} {outcome} ({cases:names}): {detail}",
    "incomplete.run_again": "{count} run again ({cases:names})",
    "incomplete.several_results": "{count} with several results ({cases:names})",
    "incomplete.log": "its log says that it did not end",
    "incomplete.no_trial": "no trial of the candidate was selected",
    "incomplete.ended_early": "the session ended early",
    "errors.some": "{count} of {total:count trial} ended in harness_error; allowed is a share of {limit:g}, or one",
    "errors.some_of_kinds": (
        "{count} of {total:count trial} ended in harness_error ({kinds:kinds}); allowed is a share of {limit:g}, or one"
    ),
    "errors.all": "all {total} trials ended in harness_error; allowed is a share of {limit:g}, or one",
    "errors.all_of_kinds": (
        "all {total} trials ended in harness_error ({kinds:kinds}); allowed is a share of {limit:g}, or one"
    ),
    "errors.count": "{count} of {total} ({kinds:kinds})",
    "errors.kind": "{kind} {count}",
    "errors.no_score": "no score",
    "baseline.edited": "its results do not have the run_id that it claims: it was edited",
    "baseline.part": "it is not a full run",
    "baseline.incomplete": "it is incomplete",
    "baseline.run_incomplete": "{parts:texts}",
    "baseline.unreadable": "{why}",
    "baseline.no_record": (
        "{why}; make it again: pytest --bench=CLASS --bench-system=NAME --bench-baseline=none, then benchgate pin"
    ),
    "baseline.other_class": "its task class is {before!r}, not {after!r}",
    "baseline.changed_cases": "cases changed since: {cases:names}",
    "baseline.other_rubric": "its rubric differs: {before}, now {after}",
    "baseline.isolation": "its isolation is {before}, now {after}, which is lower",
    "baseline.gone_cases": "cases only in the baseline: {cases:names}",
    "baseline.new_cases": "cases not in the baseline: {cases:names}",
    "baseline.old": (
        "the baseline is {days} days old, and a model changes behind its name; make it again: pytest "
        "--bench={task_class} --bench-system={system} --bench-baseline=none, then benchgate pin"
    ),
    "baseline.welch": 'gate.toml names no test, so pairs decide; test = "welch" keeps what judged before',
    "baseline.freer": "isolation {now}: the baseline's was {before}, where a system could do more",
    "exit.not_evaluated": "a gate was asked for, but only a part of the cases was selected: not evaluated",
    "exit.reject": "the gate decided reject",
    "exit.hold": "the gate decided hold",
    "exit.block": "severity block: {modes:texts}",
    "exit.incomplete": "the run is incomplete: {parts:texts}",
    "exit.failed_cases": "{failed} of {cases:count case} failed",
    "exit.gate_alone": "{failed} of {cases:count case} failed; --bench-exit=gate goes by the gate alone",
    "exit.checkpoint": "checkpoint: {problems:texts}",
    "exit.gate": "gate {gate}: {text}",
    "exit.gate_failed": "the gate failed: {error}: {text}",
    "exit.incomplete_baseline": "the run of the baseline is incomplete: {parts:texts}",
    "exit.unusable_baseline": "the baseline cannot be used: {path}: {problems:texts}",
    "looks_mismatch": "the first look at this baseline declared looks = {declared}, this one {stated}",
    "looks_exhausted": "this is look {number}, and the first declared looks = {declared}",
    "other_rules": "decided by rules {rules}, this benchgate has rules {today}: not computed again",
}
