"""The port for what is remembered of the tasks of hosted bots: for their owners, and so that a bot is called once at a time.

Nothing of a match depends on it. It may be lost, and no backup has it.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, Protocol, TypeAlias

import msgspec

from events.record import MatchId, Version
from service.games.visibility import Seat

KEPT_TASKS: Final = 500
"""How many tasks of each bot are remembered, the newest."""
KEPT_DAYS: Final = 30
"""For how many days the numbers of each day are remembered."""

Begun: TypeAlias = Literal["begun", "busy", "ended"]
Way: TypeAlias = Literal["pulled", "called"]
Outcome: TypeAlias = Literal["accepted", "declined", "late", "failed"]
"""How a task ended: the bot's action is in the match; it answered a call without an action, and will act itself; its deadline
passed; or it failed otherwise, so that the service did at once what the match says."""
OUTCOMES: Final[tuple[Outcome, ...]] = ("accepted", "declined", "late", "failed")

BUCKETS_MS: Final = (
    5,
    10,
    20,
    30,
    50,
    75,
    100,
    150,
    200,
    300,
    500,
    750,
    1_000,
    1_500,
    2_000,
    3_000,
    5_000,
    7_500,
    10_000,
)
"""Upper ends of the ranges in which times of answers are counted, in milliseconds; there is one more range above the last."""


class TaskRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """A task that a bot got. Times are in server milliseconds.

    `ms`: from when it was asked to its answer. `fault` is a short code that says why it failed; `status` is the HTTP status of the
    answer to a call. `one_at_a_time`: in a timed game, where a new task does not show that the one before has ended.
    """

    task: str
    match: MatchId
    seat: Seat
    version: Version
    way: Way
    asked_at: int
    attempts: int = 1
    outcome: Outcome | None = None
    ended_at: int | None = None
    ms: int | None = None
    status: int | None = None
    fault: str | None = None
    one_at_a_time: bool = False

    @property
    def turn(self) -> str:
        """Only one call with the same turn lasts at a time: one of a task, or of a match if tasks overlap in time."""
        return self.match if self.one_at_a_time else self.task


class Day(msgspec.Struct, frozen=True):
    """How the tasks of a bot ended on one day (UTC): `outcomes` by name, `ms` by the number of the range in `BUCKETS_MS`.

    `day` is the number of days since 1970.
    """

    day: int
    outcomes: Mapping[str, int]
    ms: Mapping[int, int]


def bucket_of(ms: int) -> int:
    """The number of the range in which a time of an answer is counted."""
    return next((number for number, end in enumerate(BUCKETS_MS) if ms <= end), len(BUCKETS_MS))


class BotTasks(Protocol):
    """Each method is atomic."""

    def begin(self, bot: str, record: TaskRecord, until: int) -> Begun:
        """Note that a bot is called for a task; the call may last until `until` (server milliseconds).

        Nothing is noted if the task `ended` before or the bot was deleted, or if a call with the same `turn` lasts: the bot is `busy`.
        A task that ended late begins again: it is asked for only if its decision got more time, after an outage or a suspension.
        """
        ...

    def extend(self, bot: str, record: TaskRecord, until: int) -> None:
        """Let a call that lasts continue until a later time, or end at an earlier one. Nothing changes if it has ended."""
        ...

    def note(self, bot: str, *records: TaskRecord) -> None:
        """Note that a bot has pulled these tasks, except those that are known."""
        ...

    def end(self, bot: str, record: TaskRecord) -> bool:
        """Note how a task ended, and that no call lasts. Returns whether it had not ended before; only then it counts.

        A task that was declined may still end in another way.
        """
        ...

    def find(self, bot: str, task: str) -> TaskRecord | None: ...

    def newest(self, bot: str, skip: int, limit: int) -> Sequence[TaskRecord]:
        """The tasks of a bot, newest first, after the first `skip`."""
        ...

    def days(self, bots: Sequence[str]) -> Mapping[str, Sequence[Day]]:
        """The numbers of each bot, newest day first."""
        ...

    def forget(self, bot: str) -> None:
        """Remove all that is remembered of a bot that was deleted. Nothing of it is remembered, and no call begins, from then on."""
        ...
