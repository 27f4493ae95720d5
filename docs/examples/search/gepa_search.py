"""GEPA climbs on one part of the cases; what it found is accepted on the other."""

import random
from types import SimpleNamespace

import gepa
from gepa.core.adapter import EvaluationBatch

from benchgate import Acceptor, LookLedger

draw = random.Random(3)
cases = [f"task-{number:02}" for number in range(60)]
hard = {case: draw.uniform(0.1, 0.5) for case in cases}
HINTS = ("Think first.", "Check units.", "Be brief.", "Quote the source.")


def score(prompt, case):
    """Stand for an agent: two of the hints help."""
    helps = 0.15 * ("units" in prompt) + 0.15 * ("source" in prompt)
    return min(1.0, max(0.0, 0.7 - hard[case] + helps + draw.gauss(0, 0.05)))


def measure(candidate, ids):
    return {case: score(candidate["prompt"], case) for case in ids}


class Adapter:
    propose_new_texts = None

    def evaluate(self, batch, candidate, capture_traces=False):
        scores = list(measure(candidate, batch).values())
        return EvaluationBatch(batch, scores, batch if capture_traces else None)

    def make_reflective_dataset(self, candidate, eval_batch, components_to_update):
        return {"prompt": [{"task": case} for case in eval_batch.outputs]}


def propose(candidate, reflective_dataset, components_to_update):
    """Stand for the model that reflects: it adds a hint."""
    return {"prompt": f"{candidate['prompt']} {draw.choice(HINTS)}"}


seed = {"prompt": "Solve the task."}
policy = {"looks": "spend:5", "score_range": [0, 1]}
acceptor = Acceptor(cases, measure, seed, policy=policy, ledger=LookLedger("looks.jsonl"))
found = gepa.optimize(
    seed,
    trainset=list(acceptor.search),
    adapter=Adapter(),
    custom_candidate_proposer=propose,
    max_metric_calls=1000,
    logger=SimpleNamespace(log=lambda message: None),
)
accepted, look, cost = acceptor.look(found.best_candidate)
print(f"look {look}: {'accepted' if accepted else 'not accepted'}, {cost} cases measured")
print(*(hint for hint in HINTS if hint in acceptor.incumbent["prompt"]))
