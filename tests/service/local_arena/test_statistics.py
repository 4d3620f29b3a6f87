"""Intervals contain the true score, and each figure equals that of a second computation."""

from collections.abc import Callable
from itertools import islice
from math import atan, cos, inf, isclose, sqrt

import pytest

from service.arena.deals import Contest, Deal, MatchResult
from service.arena.standings import Standings
from service.arena.statistics import Interval, Scores, elo, expected_score, student_t
from tests.length import LENGTH, LONG
from tests.service.local_arena.toys import pair_scores, table_ranks, true_table_score

RUNS = 1200 if LONG else 600
TABLE_RUNS = 400 if LONG else 100
DEALS = 100


def root(rising: Callable[[float], float], low: float, high: float) -> float:
    """The zero of a rising function."""
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return (low + high) / 2


def scores_of(values: list[float]) -> Scores:
    scores = Scores()
    for value in values:
        scores = scores.and_one(value)
    return scores


@pytest.mark.long
@pytest.mark.parametrize("strength", [0.5, 0.6, 0.7] if LONG else [0.6])
def test_intervals_of_two_bots_contain_the_true_score_in_93_to_97_of_100(strength: float) -> None:
    held = 0
    for seed in range(RUNS * LENGTH):
        low, high = scores_of(list(islice(pair_scores(seed, strength), DEALS))).interval()
        held += low <= strength <= high
    assert 0.93 <= held / (RUNS * LENGTH) <= 0.97


@pytest.mark.long
def test_intervals_of_three_bots_contain_the_true_score_in_93_to_97_of_100() -> None:
    held = 0
    for seed in range(TABLE_RUNS * LENGTH):
        standings = Standings(Contest("toy", ("a", "b", "c"), {}, "", 0))
        for number, matches in enumerate(islice(table_ranks(seed), DEALS)):
            results = tuple(MatchResult(ranks, (0, 0, 0)) for ranks in matches)
            standings.add(Deal(number, results, ({}, {}, {})))
        (row,) = [row for row in standings.rows() if row.bot == "a"]
        held += row.interval.low <= true_table_score() <= row.interval.high
    assert 0.93 <= held / (TABLE_RUNS * LENGTH) <= 0.97


def test_matches_of_one_deal_count_as_one_observation() -> None:
    """Deals that cancel out say much more about the score than as many independent matches."""
    cancelling, winning = scores_of([0.5] * 100), scores_of([0.0, 1.0] * 50)
    assert cancelling.mean == winning.mean == 0.5
    widths = [interval.high - interval.low for interval in (cancelling.interval(), winning.interval())]
    assert 0 < widths[0] < widths[1] / 5


@pytest.mark.parametrize(
    "values", [[0.0, 0.25, 0.5, 0.75, 1.0] * 4, [0.75] * 30 + [0.25] * 3, [1.0] * 12, [0.0] * 3, [1.0, 0.5], [0.5] * 50]
)
def test_the_interval_has_the_means_that_differ_by_t_standard_errors_from_the_score(values: list[float]) -> None:
    """Wilson's interval by its definition: the true scores whose distance from the mean is t standard errors."""
    deals, mean = len(values), sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / (deals - 1)
    effect = min(1.0, variance / (mean * (1 - mean))) if 0 < mean < 1 else 1.0
    effect = ((deals - 1) * effect + 1) / deals

    def beyond(true: float) -> float:
        return (true - mean) ** 2 - student_t(deals - 1) ** 2 * effect * true * (1 - true) / deals

    low = 0.0 if mean == 0 else root(lambda true: -beyond(true), 0.0, mean)
    high = 1.0 if mean == 1 else root(beyond, mean, 1.0)
    found = scores_of(values).interval()
    assert isclose(found.low, low, abs_tol=1e-9)
    assert isclose(found.high, high, abs_tol=1e-9)


def test_before_the_second_deal_the_interval_is_from_0_to_1() -> None:
    assert Scores().interval() == scores_of([1.0]).interval() == Interval(0.0, 1.0)


@pytest.mark.parametrize("freedom", [1, 2, 3, 5, 9, 30, 200])
def test_t_leaves_out_five_per_cent_of_its_density(freedom: int) -> None:
    """By integrating the density (1 + x²/n)^(-(n+1)/2), with x = √n tan u, over the whole line and up to t."""
    steps = 20_000
    weights = [0.0] * (steps + 1)
    quarter = 1.5707963267948966
    for step in range(steps + 1):
        weights[step] = cos(quarter * step / steps) ** (freedom - 1)
    total = sum(weights) - weights[0] / 2 - weights[-1] / 2
    until = atan(student_t(freedom) / sqrt(freedom)) / quarter * steps
    inside = sum(weights[: int(until) + 1]) - weights[0] / 2 + (until - int(until) - 0.5) * weights[int(until)]
    assert isclose(inside / total, 0.95, abs_tol=0.002)


@pytest.mark.parametrize("score", [0.001, 0.25, 0.5, 0.64, 0.9999])
def test_elo_is_the_difference_at_which_the_score_is_expected(score: float) -> None:
    assert isclose(elo(score), root(lambda by: 1 / (1 + 10 ** (-by / 400)) - score, -4000, 4000), abs_tol=1e-6)
    assert isclose(expected_score(elo(score)), score)


def test_elo_of_a_score_without_losses_or_wins_is_infinite() -> None:
    assert (elo(1.0), elo(0.0)) == (inf, -inf)
    for score in (0.0, 1.0):
        ends = scores_of([score] * 23).interval()
        assert score in ends, "the score is one end of its interval"
    assert round(elo(0.75)) == 191, "three quarters of the points are 191 Elo in chess"
