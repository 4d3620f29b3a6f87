"""The hour of the last use of a token, which is stored later."""

from secrets import token_hex
from typing import Final

import pytest

from events.redis_log import connect, send
from service.adapters.accounts import RedisAccounts
from service.adapters.token_uses import TokenUses, UsesWriter
from service.repository.accounts import HOUR_MS, Player, Token

NOW: Final = 1_700_000_000_000
WATCH: Final = Token(label="watch", scopes=("watch",), created_at=NOW)


@pytest.fixture
def redis(valkey_log_url: str) -> RedisAccounts:
    return RedisAccounts(connect(valkey_log_url))


def test_the_hour_of_the_last_use_is_stored_later_and_once_an_hour(redis: RedisAccounts, ann: Player) -> None:
    token, clock = token_hex(32), [NOW + 1]
    redis.uses = TokenUses(lambda: clock[0])
    redis.add(ann, token)
    for _ in range(3):
        redis.by_token(token)
    assert redis.tokens(ann.id)[token].last_used_at is None
    redis.store_uses()
    assert redis.tokens(ann.id)[token].last_used_at == NOW - NOW % HOUR_MS
    redis.by_token(token)
    assert redis.uses.take() == []
    clock[0] += HOUR_MS
    redis.by_token(token)
    redis.store_uses()
    assert redis.tokens(ann.id)[token].last_used_at == NOW - NOW % HOUR_MS + HOUR_MS


def test_a_use_that_is_stored_late_revives_no_token(redis: RedisAccounts, ann: Player) -> None:
    token = token_hex(32)
    redis.add(ann, token)
    redis.by_token(token)
    redis.revoke(ann.id, token, token)
    redis.store_uses()
    assert redis.tokens(ann.id) == {}
    assert send(redis._client, ("KEYS", f"uses:*{ann.id}*")) == [[]]


def test_the_uses_are_stored_when_the_process_stops(redis: RedisAccounts, ann: Player) -> None:
    token = token_hex(32)
    redis.add(ann, token)
    redis.by_token(token)
    UsesWriter(redis.store_uses).stop()
    assert redis.tokens(ann.id)[token].last_used_at is not None
