"""Rate limits in responses: the pause of a refusal, and the headers."""

import time

import pytest

from api.http import rate_limit
from service.errors import Refused
from service.repository.limits import Allowance, Policy

TEN = Policy("ten", quota=10, window=5)


def test_only_a_refusal_pauses_before_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    rate_limit.check(Allowance(TEN, remaining=3, reset=1, wait=0))
    assert pauses == []
    with pytest.raises(Refused, match="rate-limited") as refused:
        rate_limit.check(Allowance(TEN, remaining=0, reset=5, wait=1))
    assert refused.value.facts["retry_after"] == 1
    assert pauses == [rate_limit.REFUSAL_PAUSE_S]


def test_the_headers_state_the_policy_and_what_is_left() -> None:
    found = dict(rate_limit.headers(Allowance(TEN, remaining=0, reset=5, wait=1)))
    assert found == {"RateLimit-Policy": '"ten";q=10;w=5', "RateLimit": '"ten";r=0;t=5'}


@pytest.mark.parametrize(
    ("name", "counted"),
    [("token", "requests"), ("moves", "actions"), ("sign-ups", "new players"), ("audits", "audits")],
)
def test_a_refusal_names_what_is_counted(name: str, counted: str) -> None:
    with pytest.raises(Refused) as refused:
        rate_limit.check(Allowance(Policy(name, quota=10, window=5), remaining=0, reset=5, wait=1))
    assert refused.value.detail == f"Too many {counted}: the limit is 10 in 5 s. Wait 1 s."
