"""The clocks of a match: banks and increments, what happens when time is up, and the pace of bots."""

from itertools import pairwise
from typing import Any, Final

import msgspec
import pytest
from msgspec.structs import replace

from events.record import MatchId
from service.audit.match_file import export
from service.audit.verify import verify
from service.errors import Refused
from service.games.protocol import AnyGame
from service.games.registry import GAMES
from service.match.due_times import KINDS
from service.match.model import LATE_MS
from service.match.redaction import viewer_of
from service.repository.ports import OwnList
from service.usecases.match_lists import own_page
from tests.length import LONG
from tests.service.arena import START, Arena, person, refused, with_bot

MONKEYS = "monkeys_on_the_moon"


def table_with(arena: Arena, *players: str, bots: tuple[str, ...] = (), **clock: Any) -> MatchId:
    seats = len(players) + len(bots)
    return arena.join(arena.create(MONKEYS, seats, bots=bots, clock=clock), *players)


def on_turn(arena: Arena, table: MatchId) -> tuple[str, int]:
    """The player whose turn it is, and the deadline of the decision."""
    match = arena.match(table)
    (decision,) = match.decisions()
    player = person(match, decision.seat)
    assert player is not None
    assert decision.deadline is not None
    return player, decision.deadline


def test_a_bank_loses_the_time_of_a_decision_and_gains_the_increment() -> None:
    arena = Arena()
    table = table_with(arena, "anna", "ben", bank_seconds=30, increment_seconds=5)
    first, deadline = on_turn(arena, table)
    assert deadline == START + 30_000
    left = {"anna": 30_000, "ben": 30_000}
    for _ in range(12):
        player, deadline = on_turn(arena, table)
        assert deadline == arena.time + left[player]
        arena.wait(4_000)
        arena.act(table, player)
        left[player] += 5_000 - 4_000
    assert left[first] > 30_000


def test_an_empty_bank_gives_only_the_increment() -> None:
    arena = Arena()
    table = table_with(arena, "anna", "ben", bank_seconds=10, increment_seconds=2)
    slow, deadline = on_turn(arena, table)
    arena.ring(table)
    assert arena.types(table)[-1] == "default_action"
    while on_turn(arena, table)[0] != slow:
        arena.act(table, on_turn(arena, table)[0])
    assert on_turn(arena, table)[1] == arena.time + 2_000
    assert deadline == START + 10_000


def test_in_a_simultaneous_game_each_bank_loses_the_time_of_its_own_seat() -> None:
    arena = Arena()
    table = arena.join(arena.create("toy", 2, clock={"bank_seconds": 60}, options={"tricks": 3}), "anna", "ben")
    arena.wait(1_000)
    arena.act(table, "anna")
    arena.wait(4_000)
    arena.act(table, "ben")  # this ends the trick, and both may swap
    deadlines = {decision.seat: decision.deadline for decision in arena.match(table).decisions()}
    assert deadlines == {0: arena.time + 60_000 - 1_000, 1: arena.time + 60_000 - 5_000}
    arena.wait(2_000)
    arena.act(table, "ben")
    assert arena.match(table).banks == (59_000, 53_000)


def test_a_seat_may_be_handed_to_a_bot_when_its_time_is_up() -> None:
    arena = Arena()
    table = table_with(arena, "anna", "ben", bank_seconds=20, on_timeout="bot")
    slow, _ = on_turn(arena, table)
    seat = arena.match(table).seat_of(slow)
    arena.ring(table)
    assert (arena.types(table)[-1], arena.events(table)[-1].by) == ("seat_handed_over", "worker")
    assert arena.data(table) == {"seat": seat, "player": "greedy", "kind": "bot", "reason": "clock"}
    arena.work(table)
    assert arena.events(table)[-1].by == "bot:greedy"
    refused("not-seated", arena.act, table, slow, {"type": "pass"})
    ended = arena.play_out(table)
    assert ended.status == "finished"
    verify(list(export(arena.ports, ended)), arena.ports.games)


def test_a_player_whose_seat_went_to_a_bot_may_watch_to_the_end() -> None:
    arena = Arena()
    clock = {"turn_seconds": 20, "on_timeout": "bot"}
    table = arena.join(arena.create(MONKEYS, clock=clock, private=True), "anna", "ben")
    slow, _ = on_turn(arena, table)
    other = "ben" if slow == "anna" else "anna"
    arena.ring(table)
    match = arena.match(table)
    assert [player for player in ("anna", "ben") if match.was_of(player)] == [slow]
    assert (viewer_of(match, slow), viewer_of(match, other)) == (None, match.seat_of(other))
    refused("match-not-found", viewer_of, match, "eve")
    refused("match-not-found", viewer_of, match, None)
    lost = refused("not-seated", arena.act, table, slow, {"type": "pass"})
    assert lost.detail == "Your time ran out, and a bot took your seat over; you may still watch."
    own_lists: tuple[OwnList, ...] = ("all", "active")  # a private match is in no public list
    for own_list in own_lists:
        assert [one.seat for one in own_page(arena.ports, slow, own_list, None, 9)[0]] == [None]
    ended = arena.play_out(table)
    assert viewer_of(ended, slow, 0) == 0


def test_a_seat_may_resign_when_its_time_is_up() -> None:
    arena = Arena()
    table = table_with(arena, "anna", "ben", turn_seconds=20, on_timeout="resign")
    slow, _ = on_turn(arena, table)
    arena.ring(table)
    assert [(event.type, event.by) for event in arena.events(table)[-2:]] == [
        ("resigned", "worker"),
        ("default_action", "worker"),
    ]
    assert slow not in {person(arena.match(table), seat) for seat in (0, 1)}
    ended = arena.play_out(table)
    assert ended.status == "finished"
    verify(list(export(arena.ports, ended)), arena.ports.games)


SEAT_CLOCKS: Final = [
    {**clock, "on_timeout": policy}
    for clock in ({"turn_seconds": 5}, {"bank_seconds": 10, "increment_seconds": 1})
    for policy in ("default_action", "bot", "resign")
]


ABSENT: Final = [
    (name, clock) for name, game in GAMES.items() for clock in ([{}] if game.info.keeps_time else SEAT_CLOCKS)
]


@pytest.mark.long
@pytest.mark.parametrize(("game", "clock"), ABSENT if LONG else ABSENT[::2])
def test_a_match_of_absent_players_ends_in_every_game(game: str, clock: dict[str, Any]) -> None:
    arena = Arena(*GAMES.values())
    created = arena.create(game, 2, clock=clock)
    table = arena.join(created, "anna", "ben")
    for _ in range(1_000):
        arena.work(table)
        if arena.match(table).status == "finished":
            break
        assert all(one.deadline is not None for one in arena.match(table).decisions())
        arena.ring(table)
    assert arena.match(table).status == "finished"


def test_a_bot_plays_at_its_pace_and_not_before() -> None:
    arena = Arena()
    table = table_with(arena, bots=("random", "random"), bot_pace_ms=1_000)
    times = [arena.time]
    for _ in range(20):
        due = arena.log.next_due(KINDS)
        assert due is not None
        arena.time = due - 1
        arena.work(table)
        assert arena.match(table).at == times[-1], "a bot was too early"
        arena.time = due
        arena.work(table)
        times.append(arena.match(table).at)
    waits = [after - before for before, after in pairwise(times)]
    assert all(500 <= wait <= 1_500 for wait in waits)
    assert len(set(waits)) > 5, "every bot waits the same"


def test_a_bot_that_waited_reacts_to_others_only_at_its_own_pace() -> None:
    choices: list[int] = []
    arena = with_bot(lambda *_: choices.append(arena.time))
    table = arena.create("toy", 2, bots=("custom",), clock={"bot_pace_ms": 2_000}, options={"trick_ms": 600_000})
    arena.join(table, "anna")
    decision = next(one for one in arena.match(table).decisions() if one.seat == 0)
    assert decision.plays_at is not None
    wait = decision.plays_at - decision.opens_at
    for late, slots in ((LATE_MS, 0), (LATE_MS + 1, 1), (LATE_MS + 3 * wait, 3), (LATE_MS + 3 * wait + 1, 4)):
        match = replace(arena.match(table), at=decision.plays_at + late)
        again = next(one for one in match.decisions() if one.seat == 0)
        assert again.scheduled_at == max(match.at, decision.plays_at + slots * wait)
        assert again.plays_at == match.at


@pytest.mark.parametrize(
    ("clock", "parameter"),
    [
        ({"turn_seconds": 10, "bank_seconds": 10}, "clock"),
        ({"turn_seconds": 10, "increment_seconds": 1}, ("clock", "increment_seconds")),
        ({"increment_seconds": 1}, ("clock", "increment_seconds")),
        ({"on_timeout": "bot"}, ("clock", "on_timeout")),
        ({"turn_seconds": 10, "bot_pace_ms": 5_001}, ("clock", "bot_pace_ms")),
        ({"bank_seconds": 100, "bot_pace_ms": 50_001}, ("clock", "bot_pace_ms")),
    ],
)
def test_a_clock_that_contradicts_itself_is_refused(clock: dict[str, Any], parameter: object) -> None:
    arena = Arena()
    with pytest.raises(Refused) as caught:
        arena.create(MONKEYS, 2, clock=clock)
    assert (caught.value.code, caught.value.facts["parameter"]) == ("invalid-options", parameter)


@pytest.mark.parametrize("clock", [*SEAT_CLOCKS, {"on_timeout": "bot"}, {"increment_seconds": 1}])
def test_a_game_that_keeps_its_own_time_takes_no_clock_for_seats(clock: dict[str, Any]) -> None:
    arena = Arena(*GAMES.values())
    with pytest.raises(Refused) as caught:
        arena.create("four_monkeys", 2, clock={**clock, "bot_pace_ms": 100})
    assert (caught.value.code, caught.value.facts["parameter"]) == ("invalid-options", "clock")
    assert caught.value.detail == "4 Monkeys keeps its own time; of a clock only bot_pace_ms may be set."
    assert arena.match(arena.create("four_monkeys", 2, clock={"bot_pace_ms": 100})).created.clock is not None


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES.keys())
def test_a_game_declares_that_it_keeps_time_exactly_if_its_decisions_have_deadlines(game: AnyGame) -> None:
    arena = Arena(game)
    table = arena.join(arena.create(game.info.id, 2), "anna", "ben")
    assert {one.deadline is not None for one in arena.match(table).decisions()} == {game.info.keeps_time}


def test_a_clock_is_recorded_as_requested() -> None:
    arena = Arena()
    table = arena.create(MONKEYS, 2, clock={"bank_seconds": 60, "on_timeout": "resign"})
    assert msgspec.json.decode(arena.events(table)[0].data)["clock"] == {"bank_seconds": 60, "on_timeout": "resign"}
