"""What is remembered of the tasks of hosted bots, in memory and on a server, on a cluster too."""

from collections.abc import Callable, Iterator
from secrets import token_hex
from typing import Any, Final

import pytest
from msgspec.structs import replace

from events.redis_log import connect, connect_cluster, send
from service.adapters.bot_tasks import RedisBotTasks
from service.adapters.memory import MemoryBotTasks
from service.repository.bot_tasks import BUCKETS_MS, KEPT_DAYS, KEPT_TASKS, BotTasks, Day, TaskRecord, bucket_of

DAY: Final = 24 * 3_600_000
NOW: Final = 20_000 * DAY


@pytest.fixture(params=["memory", "redis", "cluster"])
def store(request: pytest.FixtureRequest) -> Iterator[BotTasks]:
    if request.param == "memory":
        yield MemoryBotTasks()
        return
    clusters: Callable[[int], str] = request.getfixturevalue("clusters")
    is_cluster = request.param == "cluster"
    client = connect_cluster(clusters(3)) if is_cluster else connect(request.getfixturevalue("valkey_log_url"))
    yield RedisBotTasks(client)
    client.close()


@pytest.fixture
def redis(valkey_log_url: str) -> Iterator[RedisBotTasks]:
    client = connect(valkey_log_url)
    yield RedisBotTasks(client)
    client.close()


@pytest.fixture
def bot() -> str:
    return f"bt_{token_hex(10)}"


def record(number: int = 0, match: str = "m1", **more: Any) -> TaskRecord:
    return TaskRecord(f"{match}-{number}-0", match, 0, number, "called", NOW + number, **more)


def ended(one: TaskRecord, outcome: Any = "accepted", at: int = NOW, **more: Any) -> TaskRecord:
    return replace(one, outcome=outcome, ended_at=at, **more)


def test_one_call_of_a_bot_lasts_in_a_match_until_it_ends_or_its_time_is_over(store: BotTasks, bot: str) -> None:
    first = record(0, one_at_a_time=True)
    assert store.begin(bot, first, NOW + 100) == "begun"
    assert store.begin(bot, first, NOW + 100) == "busy"
    other = record(50, one_at_a_time=True)
    assert store.begin(bot, other, NOW + 150) == "busy"  # another task of the same match
    assert store.begin(bot, record(51), NOW + 150) == "begun"  # which shows that the one before has ended
    assert store.begin(bot, record(50, "m2"), NOW + 150) == "begun"
    assert store.begin(f"{bot}x", other, NOW + 150) == "begun"
    assert store.begin(bot, replace(first, asked_at=NOW + 100), NOW + 200) == "begun"  # the process has died
    store.extend(bot, first, NOW + 300)
    assert store.begin(bot, record(250, one_at_a_time=True), NOW + 350) == "busy"
    assert store.end(bot, ended(first))
    assert store.begin(bot, first, NOW + 999) == "ended"
    store.extend(bot, first, NOW + 300)  # too late
    assert store.begin(bot, record(251, one_at_a_time=True), NOW + 350) == "begun"


def test_a_task_that_ended_late_begins_again_and_ends_once_more(store: BotTasks, bot: str) -> None:
    one = record()
    store.begin(bot, one, NOW + 100)
    assert store.end(bot, ended(one, "late", NOW + 100))
    again = replace(one, asked_at=NOW + 200)
    assert store.begin(bot, again, NOW + 300) == "begun"
    assert store.begin(bot, again, NOW + 300) == "busy"
    assert store.find(bot, one.task) == again
    assert store.end(bot, ended(again, "accepted", NOW + 210, ms=10))
    assert store.begin(bot, again, NOW + 300) == "ended"


def test_a_task_ends_once_and_one_that_was_declined_may_end_otherwise(store: BotTasks, bot: str) -> None:
    one = record()
    store.begin(bot, one, NOW)
    declined, accepted = ended(one, "declined", ms=7, status=204), ended(one, "accepted", ms=9)
    assert store.end(bot, declined)
    assert not store.end(bot, replace(declined, ms=8)) or store.find(bot, one.task) is not None
    assert store.end(bot, accepted)
    assert not store.end(bot, ended(one, "late"))
    assert store.find(bot, one.task) == accepted
    assert store.find(bot, "none") is None
    (day,) = store.days((bot,))[bot]
    assert day.outcomes == {"accepted": 1}


def test_a_task_that_was_pulled_is_noted_once(store: BotTasks, bot: str) -> None:
    one = replace(record(), way="pulled")
    store.note(bot, one)
    store.note(bot, replace(one, asked_at=NOW + 5))
    assert store.newest(bot, 0, 9) == [one]
    store.end(bot, ended(one))
    store.note(bot, one)
    assert store.newest(bot, 0, 9) == [ended(one)]


def test_the_newest_tasks_are_kept_and_listed_in_pages(store: BotTasks, bot: str) -> None:
    records = [record(number) for number in range(KEPT_TASKS + 3)]
    store.note(bot, *records[:2])
    store.note(bot, *records[2:])
    store.note(bot)
    kept = records[3:][::-1]
    assert [*store.newest(bot, 0, 100), *store.newest(bot, 100, KEPT_TASKS)] == kept
    assert store.newest(bot, KEPT_TASKS, 9) == []
    assert store.find(bot, records[2].task) is None


def test_nothing_is_noted_of_a_bot_that_was_deleted_during_a_call(store: BotTasks, bot: str) -> None:
    one = record()
    assert store.begin(bot, one, NOW + 100) == "begun"
    store.note(bot, record(1))
    store.forget(bot)
    assert not store.end(bot, ended(one, ms=7))
    store.note(bot, record(2))
    store.extend(bot, one, NOW + 900)
    assert store.begin(bot, record(3), NOW + 100) == "ended"
    assert (store.newest(bot, 0, 9), store.find(bot, one.task), store.days((bot,))) == ([], None, {bot: []})
    if isinstance(store, RedisBotTasks):
        kept = [key.decode() for key in store._client.scan_iter(match=f"*{bot}*")]
        assert kept == [f"index:{{{bot}}}:erased"]


def test_calls_of_processes_that_died_are_forgotten(redis: RedisBotTasks, bot: str) -> None:
    for number in range(200):
        assert redis.begin(bot, record(number), NOW + number + 1) == "begun"
    (lasting,) = send(redis._client, ("HLEN", f"index:{{{bot}}}:calling"))
    assert lasting <= 65
    assert redis.begin(bot, record(199), NOW + 999) == "busy"


def test_numbers_are_counted_by_day_and_range(store: BotTasks, bot: str) -> None:
    for number, (outcome, at, ms) in enumerate(
        [
            ("accepted", NOW, 3),
            ("accepted", NOW, 5),
            ("failed", NOW, None),
            ("late", NOW + DAY, None),
            ("accepted", NOW + DAY, 70_000),
        ]
    ):
        store.end(bot, ended(record(number), outcome, at, ms=ms))
    assert store.days((bot, "bt_none")) == {
        bot: [
            Day(20_001, {"late": 1, "accepted": 1}, {len(BUCKETS_MS): 1}),
            Day(20_000, {"accepted": 2, "failed": 1}, {0: 2}),
        ],
        "bt_none": [],
    }
    assert store.days(()) == {}


def test_old_days_are_forgotten(redis: RedisBotTasks, bot: str) -> None:
    for number in range(KEPT_DAYS + 2):
        redis.end(bot, ended(record(number), at=NOW + number * DAY))
    days = redis.days((bot,))[bot]
    assert [day.day for day in days] == [20_000 + number for number in range(KEPT_DAYS + 1, 1, -1)]


@pytest.mark.parametrize(
    ("ms", "number"), [(0, 0), (5, 0), (6, 1), (10_000, len(BUCKETS_MS) - 1), (10_001, len(BUCKETS_MS))]
)
def test_a_time_is_counted_in_the_first_range_that_has_it(ms: int, number: int) -> None:
    assert bucket_of(ms) == number
