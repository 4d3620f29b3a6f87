"""Seeks: a player waits for others who want the same match. `service.automation.pairing` puts them together."""

from typing import Final

import msgspec
from msgspec.structs import replace

from service.errors import Refused
from service.match.new_match import NewMatch, check_pace, checked_options, game_named, with_clock
from service.repository.ports import Ports
from service.repository.seeks import Seek
from service.usecases.match_codes import match_id_of
from service.usecases.submit import reused

SHORTEST_S: Final = 10
LONGEST_S: Final = 3_600
DEFAULT_S: Final = 600
"""How long a seek lasts, in seconds."""
MAX_SEEKS: Final = 10_000
"""Maximum number of seeks that wait at once, of all players."""


def seek(
    ports: Ports,
    player: str,
    wanted: NewMatch,
    key: str,
    seconds: int,
    *,
    rating_from: int | None = None,
    rating_to: int | None = None,
) -> Seek:
    """Wait for players who want the same match. The same key gives the same seek again, also for an hour after its end.

    `rating_from` and `rating_to` are the least and the greatest rating of the other players.

    Raises:
        Refused: `game-not-found`, `invalid-options`, `already-seeking`, `too-many-seeks`, `idempotency-key-reused`.
    """
    game = game_named(ports.games, wanted.game)
    wanted = replace(with_clock(game, wanted), default_clock=False)
    check_pace(wanted.clock)
    options = msgspec.to_builtins(checked_options(game, wanted))
    if rating_from is not None and rating_to is not None and rating_from > rating_to:
        raise Refused("invalid-options", "rating_from is greater than rating_to.", parameter="rating_from")
    now = ports.now()
    made = Seek(
        match_id_of(ports.secret, player, f"seek:{key}"),
        player,
        replace(wanted, options=options),
        created_at=now,
        expires_at=now + 1000 * seconds,
        rating_from=rating_from,
        rating_to=rating_to,
    )
    found = ports.seeks.add(made, MAX_SEEKS)
    if found is None:
        raise Refused("too-many-seeks", f"{MAX_SEEKS} players are waiting; try again later.")
    if found.id != made.id:
        raise Refused("already-seeking", "You have a seek already; end it first.")
    if replace(found, created_at=0, expires_at=found.expires_at - found.created_at, match=None) != replace(
        made, created_at=0, expires_at=1000 * seconds
    ):
        raise reused()
    return _shown(ports, found)


def find(ports: Ports, player: str, seek_id: str) -> Seek:
    """A player's own seek that waits, or has led to a match.

    Raises:
        Refused: `seek-not-found`: there is none, it ended, or it is another player's.
    """
    waiting = ports.seeks.of(player)
    if waiting is not None and waiting.id == seek_id:
        return waiting
    done = ports.seeks.done(seek_id)
    if done is None or done.player != player or done.match is None:
        raise Refused("seek-not-found", "You have no such seek; it may have ended.")
    return _shown(ports, done)


def _shown(ports: Ports, seek: Seek) -> Seek:
    """A seek without its match if that is not created yet."""
    is_created = seek.match is not None and bool(ports.log.read(seek.match, last=1).events)
    return seek if is_created else replace(seek, match=None)


def cancel(ports: Ports, player: str, seek_id: str) -> None:
    """End a seek.

    Raises:
        Refused: `seek-not-found`, also if it has just led to a match.
    """
    if not ports.seeks.remove(find(ports, player, seek_id)):
        raise Refused("seek-not-found", "This seek has ended.")
