"""The handler of calls of hosted bots in the process `calls`: it sends the tasks of a match that are due, all at once."""

import asyncio
from typing import Final, Literal, TypeAlias
from urllib.parse import urlsplit

from service.automation import bot_calls
from service.automation.bot_calls import FULL_PAUSE_MS, Call, KnownBots, Plan
from service.repository.bot_answers import ATTEMPTS, LONGEST_CALL_MS, MAX_ANSWER_BYTES
from service.repository.bots import Bot
from workers.lane import Claimed, Kind, Lane, Slots

KEEP_S: Final = 1.0
"""Pause between two renewals of the calls that have no answer yet."""
FIRST_KEEP_S: Final = 0.2
"""The first renewal comes before another process finds the entry, whose hint has then come too late."""
End: TypeAlias = Literal["acted", "full", "other"]
_BOTS: Final = KnownBots()
_SLOTS: Final = Slots()
"""Of calls alone: deliveries that hang take no slot from bots."""


def _has_room(bot: Bot) -> bool:
    return _SLOTS.are_free(_host(bot.url or ""), bot.owner)


def _host(url: str) -> str:
    return urlsplit(url).hostname or ""


async def call_bots(lane: Lane, due: Claimed) -> None:
    """Call the bots of a match for the decisions that are due."""
    planned = await lane.run(bot_calls.plan, lane.ports, due.id, _BOTS, _has_room)
    again_at = planned.again_at
    if planned.calls:
        calls = [asyncio.create_task(_call(lane, call)) for call in planned.calls]
        try:
            await _keep(lane, due.id, planned, calls)
            ends = await asyncio.gather(*calls)
        finally:
            for call in calls:
                call.cancel()
        if "acted" in ends:
            return  # the append has set when the match is looked at again
        if "full" in ends:
            again_at = min(again_at or 2**53, lane.ports.now() + FULL_PAUSE_MS)
    await lane.run(bot_calls.rearm, lane.ports, due.id, planned.version, again_at)


async def _keep(lane: Lane, match_id: str, planned: Plan, calls: list[asyncio.Task[End]]) -> None:
    """Wait for all calls of a match, and renew those that last meanwhile."""
    # Another bot of the match may be due soon, so that the entry must say so at once.
    pause = FIRST_KEEP_S if planned.again_at is None else 0.0
    while waiting := (await asyncio.wait(calls, timeout=pause))[1]:
        lasting = [call for call, task in zip(planned.calls, calls, strict=True) if task in waiting]
        await lane.run(bot_calls.keep, lane.ports, match_id, planned, lasting)
        pause = KEEP_S


async def _call(lane: Lane, call: Call) -> End:
    """Send a call, a second time if the first failed in a way that may pass.

    Returns whether the bot has acted, or whether no slot was free.
    """
    with _SLOTS.taken(_host(call.url), call.bot.owner) as is_free:
        if not is_free:
            await lane.run(bot_calls.give_up, lane.ports, call)
            return "full"
        attempts, is_worth_another = 0, True
        while is_worth_another and attempts < ATTEMPTS:
            attempts += 1
            left_s = max(0, call.until - lane.ports.now()) / 1000
            result = await lane.client.post(
                call.url,
                call.body,
                bot_calls.headers(lane.ports, call),
                timeout_s=left_s,
                max_bytes=MAX_ANSWER_BYTES,
            )
            is_worth_another = bot_calls.is_worth_another_try(lane.ports, call, result)
    return "acted" if await lane.run(bot_calls.settle, lane.ports, call, result, attempts) else "other"


CALL_KIND: Final = Kind(call_bots, LONGEST_CALL_MS + 5_000, limit=256)
