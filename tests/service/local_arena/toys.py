"""Contests of pure numbers whose true scores are known: no rules, no processes."""

from collections.abc import Iterator
from itertools import product
from random import Random  # noqa: TID251  (a test chooses its own inputs)
from statistics import mean
from typing import Final

LUCK: Final = (-0.25, 0.0, 0.25)
"""What a deal adds to the chances of the first seat. Both bots have this seat once, so that it cancels out."""
DRAWS: Final = 0.1


def pair_scores(seed: int, strength: float) -> Iterator[float]:
    """The scores of deals of two bots, without end; the first bot's true score is `strength`."""
    rng = Random(seed)
    while True:
        luck = rng.choice(LUCK)
        yield mean(_score(rng.random(), strength + sign * luck) for sign in (1, -1))


def _score(drawn: float, strength: float) -> float:
    return 1.0 if drawn < strength - DRAWS / 2 else 0.5 if drawn < strength + DRAWS / 2 else 0.0


SKILLS: Final = (1, 0, 0)
_DICE: Final = (0, 1, 2)


def table_ranks(seed: int) -> Iterator[list[tuple[int, ...]]]:
    """Deals of three bots, without end: the ranks by bot of each rotation. A seat has luck of the deal and of the match."""
    rng = Random(seed)
    while True:
        of_seat = [rng.choice(_DICE) for _ in SKILLS]
        matches = []
        for rotation in range(3):
            totals = [skill + of_seat[(bot - rotation) % 3] + rng.choice(_DICE) for bot, skill in enumerate(SKILLS)]
            matches.append(tuple(1 + sum(other > own for other in totals) for own in totals))
        yield matches


def true_table_score() -> float:
    """The first bot's true score against one of the two others, which are alike."""
    ahead = [SKILLS[0] + a + b - SKILLS[1] - c - d for a, b, c, d in product(_DICE, repeat=4)]
    return mean(1.0 if by > 0 else 0.5 if by == 0 else 0.0 for by in ahead)
