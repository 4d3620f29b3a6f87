"""The speed of the log on its own durable server: `python -m tests.benchmarks.bench_log`.

Appends are compared with bare XADDs of the same bytes, alternately in one run. Only their ratio can be compared between
machines.
"""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from threading import Thread

from events.chain import Draft, follow, genesis, seal
from events.log import Append
from events.record import Head, MatchId, digest
from events.redis_log import RedisLog, connect
from service.adapters.valkey import Valkey

EVENTS = 1000
READ = 200
ROUNDS = 5
DATA = b'{"action":{"cell":[3,5],"tile":"banana","type":"place_tile"},"effects":[%s],"seat":1}' % b",".join(
    [b'{"clause":"GAME-12","points":3,"seat":1,"type":"points_scored"}'] * 2
)


def sealed_events(match: MatchId, count: int) -> tuple[Head, tuple[bytes, ...]]:
    _, head = genesis(match, "toy", 1)
    stored, _ = seal(head, [Draft("action", "seat:1", DATA)] * count, 1_800_000_000_000, ["5a" * 16] * count)
    return head, stored


def append_all(url: str, match: MatchId) -> None:
    head, stored = sealed_events(match, EVENTS)
    with connect(url) as client:
        log = RedisLog(client)
        for n, event in enumerate(stored):
            due = {"job": n, "clock": n}
            log.append(Append(match, f"p:ann:{n}", "d", head, (event,), due))
            head = Head(n + 1, digest(event))


def xadd_all(url: str, match: MatchId) -> None:
    _, stored = sealed_events(match, EVENTS)
    with connect(url) as client:
        for n, event in enumerate(stored, 1):
            client.xadd(f"bare:{match}", {"e": event}, id=f"{n}-0")


def rate(work: Callable[[str, MatchId], None], url: str, name: str, writers: int) -> float:
    threads = [Thread(target=work, args=(url, f"{name}{n}")) for n in range(writers)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return writers * EVENTS / (time.perf_counter() - start)


def median_ms(work: Callable[[], object]) -> float:
    times = []
    for _ in range(50):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return 1000 * median(times)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, Valkey.start(Path(folder), durable=True) as server:
        for writers in (1, 4):
            appends, xadds = [], []
            for turn in range(ROUNDS):
                appends.append(rate(append_all, server.url, f"a{writers}-{turn}-", writers))
                xadds.append(rate(xadd_all, server.url, f"x{writers}-{turn}-", writers))
            ratio = median(append / xadd for append, xadd in zip(appends, xadds, strict=True))
            print(f"{writers} writers: {median(appends):.0f} appends/s, {median(xadds):.0f} XADD/s, ratio {ratio:.2f}")
        with connect(server.url) as client:
            log = RedisLog(client)
            start, stored = sealed_events("read", READ)
            for first in range(0, READ, 50):
                head = Head(first, digest(stored[first - 1]) if first else start.hash)
                log.append(Append("read", f"c{first}", "d", head, stored[first : first + 50]))

            def folded(events: tuple[bytes, ...]) -> None:
                head = start
                for event in events:
                    _, head = follow(head, event)

            print(f"read of {READ} events: {median_ms(lambda: log.read('read', command='c0')):.2f} ms")
            print(f"follow of {READ} events: {median_ms(lambda: folded(stored)):.2f} ms")
            print(f"both: {median_ms(lambda: folded(log.read('read').events)):.2f} ms")
            for name, sweep in (
                ("next_due", lambda: log.next_due(("job", "clock"))),
                ("claim of nothing", lambda: log.claim("job", -1, 1, 100)),
                ("overdue of nothing", lambda: log.overdue("clock", -1, 100)),
            ):
                print(f"{name}: {median_ms(sweep):.2f} ms")


if __name__ == "__main__":
    main()
