"""`make bench`: each figure in one run on this machine, beside its floor or its aim."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from service.adapters.valkey import Valkey
from service.container import build
from service.games.registry import GAMES
from service.settings import read
from tests.benchmarks import bot_answers, http, lists, pictures, reads, real_time, rules, streams

MATCHES: Final = 50

AIMS: Final = {
    "monkeys_on_the_moon": (3_000, 1.0),
    "ape_town": (6_000, 1.6),
    "four_monkeys": (3_000, 1.0),
    "monsters_on_the_moon": (500, 1.0),
}
"""Random actions a second, and milliseconds for a rebuild."""
WALLS: Final = {"walls": True}


def _row(what: str, figure: str, beside: str) -> None:
    print(f"{what:<58} {figure:>22}   {beside}", flush=True)


@contextmanager
def _part(name: str) -> Iterator[None]:
    """Tells how long a part took: all of them together are to be had while one waits."""
    began = time.monotonic()
    yield
    print(f"  ({name} took {time.monotonic() - began:.0f} s)", flush=True)


def _rules() -> None:
    for game_id, (pace, rebuilt) in AIMS.items():
        game = GAMES[game_id]
        seats = max(seats for seats in game.info.seats if seats <= 4)
        actions = rules.random_play(game, seats, 10)
        _row(f"{game_id}: random play, {seats} seats", f"{actions:,.0f} actions/s", f"aim {pace:,}")
        events, ms = rules.rebuild(game, seats, 200)
        _row(f"{game_id}: {events} events rebuilt", f"{ms:.2f} ms", f"aim {rebuilt} ms")
        _row(f"{game_id}: verify", f"{rules.verifying(game, seats):,.0f} events/s", "aim 5,000")
    monsters = GAMES["monsters_on_the_moon"]
    _row("with walls: random play, 4 seats", f"{rules.random_play(monsters, 4, 3, WALLS):,.0f} actions/s", "aim 150")
    events, ms = rules.rebuild(monsters, 4, 200, WALLS)
    _row(f"with walls: {events} events rebuilt", f"{ms:.2f} ms", "aim 3.0 ms")
    for what, listed, aim in (("actions", lists.cards(), 10), ("walls", lists.walls(), 15)):
        _row(f"monsters_on_the_moon: {listed.length} legal {what}", f"{listed.ms:.1f} ms", f"aim {aim} ms")
    sent = lists.sent()
    _row(f"the list of actions as JSON over HTTP, {sent.kib} KiB", f"{sent.ms:.1f} ms", "aim 40 ms")


def _pictures() -> None:
    for game_id in AIMS:
        drawn = pictures.worst(game_id)
        _row(f"{game_id}: a picture at worst", f"{drawn.ms:.1f} ms, {drawn.size / 1000:.0f} kB", "aim 10 ms, 80 kB")


def _http(folder: Path) -> None:
    with (
        Valkey.start(folder / "log", durable=True) as log,
        Valkey.start(folder / "queue", durable=False) as queue,
    ):
        environ = {
            "MOONSTONE_LOG_URL": log.url,
            "MOONSTONE_QUEUE_URL": queue.url,
            "MOONSTONE_DATA_DIR": str(folder),
        }
        service = build(read(environ), listen=False)
        for kind, (ours, floor) in http.compare(service, environ).items():
            aim = "aim 0.50" if kind == "actions" else "aim 0.50; the floor asks no log"
            _row(
                f"{kind} over HTTP, durable",
                f"{ours:,.0f}/s",
                f"floor {floor:,.0f}/s: {ours / floor:.2f} of it, {aim}",
            )
        for answer in reads.readings(service):
            _row(answer.what, f"{answer.ms:.1f} ms", answer.beside)
        service.close()


def _streams(folder: Path) -> None:
    with streams.house(folder) as house:
        held, crowd = house.held(), house.fan_out()
        _row(
            f"an event at the last of {crowd.watchers:,} watchers, p99",
            f"{crowd.last_p99:.0f} ms",
            f"median {crowd.last_p50:.0f} ms, {crowd.delivery_us:.0f} µs CPU each; aim 250 ms",
        )
        _row("its move answered meanwhile, p99", f"{crowd.answer_p99:.0f} ms", f"median {crowd.answer_p50:.0f} ms")
        beside = f"{held.kib:.0f} KiB each; the slowest move beside them {held.slowest:.0f} ms"
        _row(f"{held.streams:,} idle streams", f"{held.cpu:.0f} % of a core", beside)
        _row(f"a move beside {streams.OTHERS} idle streams of others", f"{house.others():.2f} of alone", "aim 1.20")


def _bots(folder: Path) -> None:
    middle, worst, count = bot_answers.answers(folder, 5)
    _row(f"a bot's answer, median of {count}", f"{middle:.0f} ms", f"p99 {worst:.0f} ms, aim 15 ms")


def _rush(folder: Path) -> None:
    rush = real_time.rush(folder)
    _row("8 clients in one match: answered actions", f"{rush.rate:,.0f}/s", "aim 150/s")
    _row("8 clients in one match: accepted", f"{rush.accepted:.0%}", "aim a third")
    _row("8 clients in one match: p99", f"{rush.p99:.0f} ms", "aim 100 ms")


def _bells(folder: Path) -> None:
    bells = real_time.bells(folder, MATCHES)
    beside = f"{bells.count} bells, {bells.bot_actions:.0f} bots' actions/s; aim 500 ms"
    _row(f"{MATCHES} matches with paced bots: the latest bell", f"{bells.latest} ms late", beside)


def main() -> None:
    with _part("the rules"):
        _rules()
    with _part("the pictures"):
        _pictures()
    for part in (_http, _streams, _bots, _rush, _bells):
        with tempfile.TemporaryDirectory() as folder, _part(part.__name__.strip("_")):
            part(Path(folder))


main()
