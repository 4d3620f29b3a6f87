"""Commands that report a wrong argument, or a problem with a file that an argument names, in one sentence."""

import click

from service.settings import is_text


class Command(click.Command):
    """Rejects arguments that are not UTF-8, except paths of files."""

    def invoke(self, ctx: click.Context) -> object:
        for parameter in self.get_params(ctx):
            given = ctx.params.get(parameter.name or "")
            words = given if isinstance(given, tuple) else (given,)
            if not isinstance(parameter.type, click.Path) and any(isinstance(w, str) and not is_text(w) for w in words):
                raise click.BadParameter("This is not text in UTF-8.", ctx, parameter)
        return super().invoke(ctx)


class LocalCommand(Command):
    """A command that only reads and writes files; reports an OSError with the file's name."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # the reader of the output has ended, which is no error
            raise
        except OSError as error:
            name = f"{printable(str(error.filename))}: " if error.filename is not None else ""
            raise click.ClickException(f"{name}{error.strerror or error}") from error


def printable(text: str) -> str:
    """Untrusted text with line ends and control characters replaced, so that it cannot control a terminal."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)
