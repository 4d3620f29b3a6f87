"""Sets up the table before the first turn (MOM-1 to MOM-5)."""

from service.games.monkeys_on_the_moon.components import (
    BOX,
    COINS_AT_START,
    HAND_AT_START,
    SHIP_POOL,
    SUPPLY_AT_START,
    TRIBES,
)
from service.games.monkeys_on_the_moon.effects import (
    AnyEffect,
    CivilizationDealt,
    CivilizationRemoved,
    DecisionOpened,
    DeckShuffled,
    MonkeysRevealed,
    RoundOpened,
    ShipAssigned,
    ShipsRevealed,
    TableSet,
    TurnOpened,
)
from service.games.monkeys_on_the_moon.state import Options, seats_from
from service.games.protocol import Rng


def setup(seats: int, options: Options, _at: int, rng: Rng) -> tuple[AnyEffect, ...]:
    """The effects that set up the table. The order of the draws is part of the public contract."""
    circle = rng.shuffle("alliance_circle", TRIBES)
    monkeys = rng.shuffle("monkey_deck", tuple(BOX.monkeys))
    civilization = rng.shuffle("civilization_deck", tuple(BOX.civilization))
    ships = rng.shuffle("ship_deck", tuple(BOX.ships))
    first = rng.pick("first_seat", tuple(range(seats)))
    removed = BOX.removed[seats]
    dealt = civilization[removed : removed + seats * HAND_AT_START]
    return (
        TableSet(
            turn_order=seats_from(first, seats),
            alliance_circle=circle,
            coins_each=COINS_AT_START,
            supply_each=SUPPLY_AT_START,
            rounds=BOX.rounds[seats],
            maximum_scorn=options.maximum_scorn,
            treachery=options.treachery,
        ),
        DeckShuffled("monkey", len(monkeys), monkeys),
        DeckShuffled("civilization", len(civilization), civilization),
        DeckShuffled("ship", len(ships), ships),
        MonkeysRevealed(monkeys[: seats + 1]),
        CivilizationRemoved(removed, civilization[:removed]),
        *(CivilizationDealt(index // HAND_AT_START, card) for index, card in enumerate(dealt)),
        *(ShipAssigned(seat, ships[seat]) for seat in range(seats)),
        ShipsRevealed(ships[seats : seats + SHIP_POOL]),
        RoundOpened(1),
        TurnOpened(first, "civilization"),
        DecisionOpened(first, "play_civilization"),
    )
