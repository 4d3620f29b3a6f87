"""The tiles, the board and the track, read from components.json and checked at import.

An owner of a printed copy may put its values into the file. Data with which the rules cannot be played is rejected
here. Actions and effects name a field by its id. A state refers to it by its index in the file.
"""

from collections.abc import Mapping
from typing import Annotated, Final, Literal, TypeAlias

import msgspec

from service.games.kit.box import BoxFile, read, require, require_ids
from service.games.kit.folder import read_json

Tile: TypeAlias = Literal["tarsier", "chimpanzee", "mandrill", "banana", "lemur", "orangutan"]
"""Tiles of the same kind are interchangeable."""
Colour: TypeAlias = Literal["grey", "black", "white"]
FieldId: TypeAlias = str
DistrictId: TypeAlias = str
Segment: TypeAlias = int
"""0 to 39, clockwise from the street sign."""
Section: TypeAlias = int
"""0 to 7. Section n has the five segments from 5 n on."""
Clause: TypeAlias = str
Cell: TypeAlias = tuple[int, int]

SEATS: Final = (2, 3, 4)
ORDER: Final[tuple[Tile, ...]] = ("tarsier", "chimpanzee", "mandrill", "banana", "lemur", "orangutan")
"""The kinds of tiles in the order before the shuffle."""
SECTIONS: Final = 8
SEGMENTS_PER_SECTION: Final = 5
OPEN_SECTIONS: Final = 2
"""Number of sections with face-up tiles (APE-2, APE-17)."""
VALUES: Final[Mapping[Tile | None, int]] = {"tarsier": 1, "chimpanzee": 2, "mandrill": 3}
"""The apes that score when they are placed, and their values (APE-13)."""
OWNED: Final[tuple[Tile, ...]] = ("lemur", "orangutan")
"""The apes that get a disc (APE-16)."""

Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]


class Field(msgspec.Struct, frozen=True):
    """A space for one tile, the indices of its neighbours, and the printed tiles beside it."""

    id: FieldId
    district: int
    colour: Colour
    neighbours: tuple[int, ...]
    printed: tuple[Tile, ...]


class District(msgspec.Struct, frozen=True):
    """A district, with the indices of its fields and of its neighbours."""

    id: DistrictId
    colour: Colour
    fields: tuple[int, ...]
    neighbours: tuple[int, ...]


class Components(msgspec.Struct, frozen=True):
    """The components as the rules use them. `tiles` are in the order before the shuffle."""

    tiles: tuple[Tile, ...]
    fields: tuple[Field, ...]
    districts: tuple[District, ...]
    track: tuple[Colour, ...]
    discs: int
    money: int


class _TileRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    count: Count
    value: int | None = None


class _DistrictRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    colour: Colour
    position: str


class _FieldRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: FieldId
    cell: Cell
    district: DistrictId
    colour: Colour
    next_to: tuple[str, ...]


class _PrintedRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    cell: Cell
    tile: Tile
    next_to: tuple[str, ...]


class _Offsets(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    even_row: tuple[Cell, ...]
    odd_row: tuple[Cell, ...]


class _File(BoxFile, frozen=True, forbid_unknown_fields=True, kw_only=True):
    layout: str
    neighbours: _Offsets
    tiles: dict[Tile, _TileRow]
    discs_per_player: Count
    money_bundles_start: Count
    money_bundles_total: Count
    score_track: str
    districts: dict[DistrictId, _DistrictRow]
    fields: tuple[_FieldRow, ...]
    printed_tiles: tuple[_PrintedRow, ...]
    pond: tuple[Cell, ...]
    district_adjacency: dict[DistrictId, tuple[DistrictId, ...]]
    track_sections_clockwise_from_sign: tuple[tuple[Colour, ...], ...]


def load(raw: Mapping[str, object]) -> Components:
    """Convert a component file.

    Raises:
      BadComponents: a value is missing, has the wrong type, or makes the game unplayable.
    """
    file = read(raw, _File)
    _check_pieces(file)
    _check_board(file)
    _check_names(file)
    box = _build(file)
    _check_districts(file, box)
    require_ids(field.id for field in box.fields)
    return box


def _build(file: _File) -> Components:
    index = {row.id: number for number, row in enumerate(file.fields)}
    printed = {row.id: row.tile for row in file.printed_tiles}
    ids = tuple(file.districts)
    fields = tuple(
        [
            Field(
                row.id,
                ids.index(row.district),
                row.colour,
                tuple([index[name] for name in row.next_to if name in index]),
                tuple([printed[name] for name in row.next_to if name in printed]),
            )
            for row in file.fields
        ]
    )
    districts = tuple(
        [
            District(
                name,
                row.colour,
                tuple([at for at, field in enumerate(fields) if field.district == number]),
                tuple([ids.index(other) for other in file.district_adjacency[name]]),
            )
            for number, (name, row) in enumerate(file.districts.items())
        ]
    )
    return Components(
        tiles=tuple([tile for tile, row in file.tiles.items() for _ in range(row.count)]),
        fields=fields,
        districts=districts,
        track=tuple([colour for section in file.track_sections_clockwise_from_sign for colour in section]),
        discs=file.discs_per_player,
        money=file.money_bundles_start,
    )


def _check_pieces(file: _File) -> None:
    track = file.track_sections_clockwise_from_sign
    tiles = sum(row.count for row in file.tiles.values())
    values = {tile: row.value for tile, row in file.tiles.items() if row.value is not None}
    require(tuple(file.tiles) == ORDER, "the kinds of tiles must be in the order of ORDER")
    require(tiles == 2 * SECTIONS * SEGMENTS_PER_SECTION, "there must be 80 tiles, two for each segment")
    require(values == VALUES, "the three apes must be worth 1, 2 and 3, and nothing else")
    require(len(track) == SECTIONS, "the track must have 8 sections")
    require(all(len(section) == SEGMENTS_PER_SECTION for section in track), "a section must have 5 segments")
    require(file.money_bundles_total >= max(SEATS) * file.money_bundles_start, "there is too little money")
    # Each tile taken beyond the last one of the older section costs 1. With this little money the next section to be
    # opened is never the older one.
    require(file.money_bundles_total < (SECTIONS - 1) * SEGMENTS_PER_SECTION, "there is too much money")


def _check_board(file: _File) -> None:
    rows: tuple[_FieldRow | _PrintedRow, ...] = (*file.fields, *file.printed_tiles)
    cells = {row.cell: row.id for row in rows}
    next_to = {row.id: row.next_to for row in rows}
    require(len(file.printed_tiles) == 7, "there must be 7 printed tiles")
    require(len(next_to) == len(rows), "two fields or printed tiles have the same id")
    require(
        len(cells.keys() | set(file.pond)) == len(rows) + len(file.pond),
        "two fields, printed tiles or pond cells have the same cell",
    )
    for row in rows:
        names = row.next_to
        require(len(set(names)) == len(names), f"{row.id} lists a neighbour twice")
        require(
            all(row.id in next_to.get(name, ()) for name in names), f"{row.id} lists a neighbour that does not list it"
        )
    for row in rows:
        y, x = row.cell
        offsets = file.neighbours.odd_row if y % 2 else file.neighbours.even_row
        around = {cells.get((y + down, x + right)) for down, right in offsets} - {None}
        require(row.id == f"{y}-{x}", f"{row.id} does not have the id of its cell")
        require(set(row.next_to) == around, f"{row.id} lists other neighbours than its cell has")


def _check_names(file: _File) -> None:
    names = set(file.districts)
    listed = {other for others in file.district_adjacency.values() for other in others}
    require(names.issuperset(row.district for row in file.fields), "a field belongs to no district")
    require(
        set(file.district_adjacency) == names >= listed,
        "the district adjacency must have an entry for each district, and for no other",
    )


def _check_districts(file: _File, box: Components) -> None:
    require(len(box.districts) == 9, "there must be 9 districts")
    colours = [district.colour for district in box.districts]
    require(all(colours.count(colour) == 3 for colour in ("grey", "black", "white")), "each colour needs 3 districts")
    # Taking 75 tiles empties 14 sections at most, and 16 sections of tiles exist. Two sections therefore stay open to
    # the end.
    require(
        len(box.fields) <= len(box.tiles) - SEGMENTS_PER_SECTION,
        "there are too many fields: two sections must stay open to the end",
    )
    for row, field in zip(file.fields, box.fields, strict=True):
        require(
            row.colour == box.districts[field.district].colour, f"{row.id} does not have the colour of its district"
        )
    for number, district in enumerate(box.districts):
        require(len(district.fields) in {8, 9}, f"{district.id} must have 8 or 9 fields")
        require(_is_connected(box, district), f"{district.id} is not connected")
        touching = {box.fields[other].district for at in district.fields for other in box.fields[at].neighbours}
        listed = file.district_adjacency[district.id]
        require(len(set(listed)) == len(listed), f"{district.id} lists a district twice")
        require(
            set(district.neighbours) == touching - {number},
            f"{district.id} does not list the districts that it touches",
        )


def _is_connected(box: Components, district: District) -> bool:
    reached = {district.fields[0]}
    border = [district.fields[0]]
    while border:
        found = set(box.fields[border.pop()].neighbours).intersection(district.fields) - reached
        reached |= found
        border += sorted(found)
    return len(reached) == len(district.fields)


RAW: Final = read_json(__file__, "components.json")
BOX: Final = load(RAW)
FIELDS: Final = BOX.fields
DISTRICTS: Final = BOX.districts
FIELD_INDEX: Final[Mapping[FieldId, int]] = {field.id: index for index, field in enumerate(FIELDS)}
"""The index of a field in the tuples of a state."""
