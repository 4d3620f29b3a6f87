"""One job: it may run twice at once, plays only its process's lanes, and gives bots back the time that they waited."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from events.due import Due
from service.adapters.beat import GAP_MS
from service.adapters.memory import local_ports
from service.automation.bot_turns import BUDGET_MS
from service.errors import Refused
from service.games.registry import GAMES
from service.match.due_times import HINT_MS
from service.match.model import GRACE_MS
from service.match.new_match import NewMatch
from service.usecases.match_lifecycle import create
from tests.service.arena import START, Arena, with_bot
from tests.workers.world import World
from workers import turns as turns_module
from workers.turns import TIME_TO_PLAY_MS, TIMED_BUDGET_MS, Turns

BOTS = ("random", "greedy")


def test_jobs_that_run_at_once_play_each_turn_once(world: World) -> None:
    match = world.bots()
    turns = [Turns(world.service.ports) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        while world.newest(match).status != "finished":
            list(pool.map(lambda one: one.play(match.id), turns))
    world.verified(match)


def test_a_job_returns_the_lane_in_which_its_match_continues() -> None:
    arena = Arena()
    turns = Turns(arena.ports)
    table = arena.monkeys(bots=BOTS)
    assert turns.play(table) == "bots"
    while turns.play(table) is not None:
        pass
    assert arena.match(table).status == "finished"
    assert turns.play(arena.monkeys("anna", bots=BOTS)) is None, "a person is next"


def test_a_match_of_another_lane_is_not_played_but_made_due_in_its_lane() -> None:
    arena = Arena()
    table = arena.monkeys(bots=BOTS)
    match = arena.match(table)
    arena.log.rearm(table, match.head.version, {"job": START, "clock": START})
    assert Turns(arena.ports, ["turns"]).play(table) is None
    assert arena.match(table) == match
    assert (arena.log.claim("job", 10**15, 0, 9), arena.log.scheduled("clock")) == ((), ())
    assert arena.log.claim("bots", 10**15, 0, 9) == (Due(table, "bots", START + HINT_MS),)
    assert Turns(arena.ports, ["bots"]).play(table) == "bots"
    assert arena.version(table) > match.head.version


@pytest.mark.parametrize("late", [0, GAP_MS, GAP_MS + 1, 600_000])
def test_bots_get_the_time_back_that_their_match_waited_in_the_lane(late: int) -> None:
    arena = Arena()
    table = arena.monkeys(bots=BOTS, turn_seconds=30)
    opened = arena.version(table)
    arena.time = START + 30_000 + GRACE_MS + late
    Turns(arena.ports, ["bots"]).play(table)
    assert arena.types(table)[opened] == ("default_action" if late <= GAP_MS else "clock_extended")
    if late > GAP_MS:
        assert arena.data(table, opened + 1)["ms"] == late + TIME_TO_PLAY_MS
        assert {event.by for event in arena.events(table)[opened + 1 :]} <= {"bot:random", "bot:greedy"}


def test_timers_ring_in_a_lane_that_is_always_late() -> None:
    arena = with_bot(lambda *_: None)
    table = arena.toy(bots=("custom", "custom"))
    turns = Turns(arena.ports, ["bots"])
    while arena.match(table).status == "running":
        first = arena.match(table).first_due()
        arena.time = (arena.time if first is None else first.enforced_at or 0) + 60_000
        turns.play(table)
        assert len(arena.events(table)) < 100
    assert "timer" in arena.types(table)


def test_a_match_that_does_not_exist_is_refused() -> None:
    with pytest.raises(Refused, match="match-not-found"):
        Turns(Arena().ports).play("nowhere")


@pytest.mark.parametrize(("game", "budget_ms"), [("four_monkeys", TIMED_BUDGET_MS), ("monkeys_on_the_moon", BUDGET_MS)])
def test_a_job_of_a_game_with_timers_is_short(monkeypatch: pytest.MonkeyPatch, game: str, budget_ms: int) -> None:
    budgets: list[int] = []
    monkeypatch.setattr(turns_module, "advance", lambda *_, budget_ms, **__: budgets.append(budget_ms))
    ports = local_ports(GAMES)
    match = create(ports, "pl_a", NewMatch(game, 2, bots=("random", "random")), "k").match
    Turns(ports).play(match.id)
    assert budgets == [budget_ms]
