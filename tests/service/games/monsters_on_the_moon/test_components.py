"""The component file, and faulty files, which are rejected."""

import copy
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import pytest

from service.games.kit.box import BadComponents
from service.games.monsters_on_the_moon.components import BOX, RAW, Face, load
from service.games.monsters_on_the_moon.grid import COORDINATE_LIMIT, ROTATIONS, coordinates_of, footprint
from service.games.monsters_on_the_moon.layout import OFFSET_LIMIT

File: TypeAlias = dict[str, Any]
Change: TypeAlias = Callable[[File], object]


def shown(cards: Sequence[str]) -> Counter[Face]:
    return Counter(face for card in cards for face in BOX.faces[card, 0])


def test_the_decks_have_the_counts_that_their_provenance_states() -> None:
    small = shown(BOX.decks[3])
    assert small[Face("crystal", 0)] == 24
    assert {small[Face(kind, 1)] for kind in ("werewolf", "witch", "vampire")} == {30}
    assert {small[Face(kind, 2)] for kind in ("werewolf", "witch", "vampire")} == {2}
    large = shown(BOX.decks[4])
    assert large[Face("crystal", 0)] == 32
    assert {large[Face(kind, 1)] for kind in ("werewolf", "witch", "vampire", "skeleton")} == {29}
    assert {large[Face(kind, 2)] for kind in ("werewolf", "witch", "vampire", "skeleton")} == {2}


def test_every_card_shows_every_monster_of_its_deck() -> None:
    for seats, monsters in ((3, 3), (4, 4)):
        for card in BOX.decks[seats]:
            assert len({face.kind for face in BOX.faces[card, 0]} - {"crystal"}) == monsters


def test_a_card_is_turned_clockwise() -> None:
    kinds = {
        rotation: "".join(face.kind[0] + face.kind[1] for face in BOX.faces["A19", rotation])
        for rotation in (0, 90, 180, 270)
    }
    # H c W over H c V
    assert kinds == {
        0: "wicrwewicrva",
        90: "wiwicrcrvawe",
        180: "vacrwiwecrwi",
        270: "wevacrcrwiwi",
    }


def test_the_tracks_and_pieces() -> None:
    assert BOX.tracks[2].points == (0, 1, 1, 2, 3, 3, 4, 5, 5, 6, 7, 7, 8, 9, 10, 12)
    assert BOX.tracks[3] == BOX.tracks[4]
    assert BOX.tracks[3].points == (0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12)
    assert (BOX.tracks[2].red, BOX.tracks[3].red) == ((5, 10), (4, 8))
    assert (BOX.plates, BOX.ships) == (2, 2)


def test_no_card_can_reach_the_end_of_the_grid() -> None:
    """Each card shares an edge with the display or covers a square of it, so it extends it by at most its longer side."""
    squares = [coordinates_of(cell) for rotation in ROTATIONS for cell in footprint(0, 0, rotation)]
    longer_side = 1 + max(max(place) for place in squares)
    cards_after_the_layout = max(map(len, BOX.decks.values()))
    assert OFFSET_LIMIT + longer_side * (1 + cards_after_the_layout) <= COORDINATE_LIMIT


def test_every_value_has_a_source() -> None:
    assert RAW["provenance"].keys() == RAW.keys() - {"provenance"}


def card(file: File, name: str) -> dict[str, Any]:
    cards = (*file["deck_2_3"], *file["deck_4"], *file["moonscape"], file["armstrong"])
    found: dict[str, Any] = next(row for row in cards if row["id"] == name)
    return found


def prints(file: File, name: str, row: int, column: int, symbol: str) -> None:
    card(file, name)["rows"][row][column] = symbol


def double_head_lost(file: File, name: str) -> None:
    card(file, name)["start_card_of"] = None
    prints(file, name, 1, 2, "W")


def track(file: File, **changes: object) -> None:
    file["crystal_track"]["2"].update(changes)


CHANGES: list[tuple[str, Change]] = [
    ("missing", lambda file: file.pop("deck_4")),
    ("unknown field", lambda file: file.update(extra=1)),
    ("20 cards", lambda file: file["deck_2_3"].pop()),
    ("26 cards", lambda file: file["deck_4"].append(copy.deepcopy(file["deck_4"][0]))),
    ("A07 shows a symbol that is not allowed", lambda file: prints(file, "A07", 0, 0, "S")),
    ("A07 shows a symbol that is not allowed", lambda file: prints(file, "A07", 0, 0, "e")),
    ("A07 shows a symbol that is not allowed", lambda file: prints(file, "A07", 0, 0, "WH")),
    ("A07 must show the double head", lambda file: prints(file, "A07", 0, 0, "WW")),
    ("A01 must show the double head", lambda file: prints(file, "A01", 1, 2, "W")),
    ("A01 must show the double head", lambda file: prints(file, "A01", 1, 2, "HH")),
    ("A01 must show the double head", lambda file: prints(file, "A01", 0, 0, "WW")),
    ("on two cards", lambda file: double_head_lost(file, "A01")),
    ("1 to 40 characters", lambda file: card(file, "A07").update(id="A" * 41)),
    ("1 to 40 characters", lambda file: card(file, "A07").update(id="")),
    ("same id", lambda file: card(file, "A07").update(id="B07")),
    ("M1 and M2", lambda file: card(file, "M1").update(id="M3")),
    ("moonscape must be empty", lambda file: prints(file, "M2", 0, 0, "c")),
    ("must be ARM", lambda file: card(file, "ARM").update(id="ARMSTRONG")),
    ("base camp once", lambda file: prints(file, "ARM", 0, 0, "A")),
    ("base camp once", lambda file: prints(file, "ARM", 0, 1, "e")),
    ("start at 0", lambda file: track(file, vp_by_step=[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])),
    ("start at 0", lambda file: track(file, vp_by_step=[0, 2, 1, 4, 5, 6, 7, 8, 9, 10, 11])),
    ("start at 0", lambda file: track(file, vp_by_step=[])),
    ("each plate", lambda file: track(file, red_steps=[5])),
    ("and ascend", lambda file: track(file, red_steps=[10, 5])),
    ("and ascend", lambda file: track(file, red_steps=[5, 5])),
    ("on the track", lambda file: track(file, red_steps=[5, 16])),
    ("on the track", lambda file: track(file, red_steps=[0, 5])),
    ("just_landed: cards must not overlap", lambda file: file["layouts"]["just_landed"][0].update(x=1)),
    ("every layout", lambda file: file["layouts"].pop("long_ways")),
    ("1 to 8", lambda file: file["missions"].pop()),
    ("1 to 8", lambda file: file["missions"].reverse()),
    ("must be open", lambda file: file["missions"][6].update(open=True)),
    ("provenance must have", lambda file: file["provenance"].pop("layouts")),
    ("provenance must have", lambda file: file["provenance"].update(other=file["provenance"]["legend"])),
    ("empty provenance", lambda file: file["provenance"].update(legend=[])),
]


@pytest.mark.parametrize(("fault", "change"), CHANGES, ids=[f"{n} {fault}" for n, (fault, _) in enumerate(CHANGES)])
def test_a_component_file_that_makes_the_game_unplayable_is_rejected(fault: str, change: Change) -> None:
    file = copy.deepcopy(RAW)
    change(file)
    with pytest.raises(BadComponents, match=fault):
        load(file)


def test_an_owner_may_replace_uncertain_values() -> None:
    file = copy.deepcopy(RAW)
    card(file, "A07")["rows"][0].reverse()
    file["crystal_track"]["3-4"] = {"vp_by_step": [0, 2, 4, 6, 9], "red_steps": [1, 3]}
    file["missions"][0]["vp"] = 8
    file["armstrong"]["rows"] = [["A", "e", "e"], ["e", "e", "B"]]
    box = load(file)
    assert box.faces["A07", 0][0] == Face("vampire", 1)
    assert box.tracks[4].red == (1, 3)
    assert box.missions[1] == 8
