"""Invitations to a match: codes that let their holders take a seat until a time, also in a private match.

The service stores no invitation. The code contains its time, signed with the store's secret, so that it needs no cap,
and survives a backup and a restore. No invitation outlives the start of its match.
"""

import base64
import hmac
import re
from typing import Final

import msgspec

from events.record import MatchId
from service.errors import Refused, no_match
from service.repository.ports import Ports

SHORTEST_S: Final = 60
LONGEST_S: Final = 604_800
DEFAULT_S: Final = 86_400
_CODE: Final = re.compile(r"([0-9]{13})-([a-z2-7]{16})", re.ASCII)


class Invitation(msgspec.Struct, frozen=True):
    """An invitation to a match. `expires_at` is in server milliseconds."""

    match: MatchId
    invitation: str
    expires_at: int


def invite(ports: Ports, player: str, match_id: MatchId, seconds: int) -> Invitation:
    """A new invitation. The creator and the seats of an open match may invite.

    Raises:
        Refused: `match-not-found` (also for a private match of others), `not-seated`, `match-not-open`.
    """
    match, _ = ports.history.newest(match_id)
    if not match.is_of(player):
        if match.created.private:
            raise no_match()
        raise Refused("not-seated", "Only the creator and the players of a match may invite to it.")
    if match.status != "open":
        raise Refused("match-not-open", "The match has started or ended.", match_status=match.status)
    until = ports.now() + 1000 * seconds
    return Invitation(match_id, f"{until:013d}-{_signature(ports.secret, match_id, until)}", until)


def expires_at(secret: bytes, match_id: MatchId, invitation: str) -> int | None:
    """When an invitation expires, in server milliseconds; None if this service did not create it for this match."""
    found = _CODE.fullmatch(invitation)
    if found is None:
        return None
    until = int(found[1])
    return until if hmac.compare_digest(found[2], _signature(secret, match_id, until)) else None


def _signature(secret: bytes, match_id: MatchId, until: int) -> str:
    signed = hmac.digest(secret, f"invite:{match_id}:{until}".encode(), "sha256")
    return base64.b32encode(signed).decode().lower()[:16]
