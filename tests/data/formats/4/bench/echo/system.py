import json
from pathlib import Path

def _answer(case, wrong):
    question = (case.input_path / "question.txt").read_text()
    answer = question if case.case_id in wrong else question.upper()
    payload = json.loads(PAYLOAD.read_text())
    payload["trajectory"]["trajectory_id"] = f"{case.case_id}/{case.seed}"
    return {"answer": answer, "rl_payload": payload}

PAYLOAD = Path(__file__).with_name("payload.json")
ALL = {f"{number:02}" for number in range(1, 9)}

def old(case):
    return _answer(case, ALL)

def new(case):
    return _answer(case, ())

def worse(case):
    return _answer(case, {"08"})

def broken(case):
    if case.case_id == "03":
        raise ValueError("no answer")
    return _answer(case, ())
