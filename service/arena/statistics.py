"""How strong a bot is, as far as the deals show it: score, 95 % interval and Elo difference.

A deal is played once for each rotation of the seats, and its matches are not independent: they have the same cards. A
bot's score of a deal is therefore the mean of its matches, and the deal is the unit of all statistics. For two bots these
are the five outcomes of a game pair that chess calls pentanomial.

Sources:
    Wilson, Probable inference, the law of succession, and statistical inference. JASA 22 (1927): the score interval.
    Korn and Graubard, Confidence intervals for proportions with small expected number of positive counts estimated from
        survey data. Survey Methodology 24 (1998): a design effect and Student's t in an interval for a proportion.
    Abramowitz and Stegun, Handbook of Mathematical Functions (1964), 26.7.5: the quantile of Student's t.
"""

from math import exp, inf, log, log10, sqrt
from statistics import NormalDist
from typing import Final, NamedTuple, Self

CONFIDENCE: Final = 0.95

_Z: Final = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


class Interval(NamedTuple):
    low: float
    high: float


class Scores(NamedTuple):
    """The number of deals, the sum of a bot's scores of them (each 0 to 1), and the sum of their squares."""

    deals: int = 0
    total: float = 0.0
    squares: float = 0.0

    def and_one(self, score: float) -> Self:
        return self._replace(deals=self.deals + 1, total=self.total + score, squares=self.squares + score * score)

    @property
    def mean(self) -> float:
        """The bot's score; 0.5 before the first deal."""
        return self.total / self.deals if self.deals else 0.5

    def interval(self) -> Interval:
        """The 95 % interval of the true score: Wilson's, for as many matches as the deals are worth.

        The design effect is the variance of a deal's score divided by that of a single win or loss. One more deal with
        the largest variance is added to it, so that deals that all end alike do not give an interval without length.
        """
        if self.deals < 2:
            return Interval(0.0, 1.0)
        mean, deals = min(max(self.mean, 0.0), 1.0), self.deals
        largest = mean * (1 - mean)
        variance = max(0.0, self.squares - deals * mean * mean) / (deals - 1)
        effect = min(1.0, variance / largest) if largest > 0 else 1.0
        worth = deals * deals / (effect * (deals - 1) + 1)
        t = student_t(deals - 1)
        shrink = 1 + t * t / worth
        middle = (mean + t * t / (2 * worth)) / shrink
        half = t / shrink * sqrt(largest / worth + t * t / (4 * worth * worth))
        # At the ends the interval reaches 0 or 1 exactly; rounding must not turn this into a huge but finite Elo
        # difference.
        return Interval(
            0.0 if mean == 0 else max(0.0, middle - half),
            1.0 if mean == 1 else min(1.0, middle + half),
        )


def student_t(freedom: int) -> float:
    """The two-sided 95 % quantile of Student's t.

    It is exact for one and two degrees of freedom, then within 1 % and soon less.
    """
    if freedom == 1:
        return 12.706204736432095
    if freedom == 2:
        return 4.302652729911275
    z: float = _Z
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum((term / pow(freedom, power) for power, term in enumerate(terms, 1)), 0.0)


def elo(score: float) -> float:
    """The Elo difference at which this score is expected; infinite for 0 and 1."""
    if score <= 0:
        return -inf
    return inf if score >= 1 else -400 * log10(1 / score - 1)


def expected_score(elo_difference: float) -> float:
    """The inverse of `elo`: the logistic model of chess."""
    return 1 / (1 + exp(-elo_difference * log(10) / 400))
