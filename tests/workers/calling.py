"""The loop of the process `calls` in a thread of a test, so that the test can shorten its time limits."""

import asyncio
import ssl
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Thread

from aiohttp.abc import AbstractResolver

from events.redis_log import send
from service.adapters import call_hints
from service.adapters.outgoing import Client
from tests.workers.world import World
from workers.calls import KINDS, Calls
from workers.clock_check import ClockFault
from workers.lane import CALLS_BY_OWNER, Kind, Lane, Sender, Slots


@contextmanager
def calling(
    world: World,
    kinds: Mapping[str, Kind] = KINDS,
    names: AbstractResolver | None = None,
    tls: ssl.SSLContext | None = None,
    *,
    hints: bool = False,
    clock_fault: ClockFault = lambda: None,
) -> Iterator[None]:
    """Handle what is due during the block. `names` resolves host names, and `tls` has the trusted certificates.

    `hints`: bots are called at once, as by the real process, and not at the next read. The end of the block then takes 0.25 s.
    """
    started: list[tuple[asyncio.AbstractEventLoop, Calls]] = []

    async def work() -> None:
        with ThreadPoolExecutor(4) as executor:
            async with Client(loopback=True, resolver=names, tls=tls) as client:
                lane = Lane(
                    world.service.ports,
                    Sender(client, Slots()),
                    Sender(client, Slots(by_owner=CALLS_BY_OWNER)),
                    executor,
                    clock_fault,
                )
                calls = Calls(lane, kinds)
                started.append((asyncio.get_running_loop(), calls))
                await calls.run()

    def hinted(match_id: str) -> None:
        for loop, calls in started:
            loop.call_soon_threadsafe(calls.hint, "call", match_id)

    thread = Thread(target=lambda: asyncio.run(work()))
    thread.start()
    listener = call_hints.listen(world.service.queue_client, hinted) if hints else None
    try:
        yield
    finally:
        if listener is not None:
            listener.stop()
        for loop, calls in started:
            loop.call_soon_threadsafe(calls.stop)
        thread.join(30)
        assert not thread.is_alive()


def end_leases(world: World) -> None:
    """Make all that is due or claimed due now, as if the leases of a killed process were over."""
    client = world.service.log_client
    for pattern in ("due:*:news", "due:*:delivery", "webhooks:*:pending"):
        for key in client.scan_iter(match=pattern, count=1000):
            (members,) = send(client, ("ZRANGE", key, 0, -1))
            for member in members:
                send(client, ("ZADD", key, 1, member))
