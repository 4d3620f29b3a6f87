"""The cache of accounts in a process, and the changes that other processes announce."""

from collections.abc import Iterator
from secrets import token_hex
from typing import Any

import pytest

from events.listener import Listener
from events.redis_log import connect
from events.redis_pool import Command
from service.adapters import account_cache, announced_cache
from service.adapters.account_scripts import account_key
from service.adapters.accounts import RedisAccounts
from service.repository.accounts import Player, Session, Token
from tests.waiting import until


@pytest.fixture
def other_process(valkey_log_url: str) -> RedisAccounts:
    return RedisAccounts(connect(valkey_log_url))


def digest() -> str:
    return token_hex(32)


@pytest.fixture
def listening(valkey_log_url: str) -> Iterator[RedisAccounts]:
    """Accounts of a process that receives changes."""
    client = connect(valkey_log_url)
    store = RedisAccounts(client)
    listener = Listener(client, {account_cache.CHANNEL: store.cache})
    until(lambda: store.cache.players.is_listening, 20, "the listener is subscribed")
    yield store
    listener.stop()


def test_a_cached_token_needs_no_look_up_and_a_revocation_by_another_process_applies_at_once(
    listening: RedisAccounts, other_process: RedisAccounts, ann: Player
) -> None:
    token = digest()
    listening.add(ann, token)
    assert listening.by_token(token) == Session(ann)
    other_process._client.delete(f"player:{ann.id}")
    assert listening.by_token(token) == Session(ann)
    other_process.revoke(ann.id, token, token)
    # Sooner than the cache entry expires.
    until(lambda: listening.by_token(token) is None, 20, "the revocation is received")


@pytest.mark.parametrize("change", ["revoke_others", "recover", "erase"])
def test_a_change_of_all_tokens_by_another_process_applies_at_once(
    listening: RedisAccounts, other_process: RedisAccounts, ann: Player, change: str
) -> None:
    token, kept = digest(), digest()
    listening.add(ann, token)
    listening.add_token(ann.id, kept, Token(), 50, 0)
    listening.set_recovery(ann.id, "code")
    assert listening.by_token(token)
    match change:
        case "revoke_others":
            other_process.revoke_others(ann.id, kept)
        case "recover":
            other_process.recover(ann.id, "code", digest(), Token())
        case "erase":
            other_process.erase(ann.id, 0)
    until(lambda: listening.by_token(token) is None, 20, "the change is received")


def test_a_new_name_is_seen_by_another_process_at_once(
    listening: RedisAccounts, other_process: RedisAccounts, ann: Player
) -> None:
    token = digest()
    listening.add(ann, token)
    assert listening.by_token(token) == Session(ann)
    assert listening.players([ann.id]) == {ann.id: ann}
    anna = Player(ann.id, "Anna", 5)
    other_process.rename(anna)
    until(lambda: listening.players([ann.id]) == {ann.id: anna}, 20, "the new name is received")
    assert listening.by_token(token) == Session(anna)


def test_a_cached_player_needs_no_look_up(listening: RedisAccounts, ann: Player) -> None:
    listening.add(ann, digest())
    assert listening.players([ann.id]) == {ann.id: ann}
    listening._client.delete(f"player:{ann.id}")
    assert listening.players([ann.id, "pl_nobody"]) == {ann.id: ann}


def test_without_a_listener_nothing_is_cached(other_process: RedisAccounts, ann: Player) -> None:
    token = digest()
    other_process.add(ann, token)
    assert other_process.by_token(token) == Session(ann)
    other_process._client.delete(f"token:{token}")
    assert other_process.by_token(token) is None


def test_a_token_read_before_a_revocation_is_not_cached_after_it(listening: RedisAccounts, ann: Player) -> None:
    token = digest()
    seen = listening.cache.sessions.changes
    listening.cache.receive(token.encode())
    listening.cache.sessions.keep({token: Session(ann)}, seen)
    assert listening.by_token(token) is None


def test_cache_entries_expire_and_are_dropped_when_messages_may_have_been_missed(
    listening: RedisAccounts, ann: Player, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = digest()
    listening.add(ann, token)
    listening.by_token(token)
    assert listening.remembered(token)
    listening.cache.messages_missed()
    assert not listening.remembered(token)
    monkeypatch.setattr(announced_cache, "CACHE_SECONDS", 0)
    listening.by_token(token)
    listening._client.delete(f"token:{token}")
    assert listening.by_token(token) is None


def test_a_token_is_read_again_in_one_round_trip_and_its_player_is_not_taken_from_the_cache(
    listening: RedisAccounts, ann: Player, monkeypatch: pytest.MonkeyPatch
) -> None:
    token, read = digest(), listening._send
    trips: list[tuple[Command, ...]] = []

    def counted(*commands: Command) -> list[Any]:
        trips.append(commands)
        return read(*commands)

    listening.add(ann, token)
    ben = Player("pl_ben", "Ben", 6)
    listening.add(ben, digest())
    monkeypatch.setattr(announced_cache, "CACHE_SECONDS", 0)
    monkeypatch.setattr(listening, "_send", counted)
    assert [listening.by_token(token) for _ in range(2)] == [Session(ann)] * 2
    assert len(trips) == 3
    listening._client.hset(account_key(ann.id), f"gone:{token}", "1")
    assert listening.by_token(token) is None
    assert len(trips) == 4
    listening._client.set(f"token:{token}", ben.id)
    assert listening.by_token(token) == Session(ben)
    assert len(trips) == 6


def test_the_cache_of_tokens_is_limited(listening: RedisAccounts, ann: Player, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(announced_cache, "CACHE_SIZE", 2)
    for token in (tokens := [digest() for _ in range(3)]):
        listening.add(ann, token)
        listening.by_token(token)
    assert [listening.remembered(token) is not None for token in tokens] == [False, True, True]
