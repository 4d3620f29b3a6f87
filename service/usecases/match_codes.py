"""What the store's secret gives for a match: the id of a new match, and the code with which a player may join a private one."""

import base64
import hmac

from events.record import MatchId, canonical
from service.match.model import Match
from service.repository.ports import Ports


def match_id_of(secret: bytes, player: str, key: str) -> MatchId:
    """The id of the match that a player creates with a key."""
    return _short(hmac.digest(secret, canonical([player, key]), "sha256"), 26)


def _short(digest: bytes, length: int) -> str:
    return base64.b32encode(digest).decode().lower()[:length]


def join_code_of(secret: bytes, match_id: MatchId) -> str:
    """The code with which a player may join a private match."""
    return _short(hmac.digest(secret, b"join:" + match_id.encode(), "sha256"), 10)


def seen_join_code(ports: Ports, match: Match, player: str) -> str | None:
    """The join code of a private match, for its creator and its seats; None for all others."""
    if not match.created.private or (player != match.creator and match.seat_of(player) is None):
        return None
    return join_code_of(ports.secret, match.id)
