"""How a round is set up, and how cards are drawn (FOU-1 to FOU-4, FOU-11, FOU-31, FOU-32)."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from service.games.four_monkeys.apply import Told
from service.games.four_monkeys.components import AREA_SEATS, BOX, HAND, Colour, ComboId
from service.games.four_monkeys.effects import CardsDrawn, CombosStacked, DeckShuffled, RoundOpened, Stacks
from service.games.four_monkeys.state import State, area_of, total
from service.games.protocol import Rng
from service.games.visibility import Seat

Areas = tuple[tuple[Seat, ...], ...]


def open_round(told: Told, number: int, at: int, rng: Rng) -> None:
    """Deal a round; one that a false stop repeats keeps its areas. The order of the draws is part of the public contract."""
    state = told.state
    again = number == state.round
    areas = state.areas if again else seat_areas(state)
    starts_at = at + state.options.countdown_seconds * 1000
    told.tell(
        RoundOpened(number, areas, deck_colours(areas), starts_at, starts_at + state.options.round_seconds * 1000)
    )
    seats = range(len(state.seats))
    for seat in seats:
        deck = rng.shuffle(f"deck:{seat}", BOX.decks[seat])
        told.tell(DeckShuffled(seat, len(deck), deck))
    for area, seated in enumerate(areas):
        stacks = cut(rng.shuffle(f"combos:{area}", BOX.combos_of(len(seated))), BOX.stacks[len(seated)])
        tops, sizes = tuple(stack[0] for stack in stacks), tuple(map(len, stacks))
        told.tell(CombosStacked(area, tops, sizes, stacks))
    for seat in seats:
        draw(told, seat, HAND)


def seat_areas(state: State) -> Areas:
    """All at one table; seven or eight players at two, the four highest scores at the first (FOU-32)."""
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
    """Each seat's colour, so that neighbours differ (FOU-31)."""
    colours = {}
    for seated in areas:
        for place, seat in enumerate(seated):
            colour = place % len(BOX.colours)
            if colour == 0 < place == len(seated) - 1:
                colour = 1  # the fifth of five sits beside the first
            colours[seat] = BOX.colours[colour]
    return tuple(colours[seat] for seat in sorted(colours))


def cut(combos: Sequence[ComboId], count: int) -> Stacks:
    """In order into stacks as equal as can be, the larger ones first (FOU-3)."""
    size, larger = divmod(len(combos), count)
    starts = [number * size + min(number, larger) for number in range(count + 1)]
    return tuple(tuple(combos[start:end]) for start, end in pairwise(starts))


def draw(told: Told, seat: Seat, count: int, draw_from: Seat | None = None) -> None:
    """Draw cards, as many as there are, from deck after deck (FOU-11)."""
    for deck in _decks(told.state, seat, draw_from):
        cards = told.state.seats[deck].deck[: max(0, count)]
        if cards:
            told.tell(CardsDrawn(seat, deck, len(cards), cards))
            count -= len(cards)


def _decks(state: State, seat: Seat, draw_from: Seat | None) -> Iterator[Seat]:
    """The own deck, the one that is wished for, then those to the right."""
    yield seat
    seated = state.areas[area_of(state, seat)]
    if draw_from in seated:
        yield draw_from
    place = seated.index(seat)
    yield from [seated[place - steps] for steps in range(1, len(seated))]
