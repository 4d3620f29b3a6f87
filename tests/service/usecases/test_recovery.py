"""Recovery codes: one is enough to get an account back, and no wrong one is."""

import dataclasses
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.repository.accounts import Accounts, Session
from service.repository.ports import digest_of
from service.usecases import accounts, recovery
from service.usecases.accounts import new_secret, with_checksum
from service.usecases.recovery import LENGTH, player_of
from tests.service.arena import START, Arena, refused


def test_a_code_gets_a_new_token_and_revokes_all_others() -> None:
    arena = Arena()
    player, old = accounts.sign_up(arena.ports, "anna")
    watching, _ = accounts.add_token(arena.ports, player, scopes=("watch",))
    code = recovery.renew_code(arena.ports, player)
    assert (len(code), player_of(code)) == (LENGTH, player.id)
    found, token = recovery.recover(arena.ports, code)
    assert found == player
    assert accounts.authenticate(arena.ports, token) == Session(player)
    for revoked in (old, watching):
        refused("token-invalid", accounts.authenticate, arena.ports, revoked)


def test_a_code_is_valid_until_it_is_renewed() -> None:
    arena = Arena()
    player, _ = accounts.sign_up(arena.ports, "anna")
    code = recovery.renew_code(arena.ports, player)
    first, second = (recovery.recover(arena.ports, code)[1] for _ in range(2))
    refused("token-invalid", accounts.authenticate, arena.ports, first)
    assert accounts.authenticate(arena.ports, second).player == player
    newest = recovery.renew_code(arena.ports, player)
    refused("recovery-code-invalid", recovery.recover, arena.ports, code)
    assert recovery.recover(arena.ports, newest)[0] == player


class Reads:
    """Accounts, and the names of the methods that were called."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts
        self.names: list[str] = []

    def __getattr__(self, name: str) -> object:
        self.names.append(name)
        return getattr(self._accounts, name)


def test_wrong_codes_are_refused_alike_whether_or_not_the_player_exists_and_change_nothing() -> None:
    arena = Arena()
    player, token = accounts.sign_up(arena.ports, "anna")
    other, _ = accounts.sign_up(arena.ports, "ben")
    recovery.renew_code(arena.ports, player)
    wrong = [
        with_checksum(f"reco_{player.id[3:]}_{new_secret()}"),
        with_checksum(f"reco_{other.id[3:]}_{new_secret()}"),
        with_checksum(f"reco_{'0' * 20}_{new_secret()}"),
    ]
    reads = Reads(arena.ports.accounts)
    ports = dataclasses.replace(arena.ports, accounts=cast("Accounts", reads))
    refusals = [refused("recovery-code-invalid", recovery.recover, ports, code) for code in wrong]
    assert len({(refusal.detail, str(refusal.facts)) for refusal in refusals}) == 1
    # The same work for each, so that the time of an answer tells nothing either.
    assert reads.names == ["recovery_digest"] * len(wrong)
    assert accounts.authenticate(arena.ports, token).player == player


def test_a_code_is_stored_only_as_its_digest_and_not_after_the_erasure() -> None:
    arena = Arena()
    player, _ = accounts.sign_up(arena.ports, "anna")
    code = recovery.renew_code(arena.ports, player)
    assert code not in repr(vars(arena.ports.accounts))
    assert digest_of(code) in repr(vars(arena.ports.accounts))
    arena.ports.accounts.erase(player.id, START)
    refused("recovery-code-invalid", recovery.recover, arena.ports, code)
    refused("token-invalid", recovery.renew_code, arena.ports, player)
    assert digest_of(code) not in repr(vars(arena.ports.accounts))


@given(st.integers(0, LENGTH - 1), st.characters())
def test_a_mistyped_code_is_refused_without_a_look_up(index: int, typed: str) -> None:
    code = with_checksum(f"reco_{'0123456789abcdef0123'}_{new_secret()}")
    mistyped = code[:index] + typed + code[index + 1 :]
    assert (player_of(mistyped) is not None) == (mistyped == code)


@pytest.mark.parametrize("code", ["reco_" + "0" * 70, "moon_" + "0" * 49, "reco_x\n", "\u0660" * 75])
def test_any_other_text_is_no_code(code: str) -> None:
    assert player_of(code) is None
    assert "mistyped" in refused("recovery-code-invalid", recovery.recover, Arena().ports, code).detail
