"""The picture of Monkeys on the Moon."""

from msgspec.structs import replace

from service.games.monkeys_on_the_moon.actions import Bid, Pass, PlayCivilization, SelectMonkey
from service.games.monkeys_on_the_moon.game import GAME
from service.games.protocol import Outcome
from tests.service.games.drawn import changed, drawn
from tests.service.games.monkeys_on_the_moon.builders import (
    CIRCLE,
    auction_of,
    awaiting,
    bid_turn,
    civilization_turn,
    play,
    table,
    with_holdings,
    with_scorn_holders,
    with_stones,
    with_supply,
)


def test_the_tribes_lie_in_their_circle_with_their_coins_and_scorn() -> None:
    picture = drawn(GAME, with_supply(with_scorn_holders(table(), red=1), blue=5))
    assert picture.ids("tribe-") == [f"tribe-{tribe}" for tribe in CIRCLE]
    assert picture.shows("supply-blue") == ["5"]
    assert "scorn" in picture.shows("tribe-blue")
    assert "scorn" not in picture.shows("tribe-red")
    assert picture.shows("seat-1-scorn") == ["scorn", "emblem-red"]


def test_stones_are_on_their_space_or_in_a_finish_circle() -> None:
    picture = drawn(GAME, with_stones(table(), "red", "green", black=7), language="de")
    assert picture.title("stone-black") == "Schwarz: 7"
    assert picture.title("stone-green") == "Grün: 2"
    assert changed(GAME, with_stones(table(), black=6), with_stones(table(), black=7)) == {"stone-black"}


def test_a_viewer_sees_its_own_hand_and_coins_and_of_others_how_many() -> None:
    state = civilization_turn(with_holdings(table(), 0, coins={"red": 2}), 0, "red-2-1", "blue-4-1")
    own, other = drawn(GAME, state, 0), drawn(GAME, state, 1)
    assert own.shows("civilization-red-2-1") == ["emblem-red", "+2"]
    assert own.element("civilization-blue-4-1").get("data-card") == "blue-4-1"
    assert own.shows("coins-red") == ["emblem-red", "emblem-red", "2"]
    assert own.shows("coins-blue") == ["0"]
    assert other.ids("civilization-red") == []
    assert (other.shows("seat-0-coins"), other.shows("seat-0-hand")) == (["2"], ["2"])
    assert not own.has("seat-0-coins")


def test_an_auction_shows_the_standing_bid_and_the_players_in_it() -> None:
    state = auction_of(table(3), "green-4-1", 2)
    assert "no bid" in drawn(GAME, state).texts()
    picture = drawn(GAME, auction_of(table(3), "green-4-1", 2, bidder=1, points=7, green=1, red=2))
    assert picture.shows("bid") == ["7"]
    assert picture.shows("monkey-green-4-1") == ["emblem-green", "4", "monkey"]
    assert picture.texts()[1] == "Seat 2: Bid or pass."


def test_a_monkey_keeps_its_id_from_the_pool_to_the_ship_and_home() -> None:
    state = bid_turn(with_holdings(table(), 0, ship="red-3", coins={"green": 1}), 0, "green-4-1", "blue-3-1")
    up = play(state, SelectMonkey("green-4-1"))
    aboard = play(up, Bid({"green": 1}), Pass())
    home = with_holdings(aboard, 0, ship="red-3", aboard=(), launched=("green-4-1",), full_ships=("blue-4",))
    for one, other in ((state, up), (up, aboard), (aboard, home)):
        assert "monkey-green-4-1" in changed(GAME, one, other)
    assert drawn(GAME, aboard).shows("seat-0-ship") == ["emblem-red", "star", "2", "rocket", "emblem-green", "4"]
    picture = drawn(GAME, home, 0)
    assert picture.shows("seat-0-home") == ["emblem-green", "4"]
    assert (picture.shows("seat-0-full"), picture.shows("seat-0-stars")) == (["1"], ["3"])


def test_monkeys_without_a_ship_wait_in_its_place() -> None:
    state = with_holdings(awaiting(table(), 0, "choose_ship"), 0, ship=None, aboard=("blue-3-1",))
    picture = drawn(GAME, replace(state, boarding=("red-5-1",)))
    assert picture.shows("seat-0-ship") == ["emblem-blue", "3", "emblem-red", "5"]
    assert "emblem-red" not in picture.shows("seat-1-ship")


def test_the_heading_shows_the_round_and_the_variants() -> None:
    picture = drawn(GAME, table(2, treachery=True, maximum_scorn=True))
    assert picture.texts("fact") == [
        "Round 1 of 12",
        "Maximum Scorn, Monkey Treachery",
        "Civilization: 20, played: 0",
    ]
    assert len(drawn(GAME, table()).texts("fact")) == 2


def test_changes_of_a_played_card_are_marked() -> None:
    before = civilization_turn(table(), 0, "green-2-1")
    found = changed(GAME, before, play(before, PlayCivilization("green-2-1", "green")), 0)
    assert found == {"stone-green", "supply-green", "supply-blue", "coins-green", "coins-blue"}


def test_the_end_shows_the_breakdown_of_scores() -> None:
    parts = {"titles": 9, "ships": 3, "scorn": -2}
    over = replace(table(), awaited=None)
    picture = drawn(GAME, over, 0, outcome=Outcome((10, 8), (1, 2), (0,), (parts, parts)))
    assert picture.texts("label").count("Titles: 9") == 2
    assert not picture.has("seat-0-ship")
    assert picture.description() == ("The match is over. Won by: You · seat 0. Points: You · seat 0 10, Seat 1 8.")
