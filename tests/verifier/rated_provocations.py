"""Commands that a correct Decider refuses in a rated match."""

from collections.abc import Callable
from typing import Final

from service.match.commands import AskAbort, PlayersCommand, SeatBot, TakeBack
from service.usecases.submit import CommandKey, submit
from tests.service.arena import Arena


def submitted(arena: Arena, table: str, command: PlayersCommand) -> str:
    submit(arena.ports, table, CommandKey(arena.new_key(), ""), command)
    return table


def a_bot_in_a_rated_match(arena: Arena) -> str:
    table = arena.create(turn_seconds=20, rated=True)
    return submitted(arena, table, SeatBot(player="host", bot="high"))


def a_rated_match_aborted_by_agreement(arena: Arena) -> str:
    table = arena.join(arena.create(turn_seconds=20, rated=True), "anna", "ben")
    return submitted(arena, table, AskAbort(player="anna"))


def a_seat_of_a_rated_match_taken_back(arena: Arena) -> str:
    clock = {"turn_seconds": 20, "on_timeout": "bot"}
    table = arena.join(arena.create("monkeys_on_the_moon", clock=clock, rated=True), "anna", "ben")
    seat = arena.match(table).decisions()[0].seat
    arena.ring(table)
    arena.work(table)
    return submitted(arena, table, TakeBack(player=("anna", "ben")[seat]))


OF_RATED: Final[tuple[Callable[[Arena], str], ...]] = (
    a_bot_in_a_rated_match,
    a_rated_match_aborted_by_agreement,
    a_seat_of_a_rated_match_taken_back,
)
