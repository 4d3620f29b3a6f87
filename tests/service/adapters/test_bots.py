"""Hosted bots in memory and on a server, on a cluster too."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from secrets import token_hex
from typing import Final

import pytest
from msgspec.structs import replace

from events.redis_log import connect, connect_cluster
from service.adapters.bots import RedisBots
from service.adapters.memory import MemoryBots
from service.repository.bots import Bot, Bots
from service.repository.signing import SigningKey

NOW: Final = 1_700_000_000_000


@pytest.fixture(params=["memory", "redis", "cluster"])
def store(request: pytest.FixtureRequest) -> Iterator[Bots]:
    if request.param == "memory":
        yield MemoryBots()
        return
    clusters: Callable[[int], str] = request.getfixturevalue("clusters")
    is_cluster = request.param == "cluster"
    client = connect_cluster(clusters(3)) if is_cluster else connect(request.getfixturevalue("valkey_log_url"))
    yield RedisBots(client)
    client.close()


def bot_of(owner: str, number: int = 0, *, public: bool = False) -> Bot:
    return Bot(
        f"bt_{token_hex(10)}", owner, NOW + number, ("toy",), "slow", public, "owner", 2, 5_000, SigningKey("bot")
    )


@pytest.fixture
def owner() -> str:
    return f"pl_{token_hex(10)}"


def test_a_bot_is_found_and_listed_until_it_is_removed(store: Bots, owner: str) -> None:
    first, second = bot_of(owner, 1), bot_of(owner)
    assert store.add(first, 2)
    assert store.add(second, 2)
    assert list(store.of(owner)) == [second.id, first.id]  # the oldest first
    assert owner in set(store.owners())
    assert store.find([first.id, "bt_none", second.id]) == {first.id: first, second.id: second}
    assert store.find([]) == {}
    changed = replace(first, about="fast")
    assert store.change(first.id, lambda one: replace(one, about="fast")) == changed
    assert store.find([first.id]) == {first.id: changed}
    for _ in range(2):
        store.remove(first.id, owner)
    assert list(store.of(owner)) == [second.id]
    assert store.find([first.id]) == {}
    assert store.change(first.id, lambda one: one) is None
    assert store.find([first.id]) == {}


def test_no_concurrent_change_of_a_bot_is_lost(store: Bots, owner: str) -> None:
    """A renewed secret would be the old one again, if a change of the settings had been made at the same time."""
    bot = bot_of(owner)
    store.add(bot, 1)

    def change(number: int) -> None:
        for _ in range(5):
            if number % 2:
                store.change(bot.id, lambda one: replace(one, key=one.key.renewed(NOW, token_hex(8))))
            else:
                store.change(bot.id, lambda one: replace(one, max_matches=one.max_matches + 1))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(change, range(4)))
    found = store.find([bot.id])[bot.id]
    assert (found.key.number, found.max_matches) == (bot.key.number + 10, bot.max_matches + 10)


def test_an_owner_has_at_most_as_many_bots_as_allowed_also_at_once(store: Bots, owner: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        added = list(pool.map(lambda number: store.add(bot_of(owner, number), 3), range(8)))
    assert sum(added) == 3
    assert len(store.of(owner)) == 3
    assert store.add(bot_of("pl_" + token_hex(10)), 3)


def test_the_public_list_has_only_public_bots_in_the_order_of_their_ids(store: Bots, owner: str) -> None:
    shown = sorted((bot_of(owner, number, public=True) for number in range(3)), key=lambda bot: bot.id)
    hidden = bot_of(owner)
    for bot in (*shown, hidden):
        store.add(bot, 9)
    listed = _public(store)
    ids = [bot.id for bot in shown]
    assert [one for one in listed if one in {*ids, hidden.id}] == ids
    store.change(shown[0].id, lambda one: replace(one, public=False))
    store.change(hidden.id, lambda one: replace(one, public=True))
    store.remove(shown[1].id, owner)
    assert {one for one in _public(store) if one in {*ids, hidden.id}} == {shown[2].id, hidden.id}


def _public(store: Bots) -> list[str]:
    """All ids of the public list, read in pages of two."""
    found: list[str] = []
    while page := store.public(found[-1] if found else "", 2):
        found += page
    return found


def test_a_bot_is_admitted_to_at_most_as_many_matches_as_allowed(store: Bots, owner: str) -> None:
    bot = bot_of(owner)
    store.add(bot, 1)
    with ThreadPoolExecutor(8) as pool:
        admitted = list(pool.map(lambda number: store.admit(bot.id, f"m{number}", NOW + number, 2), range(8)))
    assert sorted(admitted) == ["full"] * 6 + ["new"] * 2
    known = store.admitted(bot.id)
    assert known == {f"m{number}": NOW + number for number in range(8) if admitted[number] == "new"}
    one, other = known
    assert store.admit(bot.id, one, NOW + 99, 2) == "known"  # it keeps its time
    store.release(bot.id, one, NOW + 99)
    assert store.admitted(bot.id) == known
    store.release(bot.id, one, known[one])
    assert store.admit(bot.id, "another", NOW, 2) == "new"
    store.release(bot.id, other, known[other])
    store.seat(bot.id, other, NOW + 9)  # a command that failed has released it meanwhile
    assert store.admitted(bot.id) == {other: NOW + 9, "another": NOW}
    store.remove(bot.id, owner)
    assert store.admitted(bot.id) == {}
