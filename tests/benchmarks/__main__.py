"""`make bench`: measures everything in one run on this machine, and prints each figure with its baseline or target.

`python -m tests.benchmarks [--json FILE] [PART ...]` runs some parts only, and also writes the rows to a file.
"""

import argparse
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from service.adapters.valkey import Valkey
from service.container import Service, build
from service.games.registry import GAMES
from service.settings import read
from tests.benchmarks import (
    arena,
    bot_answers,
    calls,
    dumping,
    http,
    lists,
    loop,
    notices,
    pages,
    pictures,
    ratings,
    reads,
    real_time,
    rules,
    streams,
)
from tests.benchmarks.table import LOG, Table

MATCHES: Final = 50

TARGETS: Final = {
    "monkeys_on_the_moon": (3_000, 1.0),
    "ape_town": (6_000, 1.6),
    "four_monkeys": (3_000, 1.0),
    "monsters_on_the_moon": (500, 1.0),
}
"""Targets by game: random actions per second, and milliseconds to rebuild a match."""
WALLS: Final = {"walls": True}


def _rules(table: Table, folder: Path) -> None:
    for game_id, (rate, rebuild_ms) in TARGETS.items():
        game = GAMES[game_id]
        seats = max(seats for seats in game.info.seats if seats <= 4)
        actions = rules.random_play(game, seats, 10)
        table.row(f"{game_id}: random play, {seats} seats", actions, "actions/s", f"aim {rate:,}")
        events, ms = rules.rebuild(game, seats, 200)
        table.row(f"{game_id}: {events} events rebuilt", ms, "ms", f"aim {rebuild_ms} ms", digits=2)
        table.row(f"{game_id}: verify", rules.verify_rate(game, seats), "events/s", "aim 5,000")
    monsters = GAMES["monsters_on_the_moon"]
    table.row("with walls: random play, 4 seats", rules.random_play(monsters, 4, 3, WALLS), "actions/s", "aim 150")
    events, ms = rules.rebuild(monsters, 4, 200, WALLS)
    table.row(f"with walls: {events} events rebuilt", ms, "ms", "aim 3.0 ms", digits=2)
    for what, listed, aim in (("actions", lists.cards(), 10), ("walls", lists.walls(), 15)):
        table.row(f"monsters_on_the_moon: {listed.length} legal {what}", listed.ms, "ms", f"aim {aim} ms", digits=1)
    answer = lists.over_http(folder)
    table.row(f"the list of actions as JSON over HTTP, {answer.kib} KiB", answer.ms, "ms", "aim 40 ms", digits=1)


def _pictures(table: Table, _folder: Path) -> None:
    for game_id in TARGETS:
        drawn = pictures.worst(game_id)
        table.row(
            f"{game_id}: the slowest picture", drawn.ms, "ms", f"{drawn.size / 1000:.0f} kB; aim 10 ms, 80 kB", digits=1
        )


@contextmanager
def built(folder: Path) -> Iterator[tuple[Service, Mapping[str, str]]]:
    """A service on servers of its own, and its settings."""
    with (
        Valkey.start(folder / "log", durable=True) as log,
        Valkey.start(folder / "queue", durable=False) as queue,
    ):
        environ = {
            "MOONSTONE_LOG_URL": log.url,
            "MOONSTONE_QUEUE_URL": queue.url,
            "MOONSTONE_DATA_DIR": str(folder),
        }
        with closing(build(read(environ), listen=False)) as service:
            yield service, environ


def _http(table: Table, folder: Path) -> None:
    with built(folder) as (service, environ), (folder / LOG).open("ab") as log_file:
        for kind, (ours, floor) in http.compare(service, environ, log_file).items():
            aim = "aim 0.50" if kind == "actions" else "aim 0.50; the floor does not read the log"
            table.row(
                f"{kind} over HTTP, durable",
                ours,
                "a second",
                f"floor {floor:,.0f}/s: {ours / floor:.2f} of it, {aim}",
            )
        for answer in reads.readings(service):
            table.row(answer.what, answer.ms, "ms", answer.note, digits=1)
        for answer in pages.readings(service, environ, log_file):
            table.row(answer.what, answer.ms, "ms", answer.note, digits=2)


def _ratings(table: Table, folder: Path) -> None:
    with built(folder) as (service, environ), (folder / LOG).open("ab") as log_file:
        for answer in ratings.readings(service, environ, log_file):
            table.row(answer.what, answer.ms, "ms", answer.note, digits=2)


def _streams(table: Table, folder: Path) -> None:
    with streams.running(folder) as service:
        idle, fan_out = service.idle_cost(), service.fan_out()
        table.row(
            f"an event at the last of {fan_out.watchers:,} watchers, p99",
            fan_out.last_p99,
            "ms",
            f"median {fan_out.last_p50:.0f} ms, {fan_out.delivery_us:.0f} µs CPU each; aim 250 ms",
        )
        table.row("its move answered meanwhile, p99", fan_out.answer_p99, "ms", f"median {fan_out.answer_p50:.0f} ms")
        note = f"{idle.kib:.0f} KiB each; the slowest move beside them {idle.slowest:.0f} ms"
        table.row(f"{idle.streams:,} idle streams", idle.cpu, "% of a core", note)
        table.row(
            f"a move beside {streams.IDLE_OF_OTHERS} idle streams of others",
            service.slowdown_of_others(),
            "of alone",
            "aim 1.20",
            digits=2,
        )
        for running in (1, MATCHES):
            delay = notices.delay(service.server, service.service, running)
            what = f"your_turn after the receipt, {running} running matches"
            table.row(
                what, delay.p50, "ms", f"aim 10 ms; p99 {delay.p99:.0f}, aim 50 ms; {delay.turns} turns", digits=1
            )


def _loop(table: Table, folder: Path) -> None:
    with (folder / LOG).open("ab") as log:
        found = loop.costs(folder, log)
    floor = found.pop("floor")
    for stream, aim in (("notices with lists", 2.0), ("events with lists", 2.0), ("events", 3.0)):
        cost = found[stream]
        note = f"{cost.total / floor.total:.1f} of the bare floor's {floor.total:.2f} ms; {cost.stores:.2f} ms in stores; aim {aim} ms"
        table.row(f"processor time a move, {loop.MATCHES} matches, {stream}", cost.total, "ms", note, digits=2)


def _bots(table: Table, folder: Path) -> None:
    middle, worst, count = bot_answers.answers(folder, 5)
    table.row(f"a bot's answer, median of {count}", middle, "ms", f"p99 {worst:.0f} ms, aim 15 ms")


def _calls(table: Table, folder: Path) -> None:
    with built(folder) as (service, environ), (folder / LOG).open("ab") as log_file:
        found = calls.measure(service, environ, log_file, folder)
    note = f"p99 {found.p99:.0f} ms; {found.tasks} tasks in {calls.MATCHES} matches over https; aim 10 ms"
    table.row("what a call adds to a bot's answer, median", found.p50, "ms", note)
    table.row(
        "processor time of a task in the process of calls",
        found.cpu_ms,
        "ms",
        f"aim 3 ms; idle {found.idle:.1f} %",
        digits=2,
    )


def _arena(table: Table, _folder: Path) -> None:
    ours, bare = arena.rates()
    note = f"bare rules and bots {bare:,.0f}/s: {ours / bare:.2f} of it, aim 0.80"
    table.row("arena, ape_town, greedy against random, 2 jobs", ours, "matches/s", note)


def _concurrent_actions(table: Table, folder: Path) -> None:
    figures = real_time.concurrent_actions(folder)
    table.row("8 clients in one match: accepted actions", figures.accepted, "a second", "aim 50")
    table.row("8 clients in one match: answered actions", figures.answered, "a second", "aim 150")
    table.row("8 clients in one match: p99", figures.p99, "ms", "aim 100 ms")


def _bells(table: Table, folder: Path) -> None:
    bells = real_time.bells(folder, MATCHES)
    note = f"{bells.count} bells, {bells.bot_actions:.0f} bots' actions/s; aim 500 ms"
    table.row(f"{MATCHES} matches with paced bots: the latest bell", bells.latest, "ms late", note)


def _dump(table: Table, folder: Path) -> None:
    with built(folder) as (service, environ), (folder / LOG).open("ab") as log_file:
        found = dumping.compare(service, environ, log_file, folder)
    copied = f"it copies {found.copied_beside:.0f} matches/s, alone {found.copied_alone:.0f}"
    note = f"{found.beside:,.0f}/s of {found.alone:,.0f}/s; {copied}; aim 0.90"
    table.row("actions beside a running dump", found.beside / found.alone, "of alone", note, digits=2)
    note = f"{found.beside_p99:.1f} ms, alone {found.alone_p99:.1f} ms"
    table.row("their p99 beside a running dump", found.beside_p99 / found.alone_p99, "of alone", note, digits=2)


PARTS: Final[Mapping[str, Callable[[Table, Path], None]]] = {
    "rules": _rules,
    "pictures": _pictures,
    "http": _http,
    "dump": _dump,
    "ratings": _ratings,
    "streams": _streams,
    "loop": _loop,
    "bots": _bots,
    "calls": _calls,
    "arena": _arena,
    "rush": _concurrent_actions,
    "bells": _bells,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the rows to this file")
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"one of {', '.join(PARTS)}; without any, all parts run"
    )
    wanted = parser.parse_args()
    if unknown := set(wanted.parts) - PARTS.keys():
        parser.error(f"unknown part: {', '.join(sorted(unknown))}")
    if wanted.json is not None:
        try:
            wanted.json.touch()
        except OSError as error:
            parser.error(f"the file cannot be written: {error}")
    table = Table()
    for name in wanted.parts or PARTS:
        with tempfile.TemporaryDirectory() as folder, table.part(name, Path(folder) / LOG):
            PARTS[name](table, Path(folder))
    if wanted.json is not None:
        wanted.json.write_bytes(table.json())


main()
