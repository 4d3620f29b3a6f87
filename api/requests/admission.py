"""Limits of what requests make or change: for a player, for an address, for the whole service."""

from typing import Final

from api.http import context
from service.errors import Refused
from service.match.due_times import HINT_MS
from service.repository.limits import Policy

CREATION_WINDOW: Final = 60
"""Seconds for the quota of new matches of a player or an address. Limited, since events are stored for ever."""
BOT_MATCH_WINDOW: Final = 600
"""Seconds for the quota of matches of bots alone that an address starts. Limited, since workers play each to its end."""
ACCOUNT_WINDOW: Final = 600
"""Seconds for the quotas of new players, of changes and exports of an account, and of recoveries."""
CHANGES_PER_EXPORT: Final = 6
"""The quota of changes is this many times that of exports."""


def admit_sign_up() -> None:
    """Count a new player of the address.

    Raises:
        Refused: `rate-limited`.
    """
    quota = context.container().settings.sign_ups_by_address
    context.take(Policy("sign-ups", quota, ACCOUNT_WINDOW), context.address())


def admit_account_change() -> None:
    """Count a change of the caller's account.

    Raises:
        Refused: `rate-limited`.
    """
    quota = context.container().settings.account_changes_by_token
    context.take(Policy("account-changes", quota, ACCOUNT_WINDOW), context.caller().id)


def admit_export() -> None:
    """Count an export of the caller. It reads all matches of the player.

    Raises:
        Refused: `rate-limited`.
    """
    quota = max(1, context.container().settings.account_changes_by_token // CHANGES_PER_EXPORT)
    context.take(Policy("exports", quota, ACCOUNT_WINDOW), context.caller().id)


def admit_recovery() -> None:
    """Count a recovery from the address, before its code is compared.

    Raises:
        Refused: `rate-limited`.
    """
    quota = context.container().settings.recoveries_by_address
    context.take(Policy("recoveries", quota, ACCOUNT_WINDOW), context.address())


def count_wrong_code(player: str) -> None:
    """Count a wrong recovery code for a player, who need not exist.

    The right code is always accepted: otherwise whoever knows the id of a player could lock the player out.

    Raises:
        Refused: `rate-limited`.
    """
    quota = context.container().settings.recoveries_by_address
    context.take(Policy("wrong-recovery-codes", quota, ACCOUNT_WINDOW), player, quiet=True)


def admit_creation() -> None:
    """Count a new match of the caller.

    Raises:
        Refused: `rate-limited`.
    """
    limits = context.container().settings
    context.take(Policy("creations", limits.creations_by_token, CREATION_WINDOW), context.caller().id)
    by_address = Policy("creations-by-address", limits.creations_by_address, CREATION_WINDOW)
    context.take(by_address, context.address(), quiet=True)


def admit_match_of_bots() -> None:
    """Count a match of bots alone that is about to start.

    Raises:
        Refused: `rate-limited`; `bots-busy` while the maximum number of such matches waits for a worker.
    """
    limits, ports = context.container().settings, context.ports()
    by_address = Policy("bot-matches", limits.bot_matches_by_address, BOT_MATCH_WINDOW)
    context.take(by_address, context.address(), quiet=True)
    if ports.log.count_due("bots", ports.now() + HINT_MS) >= limits.bot_matches_waiting:
        raise Refused("bots-busy", "Too many matches of bots alone are waiting; start this one later.")
