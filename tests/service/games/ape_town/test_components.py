"""The component file, and faulty files, which are rejected."""

import copy
from collections import Counter
from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from service.games.ape_town.components import BOX, DISTRICTS, FIELDS, RAW, load
from service.games.kit.box import BadComponents

File: TypeAlias = dict[str, Any]
Change: TypeAlias = Callable[[File], object]


def test_the_board_has_75_fields_25_of_each_colour() -> None:
    assert len(FIELDS) == 75
    assert Counter(field.colour for field in FIELDS) == {"grey": 25, "black": 25, "white": 25}
    assert Counter(len(district.fields) for district in DISTRICTS) == {8: 6, 9: 3}


def test_neighbouring_fields_list_each_other() -> None:
    pairs = {(index, other) for index, field in enumerate(FIELDS) for other in field.neighbours}
    assert pairs == {(other, index) for index, other in pairs}
    neighbours = {(at, other) for at, district in enumerate(DISTRICTS) for other in district.neighbours}
    assert neighbours == {(other, at) for at, other in neighbours}
    touching = {(FIELDS[one].district, FIELDS[other].district) for one, other in pairs}
    assert neighbours == {(one, other) for one, other in touching if one != other}


def test_the_track_has_40_segments_of_three_colours() -> None:
    assert len(BOX.track) == 40
    assert Counter(BOX.track) == {"black": 13, "grey": 13, "white": 14}


def test_every_value_has_a_source() -> None:
    assert RAW["provenance"].keys() == RAW.keys() - {"provenance"}


def field(file: File, name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(row for row in (*file["fields"], *file["printed_tiles"]) if row["id"] == name)
    return found


def put_into(file: File, name: str, district: str, colour: str) -> File:
    field(file, name).update(district=district, colour=colour)
    return file


def move(file: File, name: str, other: str) -> None:
    """Swap the cells and ids of two fields, but keep their neighbours."""
    one, two = field(file, name), field(file, other)
    one["cell"], two["cell"] = two["cell"], one["cell"]


def without_field(file: File, name: str) -> None:
    file["fields"].remove(field(file, name))
    for row in (*file["fields"], *file["printed_tiles"]):
        row["next_to"] = [other for other in row["next_to"] if other != name]


def extra_field(file: File, cell: tuple[int, int], district: str, colour: str) -> None:
    """Add a field in a cell beyond the right end of an odd row."""
    y, x = cell
    offsets = file["neighbours"]["odd_row" if y % 2 else "even_row"]
    around = {f"{y + down}-{x + right}" for down, right in offsets}
    beside = [row for row in (*file["fields"], *file["printed_tiles"]) if row["id"] in around]
    name = f"{y}-{x}"
    next_to = [row["id"] for row in beside]
    for row in beside:
        row["next_to"].append(name)
    file["fields"].append({"cell": [y, x], "district": district, "id": name, "colour": colour, "next_to": next_to})


CHANGES: list[tuple[str, Change]] = [
    ("missing", lambda file: file.pop("fields")),
    ("unknown field", lambda file: file.update(extra=1)),
    ("80 tiles", lambda file: file["tiles"]["banana"].update(count=25)),
    ("order", lambda file: file["tiles"].update(banana=file["tiles"].pop("banana"))),
    ("worth 1, 2 and 3", lambda file: file["tiles"]["tarsier"].update(value=2)),
    ("worth 1, 2 and 3", lambda file: file["tiles"]["banana"].update(value=1)),
    ("8 sections", lambda file: file["track_sections_clockwise_from_sign"].pop()),
    ("5 segments", lambda file: file["track_sections_clockwise_from_sign"][3].pop()),
    ("too little money", lambda file: file.update(money_bundles_total=23)),
    ("too much money", lambda file: file.update(money_bundles_total=35)),
    ("provenance", lambda file: file["provenance"].pop("pond")),
    ("provenance", lambda file: file["provenance"].update(other=file["provenance"]["pond"])),
    ("empty provenance", lambda file: file["provenance"].update(pond=[])),
    ("7 printed tiles", lambda file: file["printed_tiles"].pop()),
    ("same id", lambda file: file["fields"].append(copy.deepcopy(file["fields"][0]))),
    ("same cell", lambda file: file["pond"].append([0, 0])),
    ("does not have the id of its cell", lambda file: move(file, "0-0", "8-9")),
    ("lists a neighbour twice", lambda file: field(file, "0-0")["next_to"].append("0-1")),
    ("does not list it", lambda file: field(file, "0-0")["next_to"].remove("0-1")),
    ("does not list it", lambda file: field(file, "0-0")["next_to"].append("nowhere")),
    (
        "lists other neighbours",
        lambda file: [field(file, one)["next_to"].append(two) for one, two in (("0-0", "8-9"), ("8-9", "0-0"))],
    ),
    ("no district", lambda file: put_into(file, "0-0", "D10", "grey")),
    ("entry for each district", lambda file: file["district_adjacency"].pop("D1")),
    ("entry for each district", lambda file: file["district_adjacency"]["D1"].append("D10")),
    (
        "9 districts",
        lambda file: (file["districts"].update(D10=file["districts"]["D1"]), file["district_adjacency"].update(D10=[])),
    ),
    ("3 districts", lambda file: file["districts"]["D1"].update(colour="white")),
    ("too many fields", lambda file: extra_field(file, (1, 9), "D3", "black")),
    ("does not have the colour", lambda file: put_into(file, "0-0", "D1", "black")),
    ("8 or 9 fields", lambda file: without_field(file, "0-0")),
    ("is not connected", lambda file: (put_into(file, "0-0", "D9", "grey"), put_into(file, "8-9", "D1", "grey"))),
    ("lists a district twice", lambda file: file["district_adjacency"]["D1"].append("D2")),
    ("does not list the districts", lambda file: file["district_adjacency"]["D1"].append("D9")),
    ("does not list the districts", lambda file: file["district_adjacency"]["D1"].remove("D2")),
]


@pytest.mark.parametrize(("fault", "change"), CHANGES, ids=[f"{n} {fault}" for n, (fault, _) in enumerate(CHANGES)])
def test_a_component_file_that_makes_the_game_unplayable_is_rejected(fault: str, change: Change) -> None:
    file = copy.deepcopy(RAW)
    change(file)
    with pytest.raises(BadComponents, match=fault):
        load(file)


def test_an_owner_may_replace_uncertain_values() -> None:
    file = copy.deepcopy(RAW)
    file["tiles"]["lemur"]["count"], file["tiles"]["orangutan"]["count"] = 12, 14
    file["track_sections_clockwise_from_sign"][0].reverse()
    without_field(file, "4-9")
    box = load(file)
    assert len(box.fields) == 74
    assert box.tiles.count("orangutan") == 14
