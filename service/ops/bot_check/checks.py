"""The checks of a bot that is called. Each sends some calls and gives one verdict, in plain words."""

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from itertools import cycle, islice
from typing import Any, Final, TypeAlias

import msgspec
from msgspec.structs import replace

from service.adapters.clock import wall_clock
from service.match.task import LastAnswer, Task
from service.ops.bot_check.called import DECLINED, CalledBot, fault_of_answer, fault_of_refusal, no_answer
from service.ops.bot_check.recorded import Recorded, has_pattern
from service.ops.bot_check.signature_checks import secret_renewed, signature_missing, signature_wrong, timestamp_old
from service.ops.bot_check.verdict import Verdict, faulty, fine
from service.repository.outgoing import Answered, Failed, Sent

START_S: Final = 5.0
"""How long the bot may take to start: until then a refused connection is tried again."""
RETRY_S: Final = 0.2
AT_ONCE: Final = 16
"""The service sends at most so many calls at once to the bots of one owner."""
NEAR_MS: Final = 1_000
"""Time that is left in the check of a near deadline."""
HANG_UP_S: Final = 0.003
"""When the caller hangs up in the check of late answers."""
NO_TASKS: Final[Mapping[str, bytes]] = {
    "an empty body": b"",
    "no JSON": b"action",
    "no UTF-8": b'{"type":"task\xff"}',
    "a list": b"[]",
    "null": b"null",
    "an empty object": b"{}",
    "an object without legal actions": b'{"type":"task","task":"m-1-0","match":"m","seat":0}',
    "legal actions that are no list": b'{"type":"task","task":"m-1-0","match":"m","seat":0,"legal_actions":7}',
    "the beginning of a task": b'{"type":"task","task":',
    "a very deep list": b"[" * 10_000,
}

_Check: TypeAlias = Callable[[CalledBot, Sequence[Recorded]], Coroutine[Any, Any, Verdict]]


async def verdicts(bot: CalledBot, tasks: Mapping[str, Sequence[Recorded]]) -> AsyncIterator[Verdict]:
    """The verdict of each check, as soon as it is known. Checks that need a right answer are left out if there is none.

    tasks: the recorded decisions of each game that the bot plays.
    """
    every = [one for game in tasks.values() for one in game]
    first = await _signature_right(bot, every[0])
    yield first
    if first.outcome == "fault":
        return
    taken: list[Recorded] = []
    for game, recorded in tasks.items():
        verdict, ours = await _game(bot, game, recorded)
        yield verdict
        taken += ours
    if not taken:
        return
    yield await _patterns(bot, every)
    for check in CHECKS:
        yield await check(bot, taken)
    yield _times(bot)


async def _signature_right(bot: CalledBot, first: Recorded) -> Verdict:
    """Whether the bot answers at all, and accepts the signature. Whether it answers right is for the other checks."""
    name, until = "signature-right", asyncio.get_running_loop().time() + START_S
    while True:
        result = await bot.play(first)
        is_away = isinstance(result, Failed) and result.code == "unreachable"
        if not is_away or asyncio.get_running_loop().time() > until:
            break
        await asyncio.sleep(RETRY_S)
    if isinstance(result, Failed):
        hint = " Is the bot running, and is this its address?" if is_away else ""
        return faulty(name, f"There is no answer to a call. {no_answer(result)}{hint}")
    bot.times_ms.clear()  # the first call may have waited for a start
    if result.status in {401, 403}:
        return faulty(
            name,
            f"It refused a signed call with {result.status}. Give it the secret with which this check signs, and let it verify "
            "`webhook-id.webhook-timestamp.body` with the bytes of the body as they arrived.",
        )
    if result.status in {404, 405}:
        return faulty(
            name,
            f"It answered a call with {result.status}. Give the URL at which the bot takes calls, which are POST requests.",
        )
    return fine(name, "It accepted a signed call.")


async def _game(bot: CalledBot, game: str, recorded: Sequence[Recorded]) -> tuple[Verdict, Sequence[Recorded]]:
    """Whether the bot takes every kind of decision of a game; also returns those that it took."""
    name, taken, faults, declined = f"game:{game}", [], [], 0
    for one in recorded:
        result = await bot.play(one)
        if fault := fault_of_answer(one, result):
            faults.append(_of(one, fault))
            if isinstance(result, Failed):  # the others may hang as well
                break
        else:
            taken.append(one)
            declined += _is_declined(result)
    if faults:
        other = "" if taken else " If it does not play this game, name those that it plays with --game."
        return faulty(name, f"It took {len(taken)} of {len(recorded)} decisions. {faults[0]}{other}"), taken
    steps = ", ".join(sorted({one.decision.step for one in recorded}))
    over_api = f" It declined {declined} of them (204), to act over the API." if declined else ""
    return fine(name, f"It took {len(recorded)} decisions ({steps}).{over_api}"), taken


async def _patterns(bot: CalledBot, recorded: Sequence[Recorded]) -> Verdict:
    """Whether the bot resolves patterns. It gets only entries that have one, so that it cannot choose another."""
    name, some = "patterns", [one for one in recorded if one.has_pattern]
    if not some:
        return Verdict(name, "skipped", "No legal list of these games has a pattern.")
    for one in some:
        task = _only_patterns(bot.task(one))
        result = await bot.send(task.task, msgspec.json.encode(task))
        if fault := fault_of_answer(one, result):
            advice = "In place of a pattern, an answer has `min` to `max` of the items of its `any_of`, as a list."
            return faulty(name, f"{_of(one, fault)} {advice}")
        if _is_declined(result):
            return Verdict(name, "skipped", "It declined a task with a pattern (204), to act over the API.")
    return fine(name, f"It resolved the patterns of {len(some)} tasks.")


async def _unknown_fields(bot: CalledBot, recorded: Sequence[Recorded]) -> Verdict:
    """Later releases may add members to a task, and headers to a call."""
    one = recorded[0]
    task = bot.task(one)
    body: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(task))
    for part in (body, body["decision"], body["observation"]):
        part["x_later"] = {"any": [1, None, "ü"]}
    content = msgspec.json.encode(body)
    headers = {**bot.signed(task.task, content), "x-later": "1"}
    fault = fault_of_answer(one, await bot.post(content, headers))
    if fault:
        return faulty("unknown-fields", f"A task with members that it does not know: {fault} Ignore them.")
    return fine("unknown-fields", "It ignored members and a header that it does not know.")


async def _duplicates(bot: CalledBot, recorded: Sequence[Recorded]) -> Verdict:
    """The same call may come again, also while the first is still being answered."""
    one = recorded[-1]
    task, body = bot.body(one)
    results = [await bot.send(task, body) for _ in range(2)]
    results += await asyncio.gather(*(bot.send(task, body) for _ in range(2)))
    for result in results:
        if fault := fault_of_answer(one, result):
            return faulty("duplicates", f"The same call once more: {fault} Answer it as the first time.")
    answers = {result.body for result in results if isinstance(result, Answered)}
    differ = "" if len(answers) == 1 else " Its answers differ, which is harmless: only one is taken."
    return fine("duplicates", f"It answered the same call four times.{differ}")


async def _at_once(bot: CalledBot, recorded: Sequence[Recorded]) -> Verdict:
    """Calls of many matches at once must not get each other's answers."""
    some = list(islice(cycle(recorded), AT_ONCE))
    results = await asyncio.gather(*map(bot.play, some))
    for one, result in zip(some, results, strict=True):
        if fault := fault_of_answer(one, result):
            return faulty("at-once", f"{AT_ONCE} calls at once: {_of(one, fault)}")
    return fine("at-once", f"It answered {AT_ONCE} calls at once.")


async def _late(bot: CalledBot, recorded: Sequence[Recorded]) -> Verdict:
    """An answer that comes too late is not read any more; afterwards the bot must go on."""
    name, one = "late", recorded[0]
    task, body = bot.body(one)
    for _ in range(3):
        await bot.post(body, bot.signed(task, body), timeout_s=HANG_UP_S)
    passed = _with_deadline(bot.task(one), wall_clock() - NEAR_MS)
    content = msgspec.json.encode(passed)
    result = await bot.post(content, bot.signed(passed.task, content))
    if isinstance(result, Answered) and result.status < 500:
        later = replace(bot.task(one), last=LastAnswer(one.match.head.version, "bot-late"))
        if fault := fault_of_answer(one, await bot.send(later.task, msgspec.json.encode(later))):
            return faulty(name, f"The task after one whose answer was late: {fault}")
        return fine(name, "It went on after calls whose answers were late.")
    return faulty(
        name,
        f"A task whose deadline has passed: {fault_of_answer(one, result)} Any answer below 500 is fine: it is not used.",
    )


async def _deadline_near(bot: CalledBot, recorded: Sequence[Recorded]) -> Verdict:
    some = [one for one in recorded if one.decision.on_timeout is not None]
    if not some:
        return Verdict("deadline-near", "skipped", "In these games the rules themselves limit the time.")
    task = _with_deadline(bot.task(some[0]), wall_clock() + NEAR_MS)
    body = msgspec.json.encode(task)
    result = await bot.post(body, bot.signed(task.task, body), timeout_s=NEAR_MS / 1000)
    if fault := fault_of_answer(some[0], result):
        return faulty(
            "deadline-near",
            f"A decision whose deadline was {NEAR_MS} ms away: {fault} `decision.deadline` (milliseconds since 1970) says how "
            "long it may think; a player with little time left has less than `limit_ms`.",
        )
    return fine("deadline-near", f"It answered in {result.ms} ms when {NEAR_MS} ms were left.")


async def _malformed(bot: CalledBot, recorded: Sequence[Recorded]) -> Verdict:
    """Bodies that are no tasks, although they are signed: the bot must refuse them, and go on."""
    for what, body in NO_TASKS.items():
        if fault := fault_of_refusal(await bot.post(body, bot.signed("m-1-0", body))):
            return faulty("malformed", f"A signed call with {what}: {fault} Check that the body is a task.")
    if fault := fault_of_answer(recorded[0], await bot.play(recorded[0])):
        return faulty("malformed", f"The task after calls without one: {fault}")
    return fine("malformed", f"It refused {len(NO_TASKS)} bodies that are no tasks, and went on.")


def _times(bot: CalledBot) -> Verdict:
    """How long the answers took. A call that is not answered in time is a fault of the check that made it, too."""
    times = sorted(bot.times_ms)
    half, most, longest = (times[math.ceil(share * len(times)) - 1] for share in (0.5, 0.95, 1.0))
    text = f"{len(times)} answers: half within {half} ms, 95 % within {most} ms, the longest {longest} ms."
    if longest >= bot.limit_ms:
        late = sum(time >= bot.limit_ms for time in times)
        return faulty("times", f"{text} {late} took {bot.limit_ms} ms or more, which is the limit.")
    return fine("times", f"{text} The limit is {bot.limit_ms} ms.")


CHECKS: Final[Sequence[_Check]] = (
    _unknown_fields,
    signature_missing,
    signature_wrong,
    timestamp_old,
    secret_renewed,
    _duplicates,
    _at_once,
    _late,
    _deadline_near,
    _malformed,
)
"""The checks after the games and patterns, in their order. They get the decisions that the bot took."""


def _of(one: Recorded, fault: str) -> str:
    seats = len(one.match.seats)
    table = f"{one.match.created.game} with {seats} seat{'' if seats == 1 else 's'}"
    return f"In the step {one.decision.step} of {table}: {fault}"


def _is_declined(result: Sent) -> bool:
    return isinstance(result, Answered) and result.status == DECLINED


def _with_deadline(task: Task, deadline: int) -> Task:
    return replace(task, decision=replace(task.decision, deadline=deadline))


def _only_patterns(task: Task) -> Task:
    """A task whose legal list has only the entries with patterns, so that a bot cannot choose another one."""
    kept = [
        (action, text)
        for action, text in zip(task.legal_actions, task.action_texts, strict=True)
        if has_pattern(action)
    ]
    return replace(
        task, legal_actions=tuple(action for action, _ in kept), action_texts=tuple(text for _, text in kept)
    )
