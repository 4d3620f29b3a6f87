"""Matches of format 1 go on with the events of their format, and refuse what it cannot record."""

from collections.abc import Callable

import pytest

from events.chain import FORMATS, follow, genesis
from service.audit.match_file import export
from service.audit.verify import verify
from service.match.model import ABSENCE_MS
from service.match.new_match import NewMatch
from service.usecases import match_lifecycle, mid_match
from service.usecases.submit import player_key
from tests.service.arena import Arena, refused

IN_FORMAT_1 = {
    "match_created", "seat_taken", "seat_left", "match_started", "action", "default_action", "timer", "seat_handed_over",
    "resigned", "match_scored", "match_aborted", "seed_revealed", "clock_extended", "match_suspended", "match_resumed",
}  # fmt: skip


def old_arena() -> Arena:
    arena = Arena()
    arena.format_number = 1
    return arena


def test_a_stored_match_goes_on_in_its_format() -> None:
    arena = old_arena()
    table = arena.create("monkeys_on_the_moon", 3, clock={"turn_seconds": 30, "on_timeout": "bot"})
    arena.format_number = 2
    arena.join(table, "anna", seed="a\u200db")  # which format 2 refuses
    arena.join(table, "ben", "cleo")
    arena.leave(table, "ben")
    arena.ring(table)
    ended = arena.play_out(table)
    assert ended.created.format_number == 1
    lines = list(export(arena.ports, ended))
    assert lines[0].startswith(b'{"format":"%s"' % FORMATS[1].encode())
    assert set(arena.types(table)) <= IN_FORMAT_1
    for event in arena.events(table):
        if event.type == "seat_handed_over":
            assert set(arena.data(table, event.version)) == {"seat", "player", "kind"}
    verify(lines, arena.ports.games)


def test_the_chain_of_a_match_begins_with_the_line_of_its_format() -> None:
    for number in FORMATS:
        arena = Arena()
        arena.format_number = number
        match = arena.match(arena.create())
        _, head = genesis(match.id, "toy", 1, number)
        assert match.origin == head
        follow(head, arena.log.stored(match.id)[0])


def test_what_format_1_cannot_record_is_refused_and_changes_nothing() -> None:
    arena = old_arena()
    table = arena.join(arena.create(seats=3), "anna")
    running = arena.monkeys("anna", "ben")
    arena.wait(ABSENCE_MS)
    (decision,) = arena.match(running).decisions()
    other = ("ben", "anna")[decision.seat]
    lost = arena.join(
        arena.create("monkeys_on_the_moon", 2, clock={"turn_seconds": 5, "on_timeout": "bot"}), "anna", "ben"
    )
    slow = ("anna", "ben")[arena.match(lost).decisions()[0].seat]
    arena.ring(lost)
    arena.work(lost)
    before = arena.log.contents()
    commands: list[Callable[[], object]] = [
        lambda: match_lifecycle.free_seat(arena.ports, "host", table, "key", seat=0),
        lambda: mid_match.ask_abort(arena.ports, "anna", running, "key"),
        lambda: mid_match.replace_absent(arena.ports, other, running, "key", seat=decision.seat),
        lambda: mid_match.take_back(arena.ports, slow, lost, "key"),
    ]
    for command in commands:
        refused("match-too-old", command)
    assert arena.log.contents() == before


@pytest.mark.parametrize("default_clock", [False, True])
def test_a_creation_is_repeated_with_the_digest_of_the_release_that_wrote_it(default_clock: bool) -> None:
    arena = Arena()
    wanted = NewMatch("toy", 2)
    old = match_lifecycle._creation_key("host", "key", wanted, format_number=1)
    assert old.digest == player_key(
        "host",
        "key",
        {
            "create": {
                "game": "toy", "seats": 2, "options": {}, "bots": [], "clock": None, "private": False,
                "manual_start": False,
            }
        },
    ).digest  # fmt: skip
    made = match_lifecycle.create(arena.ports, "host", NewMatch("toy", 2, default_clock=True, format_number=1), "key")
    again = match_lifecycle.create(arena.ports, "host", NewMatch("toy", 2, default_clock=default_clock), "key")
    assert (again.replayed, again.match.id) == (True, made.match.id)


def test_no_clock_and_the_default_clock_are_two_requests() -> None:
    arena = Arena()
    wanted = NewMatch("monkeys_on_the_moon", 2, default_clock=True)
    made = match_lifecycle.create(arena.ports, "host", wanted, "key")
    clock = made.match.created.clock
    assert clock is not None
    assert (clock.turn_seconds, clock.on_timeout) == (604_800, "default_action")
    assert match_lifecycle.create(arena.ports, "host", wanted, "key").replayed
    none = NewMatch("monkeys_on_the_moon", 2)
    refused("idempotency-key-reused", match_lifecycle.create, arena.ports, "host", none, "key")
    assert match_lifecycle.create(arena.ports, "host", none, "other").match.created.clock is None
