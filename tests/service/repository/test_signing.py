"""Signatures, verified by the library that receivers use."""

import base64

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from service.adapters.clock import wall_clock
from service.repository.signing import KEPT_RENEWALS, OVERLAP_MS, SigningKey

STORE = bytes(range(32))
BODY = '{"type":"your_turn","täxt":1}'.encode()
KEY = SigningKey("webhook:wh_1")


def verifies(secret: str, key: SigningKey, now: int, body: bytes = BODY) -> bool:
    headers = dict(key.headers(STORE, "m-3-your_turn", now, BODY))
    try:
        Webhook(secret).verify(body.decode(), headers)
    except WebhookVerificationError:
        return False
    return True


def test_the_library_verifies_our_signature_and_refuses_any_other() -> None:
    now = wall_clock()
    secret = KEY.secret(STORE)
    assert verifies(secret, KEY, now)
    assert not verifies(secret, KEY, now, BODY + b" ")
    assert not verifies(secret, SigningKey("webhook:wh_2"), now)
    assert not verifies(SigningKey("webhook:wh_1").secret(bytes(32)), KEY, now)
    assert not verifies(secret, KEY, now - 600_000)


def test_a_secret_has_32_bytes_and_says_nothing_about_others() -> None:
    keys = [SigningKey(name, number) for name in ("a", "b", "bot:a") for number in (1, 2)]
    secrets = [key.secret(STORE) for key in keys]
    assert len(set(secrets)) == len(keys)
    assert {len(base64.b64decode(secret.removeprefix("whsec_"))) for secret in secrets} == {32}


@pytest.mark.parametrize(("later_ms", "old"), [(0, True), (OVERLAP_MS - 1, True), (OVERLAP_MS, False)])
def test_both_secrets_are_valid_for_a_day_after_a_renewal(later_ms: int, old: bool) -> None:
    now = wall_clock()
    renewed = KEY.renewed(now - later_ms, "first")
    assert verifies(renewed.secret(STORE), renewed, now)
    assert verifies(KEY.secret(STORE), renewed, now) == old
    twice = renewed.renewed(now, "second")
    assert verifies(twice.secret(STORE), twice, now)
    assert not verifies(KEY.secret(STORE), twice, now)


def test_a_renewal_that_is_repeated_changes_nothing_also_after_others() -> None:
    renewed = KEY.renewed(1, "0")
    assert (renewed.number, renewed.renewed(2, "0")) == (2, renewed)
    for other in range(1, KEPT_RENEWALS):
        renewed = renewed.renewed(2, str(other))
    assert (renewed.number, renewed.renewed(3, "0")) == (1 + KEPT_RENEWALS, renewed)
    forgotten = renewed.renewed(3, "new").renewed(4, "0")
    assert (forgotten.number, len(forgotten.renewals)) == (3 + KEPT_RENEWALS, KEPT_RENEWALS)
