"""Signatures of requests that the service sends, as Standard Webhooks describes them (standardwebhooks.com, version 1).

A secret is derived from the store's secret, the name of its key and a number, so nothing of it is stored.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from secrets import token_bytes
from typing import Final

import msgspec
from msgspec.structs import replace

from events.record import canonical

PREFIX: Final = "whsec_"
OVERLAP_MS: Final = 24 * 3_600_000
"""How long the previous secret stays valid after a renewal."""
KEPT_RENEWALS: Final = 32
"""A renewal that is repeated is recognised by its Idempotency-Key until so many later ones."""
_SECRET_BYTES: Final = range(24, 65)
"""How many bytes a secret has (Standard Webhooks, "Signature scheme")."""


def signed(secrets: Sequence[bytes], message: str, at: int, body: bytes) -> Mapping[str, str]:
    """The headers that sign a body, with a signature by each secret.

    `message` is an id that stays the same if the message is sent again. `at` is the time of sending, in seconds since 1970.
    """
    content = b".".join((message.encode(), str(at).encode(), body))
    digests = (hmac.digest(secret, content, "sha256") for secret in secrets)
    signatures = " ".join(f"v1,{base64.b64encode(digest).decode()}" for digest in digests)
    return {"webhook-id": message, "webhook-timestamp": str(at), "webhook-signature": signatures}


def new_secret() -> str:
    """A random secret, in the form that receivers get."""
    return PREFIX + base64.b64encode(token_bytes(32)).decode()


def secret_of(text: str) -> bytes | None:
    """The bytes of a secret in the form that receivers get, `whsec_` and base64; None if it has another form."""
    try:
        secret = base64.b64decode(text.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        return None
    return secret if text.startswith(PREFIX) and len(secret) in _SECRET_BYTES else None


class SigningKey(msgspec.Struct, frozen=True):
    """The key of one receiver. `name` is unique among all keys, such as `webhook:wh_1`. `renewed_at` is in server milliseconds.

    `renewals` has digests of the Idempotency-Keys of the newest renewals, the newest last.
    """

    name: str
    number: int = 1
    renewed_at: int | None = None
    renewals: tuple[str, ...] = ()

    def renewed(self, now: int, idempotency_key: str) -> "SigningKey":
        """The key with its next secret. It stays as it is if one of the newest renewals had the same Idempotency-Key."""
        digest = hashlib.sha256(idempotency_key.encode()).hexdigest()[:16]
        if digest in self.renewals:
            return self
        renewals = (*self.renewals, digest)[-KEPT_RENEWALS:]
        return replace(self, number=self.number + 1, renewed_at=now, renewals=renewals)

    def secret(self, store_secret: bytes) -> str:
        """The newest secret, in the form that receivers get and the libraries take."""
        return PREFIX + base64.b64encode(self._secret(store_secret, self.number)).decode()

    def headers(self, store_secret: bytes, message: str, now: int, body: bytes) -> Mapping[str, str]:
        """The headers that sign a body, as `signed`; `now` is in server milliseconds.

        For a day after a renewal there are two signatures, so that a receiver may use either secret.
        """
        is_overlap = self.renewed_at is not None and now - self.renewed_at < OVERLAP_MS
        numbers = (self.number, self.number - 1) if is_overlap else (self.number,)
        return signed([self._secret(store_secret, number) for number in numbers], message, now // 1000, body)

    def _secret(self, store_secret: bytes, number: int) -> bytes:
        return hmac.digest(store_secret, b"signing:" + canonical([self.name, number]), "sha256")
