"""Any sequence of calls gets the same answers from the log in Redis as from the log in memory."""

from typing import ClassVar

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from redis import Redis

from events.log import Append, Log
from events.memory_log import MemoryLog
from events.record import Head
from events.redis_log import RedisLog, connect
from tests.events.log_contract import KINDS, build, chained
from tests.length import LENGTH, LONG

MATCHES = st.sampled_from([f"m{n}" for n in range(4)])
TIMES = st.integers(0, 50)
KIND = st.sampled_from(KINDS)
DUES = st.dictionaries(KIND, TIMES)


# Without shrinking, which takes minutes on a real server. The seed that a failure prints repeats the same sequence.
PHASES = (Phase.explicit, Phase.generate)


class Logs(RuleBasedStateMachine):
    client: ClassVar[Redis]
    appends = Bundle("appends")

    def __init__(self) -> None:
        super().__init__()
        self.client.flushall()
        self.model: Log = MemoryLog()
        self.log: Log = RedisLog(self.client)

    def head(self, match: str) -> Head:
        return chained(match, self.model.read(match))

    def both(self, append: Append) -> None:
        assert self.log.append(append) == self.model.append(append)

    @rule(
        target=appends,
        match=MATCHES,
        events=st.integers(1, 3),
        due=DUES,
        command=st.integers(0, 99),
        snapshot=st.booleans(),
    )
    def append(self, match: str, events: int, due: dict[str, int], command: int, *, snapshot: bool) -> Append:
        head = self.head(match)
        saved = f"appended at {head.version + events}".encode() if snapshot else None
        append, _ = build(match, head, f"c{command}", events=events, due=due, snapshot=saved)
        self.both(append)
        return append

    @rule(append=appends)
    def repeat(self, append: Append) -> None:
        self.both(append)

    @rule(append=appends, due=DUES)
    def reuse_a_command_id(self, append: Append, due: dict[str, int]) -> None:
        self.both(build(append.match, self.head(append.match), append.command, digest="other", due=due)[0])

    @rule(append=appends, command=st.integers(100, 199), due=DUES)
    def append_after_an_old_head(self, append: Append, command: int, due: dict[str, int]) -> None:
        self.both(build(append.match, append.expected, f"c{command}", due=due)[0])

    @rule(match=MATCHES, version=st.integers(0, 9), hash_=st.sampled_from(["", "f" * 64]))
    def append_after_a_head_that_never_existed(self, match: str, version: int, hash_: str) -> None:
        if version:
            self.both(build(match, Head(version, hash_), "never")[0])

    @rule(now=TIMES, lease=st.integers(0, 20), limit=st.integers(1, 5), kind=KIND)
    def claim(self, now: int, lease: int, limit: int, kind: str) -> None:
        assert self.log.claim(kind, now, lease, limit) == self.model.claim(kind, now, lease, limit)

    @rule(match=MATCHES, version=st.integers(0, 9), due=DUES)
    def rearm(self, match: str, version: int, due: dict[str, int]) -> None:
        assert self.log.rearm(match, version, due) == self.model.rearm(match, version, due)

    @rule(match=MATCHES, due=DUES)
    def rearm_the_newest(self, match: str, due: dict[str, int]) -> None:
        self.rearm(match, self.head(match).version, due)

    @rule(match=MATCHES, after=st.integers(0, 9), steps=st.sets(st.integers(1, 4), min_size=1))
    def save_snapshots(self, match: str, after: int, steps: set[int]) -> None:
        snapshots = {after + step: f"after {after} at {after + step}".encode() for step in steps}
        self.log.save_snapshots(match, after, snapshots)
        self.model.save_snapshots(match, after, snapshots)

    @rule(firsts=st.dictionaries(MATCHES, st.none() | st.integers(0, 9)))
    def read_each(self, firsts: dict[str, int | None]) -> None:
        assert self.log.read_each(firsts) == self.model.read_each(firsts)

    @rule(append=appends, first=st.none() | st.integers(0, 9), last=st.none() | st.integers(0, 9))
    def read(self, append: Append, first: int | None, last: int | None) -> None:
        assert self.log.read(append.match, first=first, last=last, command=append.command) == self.model.read(
            append.match, first=first, last=last, command=append.command
        )
        assert self.log.seed(append.match) == self.model.seed(append.match)

    @invariant()
    def the_same_is_due(self) -> None:
        assert self.log.next_due(KINDS) == self.model.next_due(KINDS)
        assert self.log.scheduled("clock") == self.model.scheduled("clock")
        assert self.log.overdue("clock", 25, 2) == self.model.overdue("clock", 25, 2)
        for kind in KINDS:
            assert self.log.next_due([kind]) == self.model.next_due([kind])
            assert self.log.count_due(kind, 25) == self.model.count_due(kind, 25)

    def teardown(self) -> None:
        for n in range(4):
            assert self.log.read(f"m{n}") == self.model.read(f"m{n}")
            assert chained(f"m{n}", self.log.read(f"m{n}")) == self.head(f"m{n}")


@pytest.mark.long
def test_redis_answers_as_memory_does(valkey_log_url: str) -> None:
    with connect(valkey_log_url) as client:
        Logs.client = client
        run_state_machine_as_test(
            Logs, settings=settings(max_examples=20 * LENGTH if LONG else 8, stateful_step_count=25, phases=PHASES)
        )
