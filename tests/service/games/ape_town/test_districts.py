"""APE-20 to APE-22: a completed district, its boss and its inferior neighbours."""

from collections.abc import Mapping

import pytest

from service.games.ape_town.actions import PlaceTile
from service.games.ape_town.components import DISTRICTS, FieldId
from service.games.ape_town.effects import (
    AnyEffect,
    BossFound,
    BossMissing,
    DiscPlaced,
    DistrictCompleted,
    NeighbourInferior,
    PointsScored,
    TilePlaced,
)
from service.games.ape_town.state import State
from tests.service.games.ape_town.builders import (
    district_tiles,
    effects_of,
    fields_of,
    play,
    table,
    with_tile_to_place,
    with_tiles,
)

LAURA, EMMA, FELIX = range(3)
LAST = PlaceTile(fields_of("D8")[-1])


def before_completion(*tiles: str, neighbours: Mapping[FieldId, str] | None = None, seats: int = 3) -> State:
    """The state in which seat 0 will complete the black district D8 with a banana.

    D8 has these tiles, and bananas elsewhere.
    """
    state = with_tiles(table(seats), district_tiles("D8", *tiles, free=1))
    return with_tile_to_place(with_tiles(state, neighbours or {}), "banana", "black")


def scoring_effects(state: State) -> list[AnyEffect]:
    """The effects of the district's completion."""
    effects = effects_of(state, LAST)
    start = next(index for index, effect in enumerate(effects) if isinstance(effect, DistrictCompleted))
    return effects[start + 1 :]


def boss_effects(*tiles: str) -> list[AnyEffect]:
    """The points of the boss of a district with these tiles."""
    return [
        effect
        for effect in scoring_effects(before_completion(*tiles))
        if isinstance(effect, BossFound | BossMissing) or (isinstance(effect, PointsScored) and effect.part == "boss")
    ]


def inferior(state: State) -> list[AnyEffect]:
    return [
        effect
        for effect in scoring_effects(state)
        if isinstance(effect, NeighbourInferior) or (isinstance(effect, PointsScored) and effect.part == "neighbours")
    ]


def test_worked_example_laura_completes_the_black_district_with_an_orangutan() -> None:
    state = with_tiles(
        table(3),
        {
            **district_tiles("D8", "orangutan 1", "lemur 0", "lemur 2", "lemur 2", "mandrill", free=1),
            **district_tiles("D5", "tarsier", "mandrill", "mandrill", free=2),
            **district_tiles("D7", "chimpanzee", "mandrill", "lemur 1", "lemur 1", free=1),
            **district_tiles("D9", "lemur 0", "lemur 1", "lemur 1", "mandrill", free=3),
        },
    )
    assert effects_of(with_tile_to_place(state, "orangutan", "black"), LAST) == [
        TilePlaced(LAURA, LAST.field, "orangutan"),
        DiscPlaced(LAURA, LAST.field),
        DistrictCompleted("D8", 3),
        BossFound("D8", FELIX, "lemur", 3),
        PointsScored(FELIX, 3, "boss", "APE-20"),
        NeighbourInferior("D8", "D5", 0, 7, (LAURA, FELIX), 4),
        PointsScored(LAURA, 4, "neighbours", "APE-21"),
        PointsScored(FELIX, 4, "neighbours", "APE-21"),
        NeighbourInferior("D8", "D7", 2, 5, (LAURA, FELIX), 3),
        PointsScored(LAURA, 3, "neighbours", "APE-21"),
        PointsScored(FELIX, 3, "neighbours", "APE-21"),
    ]
    after = play(with_tile_to_place(state, "orangutan", "black"), LAST)
    assert [(held.boss, held.neighbours) for held in after.seats] == [(0, 7), (0, 0), (3, 7)]


def test_ape_20_most_orangutans_make_the_boss_who_scores_every_ape_of_the_district() -> None:
    apes = ("tarsier", "chimpanzee", "mandrill", "mandrill")
    assert boss_effects("orangutan 1", "orangutan 1", "orangutan 2", *apes) == [
        BossFound("D8", EMMA, "orangutan", 9),
        PointsScored(EMMA, 9, "boss", "APE-20"),
    ]


def test_ape_20_lemurs_do_not_matter_if_orangutans_decide() -> None:
    assert boss_effects("orangutan 1", "lemur 2", "lemur 2", "tarsier")[0] == BossFound("D8", EMMA, "orangutan", 1)


@pytest.mark.parametrize(
    ("tiles", "boss"),
    [
        (("lemur 2",), FELIX),  # nobody has an orangutan
        (("lemur 2", "lemur 1", "lemur 1"), EMMA),
        (("orangutan 0", "orangutan 1", "lemur 2"), FELIX),  # with or without an orangutan
        (("orangutan 0", "orangutan 1", "lemur 1"), EMMA),
        (("orangutan 0", "orangutan 0", "orangutan 1", "orangutan 1", "orangutan 2", "lemur 2"), FELIX),
    ],
)
def test_ape_20_lemurs_decide_if_orangutans_tie_or_there_are_none(tiles: tuple[str, ...], boss: int) -> None:
    assert boss_effects(*tiles, "chimpanzee") == [
        BossFound("D8", boss, "lemur", 2),
        PointsScored(boss, 2, "boss", "APE-20"),
    ]


@pytest.mark.parametrize(
    "tiles",
    [(), ("orangutan 0", "orangutan 1"), ("lemur 0", "lemur 1"), ("orangutan 0", "orangutan 1", "lemur 0", "lemur 2")],
)
def test_ape_20_with_a_tie_in_lemurs_or_without_lemurs_nobody_is_the_boss(tiles: tuple[str, ...]) -> None:
    assert boss_effects(*tiles, "mandrill") == [BossMissing("D8")]


def test_ape_20_a_boss_of_a_district_without_apes_scores_nothing() -> None:
    assert boss_effects("orangutan 1") == [BossFound("D8", EMMA, "orangutan", 0)]


def test_ape_20_tiles_of_other_districts_and_printed_ones_do_not_count() -> None:
    around = {"6-4": "mandrill", "7-2": "orangutan 0", "8-7": "orangutan 0"}
    state = before_completion("orangutan 1", "tarsier", neighbours=around)  # beside the printed mandrill 8-2
    assert BossFound("D8", EMMA, "orangutan", 1) in scoring_effects(state)


def test_ape_16_unowned_tiles_count_for_no_boss_and_no_share_but_for_their_district() -> None:
    assert boss_effects("orangutan", "orangutan", "orangutan 1", "tarsier")[0] == BossFound("D8", EMMA, "orangutan", 1)
    assert boss_effects("lemur", "lemur", "lemur 2", "tarsier")[0] == BossFound("D8", FELIX, "lemur", 1)
    assert boss_effects("lemur", "orangutan", "tarsier") == [BossMissing("D8")]
    assert DistrictCompleted("D8", 2) in effects_of(before_completion("lemur", "lemur 1"), LAST)
    state = before_completion("lemur", "lemur 1", neighbours={"6-4": "tarsier", "6-5": "lemur 0"})
    assert inferior(state)[:2] == [
        NeighbourInferior("D8", "D5", 1, 1, (EMMA,), 1),
        PointsScored(EMMA, 1, "neighbours", "APE-21"),
    ]


def test_ape_21_neighbours_with_fewer_lemurs_of_all_players_together_are_inferior() -> None:
    lemurs = {"6-4": "lemur 0", "6-5": "lemur 1", "7-2": "lemur 2", "8-7": "lemur", "8-8": "lemur 0", "8-9": "lemur 1"}
    neighbours = [
        (effect.neighbour, effect.lemurs)
        for effect in inferior(before_completion("lemur 0", "lemur 1", neighbours=lemurs))
        if isinstance(effect, NeighbourInferior)
    ]
    assert neighbours == [("D7", 1)]  # D5 has as many, D9 more


@pytest.mark.parametrize("free", [0, 1, 5])
def test_ape_21_neighbours_count_finished_or_not(free: int) -> None:
    state = before_completion("lemur 1", neighbours=district_tiles("D5", "mandrill", free=free))
    assert NeighbourInferior("D8", "D5", 0, 3, (EMMA,), 3) in inferior(state)


def test_ape_21_only_districts_that_touch_are_neighbours() -> None:
    found = [effect for effect in inferior(before_completion("lemur 1")) if isinstance(effect, NeighbourInferior)]
    assert [effect.neighbour for effect in found] == ["D5", "D7", "D9"]
    names = {district.id: {DISTRICTS[other].id for other in district.neighbours} for district in DISTRICTS}
    assert names["D2"] == {"D1", "D3"}  # printed tiles and the pond separate it from D5


@pytest.mark.parametrize(
    ("sharing", "apes", "share"),
    [
        ((1,), ("tarsier", "mandrill"), 4),
        ((0, 1), ("tarsier", "mandrill"), 2),
        ((0, 2), ("chimpanzee", "mandrill"), 3),
        ((0, 1, 2), ("tarsier", "mandrill"), 2),
        ((0, 1, 2, 3), ("tarsier",), 1),
    ],
)
def test_ape_21_the_values_of_the_neighbours_apes_are_shared_and_rounded_up(
    sharing: tuple[int, ...], apes: tuple[str, ...], share: int
) -> None:
    tiles = [f"lemur {seat}" for seat in sharing]
    state = before_completion(*tiles, neighbours=district_tiles("D5", *apes, free=1), seats=4)
    assert [effect for effect in inferior(state) if isinstance(effect, PointsScored)] == [
        PointsScored(seat, share, "neighbours", "APE-21") for seat in sharing
    ]


def test_ape_21_more_lemurs_of_one_player_are_still_one_share_and_orangutans_do_not_share() -> None:
    state = before_completion(
        "lemur 1", "lemur 1", "lemur 2", "orangutan 0", neighbours=district_tiles("D5", "mandrill", free=1)
    )
    assert inferior(state)[:3] == [
        NeighbourInferior("D8", "D5", 0, 3, (EMMA, FELIX), 2),
        PointsScored(EMMA, 2, "neighbours", "APE-21"),
        PointsScored(FELIX, 2, "neighbours", "APE-21"),
    ]


def test_ape_21_each_neighbour_is_rounded_for_itself() -> None:
    apes = {"6-4": "tarsier", "7-2": "tarsier", "8-7": "tarsier"}
    state = before_completion("lemur 1", "lemur 2", neighbours=apes)
    points = [effect.points for effect in inferior(state) if isinstance(effect, PointsScored)]
    assert points == [1] * 6


def test_ape_21_without_anyones_lemur_nobody_scores() -> None:
    state = before_completion("lemur", neighbours=district_tiles("D5", "mandrill", free=1))
    assert inferior(state)[0] == NeighbourInferior("D8", "D5", 0, 3, (), 0)
    assert not [effect for effect in inferior(state) if isinstance(effect, PointsScored)]
    assert (
        inferior(before_completion("orangutan 1", neighbours={"6-4": "mandrill"})) == []
    )  # no district has fewer than 0 lemurs


def test_ape_22_a_placement_scores_before_the_district_that_it_completes() -> None:
    state = before_completion("orangutan 1", "mandrill", neighbours={"7-7": "tarsier"})
    assert LAST.field == "8-6"
    state = with_tiles(state, {"8-5": "chimpanzee"})
    assert effects_of(state, LAST) == [
        TilePlaced(LAURA, "8-6", "banana"),
        PointsScored(LAURA, 2, "placement", "APE-14"),
        DistrictCompleted("D8", 0),
        BossFound("D8", EMMA, "orangutan", 5),
        PointsScored(EMMA, 5, "boss", "APE-20"),
    ]


def test_ape_22_a_placement_completes_one_district_only_and_once() -> None:
    full = {**district_tiles("D5"), **district_tiles("D7", free=1), **district_tiles("D9")}
    state = before_completion(neighbours=full)
    assert [effect for effect in effects_of(state, LAST) if isinstance(effect, DistrictCompleted)] == [
        DistrictCompleted("D8", 0)
    ]
    unfinished = with_tiles(table(), district_tiles("D8", free=2))
    effects = effects_of(with_tile_to_place(unfinished, "banana", "black"), LAST)
    assert not [effect for effect in effects if isinstance(effect, DistrictCompleted)]


@pytest.mark.parametrize("district", DISTRICTS, ids=lambda district: district.id)
def test_ape_20_every_district_is_scored_when_its_last_field_is_filled(district: object) -> None:
    name = next(found.id for found in DISTRICTS if found is district)
    colour = next(found.colour for found in DISTRICTS if found is district)
    state = with_tiles(table(), district_tiles(name, "orangutan 1", "mandrill", free=1))
    effects = effects_of(with_tile_to_place(state, "lemur", colour), PlaceTile(fields_of(name)[-1]))
    assert effects[2:5] == [
        DistrictCompleted(name, 1),
        BossFound(name, EMMA, "orangutan", 3),
        PointsScored(EMMA, 3, "boss", "APE-20"),
    ]
