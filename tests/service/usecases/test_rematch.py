"""A rematch is one new match for all players of the old one, and each of them sits one seat further."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier

import pytest
from redis import Redis

from service.automation.bot_turns import advance
from service.container import Service, build
from service.match.new_match import NewMatch
from service.settings import read
from service.usecases import match_lifecycle
from service.usecases.held_seats import HELD_SEATS
from service.usecases.match_lifecycle import OPEN_MATCHES
from service.usecases.match_lists import own_page
from service.usecases.rematch import ATTEMPTS, rematch
from tests.length import LONG
from tests.service.arena import Arena, refused

RACES = 200 if LONG else 4


def finished(arena: Arena, *people: str, bots: tuple[str, ...] = ()) -> str:
    return arena.play_out(arena.toy(*people, bots=bots)).id


def test_everyone_moves_up_by_one_seat_in_the_same_match() -> None:
    arena = Arena()
    old = finished(arena, "anna", "ben", "carl")
    rematches = [rematch(arena.ports, player, old).match for player in ("carl", "anna", "carl", "ben")]
    assert len({match.id for match in rematches}) == 1
    assert [
        match.seat_of(player) for match, player in zip(rematches, ("carl", "anna", "carl", "ben"), strict=True)
    ] == [
        0,
        1,
        0,
        2,
    ]
    assert (rematches[0].creator, rematches[-1].status) == ("carl", "running")
    assert rematch(arena.ports, "ben", old).replayed


def test_a_rematch_has_the_same_bots_options_and_clock() -> None:
    arena = Arena()
    table = arena.create("toy", 3, bots=("random",), turn_seconds=60, private=True, options={"hand": 3})
    old = arena.play_out(arena.join(table, "anna", "ben"))
    rematches = rematch(arena.ports, "anna", old.id).match
    assert [holder and holder.player for holder in rematches.seats] == [None, "random", "anna"]
    same = ("game", "seats", "options", "clock", "private", "manual_start")
    assert all(getattr(rematches.created, name) == getattr(old.created, name) for name in same)
    assert rematch(arena.ports, "ben", old.id).match.status == "running"


def test_a_refused_rematch_changes_nothing() -> None:
    arena = Arena()
    running = arena.toy("anna", "ben")
    old = finished(arena, "anna", "ben")
    hidden = arena.play_out(arena.join(arena.create(private=True), "anna", "ben")).id
    before = arena.log.contents()
    refused("match-not-finished", rematch, arena.ports, "anna", running)
    refused("not-seated", rematch, arena.ports, "eve", old)
    refused("match-not-found", rematch, arena.ports, "eve", hidden)
    refused("match-not-found", rematch, arena.ports, "eve", "none")
    assert arena.log.contents() == before
    for _ in range(OPEN_MATCHES):
        arena.create(by="anna")
    refused("too-many-open-matches", rematch, arena.ports, "anna", old)


def test_a_seat_that_another_took_is_replaced_by_a_free_one() -> None:
    arena = Arena()
    old = finished(arena, "anna", "ben", "carl")
    rematches = rematch(arena.ports, "anna", old).match
    match_lifecycle.join(arena.ports, "eve", rematches.id, "k", seat=2)
    assert rematch(arena.ports, "ben", old).match.seat_of("ben") == 0
    refused("match-not-open", rematch, arena.ports, "carl", old)


def test_a_rematch_whose_bot_was_freed_is_answered_as_it_is_now() -> None:
    arena = Arena()
    old = finished(arena, "anna", "ben", bots=("random",))
    new = rematch(arena.ports, "anna", old).match
    match_lifecycle.free_seat(arena.ports, "anna", new.id, "k", seat=1)
    again = rematch(arena.ports, "anna", old)
    assert again.match == arena.match(new.id)
    assert [holder and holder.player for holder in again.match.seats] == [None, None, "anna"]
    arena.leave(new.id, "anna")
    assert rematch(arena.ports, "anna", old).match.seat_of("anna") == 2, "the player has a seat again"
    assert arena.match(new.id).seat_of("anna") == 2


def test_a_player_with_all_seats_gets_only_the_last_one_of_a_rematch() -> None:
    arena = Arena()
    old = finished(arena, "anna", "ben")
    for _ in range(HELD_SEATS):
        arena.join(arena.create(by=arena.new_key()), "anna")
    refused("too-many-seats", rematch, arena.ports, "anna", old)
    assert rematch(arena.ports, "ben", old).match.seat_of("ben") == 0
    assert rematch(arena.ports, "anna", old).match.status == "running", "the last seat starts the match"


def test_a_rematch_that_was_aborted_is_followed_by_another_but_not_for_ever() -> None:
    arena = Arena()
    old = finished(arena, "anna", "ben")
    rematches = []
    for _ in range(ATTEMPTS):
        match = rematch(arena.ports, "anna", old).match
        rematches.append(match.id)
        arena.leave(match.id, "anna")
        arena.leave(match.id, "anna")  # as the creator without a seat: aborts it
    assert len(set(rematches)) == ATTEMPTS
    refused("match-over", rematch, arena.ports, "ben", old)


@pytest.fixture
def service(valkey_log_url: str, valkey_queue_url: str, tmp_path: Path) -> Iterator[Service]:
    with Redis.from_url(valkey_log_url) as log:
        log.flushall()  # keys of other tests
    environ = {"LOG_URL": valkey_log_url, "QUEUE_URL": valkey_queue_url, "DATA_DIR": str(tmp_path)}
    with closing(build(read({f"MOONSTONE_{name}": value for name, value in environ.items()}), listen=False)) as built:
        yield built


@pytest.mark.long
def test_concurrent_requests_get_the_same_rematch(service: Service) -> None:
    for race in range(RACES):
        old = _over(service, f"race-{race}")
        people, start = [f"p{race}-{seat}" for seat in range(2)], Barrier(4)

        def ask(player: str, old: str = old, start: Barrier = start) -> tuple[str, int | None]:
            start.wait()
            match = rematch(service.ports, player, old).match
            return match.id, match.seat_of(player)

        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(ask, people * 2))
        assert {match for match, _ in found} == {found[0][0]}
        assert [seat for _, seat in found] == [1, 0, 1, 0]
        match, _ = service.ports.history.newest(found[0][0])
        assert match.status == "running"
        assert [entry.match_id for player in people for entry in service.ports.index.open_entries(player)] == []
        listed = [own_page(service.ports, player, "active", None, 9).matches for player in people]
        assert [[one.id for one in matches] for matches in listed] == [[match.id]] * 2


def _over(service: Service, name: str) -> str:
    """A finished match of two people."""
    race = name.partition("-")[2]
    wanted = NewMatch("monkeys_on_the_moon", 2)
    match = match_lifecycle.create(service.ports, f"host{race}", wanted, name).match
    for seat in range(2):
        match_lifecycle.join(service.ports, f"p{race}-{seat}", match.id, "sit")
    for seat in range(2):
        match_lifecycle.leave(service.ports, f"p{race}-{seat}", match.id, "leave")
    while advance(service.ports, match.id, moves=1000):
        pass
    for seat in range(2):
        service.ports.index.conclude(f"p{race}-{seat}", match.id, match.created_at, 1)
    return match.id
