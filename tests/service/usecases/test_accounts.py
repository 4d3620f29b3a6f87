"""Players, their tokens and their names."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.repository.accounts import SCOPES, Session
from service.repository.ports import digest_of
from service.usecases import accounts
from service.usecases.accounts import DAY_MS, MAX_TOKENS, PREFIX, is_token, new_token
from tests.service.arena import START, Arena, refused


def test_a_new_player_is_known_by_the_token() -> None:
    arena = Arena()
    player, token = accounts.sign_up(arena.ports, "Änne")
    assert (player.name, player.created_at) == ("Änne", START)
    assert player.id.startswith("pl_")
    assert accounts.authenticate(arena.ports, token) == Session(player, frozenset(SCOPES), None)
    other, _ = accounts.sign_up(arena.ports, "Änne")
    assert other.id != player.id
    assert arena.ports.accounts.players([player.id, "pl_nobody"]) == {player.id: player}


def test_a_token_is_stored_only_as_its_digest() -> None:
    arena = Arena()
    _, token = accounts.sign_up(arena.ports, "anna")
    assert token not in repr(vars(arena.ports.accounts))
    assert digest_of(token) in repr(vars(arena.ports.accounts))


def test_a_new_token_works_before_the_old_one_is_revoked() -> None:
    arena = Arena()
    player, old = accounts.sign_up(arena.ports, "anna")
    new, _ = accounts.add_token(arena.ports, player)
    assert accounts.authenticate(arena.ports, old) == accounts.authenticate(arena.ports, new) == Session(player)
    accounts.revoke(arena.ports, old)
    accounts.revoke(arena.ports, old)
    refused("token-invalid", accounts.authenticate, arena.ports, old)
    assert accounts.authenticate(arena.ports, new).player == player


def test_a_token_has_the_scopes_and_the_time_that_were_asked_for() -> None:
    arena = Arena()
    player, first = accounts.sign_up(arena.ports, "anna")
    brief, view = accounts.add_token(arena.ports, player, label="Screen", scopes=("play", "watch"), seconds=60)
    assert (view.label, view.scopes, view.created_at, view.expires_at) == (
        "Screen",
        ("watch", "play"),
        START,
        START + 60_000,
    )
    session = accounts.authenticate(arena.ports, brief)
    assert session == Session(player, frozenset({"watch", "play"}), START + 60_000)
    listed = accounts.list_tokens(arena.ports, player, digest_of(first))
    assert [(one.id, one.current) for one in listed if one.current] == [(accounts.token_id(digest_of(first)), True)]
    assert view in listed
    hour = START - START % 3_600_000
    assert [one.last_used_at for one in listed] == [hour if one.current else None for one in listed]
    arena.wait(60_000)
    refused("token-invalid", accounts.authenticate, arena.ports, brief)
    refused("token-invalid", accounts.holder, arena.ports, digest_of(brief))
    assert [one.current for one in accounts.list_tokens(arena.ports, player, digest_of(first))] == [True]


def test_a_player_has_a_limited_number_of_tokens() -> None:
    arena = Arena()
    player, _ = accounts.sign_up(arena.ports, "anna")
    for _ in range(MAX_TOKENS - 1):
        accounts.add_token(arena.ports, player)
    refused("too-many-tokens", accounts.add_token, arena.ports, player)


def test_a_request_for_a_token_is_repeated_by_its_key_for_a_day_and_never_revives_a_revoked_token() -> None:
    arena = Arena()
    player, first = accounts.sign_up(arena.ports, "anna")
    other, _ = accounts.sign_up(arena.ports, "ben")
    add = partial(accounts.add_token, arena.ports, player, label="bot", scopes=["watch"], seconds=200_000, key="once")
    made = add()
    arena.wait(DAY_MS)
    assert add() == made
    for request in ({"label": "other"}, {"scopes": ["play"]}, {"seconds": None}, {"seconds": 60}):
        refused("idempotency-key-reused", partial(add, **request))
    another, _ = accounts.add_token(arena.ports, other, label="bot", scopes=["watch"], seconds=200_000, key="once")
    assert len({made[0], another, add(key="twice")[0], add(key=None)[0], add(key=None)[0]}) == 5
    accounts.revoke_token(arena.ports, player, digest_of(first), made[1].id)
    refused("idempotency-key-reused", add)
    arena.wait(DAY_MS)
    again, _ = add()
    assert again != made[0]
    refused("token-invalid", accounts.authenticate, arena.ports, made[0])
    brief = partial(add, seconds=60, key="brief")
    brief()
    arena.wait(60_000)
    refused("idempotency-key-reused", brief)


def test_a_token_is_revoked_by_its_id_and_only_by_its_player() -> None:
    arena = Arena()
    (anna, first), (ben, other) = (accounts.sign_up(arena.ports, name) for name in ("anna", "ben"))
    second, view = accounts.add_token(arena.ports, anna)
    refused("token-not-found", accounts.revoke_token, arena.ports, ben, digest_of(other), view.id)
    accounts.revoke_token(arena.ports, anna, digest_of(first), view.id)
    refused("token-invalid", accounts.authenticate, arena.ports, second)
    refused("token-not-found", accounts.revoke_token, arena.ports, anna, digest_of(first), view.id)
    refused(
        "token-invalid",
        accounts.revoke_token,
        arena.ports,
        anna,
        digest_of(second),
        accounts.token_id(digest_of(first)),
    )
    assert accounts.authenticate(arena.ports, first).player == anna


def test_all_others_are_revoked_and_a_revoked_token_cannot_do_this() -> None:
    arena = Arena()
    anna, first = accounts.sign_up(arena.ports, "anna")
    second, _ = accounts.add_token(arena.ports, anna)
    accounts.revoke_others(arena.ports, anna, digest_of(second))
    refused("token-invalid", accounts.authenticate, arena.ports, first)
    refused("token-invalid", accounts.revoke_others, arena.ports, anna, digest_of(first))
    assert accounts.authenticate(arena.ports, second).player == anna


def test_a_new_name_is_that_of_the_player_at_once() -> None:
    arena = Arena()
    anna, token = accounts.sign_up(arena.ports, "anna")
    renamed = accounts.rename(arena.ports, anna, "Anne")
    assert accounts.authenticate(arena.ports, token).player == renamed
    arena.ports.accounts.erase(anna.id, START)
    refused("token-invalid", accounts.rename, arena.ports, anna, "Anna")
    assert arena.ports.accounts.players([anna.id]) == {}


@pytest.mark.parametrize(
    "token", ["", "moon_", "moon_" + "0" * 49, "Moon_" + "0" * 49, "moon_" + "é" * 49, "moon_" + "0" * 49 + "\n"]
)
def test_malformed_and_unknown_tokens_are_refused_alike(token: str) -> None:
    arena = Arena()
    refusals = [refused("token-invalid", accounts.authenticate, arena.ports, given) for given in (token, new_token())]
    assert len({(refusal.detail, str(refusal.facts)) for refusal in refusals}) == 1


def test_a_token_has_a_recognizable_prefix_and_length() -> None:
    token = new_token()
    assert is_token(token)
    assert token.startswith(PREFIX)
    assert len(token) == 54
    assert token.isascii()
    assert len({new_token() for _ in range(100)}) == 100


@given(st.integers(0, 53), st.characters())
def test_a_mistyped_token_is_refused_without_a_look_up(index: int, typed: str) -> None:
    token = new_token()
    mistyped = token[:index] + typed + token[index + 1 :]
    assert is_token(mistyped) == (mistyped == token)


@given(st.text())
def test_any_other_text_is_no_token(text: str) -> None:
    assert not is_token(text)
