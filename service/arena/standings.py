"""The standings of a contest: what has been played so far, and what it says about each bot."""

from collections import Counter
from collections.abc import Sequence
from math import isfinite
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec

from service.arena.deals import BotFailure, Contest, Deal, MatchResult, Times, merged, percentile_ms
from service.arena.play import FailureKind
from service.arena.sprt import LOWER, UPPER, Sprt, Verdict
from service.arena.statistics import Interval, Scores, elo

MOST_POINTS: Final = 400
"""The most points of a curve that are kept; beyond that every second one is dropped."""


End: TypeAlias = Literal["matches", "verdict", "interrupt"]
"""What ended a run: all matches were played, the sequential test has a verdict, or the user stopped it."""

Elo: TypeAlias = float | Literal["Infinity", "-Infinity"]
"""An Elo difference. JSON has no infinite numbers; Python's float() and JavaScript's Number() read these texts."""


class Row(msgspec.Struct, frozen=True):
    """One bot. `score` is its mean over all pairs with another bot: 1 for the better rank, 0.5 for the same.

    `won`, `drawn` and `lost` count these pairs; of two bots they are the matches. An Elo difference is that to the
    others. `points` is the game's own mean score.
    """

    bot: str
    score: float
    interval: Interval
    elo: Elo
    elo_interval: tuple[Elo, Elo]
    won: int
    drawn: int
    lost: int
    points: float
    answers: int
    ms_p50: float | None
    ms_p99: float | None
    failures: dict[FailureKind, int]
    first_failure: str | None


class SprtState(msgspec.Struct, frozen=True):
    """A sequential test after the deals so far. `verdict` is the accepted hypothesis, None while the test goes on.

    It is `undecided` if the run ended without one.
    """

    elo0: float
    elo1: float
    llr: float
    lower: float
    upper: float
    verdict: Verdict | Literal["undecided"] | None


class Point(NamedTuple):
    """A bot's score and its interval after so many matches."""

    matches: int
    score: float
    interval: Interval


class _Bot:
    def __init__(self) -> None:
        self.scores = Scores()
        self.pairs: Counter[float] = Counter()
        self.points = 0
        self.seats = 0
        self.times: Times = {}
        self.failures: Counter[FailureKind] = Counter()
        self.first_failure: str | None = None
        self.curve: list[Point] = []


class Standings:
    """Adds up deals. The order of the deals matters only for the curves and for a sequential test."""

    def __init__(self, contest: Contest, sprt: Sprt | None = None) -> None:
        self.contest = contest
        self.deals = 0
        self._sprt = sprt
        self._scores: Counter[float] = Counter()
        self._bots = {name: _Bot() for name in contest.contestants}
        self._every = 1

    @property
    def matches(self) -> int:
        return self.deals * len(self.contest.bots)

    def add(self, deal: Deal) -> None:
        self.deals += 1
        names = self.contest.bots
        for name, bot in self._bots.items():
            pairs = [pair_results(names, match, name) for match in deal.matches]
            score = sum(sum(results) / len(results) for results in pairs) / len(pairs)
            for results in pairs:
                bot.pairs.update(results)
            bot.scores = bot.scores.and_one(score)
            if name == names[0]:
                self._scores[score] += 1
            self._add_point(bot)
        for name, times in zip(names, deal.times, strict=True):
            self._bots[name].times = merged(self._bots[name].times, times)
        for number, match in enumerate(deal.matches):
            for name, points in zip(names, match.scores, strict=True):
                self._bots[name].points += points
                self._bots[name].seats += 1
            for failure in match.failures:
                self._add_failure(deal.number, number, failure)
        if len(next(iter(self._bots.values())).curve) > MOST_POINTS:
            self._every *= 2
            for bot in self._bots.values():
                del bot.curve[::2]

    def _add_point(self, bot: _Bot) -> None:
        if self.deals % self._every == 0:
            bot.curve.append(Point(self.matches, bot.scores.mean, bot.scores.interval()))

    def _add_failure(self, deal: int, rotation: int, failure: BotFailure) -> None:
        bot = self._bots[self.contest.bots[failure.position]]
        bot.failures[failure.kind] += 1
        if bot.first_failure is None:
            bot.first_failure = f"{failure.kind} in deal {deal}, rotation {rotation}: {failure.detail}"

    def rows(self) -> Sequence[Row]:
        """A row for each bot, the best first."""
        rows = [_row(name, bot) for name, bot in self._bots.items()]
        return sorted(rows, key=lambda row: -row.score)

    def curves(self) -> dict[str, list[Point]]:
        """The score of each bot and its interval over the matches.

        Of two bots there is only the first, because the other mirrors it.
        """
        names = self.contest.contestants
        wanted = names[:1] if len(names) == 2 else names
        last = {
            name: Point(self.matches, self._bots[name].scores.mean, self._bots[name].scores.interval())
            for name in wanted
        }
        return {
            name: [point for point in self._bots[name].curve if point.matches < self.matches] + [last[name]]
            for name in wanted
        }

    def sprt(self, end: End | None = None) -> SprtState | None:
        """The state of the sequential test; `end` says that the run has ended, and how."""
        if self._sprt is None:
            return None
        ratio = self._sprt.log_likelihood_ratio(self._scores) if self.deals else 0.0
        verdict = self._sprt.verdict(ratio) or (None if end is None else "undecided")
        return SprtState(self._sprt.elo0, self._sprt.elo1, ratio, LOWER, UPPER, verdict)


def pair_results(names: Sequence[str], match: MatchResult, name: str) -> Sequence[float]:
    """The results of a bot in a match, for each pair of one of its seats and a seat of another bot: 1, 0.5 or 0."""
    return [
        1.0 if own < other else 0.5 if own == other else 0.0
        for own, holder in zip(match.ranks, names, strict=True)
        if holder == name
        for other, opponent in zip(match.ranks, names, strict=True)
        if opponent != name
    ]


def _row(name: str, bot: _Bot) -> Row:
    interval = bot.scores.interval()
    return Row(
        bot=name,
        score=bot.scores.mean,
        interval=interval,
        elo=_in_json(elo(bot.scores.mean)),
        elo_interval=(_in_json(elo(interval.low)), _in_json(elo(interval.high))),
        won=bot.pairs[1.0],
        drawn=bot.pairs[0.5],
        lost=bot.pairs[0.0],
        points=bot.points / max(bot.seats, 1),
        answers=sum(bot.times.values()),
        ms_p50=percentile_ms(bot.times, 0.50),
        ms_p99=percentile_ms(bot.times, 0.99),
        failures=dict(bot.failures),
        first_failure=bot.first_failure,
    )


def _in_json(value: float) -> Elo:
    if isfinite(value):
        return value
    return "Infinity" if value > 0 else "-Infinity"
