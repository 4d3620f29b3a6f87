"""What is kept of rating streams, in memory, on a server and on a cluster: the same answers after the same entries."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Final

import pytest
from redis import Redis

from events.record import Head
from events.redis_log import connect, connect_cluster
from service.adapters.memory import MemoryRatings
from service.adapters.ratings import RedisRatings
from service.match.randomness import Draws
from service.match.rating import INITIAL, Entry, MatchRated, RatedSeat, Rating, Standing, first_line, step
from service.repository.ratings import Board, Ratings, folded

GAME: Final = "toy"
OTHER: Final = "other"
"""The game of tests that change what is kept; the others share that of GAME."""
PLAYERS: Final = [f"pl_{number:02d}" for number in range(40)]
KINDS: Final = {player: "hosted" if number % 3 == 0 else "human" for number, player in enumerate(PLAYERS)}
BOARDS: Final[tuple[Board, ...]] = ("all", "human", "hosted")


@pytest.fixture(scope="module", params=["memory", "server", "cluster"])
def ratings(request: pytest.FixtureRequest, valkey_log_url: str, clusters: Callable[[int], str]) -> Iterator[Ratings]:
    if request.param == "memory":
        yield MemoryRatings()
        return
    client: Any = connect(valkey_log_url) if request.param == "server" else connect_cluster(clusters(3))
    with client:
        found = RedisRatings(client)
        found.clear(GAME)
        yield found


def entries(count: int) -> Iterator[Entry]:
    """Entries of matches of two to four players, who have few different ratings, so that many are equal."""
    chance = Draws(lambda: bytes(32), {})
    befores = dict.fromkeys(PLAYERS, INITIAL)
    for version in range(1, count + 1):
        players = chance.shuffle("players", PLAYERS)[: chance.pick("seats", (2, 3, 4))]
        seats = []
        for rank, player in enumerate(players, 1):
            after = Rating(1_000_000 * chance.pick("mu", (-40, 20, 30)), 6_000_000)
            seats.append(RatedSeat(player, KINDS[player], rank, befores[player], after))
        counted = chance.pick("counted", (True, True, True, False))
        if not counted:
            seats = [RatedSeat(one.player, one.kind, one.rank, one.before, one.before) for one in seats]
        befores |= {one.player: one.after for one in seats}
        rated = MatchRated(f"match{version}", "00", version, counted, tuple(seats))
        yield Entry(Head(version, f"{version:064x}"), version, rated)


def fold(ratings: Ratings, entry: Entry, game: str = GAME) -> bool:
    before = ratings.known(game, entry.rated.players, entry.rated.pairs)
    return ratings.fold(game, folded(game, before, entry))


@pytest.fixture(scope="module")
def filled(ratings: Ratings) -> Ratings:
    for entry in entries(300):
        assert fold(ratings, entry)
    return ratings


@cache
def expected_standings() -> Mapping[str, Standing]:
    found: dict[str, Standing] = {}
    for entry in entries(300):
        found.update(step(found, {}, entry.rated)[0])
    return found


def test_what_is_kept_is_the_fold_of_the_entries(filled: Ratings) -> None:
    assert dict(filled.everyone(GAME)) == expected_standings()
    assert filled.standings(GAME, PLAYERS) == expected_standings()
    assert filled.known(GAME, (), ()).head == Head(300, f"{300:064x}")
    assert filled.known("ape_town", PLAYERS, ()).head is None


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("limit", [1, 7, 100])
def test_pages_have_every_placed_player_once_in_order_with_shared_ranks(
    filled: Ratings, board: Board, limit: int
) -> None:
    placed = [
        (one.rating.order, player)
        for player, one in expected_standings().items()
        if one.is_placed and board in {"all", KINDS[player]}
    ]
    assert len(placed) > 8
    found, after, ahead = [], None, 0
    while True:
        page = filled.leaders(GAME, board, after, limit)
        if page.leaders:
            assert page.ahead == ahead
            assert page.better == sum(order > page.leaders[0].standing.rating.order for order, _ in placed)
        found += [(one.standing.rating.order, one.player) for one in page.leaders]
        ahead += len(page.leaders)
        after = page.last
        if after is None:
            break
    assert found == sorted(placed, reverse=True)


def test_a_rank_counts_better_ratings(filled: Ratings) -> None:
    standings = expected_standings()
    placed = [one for one in standings.values() if one.is_placed]
    for one in placed:
        assert filled.rank(GAME, one) == 1 + sum(other.rating.order > one.rating.order for other in placed)


def test_a_player_s_matches_are_listed_newest_first_with_those_that_do_not_count(filled: Ratings) -> None:
    player = PLAYERS[3]
    expected = [entry for entry in entries(300) if player in entry.rated.players][::-1]
    found = filled.past(GAME, player, None, 1000)
    assert [(one.version, one.match, one.counted) for one in found] == [
        (entry.head.version, entry.rated.match, entry.rated.counted) for entry in expected
    ]
    assert filled.past(GAME, player, found[4].version, 3) == found[5:8]
    assert filled.past(GAME, "pl_0", None, 9) == []


def test_an_entry_is_folded_once_and_only_after_the_one_before(ratings: Ratings) -> None:
    ratings.clear(OTHER)
    first, second = entries(2)
    before = ratings.known(OTHER, second.rated.players, second.rated.pairs)
    stale = folded(OTHER, before, second)
    assert fold(ratings, first, OTHER)
    known = dict(ratings.everyone(OTHER))
    assert not ratings.fold(OTHER, stale)
    assert dict(ratings.everyone(OTHER)) == known
    assert fold(ratings, second, OTHER)


def test_a_cleared_game_is_as_new_and_other_games_keep_theirs(filled: Ratings) -> None:
    filled.clear(OTHER)
    for entry in entries(30):
        assert fold(filled, entry, OTHER)
    (player, *_) = dict(filled.everyone(OTHER))
    assert filled.past(OTHER, player, None, 9)
    filled.clear(OTHER)
    assert filled.known(OTHER, PLAYERS, ()) == MemoryRatings().known(OTHER, PLAYERS, ())
    assert [filled.leaders(OTHER, board, None, 9).leaders for board in BOARDS] == [()] * 3
    assert filled.past(OTHER, player, None, 9) == []
    assert dict(filled.everyone(GAME)) == expected_standings()


def test_the_number_of_adopted_matches_is_kept(ratings: Ratings) -> None:
    ratings.set_adopted(17)
    assert ratings.adopted() == 17


def test_all_keys_of_a_game_are_in_one_slot(valkey_log_url: str) -> None:
    with Redis.from_url(valkey_log_url) as client:
        ratings = RedisRatings(client)
        ratings.clear(OTHER)
        for entry in entries(200):
            fold(ratings, entry, OTHER)
        keys = {key.decode() for key in client.scan_iter(match="index:{ratings:other}:*")}
    assert {key.rpartition(":")[2] for key in keys} == {"position", "standings", "met", "past", *BOARDS}
    assert first_line(GAME)[1].version == 0
