"""`moonstone bot`: `new` writes the files of a bot that plays by the API, and `task` prints a task as bots get it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from service.arena.play import id_of_match, play
from service.games.protocol import AnyGame, Task
from service.games.registry import GAMES
from service.ops.arguments import Command, LocalCommand

_FOLDER: Final = Path(__file__).with_name("new-bot")
LANGUAGES: Final = {"python": "python", "javascript": "javascript", "js": "javascript"}
SAMPLE_GAME: Final = "ape_town"
_SEED: Final = bytes(32)


@click.group()
def bot() -> None:
    """Tools for authors of bots."""


bot.command_class = Command


@bot.command(cls=LocalCommand)
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--language", type=click.Choice(tuple(LANGUAGES)), default="python", show_default=True)
def new(folder: Path, language: str) -> None:
    """Write a bot into the new folder FOLDER. It changes no file that is there already."""
    if folder.exists() and any(folder.iterdir()):
        raise click.ClickException(f"{folder} is not empty; give the name of a new folder.")
    folder.mkdir(parents=True, exist_ok=True)
    files = {file.name: file.read_bytes() for file in (_FOLDER / LANGUAGES[language]).iterdir() if file.is_file()}
    files["sample_task.json"] = sample_task(GAMES[SAMPLE_GAME]) + b"\n"
    for name, content in sorted(files.items()):
        (folder / name).write_bytes(content)
        click.echo(folder / name)
    click.echo("Its README.md says how to start it.")


@bot.command(cls=LocalCommand)
@click.argument("game", metavar="GAME", type=click.Choice(sorted(GAMES)))
def task(game: str) -> None:
    """Print the first task of a match of GAME.

    It is what a bot of the arena gets, in a match of two bots.
    """
    click.echo(sample_task(GAMES[game]))


def sample_task(game: AnyGame) -> bytes:
    """The first task of a match of two bots as JSON. It is always the same."""
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
