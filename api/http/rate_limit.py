"""Rate limits in responses: refusals and headers."""

import time
from typing import Final

from service.errors import Refused
from service.repository.limits import Allowance

_COUNTED: Final = {
    "moves": "actions",
    "creations": "new matches",
    "creations-by-address": "new matches",
    "bot-matches": "new matches of bots alone",
    "sign-ups": "new players",
    "audits": "audits",
    "account-changes": "changes of the account",
    "exports": "exports of the account",
    "recoveries": "recoveries",
    "wrong-recovery-codes": "wrong recovery codes",
}
"""What the policies count; all others count requests."""
REFUSAL_PAUSE_S: Final = 0.1
"""A refusal is delayed by this time, so that a client that repeats requests at once does not keep the process busy."""


def check(allowance: Allowance) -> None:
    """Raise Refused, `rate-limited`, if the request is not allowed, after a pause that only its client has to wait."""
    if allowance.wait:
        time.sleep(REFUSAL_PAUSE_S)
        policy = allowance.policy
        counted = _COUNTED.get(policy.name, "requests")
        raise Refused(
            "rate-limited",
            f"Too many {counted}: the limit is {policy.quota} in {policy.window} s. Wait {allowance.wait} s.",
            retry_after=allowance.wait,
        )


def headers(allowance: Allowance) -> tuple[tuple[str, str], ...]:
    """The headers of draft-ietf-httpapi-ratelimit-headers."""
    policy = allowance.policy
    return (
        ("RateLimit-Policy", f'"{policy.name}";q={policy.quota};w={policy.window}'),
        ("RateLimit", f'"{policy.name}";r={allowance.remaining};t={allowance.reset}'),
    )
