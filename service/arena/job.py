"""A job: a process that plays deals. `python -P -m service.arena.job` reads a JobOrder and then numbers of deals, one a line."""

import hmac
import os
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from service.arena.bots import BuiltIn, seated
from service.arena.deals import Broken, Contest, Deal, JobOrder, MatchResult, Ready, Report, counted, merged, result
from service.arena.hosted import CannotStart, Hosted
from service.arena.play import play
from service.arena.record import match_file
from service.games.registry import GAMES


def main() -> None:
    """Reports on the stdout that the process began with; whatever else is printed goes to stderr."""
    with os.fdopen(os.dup(1), "wb", buffering=0) as reports:
        os.dup2(2, 1)

        def report(one: Report) -> None:
            reports.write(msgspec.json.encode(one) + b"\n")

        order = msgspec.json.decode(sys.stdin.buffer.readline(), type=JobOrder)
        bots: list[BuiltIn | Hosted] = []
        try:
            game, limit_s = GAMES[order.contest.game], order.contest.limit_ms / 1000
            bots.extend(seated(game, name, limit_s, order.bot_log) for name in order.contest.bots)
            report(Ready())
            _play_all(order, bots, report)
        except CannotStart as error:
            report(Broken(str(error)))
        finally:
            for bot in bots:
                bot.close()


def _play_all(order: JobOrder, bots: list[BuiltIn | Hosted], report: Callable[[Report], None]) -> None:
    for line in sys.stdin.buffer:
        number = int(line)
        try:
            deal = play_deal(order.contest, number, bots, order.export)
        except Exception as error:
            report(Broken(f"the rules failed in deal {number}: {type(error).__name__}: {error}"))
            raise
        report(deal)


def deal_seed(contest: Contest, number: int) -> bytes:
    return hmac.digest(bytes.fromhex(contest.seed), b"deal:%d" % number, "sha256")


def play_deal(contest: Contest, number: int, bots: list[BuiltIn | Hosted], export: str | None) -> Deal:
    """Play a deal in every rotation; `bots` are in the contest's order. Writes the match files to the folder `export`."""
    game, seed = GAMES[contest.game], deal_seed(contest, number)
    matches: list[MatchResult] = []
    times: list[dict[int, int]] = [{} for _ in bots]
    for rotation in range(len(bots)):
        positions = contest.seated(rotation)
        played = play(game, contest.options, seed, [bots[position] for position in positions])
        matches.append(result(played, positions))
        for position, taken in zip(positions, played.times, strict=True):
            times[position] = merged(times[position], counted(taken))
        if export is not None:
            names = [contest.bots[position] for position in positions]
            lines = match_file(game, contest.options, seed, names, rotation, played)
            Path(export, f"{number:06}-{rotation}.ndjson").write_bytes(b"".join(lines))
    return Deal(number, tuple(matches), tuple(times))


if __name__ == "__main__":
    main()
