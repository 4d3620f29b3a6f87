"""The handler of calls of hosted bots in the process `calls`: it sends the tasks of a match that are due, all at once."""

import asyncio
from functools import lru_cache
from typing import Final, Literal, TypeAlias
from urllib.parse import urlsplit

from service.automation import bot_calls
from service.automation.bot_calls import FULL_PAUSE_MS, LEASE_MS, Call, KnownBots, Plan, Settled
from service.repository.bot_answers import LONGEST_CALL_MS, MAX_ANSWER_BYTES, MAX_SENDS, may_pass
from service.repository.bots import Bot
from service.repository.outgoing import Full, Result
from workers.lane import Claimed, Kind, Lane, WrongClock

KEEP_S: Final = 1.0
"""Pause between two renewals of the calls that have no answer yet."""
FIRST_KEEP_S: Final = 0.2
"""The first renewal comes before another process finds the entry, whose hint has then come too late."""
End: TypeAlias = Settled | Literal["full"]
_BOTS: Final = KnownBots()
KEPT_HOSTS: Final = 1_024
"""For how many URLs the host is kept, since each call of a bot needs it twice."""


@lru_cache(KEPT_HOSTS)
def _host(url: str) -> str:
    return urlsplit(url).hostname or ""


async def call_bots(lane: Lane, due: Claimed) -> None:
    """Call the bots of a match for the decisions that are due."""

    def has_room(bot: Bot) -> bool:
        return lane.calls.slots.are_free(_host(bot.url or ""), bot.owner)

    planned = await lane.run_on_time(bot_calls.plan, lane.ports, due.id, _BOTS, has_room)
    again_at = planned.again_at
    if planned.calls:
        calls = [asyncio.create_task(_call(lane, call)) for call in planned.calls]
        try:
            await _keep(lane, due.id, planned, calls)
            ends = [call.result() for call in calls]
        except WrongClock:
            await lane.run(
                bot_calls.rearm, lane.ports, due.id, planned.version, 0
            )  # at once, by whoever knows the time
            raise
        finally:
            await _end(calls)
        if "acted" in ends:
            return  # the append has set when the match is looked at again
        if "full" in ends or "again" in ends:
            pause = 0 if "again" in ends else FULL_PAUSE_MS
            again_at = min(again_at or 2**53, lane.ports.now() + pause)
    await lane.run_on_time(bot_calls.rearm, lane.ports, due.id, planned.version, again_at)


async def _keep(lane: Lane, match_id: str, planned: Plan, calls: list[asyncio.Task[End]]) -> None:
    """Wait for all calls of a match, and renew those that last meanwhile."""
    # Another bot of the match may be due soon, so that the entry must say so at once.
    pause = FIRST_KEEP_S if planned.again_at is None else 0.0
    while waiting := (await asyncio.wait(calls, timeout=pause))[1]:
        lasting = [call for call, task in zip(planned.calls, calls, strict=True) if task in waiting]
        await lane.run_on_time(bot_calls.keep, lane.ports, match_id, planned, lasting)
        pause = KEEP_S


async def _end(calls: list[asyncio.Task[End]]) -> None:
    """Cancel the calls that last. asyncio would log the exceptions of calls that nobody asks for; their text may name a hidden card."""
    lasting = [call for call in calls if not call.done()]
    for call in lasting:
        call.cancel()
    if lasting:
        await asyncio.wait(lasting)
    for call in calls:
        if not call.cancelled():
            call.exception()


async def _call(lane: Lane, call: Call) -> End:
    """Send a call, a second time if the first failed in a way that may pass, and settle it. `full`: no slot was free."""
    with lane.calls.slots.taken(_host(call.url), call.bot.owner) as is_free:
        result = await _sent(lane, call, MAX_SENDS) if is_free else Full()
        if isinstance(result, Full):
            await lane.run(bot_calls.give_up, lane.ports, call)
            return "full"
        sends = result.sends
        is_failed = may_pass(result) and sends < MAX_SENDS
        if is_failed and await lane.run(bot_calls.is_worth_another_try, lane.ports, call):
            again = await _sent(lane, call, MAX_SENDS - sends)
            if not isinstance(again, Full):
                result, sends = again, sends + again.sends
    return await lane.run_on_time(bot_calls.settle, lane.ports, call, result, sends, _BOTS)


async def _sent(lane: Lane, call: Call, max_sends: int) -> Result:
    left_s = max(0, call.until - lane.ports.now()) / 1000
    signed = bot_calls.headers(lane.ports, call)
    return await lane.calls.client.post(
        call.url, call.body, signed, timeout_s=left_s, max_bytes=MAX_ANSWER_BYTES, max_sends=max_sends
    )


CALL_KIND: Final = Kind(call_bots, LEASE_MS, limit=256, timeout_ms=LONGEST_CALL_MS + 5_000)
"""The lease is short, so that a bot whose process is killed is called again while it has time."""
