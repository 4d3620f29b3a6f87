"""The numbers of the model of ratings: they stay the same in each release, and follow from the formulas of VERIFYING.md."""

from collections.abc import Sequence
from math import exp, sqrt
from typing import Final, TypeAlias

import pytest

from service.match.randomness import Draws
from service.match.rating import MILLION, Rating, rated

BETA: Final = 25 / 6
TAU: Final = 25 / 300
KAPPA: Final = 0.0001


NEW: Final = (25_000_000, 8_333_333)
VETERAN: Final = (40_000_000, 900_000)
BEGINNER: Final = (10_000_000, 6_500_000)

Pair: TypeAlias = tuple[int, int]
"""`mu` and `sigma`, in millionths."""

# Computed by openskill 6.2.0. They never change: stored entries are checked against the model.
KNOWN: Final[tuple[tuple[tuple[Pair, ...], tuple[int, ...], tuple[Pair, ...]], ...]] = (
    ((NEW, NEW), (1, 2), ((27_635_389, 8_065_901), (22_364_611, 8_065_901))),
    ((NEW, NEW), (1, 1), ((25_000_000, 8_065_901), (25_000_000, 8_065_901))),
    (
        ((31_204_117, 4_120_556), (22_000_001, 7_999_999)),
        (2, 1),
        ((30_096_027, 4_097_070), (26_175_542, 7_648_249)),
    ),
    (
        ((31_204_117, 4_120_556), (22_000_001, 7_999_999)),
        (1, 1),
        ((30_885_549, 4_097_070), (23_200_439, 7_648_249)),
    ),
    (
        (NEW, VETERAN, BEGINNER),
        (1, 2, 3),
        ((29_218_198, 8_134_933), (39_960_352, 903_805), (9_484_294, 6_439_314)),
    ),
    (
        (NEW, VETERAN, BEGINNER),
        (3, 1, 1),
        ((23_804_991, 8_134_933), (39_986_586, 903_817), (11_420_944, 6_473_475)),
    ),
    (
        ((25_000_000, 5_000_000), (27_500_000, 6_000_000), (-3_000_000, 2_000_000), NEW),
        (2, 2, 4, 1),
        ((24_599_125, 4_951_599), (26_571_130, 5_892_846), (-3_028_787, 2_001_467), (28_403_944, 8_157_928)),
    ),
    (
        (NEW,) * 5,
        (5, 1, 3, 3, 2),
        (
            (22_388_732, 8_180_401),
            (27_666_827, 8_290_970),
            (24_055_499, 8_180_401),
            (24_055_499, 8_180_401),
            (26_833_443, 8_240_554),
        ),
    ),
)


def by_formulas(befores: Sequence[Rating], ranks: Sequence[int]) -> tuple[Rating, ...]:
    """The ratings after a match, by the formulas of VERIFYING.md."""
    seats = range(len(ranks))
    s = [sqrt((one.sigma / MILLION) ** 2 + TAU**2) for one in befores]
    c = sqrt(sum(one**2 + BETA**2 for one in s))
    e = [exp(one.mu / MILLION / c) for one in befores]
    sums = [sum(e[i] for i in seats if ranks[i] >= ranks[q]) for q in seats]
    equal = [sum(rank == ranks[q] for rank in ranks) for q in seats]
    after = []
    for i in seats:
        behind = [q for q in seats if ranks[q] <= ranks[i]]
        omega = sum(((q == i) - e[i] / sums[q]) / equal[q] for q in behind)
        delta = sum(e[i] / sums[q] * (1 - e[i] / sums[q]) / equal[q] for q in behind)
        mu = befores[i].mu / MILLION + omega * s[i] ** 2 / c
        sigma = s[i] * sqrt(max(1 - delta * s[i] ** 3 / c**3, KAPPA))
        after.append(Rating(round(mu * MILLION), round(sigma * MILLION)))
    return tuple(after)


def differ_by_more_than(millionths: int, some: Sequence[Rating], others: Sequence[Rating]) -> bool:
    return any(
        abs(one.mu - other.mu) > millionths or abs(one.sigma - other.sigma) > millionths
        for one, other in zip(some, others, strict=True)
    )


def test_ratings_follow_from_the_formulas() -> None:
    """Also if players share ranks, are very sure, or are much better than others."""
    chance = Draws(lambda: bytes(32), {})
    for number in range(500):
        befores = [
            Rating(chance.pick("mu", range(-20_000_000, 60_000_000)), chance.pick("sigma", range(500_000, 9_000_000)))
            for _ in range(2 + number % 4)
        ]
        ranks = [chance.pick("rank", (1, 1, 2, 3)) for _ in befores]
        found = rated(befores, ranks)
        assert not differ_by_more_than(1, found, by_formulas(befores, ranks)), (befores, ranks, found)


@pytest.mark.parametrize(("befores", "ranks", "afters"), KNOWN)
def test_ratings_are_those_of_earlier_releases(
    befores: tuple[Pair, ...], ranks: tuple[int, ...], afters: tuple[Pair, ...]
) -> None:
    found = rated([Rating(*one) for one in befores], ranks)
    assert not differ_by_more_than(1, found, [Rating(*one) for one in afters]), found
