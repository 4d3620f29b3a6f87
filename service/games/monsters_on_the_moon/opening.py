"""Sets up the table before the first decision (MON-1 to MON-3, MON-5, MON-60, MON-70, MON-80)."""

from service.games.monsters_on_the_moon.components import (
    BOX,
    OPEN_MISSIONS,
    SECRET_MISSIONS,
    CardId,
    start_cards,
)
from service.games.monsters_on_the_moon.effects import AnyEffect, CardDrawn, DecisionOpened, TurnOpened
from service.games.monsters_on_the_moon.laying import start_card
from service.games.monsters_on_the_moon.options import Options
from service.games.monsters_on_the_moon.start_effects import (
    MissionsDealt,
    MissionsOpened,
    PileShuffled,
    StartCardsTaken,
    TableSet,
    WallsTaken,
)
from service.games.protocol import Rng


def setup(seats: int, options: Options, _at: int, rng: Rng) -> tuple[AnyEffect, ...]:
    """The effects that set up the table. The order of the draws is part of the public contract."""
    deck = BOX.decks[seats]
    if seats == 1:
        return _solo(options, rng.shuffle("deck", deck))
    monsters = options.monsters
    starts = start_cards(monsters)
    held = {card for cards in starts for card in cards}
    pile = rng.shuffle("deck", tuple([card for card in deck if card not in held]))
    first = rng.pick("first_seat", tuple(range(seats)))
    track, walls = BOX.tracks[seats], BOX.walls[seats]
    return (
        TableSet(
            options=options,
            turn_order=(*range(first, seats), *range(first)),
            monsters=monsters,
            ships_each=BOX.ships,
            plates_each=BOX.plates,
            crystal_track=track.points,
            red_fields=track.red,
        ),
        *([WallsTaken(walls.long, walls.short)] if options.walls else []),
        *_missions(seats, options, rng),
        PileShuffled(len(pile), pile),
        *(StartCardsTaken(seat, cards) for seat, cards in enumerate(starts)),
        DecisionOpened(None, "give_card"),
    )


def _missions(seats: int, options: Options, rng: Rng) -> tuple[AnyEffect, ...]:
    """Deal or open the missions (MON-70)."""
    match options.missions:
        case "secret":
            dealt = rng.shuffle("missions", tuple(BOX.missions))
            hands = [dealt[seat * SECRET_MISSIONS : (seat + 1) * SECRET_MISSIONS] for seat in range(seats)]
            return tuple([MissionsDealt(seat, SECRET_MISSIONS, hand) for seat, hand in enumerate(hands)])
        case "open":
            return (MissionsOpened(rng.shuffle("missions", BOX.open_missions)[:OPEN_MISSIONS]),)
        case _:
            return ()


def _solo(options: Options, pile: tuple[CardId, ...]) -> tuple[AnyEffect, ...]:
    """The setup for a single player, who plays for the vampires (MON-80)."""
    return (
        TableSet(
            options=options,
            turn_order=(0,),
            monsters=("vampire",),
            ships_each=0,
            plates_each=0,
            crystal_track=(),
            red_fields=(),
        ),
        PileShuffled(len(pile), pile),
        start_card(pile[0], 0, 0, 0, from_pile=True),
        CardDrawn(0, pile[1], "MON-80"),
        TurnOpened(0),
        DecisionOpened(0, "place_card"),
    )
