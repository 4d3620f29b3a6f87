"""Commands that a correct Decider refuses in a match with hosted bots."""

from collections.abc import Callable
from typing import Any, Final

from service.match.commands import AskAbort, Command, Forfeit, HandOver, SeatBot, TakeBack, TakeDefault
from service.match.events import DefaultReason
from service.match.seat_holder import HostedBot
from service.usecases.submit import CommandKey, submit
from tests.service.arena import Arena


def submitted(arena: Arena, table: str, command: Command) -> str:
    submit(arena.ports, table, CommandKey(arena.new_key(), ""), command)
    return table


def playing(arena: Arena, **wanted: Any) -> str:
    """A match of two hosted bots, one of which has a decision open."""
    bots = tuple(arena.host(bot) for bot in ("bt_one", "bt_two"))
    return arena.create("monkeys_on_the_moon", 2, bots=bots, **wanted)


def defaulted(arena: Arena, table: str, reason: DefaultReason) -> str:
    (decision,) = arena.match(table).decisions()
    return submitted(arena, table, TakeDefault(seat=decision.seat, action=decision.on_timeout, reason=reason))


def a_hosted_bot_that_asks_to_abort(arena: Arena) -> str:
    table = arena.join(arena.create("monkeys_on_the_moon"), "anna", arena.host())
    return submitted(arena, table, AskAbort(player="bt_bot"))


def a_hosted_bot_seated_twice(arena: Arena) -> str:
    table = arena.create(seats=3, bots=(arena.host(),))
    return submitted(arena, table, SeatBot(player="host", bot=HostedBot("bt_bot", "owner", 5_000)))


def a_hosted_bot_seated_in_a_rated_match(arena: Arena) -> str:
    table = arena.create(turn_seconds=20, rated=True)
    return submitted(arena, table, SeatBot(player="host", bot=HostedBot("bt_bot", "owner", 5_000)))


def a_hosted_bot_that_is_late_too_early(arena: Arena) -> str:
    return defaulted(arena, playing(arena), "bot-late")


def a_hosted_bot_that_is_late_by_the_clock(arena: Arena) -> str:
    table = playing(arena)
    arena.wait(5_100)
    return defaulted(arena, table, "clock")


def a_person_who_is_late_as_a_bot(arena: Arena) -> str:
    table = arena.monkeys("anna", "ben", turn_seconds=60)
    arena.wait(60_100)
    return defaulted(arena, table, "bot-late")


def a_person_who_fails_as_a_bot(arena: Arena) -> str:
    return defaulted(arena, arena.monkeys("anna", "ben", turn_seconds=60), "bot-failed")


def a_failure_after_the_limit(arena: Arena) -> str:
    table = playing(arena)
    arena.wait(5_000)
    return defaulted(arena, table, "bot-failed")


def a_default_action_where_a_bot_takes_over(arena: Arena) -> str:
    return defaulted(arena, playing(arena, bot_fallback="bot"), "bot-failed")


def a_seat_handed_over_where_defaults_follow(arena: Arena) -> str:
    table = playing(arena)
    return submitted(arena, table, HandOver(seat=arena.match(table).decisions()[0].seat))


def a_resignation_where_a_bot_takes_over(arena: Arena) -> str:
    table = playing(arena, bot_fallback="bot")
    return submitted(arena, table, Forfeit(seat=arena.match(table).decisions()[0].seat))


def a_hosted_bot_that_fails_while_another_decides(arena: Arena) -> str:
    table = playing(arena, bot_fallback="resign")
    return submitted(arena, table, Forfeit(seat=1 - arena.match(table).decisions()[0].seat))


def a_hosted_bot_that_takes_its_seat_back(arena: Arena) -> str:
    table = playing(arena, bot_fallback="bot")
    seat = arena.match(table).decisions()[0].seat
    submitted(arena, table, HandOver(seat=seat))
    arena.work(table)
    return submitted(arena, table, TakeBack(player=("bt_one", "bt_two")[seat]))


OF_HOSTED: Final[tuple[Callable[[Arena], str], ...]] = (
    a_hosted_bot_that_asks_to_abort,
    a_hosted_bot_seated_twice,
    a_hosted_bot_seated_in_a_rated_match,
    a_hosted_bot_that_is_late_too_early,
    a_hosted_bot_that_is_late_by_the_clock,
    a_person_who_is_late_as_a_bot,
    a_person_who_fails_as_a_bot,
    a_failure_after_the_limit,
    a_default_action_where_a_bot_takes_over,
    a_seat_handed_over_where_defaults_follow,
    a_resignation_where_a_bot_takes_over,
    a_hosted_bot_that_fails_while_another_decides,
    a_hosted_bot_that_takes_its_seat_back,
)
