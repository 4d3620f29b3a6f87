"""`python -m workers.calls`: the process that sends requests to addresses of users. It is one event loop, so that a slow
receiver holds nothing but a socket.

It claims due entries of the kinds that `KINDS` names, as a sweeper does. If it does not run, everything else goes on.
"""

from service.adapters.uncollected import uncollected

with uncollected():
    import asyncio
    import logging
    import os
    import resource
    import signal
    import sys
    from collections import Counter
    from collections.abc import Mapping, Sequence
    from concurrent.futures import ThreadPoolExecutor
    from contextlib import suppress
    from typing import Final

    from events.log import LogUnavailable
    from service.adapters import call_hints
    from service.adapters.outgoing import Client
    from service.container import Service, Unusable, build
    from service.errors import Corrupt, Refused
    from service.observability.logfmt import log_to_stderr
    from service.settings import BadSetting, Settings, read
    from workers.bot_calls import CALL_KIND
    from workers.clock_check import ClockCheck
    from workers.deliveries import DELIVERY_KIND, NEWS_KIND
    from workers.lane import CALLS_BY_OWNER, Claimed, Kind, Lane, Sender, Slots, WrongClock

TICK_S: Final = 0.2
"""Pause between two reads of what is due."""
RETRY_DELAY_S: Final = 0.5
"""Pause after a failed read."""
THREADS: Final = 8
"""Threads for calls of the log, which would block the event loop."""
OPEN_FILES: Final = 4_096
"""Enough for all connections to receivers and to the servers."""
STOP_TIMEOUT_S: Final = 5.0
"""How long calls may go on after a signal. What is cut off is due again."""

KINDS: Final[Mapping[str, Kind]] = {"call": CALL_KIND, "news": NEWS_KIND, "delivery": DELIVERY_KIND}
"""The handlers by kind of due entry."""

_log = logging.getLogger("moonstone.calls")


class Calls:
    """Claims and handles due entries until `stop`."""

    def __init__(self, lane: Lane, kinds: Mapping[str, Kind] = KINDS) -> None:
        self._lane = lane
        self._kinds = kinds
        self._clock = ClockCheck(lane.clock_fault, "requests are sent")
        self._tasks: dict[str, set[asyncio.Task[None]]] = {kind: set() for kind in kinds}
        self._woken = asyncio.Event()
        self._stopping = False
        self._is_off = False
        """Whether the clock was wrong when it was looked at last."""

    def stop(self) -> None:
        self._stopping = True
        self._woken.set()

    def hint(self, kind: str, match_id: str) -> None:
        """Handle an entry that has just become due, without a claim. Call it in the event loop.

        Its handler finds out whether another process handles it. A hint above the limit is dropped: the entry stays due.
        """
        has_room = len(self._tasks[kind]) < self._kinds[kind].limit
        if has_room and not (self._stopping or self._is_off):
            self._begin(kind, Claimed(match_id, kind, self._lane.ports.now() + self._kinds[kind].lease_ms))

    def _begin(self, kind: str, due: Claimed) -> None:
        task = asyncio.create_task(self._handle(self._kinds[kind], due))
        self._tasks[kind].add(task)
        task.add_done_callback(self._tasks[kind].discard)

    async def run(self) -> None:
        is_away = False
        while not self._stopping:
            self._woken.clear()
            pause = TICK_S
            try:
                has_more = await self._claim()
                pause = 0.0 if has_more else TICK_S
                is_away = False
            except LogUnavailable as error:
                if not is_away:
                    _log.warning("the log is not available (%s); trying again", error.reason)
                is_away, pause = True, RETRY_DELAY_S
            except Exception:  # noqa: BLE001  (the next read may succeed)
                _log.exception("due requests cannot be claimed")
                pause = RETRY_DELAY_S
            await self._sleep(pause)
        await self._finish()

    async def _sleep(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._woken.wait(), seconds)

    async def _claim(self) -> bool:
        """Claim what is due and begin to handle it. Returns whether there may be more that can be handled now."""
        free = {name: kind.limit - len(self._tasks[name]) for name, kind in self._kinds.items()}
        claimed = await self._lane.run(self._claimed, free)
        for due in claimed:
            self._begin(due.kind, due)
        counts = Counter(due.kind for due in claimed)
        return any(counts[name] == room for name, room in free.items() if room > 0)

    def _claimed(self, free: Mapping[str, int]) -> Sequence[Claimed]:
        """Claim at most so many entries of each kind; none if the clock is wrong. It may block, so it runs in a thread, once for all."""
        self._is_off = self._clock.is_off()
        found: list[Claimed] = []
        for name, room in free.items() if not self._is_off else ():
            now, lease_ms = self._lane.ports.now(), self._kinds[name].lease_ms
            try:
                claimed = self._lane.ports.log.claim(name, now, lease_ms, room) if room > 0 else ()
            except LogUnavailable:
                if found:
                    break  # what was claimed is handled; the next read fails too, or goes on
                raise
            found += [Claimed(due.match, name, now + lease_ms) for due in claimed]
        return found

    async def _handle(self, kind: Kind, due: Claimed) -> None:
        """Handle one entry. Its failure does not affect others; it is due again after its lease."""
        try:
            async with asyncio.timeout((kind.timeout_ms or kind.lease_ms) / 1000):
                await kind.handle(self._lane, due)
        except (LogUnavailable, WrongClock):
            pass  # `run` and `ClockCheck` log it
        except TimeoutError:
            _log.warning("%s of %s took too long", due.kind, due.id)
        except (Refused, Corrupt) as error:
            _log.error("%s of %s cannot be handled: %s", due.kind, due.id, error)
        except Exception:  # noqa: BLE001  (the other entries are due too)
            _log.exception("%s of %s failed", due.kind, due.id)

    async def _finish(self) -> None:
        running = [task for tasks in self._tasks.values() for task in tasks]
        if running:
            _, late = await asyncio.wait(running, timeout=STOP_TIMEOUT_S)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)


def run(settings: Settings) -> int:
    """Work until SIGINT or SIGTERM, and return the exit code."""
    try:
        service = build(settings, listen=False)
    except (BadSetting, Unusable) as error:
        _log.critical("the calls cannot start: %s", error)
        return 1
    try:
        asyncio.run(work(service))
    finally:
        service.close()
    return 0


async def work(service: Service) -> None:
    _allow_sockets()
    executor = ThreadPoolExecutor(THREADS, thread_name_prefix="calls")
    loopback = service.settings.loopback_calls
    async with Client(loopback=loopback) as deliverer, Client(loopback=loopback) as caller:
        lane = Lane(
            service.ports,
            Sender(deliverer, Slots()),
            Sender(caller, Slots(by_owner=CALLS_BY_OWNER)),
            executor,
            service.clock_watch.fault,
        )
        calls = Calls(lane)
        loop = asyncio.get_running_loop()
        hints = call_hints.listen(
            service.queue_client, lambda match_id: loop.call_soon_threadsafe(calls.hint, "call", match_id)
        )
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, calls.stop)
        try:
            await calls.run()
        finally:
            await asyncio.to_thread(hints.stop)
            executor.shutdown(wait=False, cancel_futures=True)


def _allow_sockets() -> None:
    """Raise the limit of open files, which is often 1,024, as far as this process may."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if most == resource.RLIM_INFINITY else min(OPEN_FILES, most)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


if __name__ == "__main__":
    log_to_stderr()
    sys.exit(run(read(os.environ)))
