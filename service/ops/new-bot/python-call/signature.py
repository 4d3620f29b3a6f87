"""Signatures of calls, as Standard Webhooks describes them (standardwebhooks.com), with nothing but Python's standard library."""

import base64
import hmac
import time

MAX_AGE_S = 300
"""Calls that were signed earlier are refused, so that nobody can send one again later."""


class Unsigned(Exception):
    """A call is not signed with the secret; the message says why."""


def key_of(secret):
    """The bytes of a secret such as whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw. Raises ValueError if it has another form."""
    if not secret.startswith("whsec_"):
        raise ValueError("a secret begins with whsec_")
    return base64.b64decode(secret.removeprefix("whsec_"), validate=True)


def check(key, headers, body):
    """Check a call: its headers, and the bytes of its body as they arrived. Raises Unsigned."""
    task, sent_at, given = (headers.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    if not sent_at.isascii() or not sent_at.isdigit() or abs(time.time() - int(sent_at[:12])) > MAX_AGE_S:
        raise Unsigned("webhook-timestamp is not a time of the last five minutes")
    content = f"{task}.{sent_at}.".encode("utf-8", "replace") + body
    right = b"v1," + base64.b64encode(hmac.digest(key, content, "sha256"))
    # For a day after the secret was renewed there are two signatures.
    if not any(hmac.compare_digest(right, one.encode("utf-8", "replace")) for one in given.split(" ")):
        raise Unsigned("webhook-signature is not that of this secret")
