"""Sets up rounds, and draws cards (FOU-1 to FOU-4, FOU-11, FOU-31, FOU-32)."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from service.games.four_monkeys.apply import Pending
from service.games.four_monkeys.components import AREA_SEATS, BOX, HAND, Colour, ComboId
from service.games.four_monkeys.effects import CardsDrawn, CombosStacked, DeckShuffled, RoundOpened, Stacks
from service.games.four_monkeys.state import State, area_of, total
from service.games.protocol import Rng
from service.games.visibility import Seat

Areas = tuple[tuple[Seat, ...], ...]


def open_round(pending: Pending, number: int, at: int, rng: Rng) -> None:
    """Deal a round. The order of the draws is part of the public contract.

    A round that is repeated after a false stop keeps its areas.
    """
    state = pending.state
    is_repetition = number == state.round
    areas = state.areas if is_repetition else seat_areas(state)
    starts_at = at + state.options.countdown_seconds * 1000
    pending.emit(
        RoundOpened(number, areas, deck_colours(areas), starts_at, starts_at + state.options.round_seconds * 1000)
    )
    seats = range(len(state.seats))
    for seat in seats:
        deck = rng.shuffle(f"deck:{seat}", BOX.decks[seat])
        pending.emit(DeckShuffled(seat, len(deck), deck))
    for area, area_seats in enumerate(areas):
        stacks = cut(rng.shuffle(f"combos:{area}", BOX.combos_of(len(area_seats))), BOX.stacks[len(area_seats)])
        tops, sizes = tuple(stack[0] for stack in stacks), tuple(map(len, stacks))
        pending.emit(CombosStacked(area, tops, sizes, stacks))
    for seat in seats:
        draw(pending, seat, HAND)


def seat_areas(state: State) -> Areas:
    """The areas: one for up to six players; otherwise two, with the four highest scores in the first (FOU-32)."""
    if not in_two_areas(state.seating):
        return (state.seating,)
    ranked = sorted(state.seating, key=lambda seat: -total(state, seat))
    first = ranked[:AREA_SEATS]
    return (
        tuple([seat for seat in state.seating if seat in first]),
        tuple([seat for seat in state.seating if seat not in first]),
    )


def in_two_areas(seating: Sequence[Seat]) -> bool:
    return len(seating) > max(BOX.stacks)


def deck_colours(areas: Areas) -> tuple[Colour, ...]:
    """The deck colour of each seat. Neighbours have different colours (FOU-31)."""
    colours = {}
    for area_seats in areas:
        for index, seat in enumerate(area_seats):
            colour = index % len(BOX.colours)
            if colour == 0 < index == len(area_seats) - 1:
                colour = 1  # the fifth of five players sits beside the first
            colours[seat] = BOX.colours[colour]
    return tuple(colours[seat] for seat in sorted(colours))


def cut(combos: Sequence[ComboId], count: int) -> Stacks:
    """Split combos in order into stacks of almost equal size, the larger ones first (FOU-3)."""
    size, larger = divmod(len(combos), count)
    starts = [number * size + min(number, larger) for number in range(count + 1)]
    return tuple(tuple(combos[start:end]) for start, end in pairwise(starts))


def draw(pending: Pending, seat: Seat, count: int, draw_from: Seat | None = None) -> None:
    """Draw up to `count` cards, from one deck after another (FOU-11)."""
    for deck in _decks(pending.state, seat, draw_from):
        cards = pending.state.seats[deck].deck[: max(0, count)]
        if cards:
            pending.emit(CardsDrawn(seat, deck, len(cards), cards))
            count -= len(cards)


def _decks(state: State, seat: Seat, draw_from: Seat | None) -> Iterator[Seat]:
    """The seat's own deck, the one named by `draw_from`, then those to the right."""
    yield seat
    area_seats = state.areas[area_of(state, seat)]
    if draw_from in area_seats:
        yield draw_from
    index = area_seats.index(seat)
    yield from [area_seats[index - steps] for steps in range(1, len(area_seats))]
