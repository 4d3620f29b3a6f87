"""The task of a hosted bot: one decision, with all that its seat may know of the match.

A task depends only on the match, its version and the seat. A bot that pulls its tasks and one that is called get the same.
"""

from collections.abc import Iterator
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from events.record import MatchId, Version
from service.games.visibility import Seat
from service.match.model import LastMove, Match, OpenDecision
from service.match.redaction import SeenDecision, legal_actions, own_decisions
from service.match.texts import action_texts, decisions_with_text


class LastAnswer(msgspec.Struct, frozen=True):
    """What became of the seat's decision before: the version of the event in which it acted.

    `outcome` is `accepted` for its own action. Otherwise the service acted: `bot-late` or `bot-failed` say that the bot gave no
    usable answer, and `clock` and `player-left` what they say in events.
    """

    version: Version
    outcome: Literal["accepted", "clock", "bot-failed", "player-left", "bot-late"]


class Task(msgspec.Struct, frozen=True):
    """A decision of a seat, at a version of its match.

    `task` is the id. It stays the same while the decision is open, except in a timed game, where each event gives a new task.
    `decision` has the deadline in server time, null if it has none, or a hidden one. Answer with one of the `legal_actions`;
    an entry with a pattern stands for many. `last` is null before the seat's first decision, and for the seat of a person.
    `banks` is as in a match.
    """

    type: Literal["task"]
    task: str
    match: MatchId
    game: str
    ruleset: int
    seat: Seat
    seats: int
    version: Version
    head: str
    paused: int
    decision: SeenDecision
    banks: tuple[int, ...]
    observation: Any
    legal_actions: tuple[Any, ...]
    action_texts: tuple[str, ...]
    last: LastAnswer | None


def task_id(match: Match, decision: SeenDecision | OpenDecision) -> str:
    """The id of the task of a decision: the match, the version that opened the decision, and the seat.

    Where a bell ends a decision, its seat may act many times or not at all, as others act. There the id has the newest version.
    """
    opened = decision.id.partition(":")[2] if decision.on_timeout is not None else match.head.version
    return f"{match.id}-{opened}-{decision.seat}"


def task(match: Match, seat: Seat, language: str) -> Task | None:
    """The task of a seat at the head of its match; None if it has no open decision, or if nobody plays the seat any more."""
    holder = match.seats[seat]
    if holder is None or holder.kind == "bot" or holder.resigned:
        return None
    decisions = own_decisions(match, seat)
    if not decisions:
        return None
    (decision, *_) = decisions_with_text(match.game, language, decisions)
    legal, last = legal_actions(match, seat), match.last_moves.get(seat)
    return Task(
        type="task",
        task=task_id(match, decision),
        match=match.id,
        game=match.created.game,
        ruleset=match.created.ruleset,
        seat=seat,
        seats=len(match.seats),
        version=match.head.version,
        head=match.head.hash,
        paused=match.paused,
        decision=decision,
        banks=match.banks,
        observation=match.observation(seat),
        legal_actions=legal,
        action_texts=action_texts(match.game, language, legal),
        last=None if last is None else _answer(last),
    )


def as_of(match: Match, decision: OpenDecision, now: int) -> Match:
    """The match in server time such that an open decision is to be taken at `now` (server milliseconds).

    It is for matches that are played in simulated time: their deadlines then say how much real time is left.
    """
    due = max(match.at, decision.opens_at) if decision.called_at is None else decision.called_at
    return replace(match, paused=match.paused + now - due)


def _answer(last: LastMove) -> LastAnswer:
    return LastAnswer(last.version, last.reason or "accepted")


def decisions_to_call(match: Match, at: int) -> Iterator[OpenDecision]:
    """The decisions for which hosted bots are to be called by a server time in milliseconds."""
    return (
        one for one in match.decisions() if one.called_at is not None and one.called_at <= at and not one.is_past(at)
    )
