"""Match files with hosted bots: what they do, and what follows when they fail."""

from functools import cache
from typing import Any

from service.automation.deadlines import fail
from tests.service.arena import Arena
from tests.service.audit.playing import Lines, lines_of, turn_of


def _hosted(fallback: str, **wanted: Any) -> tuple[Arena, str]:
    """A match of two hosted bots: one that its creator seated, and one that took its seat itself."""
    arena = Arena()
    bots = tuple(arena.host(bot, owner) for bot, owner in (("bt_eins", "ella"), ("bt_zwei", "finn")))
    table = arena.create("monkeys_on_the_moon", 3, bots=bots[:1], bot_fallback=fallback, **wanted)
    arena.join(table, "anna")
    arena.join(table, bots[1], seed="moon")
    return arena, table


def _to_hosted(arena: Arena, table: str) -> str:
    """Plays on until a decision of a hosted bot is open; returns its id."""
    while True:
        name = turn_of(arena, table, hosted=True)
        (decision,) = arena.match(table).decisions()
        if decision.called_at is not None:
            return decision.id
        arena.wait(700)
        arena.act(table, name)


@cache
def hosted() -> Lines:
    """Hosted bots that act, are too late, fail, and leave, in a match without a clock."""
    arena, table = _hosted("default_action", clock={})
    for turn in range(8):
        decision = _to_hosted(arena, table)
        if turn % 4 == 1:
            arena.ring(table)
        elif turn % 4 == 3:
            arena.wait(300)
            assert fail(arena.ports, table, decision) is not None
        else:
            arena.wait(900)
            arena.act(table, turn_of(arena, table, hosted=True))
    arena.leave(table, "bt_zwei")
    arena.play_out(table)
    return lines_of(arena, table)


@cache
def hosted_lost() -> Lines:
    """Hosted bots that lose their seats to a bot of the game: one is too late by the clock, and the other one fails."""
    arena, table = _hosted("bot", turn_seconds=30)
    _to_hosted(arena, table)
    arena.ring(table)
    assert fail(arena.ports, table, _to_hosted(arena, table)) is not None
    arena.play_out(table)
    return lines_of(arena, table)


@cache
def hosted_resigned() -> Lines:
    """Hosted bots that resign: one fails, and the other one is too late."""
    arena, table = _hosted("resign", clock={})
    assert fail(arena.ports, table, _to_hosted(arena, table)) is not None
    _to_hosted(arena, table)
    arena.ring(table)
    arena.play_out(table)
    return lines_of(arena, table)


@cache
def hosted_rated() -> Lines:
    """A rated match of a person and a hosted bot that fails."""
    arena = Arena()
    bot = arena.host()
    table = arena.create("monkeys_on_the_moon", 2, clock={"turn_seconds": 30}, rated=True, bot_fallback="bot")
    arena.join(table, "anna", bot)
    assert fail(arena.ports, table, _to_hosted(arena, table)) is not None
    arena.play_out(table)
    return lines_of(arena, table)
