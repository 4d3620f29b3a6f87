"""The beginning of an erasure; `service.automation.erasure` does the rest, whatever process dies in between."""

from service.repository.bots import is_hosted
from service.repository.ports import Ports


def erase(ports: Ports, player: str) -> None:
    """Erase a player's name, tokens, recovery code and webhooks, in every process at once, and let a worker end the rest.

    The player's hosted bots are erased too. The first record decides: from then on the account is erased also if this
    process dies.
    """
    at = ports.now()
    ports.accounts.begin_erasure(player, at)
    ports.accounts.erase(player, at)
    ports.webhooks.erase(player)
    erase_bots(ports, player, at)


def erase_bots(ports: Ports, player: str, at: int) -> None:
    """Erase what belongs to an account that is being erased: its hosted bots, or the settings of a bot. May be repeated."""
    for bot in ports.bots.of(player):
        ports.accounts.begin_erasure(bot, at)
        ports.accounts.erase(bot, at)
        ports.bots.remove(bot, player)
        ports.bot_tasks.forget(bot)
    if is_hosted(player):
        for settings in ports.bots.find((player,)).values():
            ports.bots.remove(player, settings.owner)
        ports.bot_tasks.forget(player)
