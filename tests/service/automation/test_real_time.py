"""4 Monkeys over the use cases: all players act at once, and the time of receipt counts, even if the timer rings meanwhile."""

from collections import Counter
from functools import partial
from itertools import count
from typing import Any

import msgspec
import pytest

from events.record import MatchId
from service.automation.deadlines import enforce, extend
from service.games.four_monkeys.actions import AnyAction
from service.games.four_monkeys.effects import CheckOpened
from service.games.four_monkeys.game import GAME
from service.games.protocol import CLOCK, Move, Ring
from service.match.model import GRACE_MS
from service.usecases.play import ActionRequest, judge
from tests.service.arena import START, Arena, refused
from tests.service.games.rng import ScriptedRng
from tests.service.usecases.test_submit import optimistic

ROUND = 30_000


def table_of(arena: Arena, *players: str, **options: Any) -> MatchId:
    options = {"round_seconds": 30, "countdown_seconds": 0, **options}
    return arena.join(arena.create("four_monkeys", len(players), options=options), *players)


def grab(arena: Arena, table: MatchId, player: str, stack: int = 0) -> dict[str, Any]:
    """An action that takes a tile the player sees, with one card."""
    (action,) = [one for one in arena.legal(table, player) if one["type"] == "grab" and one["stack"] == stack]
    return {**action, "cards": action["cards"]["any_of"][:1]}


def own_decision(arena: Arena, table: MatchId, seat: int) -> str:
    (found,) = [one.id for one in arena.match(table).decisions() if one.seat == seat]
    return found


def ring_timer(arena: Arena, table: MatchId) -> None:
    arena.ring(table)
    assert arena.types(table)[-1] == "timer"


def test_the_second_player_to_take_a_tile_gets_its_holder_and_the_new_top_tile() -> None:
    arena = Arena(GAME)
    table = table_of(arena, "anna", "ben")
    grabs = {player: grab(arena, table, player) for player in ("anna", "ben")}
    arena.log.meanwhile = [lambda: arena.act(table, "anna", grabs["anna"])]
    facts = refused("illegal-action", arena.act, table, "ben", grabs["ben"]).facts
    assert facts["reason"] == "tile-gone"
    assert facts["facts"] == {
        "combo": grabs["anna"]["combo"],
        "holder": 0,
        "stack": 0,
        "now": arena.match(table).state.stacks[0][0][0],
    }


def test_an_action_that_lost_a_race_for_another_tile_draws_the_same() -> None:
    outcomes = []
    for overtaken in (True, False):
        arena = Arena(GAME)
        table = table_of(arena, "anna", "ben")
        first, second = grab(arena, table, "anna", 1), grab(arena, table, "ben", 0)
        if overtaken:
            arena.log.meanwhile = [partial(arena.act, table, "anna", first)]
        else:
            arena.act(table, "anna", first)
        arena.act(table, "ben", second)
        outcomes.append([arena.data(table, version) for version in (5, 6)])
    assert outcomes[0] == outcomes[1]


def test_a_decision_stays_open_while_others_act_and_closes_with_the_own_move_or_a_new_round() -> None:
    arena = Arena(GAME)
    table = table_of(arena, "anna", "ben")
    annas, bens = (own_decision(arena, table, seat) for seat in (0, 1))
    for stack in (0, 1):
        arena.act(table, "ben", grab(arena, table, "ben", stack))
    arena.act(table, "anna", grab(arena, table, "anna", 2), decision=annas)
    refused("decision-closed", arena.act, table, "anna", {"type": "stop"}, decision=annas)
    refused("decision-closed", arena.act, table, "ben", {"type": "stop"}, decision=bens)
    newer = own_decision(arena, table, 0)
    arena.wait(1)
    arena.act(table, "ben", {"type": "stop"})
    refused("decision-closed", arena.act, table, "anna", {"type": "stop"}, decision=newer)


@pytest.mark.parametrize("countdown", [0, 5])
@pytest.mark.parametrize("with_decision", [False, True])
@pytest.mark.parametrize("kind", ["stop", "grab", "replenish"])
def test_an_action_in_time_that_a_timer_overtook_is_refused_with_round_over(
    kind: str, *, with_decision: bool, countdown: int
) -> None:
    arena = Arena(GAME)
    table = table_of(arena, "anna", "ben", countdown_seconds=countdown)
    arena.time = START + countdown * 1_000 + ROUND - 1
    action = {"stop": {"type": "stop"}, "replenish": {"type": "replenish", "mode": "extra"}}.get(kind)
    action = action or grab(arena, table, "anna")
    decision = own_decision(arena, table, 0) if with_decision else None
    arena.log.meanwhile = [lambda: ring_timer(arena, table)]
    facts = refused("illegal-action", arena.act, table, "anna", action, decision=decision).facts
    assert (facts["reason"], facts["clause"]) == ("round-over", "FOU-16")
    assert arena.match(table).state.round == 2
    assert Counter(arena.types(table))["action"] == 0


@pytest.mark.parametrize("lost_before", [0, 15_000])
@pytest.mark.parametrize("lost_after", [0, 2_000])
def test_a_timer_overtakes_an_action_also_if_an_outage_is_missing_from_the_cached_match(
    lost_before: int, lost_after: int
) -> None:
    arena = Arena(GAME)
    other_process = optimistic(arena)
    table = table_of(arena, "anna", "ben")
    action = {"type": "stop"}
    arena.time = START + ROUND - 1
    if lost_before:
        extend(other_process, table, "before", lost_before)
        arena.time += lost_before
    received_at = arena.time

    def meanwhile() -> None:
        arena.wait(GRACE_MS + 1 + lost_after)
        if lost_after:
            extend(other_process, table, "after", lost_after)
        arena.time += lost_after
        enforce(other_process, table)

    arena.log.meanwhile = [meanwhile]
    assert arena.ports.history.expected(table) is not None
    facts = refused("illegal-action", arena.act, table, "anna", action).facts
    assert facts["reason"] == "round-over"
    assert arena.match(table).state.round == 2
    assert arena.events(table)[-1].at > received_at


def test_an_action_that_a_timer_overtook_gets_round_over_also_while_another_seat_is_checked() -> None:
    arena = Arena(GAME)
    table = table_of(arena, "anna", "ben")
    for number in count():
        arena.act(table, "ben", grab(arena, table, "ben", number % 4))
        ring: Move[AnyAction] = Move(CLOCK, Ring("round"), START + ROUND)
        effects = GAME.decide(arena.match(table).state, ring, ScriptedRng())
        if isinstance(effects[-1], CheckOpened):
            break
    arena.time = START + ROUND - 1
    action = grab(arena, table, "anna")
    arena.log.meanwhile = [lambda: ring_timer(arena, table)]
    assert refused("illegal-action", arena.act, table, "anna", action).facts["reason"] == "round-over"
    check = arena.match(table).state.checking
    assert check is not None
    assert check.seat == 1


def test_a_round_is_extended_by_the_length_of_an_outage() -> None:
    arena = Arena(GAME)
    table = table_of(arena, "anna", "ben")
    arena.wait(20_000)
    extend(arena.ports, table, "outage", 15_000)
    arena.time = START + ROUND + 15_000 - 1
    arena.act(table, "anna", grab(arena, table, "anna"))
    arena.wait(1)
    refused("too-late", arena.act, table, "ben", {"type": "stop"})
    ring_timer(arena, table)
    assert arena.events(table)[-1].at == START + ROUND + 15_000 + GRACE_MS


@pytest.mark.parametrize("lost", [0, 2_500])
def test_an_action_in_the_countdown_is_refused_with_the_time_at_which_it_may_be_repeated(lost: int) -> None:
    arena = Arena(GAME)
    table = table_of(arena, "anna", "ben", countdown_seconds=5)
    action = grab(arena, table, "anna")
    arena.wait(lost)
    if lost:
        extend(arena.ports, table, "outage", lost)
    arena.wait(1_001)
    facts = refused("too-early", arena.act, table, "anna", action).facts
    opens_at = START + 5_000 + lost
    assert (facts["clause"], facts["received_at"], facts["opens_at"]) == ("FOU-4", arena.time, opens_at)
    assert facts["retry_after"] == 4
    assert {one["opens_at"] for one in msgspec.to_builtins(facts["decisions"])} == {opens_at}
    assert "legal" not in facts
    refused("too-early", judge, arena.ports, "anna", table, ActionRequest(action))
    arena.time = opens_at - 1
    assert refused("too-early", arena.act, table, "anna", action).facts["retry_after"] == 1
    arena.wait(1)
    arena.act(table, "anna", action)
