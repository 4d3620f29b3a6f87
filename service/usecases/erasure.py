"""Erasure of an account. This is its beginning; `service.automation.erasure` does the rest, whatever process dies in between."""

from service.repository.ports import Ports


def erase(ports: Ports, player: str) -> None:
    """Erase a player's name, tokens, recovery code and webhooks, in every process at once, and let a worker end the rest.

    The first record decides: from then on the account is erased also if this process dies.
    """
    at = ports.now()
    ports.accounts.begin_erasure(player, at)
    ports.accounts.erase(player, at)
    ports.webhooks.erase(player)
