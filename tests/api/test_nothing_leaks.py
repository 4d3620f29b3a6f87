"""Nothing leaks: for two matches that differ only in what a viewer cannot know, its answers are the same to the byte.

Every route of the service has a row of requests; sizes, headers, framing, log lines and counts are compared too.
"""

import dataclasses
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from typing import Any, Final, NamedTuple

import pytest
from redis import Redis
from redis.client import PubSub

from service.automation import bot_calls, bot_turns
from service.automation.bot_calls import KnownBots
from service.repository.outgoing import Answered, Failed
from service.usecases import hints
from tests.api.checked import documented
from tests.api.comparison import Comparison, Request, Row
from tests.api.rows import ROWS, compare_pair, leave, no_request
from tests.api.world_setup import World, WorldSetup, environment, mask, served
from tests.api.worlds import pairs
from tests.length import LONG
from tests.service.games.matches import Table, draws
from tests.service.games.tables import TABLES

SHORT: Final = frozenset(
    {
        "toy of 2",
        "ape_town of 2",
        "four_monkeys of 4, family",
        "monkeys_on_the_moon of 2",
        "monsters_on_the_moon of 3, secret missions",
    }
)
"""The tables of the short form: at least one of each game."""
FURTHER: Final = frozenset(
    {
        "toy of 4, clock hidden",
        "four_monkeys of 2, with skins",
        "monkeys_on_the_moon of 3, advanced",
        "monsters_on_the_moon of 1",
        "monsters_on_the_moon of 2, open missions",
        "monsters_on_the_moon of 2, walls",
    }
)
"""The tables that only the long form adds."""
COMPARED: Final = tuple(table for table in TABLES if table.name in SHORT or (LONG and table.name in FURTHER))
"""Small tables, for which pairs are found quickly; larger ones have no other hidden information."""


@pytest.fixture(scope="module")
def setup(valkey_log_url: str, valkey_queue_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorldSetup]:
    Redis.from_url(valkey_log_url).flushall()
    with served(environment(valkey_log_url, valkey_queue_url, tmp_path_factory.mktemp("data"))) as service:
        yield WorldSetup(service)


def test_every_route_has_a_row(setup: WorldSetup) -> None:
    rules = setup.app.url_map.iter_rules()
    routes = {f"{method} {documented(rule)}" for rule in rules for method in (rule.methods or set())}
    assert {route for route in routes if route.split()[0] not in {"HEAD", "OPTIONS"}} == set(ROWS)
    without_requests = {route for route, row in ROWS.items() if "{match_id}" in route and row is no_request}
    assert without_requests == set()


def test_every_game_is_compared() -> None:
    assert {table.game.info.id for table in COMPARED} == {table.game.info.id for table in TABLES}


@pytest.mark.long
@pytest.mark.parametrize("table", COMPARED, ids=lambda table: table.name)
def test_worlds_that_differ_in_hidden_information_get_the_same_answers(setup: WorldSetup, table: Table) -> None:
    assert {viewer for pair in pairs(table) for viewer in pair.viewers} == {None, *range(table.seats)}
    assert [seat for pair in pairs(table) for seat in compare_pair(setup, pair)], "no seat could move"


def test_strangers_get_the_same_answers_for_a_private_and_a_missing_match(setup: WorldSetup) -> None:
    pair = pairs(COMPARED[0])[0]
    world, _ = setup.create_pair(pair, private=True)
    both = Comparison(setup, pair, world, dataclasses.replace(world, id="a" * len(world.id)))
    both.compare([*ROWS.values(), leave], {**both.anonymous, "stranger": setup.stranger.token})


@pytest.mark.parametrize("table", COMPARED, ids=lambda table: table.name)
def test_bots_workers_and_long_polls_get_the_same_in_both_worlds(setup: WorldSetup, table: Table) -> None:
    """Compare the input of a bot, its job in the queue, and the messages published after its move."""
    to_move = [(pair, seat) for pair in pairs(table) for seat in pair.seats_to_move()]
    for pair, seat in to_move[:3]:
        both = Comparison(setup, pair, *setup.create_pair(pair, bot=seat), bot=seat)
        setup.time = max(setup.time, *(one.opens_at for one in setup.match(both.here).decisions()))
        results = [_traffic(setup, world) for world in (both.here, both.there)]
        assert results[0] == results[1]
        assert results[0].tasks, "the bot has to move"
        assert len(results[0].jobs) == 1
    assert to_move


class Traffic(NamedTuple):
    tasks: list[bytes]
    jobs: list[Mapping[str, bytes]]
    published: list[tuple[bytes, bytes]]


def _traffic(setup: WorldSetup, world: World) -> Traffic:
    """Everything that the service sends while a bot moves, except to the log."""
    queue, masks = Redis.from_url(setup.service.settings.queue_url or ""), world.masks()
    queue.flushall()
    setup.tasks.clear()
    with published(setup.service.settings.log_url or "") as messages:
        hints.hint(setup.ports, setup.match(world))
        chance = draws("a bot's own")
        bot_turns.advance(setup.ports, world.id, moves=1, chance_of=lambda _: chance)
        sent = [(mask(channel, masks), mask(data, masks)) for channel, data in messages()]
    jobs = [_job(queue, key, masks) for key in queue.scan_iter("rq:job:*")]
    queue.close()
    return Traffic([mask(task, masks) for task in setup.tasks], jobs, sent)


def _job(queue: Redis, key: bytes, masks: Mapping[bytes, bytes]) -> Mapping[str, bytes]:
    """The fields of a job in the queue, except its times."""
    found: Mapping[Any, Any] = queue.hgetall(key)
    texts = {name: zlib.decompress(value) if name == b"data" else value for name, value in found.items()}
    return {name.decode(): mask(value, masks) for name, value in texts.items() if not name.endswith(b"_at")}


@pytest.mark.parametrize("table", COMPARED, ids=lambda table: table.name)
def test_a_hosted_bot_and_its_owner_get_the_same_in_both_worlds(setup: WorldSetup, table: Table) -> None:
    """Compare the calls of a hosted bot, the tasks that it pulls, and what its owner sees of them while it answers and fails."""
    bot, owner = setup.hosted_bot()
    to_move = [(pair, seat) for pair in pairs(table) for seat in pair.seats_to_move()]
    for pair, seat in to_move[:3]:
        both = Comparison(setup, pair, *setup.create_pair(pair, bot=seat, name=bot.player.id), bot=seat)
        worlds = (both.here, both.there)
        setup.time = max(setup.time, *(one.opens_at for one in setup.match(both.here).decisions()))
        rows: list[Row] = [ROWS["GET /v1/me/tasks"], lambda _: [Request(f"/v1/me/bots/{bot.player.id}/tasks")]]
        callers = {"the bot": bot.token, "its owner": owner.token}
        both.compare(rows, callers)
        known = KnownBots()
        calls = [bot_calls.plan(setup.ports, world.id, known, lambda _: True).calls for world in worlds]
        assert calls[0], "the bot has to move"
        bodies = [
            [mask(call.body, world.masks()) for call in found] for world, found in zip(worlds, calls, strict=True)
        ]
        assert bodies[0] == bodies[1]
        assert not [secret for secret in both.here.hidden for body in bodies[0] if secret in body]
        both.compare(rows, callers)
        for result in (Answered(204, b"", 3), Failed("malformed", 3)):
            for call in chain(*calls):
                bot_calls.settle(setup.ports, call, result, 1, known)
            setup.refresh(*worlds)
            both.compare(rows[1:], callers)
    assert to_move


@contextmanager
def published(url: str) -> Iterator[Callable[[], list[tuple[bytes, bytes]]]]:
    """Yield a function that returns all messages so far, each with its channel."""
    client = Redis.from_url(url, protocol=2)
    subscription: PubSub = client.pubsub()  # type: ignore[no-untyped-call]  # redis-py leaves it untyped
    subscription.psubscribe("*")
    subscription.get_message(timeout=5)

    def received() -> list[tuple[bytes, bytes]]:
        client.publish("end", "")
        found: list[tuple[bytes, bytes]] = []
        while (message := subscription.get_message(timeout=5)) and message["channel"] != b"end":
            found.append((message["channel"], message["data"]))
        return found

    yield received
    subscription.close()
    client.close()
