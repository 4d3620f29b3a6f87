"""The log is away for a while, short or long: time in which it can take no action counts to nobody.

Real processes, and a real server of the log that is stopped, or killed and started again.
"""

import math
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import msgspec
import pytest

from events.record import Event
from service.adapters.beat import RETURN_MS
from service.adapters.clock import wall_clock
from service.adapters.valkey import Valkey
from service.audit.match_file import export
from service.match.events import SHORTEST_CLOCK
from service.match.model import GRACE_MS
from tests.api.live import serving
from tests.chaos.clients import Answer, Client
from tests.chaos.history import History
from tests.chaos.tables import choice
from tests.length import LONG
from tests.verifier.verdicts import verdicts
from tests.waiting import until
from tests.workers.world import World, new_world

Way: TypeAlias = Literal["stopped", "killed"]
Falls: TypeAlias = Literal["within", "after", "long after"]
"""When the deadline of a match is: in the outage or right after it began; a little, or some seconds after its end."""

CASES: Final[tuple[tuple[float, Way], ...]] = (
    tuple((seconds, way) for seconds in (0.3, 1.0, 2.9, 3.1, 10.0) for way in ("stopped", "killed"))
    if LONG
    else ((1.0, "killed"),)
)
BEFORE_S: Final = 0.6
"""An action whose deadline is `within` is first sent so long before it, and the outage begins a little earlier."""
LEAD_S: Final = 0.1
SHORTEST_ROUND: Final = 30
SLACK_MS: Final = 1_500
"""For a machine that is busy."""
OTHER: Final = {"default_action", "resigned", "seat_handed_over", "timer"}
"""What a deadline brings."""


UNLIMITED: Final = dict.fromkeys(
    (f"MOONSTONE_{name}_BY_ADDRESS" for name in ("REQUESTS", "SIGN_UPS", "CREATIONS")), "1000000"
)


class Case(NamedTuple):
    """A match: its clock, when its deadline is, and who acts before it counts: nobody, one who tries again and again while
    the answer is 503, or one who comes again as late as that answer says.
    """

    clock: Mapping[str, object]
    falls: Falls
    acts: Literal["no", "soon", "late"]

    @property
    def is_real_time(self) -> bool:
        return "round_seconds" in self.clock

    def wanted(self, seconds: int) -> dict[str, object]:
        """A match in which the first deadline is so long after its beginning."""
        if self.is_real_time:
            return {"game": "four_monkeys", "seats": 2, "options": {"round_seconds": seconds, "countdown_seconds": 0}}
        kind = "bank_seconds" if "bank_seconds" in self.clock else "turn_seconds"
        return {"game": "monkeys_on_the_moon", "seats": 2, "clock": {**self.clock, kind: seconds}}


class Table:
    """A match of two people, of which one has a deadline and an action to send."""

    def __init__(self, world: World, clients: tuple[Client, Client], case: Case, deadline_s: float) -> None:
        self.case = case
        self._world = world
        seconds = SHORTEST_ROUND if case.is_real_time else max(SHORTEST_CLOCK, math.ceil(deadline_s + 0.5) + 2)
        self.begins_s = deadline_s - seconds
        host, self._guest = clients
        self.match: str = host.ask("POST", "/v1/matches", case.wanted(seconds), "create").body["id"]
        host.ask("POST", f"/v1/matches/{self.match}/seats", {"seat": 0}, "sit")
        self._clients = clients
        self.deadline = 0

    def begin(self) -> None:
        """The second player joins."""
        self._guest.ask("POST", f"/v1/matches/{self.match}/seats", {}, "sit")
        view = self._guest.look(self.match)
        decision = next(one for one in view["decisions"] if isinstance(one["seat"], int) and one["deadline"])
        self.seat: int = decision["seat"]
        self.deadline = decision["deadline"]
        listed = self._clients[self.seat].ask("GET", f"/v1/matches/{self.match}/legal-actions").body
        self._action = {name: choice(value) for name, value in listed["actions"][0].items()}

    def act(self) -> Answer:
        client = self._clients[self.seat]
        path, body = f"/v1/matches/{self.match}/actions", {"action": self._action}
        while self.case.acts == "late":
            answer = client.once("POST", path, body, "act")
            if answer is not None and answer.status != 503:
                return answer
            time.sleep(2)
        return client.ask("POST", path, body, "act")

    def events(self) -> list[Event]:
        match, _ = self._world.service.ports.history.newest(self.match)
        return self._world.events(match)

    def came(self) -> Event | None:
        """The first event that the deadline brought, or the action that came before."""
        events = (event for event in self.events() if event.type in {"action", *OTHER})
        return next(events, None)

    def leave(self) -> None:
        for client in self._clients:
            client.ask("POST", f"/v1/matches/{self.match}/leave", None, "leave")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with new_world(tmp_path) as world:
        yield world


def is_away(log: Valkey, way: Way, seconds: float) -> float:
    """Let the log be away; how long it was, at most."""
    began = time.monotonic()
    if way == "stopped":
        os.kill(log.pid, signal.SIGSTOP)
        time.sleep(seconds)
        os.kill(log.pid, signal.SIGCONT)
    else:
        log.kill()
        time.sleep(seconds)
        log.restart()
    return time.monotonic() - began


def at(moment_s: float, do: Callable[[], Any]) -> Any:
    """Do something at a time of the wall clock, as deadlines have it."""
    time.sleep(max(0.0, moment_s - wall_clock() / 1000))
    return do()


def cases() -> Iterator[Case]:
    for falls in ("within", "after", "long after") if LONG else ("within",):
        for clock in ({}, {"on_timeout": "resign"}, {"bank_seconds": 0}):
            yield Case(clock, falls, "no")
            yield Case(clock, falls, "late" if clock and falls == "within" else "soon")
    if LONG:
        yield Case({"round_seconds": 0}, "within", "no")
        yield Case({"round_seconds": 0}, "within", "soon")
        yield Case({"round_seconds": 0}, "after", "soon")


@pytest.mark.long
@pytest.mark.parametrize(("seconds", "way"), CASES)
def test_row_55_an_outage_of_any_length_costs_no_player_time(
    tmp_path: Path, world: World, seconds: float, way: Way
) -> None:
    history = History()
    world.worker()
    world.worker()
    falls = {"within": LEAD_S + BEFORE_S, "after": seconds + 0.5, "long after": seconds + 3}
    with serving({**world.environ, **UNLIMITED}) as server, ThreadPoolExecutor(20) as pool:
        clients = [
            (Client(server.port, f"Ada-{number}", history), Client(server.port, f"Ben-{number}", history))
            for number, _ in enumerate(cases())
        ]
        tables = [Table(world, pair, case, falls[case.falls]) for pair, case in zip(clients, cases(), strict=True)]
        starts_s = wall_clock() / 1000 + 0.5 - min(table.begins_s for table in tables)
        list(pool.map(lambda table: at(starts_s + table.begins_s, table.begin), tables))
        starts_s = min(table.deadline for table in tables if table.case.falls == "within") / 1000 - LEAD_S - BEFORE_S
        answers = {
            table: pool.submit(at, acts_at(table, seconds) / 1000, table.act)
            for table in tables
            if table.case.acts != "no"
        }
        lasted_s = at(starts_s, lambda: is_away(world.log, way, seconds))

        assert [
            (table.case, answer.result(60).body) for table, answer in answers.items() if answer.result(60).status != 201
        ] == []
        for table in tables:
            until(table.came, 60, f"something comes of {table.case}")
        late = [what for table in tables for what in faults(table, seconds, lasted_s)]
        assert late == []
        for table in tables:
            table.leave()
        for table in tables:
            until(lambda table=table: table.events()[-1].type == "seed_revealed", 180, "the match ends")  # type: ignore[misc]
        for pair in clients:
            for client in pair:
                client.close()
    assert history.surprises == []
    files = {
        table.match: tuple(
            line.rstrip(b"\n")
            for line in export(world.service.ports, world.service.ports.history.newest(table.match)[0])
        )
        for table in tables
    }
    assert verdicts(files, tmp_path) == dict.fromkeys(files)
    for table in tables:
        world.verified(world.service.ports.history.newest(table.match)[0])


def acts_at(table: Table, seconds: float) -> float:
    """When somebody acts, in server milliseconds: where the outage is before the deadline, past that as it was at first."""
    if table.case.falls == "within":
        return table.deadline - BEFORE_S * 1000
    return table.deadline + 0.6 * seconds * 1000


def faults(table: Table, seconds: float, lasted_s: float) -> Iterator[str]:
    came = table.came()
    assert came is not None
    given_back = sum(
        int(event_ms(event))
        for event in table.events()
        if event.type == "clock_extended" and event.version < came.version
    )
    told = f"{table.case}, deadline {table.deadline}: {came.type} at {came.at}, {given_back} ms given back"
    if (table.case.acts != "no") != (came.type == "action"):
        yield told
    if given_back > lasted_s * 1000 + RETURN_MS + SLACK_MS:
        yield f"too much: {told}"
    if table.case.acts == "no" and not (
        table.deadline + seconds * 1000 <= came.at <= table.deadline + lasted_s * 1000 + RETURN_MS + GRACE_MS + SLACK_MS
    ):
        yield f"not in time: {told}"


def event_ms(event: Event) -> int:
    return int(msgspec.json.decode(event.data)["ms"])
