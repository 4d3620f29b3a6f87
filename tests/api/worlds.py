"""Pairs of matches that differ only in what a viewer cannot know, as the events that a service would have recorded.

At the fork, a random draw that the viewer does not see has another outcome, or another seat makes another private choice.
After it, both matches continue with moves that look the same, for as long as the viewer cannot tell the matches apart.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeVar

import msgspec
from msgspec import UNSET

from events.chain import Draft
from events.record import canonical
from service.games.protocol import CLOCK, Move, Rng, fold
from service.games.visibility import Effect, Seat, Viewer, redact
from service.match.events import Acted, MatchStarted, Rang
from service.match.randomness import Draw
from tests.length import LONG
from tests.service.games.matches import (
    START,
    Ply,
    Position,
    Refusal,
    Table,
    deciding,
    distinct,
    draws,
    key,
    opening,
    random_match,
    spread,
    verdict,
    ways,
)

T = TypeVar("T")

FORKS: Final = 8 if LONG else 4
"""For each kind of fork: the maximum number of events at which one is tried, and of alternatives tried at each."""
OTHER_SEED: Final = "another seed of "

_encode: Final = msgspec.json.encode


class OtherDraws:
    """Draws of which the n-th has another outcome: two items of a shuffle are swapped, or another item is picked."""

    def __init__(self, rng: Rng, nth: int, one: int, other: int) -> None:
        self._rng, self._nth, self._one, self._other = rng, nth, one, other
        self.drawn: list[Draw] = []

    def shuffle(self, label: str, items: Sequence[T]) -> tuple[T, ...]:
        mixed = list(self._rng.shuffle(label, items))
        if len(self.drawn) == self._nth and mixed:
            one, other = self._one % len(mixed), self._other % len(mixed)
            mixed[one], mixed[other] = mixed[other], mixed[one]
        self.drawn.append(Draw(label, tuple(mixed)))
        return tuple(mixed)

    def pick(self, label: str, items: Sequence[T]) -> T:
        item = self._rng.pick(label, items)
        item = items[self._one % len(items)] if len(self.drawn) == self._nth else item
        self.drawn.append(Draw(label, item))
        return item


@dataclass(frozen=True, slots=True)
class Step:
    """One event of a history: the move that caused it (None for the start), its effects, and the state after them."""

    at: int
    move: Move[Any] | None
    effects: tuple[Effect, ...]
    drawn: tuple[Draw, ...]
    state: Any

    def draft(self) -> Draft:
        drawn = self.drawn or UNSET
        if self.move is None:
            return Draft("match_started", "worker", canonical(MatchStarted(self.drawn, self.effects)))
        if self.move.seat == CLOCK:
            return Draft("timer", "worker", canonical(Rang(self.move.action.label, self.effects, drawn)))
        acted = Acted(self.move.seat, self.move.action, self.effects, drawn)
        return Draft("action", f"seat:{self.move.seat}", canonical(acted))

    def look(self, table: Table, viewer: Viewer) -> bytes:
        """All that a viewer sees: the action, its effects, and the observation after them."""
        done = None if self.move is None else (self.move.seat, redact(self.move.action, viewer, self.move.seat))
        followed = [redact(effect, viewer) for effect in self.effects]
        return _encode((done, followed, table.game.observation(self.state, viewer)))


@dataclass(frozen=True, eq=False)
class Pair:
    """Two match histories of the same length that look the same to each of the `viewers`; they differ from step `fork` on."""

    table: Table
    kind: str
    viewers: tuple[Viewer, ...]
    here: tuple[Step, ...]
    there: tuple[Step, ...]
    fork: int

    def seats_to_move(self) -> tuple[Seat, ...]:
        """The viewers that have an open decision at the end."""
        return tuple(seat for seat in deciding(self.table, self.here[-1].state) if seat in self.viewers)

    def __str__(self) -> str:
        viewers = ",".join("spectator" if viewer is None else str(viewer) for viewer in self.viewers)
        return f"{self.table.name}, {self.kind} {self.fork}-{len(self.here)}, for {viewers}"


@cache
def pairs(table: Table) -> tuple[Pair, ...]:
    """Pairs of the table, chosen from all that were found.

    For each kind of fork: a pair that no viewer can tell apart, and one that some seat can. For each viewer: a pair that no
    viewer can tell apart, and one that another seat can, if there is any. Pairs in which most viewers have to decide come first,
    then longer ones. The short form leaves out pairs that add no kind or viewer.
    """
    viewers: tuple[Viewer, ...] = (None, *range(table.seats))
    found = [twin for viewer in viewers for twin in _twins(table, viewer)]
    found.sort(key=lambda pair: (len(pair.seats_to_move()), len(pair.here), len(pair.viewers)), reverse=True)
    chosen: dict[object, Pair] = {}
    for pair in found:
        is_known = len(pair.viewers) < len(viewers)
        chosen.setdefault((pair.kind, is_known), pair)
        for viewer in pair.seats_to_move() if is_known else pair.viewers:
            chosen.setdefault((viewer, is_known), pair)
    pairs = tuple(dict.fromkeys(chosen.values()))
    return pairs if LONG else _fewest(pairs, len(viewers))


def _fewest(pairs: Iterable[Pair], viewers: int) -> tuple[Pair, ...]:
    """The pairs that cover a kind or a viewer which earlier pairs do not, or are the first with or without a seat that can tell
    them apart.
    """
    covered: set[object] = set()
    chosen = []
    for pair in pairs:
        covers = {pair.kind, len(pair.viewers) < viewers, *(f"viewer {viewer}" for viewer in pair.viewers)}
        if not covers <= covered:
            covered |= covers
            chosen.append(pair)
    return tuple(chosen)


def alike_moves(table: Table, move: Move[Any], viewer: Viewer, there: Any) -> Iterator[Move[Any]]:
    """Moves of the same seat that look like this one to the viewer, in a state that also looks the same."""
    yield move
    if move.seat not in (viewer, CLOCK):
        seen = _encode(redact(move.action, viewer, move.seat))
        legal = spread(tuple(table.game.legal_actions(there, move.seat)), 60)
        for action in distinct(action for entry in legal for action in ways(entry)):
            if action != move.action and _encode(redact(action, viewer, move.seat)) == seen:
                yield Move(move.seat, action, move.at)


def _recorded(table: Table) -> tuple[Step, ...]:
    """The random match as recorded events."""
    match = random_match(table)
    steps = [Step(START, None, match.opening, tuple(opening(table)[1].drawn), match.start)]
    for ply in match.plies:
        steps.append(Step(max(steps[-1].at, ply.move.at), ply.move, ply.effects, ply.drawn, ply.after))
    return tuple(steps)


def _played(table: Table, before: Step, ply: Ply, move: Move[Any], rng: Any) -> Step | None:
    """The step that results if `move` replaces the move of a ply; None if the rules refuse it."""
    effects = verdict(table, Position(before.state, move.at, ply.counts), move, rng)
    if isinstance(effects, Refusal):
        return None
    after = fold(table.game, before.state, effects)
    return Step(max(before.at, move.at), move, effects, tuple(rng.drawn), after)


def _twins(table: Table, viewer: Viewer) -> Iterator[Pair]:
    recorded, plies = _recorded(table), random_match(table).plies
    looks = [step.look(table, viewer) for step in recorded]
    for kind, fork, first in _forks(table, viewer, recorded):
        there = list(recorded[:fork])
        twin: Step | None = first
        while twin is not None and twin.look(table, viewer) == looks[len(there)]:
            there.append(twin)
            more = len(there) < len(recorded)
            twin = _follow(table, viewer, plies[len(there) - 1], twin, looks[len(there)]) if more else None
        last = _end(table, viewer, recorded, there, fork)
        if last:
            here, other = recorded[:last], tuple(there[:last])
            yield Pair(table, kind, _unaware(table, here, other), here, other, fork)


def _forks(table: Table, viewer: Viewer, recorded: tuple[Step, ...]) -> Iterator[tuple[str, int, Step]]:
    """The ways to fork: the kind, the number of the first step that differs, and that step."""
    plies = random_match(table).plies
    chance = draws(f"forks for {viewer}")
    options = table.game.options(table.seats, table.options)
    for nth, draw in enumerate(opening(table)[1].drawn):
        size = len(draw.outcome) if isinstance(draw.outcome, tuple) else 4
        for one in spread(range(size), FORKS):
            rng = OtherDraws(draws(key(table)), nth, one, chance.pick("other", range(size)))
            effects = table.game.setup(table.seats, options, START, rng)
            state = fold(table.game, None, effects)
            yield "opening", 0, Step(START, None, effects, tuple(rng.drawn), state)
    for number, ply in spread([(number, ply) for number, ply in enumerate(plies, 1) if ply.drawn], FORKS):
        for one, other in ((0, 1), (0, -1), (-2, -1)):
            changed = OtherDraws(draws(key(table), ply.counts), 0, one, other)
            if step := _played(table, recorded[number - 1], ply, ply.move, changed):
                yield "chance", number, step
    private = [
        (number, ply)
        for number, ply in enumerate(plies, 1)
        if ply.move.seat not in (viewer, CLOCK) and ply.move.action.hidden
    ]
    for number, ply in spread(private, FORKS):
        others = (move for move in alike_moves(table, ply.move, viewer, ply.before) if move != ply.move)
        for move in spread(tuple(others), FORKS):
            if step := _played(table, recorded[number - 1], ply, move, draws(key(table), ply.counts)):
                yield "choice", number, step


def _follow(table: Table, viewer: Viewer, ply: Ply, there: Step, look: bytes) -> Step | None:
    """The twin's next step. Other seats' moves and random draws may differ from the recorded ones if it looks the same."""
    for move in alike_moves(table, ply.move, viewer, there.state):
        for seed in (OTHER_SEED + key(table), key(table)):
            step = _played(table, there, ply, move, draws(seed, ply.counts))
            if step is None:
                break
            if step.look(table, viewer) == look:
                return step
    return None


def _end(table: Table, viewer: Viewer, here: Sequence[Step], there: Sequence[Step], fork: int) -> int:
    """The number of steps in the pair; 0 if there is none.

    At its end the match runs, the states differ, and the viewer has to decide if possible.

    The last steps are left out if possible, so that a further move exists after which the worlds still look the same.
    """
    differing = [
        number
        for number, (one, other) in enumerate(zip(here, there, strict=False), 1)
        if number > fork and _encode(one.state) != _encode(other.state) and table.game.decisions(one.state)
    ]
    to_move = [number for number in differing if viewer in deciding(table, here[number - 1].state)]
    early = [number for number in to_move or differing if number <= len(there) - 4]
    return max(early or to_move or differing, default=0)


def _unaware(table: Table, here: Sequence[Step], there: Sequence[Step]) -> tuple[Viewer, ...]:
    """The viewers that cannot distinguish the two histories."""
    both = [(one, other) for one, other in zip(here, there, strict=True) if one is not other]
    viewers: tuple[Viewer, ...] = (None, *range(table.seats))
    return tuple(
        viewer for viewer in viewers if all(one.look(table, viewer) == other.look(table, viewer) for one, other in both)
    )
