"""Hosted bots on a world of worker processes, and a receiver that plays as one."""

import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from secrets import token_hex
from typing import Any, Final, TypeAlias

import msgspec

from service.match.events import BotFallback, MatchClock
from service.match.model import Match
from service.match.new_match import NewMatch
from service.repository.accounts import Player
from service.repository.bot_tasks import TaskRecord
from service.usecases import hosted_bots
from service.usecases.hosted_bots import BotSettings
from service.usecases.match_lifecycle import create
from tests.service.adapters.receivers import Answer, Receiver, receiving
from tests.workers.world import GAME, World

SOON_S: Final = 20

Task: TypeAlias = Mapping[str, Any]


def hosted(world: World, url: str | None, *, owner: str = "pl_owner", **settings: Any) -> str:
    """The id of a new hosted bot that is called at a URL."""
    ports, player = world.service.ports, Player(owner, "Owner", 0)
    ports.accounts.add(player, token_hex(32))
    wanted = BotSettings(name="Deep", seating="everyone", max_matches=100, url=url, **settings)
    bot, *_ = hosted_bots.create(ports, player, wanted)
    return bot.id


def match_of(
    world: World,
    *bots: str,
    game: str = GAME,
    fallback: BotFallback = "default_action",
    turn_seconds: int | None = None,
    seats: int | None = None,
    **clock: Any,
) -> Match:
    """A match of these bots, which runs unless it has more seats."""
    if turn_seconds is not None:
        clock["turn_seconds"] = turn_seconds
    wanted = NewMatch(
        game, seats or len(bots), bots=bots, clock=MatchClock(**clock) if clock else None, bot_fallback=fallback
    )
    return create(world.service.ports, "pl_a", wanted, token_hex(4)).match


def task_of(request: bytes) -> Task:
    """The task in a call."""
    found: Task = msgspec.json.decode(request.partition(b"\r\n\r\n")[2])
    return found


def header(request: bytes, name: str) -> str:
    lines = request.partition(b"\r\n\r\n")[0].decode().split("\r\n")
    return next(line.partition(": ")[2] for line in lines if line.lower().startswith(f"{name}:"))


def answering(body: object) -> bytes:
    text = body if isinstance(body, bytes) else msgspec.json.encode(body)
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text)


def plays(requests: list[bytes], choose: Callable[[Task], Any] = lambda task: task["legal_actions"][0]) -> Answer:
    """Answers with an action of the newest task in `requests`; None is an answer without an action."""

    def answer(connection: socket.socket) -> None:
        chosen = choose(task_of(requests[-1]))
        nothing = b"HTTP/1.1 204 No Content\r\n\r\n"
        connection.sendall(nothing if chosen is None else answering({"action": chosen}))

    return answer


def records(world: World, bot: str) -> list[TaskRecord]:
    """What is remembered of a bot's tasks, oldest first."""
    return list(reversed(world.service.ports.bot_tasks.newest(bot, 0, 500)))


@contextmanager
def player(answer: Answer | None = None) -> Iterator[Receiver]:
    """A bot that plays its first legal action, unless it has another answer."""
    with receiving() as receiver:
        receiver.answer = answer or plays(receiver.requests)
        yield receiver
