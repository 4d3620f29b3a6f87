"""Deals: what a job is asked to play, and what it reports. All of it is JSON, one object a line."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from math import exp, log
from typing import Annotated, Any, Final, TypeAlias

import msgspec

from service.arena.play import FailureKind, Played

_STEP: Final = log(1.02)
"""Times of answers are counted in steps of two per cent, because a long run has millions of them."""

Times: TypeAlias = dict[Annotated[int, msgspec.Meta(ge=0, le=2000)], Annotated[int, msgspec.Meta(ge=1)]]
"""How many answers took so long, by the number of the step."""

UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What decoding JSON of others may raise: it may also be nested too deeply, or be no UTF-8."""


class Contest(msgspec.Struct, frozen=True):
    """What is played: a game, its bots in the seats' order, its options, and the seed (hex) that all deals follow from.

    `versions` has a hash of the files of each bot, or what the bot itself calls its version.
    """

    game: str
    bots: tuple[str, ...]
    options: dict[str, Any]
    seed: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
    limit_ms: int
    versions: tuple[str, ...] = ()

    @property
    def contestants(self) -> tuple[str, ...]:
        """The different bots, in order."""
        return tuple(dict.fromkeys(self.bots))

    def difference(self, other: "Contest") -> str | None:
        """The first thing that is different in another contest, in words; None if it is the same."""
        for name in self.__struct_fields__:
            if name != "versions" and (value := getattr(other, name)) != getattr(self, name):
                shown = ",".join(value) if isinstance(value, tuple) else value
                return f"{name} {shown}"
        for bot, ours, theirs in zip_longest(self.bots, self.versions, other.versions):
            if ours != theirs:
                return f"another version of {bot}, whose files have changed since"
        return None

    def seated(self, rotation: int) -> tuple[int, ...]:
        """For each seat, the position in `bots` of the bot that has it in this rotation."""
        return tuple((seat + rotation) % len(self.bots) for seat in range(len(self.bots)))


class BotFailure(msgspec.Struct, frozen=True):
    """The failure of the bot at a position of the contest.

    The rest of its seat's match was played by default actions.
    """

    position: int
    kind: FailureKind
    detail: str


class MatchResult(msgspec.Struct, frozen=True):
    """Ranks (1 is the best) and scores, by the position of the bots in the contest."""

    ranks: tuple[int, ...]
    scores: tuple[int, ...]
    failures: tuple[BotFailure, ...] = ()


class Deal(msgspec.Struct, frozen=True, tag="deal"):
    """A deal that was played once in each rotation. `times` are those of each position in the contest."""

    number: Annotated[int, msgspec.Meta(ge=0)]
    matches: tuple[MatchResult, ...]
    times: tuple[Times, ...]


class Broken(msgspec.Struct, frozen=True, tag="broken"):
    """A job ends, because a bot cannot be loaded or the rules failed."""

    fault: str


Report: TypeAlias = Deal | Broken


class CalledAt(msgspec.Struct, frozen=True):
    """Where a bot is called, and the secret that signs the calls."""

    url: str
    secret: bytes


class JobOrder(msgspec.Struct, frozen=True):
    """The first line to a job; the numbers of deals follow. `export` is a folder for match files, `bot_log` a file.

    Paths are bytes, because they need not be UTF-8. `called` has the bots that are called, by their names in the contest. A name
    has no query of a URL. So neither secrets nor keys in a query are in a file, in an argument or in an error.
    """

    contest: Contest
    export: bytes | None = None
    bot_log: bytes | None = None
    called: Mapping[str, CalledAt] = {}


def result(played: Played, seated: Sequence[int]) -> MatchResult:
    """The result of a match by the bots' positions; `seated` has the position of each seat's bot."""
    ranks, scores = [0] * len(seated), [0] * len(seated)
    for seat, position in enumerate(seated):
        ranks[position], scores[position] = played.outcome.ranks[seat], played.outcome.scores[seat]
    failures = (BotFailure(seated[failure.seat], failure.kind, failure.detail) for failure in played.failures)
    return MatchResult(tuple(ranks), tuple(scores), tuple(failures))


def counted(times_us: Sequence[int]) -> Times:
    """Times of answers in microseconds, counted by steps."""
    return dict(sorted(Counter(round(log(max(time, 1)) / _STEP) for time in times_us).items()))


def merged(one: Mapping[int, int], other: Mapping[int, int]) -> Times:
    return dict(sorted((Counter(one) + Counter(other)).items()))


def percentile_ms(times: Mapping[int, int], share: float) -> float | None:
    """The time in milliseconds that this share of the answers did not exceed, to about one per cent."""
    wanted = share * sum(times.values())
    reached = 0
    for step, number in sorted(times.items()):
        reached += number
        if reached >= wanted:
            return exp(step * _STEP) / 1000
    return None
