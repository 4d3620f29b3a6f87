"""An erased account leaves its matches and ends its seek; what has to wait is done later, and everything may be repeated."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from service.automation import pairing
from service.automation.bot_turns import suspend
from service.automation.deadlines import resume
from service.automation.erasure import AGAIN_MS, SETTLED_MS, Erasures
from service.errors import Corrupt
from service.games.monkeys_on_the_moon.game import GAME as MONKEYS
from service.games.protocol import AnyGame
from service.match.new_match import NewMatch
from service.repository.accounts import Player
from service.repository.match_history import History
from service.repository.seeks import Pairing
from service.usecases import accounts, erasure, seeking
from service.usecases.match_lifecycle import join
from service.views.match_views import see
from tests.service.arena import Arena, refused


class Erasing(Arena):
    """An arena with a player who has an account, and one pass of a worker."""

    def __init__(self, *games: AnyGame) -> None:
        super().__init__(*games)
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


class _Rules:
    """Monkeys on the Moon, whose rules fail in matches with three seats as soon as `fail` is set."""

    def __init__(self) -> None:
        self.fail = False
        self.game: AnyGame = replace(MONKEYS, decisions=self._decisions)

    def _decisions(self, state: Any) -> Any:
        if self.fail and len(state.seats) == 3:
            raise KeyError("a hidden card")
        return MONKEYS.decisions(state)


def test_a_match_whose_rules_fail_is_suspended_and_stops_neither_other_matches_nor_other_players() -> None:
    rules = _Rules()
    arena = Erasing(rules.game)
    game = MONKEYS.info.id
    broken = arena.join(arena.create(game, 3), arena.anna, "ben", "cleo")
    whole = arena.join(arena.create(game, 2), arena.anna, "ben")
    dora, _ = accounts.sign_up(arena.ports, "Dora")
    of_dora = arena.join(arena.create(game, 2), dora.id, "ben")
    rules.fail = True
    erasure.erase(arena.ports, arena.anna)
    erasure.erase(arena.ports, dora.id)
    Erasures(replace(arena.ports, history=History(arena.log, arena.ports.games, arena.ports.secret))).step()
    rules.fail = False
    for match in (whole, of_dora):
        holder = arena.match(match).seats[0]
        assert holder is not None
        assert holder.resigned
    assert arena.match(broken).status == "suspended"
    resume(arena.ports, broken)
    arena.settle()
    holder = arena.match(broken).seats[0]
    assert holder is not None
    assert holder.resigned
    assert arena.is_finished()


def test_a_seek_that_a_pairing_puts_back_after_the_erasure_leads_to_no_match() -> None:
    arena = Erasing()
    wanted = NewMatch("toy", 2)
    seek = seeking.seek(arena.ports, arena.anna, wanted, "key", 600)
    pairing_of_anna = Pairing("toymatch", (seek,))
    assert arena.ports.seeks.pair(pairing_of_anna)
    arena.erase()
    arena.ports.seeks.finish(pairing_of_anna, (seek,), ())
    for player in (arena.anna, "ben"):
        if player == "ben":
            seeking.seek(arena.ports, player, wanted, "key", 600)
        arena.ports.seeks.see(player)
    assert pairing.put_together(arena.ports) == 0
    assert arena.ports.seeks.of(arena.anna) is None
    assert arena.ports.seeks.of("ben") is not None


def test_a_key_that_a_client_used_does_not_stop_the_erasure() -> None:
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
