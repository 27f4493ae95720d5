"""Published and high-precision reference cases; see tests/data/README.md."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from benchgate.statistics.bounds import gaffke_lower, gaffke_upper
from benchgate.statistics.paired import paired_t
from benchgate.statistics.sign_flip import sign_flip
from benchgate.statistics.welch import welch_test

if TYPE_CHECKING:
    from benchgate.statistics import TTest

pytestmark = pytest.mark.filterwarnings("error")

HUGE = "huge_n_summary_1e6"
"""A million values, which take seconds."""
DATA = Path(__file__).parents[2] / "data" / "statistics_reference.json"
REFERENCE: dict[str, list[dict[str, Any]]] = json.loads(DATA.read_text(encoding="utf-8"))


def cases(section: str) -> list[Any]:
    return [
        pytest.param(
            case, id=(name := case.get("name")), marks=pytest.mark.nightly if name == HUGE else ()
        )
        for case in REFERENCE[section]
    ]


def run_welch(case: dict[str, Any]) -> TTest:
    if "summary" not in case:
        return welch_test(case["baseline"], case["candidate"])
    return welch_test(sample(**case["summary"]["base"]), sample(**case["summary"]["cand"]))


def sample(n: int, mean: float, sd: float) -> list[float]:
    """Return a sample of this size, mean and standard deviation: only two of its values are not the mean."""
    away = sd * math.sqrt((n - 1) / 2)
    return [mean - away, mean + away, *[mean] * (n - 2)]


@pytest.mark.parametrize("case", cases("welch"))
def test_welch_agrees_with_60_digit_arithmetic(case: dict[str, Any]) -> None:
    expected = case["expected"]
    result = run_welch(case)
    rel = 1e-6 if case["kind"] == "extreme" else 1e-9
    for field in ("delta", "se", "t", "df", "p_two_sided", "p_greater", "p_less"):
        assert getattr(result, field) == pytest.approx(expected[field], rel=rel, abs=0.0), field
    low, high = expected["ci95_two_sided"]
    assert result.ci_low == pytest.approx(low, rel=rel, abs=0.0)
    assert result.ci_high == pytest.approx(high, rel=rel, abs=0.0)


@pytest.mark.parametrize("case", [c for c in REFERENCE["welch"] if "published" in c])
def test_welch_agrees_with_published_values(case: dict[str, Any]) -> None:
    published = case["published"]
    result = run_welch(case)
    checked = 0
    for field, tolerance in (("t", "tol_t"), ("df", "tol_df"), ("p_two_sided", "tol_p")):
        if tolerance in published:
            assert getattr(result, field) == pytest.approx(
                published[field], rel=0.0, abs=published[tolerance]
            )
            checked += 1
    assert checked > 0


@pytest.mark.parametrize("case", [c for c in REFERENCE["welch"] if "r_4_2_2" in c])
def test_welch_agrees_with_r(case: dict[str, Any]) -> None:
    r = case["r_4_2_2"]
    result = run_welch(case)
    for field, name in (
        ("t", "t"),
        ("df", "df"),
        ("p_two_sided", "p_two_sided"),
        ("p_greater", "p_greater"),
        ("p_less", "p_less"),
        ("ci_low", "ci_lo"),
        ("ci_high", "ci_hi"),
    ):
        assert getattr(result, field) == pytest.approx(r[name], rel=1e-9, abs=0.0), field


@pytest.mark.parametrize(
    "case", [c for c in cases("policy") if "error" not in c.values[0]["expect"]]
)
def test_degenerate_arms_have_a_delta_and_no_p(case: dict[str, Any]) -> None:
    result = welch_test(case["baseline"], case["candidate"])
    assert result.delta == case["expect"]["delta"]
    assert result.se == 0.0
    assert result.t is result.df is result.p_two_sided is result.p_greater is result.p_less is None
    assert result.ci_low is result.ci_high is None


def test_one_case_in_an_arm_is_insufficient_not_an_error() -> None:
    (case,) = [c for c in REFERENCE["policy"] if c["expect"].get("error") == "insufficient_samples"]
    result = welch_test(case["baseline"], case["candidate"])
    assert result.delta == 0.5
    assert result.se is result.t is result.p_greater is result.ci_low is None


def test_nan_is_refused_with_its_place() -> None:
    (case,) = [c for c in REFERENCE["policy"] if c["expect"].get("error") == "non_finite_value"]
    candidate = [float(x) for x in case["candidate"]]
    with pytest.raises(ValueError, match=r"candidate\[1\] is nan"):
        welch_test(case["baseline"], candidate)


@pytest.mark.parametrize("case", cases("binomial_lower_bounds"))
def test_gaffke_on_binary_scores_is_clopper_pearson(case: dict[str, Any]) -> None:
    k, n = case["k"], case["n"]
    scores = [1] * k + [0] * (n - k)
    expected = case["clopper_pearson_lower95_one_sided"]
    assert gaffke_lower(scores) == pytest.approx(expected, rel=1e-9, abs=1e-15)
    low, high = case["clopper_pearson_ci95_two_sided"]
    assert gaffke_lower(scores, confidence=0.975) == pytest.approx(low, rel=1e-9, abs=1e-15)
    assert gaffke_upper(scores, confidence=0.975) == pytest.approx(high, rel=1e-9)


@pytest.mark.parametrize("case", cases("gaffke_lower_bounds"))
def test_gaffke_agrees_with_the_reference(case: dict[str, Any]) -> None:
    low, high = case["support"]
    result = gaffke_lower(case["x"], confidence=1 - case["alpha"], low=low, high=high)
    assert result == pytest.approx(case["lower"], rel=1e-9)


def test_where_bca_is_undefined_gaffke_gives_the_exact_bound() -> None:
    (case,) = [c for c in REFERENCE["bca"] if c["lower"] is None]
    assert gaffke_lower(case["x"]) == pytest.approx(0.05 ** (1 / len(case["x"])), rel=1e-12)


@pytest.mark.parametrize("case", [c for c in cases("bca") if c.values[0]["lower"] is not None])
def test_gaffke_is_below_the_bootstrap_bound_which_undercovers(case: dict[str, Any]) -> None:
    low = -1.0 if min(case["x"]) < 0 else 0.0
    result = gaffke_lower(case["x"], confidence=1 - case["alpha_one_sided"], low=low)
    assert low < result < case["lower"]


@pytest.mark.parametrize("case", cases("paired"))
def test_paired_tests_agree_with_the_reference(case: dict[str, Any]) -> None:
    differences = [c - b for b, c in zip(case["baseline"], case["candidate"], strict=True)]
    t = paired_t(differences, is_skewed=False)
    for field in ("t", "df", "p_two_sided", "p_greater"):
        assert getattr(t, field) == pytest.approx(case[field], rel=1e-9), field
    flip = sign_flip(differences)
    assert flip.method == "exact"
    assert flip.p_greater == case["signflip_exact_p_greater_float"]
    assert flip.p_two_sided == case["signflip_exact_p_two_sided_float"]


@pytest.mark.parametrize("ties", [0, 40])
@pytest.mark.parametrize("case", cases("mcnemar_exact"))
def test_sign_flip_on_binary_pairs_is_exact_mcnemar(case: dict[str, Any], ties: int) -> None:
    better, worse = case["candidate_only_correct"], case["baseline_only_correct"]
    result = sign_flip([1] * better + [-1] * worse + [0] * ties)
    assert result.method == "exact"
    assert result.p_greater == pytest.approx(case["p_greater_exact"], rel=1e-12)
