"""Players and tokens, in memory and on a server; what a process remembers of them."""

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


def test_players_are_given_as_far_as_they_exist(store: Accounts, ann: Player) -> None:
    store.add(ann, digest())
    assert store.players([ann.id, "pl_nobody"]) == {ann.id: ann}
    assert store.players([]) == {}


@pytest.fixture
def listening(valkey_log_url: str) -> Iterator[RedisAccounts]:
    """A process that hears of revocations."""
    client = connect(valkey_log_url)
    store = RedisAccounts(client)
    listener = Listener(client, {accounts.CHANNEL: store})
    until(lambda: store._listening, 20, "the listener listens")
    yield store
    listener.stop()


def test_a_known_token_costs_no_look_up_and_a_revocation_elsewhere_counts_at_once(
    listening: RedisAccounts, valkey_log_url: str, ann: Player
) -> None:
    token, elsewhere = digest(), RedisAccounts(connect(valkey_log_url))
    listening.add(ann, token)
    assert listening.by_token(token) == ann
    elsewhere._client.delete(f"player:{ann.id}")
    assert listening.by_token(token) == ann
    elsewhere.revoke(token)
    # Sooner than it is forgotten by itself, as is all below.
    until(lambda: listening.by_token(token) is None, 20, "the revocation is heard")


def test_a_known_player_costs_no_look_up_until_it_has_another_name(
    listening: RedisAccounts, valkey_log_url: str, ann: Player
) -> None:
    elsewhere = RedisAccounts(connect(valkey_log_url))
    listening.add(ann, digest())
    assert listening.players([ann.id]) == {ann.id: ann}
    elsewhere.rename(ann.id, "Anna")
    until(lambda: listening.players([ann.id])[ann.id].name == "Anna", 20, "the new name is heard")
    listening._client.delete(f"player:{ann.id}")
    assert listening.players([ann.id, "pl_nobody"])[ann.id].name == "Anna"


def test_without_a_listener_nothing_is_remembered(valkey_log_url: str, ann: Player) -> None:
    store = RedisAccounts(connect(valkey_log_url))
    token = digest()
    store.add(ann, token)
    assert store.by_token(token) == ann
    store._client.delete(f"token:{token}")
    assert store.by_token(token) is None


def test_what_was_read_before_a_revocation_is_not_remembered_after_it(listening: RedisAccounts, ann: Player) -> None:
    token = digest()
    read_before = listening._heard
    listening.hear(token.encode())
    listening._remember(listening._known, token, ann, read_before)
    assert listening.by_token(token) is None


def test_what_is_known_is_forgotten_in_time_and_when_messages_may_have_been_missed(
    listening: RedisAccounts, ann: Player, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = digest()
    listening.add(ann, token)
    listening.by_token(token)
    listening.lapse()
    assert not listening._known
    monkeypatch.setattr(accounts, "KNOWN_SECONDS", 0)
    listening.by_token(token)
    listening._client.delete(f"token:{token}")
    assert listening.by_token(token) is None


def test_only_so_many_tokens_are_remembered(
    listening: RedisAccounts, ann: Player, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accounts, "KNOWN_AT_ONCE", 2)
    for token in (tokens := [digest() for _ in range(3)]):
        listening.add(ann, token)
        listening.by_token(token)
    assert list(listening._known) == tokens[1:]


def test_a_name_can_be_erased_and_is_gone_from_every_process(
    listening: RedisAccounts, valkey_log_url: str, ann: Player
) -> None:
    token, elsewhere = digest(), RedisAccounts(connect(valkey_log_url))
    listening.add(ann, token)
    assert listening.by_token(token) == ann
    elsewhere.rename(ann.id, "")
    nameless = Player(id=ann.id, name="", created_at=5)
    until(lambda: listening.by_token(token) == nameless, 20, "the new name is heard")
    elsewhere.rename("pl_nobody", "x")
    assert elsewhere.players(["pl_nobody"]) == {}
