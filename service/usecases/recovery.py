"""Recovery codes: whoever has lost every token, or fears that one was stolen, gets a new one and revokes all others.

A code has the id of its player, so that it suffices alone. It stays valid until it is renewed: if the answer to a
recovery is lost, the client sends the same code again.
"""

import hmac
import re
from typing import Final

from service.errors import Refused
from service.repository.accounts import Player, Token, digest_of
from service.repository.ports import Ports
from service.usecases.accounts import has_checksum, invalid_token, new_secret, new_token, with_checksum

PREFIX: Final = "reco_"
LENGTH: Final = 75
"""Characters of a code: the prefix, 20 hex digits, `_`, 43 digits of the secret and 6 of the checksum."""
_CODE: Final = re.compile(rf"{PREFIX}([0-9a-f]{{20}})_[0-9A-Za-z]{{49}}", re.ASCII)
_MALFORMED: Final = (
    f"This is no recovery code: it is incomplete or mistyped. A code begins with {PREFIX} and has {LENGTH} characters."
)
_NO_DIGEST: Final = digest_of("")


def renew_code(ports: Ports, player: Player) -> str:
    """Give a player a new recovery code; the code before becomes invalid.

    Raises:
        Refused: `token-invalid` if the account was erased meanwhile.
    """
    code = with_checksum(f"{PREFIX}{player.id.removeprefix('pl_')}_{new_secret()}")
    if not ports.accounts.set_recovery(player.id, digest_of(code)):
        raise invalid_token()
    return code


def player_of(code: str) -> str | None:
    """The id of the player in a code, who need not exist; None if the text has not the shape and checksum of a code."""
    found = _CODE.fullmatch(code)
    return None if found is None or not has_checksum(code) else f"pl_{found[1]}"


def recover(ports: Ports, code: str) -> tuple[Player, str]:
    """The player of a code, with a new token that has all scopes. All other tokens are revoked in every process at
    once.

    Raises:
        Refused: `recovery-code-invalid`, the same for a wrong or renewed code and for a player who does not exist. That
            of a malformed code says so, which its sender could have found out alone.
    """
    player_id = player_of(code)
    if player_id is None:
        raise Refused("recovery-code-invalid", _MALFORMED)
    digest = digest_of(code)
    stored = ports.accounts.recovery_digest(player_id)
    if not hmac.compare_digest(stored or _NO_DIGEST, digest):
        raise _invalid()
    secret = new_token()
    token = Token(label="recovery", created_at=ports.now())
    player = ports.accounts.players((player_id,)).get(player_id)
    if player is None or not ports.accounts.recover(player_id, digest, digest_of(secret), token):
        raise _invalid()
    return player, secret


def _invalid() -> Refused:
    return Refused(
        "recovery-code-invalid", "This recovery code is not valid (any more); only the newest one of a player is."
    )
