"""How long a match that failed is skipped."""

from workers.retry_delays import FIRST_DELAY_S, LONGEST_DELAY_S, MAX_MATCHES, RetryDelays


def test_each_delay_doubles_up_to_the_longest_and_a_success_resets_it() -> None:
    now = 0.0
    delays = RetryDelays(steady=lambda: now)
    took: list[float] = []
    for _ in range(9):
        delays.failed("m")
        began = now
        while delays.is_delayed("m"):
            now += FIRST_DELAY_S / 2
        took.append(now - began)
    assert took == [min(FIRST_DELAY_S * 2**n, LONGEST_DELAY_S) for n in range(9)]
    delays.succeeded("m")
    delays.failed("m")
    now += FIRST_DELAY_S
    assert not delays.is_delayed("m")
    assert not delays.is_delayed("another")


def test_a_limited_number_of_failed_matches_is_remembered() -> None:
    delays = RetryDelays(steady=lambda: 0.0)
    for number in range(MAX_MATCHES + 1):
        delays.failed(str(number))
    assert [len(delays), delays.is_delayed("0"), delays.is_delayed("1")] == [MAX_MATCHES, False, True]
