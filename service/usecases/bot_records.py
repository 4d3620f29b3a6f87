"""What is noted of the tasks of hosted bots that are not called, or whose time is over; calls note the rest themselves."""

from collections.abc import Iterable

from msgspec.structs import replace

from service.match.model import Match, OpenDecision
from service.match.task import Task, task_id
from service.repository.bot_tasks import TaskRecord
from service.repository.bots import is_hosted
from service.repository.ports import Ports


def note_pulled(ports: Ports, player: str, tasks: Iterable[Task]) -> None:
    """Note the tasks that a hosted bot has just pulled. Nothing is noted of people."""
    if is_hosted(player):
        now = ports.now()
        records = [TaskRecord(one.task, one.match, one.seat, one.version, "pulled", now) for one in tasks]
        ports.bot_tasks.note(player, *records)


def note_action(ports: Ports, player: str, task: str) -> None:
    """Note that the action with which a hosted bot has answered a task is in the match."""
    record = ports.bot_tasks.find(player, task) if is_hosted(player) else None
    if record is not None:
        now = ports.now()
        ms = max(0, now - record.asked_at)
        ports.bot_tasks.end(player, replace(record, outcome="accepted", ended_at=now, ms=ms))


def note_late(ports: Ports, match: Match, decision: OpenDecision) -> None:
    """Note that the time of a hosted bot for a decision is over; `match` is the match before what followed."""
    holder = match.seats[decision.seat]
    if holder is None:
        raise ValueError(f"seat {decision.seat} is empty")
    task = task_id(match, decision)
    record = ports.bot_tasks.find(holder.player, task) or TaskRecord(
        task, match.id, decision.seat, match.head.version, "pulled", decision.opens_at
    )
    ports.bot_tasks.end(holder.player, replace(record, outcome="late", ended_at=ports.now()))
