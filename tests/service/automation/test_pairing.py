"""Seeks: players with the same wishes are put together once, and a seek ends with its time or its stream."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from msgspec.structs import replace
from redis import Redis

from service.automation.pairing import STREAM_GRACE_MS, put_together
from service.container import Service, build
from service.errors import Refused
from service.match.events import MatchClock
from service.match.new_match import DEFAULT_CLOCK, NewMatch
from service.repository.seeks import Pairing
from service.settings import read
from service.usecases import match_lifecycle
from service.usecases.match_lifecycle import OPEN_MATCHES
from service.usecases.match_lists import own_page
from service.usecases.seeking import MAX_SEEKS, cancel, find, seek
from tests.length import LONG
from tests.service.arena import Arena, refused
from tests.service.automation.seeks import GAME, id_of, seeks

RACES = 200 if LONG else 4


def test_players_with_equal_seeks_are_put_together_in_order_of_arrival() -> None:
    arena = Arena()
    for player in ("anna", "ben", "carl", "dora", "eve"):
        seeks(arena.ports, player, options={} if player < "c" else {"treachery": False})
        arena.wait(1)
    seeks(arena.ports, "fay", clock=MatchClock(turn_seconds=60))
    seeks(arena.ports, "gus", options={"treachery": True})
    assert put_together(arena.ports) == 2
    matches = [find(arena.ports, player, id_of(arena, player)).match for player in ("anna", "ben", "carl", "dora")]
    assert matches[0] == matches[1] != matches[2] == matches[3]
    match = arena.match(matches[0] or "")
    assert (match.status, match.creator, match.created.private) == ("running", "anna", False)
    assert {match.seat_of(player) for player in ("anna", "ben")} == {0, 1}
    assert all(arena.ports.seeks.of(player) for player in ("eve", "fay", "gus"))
    assert put_together(arena.ports) == 0


def test_a_seek_without_a_clock_has_the_default_clock_and_one_for_no_clock_has_none() -> None:
    arena = Arena()
    assert seeks(arena.ports, "anna", default_clock=True).wanted.clock == DEFAULT_CLOCK
    seeks(arena.ports, "ben", clock=DEFAULT_CLOCK)
    assert seeks(arena.ports, "carl", clock=None).wanted.clock is None
    assert put_together(arena.ports) == 1
    match = arena.match(find(arena.ports, "anna", id_of(arena, "anna")).match or "")
    assert match.created.clock == DEFAULT_CLOCK


BANK = MatchClock(bank_seconds=60)
TURN = MatchClock(turn_seconds=604_800)


@pytest.mark.parametrize(
    ("first", "second", "fit"),
    [
        ({"default_clock": True}, {"clock": TURN}, True),
        ({"clock": BANK}, {"clock": replace(BANK, increment_seconds=0, on_timeout="default_action")}, True),
        ({"clock": BANK}, {"clock": replace(BANK, increment_seconds=1)}, False),
        ({"clock": TURN}, {"clock": replace(TURN, on_timeout="bot")}, False),
        ({"clock": MatchClock(bot_pace_ms=9)}, {"clock": MatchClock(bot_pace_ms=9)}, True),
        ({"clock": None}, {"default_clock": True}, False),
    ],
)
def test_clocks_of_equal_effect_fit(first: dict[str, Any], second: dict[str, Any], fit: bool) -> None:
    arena = Arena()
    seeks(arena.ports, "anna", **first)
    seeks(arena.ports, "ben", **second)
    assert put_together(arena.ports) == fit


def test_a_repeated_request_finds_its_seek_before_and_after_the_match() -> None:
    arena = Arena()
    first = seeks(arena.ports, "anna")
    assert seeks(arena.ports, "anna") == first
    refused("already-seeking", seeks, arena.ports, "anna", 3, key="other")
    seeks(arena.ports, "ben")
    put_together(arena.ports)
    assert seeks(arena.ports, "anna").match is not None
    assert arena.ports.seeks.of("anna") is None
    refused("seek-not-found", cancel, arena.ports, "anna", first.id)
    assert seeks(arena.ports, "anna", key="once more").match is None


def test_a_key_is_for_one_seek() -> None:
    arena = Arena()
    seeks(arena.ports, "anna")
    for wanted in ({"seats": 3}, {"seconds": 60}, {"options": {"treachery": True}}, {"clock": DEFAULT_CLOCK}):
        refused("idempotency-key-reused", seeks, arena.ports, "anna", **wanted)
    seeks(arena.ports, "ben")
    put_together(arena.ports)
    refused("idempotency-key-reused", seeks, arena.ports, "anna", 3)


@pytest.mark.parametrize("end", ["cancelled", "expired", "no-stream", "no seat"])
def test_a_repeated_request_does_not_revive_a_seek_that_ended(end: str) -> None:
    arena = Arena()
    first = seeks(arena.ports, "anna", seconds=10 if end == "expired" else 600)
    if end == "cancelled":
        cancel(arena.ports, "anna", first.id)
    elif end == "no seat":
        for _ in range(OPEN_MATCHES):
            arena.create(by="anna")
            arena.create(by="ben")
        seeks(arena.ports, "ben")
    else:
        arena.wait(STREAM_GRACE_MS + 1)
    put_together(arena.ports)
    assert seek(arena.ports, "anna", first.wanted, "k", 10 if end == "expired" else 600) == first
    assert arena.ports.seeks.of("anna") is None
    refused("seek-not-found", find, arena.ports, "anna", first.id)
    refused("idempotency-key-reused", seeks, arena.ports, "anna", 3)
    assert seeks(arena.ports, "anna", key="new").match is None


def test_a_seek_names_its_match_once_it_exists() -> None:
    arena = Arena()
    found = [seeks(arena.ports, player) for player in ("anna", "ben")]
    arena.ports.seeks.pair(Pairing("later", tuple(found)))
    assert find(arena.ports, "anna", found[0].id).match is None
    assert seeks(arena.ports, "anna").match is None
    put_together(arena.ports)
    assert find(arena.ports, "anna", found[0].id).match == "later"


def test_a_seek_ends_with_its_time_its_stream_or_a_cancellation() -> None:
    arena = Arena()
    for player in ("anna", "ben", "carl", "dora"):
        seeks(arena.ports, player, 4 if player == "anna" else 3, seconds=100)
    cancel(arena.ports, "dora", id_of(arena, "dora"))
    arena.wait(STREAM_GRACE_MS)
    arena.ports.seeks.see("ben")
    put_together(arena.ports)
    assert [arena.ports.seeks.of(player) is not None for player in ("anna", "ben", "carl", "dora")] == [1, 1, 1, 0]
    arena.wait(1)
    put_together(arena.ports)
    assert [arena.ports.seeks.of(player) is not None for player in ("anna", "ben", "carl", "dora")] == [0, 1, 0, 0]
    for _ in range(70):
        arena.wait(1_000)
        arena.ports.seeks.see("ben")
    put_together(arena.ports)
    assert arena.ports.seeks.of("ben") is None


def test_nobody_is_paired_without_a_stream() -> None:
    arena = Arena()
    seek(arena.ports, "anna", NewMatch(GAME, 2), "k", 600)
    seeks(arena.ports, "ben")
    assert put_together(arena.ports) == 0
    arena.ports.seeks.see("anna")
    assert put_together(arena.ports) == 1


def test_an_invalid_seek_is_refused_and_another_player_s_is_not_found() -> None:
    arena = Arena()
    for wanted, code in (
        (NewMatch("chess", 2), "game-not-found"),
        (NewMatch(GAME, 9), "invalid-options"),
        (NewMatch(GAME, 2, {"dragons": True}), "invalid-options"),
        (NewMatch(GAME, 2, clock=MatchClock(increment_seconds=1)), "invalid-options"),
    ):
        refused(code, seek, arena.ports, "anna", wanted, "k", 60)
    own = seeks(arena.ports, "anna")
    for act in (find, cancel):
        refused("seek-not-found", act, arena.ports, "ben", own.id)
        refused("seek-not-found", act, arena.ports, "anna", "none")
    assert arena.ports.seeks.add(own, MAX_SEEKS) == own


def test_the_first_player_who_may_create_a_match_is_its_creator() -> None:
    arena = Arena()
    for _ in range(OPEN_MATCHES):
        arena.create(by="anna")
    seeks(arena.ports, "anna")
    arena.wait(1)
    seeks(arena.ports, "ben")
    assert put_together(arena.ports) == 1
    found = find(arena.ports, "anna", id_of(arena, "anna")).match
    assert (arena.match(found or "").creator, arena.match(found or "").status) == ("ben", "running")


def test_a_player_whose_seat_another_took_waits_again() -> None:
    arena = Arena()
    for player in ("anna", "ben"):
        seeks(arena.ports, player)
        arena.wait(1)
    arena.wait(STREAM_GRACE_MS + 1)
    for player in ("anna", "ben"):
        arena.ports.seeks.see(player)

    def take_a_seat_first() -> None:
        (entry,) = arena.index.page("open", None, 9)
        match_lifecycle.join(arena.ports, "carl", entry.match_id, "k")

    arena.log.meanwhile += [lambda: None, take_a_seat_first]
    put_together(arena.ports)
    waiting = [player for player in ("anna", "ben") if arena.ports.seeks.of(player)]
    assert len(waiting) == 1
    assert arena.ports.seeks.pairings() == []
    put_together(arena.ports)
    assert arena.ports.seeks.of(waiting[0]), "the stream is as open as before the pairing"
    arena.wait(STREAM_GRACE_MS + 1)
    put_together(arena.ports)
    assert arena.ports.seeks.of(waiting[0]) is None


def test_a_hosted_bot_that_is_busy_or_deleted_holds_up_nobody() -> None:
    for is_deleted in (False, True):
        arena = Arena()
        bot = arena.host(max_matches=1)
        for player in ("anna", bot):
            seeks(arena.ports, player)
            arena.wait(1)
        if is_deleted:
            arena.ports.bots.remove(bot, "owner")
        else:
            arena.join(arena.create(), bot)
        assert put_together(arena.ports) == 1
        assert (arena.ports.seeks.pairings(), arena.ports.seeks.of(bot)) == ([], None)
        assert find(arena.ports, "anna", id_of(arena, "anna")).match is not None


@pytest.fixture
def services(valkey_log_url: str, valkey_queue_url: str, tmp_path: Path) -> Iterator[list[Service]]:
    """Two processes of the service, on an empty log."""
    Redis.from_url(valkey_log_url).flushall()
    environ = {"LOG_URL": valkey_log_url, "QUEUE_URL": valkey_queue_url, "DATA_DIR": str(tmp_path)}
    built = [build(read({f"MOONSTONE_{n}": value for n, value in environ.items()}), listen=False) for _ in range(2)]
    yield built
    for service in built:
        service.close()


def test_a_seek_that_waits_again_counts_as_seen_in_every_store(services: list[Service]) -> None:
    for ports in (Arena().ports, services[0].ports):
        again, other = seeks(ports, "anna"), seeks(ports, "ben")
        late = seeks(ports, "carl")
        pairing = Pairing("match", (again, other, late))
        assert ports.seeks.pair(pairing)
        newer = seeks(ports, "carl", key="new")
        ports.seeks.finish(pairing, [again, late], [other])
        waiting = {one.seek.player: one for one in ports.seeks.waiting()}
        assert [waiting[player].seek for player in ("anna", "carl")] == [again, newer]
        assert waiting["anna"].seen_at >= again.created_at
        assert [ports.seeks.done(one.id) for one in (again, other, late)] == [None, other, late]
        assert ports.seeks.remove(again)
        assert ports.seeks.done(again.id) == ports.seeks.add(again, 9) == again


@pytest.mark.long
def test_concurrent_workers_and_seeks_seat_every_player_once(services: list[Service]) -> None:
    for race in range(RACES):
        people, start = [f"r{race}-{number}" for number in range(7)], Barrier(9)

        def enter(player: str, start: Barrier = start) -> None:
            start.wait()
            ports = services[0].ports
            created = seeks(ports, player)
            if player.endswith("6"):
                with suppress(Refused):  # it may have led to a match meanwhile
                    cancel(ports, player, created.id)

        def work(service: Service, start: Barrier = start) -> None:
            start.wait()
            for _ in range(20):
                put_together(service.ports)

        with ThreadPoolExecutor(9) as pool:
            done = [pool.submit(enter, player) for player in people] + [pool.submit(work, one) for one in services]
            for one in done:
                one.result()
        while put_together(services[1].ports):
            pass
        ports = services[1].ports
        played: Counter[str] = Counter()
        for player in people:
            matches = own_page(ports, player, "active", None, 9).matches
            assert len(matches) <= 1
            open_seek = ports.seeks.of(player)
            assert len(matches) + (open_seek is not None) == 1 or player.endswith("6")
            played.update(match.id for match in matches)
            if open_seek is not None:
                ports.seeks.remove(open_seek)
        assert set(played.values()) == {2}
        assert len(played) == 3


# --- ratings ----------------------------------------------------------------------------------------------------------
