"""The playthroughs of Monsters on the Moon contain certain rare situations, also after a change of the rules."""

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

import pytest

from service.games.monsters_on_the_moon.components import BOX
from service.games.monsters_on_the_moon.grid import STEPS, cell_at
from tests.playthroughs.record import Case, cases, path

GAME: Final = "monsters_on_the_moon"
CASES: Final = {case.name: case for case in cases(GAME)}
Lines = list[dict[str, Any]]


def read(name: str) -> Lines:
    return [json.loads(line) for line in path(GAME, CASES[name]).read_text(encoding="utf-8").splitlines()]


def effects(lines: Lines, *kinds: str) -> Lines:
    return [effect for line in lines for effect in line.get("effects", ()) if effect["type"] in kinds]


def at_the_end(lines: Lines) -> dict[str, Any]:
    """The spectator's view at the end."""
    found: dict[str, Any] = next(line for line in reversed(lines) if "sights" in line)["sights"]["spectator"]
    return found["observation"]  # type: ignore[no-any-return]  # JSON


def an_area_in_an_area(lines: Lines) -> bool:
    areas = [{cell_at(at["x"], at["y"]) for at in area} for area in at_the_end(lines)["areas"]]
    rims = [{cell + step for cell in area for step in STEPS} - area for area in areas]
    return any(rim <= area for rim in rims for area in areas)


def a_skipped_seat(lines: Lines) -> bool:
    """The same seat has two turns in a row, although no seat chose who goes first in between."""
    turns = effects(lines, "turn_opened", "first_chosen")
    return any(one["type"] == two["type"] and one["seat"] == two["seat"] for one, two in pairwise(turns))


def walls_left_over(lines: Lines) -> bool:
    return any(held["long_walls"] + held["short_walls"] for held in at_the_end(lines)["seats"])


def a_head_counted_double(lines: Lines) -> bool:
    return any(scored.get("factor") == 2 for scored in effects(lines, "points_scored"))


def a_shared_win(lines: Lines) -> bool:
    (scored,) = [line for line in lines if line.get("type") == "match_scored"]
    return len(scored["outcome"]["winners"]) > 1


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("nested-areas", an_area_in_an_area),
        ("two-with-walls", a_skipped_seat),
        ("two-with-walls", walls_left_over),
        ("three-with-walls-and-missions", walls_left_over),
        ("four-with-walls-and-open-missions", a_head_counted_double),
        ("shared-win", a_shared_win),
        ("solo", lambda lines: bool(effects(lines, "solo_rated"))),
        ("three-secret-missions", lambda lines: effects(lines, "decider_named")[0]["by"] == "draw"),
        ("three-secret-missions", lambda lines: bool(effects(lines, "plate_placed"))),
    ],
)
def test_a_playthrough_contains_its_situation(name: str, shown: Callable[[Lines], bool]) -> None:
    assert shown(read(name))


def test_each_layout_and_each_kind_of_mission_has_a_playthrough_and_walls_for_every_table() -> None:
    def option_values(option: str, default: object = None) -> list[object]:
        return [case.options.get(option, default) for case in CASES.values() if len(case.bots) > 1]

    layouts = option_values("layout", "just_landed")
    assert {layout for layout in layouts if isinstance(layout, str)} == set(BOX.layouts)
    assert any(isinstance(layout, list) for layout in layouts)
    with_walls: list[Case] = [case for case in CASES.values() if case.options.get("walls")]
    assert {len(case.bots) for case in with_walls} == {2, 3, 4}
    for kinds in (option_values("missions"), [case.options.get("missions") for case in with_walls]):
        assert set(kinds) == {None, "secret", "open"}
