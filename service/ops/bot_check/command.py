"""`moonstone bot check`: tries a bot before it plays with others."""

import asyncio
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import click
import msgspec

from service.arena.entries import shown_url
from service.games.registry import GAMES
from service.match.characters import printable
from service.match.events import LONGEST_LIMIT_MS, SHORTEST_LIMIT_MS
from service.ops.arguments import LocalCommand
from service.ops.bot_check import playing
from service.ops.bot_check.recorded import Recorded, recorded
from service.ops.bot_check.verdict import Verdict
from service.ops.signing_secret import read_secret
from service.repository.outgoing import url_fault

_TOKEN: Final = re.compile("[!-~]+")
_WORDS: Final = {"ok": "ok     ", "fault": "FAULT  ", "skipped": "skipped"}


@click.command(cls=LocalCommand)
@click.argument("url")
@click.option(
    "--secret-file",
    type=click.Path(dir_okay=False, path_type=Path),
    default="secret",
    show_default=True,
    help="The file with the secret that signs calls (whsec_…), which the bot has too.",
)
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
@click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The file with the token of a bot that is not called but plays over the API. URL is then that of the service.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as JSON.")
def check(
    url: str, secret_file: Path, games: tuple[str, ...], limit_ms: int, token_file: Path | None, *, as_json: bool
) -> None:
    """Try the bot that is called at URL: https, or http on this machine.

    It gets the calls that the service would send, with recorded decisions of every kind, and calls that it must refuse.
    Each check prints a verdict. The exit code is 0 if there is no fault, 1 if there is one, and 2 for wrong arguments.

    With --token-file, URL is that of a service. There the bot, which has to run, plays the beginning of a private match of each
    game.
    """
    if fault := url_fault(url, loopback=True):
        raise click.UsageError(f"The URL {fault}. A bot on this machine may have http://127.0.0.1:8000/ and the like.")
    wanted = sorted(games) or sorted(GAMES)
    found: list[Verdict] = []

    def report(verdict: Verdict) -> None:
        found.append(verdict)
        if not as_json:
            click.echo(f"{_WORDS[verdict.outcome]}  {verdict.check}: {verdict.text}")

    if token_file is not None:
        token = token_file.read_text(encoding="ascii", errors="replace").strip()
        if _TOKEN.fullmatch(token) is None:  # do not print it
            raise click.UsageError(f"--token-file: {printable(str(token_file))} has no token.")
        for verdict in playing.verdicts(playing.Service(url, token), [GAMES[game] for game in wanted]):
            report(verdict)
    else:
        secret = read_secret(secret_file)
        tasks = {game: recorded(GAMES[game], limit_ms) for game in wanted}
        asyncio.run(_call(url, secret, limit_ms, tasks, report))
    faults = sum(one.outcome == "fault" for one in found)
    if as_json:
        click.echo(
            msgspec.json.format(msgspec.json.encode({"url": shown_url(url), "faults": faults, "verdicts": found}))
        )
    elif faults:
        click.echo(f"Checks with a fault: {faults} of {len(found)}.")
    else:
        click.echo("No fault found.")
    sys.exit(1 if faults else 0)


async def _call(
    url: str,
    secret: bytes,
    limit_ms: int,
    tasks: Mapping[str, Sequence[Recorded]],
    report: Callable[[Verdict], None],
) -> None:
    from service.adapters.outgoing import Client  # noqa: PLC0415  (other commands need not load aiohttp)
    from service.ops.bot_check.called import CalledBot  # noqa: PLC0415
    from service.ops.bot_check.checks import verdicts  # noqa: PLC0415

    async with Client(loopback=True) as client:
        async for verdict in verdicts(CalledBot(client, url, secret, limit_ms), tasks):
            report(verdict)
