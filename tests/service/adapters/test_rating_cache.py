"""The cache of standings in a process, and the changes that other processes announce."""

from collections.abc import Iterator
from typing import Final

import pytest

from events.listener import Listener
from events.redis_log import connect
from service.adapters import rating_cache
from service.adapters.ratings import RedisRatings
from service.match.rating import step
from tests.service.adapters.test_ratings import entries, fold
from tests.waiting import until

GAME: Final = "cached"
ENTRY: Final = next(entry for entry in entries(9) if entry.rated.counted)


@pytest.fixture
def other_process(valkey_log_url: str) -> Iterator[RedisRatings]:
    with connect(valkey_log_url) as client:
        found = RedisRatings(client)
        yield found
        found.clear(GAME)


@pytest.fixture
def listening(valkey_log_url: str) -> Iterator[RedisRatings]:
    """Ratings of a process that receives changes."""
    with connect(valkey_log_url) as client:
        found = RedisRatings(client)
        listener = Listener(client, {rating_cache.CHANNEL: found.cache})
        until(lambda: found.cache.standings.is_listening, 20, "the listener is subscribed")
        yield found
        listener.stop()


def test_cached_standings_need_no_look_up_and_a_change_by_another_process_applies_at_once(
    listening: RedisRatings, other_process: RedisRatings
) -> None:
    players = ENTRY.rated.players
    assert listening.standings(GAME, players) == {}
    after = step({}, {}, ENTRY.rated)[0]
    assert fold(other_process, ENTRY, GAME)
    until(lambda: listening.standings(GAME, players) == after, 20, "the change is received")
    other_process._client.delete("index:{ratings:cached}:standings")
    assert listening.standings(GAME, (*players, "pl_nobody")) == after
    assert other_process.standings(GAME, players) == {}
    other_process.clear(GAME)
    until(lambda: listening.standings(GAME, players) == {}, 20, "the new beginning is received")


def test_a_process_sees_its_own_changes(listening: RedisRatings) -> None:
    assert listening.standings(GAME, ENTRY.rated.players) == {}
    fold(listening, ENTRY, GAME)
    assert set(listening.standings(GAME, ENTRY.rated.players)) == set(ENTRY.rated.players)
    listening.clear(GAME)
    assert listening.standings(GAME, ENTRY.rated.players) == {}


def test_an_unknown_announcement_empties_the_cache(listening: RedisRatings, other_process: RedisRatings) -> None:
    fold(listening, ENTRY, GAME)
    assert listening.standings(GAME, ENTRY.rated.players)
    other_process._client.delete("index:{ratings:cached}:standings")
    other_process._client.publish(rating_cache.CHANNEL, b"[]")
    until(lambda: not listening.standings(GAME, ENTRY.rated.players), 20, "the announcement is received")
