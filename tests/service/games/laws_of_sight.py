"""The laws of visibility: two states with the same observation for a viewer must stay indistinguishable for that
viewer.

The same moves, or moves that look the same to the viewer, are made in both states. This also finds a leak through an
observation that `sample_state` reproduces, because the leaked value does not follow from what the viewer was shown
before.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
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
E = TypeVar("E", Effect, Action)
Step: TypeAlias = tuple[tuple[Effect, ...], Any]
"""Effects, and the state after them."""

encode = msgspec.json.encode


def law_sampled_states_look_the_same(table: Table) -> None:
    """A state that `sample_state` made from an observation has the same observation."""
    for position in positions(table, 20 if LONG else 10):
        for viewer in _viewers(table):
            observed = table.game.observation(position.state, viewer)
            for twin in _twins(table, position, viewer):
                assert encode(table.game.observation(twin.state, viewer)) == encode(observed)


def law_hidden_data_does_not_leak(table: Table) -> None:
    """Two states with the same observation give the viewer the same decisions, legal actions, tasks and refusals, now
    and later.

    After moves that look the same, the redacted effects are equal exactly if the observations are equal. The second
    state comes from `sample_state`, or from other draws that the viewer did not see.
    """
    _assert_sampled_states_leak_nothing(table)
    _assert_unseen_draws_leak_nothing(table)


def _assert_sampled_states_leak_nothing(table: Table) -> None:
    for number, viewer in enumerate(_viewers(table)):
        differing = 0
        for position in _positions_for(table, number):
            for twin in _twins(table, position, viewer):
                differing += encode(twin.state) != encode(position.state)
                if _looks_alike(table, position.state, twin.state, viewer):
                    assert _view(table, position.state, viewer) == _view(table, twin.state, viewer)
                    for here, there in _moves(table, position, twin, viewer):
                        _assert_alike_after(table, (position, here), (twin, there), viewer)
        assert differing or not _hides(table), "the observation hides nothing"


def _positions_for(table: Table, number: int) -> tuple[Position, ...]:
    """The positions that are tested for the n-th viewer. The short form divides them among the viewers."""
    found = (*positions(table, 12 * LENGTH if LONG else 5), *hiding(table, 14 * LENGTH if LONG else 5))
    share = 1 if LONG else table.seats
    return found[number % share :: share]


def _assert_alike_after(
    table: Table, here: tuple[Position, Move[Any]], there: tuple[Position, Move[Any]], viewer: Viewer
) -> None:
    """`here` and `there` are positions with the same observation, each with a move that looks the same."""
    verdicts = verdict(table, *here), verdict(table, *there)
    mover = here[1].seat
    if mover in (viewer, CLOCK):
        assert isinstance(verdicts[0], Refusal) == isinstance(verdicts[1], Refusal), "the verdict leaks"
        if isinstance(verdicts[0], Refusal):
            assert encode(verdicts[0]) == encode(verdicts[1]), "the refusal leaks"
    if not isinstance(verdicts[0], Refusal) and not isinstance(verdicts[1], Refusal):
        _stay_alike(table, _step(table, here[0].state, verdicts[0]), _step(table, there[0].state, verdicts[1]), viewer)


def _step(table: Table, before: Any, effects: tuple[Effect, ...]) -> Step:
    return effects, fold(table.game, before, effects)


def _stay_alike(table: Table, here: Step, there: Step, viewer: Viewer) -> bool:
    """Whether the states after two steps have equal observations. They must, exactly if the redacted effects are equal."""
    (effects, after), (effects_there, after_there) = here, there
    same_effects = _look(effects, viewer) == _look(effects_there, viewer)
    same_after = _looks_alike(table, after, after_there, viewer)
    assert same_effects or not same_after, "an effect shows what the viewer does not know afterwards"
    assert same_after or not same_effects, "the observation shows what no effect showed"
    if same_after:
        assert _view(table, after, viewer) == _view(table, after_there, viewer)
    return same_after


def _assert_unseen_draws_leak_nothing(table: Table) -> None:
    match = random_match(table)
    start, others = (match.opening, match.start), _other_starts(table)
    forks = tuple(_forks(table))
    for viewer in _viewers(table) if LONG else dict.fromkeys((None, 0, table.seats - 1)):
        alike = [after for effects, after in others if _stay_alike(table, start, (effects, after), viewer)]
        assert alike or not _hides(table), "the setup hides nothing"
        for twin in spread(alike, 2 * LENGTH) if LONG else alike[:1]:
            _walk(table, twin, viewer)
        for here, there in forks:
            _stay_alike(table, here, there, viewer)


def _other_starts(table: Table) -> Sequence[Step]:
    """Setups in which one item of one draw is different."""
    game, match = table.game, random_match(table)
    options = game.options(table.seats, table.options)
    others = tuple(_other_draws(table, {}, opening(table)[1].drawn))
    setups = [game.setup(table.seats, options, START, rng) for rng in (others if LONG else spread(others, 16))]
    return [_step(table, None, effects) for effects in setups if encode(effects) != encode(match.opening)]


def _forks(table: Table) -> Iterator[tuple[Step, Step]]:
    """Some moves of the random match, with the original and with other draws."""
    plies = [ply for ply in random_match(table).plies if ply.drawn]
    for ply in spread(plies, 6 * LENGTH if LONG else 4):
        for rng in spread(tuple(_other_draws(table, ply.counts, ply.drawn)), 6 * LENGTH if LONG else 3):
            effects = table.game.decide(ply.before, ply.move, rng)
            yield (ply.effects, ply.after), _step(table, ply.before, effects)


def _walk(table: Table, twin: Any, viewer: Viewer) -> None:
    """Play the random match from the twin too, with moves that look the same, as long as the observations are equal."""
    for ply in random_match(table).plies:
        mover, position = ply.move.seat, Position(twin, ply.move.at, ply.counts)
        actions = chain([ply.move.action], _others_alike(table, position, ply.move, viewer))
        verdicts = (verdict(table, position, Move(mover, action, ply.move.at)) for action in actions)
        effects = next((found for found in verdicts if not isinstance(found, Refusal)), None)
        assert effects is not None or mover not in (viewer, CLOCK), "the verdict leaks"
        if effects is None:
            return
        step = _step(table, twin, effects)
        if not _stay_alike(table, (ply.effects, ply.after), step, viewer):
            return
        twin = step[1]


def _others_alike(table: Table, position: Position, move: Move[Any], viewer: Viewer) -> Iterator[Action]:
    """Other actions of the move's seat that look the same to the viewer."""
    if move.seat not in (viewer, CLOCK):
        look = _look_of(move.action, viewer, move.seat)
        yield from (
            action for action in _ways(table, position, move.seat) if _look_of(action, viewer, move.seat) == look
        )


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
    """Pairs of moves: the viewer's own, legal or not; moves of others that look the same in both states; the timer."""
    decisions = deciding(table, here.state)
    for seat, decision in decisions.items():
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
    if viewer is not None and viewer not in decisions:
        yield from ((Move(viewer, action, here.now),) * 2 for action in spread(pool(table), 8))


def law_only_its_audience_sees_a_field(table: Table) -> None:
    """Each field of each effect and action has an audience, and redaction removes exactly the fields that the viewer
    may not see.
    """
    audiences = cache(_audiences)
    values: list[tuple[Effect | Action, Viewer]] = [
        (effect, None) for effect in _of_each_type(random_match(table).effects)
    ]
    values += [(action, seat) for seat in range(table.seats) for action in _of_each_type(pool(table))]
    for value, actor in values:
        fields = audiences(type(value))
        whole = msgspec.to_builtins(value)
        for viewer in _viewers(table):
            shown = msgspec.to_builtins(redact(value, viewer, actor))
            assert shown == {
                name: part
                for name, part in whole.items()
                if name == "type" or _may_see(fields[name], value, viewer, actor)
            }


def _of_each_type(values: Sequence[E]) -> Sequence[E]:
    """All values; in the short form, up to 20 of each type."""
    by_type: dict[type, list[E]] = {}
    for value in values:
        by_type.setdefault(type(value), []).append(value)
    return values if LONG else [value for found in by_type.values() for value in spread(found, 20)]


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


def _view(table: Table, state: Any, viewer: Viewer) -> bytes:
    """What a viewer gets besides the observation: the decisions, its own task, and the points."""
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
    return tuple(way for entry in spread(legal, 60 if LONG else 20) for way in ways(entry))


def _look(effects: tuple[Effect, ...], viewer: Viewer) -> bytes:
    return encode([redact(effect, viewer) for effect in effects])


def _look_of(action: Action, viewer: Viewer, actor: Seat) -> bytes:
    return encode(redact(action, viewer, actor))


LAWS: Final[tuple[Callable[[Table], None], ...]] = (
    law_sampled_states_look_the_same,
    law_hidden_data_does_not_leak,
    law_only_its_audience_sees_a_field,
)
