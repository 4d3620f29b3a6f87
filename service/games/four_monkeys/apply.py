"""The fold: each effect makes one change to the state. It makes no decisions, and the old state stays valid."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from service.games.four_monkeys import effects as e
from service.games.four_monkeys.components import ComboId
from service.games.four_monkeys.state import Checked, Checking, Holdings, Options, State, Tile, area_of
from service.games.kit.pending import PendingEffects
from service.games.kit.tuples import with_item
from service.games.visibility import Seat

Pending: TypeAlias = PendingEffects[State, e.AnyEffect]
"""The effects that a decision has emitted so far, and the state after them."""

EMPTY: Final = Holdings(
    deck=(),
    hand=(),
    discards=(),
    tiles=(),
    repeated=(),
    wrong=(),
    replenish_used=False,
    own_skin=False,
    received_skins=0,
    just_grabbed=False,
)


def apply(state: State | None, effect: e.AnyEffect) -> State:
    """The state after an effect. The first effect is `TableSet`, applied to None."""
    if state is None:
        return _table_set(effect)
    return _FOLD[type(effect)](state, effect)


def _table_set(effect: e.AnyEffect) -> State:
    if not isinstance(effect, e.TableSet):
        raise TypeError(f"{type(effect).__name__} comes before TableSet")
    seats = len(effect.seating)
    return State(
        options=Options(
            banana_skins=effect.banana_skins,
            family=effect.family,
            round_seconds=effect.round_seconds,
            timer_visible=effect.timer_visible,
            countdown_seconds=effect.countdown_seconds,
        ),
        seating=effect.seating,
        rounds=effect.rounds,
        round=0,
        phase="play",
        areas=(),
        colours=(),
        starts_at=0,
        deadline=0,
        stacks=(),
        seats=(EMPTY,) * seats,
        smartest=(),
        checking=None,
        checks=(),
        points=((),) * seats,
        false_stops=(0,) * seats,
        stops_in_round=(0,) * seats,
    )


def _with_holdings(state: State, seat: Seat, **changes: object) -> State:
    """The state with some fields of a seat's holdings changed."""
    return replace(state, seats=with_item(state.seats, seat, replace(state.seats[seat], **changes)))


def _round_opened(state: State, effect: e.RoundOpened) -> State:
    is_repetition = effect.round == state.round
    return replace(
        state,
        round=effect.round,
        phase="play",
        areas=effect.areas,
        colours=effect.colours,
        starts_at=effect.starts_at,
        deadline=effect.deadline,
        stacks=((),) * len(effect.areas),
        seats=(replace(EMPTY, own_skin=state.options.banana_skins),) * len(state.seats),
        stops_in_round=state.stops_in_round if is_repetition else (0,) * len(state.seats),
    )


def _deck_shuffled(state: State, effect: e.DeckShuffled) -> State:
    return _with_holdings(state, effect.seat, deck=effect.cards)


def _combos_stacked(state: State, effect: e.CombosStacked) -> State:
    return replace(state, stacks=with_item(state.stacks, effect.area, effect.stacks))


def _cards_drawn(state: State, effect: e.CardsDrawn) -> State:
    held, deck = state.seats[effect.seat], state.seats[effect.deck].deck[effect.count :]
    if effect.deck == effect.seat:
        return _with_holdings(state, effect.seat, deck=deck, hand=held.hand + effect.cards)
    return _with_holdings(_with_holdings(state, effect.deck, deck=deck), effect.seat, hand=held.hand + effect.cards)


def _tile_grabbed(state: State, effect: e.TileGrabbed) -> State:
    area = area_of(state, effect.seat)
    stacks = state.stacks[area]
    held = state.seats[effect.seat]
    taken = replace(
        held,
        hand=tuple([card for card in held.hand if card not in effect.cards]),
        tiles=(*held.tiles, Tile(effect.combo, burned=False, cards=effect.cards, checked=False)),
        just_grabbed=True,
    )
    stacks = with_item(stacks, effect.stack, stacks[effect.stack][1:])
    return replace(
        state, stacks=with_item(state.stacks, area, stacks), seats=with_item(state.seats, effect.seat, taken)
    )


def _tile(held: Holdings, combo: ComboId, **changes: object) -> tuple[Tile, ...]:
    """The seat's tiles, with some fields of one tile changed."""
    return tuple([replace(tile, **changes) if tile.combo == combo else tile for tile in held.tiles])


def _tile_burned(state: State, effect: e.TileBurned) -> State:
    tiles = _tile(state.seats[effect.seat], effect.combo, burned=True)
    return _with_holdings(state, effect.seat, tiles=tiles, just_grabbed=False)


def _replenish_used(state: State, effect: e.ReplenishUsed) -> State:
    return _with_holdings(state, effect.seat, replenish_used=True, just_grabbed=False)


def _hand_discarded(state: State, effect: e.HandDiscarded) -> State:
    held = state.seats[effect.seat]
    return _with_holdings(state, effect.seat, hand=(), discards=held.discards + held.hand)


def _tile_revealed(state: State, effect: e.TileRevealed) -> State:
    area = area_of(state, effect.seat)
    stacks = state.stacks[area]
    stacks = (*with_item(stacks, effect.stack, stacks[effect.stack][1:]), (effect.combo,))
    return _with_holdings(replace(state, stacks=with_item(state.stacks, area, stacks)), effect.seat, just_grabbed=False)


def _banana_handed(state: State, effect: e.BananaHanded) -> State:
    giver = state.seats[effect.seat]
    if effect.skin == "own":
        state = _with_holdings(state, effect.seat, own_skin=False, just_grabbed=False)
    else:
        state = _with_holdings(state, effect.seat, received_skins=giver.received_skins - 1, just_grabbed=False)
    return _with_holdings(state, effect.to, received_skins=state.seats[effect.to].received_skins + 1)


def _stop_called(state: State, effect: e.StopCalled) -> State:
    return _with_holdings(state, effect.seat, just_grabbed=False)


def _false_stop_charged(state: State, effect: e.FalseStopCharged) -> State:
    seat = effect.seat
    return replace(
        state,
        false_stops=with_item(state.false_stops, seat, state.false_stops[seat] + 1),
        stops_in_round=with_item(state.stops_in_round, seat, state.stops_in_round[seat] + 1),
    )


def _round_ended(state: State, _effect: e.RoundEnded) -> State:
    seats = [replace(held, hand=(), discards=held.discards + held.hand, just_grabbed=False) for held in state.seats]
    return replace(state, phase="scoring", seats=tuple(seats), smartest=(), checks=())


def _repeated_set_aside(state: State, effect: e.RepeatedSetAside) -> State:
    held = state.seats[effect.seat]
    return _with_holdings(
        state,
        effect.seat,
        tiles=tuple([tile for tile in held.tiles if tile.combo not in effect.combos]),
        repeated=tuple([tile for tile in held.tiles if tile.combo in effect.combos]),
    )


def _smartest_named(state: State, effect: e.SmartestNamed) -> State:
    return replace(state, smartest=effect.seats)


def _check_opened(state: State, effect: e.CheckOpened) -> State:
    return replace(state, checking=Checking(effect.seat, effect.opens_at, effect.deadline))


def _combo_checked(state: State, effect: e.ComboChecked) -> State:
    held = state.seats[effect.seat]
    tiles = _tile(held, effect.combo, checked=True)
    if effect.correct:
        state = _with_holdings(state, effect.seat, tiles=tiles)
    else:
        wrong = tuple([tile for tile in tiles if tile.combo == effect.combo])
        kept = tuple([tile for tile in tiles if tile.combo != effect.combo])
        state = _with_holdings(state, effect.seat, tiles=kept, wrong=held.wrong + wrong)
    checked = Checked(effect.seat, effect.combo, effect.cards, effect.correct)
    return replace(state, checking=None, checks=(*state.checks, checked))


def _round_scored(state: State, effect: e.RoundScored) -> State:
    points = (*state.points[effect.seat], effect.points)
    return replace(state, points=with_item(state.points, effect.seat, points))


def _match_ended(state: State, _effect: e.MatchEnded) -> State:
    return replace(state, phase="over")


_FOLD: Final[Mapping[type[e.AnyEffect], Callable[[State, Any], State]]] = {
    e.RoundOpened: _round_opened,
    e.DeckShuffled: _deck_shuffled,
    e.CombosStacked: _combos_stacked,
    e.CardsDrawn: _cards_drawn,
    e.TileGrabbed: _tile_grabbed,
    e.TileBurned: _tile_burned,
    e.ReplenishUsed: _replenish_used,
    e.HandDiscarded: _hand_discarded,
    e.TileRevealed: _tile_revealed,
    e.BananaHanded: _banana_handed,
    e.StopCalled: _stop_called,
    e.FalseStopCharged: _false_stop_charged,
    e.RoundEnded: _round_ended,
    e.RepeatedSetAside: _repeated_set_aside,
    e.SmartestNamed: _smartest_named,
    e.CheckOpened: _check_opened,
    e.ComboChecked: _combo_checked,
    e.RoundScored: _round_scored,
    e.MatchEnded: _match_ended,
}
