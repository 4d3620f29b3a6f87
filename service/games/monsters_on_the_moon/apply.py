"""The fold: each effect makes one change to the state. It makes no decisions, and the old state stays valid."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from service.games.kit.pending import PendingEffects
from service.games.monsters_on_the_moon import effects as e
from service.games.monsters_on_the_moon import start_effects as s
from service.games.monsters_on_the_moon.grid import cell_at
from service.games.monsters_on_the_moon.squares import Square
from service.games.monsters_on_the_moon.state import Holdings, Laid, Rating, State, Turn, Wall
from service.games.visibility import Seat

Pending: TypeAlias = PendingEffects[State, e.AnyEffect]
"""The effects that a decision has emitted so far, and the state after them."""


def apply(state: State | None, effect: e.AnyEffect) -> State:
    """The state after an effect. The first effect is `TableSet`, applied to None."""
    if state is None:
        return _table_set(effect)
    return _FOLD[type(effect)](state, effect)


def _table_set(effect: e.AnyEffect) -> State:
    if not isinstance(effect, s.TableSet):
        raise TypeError(f"{type(effect).__name__} comes before TableSet")
    return State(
        options=effect.options,
        seats=tuple(
            [
                Holdings(
                    monster=monster,
                    hand=(),
                    gift=None,
                    ships=effect.ships_each,
                    field=0,
                    crystals=0,
                    plates=effect.plates_each,
                    plates_lost=0,
                    long_walls=0,
                    short_walls=0,
                    interim_singles=0,
                    interim_groups=0,
                    missions=(),
                    mission=None,
                )
                for monster in effect.monsters
            ]
        ),
        step=None,
        awaited=None,
        active=effect.turn_order[0],
        turn=Turn(),
        decider=None,
        pile=(),
        laid=(),
        display={},
        ships={},
        walls=(),
        areas=(),
        open_missions=(),
        rating=None,
    )


def _with_holdings(state: State, seat: Seat, **changes: object) -> tuple[Holdings, ...]:
    seats = list(state.seats)
    seats[seat] = replace(seats[seat], **changes)
    return tuple(seats)


def _walls_taken(state: State, effect: s.WallsTaken) -> State:
    walls = {"long_walls": effect.long_each, "short_walls": effect.short_each}
    return replace(state, seats=tuple([replace(held, **walls) for held in state.seats]))


def _pile_shuffled(state: State, effect: s.PileShuffled) -> State:
    return replace(state, pile=effect.cards)


def _start_cards_taken(state: State, effect: s.StartCardsTaken) -> State:
    return replace(state, seats=_with_holdings(state, effect.seat, hand=effect.cards))


def _missions_dealt(state: State, effect: s.MissionsDealt) -> State:
    return replace(state, seats=_with_holdings(state, effect.seat, missions=effect.missions))


def _missions_opened(state: State, effect: s.MissionsOpened) -> State:
    return replace(state, open_missions=effect.missions)


def _gift_chosen(state: State, effect: s.GiftChosen) -> State:
    hand = tuple([card for card in state.seats[effect.seat].hand if card != effect.card])
    return replace(state, seats=_with_holdings(state, effect.seat, hand=hand, gift=effect.card))


def _card_given(state: State, effect: s.CardGiven) -> State:
    return replace(state, seats=_with_holdings(state, effect.to, hand=(*state.seats[effect.to].hand, effect.card)))


def _card_drawn(state: State, effect: e.CardDrawn) -> State:
    seat = effect.seat
    return replace(
        state,
        pile=state.pile[1:],
        seats=_with_holdings(state, seat, hand=(*state.seats[seat].hand, effect.card)),
        turn=replace(state.turn, drew=True),
    )


def _start_card_placed(state: State, effect: s.StartCardPlaced) -> State:
    pile = tuple([card for card in state.pile if card != effect.card])
    return replace(_with_card(state, effect, None), pile=pile)


def _card_placed(state: State, effect: e.CardPlaced) -> State:
    seat = effect.seat
    hand = tuple([card for card in state.seats[seat].hand if card != effect.card])
    return replace(
        _with_card(state, effect, seat),
        seats=_with_holdings(state, seat, hand=hand),
        turn=replace(state.turn, card=effect.card),
    )


def _with_card(state: State, effect: s.StartCardPlaced | e.CardPlaced, seat: Seat | None) -> State:
    display = state.display.copy()
    for square in effect.squares:
        display[cell_at(square.x, square.y)] = Square(square.card, square.shows, square.heads)
    laid = Laid(effect.card, effect.x, effect.y, effect.rotation, seat)
    return replace(state, laid=(*state.laid, laid), display=display)


def _marker_moved(state: State, effect: e.MarkerMoved) -> State:
    return replace(state, seats=_with_holdings(state, effect.seat, field=effect.to_field, crystals=effect.points))


def _plate_taken(state: State, effect: e.PlateTaken) -> State:
    return replace(
        state,
        seats=_with_holdings(state, effect.seat, plates=state.seats[effect.seat].plates - 1),
        turn=replace(state.turn, plates=state.turn.plates + 1),
    )


def _plate_placed(state: State, effect: e.PlatePlaced) -> State:
    cell = cell_at(effect.x, effect.y)
    plate = Square(state.display[cell].card, effect.shows, 1, plate=effect.seat)
    return replace(state, display=state.display | {cell: plate}, turn=replace(state.turn, plates=state.turn.plates - 1))


def _plate_lost(state: State, effect: e.PlateLost) -> State:
    return replace(
        state,
        seats=_with_holdings(state, effect.seat, plates_lost=state.seats[effect.seat].plates_lost + 1),
        turn=replace(state.turn, plates=state.turn.plates - 1),
    )


def _spaceship_placed(state: State, effect: e.SpaceshipPlaced) -> State:
    return replace(
        state,
        seats=_with_holdings(state, effect.seat, ships=state.seats[effect.seat].ships - 1),
        ships=state.ships | {cell_at(effect.x, effect.y): effect.seat},
        turn=replace(state.turn, ship=True),
    )


def _wall_placed(state: State, effect: e.WallPlaced) -> State:
    wall = Wall(effect.x, effect.y, effect.orientation, effect.length, effect.seat)
    kind = "short_walls" if effect.length == 1 else "long_walls"
    left = getattr(state.seats[effect.seat], kind) - 1
    return replace(
        state,
        seats=_with_holdings(state, effect.seat, **{kind: left}),
        walls=(*state.walls, wall),
        turn=replace(state.turn, walls=state.turn.walls + 1),
    )


def _area_enclosed(state: State, effect: e.AreaEnclosed) -> State:
    area = tuple([cell_at(square.x, square.y) for square in effect.squares])
    return replace(state, areas=(*state.areas, area))


def _points_scored(state: State, effect: e.PointsScored) -> State:
    points = getattr(state.seats[effect.seat], effect.part) + effect.points
    return replace(state, seats=_with_holdings(state, effect.seat, **{effect.part: points}))


def _decider_named(state: State, effect: e.DeciderNamed) -> State:
    return replace(state, decider=effect.seat)


def _turn_opened(state: State, effect: e.TurnOpened) -> State:
    return replace(state, active=effect.seat, turn=Turn())


def _decision_opened(state: State, effect: e.DecisionOpened) -> State:
    return replace(state, awaited=effect.seat, step=effect.step)


def _first_chosen(state: State, _: e.FirstChosen) -> State:
    return replace(state, decider=None)


def _mission_chosen(state: State, effect: e.MissionChosen) -> State:
    return replace(state, seats=_with_holdings(state, effect.seat, mission=effect.mission))


def _mission_revealed(state: State, _: e.MissionRevealed) -> State:
    return state


def _solo_rated(state: State, effect: e.SoloRated) -> State:
    return replace(state, rating=Rating(effect.points, effect.rank))


def _match_ended(state: State, _: e.MatchEnded) -> State:
    return replace(state, step=None, awaited=None)


# Each function takes the effect type of its own key. The type of a mapping cannot express that, so the parameter is
# Any.
_FOLD: Final[Mapping[type[e.AnyEffect], Callable[[State, Any], State]]] = {
    s.WallsTaken: _walls_taken,
    s.PileShuffled: _pile_shuffled,
    s.StartCardsTaken: _start_cards_taken,
    s.MissionsDealt: _missions_dealt,
    s.MissionsOpened: _missions_opened,
    s.GiftChosen: _gift_chosen,
    s.CardGiven: _card_given,
    e.CardDrawn: _card_drawn,
    s.StartCardPlaced: _start_card_placed,
    e.CardPlaced: _card_placed,
    e.MarkerMoved: _marker_moved,
    e.PlateTaken: _plate_taken,
    e.PlatePlaced: _plate_placed,
    e.PlateLost: _plate_lost,
    e.SpaceshipPlaced: _spaceship_placed,
    e.WallPlaced: _wall_placed,
    e.AreaEnclosed: _area_enclosed,
    e.PointsScored: _points_scored,
    e.DeciderNamed: _decider_named,
    e.TurnOpened: _turn_opened,
    e.DecisionOpened: _decision_opened,
    e.FirstChosen: _first_chosen,
    e.MissionChosen: _mission_chosen,
    e.MissionRevealed: _mission_revealed,
    e.SoloRated: _solo_rated,
    e.MatchEnded: _match_ended,
}
