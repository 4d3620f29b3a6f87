"""News of players, in memory, on a server and on a cluster."""

from collections.abc import Callable, Iterator
from secrets import token_hex

import pytest

from events.redis_log import connect, connect_cluster
from service.adapters.memory import MemoryNews
from service.adapters.news import RedisNews
from service.repository.news import KEEP_MS, MAX_ITEMS, Item, News, Posted, RematchAsked, SeatFreed, SeekEnded

AT = 1_700_000_000_000


@pytest.fixture(params=["memory", "server", "cluster"])
def news(request: pytest.FixtureRequest, clusters: Callable[[int], str], valkey_log_url: str) -> Iterator[News]:
    if request.param == "memory":
        yield MemoryNews(lambda _key, _number: None)
    else:
        with connect(valkey_log_url) if request.param == "server" else connect_cluster(clusters(3)) as client:
            yield RedisNews(client)


@pytest.fixture
def player() -> str:
    return f"pl_{token_hex(8)}"


def test_items_come_in_the_order_of_their_times_and_keep_the_first_time(news: News, player: str) -> None:
    items: tuple[Item, ...] = SeatFreed("m", 3), RematchAsked("new", "old"), SeekEnded("s", "expired")
    for number in (2, 0, 1):
        news.post(player, items[number], AT + number)
    news.post(player, items[0], AT + 50)
    assert list(news.since(player, 0)) == [Posted(AT + number, item) for number, item in enumerate(items)]
    assert list(news.since(player, AT + 1)) == [Posted(AT + number, items[number]) for number in (1, 2)]
    assert list(news.since(f"{player}x", 0)) == []


def test_a_player_has_at_most_a_hundred_items_and_each_for_a_day(news: News, player: str) -> None:
    for number in range(MAX_ITEMS + 5):
        news.post(player, SeatFreed("m", number), AT + number)
    assert [item.version for _, item in news.since(player, 0) if isinstance(item, SeatFreed)] == list(
        range(5, MAX_ITEMS + 5)
    )
    news.post(player, SeekEnded("s", "no-stream"), AT + KEEP_MS + 50)
    assert next(iter(news.since(player, 0))).at > AT + 50
