"""Whatever lies in the queue, or happens to its server: matches go on, the operator is told, and what is ours is mended."""

import os
import signal
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

import pytest
from msgspec import to_builtins
from redis import Redis

from service.adapters.queue_health import SENTENCES, Fault
from service.match.model import Match
from service.match.new_match import NewMatch
from service.match.redaction import legal_actions
from service.usecases.match_lifecycle import create, join
from service.usecases.play import ActionRequest, act
from tests.ports import free_port
from tests.waiting import until
from tests.workers.world import GAME, World, made
from workers import hints

STANDSTILL_S: Final = 20
"""A bot's answer takes half a second without the queue, and on a busy machine some seconds."""
ANSWERS: Final = 3
MARKS: Final = 5_000


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """One world with one worker process for all kinds of damage, one after the other."""
    with made(tmp_path_factory.mktemp("damage")) as world:
        world.worker()
        until(lambda: world.service.queue_client.scard("rq:workers"), 60, "the worker waits for hints")
        yield world


class Table:
    """A match of a person against a bot, and the person in it."""

    def __init__(self, world: World, number: str) -> None:
        self._world = world
        ports = world.service.ports
        self.match = create(ports, "pl_a", NewMatch(game=GAME, seats=2, bots=("random",)), number).match
        join(ports, "pl_a", self.match.id, "join")

    def answers(self) -> None:
        """Act until the bot has answered some times."""
        for _ in range(ANSWERS):
            until(self._my_turn, STANDSTILL_S, "the bot plays")
            while self._my_turn():
                match = self._world.newest(self.match)
                action = ActionRequest(to_builtins(legal_actions(match, 1)[0]))
                act(self._world.service.ports, "pl_a", match.id, action, str(match.head.version))
        until(self._my_turn, STANDSTILL_S, "the bot plays")

    def _my_turn(self) -> bool:
        return self._world.newest(self.match).decisions()[0].seat == 1


def finished(world: World, match: Match) -> bool:
    return world.newest(match).status == "finished"


Spoil = Callable[[Redis, Match, Match], object]


def marks(queue: Redis, value: str, *matches: Match) -> None:
    """A mark without an expiry for each match that there may ever be, in small."""
    names = [*(match.id for match in matches), *(f"x{number}" for number in range(MARKS))]
    queue.mset({f"queued:{name}": value for name in names})


def typed(key: str, kind: str) -> Spoil:
    """A key of another type than it should have."""

    def spoil(queue: Redis, *_: Match) -> None:
        queue.delete(key)
        write: dict[str, Callable[[], object]] = {
            "string": lambda: queue.set(key, "x"),
            "hash": lambda: queue.hset(key, "x", "y"),
            "zset": lambda: queue.zadd(key, {"x": 1}),
        }
        write[kind]()

    return spoil


def filled(key: str, kind: str) -> Spoil:
    """A key of the right type that holds what nobody put in."""
    junk = [b"", b"\xff\xfe", b"x", b"x:y:z", *(f"junk {number}".encode() for number in range(100))]

    def spoil(queue: Redis, *_: Match) -> None:
        write: dict[str, Callable[[], object]] = {
            "list": lambda: queue.rpush(key, *junk),
            "set": lambda: queue.sadd(key, *junk),
            "zset": lambda: queue.zadd(key, dict.fromkeys(junk, 1)),
        }
        write[kind]()

    return spoil


def both(spoil: Callable[[Redis, str], object]) -> Spoil:
    """The marks of both matches."""
    return lambda queue, *matches: [spoil(queue, f"queued:{match.id}") for match in matches]


MENDED: Final[dict[str, Spoil]] = {
    "marks that last for ever": lambda queue, *matches: marks(queue, "aside", *matches),
    "marks of jobs that are not there": lambda queue, *matches: marks(queue, "no-such-job", *matches),
    "marks that are lists": both(lambda queue, mark: (queue.delete(mark), queue.rpush(mark, "x"))),
    "marks that are hashes": both(lambda queue, mark: (queue.delete(mark), queue.hset(mark, "x", "y"))),
    **{
        f"{key} is a {kind}": typed(key, kind)
        for key in ("rq:queue:turns", "rq:queue:bots")
        for kind in ("string", "zset")
    },
    "rq:queue:turns:intermediate is a hash": typed("rq:queue:turns:intermediate", "hash"),
    "rq:wip:turns is a string": typed("rq:wip:turns", "string"),
    "rq:workers is a string": typed("rq:workers", "string"),
    "rq:workers:turns is a zset": typed("rq:workers:turns", "zset"),
    "rq:queues is a hash": typed("rq:queues", "hash"),
    "rq:groups is a string": typed("rq:groups", "string"),
    "rq:queue:turns holds junk": filled("rq:queue:turns", "list"),
    "rq:queue:turns:intermediate holds junk": filled("rq:queue:turns:intermediate", "list"),
    "rq:wip:turns holds junk": filled("rq:wip:turns", "zset"),
    "rq:workers holds junk": filled("rq:workers", "set"),
    "rq:groups holds junk": filled("rq:groups", "set"),
    "the workers are suspended": lambda queue, *_: queue.set("rq:suspended", 1),
    "a lane far longer than any of ours": lambda queue, *_: queue.rpush("rq:queue:turns", *["x" * 20] * 10_000),
}
"""What stands in the queue, on a server that is well."""


@pytest.mark.parametrize("damage", MENDED)
def test_matches_go_on_whatever_the_queue_holds_and_hints_come_through_again(shared: World, damage: str) -> None:
    table, bots = Table(shared, damage), shared.bots()
    with Redis.from_url(shared.queue.url, protocol=2) as queue:
        try:
            MENDED[damage](queue, table.match, bots)
            table.answers()
            until(partial(finished, shared, bots), 60, "the match of bots ends")
            until(partial(takes_a_hint, queue), 60, "hints are taken again")
            until(lambda: shared.service.warnings() == (), 60, "the queue is mended")
        finally:
            queue.flushall()
    shared.verified(bots)


def takes_a_hint(queue: Redis) -> bool:
    """Whether a worker takes what is put into a lane, as its own list."""
    if queue.type("rq:queue:turns") in {b"none", b"list"}:
        queue.rpush("rq:queue:turns", "probe")
        return bool(until(lambda: queue.lpos("rq:queue:turns", "probe") is None, STANDSTILL_S, "it is taken"))
    return False


def full(queue: Redis) -> None:
    """Fill the memory with what is not ours."""
    used = queue.info("memory")["used_memory"]
    queue.config_set("maxmemory", used + 2**20)
    number = 0
    while queue.info("memory")["used_memory"] < used + 2**20 - 2**14:
        queue.set(f"not ours {number}", "x" * 2**13)
        number += 1
    queue.config_set("maxmemory", used + 2**19)


BROKEN: Final[dict[Fault, tuple[Callable[[World, Redis], object], Callable[[World, Redis], object]]]] = {
    "full": (lambda _, queue: full(queue), lambda _, queue: (queue.config_set("maxmemory", 0), queue.flushall())),
    "read-only": (
        lambda _, queue: queue.replicaof("127.0.0.1", free_port()),
        lambda _, queue: queue.replicaof("NO", "ONE"),
    ),
    "unavailable": (
        lambda world, _: os.kill(world.queue.pid, signal.SIGSTOP),
        lambda world, _: os.kill(world.queue.pid, signal.SIGCONT),
    ),
}
"""How a server is broken, and mended by an operator."""


@pytest.mark.parametrize("fault", BROKEN)
def test_matches_go_on_while_the_queue_takes_nothing_and_the_operator_is_told_why(shared: World, fault: Fault) -> None:
    spoil, mend = BROKEN[fault]
    with Redis.from_url(shared.queue.url, protocol=2) as queue:
        table = Table(shared, fault)
        spoil(shared, queue)
        try:
            bots = shared.bots()
            assert shared.service.warnings() == (SENTENCES[fault],)
            table.answers()
            until(partial(finished, shared, bots), 60, "the match of bots ends")
            assert shared.service.readiness() == ()
        finally:
            mend(shared, queue)
        until(lambda: shared.service.warnings() == (), 60, "the queue is well")
        until(partial(takes_a_hint, queue), 60, "hints are taken again")
    table.answers()


def test_a_queue_that_is_full_of_marks_without_an_expiry_is_emptied_of_them(shared: World) -> None:
    with Redis.from_url(shared.queue.url, protocol=2) as queue:
        used = queue.info("memory")["used_memory"]
        marks(queue, "aside")
        queue.config_set("maxmemory", used + 2**18)
        try:
            until(lambda: queue.dbsize() < MARKS, 60, "the marks are deleted")
            until(lambda: shared.service.warnings() == (), 60, "there is room again")
        finally:
            queue.config_set("maxmemory", 0)


def test_a_queue_whose_server_hangs_holds_no_deadline_up(shared: World) -> None:
    match = shared.people(clock=5)
    deadline = match.decisions()[0].deadline
    assert deadline is not None
    os.kill(shared.queue.pid, signal.SIGSTOP)
    try:
        event = until(lambda: next(iter(shared.events(match)[match.head.version :]), None), 60, "it is enforced")
        assert event.type == "default_action"
        assert event.at - deadline < 2_000
    finally:
        os.kill(shared.queue.pid, signal.SIGCONT)


def test_a_worker_that_is_told_to_end_waits_for_no_queue_that_hangs(world: World) -> None:
    worker = world.worker()
    until(lambda: world.service.queue_client.scard("rq:workers"), 60, "the worker waits for hints")
    os.kill(world.queue.pid, signal.SIGSTOP)
    try:
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(hints.STOP_S + 10) == 0
    finally:
        os.kill(world.queue.pid, signal.SIGCONT)
