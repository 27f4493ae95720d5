"""What to do about a decision. Options are named as those of ``benchgate run``; other doors translate them."""

from __future__ import annotations

from typing import Final

_NEW_SERIES: Final = (
    "begin a new series of looks and say why: --new-series REASON of benchgate pin, or of gate "
    "--ledger"
)
_INSTEAD: Final = "if no worse is enough, --policy=claim=not_worse --policy=margin=X"
_MEASURE_HARM: Final = (
    "measure harm on every case: in the rubric; of a log, --map harm=FIELD or safety=FIELD"
)
_TRUE_CRASH: Final = (
    "if a crash is the true result of the baseline, say so: --policy=baseline_errors=zero"
)

STEPS: Final = {
    "step.look_at_reasons": "look at the reasons",
    "step.ask_gate": "do what the gate {gate} asks for",
    "step.complete_runs": "give complete runs, one sample per case and repetition",
    "step.improve": "improve the candidate: the rest would not help",
    "step.fix_errors": "fix the errors, then run again",
    "step.rerun_samples": "run the samples that erred again in their harness, and give the new log",
    "step.rerun_trials": f"fix the errors, then run the named trials again; {_TRUE_CRASH}",
    "step.rerun_named_samples": f"run the named samples again in their harness, and give the new log; {_TRUE_CRASH}",
    "step.extend": "run the baseline on the new cases: benchgate pin --extend --task-class CLASS --yes",
    "step.keep_cases": f"leave the cases of earlier looks as they were; or {_NEW_SERIES}",
    "step.pin": "pin a complete run as the baseline: benchgate pin RUN --yes",
    "step.new_baseline": "make the baseline again on these cases, or run it too: --baseline=run:SYSTEM",
    "step.two_logs": "give two complete logs of the same cases and the same score",
    "step.label": (
        "label outputs, of this run or of others that it observed: benchgate report RUN --labels 40"
    ),
    "step.declared_looks": f"judge it with the looks that were declared, or {_NEW_SERIES}",
    "step.new_series": f"{_NEW_SERIES}; with more cases, so that one look is enough",
    "step.one_checkpoint": "fix which checkpoint is played, then run again",
    "step.same_cases_in_logs": (
        "give both logs the same cases and clusters; with --policy missing=worst a case that one side lacks counts "
        "against the candidate"
    ),
    "step.wider_range": "set score_range to that of the scores",
    "step.range_for_bound": "set score_range, so that a bound can decide",
    "step.penalty_range": "set penalty_range",
    "step.trials": "add trials, not cases: those of the candidate behave like different runs",
    "step.observe_again": "observe it again, then pin that run: --reobserve={outputs} --baseline=none",
    "step.run_again_to_observe": (
        "its outputs are not kept: run its system again, then pin that run: --baseline=none"
    ),
    "step.too_late": "add cases: after so many candidates so few cannot promote",
    "step.missing_cases": (
        "run the missing cases, or count each as the worst: --policy missing=worst --policy 'score_range=[LO, HI]'"
    ),
    "step.same_cases": "give both sides the same cases, with the same ids and clusters",
    "step.add_cases": "add {cases:count case}",
    "step.add_clusters": "add cases from {clusters:count new source}",
    "step.no_gain.unchanged": (
        f"improve the candidate: more cases with the same results show no gain; {_INSTEAD}"
    ),
    "step.no_gain.margin": (
        f"improve the candidate: more cases with the same results show no gain; {_INSTEAD}, which these cases show for "
        "X = {margin:g} or more"
    ),
    "step.no_gain.cases": f"improve it; or add cases and --policy=target_effect=X; or {_INSTEAD}",
    "step.no_gain.clusters": (
        f"improve it; or add cases from new sources and --policy=target_effect=X; or {_INSTEAD}"
    ),
    "step.no_gain": f"more cases will not help: improve the candidate; {_INSTEAD}",
    "step.cases_or_trials": "add cases, or add trials to each if one case varies much",
    "step.too_small_a_gain": "improve the candidate: no number of cases shows so small a gain",
    "step.more_of_the_same": "add {more:count case}: {needed} cases with this gain and no loss would show it",
    "step.range_for_difference": "set score_range, so that the difference can be bounded",
    "step.paired_test": (
        "--policy=test=auto: both sides have the same cases, and pairs show a smaller margin"
    ),
    "step.other_margin": (
        "improve the candidate; or plan a new comparison with a margin that this size can show"
    ),
    "step.more_cases": "add cases: about {more} more to the {there} there are",
    "step.cases_first": (
        "add cases: about {more} more to the {there} there are, {case_runs} runs of both sides together; or run "
        "{trials} trials of each case, {trial_runs} more runs"
    ),
    "step.trials_first": (
        "run {trials} trials of each case on both sides, {trial_runs} more runs; or add cases: about {more} more to "
        "the {there} there are, {case_runs} runs of both sides together"
    ),
    "step.more_clusters": (
        "add cases from about {sources:count new source} (about {more} cases): more cases of the {there:count source} "
        "there are tell little"
    ),
    "step.harm_of_both": "give the harm of both sides, or --policy=safety=optional",
    "step.say_no_harm": (
        f"if nothing here can do harm, say so: --policy=safety=optional; else {_MEASURE_HARM}"
    ),
    "step.most_harm": (
        "run what has no score again; or set penalty_range, so that it counts as the most harm that there is"
    ),
    "step.score_all": (
        "run what has no score again: {before} trials of the baseline, {after} of the candidate"
    ),
    "step.measure_harm": _MEASURE_HARM,
    "step.harm_by_chance": (
        "look at the cases with more harm; to tell harm from chance, run {times} times as many trials of each case: "
        "an unchanged agent would then be rejected in {chance:.0%} of runs"
    ),
    "step.allow_some_harm": "no number of cases can show that nothing rises: set max_safety_regression above 0",
    "step.cases_for_harm": "add cases: the bound on harm narrows with their number",
    "step.report_costs": (
        "have both systems report what a case costs: case.usage, on runs, not on sample files"
    ),
    "step.lower_cost": "lower the cost, or raise max_cost_increase",
    "look.beyond": "but it would be look {number}, and {declared} were declared: it promotes nothing",
    "look.declared": "it would be look {number} of the {declared} that were declared",
    "look.spent": "it would be look {number}, whose level is {alpha:.2g}",
    "look.later": "look {number} raises the chance of a promotion by luck to at most {chance:percent}",
    "look.second": (
        "a second look raises the chance of a promotion by luck from {declared:percent} to at most {chance:percent}; "
        "looks = spend:2, set before the first look, keeps it"
    ),
    "cure.resume": "fix what kept trials from a result, then run only them: --resume",
    "cure.higher_cap": "run only the rest, with a higher cap: --resume --max-cost-usd=USD",
    "cure.no_reruns": (
        "run it again without reruns of tests, as --reruns of pytest-rerunfailures makes them: the first result of a "
        "trial counts; for outages there is --retries=N"
    ),
    "cure.tests_once": "run the tests without reruns, each name once, and give that file",
    "cure.one_sample": (
        "give one sample per case and repetition: --map trial=FIELD numbers repetitions"
    ),
    "cure.equally_often": "try each case equally often, then give the new log",
    "cure.whole_eval": "let the eval run to its end in its harness, then give the new log",
    "cure.complete_logs": "give complete logs",
}
