"""`moonstone bot`: `new` writes the files of a bot, and `task` prints a task as bots get it."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from service.arena.play import id_of_match, play
from service.games.protocol import AnyGame, Task
from service.games.registry import GAMES
from service.match.events import LONGEST_LIMIT_MS
from service.ops.arguments import Command, LocalCommand
from service.ops.bot_check.recorded import first
from service.repository.signing import new_secret

_FOLDER: Final = Path(__file__).with_name("new-bot")
LANGUAGES: Final = {"python": "python", "javascript": "javascript", "js": "javascript"}
DOORS: Final = ("api", "call")
"""How a bot gets its tasks: by the API, or in calls of the service."""
_DOOR: Final = click.option(
    "--door",
    type=click.Choice(DOORS),
    default="api",
    show_default=True,
    help="How the bot gets its tasks: it asks the API, or the service calls it.",
)
SAMPLE_GAME: Final = "ape_town"
_SEED: Final = bytes(32)


@click.group()
def bot() -> None:
    """Tools for authors of bots."""


bot.command_class = Command


@bot.command(cls=LocalCommand)
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--language", type=click.Choice(tuple(LANGUAGES)), default="python", show_default=True)
@_DOOR
def new(folder: Path, language: str, door: str) -> None:
    """Write a bot into the new folder FOLDER. It changes no file that is there already."""
    common, own = (_FOLDER / name for name in (LANGUAGES[language], f"{LANGUAGES[language]}-{door}"))
    if folder.exists() and any(folder.iterdir()):
        raise click.ClickException(f"{folder} is not empty; give the name of a new folder.")
    folder.mkdir(parents=True, exist_ok=True)
    files = {file.name: file.read_bytes() for part in (common, own) for file in part.iterdir() if file.is_file()}
    files["sample_task.json"] = sample_task(GAMES[SAMPLE_GAME], door) + b"\n"
    if door == "call":
        files["secret"] = f"{new_secret()}\n".encode()
    for name, content in sorted(files.items()):
        mode = 0o600 if name == "secret" else 0o666
        with os.fdopen(os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(content)
        click.echo(folder / name)
    click.echo("Its README.md says how to start it.")


@bot.command(cls=LocalCommand)
@click.argument("game", metavar="GAME", type=click.Choice(sorted(GAMES)))
@_DOOR
def task(game: str, door: str) -> None:
    """Print the first task of a match of two bots in GAME.

    With `--door api` it is what a bot of the arena gets, and with `--door call` the body of a call.
    """
    click.echo(sample_task(GAMES[game], door))


def sample_task(game: AnyGame, door: str = "api") -> bytes:
    """The first task of a match of two bots as JSON. It is always the same; the times in a call are of 1970."""
    if door == "call":
        return msgspec.json.format(msgspec.json.encode(first(game, LONGEST_LIMIT_MS).task(0)))
    try:
        play(game, {}, _SEED, [_Asked(), _Asked()], id_of_match(_SEED, 0))
    except _Asked as asked:
        return msgspec.json.format(msgspec.json.encode(asked.task))
    raise RuntimeError("no bot is asked in this game")


class _Asked(Exception):
    """A player who ends the match at its first task, and keeps this task."""

    task: Task[Any, Any]

    def begin(self) -> None:
        """It is always ready."""

    def answer(self, task: Task[Any, Any], _key: Callable[[], bytes]) -> Any:
        self.task = task
        raise self
