"""The laws of visibility: two states with the same observation for a viewer must stay indistinguishable for that
viewer.

The same moves, or moves that look the same to the viewer, are made in both states. This also finds a leak through an
observation that `sample_state` reproduces, because the leaked value does not follow from what the viewer was shown
before.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeAlias, TypeVar, get_type_hints

import msgspec

from service.games.protocol import CLOCK, Decision, Move, Ring, Task, fold
from service.games.visibility import Action, Audience, Effect, Seat, Viewer, redact
from service.match.randomness import Draw, Draws
from tests.length import LENGTH, LONG
from tests.service.games.matches import (
    START,
    Position,
    Refusal,
    Table,
    deciding,
    draws,
    hiding,
    in_time,
    key,
    opening,
    pool,
    positions,
    random_match,
    spread,
    verdict,
    ways,
)

T = TypeVar("T")
Told: TypeAlias = tuple[Any, tuple[Effect, ...]]
"""A state, and the effects that follow."""

encode = msgspec.json.encode


def law_imagined_tables_look_the_same(table: Table) -> None:
    """A state that `sample_state` made from an observation has the same observation."""
    for position in positions(table, 20):
        for viewer in _viewers(table):
            observed = table.game.observation(position.state, viewer)
            for twin in _twins(table, position, viewer):
                assert encode(table.game.observation(twin.state, viewer)) == encode(observed)


def law_hidden_things_change_nothing(table: Table) -> None:
    """Two states with the same observation give the viewer the same decisions, legal actions, tasks and refusals, now
    and later.

    After moves that look the same, the redacted effects are equal exactly if the observations are equal. The second
    state comes from `sample_state`, or from other draws that the viewer did not see.
    """
    _assert_imagined_tables_tell_nothing(table)
    _assert_unseen_draws_tell_nothing(table)


def _assert_imagined_tables_tell_nothing(table: Table) -> None:
    for number, viewer in enumerate(_viewers(table)):
        differing = 0
        for position in _positions_for(table, number):
            for twin in _twins(table, position, viewer):
                differing += encode(twin.state) != encode(position.state)
                if _looks_alike(table, position.state, twin.state, viewer):
                    assert _sight(table, position.state, viewer) == _sight(table, twin.state, viewer)
                    for here, there in _moves(table, position, twin, viewer):
                        _assert_same_story(table, (position, here), (twin, there), viewer)
        assert differing or not _hides(table), "the observation hides nothing"


def _positions_for(table: Table, number: int) -> tuple[Position, ...]:
    """The positions at which the n-th viewer looks: in the short form the viewers of a large table share them out."""
    found = (*positions(table, 12 * LENGTH), *hiding(table, 14 * LENGTH))
    share = 1 if LONG else max(1, table.seats // 2)
    return found[number % share :: share]


def _assert_same_story(
    table: Table, here: tuple[Position, Move[Any]], there: tuple[Position, Move[Any]], viewer: Viewer
) -> None:
    """`here` and `there` are positions with the same observation, each with a move that looks the same."""
    told = verdict(table, *here), verdict(table, *there)
    mover = here[1].seat
    if mover in (viewer, CLOCK):
        assert isinstance(told[0], Refusal) == isinstance(told[1], Refusal), "the verdict tells"
        if isinstance(told[0], Refusal):
            assert encode(told[0]) == encode(told[1]), "the refusal tells"
    if not isinstance(told[0], Refusal) and not isinstance(told[1], Refusal):
        _stay_alike(table, (here[0].state, told[0]), (there[0].state, told[1]), viewer)


def _stay_alike(table: Table, here: Told, there: Told, viewer: Viewer) -> Any:
    """The state that `there` comes to, or None if it is now told from `here`; it must be exactly if effects are."""
    after = fold(table.game, *here), fold(table.game, *there)
    same_effects = _look(here[1], viewer) == _look(there[1], viewer)
    same_after = _looks_alike(table, *after, viewer)
    assert same_effects or not same_after, "an effect shows what the viewer does not know afterwards"
    assert same_after or not same_effects, "the observation shows what no effect showed"
    if not same_after:
        return None
    assert _sight(table, after[0], viewer) == _sight(table, after[1], viewer)
    return after[1]


def _assert_unseen_draws_tell_nothing(table: Table) -> None:
    game, match = table.game, random_match(table)
    options = game.options(table.seats, table.options)
    others = [
        effects
        for rng in _other_draws(table, {}, opening(table)[1].drawn)
        if encode(effects := game.setup(table.seats, options, START, rng)) != encode(match.opening)
    ]
    for viewer in _viewers(table):
        twins = [_stay_alike(table, (None, match.opening), (None, effects), viewer) for effects in others]
        alike = [twin for twin in twins if twin is not None]
        assert alike or not _hides(table), "the setup hides nothing"
        for twin in spread(alike, 3 * LENGTH):
            _walk(table, twin, viewer)
        for ply in spread([ply for ply in match.plies if ply.drawn], 6 * LENGTH):
            for rng in spread(tuple(_other_draws(table, ply.counts, ply.drawn)), 6 * LENGTH):
                _stay_alike(
                    table, (ply.before, ply.effects), (ply.before, game.decide(ply.before, ply.move, rng)), viewer
                )


def _walk(table: Table, twin: Any, viewer: Viewer) -> None:
    """Play the random match from the twin too, with moves that look the same, as long as the observations are equal."""
    for ply in random_match(table).plies:
        mover, at = ply.move.seat, ply.move.at
        actions = [ply.move.action]
        if mover not in (viewer, CLOCK):
            look = _look_of(ply.move.action, viewer, mover)
            there = Position(twin, at, ply.counts)
            actions += [action for action in _ways(table, there, mover) if _look_of(action, viewer, mover) == look]
        told = (verdict(table, Position(twin, at, ply.counts), Move(mover, action, at)) for action in actions)
        effects = next((found for found in told if not isinstance(found, Refusal)), None)
        assert effects is not None or mover not in (viewer, CLOCK), "the verdict tells"
        twin = effects and _stay_alike(table, (ply.before, ply.effects), (twin, effects), viewer)
        if twin is None:
            return


class OtherDraws:
    """Draws whose n-th result is changed: two items of a shuffle are swapped, or another item is picked."""

    def __init__(self, rng: Draws, nth: int, one: int, other: int) -> None:
        self._rng, self._nth, self._one, self._other = rng, nth, one, other

    def shuffle(self, label: str, items: Sequence[T]) -> tuple[T, ...]:
        mixed = list(self._rng.shuffle(label, items))
        if len(self._rng.drawn) == self._nth:
            mixed[self._one], mixed[self._other] = mixed[self._other], mixed[self._one]
        return tuple(mixed)

    def pick(self, label: str, items: Sequence[T]) -> T:
        item = self._rng.pick(label, items)
        return items[self._one % len(items)] if len(self._rng.drawn) == self._nth else item


def _other_draws(table: Table, counts: Mapping[str, int], drawn: Sequence[Draw]) -> Iterator[OtherDraws]:
    """Draws with each item of each shuffle swapped with some other, and with some other items picked."""
    chance = draws("other draws")
    for nth, draw in enumerate(drawn, 1):
        size = len(draw.outcome) if isinstance(draw.outcome, tuple) else 4
        for one in range(size):
            yield OtherDraws(draws(key(table), counts), nth, one, chance.pick("other", range(size)))


def _moves(table: Table, here: Position, there: Position, viewer: Viewer) -> Iterator[tuple[Move[Any], Move[Any]]]:
    """Pairs of moves: the viewer's own, legal or not; moves of others that look the same in both states; the bell."""
    asked = deciding(table, here.state)
    for seat, decision in asked.items():
        at = in_time(decision, here.now)
        played = [here.move.action] if here.move is not None and here.move.seat == seat else []
        if seat == CLOCK:
            yield (Move(CLOCK, Ring(decision.step), at),) * 2
        elif seat == viewer:
            own = (*played, *spread(_ways(table, here, seat), 6), *spread(pool(table), 8))
            yield from ((Move(seat, action, at),) * 2 for action in own)
        else:
            alike = {_look_of(action, viewer, seat): action for action in _ways(table, there, seat)}
            ways_here = (*played, *_ways(table, here, seat))
            pairs = [(action, alike.get(_look_of(action, viewer, seat))) for action in ways_here]
            both = [(Move(seat, one, at), Move(seat, other, at)) for one, other in pairs if other is not None]
            yield from spread(both, 4)
    if viewer is not None and viewer not in asked:
        yield from ((Move(viewer, action, here.now),) * 2 for action in spread(pool(table), 8))


def law_fields_are_seen_by_their_audience_alone(table: Table) -> None:
    """Each field of each effect and action has an audience, and redaction removes exactly the fields that the viewer
    may not see.
    """
    audiences = cache(_audiences)
    told: list[tuple[Effect | Action, Viewer]] = [(effect, None) for effect in random_match(table).effects]
    told += [(action, seat) for seat in range(table.seats) for action in pool(table)]
    for value, actor in told:
        fields = audiences(type(value))
        for viewer in _viewers(table):
            shown = msgspec.to_builtins(redact(value, viewer, actor))
            whole = msgspec.to_builtins(value)
            assert shown == {
                name: part
                for name, part in whole.items()
                if name == "type" or _may_see(fields[name], value, viewer, actor)
            }


def _audiences(kind: type[Effect | Action]) -> Mapping[str, Audience]:
    assert kind.__struct_config__.tag not in {None, kind.__name__}, f"{kind.__name__} has no tag of its own"
    types = get_type_hints(kind, include_extras=True)
    found = {
        encoded: [extra for extra in types[name].__metadata__ if isinstance(extra, Audience)]
        for name, encoded in zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True)
    }
    return {name: audience for name, (audience,) in found.items()}


def _may_see(audience: Audience, value: Effect | Action, viewer: Viewer, actor: Viewer) -> bool:
    if audience.fields is None:
        return True
    seats = [
        actor if isinstance(value, Action) and name == "seat" else getattr(value, name) for name in audience.fields
    ]
    return viewer is not None and viewer in seats


def _hides(table: Table) -> bool:
    return any(kind.hidden for kind in table.game.info.effects)


def _viewers(table: Table) -> tuple[Viewer, ...]:
    return (None, *range(table.seats))


def _twins(table: Table, position: Position, viewer: Viewer) -> Iterator[Position]:
    observed = table.game.observation(position.state, viewer)
    for i in range(2):
        imagined = table.game.sample_state(observed, draws(f"twin {i}"))
        yield Position(imagined, position.now, position.counts)


def _looks_alike(table: Table, one: Any, other: Any, viewer: Viewer) -> bool:
    return encode(table.game.observation(one, viewer)) == encode(table.game.observation(other, viewer))


def _sight(table: Table, state: Any, viewer: Viewer) -> bytes:
    """Everything else that a viewer gets: the decisions, its own task, and the points."""
    decisions = table.game.decisions(state)
    shown = tuple(_shown(decision, viewer) for decision in decisions)
    legal = () if viewer is None else tuple(table.game.legal_actions(state, viewer))
    observed = table.game.observation(state, viewer)
    tasks: list[Task[Any, Any]] = [
        Task(decision.seat, decision.step, observed, legal) for decision in decisions if decision.seat == viewer
    ]
    return encode((shown, legal, tasks, table.game.points(state, viewer)))


def _shown(decision: Decision[Any], viewer: Viewer) -> tuple[object, ...]:
    on_timeout = decision.on_timeout if decision.seat == viewer else None
    deadline = decision.deadline if decision.deadline_shown else None
    return (decision.seat, decision.step, decision.opens_at, deadline, on_timeout)


def _ways(table: Table, position: Position, seat: Seat) -> tuple[Action, ...]:
    legal = tuple(table.game.legal_actions(position.state, seat))
    return tuple(way for entry in spread(legal, 60) for way in ways(entry))


def _look(effects: tuple[Effect, ...], viewer: Viewer) -> bytes:
    return encode([redact(effect, viewer) for effect in effects])


def _look_of(action: Action, viewer: Viewer, actor: Seat) -> bytes:
    return encode(redact(action, viewer, actor))


LAWS: Final[tuple[Callable[[Table], None], ...]] = (
    law_imagined_tables_look_the_same,
    law_hidden_things_change_nothing,
    law_fields_are_seen_by_their_audience_alone,
)
