"""Players and their tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.repository.ports import digest_of
from service.usecases import accounts
from service.usecases.accounts import PREFIX, is_token, new_token
from tests.service.arena import START, Arena, refused


def test_a_new_player_is_known_by_the_token() -> None:
    arena = Arena()
    player, token = accounts.sign_up(arena.ports, "Änne")
    assert (player.name, player.created_at) == ("Änne", START)
    assert player.id.startswith("pl_")
    assert accounts.authenticate(arena.ports, token) == player
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
    new = accounts.add_token(arena.ports, player)
    assert accounts.authenticate(arena.ports, old) == accounts.authenticate(arena.ports, new) == player
    accounts.revoke(arena.ports, old)
    accounts.revoke(arena.ports, old)
    refused("token-invalid", accounts.authenticate, arena.ports, old)
    assert accounts.authenticate(arena.ports, new) == player


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
