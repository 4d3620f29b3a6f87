"""Whole matches from a seed: with random moves, or with no player acting, so that default actions and timers make all moves."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

import msgspec

from service.games.kit.patterns import AnyOf, sample_action
from service.games.protocol import CLOCK, AnyGame, Decision, IllegalAction, Move, Ring, fold
from service.games.visibility import Action, Effect, Seat
from service.match.randomness import Draw, Draws
from tests.length import LONG

T = TypeVar("T")

START = 1_000_000
"""Match time (ms) at which the table is set up."""
LONGEST = 3_000
"""The number of plies within which every match must end."""


@dataclass(frozen=True, eq=False)
class Table:
    """A game with its number of seats and options.

    `pieces` counts every card, coin and tile of a state, by a name that the test chooses. No move may change these
    counts.
    """

    name: str
    game: AnyGame
    seats: int
    pieces: Callable[[Any], Counter[str]]
    options: Mapping[str, object] = field(default_factory=dict)
    seed: int = 0


def draws(seed: str, counts: Mapping[str, int] | None = None) -> Draws:
    """Draws from any string as a seed. `counts` are the draws already made, by label."""
    return Draws(lambda: hashlib.sha256(seed.encode()).digest(), counts or {})


@dataclass(frozen=True, slots=True)
class Ply:
    """One accepted move. `counts` are the draws made before it, by label."""

    before: Any
    move: Move[Any]
    counts: Mapping[str, int]
    effects: tuple[Effect, ...]
    drawn: tuple[Draw, ...]
    after: Any


@dataclass(frozen=True, slots=True)
class Match:
    """`opening` are the effects that set up the table, and `start` is the state after them."""

    opening: tuple[Effect, ...]
    start: Any
    plies: tuple[Ply, ...]

    @property
    def states(self) -> tuple[Any, ...]:
        return (self.start, *(ply.after for ply in self.plies))

    @property
    def effects(self) -> tuple[Effect, ...]:
        return self.opening + tuple(effect for ply in self.plies for effect in ply.effects)


def key(table: Table) -> str:
    """The seed of a table's draws."""
    return f"{table.name}/{table.seed}"


def in_time(decision: Decision[Any], now: int) -> int:
    """The earliest time, from `now` on, at which a seat may act on a decision or its timer may ring."""
    if decision.seat == CLOCK:
        return max(now, decision.deadline or now)
    at = max(now, decision.opens_at or now)
    return at if decision.deadline is None else min(at, decision.deadline - 1)


def opening(table: Table) -> tuple[tuple[Effect, ...], Draws]:
    rng = draws(key(table))
    options = table.game.options(table.seats, table.options)
    return table.game.setup(table.seats, options, START, rng), rng


@cache
def random_match(table: Table) -> Match:
    """A match in which the acting seats, their actions and the times of timers are random."""
    chance = draws("players " + key(table))

    def choose(state: Any, now: int) -> Iterator[Move[Any]]:
        decisions = table.game.decisions(state)
        for decision in chance.shuffle("who", [one for one in decisions for _ in range(1 if one.seat == CLOCK else 6)]):
            if decision.seat == CLOCK:
                yield Move(CLOCK, Ring(decision.step), in_time(decision, now))
                continue
            legal = tuple(table.game.legal_actions(state, decision.seat))
            first = chance.pick("what", range(len(legal))) if legal else 0
            for action in legal[first:] + legal[:first]:
                at = in_time(decision, now + chance.pick("when", range(1, 2_000)))
                yield Move(decision.seat, sample_action(action, "part", chance), at)

    return _match(table, choose)


@cache
def absent_match(table: Table) -> Match:
    """A match in which no player ever acts: default actions first, otherwise the timer that is due first."""

    def choose(state: Any, now: int) -> Iterator[Move[Any]]:
        decisions = table.game.decisions(state)
        timers = sorted((one for one in decisions if one.seat == CLOCK), key=lambda one: in_time(one, now))
        for one in decisions:
            if one.seat != CLOCK and one.on_timeout is not None:
                yield Move(one.seat, one.on_timeout, in_time(one, now))
        yield from (Move(CLOCK, Ring(timer.step), in_time(timer, now)) for timer in timers)

    return _match(table, choose)


def _match(table: Table, choose: Callable[[Any, int], Iterator[Move[Any]]]) -> Match:
    """Play the first chosen move that the rules accept, until no decision is open or the match is too long."""
    game = table.game
    effects, rng = opening(table)
    state = start = fold(game, None, effects)
    counts, now = _counted({}, rng.drawn), START
    plies: list[Ply] = []
    while len(plies) < LONGEST and game.decisions(state):
        for move in choose(state, now):
            attempt = draws(key(table), counts)
            try:
                next_effects = game.decide(state, move, attempt)
            except IllegalAction:
                continue
            break
        else:
            break
        after = fold(game, state, next_effects)
        plies.append(Ply(state, move, counts, next_effects, tuple(attempt.drawn), after))
        state, counts, now = after, _counted(counts, attempt.drawn), max(now, move.at)
    return Match(effects, start, tuple(plies))


def _counted(counts: Mapping[str, int], drawn: Iterable[Draw]) -> Mapping[str, int]:
    """The number of draws by label, with further draws added."""
    return Counter(counts) + Counter(draw.label for draw in drawn)


@dataclass(frozen=True, slots=True)
class Position:
    """A state, its match time (ms), the draws made before it by label, and the move made in it."""

    state: Any
    now: int
    counts: Mapping[str, int]
    move: Move[Any] | None = None


@cache
def positions(table: Table, most: int) -> tuple[Position, ...]:
    """Up to `most` positions of the random match, spread evenly, including the end."""
    match = random_match(table)
    found = [_position(ply) for ply in match.plies]
    last = match.plies[-1]
    end = Position(last.after, last.move.at, Counter(last.counts) + Counter(draw.label for draw in last.drawn))
    return spread((*found, end), most)


def hiding(table: Table, most: int) -> tuple[Position, ...]:
    """Up to `most` positions of the random match whose move has effects with hidden fields."""
    plies = random_match(table).plies
    return spread([_position(ply) for ply in plies if any(effect.hidden for effect in ply.effects)], most)


def _position(ply: Ply) -> Position:
    return Position(ply.before, ply.move.at, ply.counts, ply.move)


def spread(items: Sequence[T], most: int) -> tuple[T, ...]:
    """Up to `most` of the items at even distances, including the first and the last."""
    if len(items) <= most:
        return tuple(items)
    return tuple(items[i * (len(items) - 1) // (most - 1)] for i in range(most))


class Refusal(msgspec.Struct, frozen=True):
    """What a player receives about a refused action."""

    code: str
    clause: str
    facts: Mapping[str, str | int]


def verdict(
    table: Table, position: Position, move: Move[Any], rng: Draws | None = None
) -> tuple[Effect, ...] | Refusal:
    """The effects of a move, or the refusal."""
    rng = rng or draws(key(table), position.counts)
    try:
        effects: tuple[Effect, ...] = table.game.decide(position.state, move, rng)
    except IllegalAction as no:
        return Refusal(no.code, no.clause, no.facts)
    return effects


def refusals(table: Table) -> Iterator[Refusal]:
    """Refusals in the random match: of actions at a wrong time, by a wrong seat, or with wrong values."""
    for position in positions(table, 16):
        for seat in (CLOCK, *range(table.seats)):
            for action in (Ring("bell"), *spread(pool(table), 20)):
                found = verdict(table, position, Move(seat, action, position.now))
                if isinstance(found, Refusal):
                    yield found


def ways(action: Action) -> tuple[Action, ...]:
    """Actions that a legal entry represents: itself, or a few random choices of its pattern."""
    if not any(isinstance(getattr(action, name), AnyOf) for name in action.__struct_fields__):
        return (action,)
    first = draws("way 0")
    found = [sample_action(action, "part", first)]
    if first.drawn:
        found += [sample_action(action, "part", draws(f"way {i}")) for i in range(1, 4)]
    return distinct(found)


@cache
def pool(table: Table) -> tuple[Action, ...]:
    """Actions that are legal for some seat at some position of the random match."""
    return distinct(
        way
        for position in positions(table, 60 if LONG else 30)
        for seat in range(table.seats)
        for action in spread(tuple(table.game.legal_actions(position.state, seat)), 20)
        for way in ways(action)
    )


def nodes(table: Table, plies: int) -> int:
    """The number of ways in which a match can begin, as sequences of this many listed actions and timers."""

    def count(state: Any, now: int, counts: Mapping[str, int], left: int) -> int:
        if left == 0:
            return 1
        total = 0
        for move in _listed_moves(table, state, now):
            rng = draws(key(table), counts)
            after = fold(table.game, state, table.game.decide(state, move, rng))
            total += count(after, max(now, move.at), _counted(counts, rng.drawn), left - 1)
        return total

    effects, rng = opening(table)
    return count(fold(table.game, None, effects), START, _counted({}, rng.drawn), plies)


def _listed_moves(table: Table, state: Any, now: int) -> Iterator[Move[Any]]:
    for decision in table.game.decisions(state):
        at = in_time(decision, now)
        if decision.seat == CLOCK:
            yield Move(CLOCK, Ring(decision.step), at)
        for entry in table.game.legal_actions(state, decision.seat):
            yield Move(decision.seat, sample_action(entry, "part", draws("node")), at)


def distinct(actions: Iterable[Action]) -> tuple[Action, ...]:
    """The actions without those that have the same bytes as an earlier one."""
    return tuple({msgspec.json.encode(action): action for action in actions}.values())


def deciding(table: Table, state: Any) -> dict[Seat, Decision[Any]]:
    """The decisions of a state by seat, including that of the clock."""
    return {decision.seat: decision for decision in table.game.decisions(state)}
