"""A sequential test of two bots: it stops when the deals show that one is stronger than the other by enough.

It is the generalised sequential probability ratio test (GSPRT) as fishtest, fastchess and OpenBench run it, on the scores
of deals. The distribution of these scores is unknown; each hypothesis fixes only its mean, and the likelihood is the
largest that a distribution with this mean can have.

Sources:
    Wald, Sequential Analysis (1947): the bounds.
    Li, Liu and Ying, Generalized sequential probability ratio test for separate families of hypotheses. Sequential
        Analysis 33 (2014).
    Van den Bergh, The generalized maximum likelihood ratio for the expectation value of a distribution (fishtest's
        support_MLE_multinomial.pdf), proposition 1.1: the distribution with a given mean that is most likely.
"""

from collections.abc import Mapping
from math import log
from typing import Final, Literal, TypeAlias

import msgspec

from service.arena.statistics import expected_score

ERROR: Final = 0.05
"""alpha and beta: how often each hypothesis may be rejected although it is true."""
LOWER: Final = log(ERROR / (1 - ERROR))
UPPER: Final = log((1 - ERROR) / ERROR)

Verdict: TypeAlias = Literal["elo0", "elo1"]
"""The hypothesis that is accepted. `elo1`: the difference is more than `elo0`. `elo0`: it is less than `elo1`.

Where it is between them, both are true, and either may be accepted. Elsewhere only one is, and the other is accepted in
at most about 5 of 100 runs.
"""

_PAIR_SCORES: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
_UNSEEN: Final = 1e-3
"""How often an outcome counts that has not been seen, as in fastchess. Without it a mean may be impossible."""
_STEPS: Final = 60


class Sprt(msgspec.Struct, frozen=True):
    """The hypotheses: the first bot's strength minus the second's is `elo0`, or `elo1`, which is larger.

    Both may be negative.
    """

    elo0: float
    elo1: float

    def log_likelihood_ratio(self, scores: Mapping[float, int]) -> float:
        """How much more likely the scores are under `elo1` than under `elo0`; `scores` counts the deals by score."""
        counts = {value: float(scores.get(value) or _UNSEEN) for value in {*_PAIR_SCORES, *scores}}
        low, high = expected_score(self.elo0), expected_score(self.elo1)
        at_low, at_high = _multiplier(counts, low), _multiplier(counts, high)
        return sum(
            count * log((1 + at_low * (value - low)) / (1 + at_high * (value - high)))
            for value, count in sorted(counts.items())
        )

    def verdict(self, ratio: float) -> Verdict | None:
        """The accepted hypothesis at a log-likelihood ratio; None if the test goes on."""
        return "elo1" if ratio >= UPPER else "elo0" if ratio <= LOWER else None


def _multiplier(counts: Mapping[float, float], mean: float) -> float:
    """Lagrange's multiplier x of the most likely distribution with this mean, which is p(a) / (1 + x (a - mean)).

    It is the root of a falling function between two poles; halving the interval finds it.
    """
    total = sum(counts.values())
    parts = [(value - mean, count / total) for value, count in sorted(counts.items())]
    low, high = -1 / parts[-1][0], -1 / parts[0][0]
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if sum(part * distance / (1 + middle * distance) for distance, part in parts) > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2
