"""Try 200 neighbours of a setting, and keep what the gate accepts."""

import random
import sys

from benchgate import LookLedger, accept

POLICY = {"test": "auto", "score_range": [0, 1], "looks": "spend"}
matters = sys.argv[1] == "gain"  # else the setting has no effect at all
draw = random.Random(7)
difficulty = {f"task-{number:02}": draw.uniform(0.2, 0.6) for number in range(50)}


def quality(setting):
    return 0.3 - 0.3 * abs(setting - 0.8) if matters else 0.0


def measure(setting):
    scores = {
        task: 0.7 - hard + quality(setting) + draw.gauss(0, 0.1)
        for task, hard in difficulty.items()
    }
    return {task: min(1.0, max(0.0, score)) for task, score in scores.items()}


setting = 0.0
best, ledger = measure(setting), LookLedger(f"looks-{sys.argv[1]}.jsonl")
for step in range(1, 201):
    neighbour = min(1.0, max(0.0, setting + draw.gauss(0, 0.3)))
    candidate = measure(neighbour)
    decision = accept(best, candidate, policy=POLICY, ledger=ledger, incumbent=f"setting {setting}")
    if decision.promotion_allowed:
        print(f"step {step}: {setting:.2f} -> {neighbour:.2f}, look {decision.look.number}")
        setting, best = neighbour, candidate
print(f"setting {setting:.2f}, quality {quality(0.0):.2f} -> {quality(setting):.2f}")
