"""An erased account leaves its matches and ends its seek; what has to wait is done later, and everything may be repeated."""

from collections.abc import Callable

import pytest

from service.automation import pairing
from service.automation.bot_turns import suspend
from service.automation.deadlines import resume
from service.automation.erasure import AGAIN_MS, SETTLED_MS, Erasures
from service.errors import Corrupt
from service.match.new_match import NewMatch
from service.repository.accounts import Player
from service.repository.seeks import Pairing
from service.usecases import accounts, erasure, seeking
from service.usecases.match_lifecycle import join
from service.views.match_views import see
from tests.service.arena import Arena, refused


class Erasing(Arena):
    """An arena with a player who has an account, and one pass of a worker."""

    def __init__(self) -> None:
        super().__init__()
        self.player, self.token = accounts.sign_up(self.ports, "Anna")
        self.worker = Erasures(self.ports)

    @property
    def anna(self) -> str:
        return self.player.id

    def erase(self) -> None:
        erasure.erase(self.ports, self.anna)
        self.worker.step()

    def settle(self) -> None:
        """Let the time pass in which an erasure waits for requests that had begun."""
        for _ in range(SETTLED_MS // AGAIN_MS + 1):
            self.wait(AGAIN_MS)
            self.worker.step()

    def is_finished(self) -> bool:
        return self.anna not in self.ports.accounts.erasing() and self.anna in self.ports.accounts.erased()


def test_the_name_and_the_tokens_are_gone_at_once() -> None:
    arena = Erasing()
    match = arena.join(arena.create(by=arena.anna), arena.anna, "ben")
    erasure.erase(arena.ports, arena.anna)
    refused("token-invalid", accounts.authenticate, arena.ports, arena.token)
    view = see(arena.ports, arena.match(match), None)
    assert (view.creator, view.creator_name) == (arena.anna, None)
    assert [(seat.player, seat.name) for seat in view.seats] == [(arena.anna, None), ("ben", None)]


def test_running_seats_are_resigned_and_events_keep_the_id() -> None:
    arena = Erasing()
    running = [arena.join(arena.create(seats=2), arena.anna, other) for other in ("ben", "cleo")]
    before = [arena.log.stored(match) for match in running]
    arena.erase()
    for match, events in zip(running, before, strict=True):
        now = arena.match(match)
        seat = now.seat_of(arena.anna)
        assert seat is not None
        assert arena.log.stored(match)[: len(events)] == events
        holder = now.seats[seat]
        assert holder is not None
        assert holder.resigned
    arena.settle()
    assert arena.is_finished()
    heads = [arena.match(match).head for match in running]
    arena.ports.accounts.begin_erasure(arena.anna, arena.time)
    arena.worker.step()
    assert [arena.match(match).head for match in running] == heads


def test_open_matches_are_left_and_those_that_the_player_created_end() -> None:
    arena = Erasing()
    own, seated = arena.create(by=arena.anna), arena.create(by=arena.anna)
    others = arena.create()
    for match in (seated, others):
        arena.join(match, arena.anna)
    arena.erase()
    assert [arena.match(match).status for match in (own, seated, others)] == ["aborted", "aborted", "open"]
    assert arena.match(others).seat_of(arena.anna) is None
    arena.settle()
    assert arena.is_finished()


def test_a_suspended_match_is_left_once_it_resumes() -> None:
    arena = Erasing()
    match = arena.join(arena.create(), arena.anna, "ben")
    suspend(arena.ports, arena.match(match), "Broken")
    arena.erase()
    arena.settle()
    assert not arena.is_finished()
    head = arena.match(match).head
    resume(arena.ports, match)
    arena.wait(AGAIN_MS)
    arena.worker.step()
    assert arena.is_finished()
    newest = arena.match(match)
    assert newest.head.version == head.version + 2
    holder = newest.seats[0]
    assert holder is not None
    assert holder.resigned


def test_a_seek_ends_and_one_that_was_just_paired_leads_to_a_match_that_is_left() -> None:
    arena = Erasing()
    wanted = NewMatch("toy", 2)
    seeking.seek(arena.ports, arena.anna, wanted, "key", 600)
    arena.erase()
    assert arena.ports.seeks.of(arena.anna) is None
    arena = Erasing()
    sought = [seeking.seek(arena.ports, player, wanted, "key", 600) for player in (arena.anna, "ben")]
    paired = Pairing("toymatch", tuple(sought))
    assert arena.ports.seeks.pair(paired)
    arena.erase()
    arena.settle()
    assert not arena.is_finished()
    pairing.put_together(arena.ports)
    arena.wait(AGAIN_MS)
    arena.worker.step()
    assert arena.is_finished()
    holder = arena.match("toymatch").seats[0]
    assert holder is not None
    assert (holder.player, holder.resigned) == (arena.anna, True)


def test_a_seat_that_a_slow_request_takes_after_the_erasure_is_given_up() -> None:
    arena = Erasing()
    match = arena.create()
    arena.erase()
    join(arena.ports, arena.anna, match, "slow")
    arena.settle()
    assert arena.match(match).seat_of(arena.anna) is None
    assert arena.is_finished()


def test_a_match_that_cannot_be_left_does_not_stop_the_others() -> None:
    arena = Erasing()
    broken, whole = (arena.join(arena.create(), arena.anna, "ben") for _ in range(2))
    arena.log.rewrite(broken, (*arena.log.stored(broken)[:-1], b"{}"))
    with pytest.raises(Corrupt):
        arena.match(broken)
    arena.erase()
    holder = arena.match(whole).seats[0]
    assert holder is not None
    assert holder.resigned


def test_a_key_of_the_client_is_in_nobodys_way() -> None:
    arena = Erasing()
    match = arena.create()
    join(arena.ports, arena.anna, match, f"erase:{arena.anna}:2")
    join(arena.ports, "ben", match, "sit")
    arena.erase()
    holder = arena.match(match).seats[0]
    assert holder is not None
    assert holder.resigned


@pytest.mark.parametrize("change", [lambda arena: accounts.rename(arena.ports, arena.player, "Anna II")])
def test_nothing_brings_an_erased_account_back(change: Callable[[Erasing], Player]) -> None:
    arena = Erasing()
    erasure.erase(arena.ports, arena.anna)
    refused("token-invalid", change, arena)
    assert arena.ports.accounts.players([arena.anna]) == {}
