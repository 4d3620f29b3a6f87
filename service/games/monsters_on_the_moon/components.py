"""The cards, layouts, tracks and missions, read from components.json and checked at import.

An owner of a printed copy may put its values into the file. Data with which the rules cannot be played is rejected
here.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Annotated, Final, Literal, NamedTuple, TypeAlias, get_args

import msgspec

from service.games.kit.box import BoxFile, read, require, require_ids
from service.games.kit.folder import read_json
from service.games.monsters_on_the_moon.grid import ROTATIONS, Rotation, rotated
from service.games.monsters_on_the_moon.layout import LayoutCard, LayoutName, layout_fault
from service.games.visibility import Seat

CardId: TypeAlias = str
Clause: TypeAlias = str
MissionId: TypeAlias = int
Monster: TypeAlias = Literal["werewolf", "witch", "vampire", "skeleton"]
Kind: TypeAlias = Literal["werewolf", "witch", "vampire", "skeleton", "crystal", "empty", "armstrong", "base_camp"]
"""What a square shows. A monster has one head or two."""

SEATS: Final = (1, 2, 3, 4)
MONSTERS: Final[tuple[Monster, ...]] = ("werewolf", "witch", "vampire", "skeleton")
WITHOUT_SKELETON: Final = MONSTERS[:3]
"""The monsters of the smaller deck (MON-1)."""
DRAWN_AT_START: Final[Mapping[int, int]] = {2: 3, 3: 1, 4: 1}
"""Cards that each seat draws in addition to its first two, by number of seats (MON-3)."""
SECRET_MISSIONS: Final = 2
OPEN_MISSIONS: Final = 3
"""Missions dealt to each seat, or laid open for all (MON-70)."""

_SYMBOLS: Final[Mapping[str, Kind]] = {
    "W": "werewolf",
    "H": "witch",
    "V": "vampire",
    "S": "skeleton",
    "c": "crystal",
    "e": "empty",
    "A": "armstrong",
    "B": "base_camp",
}
"""The symbols of the file. A monster's symbol twice is a double head."""

Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]


class Face(NamedTuple):
    """What is printed on a square, and its number of heads."""

    kind: Kind
    heads: int


class Track(NamedTuple):
    """The crystal track: the points of each field from 0 on, and the red-framed fields, on which the plates lie."""

    points: tuple[int, ...]
    red: tuple[int, ...]


class Walls(NamedTuple):
    """The moon walls that each seat gets (MON-60)."""

    long: int
    short: int


class Components(msgspec.Struct, frozen=True):
    """The components as the rules use them. Cards have the order of the file, before any shuffle."""

    faces: Mapping[tuple[CardId, Rotation], tuple[Face, ...]]
    decks: Mapping[int, tuple[CardId, ...]]
    start_cards: Mapping[int, Mapping[Monster, tuple[CardId, ...]]]
    layouts: Mapping[LayoutName, tuple[LayoutCard, ...]]
    tracks: Mapping[int, Track]
    plates: int
    ships: int
    walls: Mapping[int, Walls]
    missions: Mapping[MissionId, int]
    open_missions: tuple[MissionId, ...]


class _CardRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: CardId
    rows: tuple[tuple[str, str, str], tuple[str, str, str]]

    def squares(self) -> Iterator[str]:
        for row in self.rows:
            yield from row


class _MonsterRow(_CardRow, frozen=True, forbid_unknown_fields=True):
    start_card_of: Monster | None


class _TrackRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    vp_by_step: tuple[Count, ...]
    red_steps: tuple[Count, ...]


class _Tracks(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    two: _TrackRow = msgspec.field(name="2")
    more: _TrackRow = msgspec.field(name="3-4")


class _WallKind(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    count: Count
    length_edges: Count


class _WallsRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    long: Count
    short: Count


class _WallsEach(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    two: _WallsRow = msgspec.field(name="2")
    three: _WallsRow = msgspec.field(name="3")
    four: _WallsRow = msgspec.field(name="4")


class _Walls(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    long: _WallKind
    short: _WallKind
    per_player: _WallsEach

    def by_seats(self) -> dict[int, _WallsRow]:
        return {2: self.per_player.two, 3: self.per_player.three, 4: self.per_player.four}


class _MissionRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: MissionId
    vp: Count
    open: bool


class _File(BoxFile, frozen=True, forbid_unknown_fields=True, kw_only=True):
    legend: dict[str, str]
    deck_2_3: tuple[_MonsterRow, ...]
    deck_4: tuple[_MonsterRow, ...]
    moonscape: tuple[_CardRow, ...]
    armstrong: _CardRow
    layouts: dict[LayoutName, tuple[LayoutCard, ...]]
    crystal_track: _Tracks
    monster_tiles_per_player: Count
    spaceships_per_player: Count
    walls: _Walls
    missions: tuple[_MissionRow, ...]


def load(raw: Mapping[str, object]) -> Components:
    """Convert a component file.

    Raises:
      BadComponents: a value is missing, has the wrong type, or makes the game unplayable.
    """
    file = read(raw, _File)
    _check_deck(file.deck_2_3, 20, WITHOUT_SKELETON)
    _check_deck(file.deck_4, 26, MONSTERS)
    _check_other_cards(file)
    _check_board(file)
    two, more = [Track(row.vp_by_step, row.red_steps) for row in (file.crystal_track.two, file.crystal_track.more)]
    small, large = [tuple([card.id for card in deck]) for deck in (file.deck_2_3, file.deck_4)]
    first = _start_cards(file.deck_2_3)
    return Components(
        faces={
            (card.id, rotation): tuple([_face(symbol) for symbol in rotated(card.rows, rotation)])
            for card in _all_cards(file)
            for rotation in ROTATIONS
        },
        decks={1: small, 2: small, 3: small, 4: large},
        start_cards={2: first, 3: first, 4: _start_cards(file.deck_4)},
        layouts=file.layouts,
        tracks={2: two, 3: more, 4: more},
        plates=file.monster_tiles_per_player,
        ships=file.spaceships_per_player,
        walls={seats: Walls(row.long, row.short) for seats, row in file.walls.by_seats().items()},
        missions={row.id: row.vp for row in file.missions},
        open_missions=tuple([row.id for row in file.missions if row.open]),
    )


def _all_cards(file: _File) -> tuple[_CardRow, ...]:
    return (*file.deck_2_3, *file.deck_4, *file.moonscape, file.armstrong)


def _face(symbol: str) -> Face:
    kind = _SYMBOLS[symbol[0]]
    return Face(kind, len(symbol) if kind in MONSTERS else 0)


def _start_cards(deck: tuple[_MonsterRow, ...]) -> dict[Monster, tuple[CardId, ...]]:
    return {monster: tuple([card.id for card in deck if card.start_card_of == monster]) for monster in MONSTERS}


def _check_deck(deck: tuple[_MonsterRow, ...], size: int, monsters: tuple[Monster, ...]) -> None:
    single = {symbol for symbol, kind in _SYMBOLS.items() if kind in monsters}
    double = {symbol * 2: _SYMBOLS[symbol] for symbol in single}
    require(len(deck) == size, f"this deck must have {size} cards")
    for card in deck:
        symbols = list(card.squares())
        doubles = [double[symbol] for symbol in symbols if symbol in double]
        require(set(symbols) <= {*single, *double, "c"}, f"{card.id} shows a symbol that is not allowed in this deck")
        require(
            doubles == ([card.start_card_of] if card.start_card_of else []),
            f"{card.id} must show the double head of `start_card_of`, and no other",
        )
    owners = Counter(card.start_card_of for card in deck if card.start_card_of)
    require(owners == dict.fromkeys(monsters, 2), "each monster must have a double head on two cards")


def _check_other_cards(file: _File) -> None:
    ids = [card.id for card in _all_cards(file)]
    require(len(set(ids)) == len(ids), "two cards have the same id")
    require_ids(ids)
    require([card.id for card in file.moonscape] == ["M1", "M2"], "the moonscapes must be M1 and M2")
    require(all(set(card.squares()) == {"e"} for card in file.moonscape), "a moonscape must be empty")
    require(file.armstrong.id == "ARM", "Armstrong's card must be ARM")
    require(sorted(file.armstrong.squares()) == ["A", "B", *"eeee"], "ARM must show Armstrong and his base camp once")


def _check_board(file: _File) -> None:
    for row in (file.crystal_track.two, file.crystal_track.more):
        points, red = row.vp_by_step, row.red_steps
        require(
            points[:1] == (0,) and list(points) == sorted(points),
            "the points of a crystal track must start at 0 and never fall",
        )
        require(len(red) == file.monster_tiles_per_player, "each plate needs a red-framed field")
        require(list(red) == sorted(set(red)), "red-framed fields must be different and ascend")
        require(all(0 < step < len(points) for step in red), "a red-framed field must be on the track")
    for name, cards in file.layouts.items():
        fault = layout_fault(cards)
        require(fault is None, f"layout {name}: {fault}")
    require(set(file.layouts) == set(get_args(LayoutName)), "every layout must have an entry")
    lengths = (file.walls.short.length_edges, file.walls.long.length_edges)
    require(lengths == (1, 2), "short walls must cover one edge, long ones two")
    for seats, each in file.walls.by_seats().items():
        enough = seats * each.long <= file.walls.long.count and seats * each.short <= file.walls.short.count
        require(enough, f"there are too few walls for {seats} players")
    require([row.id for row in file.missions] == list(range(1, 9)), "the missions must be 1 to 8")
    require([row.id for row in file.missions if row.open] == list(range(1, 7)), "exactly missions 1 to 6 must be open")


RAW: Final = read_json(__file__, "components.json")
BOX: Final = load(RAW)


def start_cards(monsters: tuple[Monster, ...]) -> tuple[tuple[CardId, ...], ...]:
    """For each monster in seat order, the two cards with its double head (MON-2)."""
    cards = BOX.start_cards[len(monsters)]
    return tuple([cards[monster] for monster in monsters])


def right_of(seat: Seat, seats: int) -> Seat:
    """The seat on the right: the next lower one. Left is the next higher one, and the order of turns."""
    return (seat - 1) % seats


def left_of(seat: Seat, seats: int) -> Seat:
    return (seat + 1) % seats
