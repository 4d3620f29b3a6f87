"""Samples full states that are consistent with an observation, for bots that search."""

from collections.abc import Iterator
from itertools import islice
from typing import TypeAlias

from service.games.monsters_on_the_moon.components import BOX, SECRET_MISSIONS, CardId, MissionId, left_of, start_cards
from service.games.monsters_on_the_moon.grid import cell_at
from service.games.monsters_on_the_moon.squares import Square
from service.games.monsters_on_the_moon.state import Holdings, State
from service.games.monsters_on_the_moon.view import Observation, SeatView
from service.games.protocol import Rng
from service.games.visibility import Seat

Gifts: TypeAlias = list[CardId | None]
Cards: TypeAlias = tuple[CardId, ...]


def sample_state(seen: Observation, rng: Rng) -> State:
    """Sample a full state. Every hidden card, gift and mission is drawn anew."""
    seats = len(seen.seats)
    starts = start_cards(tuple([held.monster for held in seen.seats])) if seats > 1 else ((),)
    gifts = [_gift(seen, seat, cards, rng) for seat, cards in enumerate(starts)]
    known = [_known_hand(seen, seat, starts, gifts) for seat in range(seats)]
    missions = _missions(seen, rng)
    gone = {laid.card for laid in seen.laid}.union(gifts, *known)
    hidden = iter(rng.shuffle("cards", tuple([card for card in BOX.decks[seats] if card not in gone])))
    return State(
        options=seen.options,
        seats=tuple(
            [
                Holdings(
                    monster=held.monster,
                    hand=known[seat] + tuple(islice(hidden, held.hand_count - len(known[seat]))),
                    gift=gifts[seat],
                    ships=held.ships,
                    field=held.field,
                    crystals=held.crystals,
                    plates=held.plates,
                    plates_lost=held.plates_lost,
                    long_walls=held.long_walls,
                    short_walls=held.short_walls,
                    interim_singles=held.interim_singles,
                    interim_groups=held.interim_groups,
                    missions=missions[seat],
                    mission=_mission(seen, held, missions[seat], rng),
                )
                for seat, held in enumerate(seen.seats)
            ]
        ),
        step=seen.step,
        awaited=seen.awaited,
        active=seen.active,
        turn=seen.turn,
        decider=seen.decider,
        pile=tuple(hidden),
        laid=seen.laid,
        display=_display(seen),
        ships={cell_at(ship.x, ship.y): ship.seat for ship in seen.ships},
        walls=seen.walls,
        areas=tuple([tuple([cell_at(square.x, square.y) for square in area]) for area in seen.areas]),
        open_missions=seen.open_missions,
        rating=seen.rating,
    )


def _display(seen: Observation) -> dict[int, Square]:
    plates = {(plate.x, plate.y): plate.seat for plate in seen.plates}
    return {
        cell_at(square.x, square.y): Square(square.card, square.shows, square.heads, plates.get((square.x, square.y)))
        for square in seen.display
    }


def _gift(seen: Observation, seat: Seat, cards: Cards, rng: Rng) -> CardId | None:
    """The first card that a seat gave away (MON-2).

    It is known if the viewer saw it, or if one of the two cards has been laid. Otherwise it is drawn.
    """
    held = seen.seats[seat]
    if held.gift is not None or not held.gift_chosen:
        return held.gift
    laid = {placed.card: placed.seat for placed in seen.laid}
    given = [card for card in cards if card in laid and laid[card] != seat]
    kept = [card for card in cards if laid.get(card) == seat]
    if given:
        return given[0]
    return rng.pick("gift", [card for card in cards if card not in kept])


def _known_hand(seen: Observation, seat: Seat, starts: tuple[Cards, ...], gifts: Gifts) -> Cards:
    """The cards that a seat certainly holds: its visible hand, or its own first card and the one that it was given."""
    held = seen.seats[seat]
    if held.hand is not None:
        return held.hand
    giver = left_of(seat, len(seen.seats))
    received = gifts[giver] if seen.step != "give_card" else None
    own = [card for card in starts[seat] if card != gifts[seat]]
    laid = {placed.card for placed in seen.laid}
    return tuple([card for card in (*own, received) if card is not None and card not in laid])


def _missions(seen: Observation, rng: Rng) -> list[tuple[MissionId, ...]]:
    """Each seat's secret missions: the known ones, and others drawn at random (MON-70)."""
    if seen.options.missions != "secret":
        return [()] * len(seen.seats)
    known = [held.missions or ((held.mission,) if held.mission else ()) for held in seen.seats]
    others: Iterator[MissionId] = iter(
        rng.shuffle("missions", [mission for mission in BOX.missions if not any(mission in own for own in known)])
    )
    return [own + tuple(islice(others, SECRET_MISSIONS - len(own))) for own in known]


def _mission(seen: Observation, held: SeatView, own: tuple[MissionId, ...], rng: Rng) -> MissionId | None:
    """The mission that a seat chose: the visible one, or a random one of its choices (MON-71)."""
    if held.mission is not None or not held.mission_chosen:
        return held.mission
    return rng.pick("mission", own or seen.open_missions)
