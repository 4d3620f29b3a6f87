"""Players and tokens, in memory and on a server, and the cache of a process."""

from collections.abc import Iterator
from secrets import token_hex

import pytest

from events.listener import Listener
from events.redis_log import connect
from service.adapters import accounts
from service.adapters.accounts import RedisAccounts
from service.adapters.memory import MemoryAccounts
from service.repository.ports import Accounts, Player
from tests.waiting import until


@pytest.fixture(params=["memory", "redis"])
def store(request: pytest.FixtureRequest) -> Accounts:
    if request.param == "memory":
        return MemoryAccounts()
    return RedisAccounts(connect(request.getfixturevalue("valkey_log_url")))


@pytest.fixture
def ann() -> Player:
    return Player(id=f"pl_{token_hex(4)}", name="Ann", created_at=5)


def digest() -> str:
    return token_hex(32)


def test_a_player_is_found_by_every_token_until_it_is_revoked(store: Accounts, ann: Player) -> None:
    first, second = digest(), digest()
    store.add(ann, first)
    store.add(ann, first)
    store.add_token(ann.id, second)
    assert [store.by_token(first), store.by_token(second), store.by_token(digest())] == [ann, ann, None]
    store.revoke(first)
    store.revoke(first)
    assert [store.by_token(first), store.by_token(second)] == [None, ann]


def test_players_that_do_not_exist_are_left_out(store: Accounts, ann: Player) -> None:
    store.add(ann, digest())
    assert store.players([ann.id, "pl_nobody"]) == {ann.id: ann}
    assert store.players([]) == {}


@pytest.fixture
def listening(valkey_log_url: str) -> Iterator[RedisAccounts]:
    """Accounts of a process that receives revocations."""
    client = connect(valkey_log_url)
    store = RedisAccounts(client)
    listener = Listener(client, {accounts.CHANNEL: store})
    until(lambda: store._listening, 20, "the listener is subscribed")
    yield store
    listener.stop()


def test_a_cached_token_needs_no_look_up_and_a_revocation_by_another_process_applies_at_once(
    listening: RedisAccounts, valkey_log_url: str, ann: Player
) -> None:
    token, other_process = digest(), RedisAccounts(connect(valkey_log_url))
    listening.add(ann, token)
    assert listening.by_token(token) == ann
    other_process._client.delete(f"player:{ann.id}")
    assert listening.by_token(token) == ann
    other_process.revoke(token)
    # Sooner than the cache entry expires.
    until(lambda: listening.by_token(token) is None, 20, "the revocation is received")


def test_a_cached_player_needs_no_look_up(listening: RedisAccounts, ann: Player) -> None:
    listening.add(ann, digest())
    assert listening.players([ann.id]) == {ann.id: ann}
    listening._client.delete(f"player:{ann.id}")
    assert listening.players([ann.id, "pl_nobody"]) == {ann.id: ann}


def test_without_a_listener_nothing_is_cached(valkey_log_url: str, ann: Player) -> None:
    store = RedisAccounts(connect(valkey_log_url))
    token = digest()
    store.add(ann, token)
    assert store.by_token(token) == ann
    store._client.delete(f"token:{token}")
    assert store.by_token(token) is None


def test_a_token_read_before_a_revocation_is_not_cached_after_it(listening: RedisAccounts, ann: Player) -> None:
    token = digest()
    read_before = listening._revocations
    listening.receive(token.encode())
    listening._cache(listening._by_token, token, ann, read_before)
    assert listening.by_token(token) is None


def test_cache_entries_expire_and_are_dropped_when_messages_may_have_been_missed(
    listening: RedisAccounts, ann: Player, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = digest()
    listening.add(ann, token)
    listening.by_token(token)
    listening.messages_missed()
    assert not listening._by_token
    monkeypatch.setattr(accounts, "CACHE_SECONDS", 0)
    listening.by_token(token)
    listening._client.delete(f"token:{token}")
    assert listening.by_token(token) is None


def test_the_cache_of_tokens_is_limited(listening: RedisAccounts, ann: Player, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounts, "CACHE_SIZE", 2)
    for token in (tokens := [digest() for _ in range(3)]):
        listening.add(ann, token)
        listening.by_token(token)
    assert list(listening._by_token) == tokens[1:]
