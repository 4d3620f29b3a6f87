"""In mid-match: aborts by agreement, seats that are taken back from bots, and seats of people who are absent."""

import pytest

from service.audit.match_file import export
from service.audit.verify import verify
from service.automation.deadlines import enforce
from service.match.model import ABSENCE_MS
from service.usecases import mid_match
from tests.service.arena import Arena, one_more, refused


def ask(arena: Arena, table: str, player: str, key: str | None = None) -> bool:
    return mid_match.ask_abort(arena.ports, player, table, key or arena.new_key()).replayed


def take_back(arena: Arena, table: str, player: str) -> None:
    mid_match.take_back(arena.ports, player, table, arena.new_key())


def replace_absent(arena: Arena, table: str, player: str, seat: int) -> None:
    mid_match.replace_absent(arena.ports, player, table, arena.new_key(), seat=seat)


def on_turn(arena: Arena, table: str) -> tuple[str, str]:
    """The player whose turn it is, and the other one, in a match of two people."""
    (decision,) = arena.match(table).decisions()
    return ("anna", "ben") if arena.match(table).seat_of("anna") == decision.seat else ("ben", "anna")


def is_valid(arena: Arena, table: str) -> None:
    verify(list(export(arena.ports, arena.match(table))), arena.ports.games)


# --- aborting ---------------------------------------------------------------------------------------------------------


def test_a_match_is_aborted_when_all_its_people_ask() -> None:
    arena = Arena()
    table = arena.monkeys("anna", "ben", bots=("random",))
    ask(arena, table, "anna")
    assert arena.match(table).abort_asked == (1,)
    assert arena.match(table).status == "running"
    ask(arena, table, "ben")
    assert arena.types(table)[-4:] == ["abort_asked", "abort_asked", "match_aborted", "seed_revealed"]
    assert arena.data(table, -1) == {"reason": "agreed"}
    assert (arena.match(table).status, arena.match(table).outcome) == ("aborted", None)
    assert [entry.match_id for entry in arena.index.page("aborted", None, 9)] == [table]
    refused("match-over", ask, arena, table, "anna")
    is_valid(arena, table)


def test_an_action_takes_the_request_of_its_seat_back() -> None:
    arena = Arena()
    table = arena.monkeys("anna", "ben")
    up, other = on_turn(arena, table)
    ask(arena, table, other)
    ask(arena, table, other)  # once more changes nothing
    assert arena.types(table).count("abort_asked") == 1
    arena.act(table, up)
    assert len(arena.match(table).abort_asked) == 1
    while on_turn(arena, table)[0] == up:
        arena.act(table, up)
    arena.act(table, other)
    assert arena.match(table).abort_asked == ()
    ask(arena, table, up)
    assert arena.match(table).status == "running"
    ask(arena, table, other)
    is_valid(arena, table)


def test_people_who_left_and_bots_need_not_agree() -> None:
    arena = Arena()
    table = arena.monkeys("anna", "ben", bots=("random",))
    arena.leave(table, "ben")
    refused("not-seated", ask, arena, table, "ben")
    ask(arena, table, "anna")
    assert arena.types(table)[-4:] == ["resigned", "abort_asked", "match_aborted", "seed_revealed"]
    is_valid(arena, table)


def clocked(arena: Arena, on_timeout: str) -> str:
    return arena.join(
        arena.create("monkeys_on_the_moon", 3, clock={"turn_seconds": 20, "on_timeout": on_timeout}),
        "anna",
        "ben",
        "cleo",
    )


@pytest.mark.parametrize("how", ["leaves", "resigns by the clock", "loses the seat by the clock", "is replaced"])
def test_a_match_ends_when_the_last_person_who_did_not_ask_is_gone(how: str) -> None:
    arena = Arena()
    by_clock = {"resigns by the clock": "resign", "loses the seat by the clock": "bot"}
    table = clocked(arena, by_clock[how]) if how in by_clock else arena.monkeys("anna", "ben", "cleo")
    seat = arena.match(table).decisions()[0].seat
    up, *others = sorted(("anna", "ben", "cleo"), key=lambda player: arena.match(table).seat_of(player) != seat)
    for player in others:
        ask(arena, table, player)
    assert arena.match(table).status == "running"
    match how:
        case "leaves":
            arena.leave(table, up)
        case "is replaced":
            arena.wait(ABSENCE_MS)
            replace_absent(arena, table, others[0], seat)
        case _:
            arena.ring(table)
    gone = "resigned" if how in {"leaves", "resigns by the clock"} else "seat_handed_over"
    assert arena.types(table)[-3:] == [gone, "match_aborted", "seed_revealed"]
    assert arena.data(table, -1) == {"reason": "agreed"}
    assert [entry.match_id for entry in arena.index.page("aborted", None, 9)] == [table]
    assert list(arena.index.page("running", None, 9)) == []
    is_valid(arena, table)


def test_a_match_that_nobody_wants_to_abort_goes_on_when_all_leave() -> None:
    arena = Arena()
    table = arena.monkeys("anna", "ben", "cleo")
    ask(arena, table, "anna")
    arena.leave(table, "anna")
    arena.leave(table, "ben")
    assert arena.match(table).status == "running"
    arena.leave(table, "cleo")
    assert arena.match(table).status == "running"
    arena.play_out(table)
    is_valid(arena, table)


def test_an_abort_is_asked_for_once_however_often_the_request_comes() -> None:
    arena = Arena()
    table = arena.monkeys("anna", "ben")
    assert [ask(arena, table, "anna", "ask") for _ in range(3)] == [False, True, True]


def test_only_people_of_a_running_match_ask_for_its_end() -> None:
    arena = Arena()
    table = arena.join(arena.create(seats=3), "anna")
    refused("match-not-running", ask, arena, table, "anna")
    refused("not-seated", ask, arena, table, "host")
    refused("not-seated", ask, arena, table, "eve")
    running = arena.opened("anna", "ben")
    suspended = one_more(arena.match(running), "match_suspended", {"reason": "KeyError"})
    assert suspended.status == "suspended"
    before = arena.log.contents()
    refused("not-seated", ask, arena, running, "eve")
    assert arena.log.contents() == before


# --- taking a seat back -----------------------------------------------------------------------------------------------


def lost(arena: Arena) -> tuple[str, str, str]:
    """A match in which somebody's time ran out and a bot has moved since: the match, that player, and the other one."""
    table = arena.join(
        arena.create("monkeys_on_the_moon", 2, clock={"bank_seconds": 20, "on_timeout": "bot"}), "anna", "ben"
    )
    slow, other = on_turn(arena, table)
    arena.ring(table)
    return table, slow, other


def test_who_lost_a_seat_takes_it_back_after_the_bots_move() -> None:
    arena = Arena()
    table, slow, other = lost(arena)
    seat = arena.match(table).lost_seat_of(slow)
    refused("bot-deciding", take_back, arena, table, slow)
    arena.work(table)
    before = arena.match(table)
    take_back(arena, table, slow)
    assert arena.events(table)[-1].by == f"player:{slow}"
    assert arena.data(table) == {"seat": seat, "player": slow, "kind": "human", "reason": "returned"}
    after = arena.match(table)
    assert after.seat_of(slow) == seat
    assert after.lost_seat_of(slow) is None
    assert (after.banks, after.decisions()) == (
        before.banks,
        before.decisions(),
    )  # it changes nothing for the other seat
    refused("not-seated", take_back, arena, table, slow)
    refused("not-seated", take_back, arena, table, other)
    arena.play_out(table)
    is_valid(arena, table)


def test_a_seat_can_be_lost_and_taken_back_again() -> None:
    arena = Arena()
    table, slow, _ = lost(arena)
    arena.work(table)
    take_back(arena, table, slow)
    while on_turn(arena, table)[0] != slow:
        arena.act(table, on_turn(arena, table)[0])
    first = arena.match(table).first_due()
    assert first is not None
    arena.time = max(arena.time, first.enforced_at or 0)
    enforce(arena.ports, table)
    arena.work(table)
    take_back(arena, table, slow)
    reasons = [
        arena.data(table, event.version)["reason"] for event in arena.events(table) if event.type == "seat_handed_over"
    ]
    assert reasons == ["clock", "returned"] * 2
    arena.play_out(table)
    is_valid(arena, table)


def test_who_resigned_or_never_had_a_seat_takes_none_back() -> None:
    arena = Arena()
    table = arena.monkeys("anna", "ben")
    arena.leave(table, "anna")
    for player in ("anna", "ben", "host", "eve"):
        refused("not-seated", take_back, arena, table, player)


def test_no_seat_of_a_match_that_is_over_is_taken_back() -> None:
    arena = Arena()
    table, slow, _ = lost(arena)
    arena.play_out(table)
    refused("match-over", take_back, arena, table, slow)


# --- absent players ---------------------------------------------------------------------------------------------------


def test_a_seat_that_does_not_move_for_two_weeks_goes_to_a_bot_when_another_seat_asks() -> None:
    arena = Arena()
    table = arena.monkeys("anna", "ben")
    absent, other = on_turn(arena, table)
    seat = arena.match(table).decisions()[0].seat
    arena.wait(ABSENCE_MS - 1)
    refused("seat-not-absent", replace_absent, arena, table, other, seat)
    arena.wait(1)
    assert arena.match(table).first_due() is None  # nothing happens by itself
    replace_absent(arena, table, other, seat)
    asker = arena.match(table).seat_of(other)
    assert arena.events(table)[-1].by == f"seat:{asker}"
    assert arena.data(table) == {"seat": seat, "player": "greedy", "kind": "bot", "reason": "absent"}
    arena.work(table)
    assert arena.events(table)[-1].by == "bot:greedy"
    take_back(arena, table, absent)
    arena.play_out(table)
    is_valid(arena, table)


@pytest.mark.parametrize("who", ["itself", "a stranger", "one who left", "for a bot", "for no seat"])
def test_nobody_else_asks_and_for_nobody_else(who: str) -> None:
    arena = Arena()
    table = arena.monkeys("anna", "ben", "cleo", bots=("random",))
    arena.work(table)
    (decision,) = arena.match(table).decisions()
    players = ["", "anna", "ben", "cleo"]
    up = players[decision.seat]
    other = next(player for player in players[1:] if player != up)
    arena.wait(ABSENCE_MS)
    match who:
        case "itself":
            refused("seat-not-absent", replace_absent, arena, table, up, decision.seat)
        case "a stranger":
            refused("not-seated", replace_absent, arena, table, "eve", decision.seat)
        case "one who left":
            arena.leave(table, other)
            refused("not-seated", replace_absent, arena, table, other, decision.seat)
        case "for a bot":
            refused("seat-not-absent", replace_absent, arena, table, other, 0)
        case "for no seat":
            for seat in (-1, 4):
                refused("seat-not-absent", replace_absent, arena, table, other, seat)


def test_a_seat_that_need_not_move_or_has_a_deadline_is_not_absent() -> None:
    arena = Arena()
    timed, untimed = arena.monkeys("anna", "ben", turn_seconds=1_209_600), arena.monkeys("anna", "ben")
    arena.wait(ABSENCE_MS)
    up, other = on_turn(arena, timed)
    refused("seat-not-absent", replace_absent, arena, timed, other, arena.match(timed).seat_of(up) or 0)
    up, other = on_turn(arena, untimed)
    refused("seat-not-absent", replace_absent, arena, untimed, up, arena.match(untimed).seat_of(other) or 0)
    toy = arena.opened("anna", "ben")  # a game that keeps its own time
    arena.wait(1)
    refused("seat-not-absent", replace_absent, arena, toy, "ben", 0)
