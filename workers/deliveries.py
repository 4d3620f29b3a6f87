"""The handlers of webhooks in the process `calls`: news become deliveries, and deliveries are attempted."""

import asyncio
from contextlib import ExitStack
from typing import Final
from urllib.parse import urlsplit

from service.errors import Corrupt, Refused
from service.observability import failpoints
from service.repository.outgoing import Full
from service.repository.webhooks import Delivery
from service.subscriptions import webhook_delivery, webhook_news
from service.subscriptions.webhook_delivery import MAX_ANSWER_BYTES, TIMEOUT_S, Request
from workers.lane import Claimed, Kind, Lane

AT_ONCE: Final = 8
"""Maximum number of deliveries of one player that are attempted at once."""
LEASE_MS: Final = 30_000
"""More than an attempt takes."""
PLAYER: Final = "player:"
"""What the names of players in due sets begin with (`news_of`)."""
UNREADABLE_PAUSE_MS: Final = 600_000


async def collect_news(lane: Lane, due: Claimed) -> None:
    """Make the deliveries of a match or of a player."""
    if due.id.startswith(PLAYER):
        await lane.run(webhook_news.collect_beside_matches, lane.ports, due.id.removeprefix(PLAYER), due.until)
        return
    try:
        await lane.run(webhook_news.collect, lane.ports, due.id)
    except (Corrupt, Refused):  # an older or damaged match; it is looked at again, in case this changes
        await lane.run(lane.ports.webhooks.postpone, due.id, lane.ports.now() + UNREADABLE_PAUSE_MS)


async def deliver(lane: Lane, due: Claimed) -> None:
    """Attempt the deliveries of a player that are due, as many as the player has slots."""
    player = due.id.removeprefix(PLAYER)
    slots = lane.deliveries.slots.reserve(player, AT_ONCE)
    try:
        if not slots:
            await lane.run(webhook_delivery.hold, lane.ports, player)
            return
        taken = await lane.run(lane.ports.webhooks.take, player, lane.ports.now(), LEASE_MS, len(slots))
        failpoints.point("delivery-taken")
        for unused in slots[len(taken) :]:
            unused.close()
        await asyncio.gather(*(_attempt(lane, player, *pair) for pair in zip(taken, slots, strict=False)))
    finally:
        for slot in slots:
            slot.close()


async def _attempt(lane: Lane, player: str, delivery: Delivery, slot: ExitStack) -> None:
    with slot:
        try:
            made = await lane.run(webhook_delivery.request, lane.ports, player, delivery)
        except (Corrupt, Refused):
            made = "dropped"
        if not isinstance(made, Request):
            await lane.run(webhook_delivery.settle, lane.ports, player, delivery, delivery, made)
            return
        with lane.deliveries.slots.at_host(urlsplit(made.url).hostname or "") as is_free:
            if not is_free:
                await lane.run(webhook_delivery.hold, lane.ports, player, (delivery,))
                return
            result = await lane.deliveries.client.post(
                made.url, made.body, made.headers, timeout_s=TIMEOUT_S, max_bytes=MAX_ANSWER_BYTES
            )
        if isinstance(result, Full):
            await lane.run(webhook_delivery.hold, lane.ports, player, (delivery,))
            return
    await lane.run_on_time(webhook_delivery.note, lane.ports, player, delivery, result)


NEWS_KIND: Final = Kind(collect_news, lease_ms=10_000, limit=16)
DELIVERY_KIND: Final = Kind(deliver, LEASE_MS, limit=512)
