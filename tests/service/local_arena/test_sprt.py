"""The sequential test is seldom wrong, and its ratio equals that of a second computation."""

from collections import Counter
from math import inf, isclose, log

import pytest

from service.arena.sprt import LOWER, UPPER, Sprt
from service.arena.statistics import expected_score
from tests.length import LONG
from tests.service.local_arena.toys import pair_scores

SEEDS = 200
MOST_WRONG = 20
TEST = Sprt(0, 30) if LONG else Sprt(0, 100)


@pytest.mark.long
@pytest.mark.parametrize("truth", ["elo0", "elo1"])
def test_at_most_20_of_200_verdicts_are_wrong(truth: str) -> None:
    strength = expected_score(TEST.elo0 if truth == "elo0" else TEST.elo1)
    verdicts: Counter[str] = Counter()
    for seed in range(SEEDS):
        counts: Counter[float] = Counter()
        for score in pair_scores(seed, strength):
            counts[score] += 1
            if verdict := TEST.verdict(TEST.log_likelihood_ratio(counts)):
                verdicts[verdict] += 1
                break
    print(f"{TEST}, true is {truth}: {dict(verdicts)}")
    assert verdicts.total() == SEEDS
    assert SEEDS - verdicts[truth] <= MOST_WRONG


def best_log_likelihood(counts: dict[float, float], mean: float) -> float:
    """How much less likely the scores are with this mean than with their own, by the dual problem of the empirical
    likelihood: the largest value of the sum of log(1 + x (a - mean)) over x.
    """
    low = -1 / (max(counts) - mean) + 1e-12
    high = -1 / (min(counts) - mean) - 1e-12

    def value(x: float) -> float:
        return sum(count * log(1 + x * (score - mean)) for score, count in counts.items())

    for _ in range(400):
        third = (high - low) / 3
        low, high = (low + third, high) if value(low + third) < value(high - third) else (low, high - third)
    return value((low + high) / 2)


@pytest.mark.parametrize(
    "counts",
    [
        {0.0: 3, 0.25: 12, 0.5: 40, 0.75: 20, 1.0: 9},
        {0.0: 39, 0.25: 8843, 0.5: 26675, 0.75: 9240, 1.0: 44},
        {1.0: 25},
        {0.5: 30},
        {0.0: 5, 1.0: 1},
    ],
)
@pytest.mark.parametrize("test", [Sprt(0, 5), Sprt(-20, 60)])
def test_the_ratio_is_that_of_the_best_distributions_with_each_mean(counts: dict[float, int], test: Sprt) -> None:
    seen = {score: float(counts.get(score, 1e-3)) for score in (0.0, 0.25, 0.5, 0.75, 1.0)}
    parts = [best_log_likelihood(seen, expected_score(elo)) for elo in (test.elo0, test.elo1)]
    assert isclose(test.log_likelihood_ratio(counts), parts[0] - parts[1], abs_tol=1e-6)


def test_with_many_deals_the_ratio_is_that_of_a_normal_distribution() -> None:
    """As in fishtest's LLR_alt2: (s1 - s0) (2 s - s0 - s1) / (2 variance), for each deal."""
    counts = {0.0: 39, 0.25: 8843, 0.5: 26675, 0.75: 9240, 1.0: 44}
    deals = sum(counts.values())
    mean = sum(score * count for score, count in counts.items()) / deals
    variance = sum((score - mean) ** 2 * count for score, count in counts.items()) / deals
    low, high = expected_score(0.5), expected_score(2.5)
    normal = deals * (high - low) * (2 * mean - low - high) / (2 * variance)
    assert isclose(Sprt(0.5, 2.5).log_likelihood_ratio(counts), normal, rel_tol=1e-3)


def test_the_bounds_are_those_of_wald() -> None:
    assert (round(LOWER, 3), round(UPPER, 3)) == (-2.944, 2.944)
    verdicts = [Sprt(0, 5).verdict(ratio) for ratio in (-inf, LOWER, -2.9, 0.0, 2.9, UPPER)]
    assert verdicts == ["elo0", "elo0", None, None, None, "elo1"]
