"""Nothing leaks: of two matches that differ only in what a viewer cannot know, every answer to it is the same to the byte.

Every route of the service has a row of requests; sizes, headers, framing, log lines and counts are compared too.
"""

import dataclasses
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import pytest
from redis import Redis
from redis.client import PubSub

from service.automation import bot_turns
from service.usecases import submit
from tests.api.checked import documented
from tests.api.overheard import Comparison
from tests.api.rows import ROWS, leave, nothing, told_alike
from tests.api.stage import Stage, World, environment, mask, served
from tests.api.worlds import pairs
from tests.length import LONG
from tests.service.games.matches import Table, draws
from tests.service.games.tables import TABLES

SHORT: Final = frozenset(
    {
        "toy of 4, clock hidden",
        "ape_town of 2",
        "four_monkeys of 4, family",
        "monkeys_on_the_moon of 2",
        "monsters_on_the_moon of 2, walls",
        "monsters_on_the_moon of 3, secret missions",
    }
)
"""The tables of the short form: at least one of each game."""
FURTHER: Final = frozenset(
    {
        "toy of 2",
        "four_monkeys of 2, with skins",
        "monkeys_on_the_moon of 3, advanced",
        "monsters_on_the_moon of 1",
        "monsters_on_the_moon of 2, open missions",
    }
)
"""The tables that only the long form adds."""
HELD: Final = tuple(table for table in TABLES if table.name in SHORT or (LONG and table.name in FURTHER))
"""Small tables, at which twins are soon found; larger ones hide nothing more."""


@pytest.fixture(scope="module")
def stage(valkey_log_url: str, valkey_queue_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    Redis.from_url(valkey_log_url).flushall()
    with served(environment(valkey_log_url, valkey_queue_url, tmp_path_factory.mktemp("data"))) as service:
        yield Stage(service)


def test_every_route_has_a_row(stage: Stage) -> None:
    rules = stage.app.url_map.iter_rules()
    routes = {f"{method} {documented(rule)}" for rule in rules for method in (rule.methods or set())}
    assert {route for route in routes if route.split()[0] not in {"HEAD", "OPTIONS"}} == set(ROWS)
    silent = {route for route, row in ROWS.items() if "{match_id}" in route and row is nothing}
    assert silent == set()


def test_every_game_is_compared() -> None:
    assert {table.game.info.id for table in HELD} == {table.game.info.id for table in TABLES}


@pytest.mark.long
@pytest.mark.parametrize("table", HELD, ids=lambda table: table.name)
def test_worlds_that_differ_in_hidden_information_get_the_same_answers(stage: Stage, table: Table) -> None:
    assert {viewer for pair in pairs(table) for viewer in pair.viewers} == {None, *range(table.seats)}
    assert [seat for pair in pairs(table) for seat in told_alike(stage, pair)], "nobody could move"


def test_strangers_get_the_same_answers_for_a_private_and_a_missing_match(stage: Stage) -> None:
    pair = pairs(HELD[0])[0]
    world, _ = stage.lay(pair, private=True)
    both = Comparison(stage, pair, world, dataclasses.replace(world, id="a" * len(world.id)))
    both.compare([*ROWS.values(), leave], {**both.nobody, "passer-by": stage.passer_by.token})


@pytest.mark.parametrize("table", HELD, ids=lambda table: table.name)
def test_bots_workers_and_long_polls_get_the_same_in_both_worlds(stage: Stage, table: Table) -> None:
    """The input of a bot, its job in the queue, and what is published after its move."""
    to_move = [(pair, seat) for pair in pairs(table) for seat in pair.seats_to_move()]
    for pair, seat in to_move[:3]:
        both = Comparison(stage, pair, *stage.lay(pair, bot=seat), bot=seat)
        stage.time = max(stage.time, *(one.opens_at for one in stage.match(both.here).decisions()))
        told = [_worked(stage, world) for world in (both.here, both.there)]
        assert told[0] == told[1]
        assert told[0].tasks, "the bot has to move"
        assert len(told[0].jobs) == 1
    assert to_move


class Worked(NamedTuple):
    tasks: list[bytes]
    jobs: list[Mapping[str, bytes]]
    published: list[tuple[bytes, bytes]]


def _worked(stage: Stage, world: World) -> Worked:
    """Everything that is sent to others than the log while a bot moves."""
    queue, masks = Redis.from_url(stage.service.settings.queue_url or ""), world.masks()
    queue.flushall()
    stage.tasks.clear()
    with published(stage.service.settings.log_url or "") as heard:
        submit.hint(stage.ports, stage.match(world))
        chance = draws("a bot's own")
        bot_turns.advance(stage.ports, world.id, moves=1, chance_of=lambda _: chance)
        told = [(mask(channel, masks), mask(said, masks)) for channel, said in heard()]
    jobs = [_job(queue, key, masks) for key in queue.scan_iter("rq:job:*")]
    queue.close()
    return Worked([*stage.tasks], jobs, told)


def _job(queue: Redis, key: bytes, masks: Mapping[bytes, bytes]) -> Mapping[str, bytes]:
    """All that stands in the queue for a job, but when it was put there."""
    found: Mapping[Any, Any] = queue.hgetall(key)
    texts = {name: zlib.decompress(value) if name == b"data" else value for name, value in found.items()}
    return {name.decode(): mask(value, masks) for name, value in texts.items() if not name.endswith(b"_at")}


@contextmanager
def published(url: str) -> Iterator[Callable[[], list[tuple[bytes, bytes]]]]:
    """All messages of all channels of a server, each with its channel, until they are asked for."""
    client = Redis.from_url(url, protocol=2)
    subscription: PubSub = client.pubsub()  # type: ignore[no-untyped-call]  # redis-py leaves it untyped
    subscription.psubscribe("*")
    subscription.get_message(timeout=5)

    def heard() -> list[tuple[bytes, bytes]]:
        client.publish("end", "")
        found: list[tuple[bytes, bytes]] = []
        while (message := subscription.get_message(timeout=5)) and message["channel"] != b"end":
            found.append((message["channel"], message["data"]))
        return found

    yield heard
    subscription.close()
    client.close()
