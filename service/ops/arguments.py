"""Commands that tell in a sentence what is wrong with their words and with the files that those name."""

import click

from service.settings import is_text


class Command(click.Command):
    """Takes text only as text: bytes that are not UTF-8 may name a file, and are nothing else."""

    def invoke(self, ctx: click.Context) -> object:
        for parameter in self.get_params(ctx):
            given = ctx.params.get(parameter.name or "")
            words = given if isinstance(given, tuple) else (given,)
            if not isinstance(parameter.type, click.Path) and any(isinstance(w, str) and not is_text(w) for w in words):
                raise click.BadParameter("This is not text in UTF-8.", ctx, parameter)
        return super().invoke(ctx)


class LocalCommand(Command):
    """One that does nothing but read and write files."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # whoever read has gone, which is no fault
            raise
        except OSError as error:
            name = f"{printable(str(error.filename))}: " if error.filename is not None else ""
            raise click.ClickException(f"{name}{error.strerror or error}") from error


def printable(text: str) -> str:
    """What a stranger's file says, without what ends a line or steers a terminal."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)
