"""What a viewer may know, field by field, and sampled states that agree with it."""

from collections.abc import Iterable, Iterator
from itertools import islice

import msgspec

from service.games.four_monkeys.components import BOX, CHOICE_MS, CardId, Colour, ComboId
from service.games.four_monkeys.effects import Stacks
from service.games.four_monkeys.state import Checked, Checking, Holdings, Options, Phase, State, Tile
from service.games.protocol import Rng
from service.games.visibility import Seat, Viewer


class TileView(msgspec.Struct, frozen=True):
    """A combo of a seat. `cards` are visible to that seat, and to all once they were checked."""

    combo: ComboId
    burned: bool
    card_count: int
    cards: tuple[CardId, ...] | None
    checked: bool


class SeatView(msgspec.Struct, frozen=True):
    """What a seat owns. `hand` and `discards` are visible to that seat, and null for all others.

    `repeated` and `wrong` are the tiles set aside. `just_grabbed`: the seat's latest action was a grab, so it may give
    away a banana skin. `points` has one entry for each round. `false_stops` counts the whole match; `stops_in_round`
    counts the current round.
    """

    colour: Colour
    deck: int
    hand_count: int
    hand: tuple[CardId, ...] | None
    discard_count: int
    discards: tuple[CardId, ...] | None
    tiles: tuple[TileView, ...]
    repeated: tuple[TileView, ...]
    wrong: tuple[TileView, ...]
    replenish_used: bool
    own_skin: bool
    received_skins: int
    just_grabbed: bool
    points: tuple[int, ...]
    false_stops: int
    stops_in_round: int


class StackView(msgspec.Struct, frozen=True):
    """A stack of combos. `size` counts all its tiles, including the top."""

    stack: int
    top: ComboId
    size: int


class AreaView(msgspec.Struct, frozen=True):
    """The seats of an area, clockwise, and the stacks that are left."""

    seats: tuple[Seat, ...]
    stacks: tuple[StackView, ...]
    stacks_made: int
    """The number of stacks made so far. The next new stack gets this number."""


class CheckingView(msgspec.Struct, frozen=True):
    """The seat that has to choose which of its combos is checked next. The deadline is null if options hide it."""

    seat: Seat
    opens_at: int
    deadline: int | None


class Observation(msgspec.Struct, frozen=True, tag_field="game", tag="four_monkeys"):
    """Everything that is public, and what the viewer owns. Times are match time in milliseconds.

    Deadlines are null if options hide them. `starts_at` and `deadline` belong to the current or latest round.
    `checking` is set while the scoring waits for a choice. `checks` and `smartest` belong to the current or latest
    scoring.
    """

    options: Options
    seating: tuple[Seat, ...]
    rounds: int
    round: int
    phase: Phase
    starts_at: int
    deadline: int | None
    areas: tuple[AreaView, ...]
    seats: tuple[SeatView, ...]
    smartest: tuple[Seat, ...]
    checking: CheckingView | None
    checks: tuple[Checked, ...]


def observation(state: State, viewer: Viewer) -> Observation:
    """What a seat, or a spectator (None), may know."""
    return Observation(
        options=state.options,
        seating=state.seating,
        rounds=state.rounds,
        round=state.round,
        phase=state.phase,
        starts_at=state.starts_at,
        deadline=state.deadline if state.options.timer_visible else None,
        areas=tuple(
            [
                AreaView(seats, _stack_views(stacks), len(stacks))
                for seats, stacks in zip(state.areas, state.stacks, strict=True)
            ]
        ),
        seats=tuple([_seat_view(state, seat, own=seat == viewer) for seat in range(len(state.seats))]),
        smartest=state.smartest,
        checking=_checking_view(state),
        checks=state.checks,
    )


def _checking_view(state: State) -> CheckingView | None:
    choice = state.checking
    if choice is None:
        return None
    return CheckingView(choice.seat, choice.opens_at, choice.deadline if state.options.timer_visible else None)


def _stack_views(stacks: Stacks) -> tuple[StackView, ...]:
    return tuple([StackView(number, stack[0], len(stack)) for number, stack in enumerate(stacks) if stack])


def _seat_view(state: State, seat: Seat, *, own: bool) -> SeatView:
    held = state.seats[seat]
    return SeatView(
        colour=state.colours[seat],
        deck=len(held.deck),
        hand_count=len(held.hand),
        hand=held.hand if own else None,
        discard_count=len(held.discards),
        discards=held.discards if own else None,
        tiles=_tile_views(held.tiles, own=own),
        repeated=_tile_views(held.repeated, own=own),
        wrong=_tile_views(held.wrong, own=own),
        replenish_used=held.replenish_used,
        own_skin=held.own_skin,
        received_skins=held.received_skins,
        just_grabbed=held.just_grabbed,
        points=state.points[seat],
        false_stops=state.false_stops[seat],
        stops_in_round=state.stops_in_round[seat],
    )


def _tile_views(tiles: tuple[Tile, ...], *, own: bool) -> tuple[TileView, ...]:
    return tuple(
        [
            TileView(
                combo=tile.combo,
                burned=tile.burned,
                card_count=len(tile.cards),
                cards=tile.cards if own or tile.checked else None,
                checked=tile.checked,
            )
            for tile in tiles
        ]
    )


def sample_state(seen: Observation, rng: Rng) -> State:
    """Sample a full state that is consistent with this observation. Every hidden card and tile is drawn anew."""
    decks, hidden = _sample_cards(seen, rng)
    return State(
        options=seen.options,
        seating=seen.seating,
        rounds=seen.rounds,
        round=seen.round,
        phase=seen.phase,
        areas=tuple([area.seats for area in seen.areas]),
        colours=tuple([held.colour for held in seen.seats]),
        starts_at=seen.starts_at,
        deadline=seen.starts_at + seen.options.round_seconds * 1000,
        stacks=tuple([_sample_stacks(seen, number, rng) for number in range(len(seen.areas))]),
        seats=tuple([_sample_seat(held, decks[seat], hidden[seat]) for seat, held in enumerate(seen.seats)]),
        smartest=seen.smartest,
        checking=_sample_checking(seen),
        checks=seen.checks,
        points=tuple([held.points for held in seen.seats]),
        false_stops=tuple([held.false_stops for held in seen.seats]),
        stops_in_round=tuple([held.stops_in_round for held in seen.seats]),
    )


def _sample_checking(seen: Observation) -> Checking | None:
    choice = seen.checking
    return None if choice is None else Checking(choice.seat, choice.opens_at, choice.opens_at + CHOICE_MS)


def _sample_stacks(seen: Observation, number: int, rng: Rng) -> Stacks:
    area = seen.areas[number]
    owned = [tile.combo for seat in area.seats for tile in _all_tiles(seen.seats[seat])]
    known = {*owned, *(stack.top for stack in area.stacks)}
    left = iter(
        rng.shuffle(f"combos:{number}", [combo for combo in BOX.combos_of(len(area.seats)) if combo not in known])
    )
    stacks = {stack.stack: (stack.top, *islice(left, stack.size - 1)) for stack in area.stacks}
    return tuple([stacks.get(index, ()) for index in range(area.stacks_made)])


def _all_tiles(held: SeatView) -> tuple[TileView, ...]:
    return held.tiles + held.repeated + held.wrong


def _known_cards(held: SeatView) -> Iterator[CardId]:
    yield from held.hand or ()
    yield from held.discards or ()
    for tile in _all_tiles(held):
        yield from tile.cards or ()


def _unknown_count(held: SeatView) -> int:
    """The number of hidden cards of a seat outside its deck."""
    tiles = sum(tile.card_count for tile in _all_tiles(held) if tile.cards is None)
    return tiles if held.hand is not None else held.hand_count + held.discard_count + tiles


def _sample_cards(seen: Observation, rng: Rng) -> tuple[list[tuple[CardId, ...]], list[tuple[CardId, ...]]]:
    """For each seat, its sampled deck and the sampled hidden cards that it owns.

    A seat that still has a deck owns only cards of that deck (FOU-11). All remaining cards of the area belong to seats
    whose deck is empty.
    """
    known = {card for held in seen.seats for card in _known_cards(held)}
    decks: list[tuple[CardId, ...]] = []
    hidden: list[tuple[CardId, ...]] = []
    left: list[list[CardId]] = [[] for _ in seen.areas]
    area_of = {seat: number for number, area in enumerate(seen.areas) for seat in area.seats}
    for seat, held in enumerate(seen.seats):
        cards = rng.shuffle(f"deck:{seat}", [card for card in BOX.decks[seat] if card not in known])
        own = held.deck + _unknown_count(held) if held.deck else 0
        decks.append(cards[: held.deck])
        hidden.append(cards[held.deck : own])
        left[area_of[seat]] += cards[own:]
    strays = [iter(rng.shuffle(f"strays:{number}", cards)) for number, cards in enumerate(left)]
    for seat, held in enumerate(seen.seats):
        if not held.deck:
            hidden[seat] = tuple(islice(strays[area_of[seat]], _unknown_count(held)))
    return decks, hidden


def _sample_seat(held: SeatView, deck: tuple[CardId, ...], hidden: Iterable[CardId]) -> Holdings:
    unseen = iter(hidden)

    def cards(known: tuple[CardId, ...] | None, count: int) -> tuple[CardId, ...]:
        return tuple(islice(unseen, count)) if known is None else known

    def tiles(views: tuple[TileView, ...]) -> tuple[Tile, ...]:
        return tuple(
            [Tile(view.combo, view.burned, cards(view.cards, view.card_count), view.checked) for view in views]
        )

    return Holdings(
        deck=deck,
        hand=cards(held.hand, held.hand_count),
        discards=cards(held.discards, held.discard_count),
        tiles=tiles(held.tiles),
        repeated=tiles(held.repeated),
        wrong=tiles(held.wrong),
        replenish_used=held.replenish_used,
        own_skin=held.own_skin,
        received_skins=held.received_skins,
        just_grabbed=held.just_grabbed,
    )
