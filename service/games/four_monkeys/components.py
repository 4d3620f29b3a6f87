"""The cards, combo tiles and points, read from components.json and checked at import.

An owner of a printed copy may put its values into the file. Data with which the rules cannot be played is rejected
here.
"""

from collections.abc import Mapping
from itertools import combinations_with_replacement
from typing import Annotated, Final, Literal, TypeAlias

import msgspec

from service.games.kit.box import BoxFile, read, require, require_ids
from service.games.kit.folder import read_json
from service.games.visibility import Seat

CardId: TypeAlias = str
ComboId: TypeAlias = str
Kind: TypeAlias = str
"""The id of a combo without its number. All copies of a combo share it."""
Colour: TypeAlias = str
Clause: TypeAlias = str
Figure: TypeAlias = Literal["circle", "triangle", "square", "pentagon"]
Counts: TypeAlias = tuple[int, int, int, int]
"""The number of each figure, in the order of FIGURES."""

SEATS: Final = (2, 3, 4, 5, 6, 7, 8)
AREA_SEATS: Final = 4
"""Number of seats in the first area, if there are two areas (FOU-32)."""
FIGURES: Final[tuple[Figure, ...]] = ("circle", "triangle", "square", "pentagon")
HAND: Final = 5
"""Cards dealt to a seat, and the size up to which a grab refills a hand (FOU-4, FOU-10)."""
BONUS: Final = 3
"""Cards drawn for a burned combo, or for the Hand replenish tile (FOU-12, FOU-13)."""
DIFFERENT: Final = 10
"""Number of different combos that a stop claims (FOU-15)."""
CHOICE_MS: Final = 20_000
"""Time limit for choosing which of several equal combos is checked next (FOU-22)."""

Count: TypeAlias = Annotated[int, msgspec.Meta(ge=1)]
Loss: TypeAlias = Annotated[int, msgspec.Meta(le=0)]
Name: TypeAlias = Annotated[str, msgspec.Meta(pattern="^[a-z]+$")]
Groups: TypeAlias = Annotated[tuple[Count, ...], msgspec.Meta(min_length=1, max_length=4)]


class Need(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a combo requires; exactly one field is set.

    `groups` counts equal figures, each group of another figure, the largest group first.
    """

    groups: Groups | None = None
    golden: Count | None = None
    same_colour_cards: Count | None = None


class Card(msgspec.Struct, frozen=True):
    """A figure card. `seat` is the seat that owns its deck."""

    seat: Seat
    counts: Counts
    golden: int


class Combo(msgspec.Struct, frozen=True):
    """A combo tile: its need, and the values of its two sides."""

    kind: Kind
    need: Need
    green: int
    orange: int


class Replenish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The values of the Hand replenish tile."""

    unused: int
    used: int


class Components(msgspec.Struct, frozen=True):
    """The components as the rules use them. Cards and combos have the order of the file, before any shuffle."""

    cards: Mapping[CardId, Card]
    decks: tuple[tuple[CardId, ...], ...]
    colours: tuple[Colour, ...]
    kinds: tuple[Kind, ...]
    combos: Mapping[ComboId, Combo]
    replenish: Replenish
    banana_skin: int
    set_aside: int
    false_stop: int
    sets: Mapping[int, int]
    stacks: Mapping[int, int]
    round_seconds: int
    family_round_seconds: int
    rounds: int
    rounds_in_two_areas: int

    def combos_of(self, seats: int) -> tuple[ComboId, ...]:
        """The combo tiles of an area with this number of seats, set by set (FOU-1)."""
        return tuple(self.combos)[: self.sets[seats] * len(self.kinds)]


class _CardRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    figures: tuple[Figure, Figure]
    golden: Annotated[int, msgspec.Meta(ge=0, le=2)]
    copies: Count


class _ComboRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: Annotated[str, msgspec.Meta(pattern="^K[0-9]+$")]
    name: str
    need: Need
    green: int
    orange: int


class _File(BoxFile, frozen=True, forbid_unknown_fields=True, kw_only=True):
    figure_cards_per_deck: tuple[_CardRow, ...]
    deck_colours: tuple[Name, ...]
    combo_tiles: tuple[_ComboRow, ...]
    hand_replenish: Replenish
    banana_skin: Loss
    wrong_combo: Loss
    false_stop: Loss
    sets_in_play: dict[int, Count]
    stacks: dict[int, Count]
    round_seconds: Annotated[int, msgspec.Meta(ge=30, le=600)]
    family_round_seconds: Annotated[int, msgspec.Meta(ge=30, le=600)]
    rounds: Annotated[int, msgspec.Meta(ge=1, le=4)]
    rounds_in_two_areas: Annotated[int, msgspec.Meta(ge=1, le=4)]


def load(raw: Mapping[str, object]) -> Components:
    """Convert a component file.

    Raises:
      BadComponents: a value is missing, has the wrong type, or makes the game unplayable.
    """
    file = read(raw, _File)
    _check(file)
    decks = [_deck(file, seat) for seat in range(max(SEATS))]
    sets = range(1, max(file.sets_in_play.values()) + 1)
    cards = {card: figures for deck in decks for card, figures in deck.items()}
    combos = {f"{row.id}-{n}": Combo(row.id, row.need, row.green, row.orange) for n in sets for row in file.combo_tiles}
    require_ids((*cards, *combos))
    return Components(
        cards=cards,
        decks=tuple(tuple(deck) for deck in decks),
        colours=file.deck_colours,
        kinds=tuple(row.id for row in file.combo_tiles),
        combos=combos,
        replenish=file.hand_replenish,
        banana_skin=file.banana_skin,
        set_aside=file.wrong_combo,
        false_stop=file.false_stop,
        sets=file.sets_in_play,
        stacks=file.stacks,
        round_seconds=file.round_seconds,
        family_round_seconds=file.family_round_seconds,
        rounds=file.rounds,
        rounds_in_two_areas=file.rounds_in_two_areas,
    )


def _deck(file: _File, seat: Seat) -> dict[CardId, Card]:
    """A seat's deck before it is shuffled."""
    deck = {}
    for row in file.figure_cards_per_deck:
        circles, triangles, squares, pentagons = (row.figures.count(figure) for figure in FIGURES)
        for n in range(1, row.copies + 1):
            card = f"{seat}:{'-'.join(row.figures)}-{n}"
            deck[card] = Card(seat, (circles, triangles, squares, pentagons), row.golden)
    return deck


def _check(file: _File) -> None:
    pairs = [row.figures for row in file.figure_cards_per_deck]
    kinds = [row.id for row in file.combo_tiles]
    areas = set(range(SEATS[0], 7))
    require(
        pairs == list(combinations_with_replacement(FIGURES, 2)), "a deck must list each pair of figures once, in order"
    )
    require(len(set(file.deck_colours)) == len(file.deck_colours) == 4, "the decks must have four different colours")
    require(kinds == sorted(set(kinds)) and len(kinds) == DIFFERENT, "a set must have ten different combos, in order")
    for row in file.combo_tiles:
        given = [part for part in msgspec.structs.astuple(row.need) if part is not None]
        groups = list(row.need.groups or ())
        require(len(given) == 1, f"the combo {row.id} must have exactly one kind of need")
        require(groups == sorted(groups, reverse=True), f"the combo {row.id} must list its largest group first")
        require(row.orange == row.green - 1, f"the orange side of {row.id} must be worth 1 less than the green side")
    require(set(file.sets_in_play) == areas, "`sets_in_play` must have an entry for each number of players in an area")
    require(set(file.stacks) == areas, "`stacks` must have an entry for each number of players in an area")
    for seats, stacks in file.stacks.items():
        require(stacks <= DIFFERENT * file.sets_in_play[seats], f"{seats} players have more stacks than combos")


RAW: Final = read_json(__file__, "components.json")
BOX: Final = load(RAW)
