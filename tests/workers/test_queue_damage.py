"""If the queue's content is damaged or its server fails: matches go on, the fault is reported, and our keys are repaired."""

import os
import signal
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

import pytest
from msgspec import to_builtins
from redis import Redis

from service.adapters.queue_health import FAULT_MESSAGES, Fault
from service.match.model import Match
from service.match.new_match import NewMatch
from service.match.redaction import legal_actions
from service.usecases.match_lifecycle import create, join
from service.usecases.play import ActionRequest, act
from tests.ports import free_port
from tests.waiting import until
from tests.workers.world import GAME, World, new_world
from workers import hints

ANSWER_TIMEOUT_S: Final = 20
"""Without the queue a bot's answer takes half a second, and on a busy machine some seconds."""
ANSWERS: Final = 3
SHORT_GAME: Final = "monsters_on_the_moon"
"""Its matches have fewer than half as many events, but still take several jobs."""
MARKS: Final = 5_000


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """One world with one worker process, shared by the tests of all kinds of damage."""
    with new_world(tmp_path_factory.mktemp("damage")) as world:
        world.worker()
        until(lambda: world.service.queue_client.scard("rq:workers"), 60, "the worker waits for hints")
        yield world


class Table:
    """A match of a person against a bot. Its methods act for the person."""

    def __init__(self, world: World, number: str) -> None:
        self._world = world
        ports = world.service.ports
        self.match = create(ports, "pl_a", NewMatch(game=GAME, seats=2, bots=("random",)), number).match
        join(ports, "pl_a", self.match.id, "join")

    def play(self) -> None:
        """Act until the bot has answered `ANSWERS` times."""
        for _ in range(ANSWERS):
            until(self._my_turn, ANSWER_TIMEOUT_S, "the bot plays")
            while self._my_turn():
                match = self._world.newest(self.match)
                action = ActionRequest(to_builtins(legal_actions(match, 1)[0]))
                act(self._world.service.ports, "pl_a", match.id, action, str(match.head.version))
        until(self._my_turn, ANSWER_TIMEOUT_S, "the bot plays")

    def _my_turn(self) -> bool:
        return self._world.newest(self.match).decisions()[0].seat == 1


def finished(world: World, match: Match) -> bool:
    return world.newest(match).status == "finished"


Damage = Callable[[Redis, Match, Match], object]


def marks(queue: Redis, value: str, *matches: Match) -> None:
    """Set marks without an expiry: for these matches, and many for matches that do not exist."""
    names = [*(match.id for match in matches), *(f"x{number}" for number in range(MARKS))]
    queue.mset({f"queued:{name}": value for name in names})


def wrong_type(key: str, kind: str) -> Damage:
    """Replace a key by one of a wrong type."""

    def damage(queue: Redis, *_: Match) -> None:
        queue.delete(key)
        write: dict[str, Callable[[], object]] = {
            "string": lambda: queue.set(key, "x"),
            "hash": lambda: queue.hset(key, "x", "y"),
            "zset": lambda: queue.zadd(key, {"x": 1}),
        }
        write[kind]()

    return damage


def junk_in(key: str, kind: str) -> Damage:
    """Fill a key of the right type with junk."""
    junk = [b"", b"\xff\xfe", b"x", b"x:y:z", *(f"junk {number}".encode() for number in range(100))]

    def damage(queue: Redis, *_: Match) -> None:
        write: dict[str, Callable[[], object]] = {
            "list": lambda: queue.rpush(key, *junk),
            "set": lambda: queue.sadd(key, *junk),
            "zset": lambda: queue.zadd(key, dict.fromkeys(junk, 1)),
        }
        write[kind]()

    return damage


def both_marks(damage: Callable[[Redis, str], object]) -> Damage:
    """Damage the marks of both matches."""
    return lambda queue, *matches: [damage(queue, f"queued:{match.id}") for match in matches]


REPAIRED: Final[dict[str, Damage]] = {
    "marks without an expiry": lambda queue, *matches: marks(queue, "aside", *matches),
    "marks of jobs that do not exist": lambda queue, *matches: marks(queue, "no-such-job", *matches),
    "marks that are lists": both_marks(lambda queue, mark: (queue.delete(mark), queue.rpush(mark, "x"))),
    "marks that are hashes": both_marks(lambda queue, mark: (queue.delete(mark), queue.hset(mark, "x", "y"))),
    **{
        f"{key} is a {kind}": wrong_type(key, kind)
        for key in ("rq:queue:turns", "rq:queue:bots")
        for kind in ("string", "zset")
    },
    "rq:queue:turns:intermediate is a hash": wrong_type("rq:queue:turns:intermediate", "hash"),
    "rq:wip:turns is a string": wrong_type("rq:wip:turns", "string"),
    "rq:workers is a string": wrong_type("rq:workers", "string"),
    "rq:workers:turns is a zset": wrong_type("rq:workers:turns", "zset"),
    "rq:queues is a hash": wrong_type("rq:queues", "hash"),
    "rq:groups is a string": wrong_type("rq:groups", "string"),
    "rq:queue:turns holds junk": junk_in("rq:queue:turns", "list"),
    "rq:queue:turns:intermediate holds junk": junk_in("rq:queue:turns:intermediate", "list"),
    "rq:wip:turns holds junk": junk_in("rq:wip:turns", "zset"),
    "rq:workers holds junk": junk_in("rq:workers", "set"),
    "rq:groups holds junk": junk_in("rq:groups", "set"),
    "the workers are suspended": lambda queue, *_: queue.set("rq:suspended", 1),
    "a lane that is far too long": lambda queue, *_: queue.rpush("rq:queue:turns", *["x" * 20] * 10_000),
}
"""Damage to the queue's content, on a server that works."""


@pytest.mark.parametrize("damage", REPAIRED)
def test_matches_go_on_with_a_damaged_queue_and_hints_are_taken_again(shared: World, damage: str) -> None:
    table, bots = Table(shared, damage), shared.bots(SHORT_GAME)
    with Redis.from_url(shared.queue.url, protocol=2) as queue:
        try:
            REPAIRED[damage](queue, table.match, bots)
            table.play()
            until(partial(finished, shared, bots), 60, "the match of bots ends")
            until(partial(takes_a_hint, queue), 60, "hints are taken again")
            until(lambda: shared.service.warnings() == (), 60, "the queue is repaired")
        finally:
            queue.flushall()
    shared.verified(bots)


def takes_a_hint(queue: Redis) -> bool:
    """Whether a worker takes a job that is put into its lane."""
    if queue.type("rq:queue:turns") in {b"none", b"list"}:
        queue.rpush("rq:queue:turns", "probe")
        return bool(until(lambda: queue.lpos("rq:queue:turns", "probe") is None, ANSWER_TIMEOUT_S, "it is taken"))
    return False


def full(queue: Redis) -> None:
    """Fill the memory with keys of another program."""
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
"""How to break a server, and how an operator repairs it."""


@pytest.mark.parametrize("fault", BROKEN)
def test_matches_go_on_while_the_queue_fails_and_the_fault_is_reported(shared: World, fault: Fault) -> None:
    damage, repair = BROKEN[fault]
    with Redis.from_url(shared.queue.url, protocol=2) as queue:
        table = Table(shared, fault)
        damage(shared, queue)
        try:
            bots = shared.bots(SHORT_GAME)
            assert shared.service.warnings() == (FAULT_MESSAGES[fault],)
            table.play()
            until(partial(finished, shared, bots), 60, "the match of bots ends")
            assert shared.service.readiness() == ()
        finally:
            repair(shared, queue)
        until(lambda: shared.service.warnings() == (), 60, "the queue works")
        until(partial(takes_a_hint, queue), 60, "hints are taken again")
    table.play()


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


def test_a_hanging_queue_does_not_delay_deadlines(shared: World) -> None:
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


def test_a_worker_that_is_stopped_does_not_wait_for_a_hanging_queue(world: World) -> None:
    worker = world.worker()
    until(lambda: world.service.queue_client.scard("rq:workers"), 60, "the worker waits for hints")
    os.kill(world.queue.pid, signal.SIGSTOP)
    try:
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(hints.STOP_TIMEOUT_S + 10) == 0
    finally:
        os.kill(world.queue.pid, signal.SIGCONT)
