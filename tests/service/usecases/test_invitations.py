"""Invitations: who may invite, to which match, and for how long."""

import pytest

from service.usecases import match_lifecycle
from service.usecases.invitations import invite
from tests.service.arena import Arena, refused


@pytest.mark.parametrize("private", [True, False])
def test_an_invitation_lets_its_holders_in_until_it_expires(private: bool) -> None:
    arena = Arena()
    table = arena.join(arena.create(seats=4, private=private), "anna")
    code = invite(arena.ports, "anna", table, 60).invitation
    for player in ("ben", "carl"):
        match_lifecycle.join(arena.ports, player, table, f"sit-{player}", invitation=code)
    arena.wait(60_000)
    assert match_lifecycle.join(arena.ports, "ben", table, "sit-ben", invitation=code).replayed
    if private:
        refused("invitation-expired", match_lifecycle.join, arena.ports, "dora", table, "k", invitation=code)
        assert arena.match(table).seat_of("dora") is None
        later = invite(arena.ports, "host", table, 60).invitation
        assert match_lifecycle.join(arena.ports, "dora", table, "k", invitation=later).match.status == "running"


def test_no_other_text_is_an_invitation() -> None:
    arena = Arena()
    table, other = (arena.create(private=True) for _ in range(2))
    code = invite(arena.ports, "host", table, 60).invitation
    later = f"{int(code[:13]) + 1:013d}{code[13:]}"
    for wrong in (
        invite(arena.ports, "host", other, 60).invitation,
        later,
        code[:-1],
        code.upper(),
        f"{code}\n",
        "x",
        "é",
    ):
        refused("match-not-found", match_lifecycle.join, arena.ports, "ben", table, "k", invitation=wrong)
    assert code.partition("-")[0] == str(arena.time + 60_000)


def test_only_players_of_an_open_match_may_invite() -> None:
    arena = Arena()
    table, hidden = arena.create(), arena.create(private=True)
    refused("not-seated", invite, arena.ports, "ben", table, 60)
    refused("match-not-found", invite, arena.ports, "ben", hidden, 60)
    refused("match-not-found", invite, arena.ports, "ben", "none", 60)
    arena.join(table, "anna", "ben")
    refused("match-not-open", invite, arena.ports, "anna", table, 60)
