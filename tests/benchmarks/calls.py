"""Called bots over https: what a call adds to a bot's answer, and the processor time of a task.

People move in many matches at random times; in each match a hosted bot answers at once.
"""

import asyncio
import os
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from secrets import token_hex
from statistics import median, quantiles
from threading import Thread
from typing import Any, Final, NamedTuple

import msgspec
import trustme
from aiohttp import web

from events.record import Event
from service.container import Service
from service.match.model import Match
from service.match.new_match import NewMatch
from service.match.redaction import legal_actions
from service.repository.accounts import Player
from service.usecases import hosted_bots, play
from service.usecases.hosted_bots import MAX_BOTS, BotSettings
from service.usecases.match_lifecycle import create, join
from service.usecases.play import ActionRequest

MATCHES: Final = 100
TASKS_A_SECOND: Final = 40.0
"""How many moves of people begin in a second: the machine is not saturated, so that what a call adds is not a queue."""
SECONDS: Final = 15.0
WARM_UP_S: Final = 5.0
IDLE_S: Final = 3.0
_ANSWER: Final = ("seat:1", "seat:0")
"""The authors of an action of a person, and of the bot's that follows it."""
GAME: Final = "monkeys_on_the_moon"


class Figures(NamedTuple):
    """Milliseconds from the receipt of a person's move to that of the bot's, and of processor time in the process `calls`.

    `idle`: the percentage of a processor that this process needs without tasks. `cpu_ms` does not contain it.
    """

    tasks: int
    p50: float
    p99: float
    cpu_ms: float
    idle: float


def measure(service: Service, environ: Mapping[str, str], log: Any, folder: Path) -> Figures:
    with _bots(folder) as (url, bundle):
        matches = _matches(service, url)
        command = [sys.executable, "-m", "workers.calls"]
        settings = {**os.environ, **environ, "MOONSTONE_LOOPBACK_CALLS": "1", "SSL_CERT_FILE": str(bundle)}
        process = subprocess.Popen(command, env=settings, stderr=log, stdout=log)
        try:
            _play(service, matches, WARM_UP_S)
            cpu_before = _cpu_s(process.pid)
            time.sleep(IDLE_S)
            idle = (_cpu_s(process.pid) - cpu_before) / IDLE_S
            begun = {match.id: _head(service, match) for match in matches}
            cpu_before, began = _cpu_s(process.pid), time.monotonic()
            _play(service, matches, SECONDS)
            cpu_s = _cpu_s(process.pid) - cpu_before - idle * (time.monotonic() - began)
        finally:
            process.terminate()
            process.wait()
        tasks, times = 0, list[int]()
        for match in matches:
            events = [event for event in _events(service, match) if event.version > begun[match.id]]
            tasks += sum(event.type == "action" and event.by == "seat:0" for event in events)
            times += [after.at - before.at for before, after in pairwise(events) if (before.by, after.by) == _ANSWER]
    return Figures(tasks, median(times), quantiles(times, n=100)[98], 1000 * cpu_s / tasks, 100 * idle)


@contextmanager
def _bots(folder: Path) -> Iterator[tuple[str, Path]]:
    """A server of bots with a certificate of a CA of this run: its URL, and the file of the CA."""
    ca = trustme.CA()
    bundle = folder / "ca.pem"
    ca.cert_pem.write_to_path(str(bundle))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ca.issue_cert("localhost").configure_cert(tls)
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, daemon=True)
    thread.start()
    runner, port = asyncio.run_coroutine_threadsafe(_serve(tls), loop).result()
    try:
        yield f"https://localhost:{port}/bot", bundle
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _serve(tls: ssl.SSLContext) -> tuple[web.AppRunner, int]:
    app = web.Application()
    app.router.add_post("/bot", _answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
    await site.start()
    return runner, runner.addresses[0][1]


async def _answer(request: web.Request) -> web.Response:
    task = msgspec.json.decode(await request.read())
    body = msgspec.json.encode({"action": task["legal_actions"][0]})
    return web.Response(body=body, content_type="application/json")


def _matches(service: Service, url: str) -> list[Match]:
    """A match of a person and a hosted bot for each bot."""
    ports, found = service.ports, []
    for number in range(MATCHES):
        owner = Player(f"pl_owner{number // MAX_BOTS}", "Owner", 0)
        ports.accounts.add(owner, token_hex(32))
        settings = BotSettings(name=f"Bot {number}", seating="everyone", max_matches=100, url=url)
        bot, *_ = hosted_bots.create(ports, owner, settings)
        wanted = NewMatch(GAME, 2, bots=(bot.id,), default_clock=True)
        match = create(ports, f"pl_{number}", wanted, token_hex(8)).match
        found.append(join(ports, f"pl_{number}", match.id, "join").match)
    return found


def _play(service: Service, matches: list[Match], seconds: float) -> None:
    """Let people move, one after the other, in the matches that wait for them."""
    ports, began, moves = service.ports, time.monotonic(), 0
    while time.monotonic() - began < seconds:
        for match in matches:
            newest, _ = ports.history.newest(match.id)
            person = newest.seat_of(match.creator)
            if newest.status != "running" or not any(one.seat == person for one in newest.decisions()):
                continue
            legal = [msgspec.to_builtins(one) for one in legal_actions(newest, person)]
            request = ActionRequest(legal[newest.head.version % len(legal)])
            play.act(ports, match.creator, match.id, request, token_hex(8))
            moves += 1
            time.sleep(max(0.0, moves / TASKS_A_SECOND - (time.monotonic() - began)))
            if time.monotonic() - began >= seconds:
                break
        else:
            time.sleep(0.005)
    time.sleep(0.5)  # the last answers


def _head(service: Service, match: Match) -> int:
    return service.ports.history.newest(match.id)[0].head.version


def _events(service: Service, match: Match) -> list[Event]:
    newest, _ = service.ports.history.newest(match.id)
    return [event for event, _ in service.ports.history.verified(newest, 0, 1_000)]


def _cpu_s(pid: int) -> float:
    """The processor time of a process in seconds. Python lacks clock_getcpuclockid(3), which names this clock of Linux."""
    return time.clock_gettime((~pid << 3) | 2)
