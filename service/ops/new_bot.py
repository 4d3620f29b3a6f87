"""`moonstone bot new`: writes the files of a bot that plays by the API, to begin with."""

from pathlib import Path
from typing import Final

import click

from service.ops.arguments import Command, LocalCommand

_FOLDER: Final = Path(__file__).with_name("new-bot")
LANGUAGES: Final = tuple(sorted(folder.name for folder in _FOLDER.iterdir()))


@click.group()
def bot() -> None:
    """Tools for authors of bots."""


bot.command_class = Command


@bot.command(cls=LocalCommand)
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--language", type=click.Choice(LANGUAGES), default="python", show_default=True)
def new(folder: Path, language: str) -> None:
    """Write a bot into the new folder FOLDER. It changes no file that is there already."""
    if folder.exists() and any(folder.iterdir()):
        raise click.ClickException(f"{folder} is not empty; give the name of a new folder.")
    folder.mkdir(parents=True, exist_ok=True)
    for file in sorted((_FOLDER / language).iterdir()):
        if file.is_file():
            (folder / file.name).write_bytes(file.read_bytes())
            click.echo(folder / file.name)
    click.echo("Its README.md says how to start it.")
