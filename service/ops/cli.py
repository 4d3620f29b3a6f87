"""The command `moonstone`: `play`, `verify`, `view`, `dataset` and `bot` run anywhere, other commands need Unix."""

from functools import cache
from typing import Final

from service.adapters.uncollected import uncollected

with uncollected():
    import click

    from service.ops.arguments import Command

ANYWHERE: Final = ("bot", "dataset", "play", "verify", "view")
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
    """Imports a command only when it is called: the imports of all commands take time, and those of some need Unix."""

    command_class = Command

    def list_commands(self, _: click.Context) -> list[str]:
        return sorted((*ANYWHERE, *NEED_UNIX))

    def get_command(self, _: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in NEED_UNIX and not _is_unix():
            return _refusal(cmd_name)
        return _imported(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:
            # click suggests commands that are added to the group, and these are not.
            raise click.NoSuchCommand(error.command_name, possibilities=self.list_commands(ctx), ctx=ctx) from None


@cache
@uncollected()
def _imported(name: str) -> click.Command | None:
    match name:
        case "play" | "verify":
            from service.ops import local_commands  # noqa: PLC0415

            return local_commands.play if name == "play" else local_commands.verify
        case "view":
            from service.ops.view_command import view  # noqa: PLC0415

            return view
        case "dataset":
            from service.ops.dump_commands import dataset  # noqa: PLC0415

            return dataset
        case "bot":
            from service.ops.bot_check.command import check  # noqa: PLC0415
            from service.ops.new_bot import bot  # noqa: PLC0415

            bot.add_command(check)
            return bot
        case "arena":
            from service.ops.arena_command import arena  # noqa: PLC0415

            return arena
    if name not in NEED_UNIX:
        return None
    from service.ops.server_commands import COMMANDS  # noqa: PLC0415

    return COMMANDS[name]


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


if __name__ == "__main__":
    main()
