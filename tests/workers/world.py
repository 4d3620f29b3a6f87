"""What the worker tests run on: two servers, the service on them, and short ways to create matches."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import Any, Final

import msgspec
from redis import Redis
from redis.exceptions import RedisError

from events.chain import genesis
from events.record import Event
from events.redis_log import send
from service.adapters.beat import KEY as BEAT
from service.adapters.valkey import Valkey
from service.audit.verify import Verdict, verify
from service.container import Service, build
from service.games.registry import GAMES
from service.match.events import MatchClock
from service.match.model import Match
from service.match.new_match import NewMatch
from service.settings import read
from service.usecases.match_lifecycle import create, join
from tests.service.games.toy.game import TOY
from tests.workers.forked import Fork, Work, forked
from workers.process import Role

ROOT = Path(__file__).parents[2]
GAME = "monkeys_on_the_moon"
TIMEOUT_S: Final = 10
"""After which a server that does not answer is replaced."""
CRASHES: Final = frozenset({-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS, -signal.SIGILL, -signal.SIGFPE})
"""The return codes of a process that a fault in a library has ended."""


class Clock:
    """Server time that a test sets. The monotonic clock follows it, except for jumps."""

    def __init__(self, now: int) -> None:
        self.now = now
        self._jumped = 0

    def __call__(self) -> int:
        return self.now

    def steady(self) -> float:
        return (self.now - self._jumped) / 1000

    def jump(self, ms: int) -> None:
        self.now += ms
        self._jumped += ms


@dataclass
class World:
    log: Valkey
    queue: Valkey
    service: Service
    environ: dict[str, str]
    processes: list[subprocess.Popen[bytes] | Fork] = field(default_factory=list)

    def worker(self, role: Role = "all", /, **settings: str) -> Fork:
        """A worker process."""
        return self._forked(role, settings)

    def calls(self, **settings: str) -> Fork:
        """A process that calls webhooks, also on this machine."""
        return self._forked("calls", {"MOONSTONE_LOOPBACK_CALLS": "1", **settings})

    def _forked(self, work: Work, settings: Mapping[str, str]) -> Fork:
        process = forked(work, {**os.environ, **self.environ, **settings})
        self.processes.append(process)
        return process

    def program(self, *module: str, **settings: str) -> subprocess.Popen[bytes]:
        """A process that is started as operators do: `python -m workers` or `python -m workers.calls`."""
        environ = {**os.environ, **self.environ, "PYTHONFAULTHANDLER": "1", **settings}
        command = [sys.executable, "-m", *module]
        process = subprocess.Popen(command, cwd=ROOT, env=environ, stdin=subprocess.DEVNULL)
        self.processes.append(process)
        return process

    def end(self) -> None:
        """End every process. If one has crashed, the test fails: it may have waited in vain for what this process does."""
        ended = [process.poll() for process in self.processes]
        for process in self.processes:
            process.kill()
            process.wait()
        assert not CRASHES.intersection(ended), "a process crashed; where, is in the output of this test"

    def bots(self, game: str = GAME, seats: int = 2, **options: Any) -> Match:
        """Create a match of bots alone."""
        wanted = NewMatch(game=game, seats=seats, bots=("random",) * seats, options=options)
        return create(self.service.ports, "pl_a", wanted, token_hex(4)).match

    def people(self, game: str = GAME, clock: int | None = None, **options: Any) -> Match:
        """Create a match of two people; `clock`: seconds per turn."""
        ports = self.service.ports
        turn_clock = None if clock is None else MatchClock(turn_seconds=clock)
        match = create(
            ports, "pl_a", NewMatch(game=game, seats=2, clock=turn_clock, options=options), token_hex(4)
        ).match
        join(ports, "pl_a", match.id, "join")
        return join(ports, "pl_b", match.id, "join").match

    def newest(self, match: Match) -> Match:
        return self.service.ports.history.newest(match.id)[0]

    def events(self, match: Match) -> list[Event]:
        return [msgspec.json.decode(stored, type=Event) for stored in self.service.ports.log.read(match.id).events]

    def open_matches(self) -> list[Match]:
        """The public matches that wait for players."""
        return [
            self.service.ports.history.newest(entry.match_id)[0]
            for entry in self.service.ports.index.page("open", None, 99)
        ]

    def verified(self, match: Match) -> Verdict:
        """Verify the match as a third party would: its chain, every draw and every decision."""
        line, _ = genesis(match.id, match.game.info.id, match.game.info.ruleset)
        return verify([line, *self.service.ports.log.read(match.id).events], self.service.ports.games)


class Servers:
    """A log and a queue that tests use one after the other: to empty them takes less time than to start them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._started = 0
        self._running: tuple[Valkey, ...] = ()

    def empty(self) -> tuple[Valkey, Valkey]:
        """The servers without data. They are new ones if the last test killed or stopped one."""
        try:
            for server in self._running:
                with Redis.from_url(server.url, socket_timeout=TIMEOUT_S) as client:
                    client.flushall()
        except RedisError:
            self.stop()
        if not self._running:
            folder = self._folder / f"servers-{self._started}"
            self._started += 1
            for name in ("log", "queue"):
                self._running += (Valkey.start(folder / name, durable=name == "log"),)
        log, queue = self._running
        return log, queue

    def stop(self) -> None:
        for server in self._running:
            server.stop()
        self._running = ()


@contextmanager
def new_world(folder: Path) -> Iterator[World]:
    """A world with its own two servers in `folder`; its processes end with it."""
    with closing_servers(folder) as servers, world_on(servers, folder) as world:
        yield world


@contextmanager
def closing_servers(folder: Path) -> Iterator[Servers]:
    servers = Servers(folder)
    try:
        yield servers
    finally:
        servers.stop()


@contextmanager
def world_on(servers: Servers, folder: Path) -> Iterator[World]:
    """A world on empty servers; its processes end with it."""
    log, queue = servers.empty()
    environ = {
        "MOONSTONE_LOG_URL": log.url,
        "MOONSTONE_QUEUE_URL": queue.url,
        "MOONSTONE_DATA_DIR": str(folder / "data"),
    }
    service = build(read(environ), games={**GAMES, "toy": TOY}, listen=False)
    world = World(log, queue, service, environ)
    try:
        yield world
    finally:
        try:
            world.end()
        finally:
            service.close()


def silence(world: World, ms: int) -> None:
    """Set the last beat back, as if no sweeper had run for `ms`."""
    (at,) = send(world.service.log_client, ("HGET", BEAT, "at"))
    send(world.service.log_client, ("HSET", BEAT, "at", int(at) - ms))
