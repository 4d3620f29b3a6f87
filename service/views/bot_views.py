"""What is shown of hosted bots: to everyone those that are public, and to an owner each task and the numbers of each day."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from events.record import MatchId, Version, decode
from service.games.visibility import Seat
from service.repository.bot_tasks import BUCKETS_MS, Day, Outcome, TaskRecord, Way
from service.repository.bots import Seating
from service.repository.ports import Ports

_LOOK_AHEAD: Final = 64
"""How many events after a task are searched for that of its seat."""
_ENDS: Final = frozenset({"action", "default_action", "seat_handed_over", "resigned"})


class Answers(msgspec.Struct, frozen=True):
    """How a bot has answered. `reliability` is the percentage of tasks that it answered in time, rounded down; null without tasks.

    `p50_ms` and the others: half, 90 % and 99 % of its answers took at most so long; null without answers, or if it is more than
    ten seconds.
    """

    tasks: int
    accepted: int
    declined: int
    late: int
    failed: int
    reliability: int | None
    p50_ms: int | None
    p90_ms: int | None
    p99_ms: int | None


class PublicBot(msgspec.Struct, frozen=True):
    """A hosted bot as everyone sees it. `answers` are those of the last 30 days."""

    id: str
    name: str
    owner: str
    owner_name: str | None
    games: tuple[str, ...]
    about: str
    seating: Seating
    answers: Answers


class BotDay(Answers, frozen=True, kw_only=True):
    """How a bot has answered on one day. `at` is its beginning (UTC), in milliseconds since 1970."""

    at: int


class Played(msgspec.Struct, frozen=True):
    """The event of the seat that came after a task: the bot's own action, or what the service did for it."""

    version: Version
    type: str
    reason: str | None


class TaskView(msgspec.Struct, frozen=True):
    """A task that a bot got, and how it ended. Times are in server milliseconds.

    `outcome` is null while the task is open. `ms` is the time from when it was asked to an answer that was accepted or declined, else
    null. `status` is the HTTP status of the answer to a call, and `fault` a code that says what was wrong with it: `status`,
    `malformed`, the code of the problem with its action (such as `illegal-action`), or why there was no answer (as `failure` of a
    delivery). `played` is null if nothing followed yet.
    """

    task: str
    match: MatchId
    version: Version
    seat: Seat
    way: Way
    asked_at: int
    ended_at: int | None
    outcome: Outcome | None
    ms: int | None
    attempts: int
    status: int | None
    fault: str | None
    played: Played | None


class _OfSeat(msgspec.Struct, frozen=True):
    seat: Seat
    reason: str | None = None


_of_seat: Final = msgspec.json.Decoder(_OfSeat).decode


def public_bots(ports: Ports, after: str, limit: int) -> tuple[tuple[PublicBot, ...], str | None]:
    """Public bots in the order of their ids, and the id after which the next page begins; None at the end."""
    ids = ports.bots.public(after, limit)
    bots, days = ports.bots.find(ids), ports.bot_tasks.days(ids)
    accounts = ports.accounts.players([*ids, *sorted({bot.owner for bot in bots.values()})])
    found = []
    for bot in (bots[one] for one in ids if one in accounts and one in bots and bots[one].public):
        owner = accounts.get(bot.owner)
        found.append(
            PublicBot(
                id=bot.id,
                name=accounts[bot.id].name,
                owner=bot.owner,
                owner_name=None if owner is None else owner.name,
                games=bot.games,
                about=bot.about,
                seating=bot.seating,
                answers=answers_of(days[bot.id]),
            )
        )
    return tuple(found), ids[-1] if len(ids) == limit else None


def days_of(ports: Ports, bot: str, day_ms: int) -> tuple[BotDay, ...]:
    """How a bot has answered on each day, the newest first."""
    days = ports.bot_tasks.days((bot,))[bot]
    return tuple(BotDay(at=day.day * day_ms, **msgspec.structs.asdict(answers_of((day,)))) for day in days)


def answers_of(days: Sequence[Day]) -> Answers:
    outcomes = {
        name: sum(day.outcomes.get(name, 0) for day in days) for name in ("accepted", "declined", "late", "failed")
    }
    times = _total(day.ms for day in days)
    tasks = sum(outcomes.values())
    in_time = outcomes["accepted"] + outcomes["declined"]
    p50, p90, p99 = (_quantile(times, percent) for percent in (50, 90, 99))
    return Answers(
        tasks, **outcomes, reliability=in_time * 100 // tasks if tasks else None, p50_ms=p50, p90_ms=p90, p99_ms=p99
    )


def _total(counts: Iterable[Mapping[int, int]]) -> Mapping[int, int]:
    total: dict[int, int] = {}
    for count in counts:
        for bucket, number in count.items():
            total[bucket] = total.get(bucket, 0) + number
    return total


def _quantile(times: Mapping[int, int], percent: int) -> int | None:
    """The upper end of the range in which this percentage of the times is reached."""
    needed = -(-sum(times.values()) * percent // 100)
    for bucket in sorted(times):
        needed -= times[bucket]
        if needed <= 0:
            return BUCKETS_MS[bucket] if bucket < len(BUCKETS_MS) else None
    return None


def tasks_of(ports: Ports, bot: str, skip: int, limit: int) -> tuple[TaskView, ...]:
    """The tasks of a bot, newest first, after the first `skip`."""
    return tuple(_see(ports, record) for record in ports.bot_tasks.newest(bot, skip, limit))


def _see(ports: Ports, record: TaskRecord) -> TaskView:
    return TaskView(
        task=record.task,
        match=record.match,
        version=record.version,
        seat=record.seat,
        way=record.way,
        asked_at=record.asked_at,
        ended_at=record.ended_at,
        outcome=record.outcome,
        ms=record.ms,
        attempts=record.attempts,
        status=record.status,
        fault=record.fault,
        played=_played(ports, record),
    )


def _played(ports: Ports, record: TaskRecord) -> Played | None:
    """The next event of the seat after a task."""
    first = record.version + 1
    for stored in ports.log.read(record.match, first=first, last=first + _LOOK_AHEAD).events:
        event = decode(stored)
        if event.type in _ENDS:
            data = _of_seat(event.data)
            if data.seat == record.seat:
                return Played(event.version, event.type, data.reason)
    return None
