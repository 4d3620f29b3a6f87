"""Sets up the table before the first turn (APE-1, APE-2)."""

from service.games.ape_town.components import BOX, OPEN_SECTIONS
from service.games.ape_town.effects import AnyEffect, DecisionOpened, SectionRevealed, TableSet, TilesShuffled
from service.games.ape_town.state import Options, segments_of
from service.games.protocol import Rng


def setup(seats: int, _options: Options, _at: int, rng: Rng) -> tuple[AnyEffect, ...]:
    """The effects that set up the table. The order of the draws is part of the public contract."""
    tiles = rng.shuffle("tiles", BOX.tiles)
    first = rng.pick("first_seat", tuple(range(seats)))
    at_segments = len(BOX.track)
    return (
        TableSet((*range(first, seats), *range(first)), money_each=BOX.money, discs_each=BOX.discs),
        TilesShuffled(at_segments, len(tiles) - at_segments, tiles),
        *(
            SectionRevealed(section, tuple(segments), tiles[segments.start : segments.stop])
            for section, segments in enumerate(map(segments_of, range(OPEN_SECTIONS)))
        ),
        DecisionOpened(first, "take_tile"),
    )
