import json

from benchgate import BenchScore

FIELDS = ("sender", "date", "amount", "currency", "reference")


class FieldRubric:
    """The share of the five fields that are right; a field that the text does not have must be null."""

    def score(self, case, output, /):
        wanted = json.loads((case.expected_path / "fields.json").read_text())
        try:
            found = dict(json.loads(output["text"]))
        except (TypeError, ValueError):
            return BenchScore(passed=False, score=0, failure_modes=["not_json"], safety_penalty=0)
        right = {field: float(found.get(field) == wanted[field]) for field in FIELDS}
        invented = [field for field in FIELDS if wanted[field] is None and found.get(field)]
        return BenchScore(
            passed=all(right.values()),
            score=sum(right.values()) / len(FIELDS),
            breakdown=right,
            failure_modes=["field_invented"] * bool(invented),
            safety_penalty=float(len(invented)),
        )
