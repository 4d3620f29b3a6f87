"""A script of `tests.chaos.actor` about hosted bots: one is created and called, and the check after it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec

from service.automation import bot_calls
from service.automation.bot_calls import LEASE_MS, Call, KnownBots
from service.container import Service
from service.match.events import MatchClock
from service.match.new_match import NewMatch
from service.repository.accounts import Player
from service.repository.outgoing import Answered
from service.usecases import hosted_bots
from service.usecases.hosted_bots import BotSettings
from service.usecases.match_codes import match_id_of
from service.usecases.match_lifecycle import create

OWNER: Final = Player("pl_owner", "Owner", 0)
GAME: Final = "monkeys_on_the_moon"
EVENTS: Final = 10
"""The script ends when the match has this many events."""


class Memory(Protocol):
    def once(self, name: str, make: Callable[[], Any]) -> Any: ...


def host_bots(service: Service, memory: Memory) -> None:
    """Create two bots, seat them in a match, and call them; every third answer cannot be used."""
    # A crash leaves a call that lasts; the next try comes after its lease.
    start = service.ports.now() + LEASE_MS
    ports = replace(service.ports, now=lambda: max(start, service.ports.now() + LEASE_MS))
    ports.accounts.add(OWNER, "0" * 64)
    bots = [memory.once(f"bot-{number}", lambda: _new_bot(service)) for number in range(2)]
    wanted = NewMatch(GAME, 2, bots=tuple(bots), clock=MatchClock(turn_seconds=600))
    match = create(ports, OWNER.id, wanted, "hosted").match
    known = KnownBots()
    while ports.history.newest(match.id)[0].head.version < EVENTS:
        for call in bot_calls.plan(ports, match.id, known, lambda _: True).calls:
            bot_calls.settle(ports, call, _answer(call), 1, known)


def _new_bot(service: Service) -> str:
    bot, *_ = hosted_bots.create(service.ports, OWNER, BotSettings(name="Deep", url="https://moon.example/"))
    return bot.id


def _answer(call: Call) -> Answered:
    if call.record.version % 3 == 0:
        return Answered(500, b"", 1)
    task = msgspec.json.decode(call.body)
    return Answered(200, msgspec.json.encode({"action": task["legal_actions"][0]}), 1)


def check_hosted(service: Service, folder: Path) -> None:
    """Every decision was taken once, by the bot or by the service, and a bot that was not created whole can be deleted."""
    del folder
    ports = service.ports
    match, _ = ports.history.newest(match_id_of(ports.secret, OWNER.id, "hosted"))
    events = [event for event, _ in ports.history.verified(match, 0, EVENTS)]
    decided = [event for event in events if event.type in {"action", "default_action"}]
    assert len(decided) == EVENTS - 4  # all but the creation, two seats and the start
    assert {event.type for event in decided} == {"action", "default_action"}
    assert [event.version % 3 == 1 for event in decided] == [event.type == "default_action" for event in decided]
    for bot in ports.bots.of(OWNER.id):
        if bot in ports.bots.find((bot,)):
            hosted_bots.delete(ports, OWNER.id, bot)
