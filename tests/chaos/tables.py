"""Matches that continue during a rolling upgrade, and the clients that play them."""

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from math import inf
from threading import Event
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from tests.chaos.clients import Answer, Client, ClientThread, Json
from tests.chaos.history import History

Plan: TypeAlias = Literal["people", "bots", "leaves", "goes away"]
"""How a match is played: by people, with or without bots; only by bots; until one person resigns; or until one stops playing."""

TURN_SECONDS: Final = 20
"""The clock of a match in which a person stops playing. All others act much sooner."""
POLL_S: Final = 0.5
RETRY_S: Final = 0.1
BOTS: Final = ("random", "greedy")


class Game(NamedTuple):
    """Properties of a game.

    `turns`: the approximate number of consecutive turns of bots in a match. `pause_s`: seconds between two moves of people in
    a game with its own timer. `has_clocks`: whether seats may have clocks. `races`: whether actions of others may make an
    action illegal that was legal before.
    """

    id: str
    turns: int
    bot_seats: int = 2
    options: Mapping[str, Any] = {}
    pause_s: float = 0
    has_clocks: bool = True
    races: bool = False


class Order(NamedTuple):
    """A match to create. `pause_s`: seconds between two moves of its people, except in the last stage."""

    game: Game
    plan: Plan
    bots: int
    people: int
    clock: Json | None = None
    pause_s: float = 0


class Stage:
    """The APIs that serve, and the number of moves up to which people play. Clients use the APIs in turn.

    `moves_before`: the number of moves when the stage began. A match that is created later starts with this number.
    """

    def __init__(self, port: int, moves: int) -> None:
        self.is_first = True
        self.ports: tuple[int, ...] = (port,)
        self.moves: float = moves
        self.moves_before = 0

    @property
    def is_last(self) -> bool:
        """Whether matches are played to their ends."""
        return self.moves == inf

    def next_port(self) -> Callable[[], int]:
        turns = count()
        return lambda: self.ports[next(turns) % len(self.ports)]


class RepeatingPlayer(Client):
    """A player that repeats every third command: the other release must give the same answer."""

    def command(self, match: str, path: str, body: Json | None, kind: str, by: str) -> Answer:
        answer = super().command(match, path, body, kind, by)
        if self._serial % 3 == 0 and answer.status < 300:
            again = self.ask("POST", f"/v1/matches/{match}/{path}", body, self.last_key)
            self._history.replayed()
            if again != answer._replace(replayed=True):
                self._history.report(f"I2: {answer} became {again} when it was sent again")
        return answer


class Table:
    """One match. Its people act until the stage's number of moves. Its creator `host` has no seat."""

    def __init__(
        self, stage: Stage, history: History, order: Order, match: str, host: Client, people: Sequence[Client]
    ) -> None:
        self.order = order
        self.match = match
        self.moves = stage.moves_before
        self.version = 0
        self.status = "running"
        self._stage = stage
        self._history = history
        self._plan = order.plan
        self._host = host
        self._people = deque(people)
        self._absent: Client | None = None
        self._paused_until = 0.0
        self._stage_began_at: int = self._refresh(host)["version"]

    def __str__(self) -> str:
        return f"match {self.match} at version {self.version}, {self.status}, {self.moves} moves, of {self.order}"

    @property
    def has_people(self) -> bool:
        """Whether a person has a seat and has not left."""
        return bool(self._people)

    @property
    def waits_for_stage(self) -> bool:
        """Whether the match cannot end while its people wait for the next stage."""
        return self.has_people and not self.order.game.races and self.order.plan != "goes away"

    @property
    def is_over(self) -> bool:
        return self.status != "running"

    def begin_stage(self) -> None:
        """Count events from the current version."""
        self._stage_began_at = self.version

    @property
    def is_stage_done(self) -> bool:
        """Whether everything has happened that should happen in this stage."""
        is_played = not self._people or self.moves >= self._stage.moves
        is_settled = self._stage.is_first or self._plan in {"people", "bots"}
        return is_played and is_settled and self.version > self._stage_began_at + 1

    def step(self) -> bool:
        """Let one of its people act if possible. Returns whether one did."""
        if self.is_over or time.monotonic() < self._paused_until:
            return False
        if self._plan == "leaves" and not self._stage.is_first:
            self._leave(self._people.popleft())
        if self._plan == "goes away" and self._absent is None and self.moves >= self._stage.moves:
            self._absent = self._people.pop()
        if not self._people:
            self._refresh(self._host)
            return self._pause(POLL_S)
        if self.moves >= self._stage.moves and self._absent is None:
            return False
        if any(map(self._act, tuple(self._people))):
            self._people.rotate(-1)
            self.moves += 1
            self._pause(self.order.game.pause_s if self._stage.is_last else self.order.pause_s)
            return True
        return self._pause(RETRY_S)

    def _pause(self, seconds: float) -> bool:
        self._paused_until = time.monotonic() + seconds
        return False

    def _refresh(self, viewer: Client, query: str = "") -> Json:
        view = viewer.read(self.match, query)
        self.version, self.status = view["version"], view["status"]
        if self._absent is not None and self._plan == "goes away":
            former = {seat["former"] for seat in view["seats"]} - {None}
            if former == {self._absent.id}:
                self._plan = "people"
            elif former:
                self._history.report(f"{self.match}: the wrong seat was handed over, that of {former}")
        return view

    def _act(self, person: Client) -> bool:
        view = self._refresh(person, "?include=legal_actions")
        actions = [action for action in view["legal_actions"] or () if action["type"] != "stop"]
        if self.is_over or not actions:
            return False
        action = {name: choice(value) for name, value in actions[view["version"] % len(actions)].items()}
        answer = person.command(self.match, "actions", {"action": action}, "action", f"seat:{view['viewer']}")
        if answer.status < 300:
            self.version = max(self.version, answer.body["version"])
            return True
        if not (self.order.game.races and answer.status == 409):
            self._history.report(f"I1: in match {self.match} {person.name} got {answer.body} for {action}")
        return False

    def _leave(self, person: Client) -> None:
        seat = self._refresh(person)["viewer"]
        answer = person.command(self.match, "leave", None, "resigned", f"seat:{seat}")
        if answer.status > 299:
            self._history.report(f"I1: {person.name} could not leave match {self.match}: {answer.body}")
        self._plan = "people"


def choice(value: Any) -> Any:
    """A value of an action's field; of a pattern, as few items as it allows."""
    return value["any_of"][: value["min"]] if isinstance(value, dict) and "any_of" in value else value


class Driver(ClientThread):
    """Creates the ordered matches and plays them in turn. Its two players have seats in all of them, its host in none."""

    def __init__(self, stage: Stage, number: int, history: History, stopped: Event) -> None:
        super().__init__(stopped, history)
        self.orders: deque[Order] = deque()
        self.tables: list[Table] = []
        self._stage = stage
        self._host, *self._people = [
            RepeatingPlayer(stage.next_port(), f"{name}-{number}", history) for name in ("Ida", "Ada", "Ben")
        ]

    def act(self) -> None:
        while self.orders:
            self.tables.append(self._make(self.orders[0]))
            self.orders.popleft()
        acted = [table.step() for table in self.tables]
        if not any(acted):
            self._stopped.wait(0.02)

    def _make(self, order: Order) -> Table:
        number = len(self.tables)
        game = order.game
        wanted = {
            "game": game.id,
            "seats": order.bots + order.people,
            "bots": [BOTS[(number + seat) % 2] for seat in range(order.bots)],
            "options": game.options,
        } | ({"clock": order.clock} if order.clock else {})
        match = self._sent("/v1/matches", wanted, self._host, number)["id"]
        people = self._people[: order.people]
        for person in people:
            self._sent(f"/v1/matches/{match}/seats", {}, person, number)
        return Table(self._stage, self.history, order, match, self._host, people)

    @staticmethod
    def _sent(path: str, body: Json, by: Client, number: int) -> Json:
        answer = by.ask("POST", path, body, f"begin-{number}")
        assert answer.status in {200, 201}, answer.body
        return answer.body

    def close(self) -> None:
        for client in (self._host, *self._people):
            client.close()
