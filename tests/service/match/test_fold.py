"""Folding events: every type, ids of decisions, and bytes that are refused."""

from collections import Counter

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from events.record import Head, decode
from service.automation.bot_turns import suspend
from service.automation.deadlines import extend, resume
from service.errors import Corrupt
from service.games.four_monkeys.game import GAME as FOUR_MONKEYS
from service.games.protocol import CLOCK, AnyGame
from service.games.registry import GAMES as REGISTERED
from service.match.due_times import due_times
from service.match.fold import begin, fold, fold_verified, step
from service.match.model import Match, OpenDecision, SeatHolder
from service.match.transitions import transitions
from service.ops.simulate import play
from tests.length import LONG
from tests.service.arena import Arena, one_more
from tests.service.games.toy.game import TOY

GAMES = {"toy": TOY}


def by_seat(match: Match) -> dict[int, OpenDecision]:
    return {one.seat: one for one in match.decisions()}


def ids(match: Match) -> set[str]:
    return {one.id for one in match.decisions()}


# --- ids of decisions -------------------------------------------------------------------------------------------------


def test_in_a_simultaneous_game_a_decision_keeps_its_id_while_others_act() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben", "carl")
    arena.wait(1_000)
    assert ids(arena.match(table)) == {"0:5", "1:5", "2:5", "clock:5"}
    mine = by_seat(arena.match(table))[2]
    arena.act(table, "anna")
    arena.act(table, "ben", decision="1:5")
    assert ids(arena.match(table)) == {"2:5", "clock:5"}
    assert by_seat(arena.match(table))[2] == mine
    arena.act(table, "carl", decision="2:5")
    assert ids(arena.match(table)) == {"0:8", "1:8", "2:8"}
    arena.act(table, "ben")
    assert ids(arena.match(table)) == {"0:8", "2:8"}


def test_a_decision_of_a_real_time_match_opened_when_its_seat_last_moved_or_its_times_changed() -> None:
    ports, match = play(FOUR_MONKEYS, ["random"] * 3, {"round_seconds": 30, "banana_skins": True}, bytes(32))
    stored = ports.log.read(match.id).events
    match = begin(match.id, stored[0], {FOUR_MONKEYS.info.id: FOUR_MONKEYS})
    opened: dict[tuple[object, ...], int] = {}
    reopened: Counter[str] = Counter()
    for entry in stored[1:]:
        match, event = fold(match, [entry]), decode(entry)
        if event.type not in {"match_started", "action", "timer"}:
            continue
        mover = msgspec.json.decode(event.data).get("seat", CLOCK)
        open_decisions = {(one.seat, one.step, one.opens_at, one.deadline) for one in match.decisions()}
        opened = {one: event.version if one[0] == mover else opened.get(one, event.version) for one in open_decisions}
        reopened[event.type] += sum(version == event.version for version in opened.values())
        assert ids(match) == {f"{'clock' if one[0] == CLOCK else one[0]}:{since}" for one, since in opened.items()}
    assert reopened["action"] > len(stored) // 2
    assert reopened["timer"] >= 4  # a timer that begins a round opens a decision for every seat and the clock


def test_a_decision_that_opens_again_at_another_time_gets_another_id() -> None:
    arena = Arena()
    table = arena.toy("anna", "ben")
    arena.ring(table)
    for player in ("anna", "ben"):
        arena.act(table, player)
    assert ids(arena.match(table)) == {"0:7", "1:7", "clock:7"}
    assert arena.match(table).state.step == "commit"


def test_events_that_are_not_moves_keep_every_id() -> None:
    arena = Arena()
    for table in (arena.toy("anna", "ben"), arena.monkeys("anna", "ben", turn_seconds=60)):
        before = ids(arena.match(table))
        arena.wait(1_000)
        extend(arena.ports, table, "outage", 500)
        suspend(arena.ports, arena.match(table), "KeyError")
        assert ids(arena.match(table)) == set()
        resume(arena.ports, table)
        arena.leave(table, "anna")
        assert ids(arena.match(table)) == before


def test_in_a_sequential_game_every_move_opens_the_next_decision() -> None:
    arena = Arena()
    table = arena.monkeys("anna", "ben")
    for version in range(4, 10):
        (decision,) = arena.match(table).decisions()
        assert decision.id == f"{decision.seat}:{version}"
        arena.act(table, ("anna", "ben")[decision.seat], decision=decision.id)


# --- events without a use case of their own ---------------------------------------------------------------------------


def running() -> tuple[Arena, Match]:
    arena = Arena()
    table = arena.create(bots=("high",))
    arena.join(table, "anna", seed="hers")
    return arena, arena.match(table)


def test_a_seat_that_is_handed_over_keeps_its_client_seed() -> None:
    _, match = running()
    resigned = one_more(match, "resigned", {"seat": 1})
    handed = one_more(resigned, "seat_handed_over", {"seat": 1, "player": "random", "kind": "bot", "reason": "clock"})
    assert handed.seats[1] == SeatHolder("random", "bot", "hers", resigned=False, former="anna")
    assert handed.client_seeds() == match.client_seeds()
    assert handed.seat_of("anna") is None
    back = one_more(handed, "seat_handed_over", {"seat": 1, "player": "anna", "kind": "human", "reason": "returned"})
    assert back.seat_of("anna") == 1


def test_an_aborted_match_has_no_open_decision() -> None:
    _, match = running()
    aborted = one_more(match, "match_aborted", {"reason": "creator-left"}, at=match.at + 5)
    assert (aborted.status, aborted.ended_at, aborted.decisions()) == ("aborted", match.at + 5, ())
    assert set(due_times(aborted).values()) == {None}


# --- the fold as a whole ----------------------------------------------------------------------------------------------


@st.composite
def plays(draw: st.DrawFn) -> tuple[Arena, str]:
    """A match with a random sequence of events."""
    arena = Arena()
    if draw(st.booleans()):
        table = arena.toy("anna", "ben", bots=("random",), turn_seconds=40, tricks=3)
    else:
        table = arena.monkeys("anna", "ben", bots=("greedy",), turn_seconds=40)
    for kind in draw(
        st.lists(st.sampled_from(["act", "act", "act", "work", "ring", "extend", "leave", "suspend"]), max_size=14)
    ):
        match = arena.match(table)
        if match.status != "running":
            break
        arena.wait(draw(st.integers(0, 2_000)))
        people = [p for p in ("anna", "ben") if any(one.seat == match.seat_of(p) for one in match.decisions())]
        if kind == "act" and people:
            arena.time = max(arena.time, *(one.opens_at for one in match.decisions()))
            _try(arena, table, people[0])
        elif kind == "work":
            arena.work(table)
        elif kind == "ring" and match.decisions():
            arena.ring(table)
        elif kind == "extend":
            extend(arena.ports, table, arena.new_key(), 700)
        elif kind == "leave" and match.decisions() and not _left(match):
            arena.leave(table, "ben")
        elif kind == "suspend":
            suspend(arena.ports, match, "KeyError")
            arena.wait(300)
            resume(arena.ports, table)
    return arena, table


def _left(match: Match) -> bool:
    return any(holder is not None and holder.resigned for holder in match.seats)


def _try(arena: Arena, table: str, player: str) -> None:
    match = arena.match(table)
    seat = match.seat_of(player)
    assert seat is not None
    holder = match.seats[seat]
    late = any(
        one.seat == seat and one.deadline is not None and one.deadline <= arena.time for one in match.decisions()
    )
    if holder is not None and not holder.resigned and not late:
        arena.act(table, player)


@pytest.mark.long
@settings(max_examples=100 if LONG else 30)
@given(plays(), st.data())
def test_folding_the_later_events_onto_any_version_gives_the_newest_match(
    play: tuple[Arena, str], data: st.DataObject
) -> None:
    arena, table = play
    stored = arena.log.stored(table)
    newest = arena.match(table)
    cut = data.draw(st.integers(1, len(stored)))
    start = begin(table, stored[0], arena.ports.games)
    early = fold(start, stored[1:cut])
    assert fold(early, stored[cut:]) == newest == fold(start, stored[1:])
    assert early.head == Head(cut, arena.ports.history.at(table, cut).head.hash)
    moments = [arena.ports.history.at(table, version) for version in range(1, len(stored) + 1)]
    times = [one.at - one.paused for one in moments]
    assert times == sorted(times), "match time goes back"


@pytest.mark.unmeasured
@pytest.mark.parametrize("game", REGISTERED.values(), ids=lambda game: game.info.id)
def test_folding_many_events_at_once_equals_folding_them_one_by_one(game: AnyGame) -> None:
    ports, played = play(game, ["random"] * 2, {}, bytes(32))
    stored = ports.log.read(played.id).events
    one = begin(played.id, stored[0], {game.info.id: game})
    drawn: Counter[str] = Counter()
    for entry in stored[1:]:
        before, one, event = one, step(one, entry), decode(entry)
        assert fold(before, [entry]) == one
        if event.type != "match_scored":
            drawn.update(draw["label"] for draw in msgspec.json.decode(event.data).get("draws", ()))
        assert one.drawn == drawn
    assert one == fold(begin(played.id, stored[0], {game.info.id: game}), stored[1:])


def test_no_events_leave_the_same_match_with_what_it_has_computed() -> None:
    _, match = running()
    assert fold(match, ()) is match
    assert fold_verified(match, ()) == (match, ())


def test_a_fault_among_many_actions_is_reported_at_its_version() -> None:
    arena = Arena(REGISTERED["monkeys_on_the_moon"])
    table = arena.monkeys(bots=("random", "random"))
    arena.work(table)
    stored = arena.log.stored(table)
    start = begin(table, stored[0], arena.ports.games)
    for index in range(20, 40):
        with pytest.raises(Corrupt) as many:
            fold(start, [*stored[1:index], stored[index].replace(b'"prev":"', b'"prev":"0'), *stored[index + 1 :]])
        assert many.value.version == index + 1


def test_an_observation_is_computed_once_for_each_viewer() -> None:
    arena = Arena()
    match = arena.match(arena.opened("anna", "ben"))
    for viewer in (0, 1, None):
        seen = match.observation(viewer)
        assert bytes(seen or b"") == msgspec.json.encode(match.game.observation(match.state, viewer))
        assert match.observation(viewer) is seen


@pytest.mark.parametrize("game", REGISTERED.values(), ids=REGISTERED)
def test_every_type_of_the_match_file_has_a_transition(game: AnyGame) -> None:
    assert set(transitions(game)) == {
        "seat_taken", "seat_left", "match_started", "action", "default_action", "timer", "seat_handed_over", "resigned",
        "match_scored", "match_aborted", "seed_revealed", "clock_extended", "match_suspended", "match_resumed",
        "seat_freed", "abort_asked",
    }  # fmt: skip
