"""Webhooks and deliveries, in memory, on a server and on a cluster."""

from collections.abc import Callable, Iterator
from secrets import token_hex

import msgspec
import pytest
from msgspec.structs import replace

from events.log import Log
from events.memory_log import MemoryLog
from events.redis_log import RedisLog, connect, connect_cluster
from service.adapters.memory import MemoryWebhooks
from service.adapters.news import RedisNews
from service.adapters.webhooks import RedisWebhooks
from service.repository.news import SeatFreed
from service.repository.ports import news_of
from service.repository.signing import SigningKey
from service.repository.webhooks import (
    KEEP_MS,
    MAX_DELIVERIES,
    NEWS,
    Attempt,
    Delivery,
    MatchNotice,
    SampleNotice,
    Webhook,
    Webhooks,
)

AT = 1_700_000_000_000

Store = tuple[Webhooks, Log]


@pytest.fixture(params=["memory", "server", "cluster"])
def store(request: pytest.FixtureRequest, clusters: Callable[[int], str], valkey_log_url: str) -> Iterator[Store]:
    if request.param == "memory":
        log = MemoryLog()
        yield MemoryWebhooks(log), log
    else:
        with connect(valkey_log_url) if request.param == "server" else connect_cluster(clusters(3)) as client:
            yield RedisWebhooks(client), RedisLog(client)


@pytest.fixture
def player() -> str:
    return f"pl_{token_hex(8)}"


def webhook(player: str, number: int = 1, at: int = AT) -> Webhook:
    return Webhook(f"wh_{number}", player, "https://moon.example/", ("started", "finished"), at, at, SigningKey("k"))


def delivery(number: int, webhook_id: str = "wh_1", at: int = AT) -> Delivery:
    subject = MatchNotice("m", number, "your_turn") if number % 2 else SampleNotice()
    return Delivery(webhook_id, f"m-{number}", subject, created_at=at + number, since=at, next_at=at + number)


def due(log: Log, kind: str, member: str) -> int | None:
    return next((entry.at for entry in log.scheduled(kind) if entry.match == member), None)


def test_a_player_has_a_limited_number_of_webhooks_which_can_be_changed_and_removed(store: Store, player: str) -> None:
    webhooks, log = store
    second, first = webhook(player, 2, AT + 1), webhook(player)
    assert webhooks.add(second, 2) == "added"
    assert due(log, "news", news_of(player)) == AT + 1
    assert webhooks.add(first, 2) == "added"
    assert webhooks.add(replace(first, url="https://other.example/"), 2) == "known"
    assert webhooks.add(webhook(player, 3), 2) == "full"
    assert list(webhooks.of((player, "nobody"))[player]) == [first, second]
    assert player in webhooks.subscribers()
    changed = replace(first, status="suspended", reason="500", failing_since=AT)
    assert webhooks.change(player, first.id, lambda _: changed) == changed
    assert webhooks.of((player,)) == {player: [changed, second]}
    assert webhooks.change(player, "wh_3", lambda one: one) is None
    assert due(log, "news", news_of(player)) == AT
    assert webhooks.change(player, first.id, lambda one: first if one == changed else one, AT + 9) == first
    assert due(log, "news", news_of(player)) == AT + 9
    assert webhooks.remove(player, "wh_2")
    assert not webhooks.remove(player, "wh_2")
    assert webhooks.add(second, 2) == "removed"
    assert webhooks.of((player,)) == {player: [first]}
    webhooks.erase(player)
    assert (webhooks.of((player,)), due(log, "news", news_of(player))) == ({}, None)
    assert webhooks.of(()) == {}


def test_a_record_of_another_release_is_changed_and_no_concurrent_change_is_lost(
    valkey_log_url: str, player: str
) -> None:
    with connect(valkey_log_url) as client:
        webhooks = RedisWebhooks(client)
        webhooks.add(webhook(player), 2)
        (key,) = client.scan_iter(match=f"webhooks:*:{player}:list")
        fields = msgspec.json.decode(client.hget(key, "wh_1"))
        del fields["reason"]  # as if this release had added the field
        client.hset(key, "wh_1", msgspec.json.encode(fields))
        seen: list[Webhook] = []

        def changed(one: Webhook) -> Webhook:
            seen.append(one)
            if len(seen) == 1:
                webhooks.change(player, one.id, lambda other: replace(other, url="https://other.example/"))
            return replace(one, events=("finished",))

        after = webhooks.change(player, "wh_1", changed)
        expected = replace(webhook(player), url="https://other.example/", events=("finished",))
        assert after == expected
        assert (webhooks.of((player,)), len(seen)) == ({player: [expected]}, 2)


def test_deliveries_are_made_once_and_taken_by_one_process(store: Store, player: str) -> None:
    webhooks, log = store
    webhooks.record(player, "m", 3, [delivery(1)], AT)
    assert (list(webhooks.deliveries(player)), webhooks.position(player, "m")) == ([], 0)  # without a webhook
    webhooks.add(webhook(player), 2)
    new = [delivery(1), delivery(2), delivery(3, "wh_gone")]
    webhooks.record(player, "m", 3, new, AT)
    webhooks.record(player, "m", 2, new[:1], AT)
    assert webhooks.position(player, "m") == 3
    assert list(webhooks.deliveries(player)) == [new[1], new[0]]
    assert due(log, "delivery", news_of(player)) == AT + 1
    assert list(webhooks.take(player, AT + 1, 100, 10)) == new[:1]
    assert list(webhooks.take(player, AT + 5, 100, 10)) == [new[1]]
    assert list(webhooks.take(player, AT + 5, 100, 10)) == []
    assert due(log, "delivery", news_of(player)) == AT + 101
    assert list(webhooks.take(player, AT + 500, 100, 1)) == new[:1]
    tried = replace(new[0], attempts=1, last=Attempt(AT, 7, failure="timeout"), next_at=AT + 50)
    assert webhooks.settle(player, new[0], tried)
    assert not webhooks.settle(player, new[0], replace(new[0], status="delivered"))
    done = replace(new[1], status="delivered", last=Attempt(AT, 7, status=204), next_at=None)
    assert webhooks.settle(player, new[1], done)
    assert due(log, "delivery", news_of(player)) == AT + 50
    assert list(webhooks.deliveries(player)) == [done, tried]
    webhooks.record(player, "m", 4, new, AT)
    assert list(webhooks.deliveries(player)) == [done, tried]
    assert due(log, "delivery", news_of(player)) == AT + 50
    webhooks.hold(player, AT + 70, [tried, done])
    assert due(log, "delivery", news_of(player)) == AT + 70
    assert list(webhooks.take(player, AT + 60, 100, 9)) == []
    again = replace(tried, since=AT + 60, attempts=0, next_at=AT + 60)
    assert webhooks.settle(player, tried, again)
    for late in (new[0], tried):
        assert not webhooks.settle(player, late, replace(late, status="delivered", next_at=None))
    assert due(log, "delivery", news_of(player)) == AT + 60
    webhooks.settle(player, again, replace(again, status="failed", next_at=None))
    webhooks.hold(player, AT + 70, [again])
    assert due(log, "delivery", news_of(player)) is None
    webhooks.record(player, "m", 9, (), AT, is_last=True)
    assert webhooks.position(player, "m") == 0


def test_old_deliveries_and_those_of_a_removed_webhook_are_removed(store: Store, player: str) -> None:
    webhooks, log = store
    webhooks.add(webhook(player), 2)
    webhooks.add(webhook(player, 2), 2)
    new = [delivery(number) for number in range(MAX_DELIVERIES + 2)]
    webhooks.record(player, "m", 1, new, AT)
    assert [one.notice for one in webhooks.deliveries(player)][-1] == "m-2"
    webhooks.record(player, NEWS, 1, [delivery(5, "wh_2")], AT)
    webhooks.record(player, "m", 2, (), AT + KEEP_MS + MAX_DELIVERIES)
    assert [one.notice for one in webhooks.deliveries(player)] == ["m-1001"]
    assert not webhooks.settle(player, new[7], new[7])
    assert len(webhooks.deliveries(player)) == 1
    webhooks.remove(player, "wh_1")
    assert list(webhooks.deliveries(player)) == []
    assert due(log, "delivery", news_of(player)) is None
    assert webhooks.position(player, "m") == 2
    webhooks.remove(player, "wh_2")
    assert webhooks.position(player, "m") == 0


def test_matches_and_players_are_watched_until_nothing_was_posted_since_the_claim(store: Store, player: str) -> None:
    webhooks, log = store
    match = token_hex(8)
    webhooks.postpone(match, AT)
    assert due(log, "news", match) is None
    webhooks.watch((match,), AT)
    webhooks.watch((match,), AT + 5)
    webhooks.watch((), AT)
    assert due(log, "news", match) == AT
    webhooks.postpone(match, AT + 7)
    assert due(log, "news", match) == AT + 7
    webhooks.watch_player(player, AT)
    webhooks.watch_player(player, AT + 3, claimed=AT + 1)
    assert due(log, "news", news_of(player)) == AT
    webhooks.watch_player(player, AT + 3, claimed=AT)
    assert due(log, "news", news_of(player)) == AT + 3
    webhooks.watch_player(player, None, claimed=AT + 3)
    assert due(log, "news", news_of(player)) is None


@pytest.mark.parametrize("store", ["server", "cluster"], indirect=True)
def test_news_of_a_player_are_due_if_the_player_has_webhooks(store: Store, player: str) -> None:
    webhooks, log = store
    assert isinstance(webhooks, RedisWebhooks)
    news = RedisNews(webhooks._client)
    news.post(player, SeatFreed("m", 1), AT)
    assert due(log, "news", news_of(player)) is None
    webhooks.add(webhook(player), 1)
    webhooks.watch_player(player, AT + 600_000)
    news.post(player, SeatFreed("m", 2), AT + 4)
    assert due(log, "news", news_of(player)) == AT + 4
