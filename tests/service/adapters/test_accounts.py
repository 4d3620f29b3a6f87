"""Accounts in memory and on a server, on a cluster too: tokens, recovery codes, erasure, and tokens of an older release."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from secrets import token_hex
from typing import Final

import pytest

from events.redis_log import connect, connect_cluster, send
from service.adapters.accounts import RedisAccounts
from service.adapters.memory import MemoryAccounts
from service.observability import failpoints
from service.repository.accounts import Accounts, Player, Session, Token

NOW: Final = 1_700_000_000_000
FULL: Final = Token(label="full", created_at=NOW)
WATCH: Final = Token(label="watch", scopes=("watch",), created_at=NOW)


@pytest.fixture(params=["memory", "redis", "cluster"])
def store(request: pytest.FixtureRequest) -> Accounts:
    if request.param == "memory":
        return MemoryAccounts()
    if request.param == "redis":
        return RedisAccounts(connect(request.getfixturevalue("valkey_log_url")))
    clusters: Callable[[int], str] = request.getfixturevalue("clusters")
    return RedisAccounts(connect_cluster(clusters(3)))


@pytest.fixture
def redis(valkey_log_url: str) -> RedisAccounts:
    return RedisAccounts(connect(valkey_log_url))


def digest() -> str:
    return token_hex(32)


def valid(store: Accounts, *digests: str) -> list[bool]:
    return [store.by_token(one) is not None for one in digests]


def test_a_player_is_found_by_every_token_until_it_is_revoked(store: Accounts, ann: Player) -> None:
    first, second = digest(), digest()
    store.add(ann, first)
    store.add(ann, first)
    assert store.add_token(ann.id, second, WATCH, 50, NOW) == "added"
    assert store.by_token(first) == Session(ann)
    assert store.by_token(second) == Session(ann, frozenset({"watch"}))
    assert store.by_token(digest()) is None
    assert store.tokens(ann.id) == {first: Token(created_at=5), second: WATCH}
    for _ in range(2):
        assert store.revoke(ann.id, first, first)
    assert valid(store, first, second) == [False, True]
    assert store.tokens(ann.id) == {second: WATCH}


def test_a_revoked_token_revokes_no_other(store: Accounts, ann: Player) -> None:
    first, second = digest(), digest()
    store.add(ann, first)
    store.add_token(ann.id, second, FULL, 50, NOW)
    assert store.revoke(ann.id, first, second)
    assert not store.revoke(ann.id, second, first)
    assert not store.revoke_others(ann.id, second)
    assert valid(store, first, second) == [True, False]


def test_all_tokens_but_one_are_revoked(store: Accounts, ann: Player) -> None:
    first, *others = (digest() for _ in range(4))
    store.add(ann, first)
    for other in others:
        store.add_token(ann.id, other, FULL, 50, NOW)
    assert store.revoke_others(ann.id, others[0])
    assert valid(store, first, *others) == [False, True, False, False]


def test_the_number_of_tokens_is_limited_and_expired_ones_do_not_count(store: Accounts, ann: Player) -> None:
    store.add(ann, digest())
    brief, second = digest(), digest()
    store.add_token(ann.id, brief, Token(expires_at=NOW + 1000, created_at=NOW), 2, NOW)
    assert store.add_token(ann.id, second, FULL, 2, NOW) == "full"
    assert valid(store, brief, second) == [True, False]
    assert store.add_token(ann.id, second, FULL, 2, NOW + 1000) == "added"
    assert store.add_token(ann.id, digest(), FULL, 2, NOW + 1000) == "full"
    assert valid(store, brief, second) == [False, True]


def test_a_token_that_is_added_again_is_known_or_was_removed(store: Accounts, ann: Player) -> None:
    first, second, brief = digest(), digest(), digest()
    store.add(ann, digest())
    add = partial(store.add_token, ann.id, limit=3, now=NOW)
    assert add(first, WATCH) == "added"
    assert (add(first, FULL), add(second, FULL, earlier=first)) == ("known", "known")
    assert valid(store, first, second) == [True, False]
    assert store.by_token(first) == Session(ann, frozenset({"watch"}))
    assert add(brief, Token(expires_at=NOW + 1, created_at=NOW)) == "added"
    assert (add(digest(), FULL), add(first, WATCH)) == ("full", "known")
    store.revoke(ann.id, first, first)
    assert (add(first, WATCH), add(second, FULL, earlier=first)) == ("removed", "removed")
    assert add(second, FULL, now=NOW + 1) == "added"
    assert add(brief, FULL) == "removed"
    assert valid(store, first, second, brief) == [False, True, False]


def test_a_known_token_is_repaired_and_found_by_an_older_process_only_with_all_rights(
    redis: RedisAccounts, ann: Player
) -> None:
    made = digest()
    redis.add(ann, digest())
    redis.add_token(ann.id, made, WATCH, 50, NOW)
    send(redis._client, ("DEL", f"grant:{made}"))  # as if the process had died before this step
    assert valid(redis, made) == [False]
    assert redis.add_token(ann.id, made, FULL, 50, NOW) == "known"
    assert valid(redis, made) == [True]
    assert send(redis._client, ("EXISTS", f"token:{made}")) == [0]


def test_a_recovery_replaces_all_tokens_and_needs_the_newest_code(store: Accounts, ann: Player) -> None:
    old, first, second = digest(), digest(), digest()
    store.add(ann, old)
    assert store.recovery_digest(ann.id) is None
    assert not store.recover(ann.id, "code 1", first, FULL)
    for code in ("code 1", "code 2"):
        assert store.set_recovery(ann.id, code)
    assert store.recovery_digest(ann.id) == "code 2"
    assert not store.recover(ann.id, "code 1", first, FULL)
    assert valid(store, old, first) == [True, False]
    assert store.recover(ann.id, "code 2", first, FULL)
    assert valid(store, old, first) == [False, True]
    assert store.recover(ann.id, "code 2", second, FULL)
    assert valid(store, old, first, second) == [False, False, True]


def test_of_replacements_at_once_one_token_is_left(store: Accounts, ann: Player) -> None:
    old, new = digest(), [digest() for _ in range(4)]
    store.add(ann, old)
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(lambda one: store.replace_all(ann.id, one, WATCH), new))
    assert len(store.tokens(ann.id)) == 1
    assert valid(store, old, *new).count(True) == 1
    assert [one for one, is_valid in zip(new, valid(store, *new), strict=True) if is_valid] == list(
        store.tokens(ann.id)
    )


def test_a_name_changes_and_does_not_come_back_after_the_erasure(store: Accounts, ann: Player) -> None:
    token, code = digest(), digest()
    store.add(ann, token)
    store.set_recovery(ann.id, code)
    anna = Player(ann.id, "Anna", 5)
    assert store.rename(anna)
    assert store.players([ann.id, "pl_nobody"]) == {ann.id: anna}
    store.begin_erasure(ann.id, NOW)
    for _ in range(2):
        store.erase(ann.id, NOW)
        assert store.players([ann.id]) == {}
        assert not store.rename(ann)
        assert store.add_token(ann.id, digest(), FULL, 50, NOW) == "erased"
        assert not store.set_recovery(ann.id, code)
        assert not store.recover(ann.id, code, digest(), FULL)
        assert not store.replace_all(ann.id, digest(), FULL)
        assert not store.revoke_others(ann.id, token)
        assert valid(store, token) == [False]
        assert store.recovery_digest(ann.id) is None
    assert store.erasing()[ann.id] == NOW
    for _ in range(2):
        store.finish_erasure(ann.id, NOW)
    assert ann.id not in store.erasing()
    assert store.erased()[ann.id] == NOW


def test_players_whose_erasure_has_begun_are_found(store: Accounts, ann: Player) -> None:
    ben = Player(f"pl_{token_hex(10)}", "Ben", 5)
    assert store.in_erasure([]) == frozenset()
    assert store.in_erasure([ann.id, ben.id]) == frozenset()
    store.begin_erasure(ann.id, NOW)
    assert store.in_erasure([ann.id, ben.id]) == {ann.id}
    store.finish_erasure(ann.id, NOW)
    store.begin_erasure(ben.id, NOW)
    assert store.in_erasure([ben.id, ann.id]) == {ann.id, ben.id}


def test_players_that_do_not_exist_are_left_out(store: Accounts, ann: Player) -> None:
    store.add(ann, digest())
    assert store.players([ann.id, "pl_nobody"]) == {ann.id: ann}
    assert store.players([]) == {}


# --- crashes and races -------------------------------------------------------------------------------------------------


def links(redis: RedisAccounts, ann: Player) -> list[bytes]:
    """All keys that lead from a digest to the player."""
    keys = [key for kind in ("token", "grant") for key in redis._client.scan_iter(match=f"{kind}:*")]
    owners = send(redis._client, *(("GET", key) for key in keys))
    return [key for key, owner in zip(keys, owners, strict=True) if owner == ann.id.encode()]


class Crash(Exception):
    pass


def crash(*_: object) -> None:
    raise Crash


@pytest.mark.parametrize("change", ["recover", "replace_all", "revoke_others", "erase"])
def test_a_repeated_command_removes_the_tokens_of_one_that_crashed(
    redis: RedisAccounts, ann: Player, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, new = digest(), digest(), digest()
    redis.add(ann, first)
    redis.add_token(ann.id, second, WATCH, 50, NOW)
    redis.set_recovery(ann.id, "code")
    calls: dict[str, Callable[[], object]] = {
        "recover": lambda: redis.recover(ann.id, "code", new, FULL),
        "replace_all": lambda: redis.replace_all(ann.id, new, FULL),
        "revoke_others": lambda: redis.revoke_others(ann.id, first),
        "erase": lambda: redis.erase(ann.id, NOW),
    }
    with monkeypatch.context() as patched:
        patched.setattr(redis, "_forget", crash)
        with pytest.raises(Crash):
            calls[change]()
    calls[change]()
    left = {"recover": new, "replace_all": new, "revoke_others": first}.get(change)
    assert links(redis, ann) == ([] if left is None else [f"token:{left}".encode()])
    if change == "erase":
        assert send(redis._client, ("HGETALL", f"account:{ann.id}")) == [{b"erased": str(NOW).encode()}]


@pytest.mark.parametrize("token", [FULL, WATCH])
@pytest.mark.parametrize("way", ["add_token", "recover"])
def test_a_token_that_is_made_during_the_erasure_leaves_no_key(
    redis: RedisAccounts, ann: Player, token: Token, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    redis.add(ann, digest())
    redis.set_recovery(ann.id, "code")

    def erase(name: str) -> None:
        if name in {"token-listed", "tokens-replaced"}:
            redis.erase(ann.id, NOW)

    with monkeypatch.context() as patched:
        patched.setattr(failpoints, "point", erase)
        if way == "add_token":
            assert redis.add_token(ann.id, digest(), token, 50, NOW) == "added"
        else:
            assert redis.recover(ann.id, "code", digest(), token)
    assert links(redis, ann) == []
    assert redis.tokens(ann.id) == {}


# --- tokens of older releases -----------------------------------------------------------------------------------------


def stored_by_an_older_release(redis: RedisAccounts, ann: Player) -> str:
    token = digest()
    name = b'{"id":"%s","name":"Ann","created_at":5}' % ann.id.encode()
    send(redis._client, ("SET", f"player:{ann.id}", name), ("SET", f"token:{token}", ann.id))
    return token


def read_by_an_older_release(redis: RedisAccounts, token: str) -> bytes | None:
    """The player that an older process finds for a token, which it gives all rights."""
    owner: bytes | None
    (owner,) = send(redis._client, ("GET", f"token:{token}"))
    if owner is None:
        return None
    (found,) = send(redis._client, ("GET", f"player:{owner.decode()}"))
    return owner if found else None


def test_a_token_of_an_older_release_keeps_all_rights_until_it_is_revoked(redis: RedisAccounts, ann: Player) -> None:
    token, other = (stored_by_an_older_release(redis, ann) for _ in range(2))
    assert redis.by_token(token) == redis.by_token(other) == Session(ann)
    assert redis.tokens(ann.id) == {}
    assert redis.revoke(ann.id, token, other)
    assert valid(redis, token, other) == [True, False]
    assert read_by_an_older_release(redis, other) is None
    assert redis.revoke(ann.id, token, token)
    assert valid(redis, token) == [False]


def test_revoking_all_others_also_revokes_those_that_are_not_listed(redis: RedisAccounts, ann: Player) -> None:
    token, other = (stored_by_an_older_release(redis, ann) for _ in range(2))
    assert redis.revoke_others(ann.id, token)
    assert valid(redis, token, other) == [True, False]
    assert not redis.revoke_others(ann.id, other)
    assert valid(redis, token) == [True]


def test_tokens_of_older_releases_are_adopted_and_leftovers_removed(redis: RedisAccounts, ann: Player) -> None:
    token, other = (stored_by_an_older_release(redis, ann) for _ in range(2))
    while redis.adopt():
        pass
    assert redis.tokens(ann.id) == {token: Token(), other: Token()}
    assert redis.revoke_others(ann.id, token)
    late = stored_by_an_older_release(redis, ann)
    assert not valid(redis, late)[0]
    redis.adopt()
    assert read_by_an_older_release(redis, late) is None
    assert valid(redis, token, other, late) == [True, False, False]


@pytest.mark.parametrize(
    ("token", "is_found"),
    [
        (FULL, True),
        (Token(label="hostile \u202e", created_at=NOW), True),
        (WATCH, False),
        (Token(scopes=("watch", "play", "account")), False),
        (Token(expires_at=NOW + 10**9), False),
    ],
)
def test_an_older_process_finds_only_tokens_with_all_rights(
    redis: RedisAccounts, ann: Player, token: Token, is_found: bool
) -> None:
    redis.add(ann, digest())
    made = digest()
    redis.add_token(ann.id, made, token, 50, NOW)
    assert redis.by_token(made) is not None
    assert (read_by_an_older_release(redis, made) is not None) == is_found


def test_a_token_with_a_scope_of_a_newer_release_has_the_others(redis: RedisAccounts, ann: Player) -> None:
    made = digest()
    redis.add(ann, digest())
    redis.add_token(ann.id, made, Token(scopes=("watch", "teleport")), 50, NOW)
    session = redis.by_token(made)
    assert session is not None
    assert "watch" in session.scopes
    assert "play" not in session.scopes


# --- the hour of the last use -----------------------------------------------------------------------------------------


def test_a_revocation_is_noted_for_a_day(redis: RedisAccounts, ann: Player) -> None:
    token, account = digest(), f"account:{ann.id}"
    redis.add(ann, token)
    redis.revoke(ann.id, token, token)
    for seconds, is_noted in ((86_000, True), (90_000, False)):
        ((now, _),) = send(redis._client, ("TIME",))
        send(redis._client, ("HSET", account, f"gone:{token}", now - seconds))
        redis.add_token(ann.id, digest(), FULL, 50, NOW)
        assert send(redis._client, ("HEXISTS", account, f"gone:{token}")) == [is_noted]
