"""The Idempotency-Key header (draft-ietf-httpapi-idempotency-key-header): what makes a command one, however often sent."""

import re
import secrets
from typing import Final

from service.errors import Refused

# Servers join two lines with a comma: a bare key that holds one may be two keys.
_KEY: Final = re.compile(r'([\x21\x23-\x2b\x2d-\x5b\x5d-\x7e]{1,64})|"([\x21\x23-\x5b\x5d-\x7e]{1,64})"')


def key(value: str | None) -> str:
    """The key in a header, bare or as a structured string; a new one if there is no header.

    Raises:
        Refused: `idempotency-key-invalid`.
    """
    if value is None:
        return secrets.token_hex(16)
    found = _KEY.fullmatch(value)
    if found is None:
        raise Refused(
            "idempotency-key-invalid",
            "One Idempotency-Key, 1 to 64 visible ASCII characters; with a comma it must be quoted.",
            parameter="Idempotency-Key",
        )
    bare: str = found[1] or found[2]
    return bare
