"""APE-17: sections are turned up and refilled."""

from msgspec.structs import replace

from service.games.ape_town.actions import PlaceTile
from service.games.ape_town.components import Tile
from service.games.ape_town.effects import AnyEffect, DecisionOpened, SectionRefilled, SectionRevealed
from service.games.ape_town.game import GAME
from service.games.ape_town.state import State
from tests.service.games.ape_town.builders import (
    DEAL,
    decide,
    default_line,
    full_except,
    legal,
    play,
    table,
    with_tile_to_place,
    with_tiles,
    without_tiles,
)


def section(number: int) -> tuple[int, ...]:
    return tuple(range(5 * number, 5 * number + 5))


def after_placing(state: State) -> State:
    """The state after the active seat has placed its tile, which ends its turn."""
    state = with_tile_to_place(state, "banana", "grey")
    return play(state, legal(state)[0])


def end_of_turn_effects(state: State) -> list[AnyEffect]:
    """The effects on the track when the active seat places its tile."""
    state = with_tile_to_place(state, "banana", "grey")
    effects = decide(state, legal(state)[0])
    return [effect for effect in effects if isinstance(effect, SectionRevealed | SectionRefilled)]


def with_only(state: State, **tiles: Tile) -> State:
    """The state in which only these segments of the track have tiles: `with_only(state, at_3="banana")`."""
    track: list[Tile | None] = [None] * 40
    for name, tile in tiles.items():
        track[int(name.removeprefix("at_"))] = tile
    return replace(state, track=tuple(track))


def test_ape_17_nothing_happens_while_both_sections_have_a_tile() -> None:
    assert end_of_turn_effects(without_tiles(table(), 0, 1, 2, 3, 6, 7, 8, 9)) == []


def test_ape_17_an_emptied_section_turns_up_the_next_and_is_filled_from_the_supply() -> None:
    state = without_tiles(table(), *section(0))
    assert end_of_turn_effects(state) == [
        SectionRevealed(2, section(2), DEAL[10:15]),
        SectionRefilled(0, section(0)),
    ]
    after = after_placing(state)
    assert after.display == (*section(1), *section(2))
    assert after.track[:5] == DEAL[40:45]
    assert after.supply == DEAL[45:]
    assert GAME.observation(after, None).face_down == (*section(0), *range(15, 40))


def test_ape_17_it_happens_at_the_end_of_the_turn_not_when_the_last_tile_is_taken() -> None:
    state = without_tiles(table(), 0, 1, 2, 3)
    taken = decide(state, legal(state)[0])
    assert not [effect for effect in taken if isinstance(effect, SectionRevealed | SectionRefilled)]
    effects = decide(play(state, legal(state)[0]), PlaceTile("0-3"))
    assert [type(effect) for effect in effects[-3:]] == [SectionRevealed, SectionRefilled, DecisionOpened]


def test_ape_17_a_section_emptied_before_an_older_one_waits_for_it() -> None:
    state = without_tiles(table(), *section(1))
    assert end_of_turn_effects(state) == [SectionRevealed(2, section(2), DEAL[10:15])]
    state = without_tiles(after_placing(state), *section(2))
    assert state.display == section(0)
    state = after_placing(state)
    assert state.display == (*section(0), *section(3))
    assert end_of_turn_effects(without_tiles(state, *section(0))) == [
        SectionRevealed(4, section(4), DEAL[20:25]),
        SectionRefilled(0, section(0)),
        SectionRefilled(1, section(1)),
        SectionRefilled(2, section(2)),
    ]


def test_ape_17_a_filled_section_stays_face_down_until_its_turn_comes_round() -> None:
    state = replace(without_tiles(table(), *section(6)), display=section(7), turned_up=(6, 7))
    assert end_of_turn_effects(state) == [SectionRevealed(0, section(0), DEAL[:5]), SectionRefilled(6, section(6))]


def test_ape_17_the_older_of_two_sections_comes_first_in_the_display() -> None:
    state = replace(without_tiles(table(), *section(6)), display=section(7), turned_up=(6, 7))
    after = after_placing(state)
    assert after.display == (*section(7), *section(0))
    assert after.turned_up == (7, 0)


def test_ape_17_a_section_gets_as_many_tiles_as_are_left() -> None:
    state = replace(without_tiles(table(), *section(0)), supply=DEAL[40:43])
    assert end_of_turn_effects(state)[1] == SectionRefilled(0, (0, 1, 2))
    after = after_placing(state)
    assert after.track[:5] == (*DEAL[40:43], None, None)
    assert after.supply == ()


def test_ape_17_without_a_supply_nothing_is_filled() -> None:
    state = replace(without_tiles(table(), *section(0)), supply=())
    assert end_of_turn_effects(state) == [SectionRevealed(2, section(2), DEAL[10:15])]
    after = after_placing(state)
    assert after.turned_up == (0, 1, 2)
    assert end_of_turn_effects(without_tiles(after, *section(1))) == [SectionRevealed(3, section(3), DEAL[15:20])]


def test_ape_17_a_next_section_that_is_empty_is_filled_first() -> None:
    state = replace(with_only(table(), at_5="banana"), display=(5,), turned_up=(2, 1), supply=DEAL[40:47])
    assert end_of_turn_effects(replace(state, turned_up=(0, 1))) == [
        SectionRefilled(2, section(2)),
        SectionRevealed(2, section(2), DEAL[40:45]),
        SectionRefilled(0, (0, 1)),
    ]
    assert end_of_turn_effects(state) == [
        SectionRefilled(2, section(2)),
        SectionRevealed(2, section(2), DEAL[40:45]),
    ]


def test_ape_17_a_section_that_is_filled_in_part_is_turned_up_as_it_is() -> None:
    state = replace(with_only(table(), at_5="banana"), display=(5,), turned_up=(0, 1), supply=("lemur", "banana"))
    assert end_of_turn_effects(state) == [
        SectionRefilled(2, (10, 11)),
        SectionRevealed(2, (10, 11), ("lemur", "banana")),
    ]


def test_ape_17_nothing_opens_if_the_next_section_and_the_supply_are_empty() -> None:
    state = replace(with_only(table(), at_5="banana"), display=(5,), turned_up=(0, 1), supply=())
    assert end_of_turn_effects(state) == []
    assert after_placing(state).display == (5,)


def test_ape_17_nothing_is_turned_up_or_filled_after_the_last_placement() -> None:
    assert end_of_turn_effects(with_tiles(without_tiles(table(), *section(0)), full_except("0-0"))) == []
    assert len(end_of_turn_effects(with_tiles(without_tiles(table(), *section(0)), full_except("0-0", "0-1")))) == 2


def test_ape_17_sections_open_in_order_round_the_track_until_the_match_ends() -> None:
    opened = []
    for before in default_line(table()):
        if before.step == "place_tile":
            effects = decide(before, legal(before)[0])
            opened += [effect.section for effect in effects if isinstance(effect, SectionRevealed)]
    assert opened == [2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7]
