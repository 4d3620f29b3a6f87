"""The Idempotency-Key header (draft-ietf-httpapi-idempotency-key-header): a command with the same key is applied once."""

import re
import secrets
from typing import Final

from service.errors import Refused

# Servers join two header lines with a comma, so a bare key with a comma may be two keys.
_KEY: Final = re.compile(r'([\x21\x23-\x2b\x2d-\x5b\x5d-\x7e]{1,64})|"([\x21\x23-\x5b\x5d-\x7e]{1,64})"')


def key(value: str | None) -> str:
    """The key in a header, bare or as a structured string (RFC 9651); a new key if there is no header.

    Raises:
        Refused: `idempotency-key-invalid`.
    """
    if value is None:
        return secrets.token_hex(16)
    found = _KEY.fullmatch(value)
    if found is None:
        raise Refused(
            "idempotency-key-invalid",
            "Send one Idempotency-Key of 1 to 64 visible ASCII characters. A key with a comma must be quoted.",
            parameter="Idempotency-Key",
        )
    bare: str = found[1] or found[2]
    return bare
