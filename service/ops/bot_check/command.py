"""`moonstone bot check`: tries a bot that is called, before the service calls it."""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import click
import msgspec

from service.games.registry import GAMES
from service.match.events import LONGEST_LIMIT_MS, SHORTEST_LIMIT_MS
from service.ops.arguments import LocalCommand
from service.ops.bot_check.recorded import Recorded, recorded
from service.ops.bot_check.verdict import Verdict
from service.ops.signing_secret import SECRET_FILE, read_secret
from service.repository.outgoing import url_fault

_WORDS: Final = {"ok": "ok     ", "fault": "FAULT  ", "skipped": "skipped"}


@click.command(cls=LocalCommand)
@click.argument("url")
@SECRET_FILE
@click.option(
    "--game",
    "games",
    multiple=True,
    type=click.Choice(sorted(GAMES)),
    help="A game that the bot plays; may be repeated.  [default: all]",
)
@click.option(
    "--limit-ms",
    type=click.IntRange(SHORTEST_LIMIT_MS, LONGEST_LIMIT_MS),
    default=LONGEST_LIMIT_MS,
    show_default=True,
    help="How long the bot may take for a decision, as `limit_ms` of its account.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as JSON.")
def check(url: str, secret_file: Path, games: tuple[str, ...], limit_ms: int, *, as_json: bool) -> None:
    """Try the bot that is called at URL: https, or http on this machine.

    It gets the calls that the service would send, with recorded decisions of every kind, and calls that it must refuse.
    Each check prints a verdict. The exit code is 0 if there is no fault, 1 if there is one, and 2 for wrong arguments.
    """
    if fault := url_fault(url, loopback=True):
        raise click.UsageError(f"The URL {fault}. A bot on this machine may have http://127.0.0.1:8000/ and the like.")
    secret = read_secret(secret_file)
    tasks = {game: recorded(GAMES[game], limit_ms) for game in sorted(games) or sorted(GAMES)}
    found = asyncio.run(_found(url, secret, limit_ms, tasks, is_quiet=as_json))
    faults = sum(one.outcome == "fault" for one in found)
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode({"url": url, "faults": faults, "verdicts": found})))
    elif faults:
        click.echo(f"Checks with a fault: {faults} of {len(found)}.")
    else:
        click.echo("No fault found.")
    sys.exit(1 if faults else 0)


async def _found(
    url: str, secret: bytes, limit_ms: int, tasks: Mapping[str, Sequence[Recorded]], *, is_quiet: bool
) -> Sequence[Verdict]:
    """The verdicts, which are printed as they are found unless `is_quiet`."""
    from service.adapters.outgoing import Client  # noqa: PLC0415  (other commands need not load aiohttp)
    from service.ops.bot_check.called import CalledBot  # noqa: PLC0415
    from service.ops.bot_check.checks import verdicts  # noqa: PLC0415

    found = []
    async with Client(loopback=True) as client:
        async for verdict in verdicts(CalledBot(client, url, secret, limit_ms), tasks):
            found.append(verdict)
            if not is_quiet:
                click.echo(f"{_WORDS[verdict.outcome]}  {verdict.check}: {verdict.text}")
    return found
