"""Calls of hosted bots: which are due, what is sent, and what follows from an answer. `workers.bot_calls` sends them.

Everything may be done twice: a task keeps its id, and its id is the key of the bot's command.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from events.record import MatchId, Version
from service.automation.deadlines import fail
from service.errors import Refused
from service.match.model import GRACE_MS, Match, OpenDecision
from service.match.task import decisions_to_call, task, task_id
from service.observability import failpoints, metrics
from service.repository.bot_answers import LANGUAGE, LONGEST_CALL_MS, action_of
from service.repository.bot_tasks import Outcome, TaskRecord
from service.repository.bots import Bot
from service.repository.outgoing import Answered, Sent
from service.repository.ports import Ports
from service.usecases import play
from service.usecases.play import ActionRequest

LEASE_MS: Final = 2_000
"""A call that a process began and did not continue for this long may be begun again: the process has died."""
FULL_PAUSE_MS: Final = 1_000
"""Pause before a bot is called for which there was no room."""
KNOWN_S: Final = 5.0
MAX_KNOWN: Final = 4_096
_MOVED_ON: Final = frozenset(
    {"decision-closed", "not-your-turn", "too-late", "match-over", "match-suspended", "match-not-running", "not-seated"}
)
"""Codes of refusals which say that the match did not wait for this answer. Every other one is a fault of the answer."""


class Call(msgspec.Struct, frozen=True):
    """A call to send. `until`: when its answer must be complete, in server milliseconds; `is_deadline`: it is that of the decision."""

    bot: Bot
    url: str
    match: Match
    decision: str
    record: TaskRecord
    body: bytes
    until: int
    is_deadline: bool


class Plan(msgspec.Struct, frozen=True):
    """The calls that a match needs now, and when it has to be looked at again (server milliseconds); None if not before an append."""

    version: Version
    calls: tuple[Call, ...]
    again_at: int | None


Settled: TypeAlias = Literal["acted", "again", "other"]
"""Whether the bot's action was appended. `again`: the bot has another address or secret by now, and is to be called again."""


class KnownBots:
    """Bots as this process has read them last, at most `KNOWN_S` ago."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, tuple[float, Bot]] = OrderedDict()

    def find(self, ports: Ports, ids: Sequence[str]) -> Mapping[str, Bot]:
        now = time.monotonic()
        stored = ((one, self._known.get(one)) for one in ids)  # another thread may forget one meanwhile
        known = {one: entry[1] for one, entry in stored if entry is not None and entry[0] > now}
        for bot in ports.bots.find([one for one in ids if one not in known]).values():
            known[bot.id] = bot
            self._known[bot.id] = now + KNOWN_S, bot
            while len(self._known) > MAX_KNOWN:
                self._known.popitem(last=False)
        return known

    def is_changed(self, ports: Ports, bot: Bot) -> bool:
        """Whether a bot has another address or secret than `bot`, as it was read before."""
        newest = ports.bots.find((bot.id,)).get(bot.id)
        if newest is None:
            return False
        self._known[bot.id] = time.monotonic() + KNOWN_S, newest
        return (newest.url, newest.key) != (bot.url, bot.key)


def plan(ports: Ports, match_id: MatchId, known: KnownBots, has_room: Callable[[Bot], bool]) -> Plan:
    """Begin the calls that are due in a match, if there is room for them. The caller has to send them, and to settle each."""
    match, _ = ports.history.newest(match_id)
    now = ports.now()
    due = [
        (one, holder.player) for one in decisions_to_call(match, now) if (holder := match.seats[one.seat]) is not None
    ]
    bots = known.find(ports, [player for _, player in due])
    calls: list[Call] = []
    again: list[int | None] = [match.call_at(after=now)]
    for decision, player in due:
        bot = bots.get(player)
        if bot is None or bot.url is None:
            continue
        if not has_room(bot):
            again.append(now + FULL_PAUSE_MS)
            continue
        task_of = task_id(match, decision)
        record = TaskRecord(task_of, match.id, decision.seat, match.head.version, "called", now)
        if decision.on_timeout is None:
            record = replace(record, one_at_a_time=True)
        begun = ports.bot_tasks.begin(bot.id, record, now + LEASE_MS)
        if begun == "begun":
            calls.append(_call(match, decision, bot, bot.url, record))
        elif begun == "busy":
            again.append(now + LEASE_MS)
    failpoints.point("calls-begun")
    return Plan(match.head.version, tuple(calls), min((at for at in again if at is not None), default=None))


def _call(match: Match, decision: OpenDecision, bot: Bot, url: str, record: TaskRecord) -> Call:
    longest = record.asked_at + LONGEST_CALL_MS
    deadline = longest + 1 if decision.deadline is None else decision.deadline
    body = msgspec.json.encode(task(match, decision.seat, LANGUAGE))
    return Call(bot, url, match, decision.id, record, body, min(longest, deadline), deadline <= longest)


def headers(ports: Ports, call: Call) -> Mapping[str, str]:
    """The headers of a call, which sign its body. The id stays the same if the call is sent again."""
    return call.bot.key.headers(ports.secret, call.record.task, ports.now(), call.body)


def keep(ports: Ports, match_id: MatchId, planned: Plan, lasting: Sequence[Call]) -> None:
    """Let the calls of a match that have no answer yet continue."""
    until = ports.now() + LEASE_MS
    for call in lasting:
        ports.bot_tasks.extend(call.bot.id, call.record, until)
    rearm(ports, match_id, planned.version, until if planned.again_at is None else min(until, planned.again_at))


def give_up(ports: Ports, call: Call) -> None:
    """Leave a call that could not be sent now to whoever plans next."""
    ports.bot_tasks.extend(call.bot.id, call.record, 0)


def is_worth_another_try(ports: Ports, call: Call) -> bool:
    """Whether a call that failed in a way that may pass is sent once more: there is time, and its bot was not deleted."""
    has_time = ports.now() + GRACE_MS < call.until
    # Nothing is remembered of a bot that was deleted meanwhile, and it is not called again.
    return has_time and ports.bot_tasks.find(call.bot.id, call.record.task) is not None


def settle(ports: Ports, call: Call, result: Sent, sends: int, known: KnownBots) -> Settled:
    """Do what follows from the answer to a call that was sent `sends` times, and remember how it ended.

    A call that failed because its owner has just moved the bot, or given it another secret, has not ended.
    """
    failpoints.point("call-answered")
    record = replace(call.record, attempts=sends)
    if isinstance(result, Answered):
        record = replace(record, status=result.status)
    outcome, fault = _applied(ports, call, result)
    failpoints.point("answer-applied")
    if outcome == "failed" and known.is_changed(ports, call.bot):
        give_up(ports, call)
        return "again"
    if outcome == "failed":
        fail(ports, call.match.id, call.decision)
        failpoints.point("fallback-applied")
    now = ports.now()
    has_answer = outcome in {"accepted", "declined"}
    ended = replace(
        record, outcome=outcome, fault=fault, ended_at=now, ms=max(0, now - record.asked_at) if has_answer else None
    )
    ports.bot_tasks.end(call.bot.id, ended)
    metrics.BOT_CALLS.labels(outcome).inc()
    return "acted" if outcome == "accepted" else "other"


def _applied(ports: Ports, call: Call, result: Sent) -> tuple[Outcome, str | None]:
    """Take the action of an answer. Returns how the task ended, and a code of what was wrong."""
    if not isinstance(result, Answered):
        return ("late" if result.code == "timeout" and call.is_deadline else "failed"), result.code
    if result.status == 204:
        return "declined", None
    if result.status != 200:
        return "failed", "status"
    action = action_of(result.body)
    if action is None:
        return "failed", "malformed"
    request = ActionRequest(action, call.record.seat, call.decision)
    try:
        play.act(ports, call.bot.id, call.match.id, request, call.record.task, read=call.match)
    except Refused as refusal:
        if refusal.code == "version-conflict":
            raise
        if refusal.code == "idempotency-key-reused":  # an answer to the same call was taken before, with another action
            return "accepted", None
        return ("late" if refusal.code in _MOVED_ON else "failed"), refusal.code
    return "accepted", None


def rearm(ports: Ports, match_id: MatchId, version: Version, again_at: int | None) -> None:
    """Set when a match is looked at again, unless an append has set that."""
    ports.log.rearm(match_id, version, {"call": again_at})
