"""The picture of Monsters on the Moon."""

import pytest
from msgspec.structs import replace

from service.games.drawing.page import document
from service.games.drawing.words import picture_words
from service.games.monsters_on_the_moon.actions import GiveCard, PlaceCard, PlaceSpaceship
from service.games.monsters_on_the_moon.effects import AreaEnclosed, PlatePlaced, SpaceshipPlaced, WallPlaced
from service.games.monsters_on_the_moon.game import GAME
from service.games.monsters_on_the_moon.squares import Place
from service.games.monsters_on_the_moon.state import Rating, State
from service.games.protocol import Outcome
from service.games.visibility import Viewer
from tests.service.games.drawn import changed, drawn
from tests.service.games.laws_of_pictures import LARGEST
from tests.service.games.monsters_on_the_moon.builders import (
    after,
    at_step,
    before_gifts,
    play,
    table,
    turn_of,
    with_cards,
    with_holdings,
)
from tests.service.games.monsters_on_the_moon.largest import largest_display, most_walls

WALLS = {"walls": True}
TWO_CARDS = with_cards(table(), ("A07", 0, 0, 0), ("A09", 2, 1, 0))
"""A07 shows W H V over W H and, under A09, V. A09 shows H c W over V V H."""


def test_squares_lie_by_card_and_keep_their_place() -> None:
    picture = drawn(GAME, TWO_CARDS)
    assert picture.ids("card-") == ["card-A07", "card-A09"]
    assert picture.shows("card-A07") == ["werewolf-1", "witch-1", "vampire-1", "werewolf-1", "witch-1"]
    square = picture.element("square-3-1")
    assert (square.get("href"), square.get("data-x"), square.get("data-y")) == ("#art-crystal-0", "3", "1")
    assert (square.get("x"), square.get("y")) == ("144", "48"), (
        "the coordinates do not depend on where the display is drawn"
    )


def test_a_laid_card_keeps_its_id_and_only_its_own_squares_change() -> None:
    before = turn_of(TWO_CARDS, 0, "A08")
    later = play(before, PlaceCard("A08", 3, 2, 0))
    assert drawn(GAME, before, 0).element("card-A08").get("data-card") == "A08"
    found = changed(GAME, before, later, 0)
    assert {"card-A08", "square-3-2", "square-5-3"} <= found
    assert "card-A09" not in found, "although two of its squares are covered"


def test_a_card_without_a_visible_square_is_not_drawn() -> None:
    assert drawn(GAME, with_cards(table(), ("A07", 0, 0, 0), ("A09", 0, 0, 0))).ids("card-") == ["card-A09"]


def test_ships_and_plates_lie_on_squares() -> None:
    state = after(TWO_CARDS, [SpaceshipPlaced(1, 3, 1), PlatePlaced(0, 0, 1, "werewolf")])
    picture = drawn(GAME, state)
    assert picture.shows("spaceship-3-1") == ["spaceship", "seat-1"]
    assert picture.shows("plate-0-1") == ["plate-rim", "seat-0"]
    before = turn_of(TWO_CARDS, 0, "A08")
    assert changed(GAME, before, play(before, PlaceSpaceship(3, 1))) >= {"spaceship-3-1", "marker-0", "seat-0-ships"}


def test_bare_squares_have_data_for_the_seat_that_may_lay_a_card_on_them() -> None:
    state = turn_of(TWO_CARDS, 0, "A08")
    legal = {(action.x, action.y) for action in GAME.legal_actions(state, 0) if isinstance(action, PlaceCard)}
    assert corners(state, 0) - legal - set(squares(state)) == {(0, -1)}, (
        "a card there would cover three squares of another card"
    )
    assert legal <= corners(state, 0)
    assert corners(state, 1) == corners(state, None) == corners(turn_of(TWO_CARDS, 0), 0) == set(squares(state))
    assert drawn(GAME, state, 0).texts("turn-by-word") == ["0°", "90°", "180°", "270°"]
    assert drawn(GAME, state, 1).texts("turn-by-word") == []


def squares(state: State) -> list[tuple[int, int]]:
    return [(square.x, square.y) for square in GAME.observation(state, None).display]


def corners(state: State, viewer: Viewer) -> set[tuple[int, int]]:
    """The squares with data attributes, including those of the display."""
    found = set()
    for row in drawn(GAME, state, viewer).root.iter():
        y = row.get("data-y")
        cells = [row] if row.get("data-x") is not None else [*row]
        found |= {(int(x), int(y)) for cell in cells if y is not None and (x := cell.get("data-x")) is not None}
    return found


def test_walls_and_areas_are_drawn_and_free_edges_have_data_for_the_seat_that_lays_walls() -> None:
    state = with_cards(table(options=WALLS), ("A07", 0, 0, 0))
    state = turn_of(after(state, [WallPlaced(1, 0, 0, "h", 2), AreaEnclosed((Place(0, 0), Place(0, 1)))]), 0)
    picture = drawn(GAME, state, 0)
    assert picture.shows("wall-0-0-h-2") == ["seat-1"]
    assert picture.count("area") == 1
    lines = [row for row in picture.root.iter() if row.get("data-orientation") is not None]
    assert [line.get("data-orientation") for line in lines] == ["h", "v"]
    across = [(cell.get("data-x"), row.get("data-y")) for row in lines[0] for cell in row]
    assert across == [("2", "0"), ("1", "1"), ("2", "1"), ("0", "2"), ("1", "2"), ("2", "2")]
    assert drawn(GAME, state, 1).count("line") == drawn(GAME, at_step(state, "place_plate", 0), 0).count("line") == 0
    chosen = {element.get("data-length") for element in picture.root.iter()} - {None}
    assert chosen == {"1", "2"}


def test_a_viewer_sees_only_its_own_cards_and_missions() -> None:
    state = table(3, missions=(3, 5, 1, 2, 4, 6, 7, 8), options={"missions": "secret"})
    own = drawn(GAME, turn_of(state, 0, "A08"), 0)
    assert own.ids("mission-") == ["mission-3", "mission-5"]
    assert own.shows("card-A08") == [
        "werewolf-1", "vampire-1", "werewolf-1", "witch-1", "witch-1", "vampire-1",
    ]  # fmt: skip
    assert own.shows("seat-1-missions") == ["2"]
    assert "Secret missions" in own.texts("fact")[1]
    spectator = drawn(GAME, turn_of(state, 0, "A08"))
    assert spectator.ids("mission-") == []
    assert not spectator.has("card-A08")


def test_open_missions_lie_there_for_all_and_the_chosen_one_is_framed() -> None:
    state = table(2, missions=(3, 5, 1, 2, 4, 6), options={"missions": "open"})
    assert drawn(GAME, state).ids("mission-") == ["mission-3", "mission-5", "mission-1"]
    chosen = with_holdings(at_step(state, "choose_mission", None), 0, mission=5, missions=(5,))
    assert "chosen" in drawn(GAME, chosen, 0).classes("mission-5")
    assert "chosen" not in drawn(GAME, chosen, 1).classes("mission-5")
    assert drawn(GAME, chosen).shows("seat-0-missions") == ["1 ✓"]
    assert drawn(GAME, chosen).texts()[1] == "Seat 1: Choose the mission that you score."


def test_before_the_gifts_nothing_lies_there_and_a_card_may_be_laid_aside() -> None:
    state = before_gifts()
    picture = drawn(GAME, state, 0)
    assert picture.ids("square-") == []
    assert picture.texts()[1] == "You · seat 0, Seat 1: Give one of your two cards to the seat on your right."
    after_gift = play(state, GiveCard("A01"))
    assert "Your cards; A01 is laid aside" in drawn(GAME, after_gift, 0).texts()
    assert (
        drawn(GAME, after_gift, 1).texts()[1] == "You · seat 1: Give one of your two cards to the seat on your right."
    )


def test_walls_are_named_only_where_there_are_walls() -> None:
    without, with_walls = (drawn(GAME, state).texts()[1] for state in (table(), table(options=WALLS)))
    assert without.endswith(": Lay a card. Before it, you may place a spaceship.")
    assert with_walls.endswith("If you have walls, you may lay walls and no card.")


def test_the_track_shows_points_markers_and_plates_left() -> None:
    state = with_holdings(table(4), 2, field=4, plates=1, crystals=4)
    picture = drawn(GAME, state)
    assert picture.shows("field-4") == ["4", "plate", "plate", "plate", "seat-2"]
    assert picture.shows("field-8").count("plate") == 4
    assert picture.shows("seat-2-crystals") == ["4"]
    assert changed(GAME, table(4), state) == {
        "marker-2",
        "field-4",
        *(f"seat-2-{what}" for what in ("points", "plates", "crystals")),
    }


def test_the_end_shows_the_breakdown_of_scores() -> None:
    over = at_step(table(), "place_card", None)
    over = replace(over, step=None)
    parts = {"singles": 3, "groups": 4, "crystals": 0}
    picture = drawn(GAME, over, 0, "de", Outcome((7, 7), (1, 1), (0, 1), (parts, parts)))
    assert picture.texts().count("Einzelne Monster: 3, Monster in Gruppen:") == 2
    assert picture.texts()[1] == "Die Partie ist zu Ende. Gewonnen: Du · Platz 0, Platz 1."
    assert not picture.has("seat-0-ships")


def test_a_single_player_has_no_track_and_gets_a_rank() -> None:
    picture = drawn(GAME, table(1), 0)
    assert picture.ids("field-") == []
    assert not picture.has("seat-0-points")
    over = replace(table(1), step=None, awaited=None, rating=Rating(13, 1))
    end = drawn(GAME, over, 0, outcome=Outcome((13,), (1,), (0,), ({"vampires": 13},)))
    assert end.texts()[1] == "The match is over. Rank 1 of 5. The witch and the werewolf celebrate."


@pytest.mark.parametrize("viewer", [None, 0, 1])
@pytest.mark.parametrize("state", [largest_display(), most_walls()], ids=["most cards", "most walls"])
def test_the_largest_tables_are_small_pictures(state: State, viewer: Viewer) -> None:
    seen = GAME.observation(state, viewer)
    assert len(document(GAME.picture(seen, viewer, picture_words(GAME.texts, "de"), None)).encode()) < LARGEST
