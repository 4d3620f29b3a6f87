"""`make bench`: measures everything in one run on this machine, and prints each figure with its baseline or target.

`python -m tests.benchmarks [--json FILE] [PART ...]` runs some parts only, and also writes the rows to a file.
"""

import argparse
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from service.adapters.valkey import Valkey
from service.container import build
from service.games.registry import GAMES
from service.settings import read
from tests.benchmarks import arena, bot_answers, http, lists, loop, notices, pictures, reads, real_time, rules, streams
from tests.benchmarks.table import LOG, Table

MATCHES: Final = 50

AIMS: Final = {
    "monkeys_on_the_moon": (3_000, 1.0),
    "ape_town": (6_000, 1.6),
    "four_monkeys": (3_000, 1.0),
    "monsters_on_the_moon": (500, 1.0),
}
"""Random actions per second, and milliseconds for a rebuild."""
WALLS: Final = {"walls": True}


def _rules(table: Table, folder: Path) -> None:
    for game_id, (pace, rebuilt) in AIMS.items():
        game = GAMES[game_id]
        seats = max(seats for seats in game.info.seats if seats <= 4)
        actions = rules.random_play(game, seats, 10)
        table.row(f"{game_id}: random play, {seats} seats", actions, "actions/s", f"aim {pace:,}")
        events, ms = rules.rebuild(game, seats, 200)
        table.row(f"{game_id}: {events} events rebuilt", ms, "ms", f"aim {rebuilt} ms", digits=2)
        table.row(f"{game_id}: verify", rules.verifying(game, seats), "events/s", "aim 5,000")
    monsters = GAMES["monsters_on_the_moon"]
    table.row("with walls: random play, 4 seats", rules.random_play(monsters, 4, 3, WALLS), "actions/s", "aim 150")
    events, ms = rules.rebuild(monsters, 4, 200, WALLS)
    table.row(f"with walls: {events} events rebuilt", ms, "ms", "aim 3.0 ms", digits=2)
    for what, listed, aim in (("actions", lists.cards(), 10), ("walls", lists.walls(), 15)):
        table.row(f"monsters_on_the_moon: {listed.length} legal {what}", listed.ms, "ms", f"aim {aim} ms", digits=1)
    sent = lists.sent(folder)
    table.row(f"the list of actions as JSON over HTTP, {sent.kib} KiB", sent.ms, "ms", "aim 40 ms", digits=1)


def _pictures(table: Table, _folder: Path) -> None:
    for game_id in AIMS:
        drawn = pictures.worst(game_id)
        table.row(
            f"{game_id}: a picture at worst", drawn.ms, "ms", f"{drawn.size / 1000:.0f} kB; aim 10 ms, 80 kB", digits=1
        )


def _http(table: Table, folder: Path) -> None:
    with (
        Valkey.start(folder / "log", durable=True) as log,
        Valkey.start(folder / "queue", durable=False) as queue,
        (folder / LOG).open("ab") as log_file,
    ):
        environ = {
            "MOONSTONE_LOG_URL": log.url,
            "MOONSTONE_QUEUE_URL": queue.url,
            "MOONSTONE_DATA_DIR": str(folder),
        }
        service = build(read(environ), listen=False)
        for kind, (ours, floor) in http.compare(service, environ, log_file).items():
            aim = "aim 0.50" if kind == "actions" else "aim 0.50; the floor asks no log"
            table.row(
                f"{kind} over HTTP, durable",
                ours,
                "a second",
                f"floor {floor:,.0f}/s: {ours / floor:.2f} of it, {aim}",
            )
        for answer in reads.readings(service):
            table.row(answer.what, answer.ms, "ms", answer.beside, digits=1)
        service.close()


def _streams(table: Table, folder: Path) -> None:
    with streams.house(folder) as house:
        held, crowd = house.held(), house.fan_out()
        table.row(
            f"an event at the last of {crowd.watchers:,} watchers, p99",
            crowd.last_p99,
            "ms",
            f"median {crowd.last_p50:.0f} ms, {crowd.delivery_us:.0f} µs CPU each; aim 250 ms",
        )
        table.row("its move answered meanwhile, p99", crowd.answer_p99, "ms", f"median {crowd.answer_p50:.0f} ms")
        beside = f"{held.kib:.0f} KiB each; the slowest move beside them {held.slowest:.0f} ms"
        table.row(f"{held.streams:,} idle streams", held.cpu, "% of a core", beside)
        table.row(
            f"a move beside {streams.OTHERS} idle streams of others", house.others(), "of alone", "aim 1.20", digits=2
        )
        for running in (1, MATCHES):
            delay = notices.delay(house.server, house.service, running)
            what = f"your_turn after the receipt, {running} running matches"
            table.row(
                what, delay.p50, "ms", f"aim 10 ms; p99 {delay.p99:.0f}, aim 50 ms; {delay.turns} turns", digits=1
            )


def _loop(table: Table, folder: Path) -> None:
    with (folder / LOG).open("ab") as log:
        found = loop.costs(folder, log)
    floor = found.pop("floor")
    for way, aim in (("notices with lists", 2.0), ("events with lists", 2.0), ("events", 3.0)):
        cost = found[way]
        beside = f"{cost.total / floor.total:.1f} of the bare floor's {floor.total:.2f} ms; {cost.stores:.2f} ms in stores; aim {aim} ms"
        table.row(f"processor time a move, {loop.MATCHES} matches, {way}", cost.total, "ms", beside, digits=2)


def _bots(table: Table, folder: Path) -> None:
    middle, worst, count = bot_answers.answers(folder, 5)
    table.row(f"a bot's answer, median of {count}", middle, "ms", f"p99 {worst:.0f} ms, aim 15 ms")


def _arena(table: Table, _folder: Path) -> None:
    ours, bare = arena.rates()
    beside = f"bare rules and bots {bare:,.0f}/s: {ours / bare:.2f} of it, aim 0.80"
    table.row("arena, ape_town, greedy against random, 2 jobs", ours, "matches/s", beside)


def _rush(table: Table, folder: Path) -> None:
    rush = real_time.rush(folder)
    table.row("8 clients in one match: answered actions", rush.rate, "a second", "aim 150")
    table.row("8 clients in one match: accepted", 100 * rush.accepted, "%", "aim a third")
    table.row("8 clients in one match: p99", rush.p99, "ms", "aim 100 ms")


def _bells(table: Table, folder: Path) -> None:
    bells = real_time.bells(folder, MATCHES)
    beside = f"{bells.count} bells, {bells.bot_actions:.0f} bots' actions/s; aim 500 ms"
    table.row(f"{MATCHES} matches with paced bots: the latest bell", bells.latest, "ms late", beside)


PARTS: Final[Mapping[str, Callable[[Table, Path], None]]] = {
    "rules": _rules,
    "pictures": _pictures,
    "http": _http,
    "streams": _streams,
    "loop": _loop,
    "bots": _bots,
    "arena": _arena,
    "rush": _rush,
    "bells": _bells,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows there too")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all if none is named")
    wanted = parser.parse_args()
    if unknown := set(wanted.parts) - PARTS.keys():
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    table = Table()
    for name in wanted.parts or PARTS:
        with tempfile.TemporaryDirectory() as folder, table.part(name, Path(folder) / LOG):
            PARTS[name](table, Path(folder))
    if wanted.json is not None:
        wanted.json.write_bytes(table.json())


main()
