"""How long a match that failed is left alone."""

from workers.rests import LONGEST_REST, REMEMBERED, REST, Rests


def test_each_rest_is_twice_as_long_up_to_the_longest_and_a_match_that_is_well_again_begins_anew() -> None:
    now = 0.0
    rests = Rests(steady=lambda: now)
    took: list[float] = []
    for _ in range(9):
        rests.begin("m")
        began = now
        while rests.is_resting("m"):
            now += REST / 2
        took.append(now - began)
    assert took == [min(REST * 2**n, LONGEST_REST) for n in range(9)]
    rests.end("m")
    rests.begin("m")
    now += REST
    assert not rests.is_resting("m")
    assert not rests.is_resting("another")


def test_only_so_many_matches_are_remembered() -> None:
    rests = Rests(steady=lambda: 0.0)
    for number in range(REMEMBERED + 1):
        rests.begin(str(number))
    assert [len(rests), rests.is_resting("0"), rests.is_resting("1")] == [REMEMBERED, False, True]
