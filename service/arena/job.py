"""A job: a process that plays deals, started as `python -P -m service.arena.job PARENT`.

It reads a JobOrder and then numbers of deals, one a line.
"""

from service.adapters.uncollected import uncollected

with uncollected():
    import hmac
    import os
    import signal
    import sys
    from collections.abc import Callable
    from contextlib import suppress
    from itertools import zip_longest
    from pathlib import Path
    from typing import NoReturn, TypeAlias

    import msgspec

    from service.arena.bots import BuiltIn, seated
    from service.arena.called import Called
    from service.arena.deals import Broken, Contest, Deal, JobOrder, MatchResult, Report, counted, merged, result
    from service.arena.hosted import CannotStart, Changed, Hosted
    from service.arena.parent import end_with_parent
    from service.arena.play import Player, id_of_match, play
    from service.arena.record import Record
    from service.games.registry import GAMES
    from service.games.visibility import Seat
    from service.match.characters import printable

Bot: TypeAlias = BuiltIn | Hosted | Called


def main() -> None:
    """Reports on the stdout that the process began with; whatever else is printed goes to stderr."""
    signal.signal(signal.SIGTERM, _end)
    end_with_parent(int(sys.argv[1]), lambda: os.kill(os.getpid(), signal.SIGTERM))
    with os.fdopen(os.dup(1), "wb", buffering=0) as reports:
        os.dup2(2, 1)

        def report(one: Report) -> None:
            with suppress(BrokenPipeError):  # the arena has ended, and so will this process
                reports.write(msgspec.json.encode(one) + b"\n")

        order = msgspec.json.decode(sys.stdin.buffer.readline(), type=JobOrder)
        export, log = (None if path is None else os.fsdecode(path) for path in (order.export, order.bot_log))
        bots: list[Bot] = []
        try:
            game, limit_s = GAMES[order.contest.game], order.contest.limit_ms / 1000
            for name, version in zip_longest(order.contest.bots, order.contest.versions):
                bots.append(seated(game, name, limit_s, log, version, order.called))
            _play_all(order.contest, bots, export, report)
        except (CannotStart, Changed) as error:
            report(Broken(str(error)))
        finally:
            for bot in bots:
                bot.close()


def _end(*_: object) -> NoReturn:
    """End as usual, so that the processes of the bots end too. A second signal must not prevent this."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(1)


def _play_all(contest: Contest, bots: list[Bot], export: str | None, report: Callable[[Report], None]) -> None:
    for line in sys.stdin.buffer:
        number = int(line)
        try:
            deal = play_deal(contest, number, bots, export)
        except OSError as error:
            report(Broken(printable(f"{error.filename or export}: {error.strerror}")))
            return
        except Changed:
            raise
        except Exception as error:
            report(Broken(f"the rules failed in deal {number}: {type(error).__name__}: {error}"))
            raise
        report(deal)


def deal_seed(contest: Contest, number: int) -> bytes:
    return hmac.digest(bytes.fromhex(contest.seed), b"deal:%d" % number, "sha256")


def play_deal(contest: Contest, number: int, bots: list[Bot], export: str | None) -> Deal:
    """Play a deal in every rotation, and write the match files to the folder `export`.

    bots: in the contest's order.
    """
    game, seed = GAMES[contest.game], deal_seed(contest, number)
    matches: list[MatchResult] = []
    times: list[dict[int, int]] = [{} for _ in bots]
    for rotation in range(len(bots)):
        positions = contest.seated(rotation)
        names = [contest.bots[position] for position in positions]
        is_recorded = export is not None or any(isinstance(bot, Called) for bot in bots)
        record = Record(game, contest.options, seed, names, rotation) if is_recorded else None
        players = [_player(bots[position], record, seat) for seat, position in enumerate(positions)]
        moved = None if record is None else record.add
        played = play(game, contest.options, seed, players, id_of_match(seed, rotation), moved)
        matches.append(result(played, positions))
        for position, taken in zip(positions, played.times, strict=True):
            times[position] = merged(times[position], counted(taken))
        if export is not None and record is not None:
            lines = record.finished(played)
            file = Path(export, f"{number:06}-{rotation}.ndjson")
            part = file.with_suffix(".part")  # a file with its final name is complete, whenever the job is killed
            part.write_bytes(b"".join(lines))
            part.replace(file)
    return Deal(number, tuple(matches), tuple(times))


def _player(bot: Bot, record: Record | None, seat: Seat) -> Player:
    """The player of a seat. The tasks of a bot that is called come from the record of the match."""
    if not isinstance(bot, Called):
        return bot
    if record is None:
        raise RuntimeError("a match of a bot that is called is recorded")
    return bot.seated(record, seat)


if __name__ == "__main__":
    main()
