from benchgate import BenchScore

class EchoRubric:
    def score(self, case, output, /):
        said = case.observation["score"]
        return BenchScore(
            passed=said > 0.5, score=said, breakdown={"judged": said},
            failure_modes=case.observation.get("modes", ()), safety_penalty=0.0,
        )
