"""The cards, awards, coins and the track, read from components.json and checked at import.

An owner of a printed copy may put its values into the file. Data with which the rules cannot be played is rejected
here.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Final, Literal, TypeAlias

import msgspec

from service.games.kit.box import BoxFile, read, require, require_ids
from service.games.kit.folder import read_json

Tribe: TypeAlias = str
CardId: TypeAlias = str
Clause: TypeAlias = str

SEATS: Final = (2, 3, 4)
SUPPLY_AT_START: Final = 3
"""Favor coins in the supply of each tribe at the start (MOM-3)."""
COINS_AT_START: Final = 1
"""Favor coins of each tribe that a seat holds at the start (MOM-3)."""
HAND_AT_START: Final = 2
"""Civilization cards that a seat is dealt at the start (MOM-2)."""
SHIP_POOL: Final = 2
"""Face-up ships in the Ship Pool (MOM-4)."""

Count: TypeAlias = Annotated[int, msgspec.Meta(ge=1)]
TribeName: TypeAlias = Annotated[str, msgspec.Meta(pattern="^[a-z]+$")]


class Monkey(msgspec.Struct, frozen=True):
    tribe: Tribe
    status: int


class Civilization(msgspec.Struct, frozen=True):
    tribe: Tribe
    spaces: int


class Ship(msgspec.Struct, frozen=True):
    tribe: Tribe
    capacity: int
    points: int


class Award(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    rank: int
    leader: int
    undersecretary: int


class Components(msgspec.Struct, frozen=True):
    """The components as the rules use them. Cards have the order of the file, before any shuffle."""

    tribes: tuple[Tribe, ...]
    monkeys: Mapping[CardId, Monkey]
    civilization: Mapping[CardId, Civilization]
    ships: Mapping[CardId, Ship]
    coins_per_tribe: int
    removed: Mapping[int, int]
    rounds: Mapping[int, int]
    last_space: int
    white_dot: int
    awards: tuple[Award, ...]
    scorn_penalty: int


class _MonkeyRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    tribe: TribeName
    status: Count
    copies: Count


class _CivilizationRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    tribe: TribeName
    spaces: Count
    copies: Count


class _ShipRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    border: TribeName
    capacity: Count
    vp: int
    copies: Count


class _Track(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    spaces: Count
    start: Literal[0]
    finish_space: Count
    white_dot: Count


class _File(BoxFile, frozen=True, forbid_unknown_fields=True, kw_only=True):
    tribes: tuple[TribeName, ...]
    monkey_cards: tuple[_MonkeyRow, ...]
    civilization_cards: tuple[_CivilizationRow, ...]
    civilization_removed: dict[int, int]
    rounds: dict[int, int]
    ship_cards: tuple[_ShipRow, ...]
    tribe_cards: int
    scorn_cards: int
    scorn_penalty: Annotated[int, msgspec.Meta(le=0)]
    reminder_cards: int
    coins_per_tribe: int
    coins_total: int
    tribe_track: _Track
    awards: tuple[Award, ...]


def load(raw: Mapping[str, object]) -> Components:
    """Convert a component file.

    Raises:
      BadComponents: a value is missing, has the wrong type, or makes the game unplayable.
    """
    file = read(raw, _File)
    _check(file)
    monkeys = [
        (f"{row.tribe}-{row.status}-{n}", Monkey(row.tribe, row.status))
        for row in file.monkey_cards
        for n in range(1, row.copies + 1)
    ]
    civilization = [
        (f"{row.tribe}-{row.spaces}-{n}", Civilization(row.tribe, row.spaces))
        for row in file.civilization_cards
        for n in range(1, row.copies + 1)
    ]
    ships = [
        (f"{row.border}-{row.capacity}", Ship(row.border, row.capacity, row.vp))
        for row in file.ship_cards
        for _ in range(row.copies)
    ]
    for kind, ids in (
        ("monkey", [card for card, _ in monkeys]),
        ("civilization", [card for card, _ in civilization]),
        ("ship", [card for card, _ in ships]),
    ):
        require(len(set(ids)) == len(ids), f"two {kind} cards have the same id")
        require_ids(ids)
    require_ids(file.tribes)
    for seats in SEATS:
        left = len(civilization) - file.civilization_removed[seats]
        require(left % seats == 0, f"the civilization deck cannot be divided equally among {seats} players")
        require(
            left == seats * file.rounds[seats],
            f"the civilization deck does not fit the number of rounds of {seats} players",
        )
        require(left >= seats * HAND_AT_START, f"the civilization deck cannot deal hands to {seats} players")
    require(len(monkeys) >= max(SEATS) + 1, "there are fewer monkeys than the pool needs")
    require(len(ships) >= max(SEATS) + SHIP_POOL, "there are fewer ships than the start needs")
    return Components(
        tribes=file.tribes,
        monkeys=dict(monkeys),
        civilization=dict(civilization),
        ships=dict(ships),
        coins_per_tribe=file.coins_per_tribe,
        removed=file.civilization_removed,
        rounds=file.rounds,
        last_space=file.tribe_track.finish_space,
        white_dot=file.tribe_track.white_dot,
        awards=file.awards,
        scorn_penalty=file.scorn_penalty,
    )


def _check(file: _File) -> None:
    tribes = set(file.tribes)
    colours: Iterable[Tribe] = (
        *(row.tribe for row in file.monkey_cards),
        *(row.tribe for row in file.civilization_cards),
        *(row.border for row in file.ship_cards),
    )
    track = file.tribe_track
    require(len(file.tribes) == len(tribes) == 6, "the Alliance Circle must have six different tribes")
    require(tribes.issuperset(colours), "a card belongs to no tribe")
    require(file.tribe_cards == file.scorn_cards == 6, "each tribe must have one Tribe card and one Scorn card")
    require(file.coins_per_tribe >= SUPPLY_AT_START + max(SEATS) * COINS_AT_START, "there are too few Favor coins")
    require(file.coins_total == 6 * file.coins_per_tribe, "the Favor coins of the tribes do not add up")
    require(
        set(file.civilization_removed) == set(SEATS),
        "`civilization_removed` must have an entry for each number of players",
    )
    require(set(file.rounds) == set(SEATS), "`rounds` must have an entry for each number of players")
    require(
        track.white_dot <= track.finish_space == track.spaces,
        "the track must end at its last space, and the white dot must lie on it",
    )
    require(
        [award.rank for award in file.awards] == [1, 2, 3, 4, 5, 6],
        "the six Finish Circles must have awards of rank 1 to 6",
    )


RAW: Final = read_json(__file__, "components.json")
BOX: Final = load(RAW)
TRIBES: Final = BOX.tribes
TRIBE_INDEX: Final[Mapping[Tribe, int]] = {tribe: index for index, tribe in enumerate(TRIBES)}
"""The index of a tribe in the tuples of a state."""
