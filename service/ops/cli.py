"""The command `moonstone`: `play`, `verify`, `view`, `dataset` and `bot` run anywhere, other commands need Unix."""

from typing import Final

import click

from service.ops.arguments import Command
from service.ops.bot_check.command import check
from service.ops.dump_commands import dataset
from service.ops.local_commands import play, verify
from service.ops.new_bot import bot
from service.ops.view_command import view

NEED_UNIX: Final = (
    "arena",
    "serve",
    "workers",
    "api",
    "backup",
    "restore",
    "erased",
    "check",
    "ratings",
    "resume",
    "dump",
)


class _Group(click.Group):
    """Imports the commands that use other processes only when one is called: their imports need Unix, and take time."""

    command_class = Command

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted((*super().list_commands(ctx), *NEED_UNIX))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in NEED_UNIX:
            return super().get_command(ctx, cmd_name)
        if not _is_unix():
            return _refusal(cmd_name)
        if cmd_name == "arena":
            from service.ops.arena_command import arena  # noqa: PLC0415

            return arena
        from service.ops.server_commands import COMMANDS  # noqa: PLC0415

        return COMMANDS[cmd_name]


def _is_unix() -> bool:
    try:
        import fcntl  # noqa: F401, PLC0415
    except ImportError:
        return False
    return True


def _refusal(name: str) -> click.Command:
    """A command that takes any arguments and says that it cannot run here."""

    def refuse() -> None:
        raise click.ClickException(
            f"`moonstone {name}` needs Linux or another Unix, such as WSL or a container; `moonstone play`, "
            "`moonstone verify`, `moonstone view` and `moonstone dataset` run here."
        )

    anything = {"ignore_unknown_options": True, "allow_extra_args": True}
    return click.Command(name, callback=refuse, context_settings=anything, help="Not available here: needs Unix.")


@click.group(cls=_Group)
@click.version_option(package_name="moonstone")
def main() -> None:
    """Board games as an event-sourced service that anyone can check."""


main.add_command(play)
main.add_command(verify)
main.add_command(dataset)
bot.add_command(check)
main.add_command(bot)
main.add_command(view)


if __name__ == "__main__":
    main()
