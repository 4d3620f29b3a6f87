"""Which job plays which deals, and what ends a run."""

from itertools import islice

import pytest

from service.arena.deals import Contest, Deal, JobOrder, MatchResult
from service.arena.jobs import JobFailed, _missing, deals

CONTEST = Contest("ape_town", ("greedy", "random"), {}, bytes(32).hex(), 1000)


def deal(number: int) -> Deal:
    return Deal(number, (MatchResult((1, 1), (0, 0)),), ({}, {}))


def test_deals_come_in_order_and_known_ones_are_not_played_again() -> None:
    known = {number: deal(number) for number in (0, 3)}
    played = list(deals(JobOrder(CONTEST), 2, 5, known))
    assert [one.number for one in played] == [0, 1, 2, 3, 4]
    assert [one for one in played if one.number in known] == list(known.values())
    assert all(len(one.matches) == 2 for one in played if one.number not in known)


def test_missing_deals_are_distributed_over_the_jobs_in_turn() -> None:
    known = {number: deal(number) for number in (0, 3, 4)}
    assert [list(_missing(job, 3, 10, known)) for job in range(3)] == [[6, 9], [1, 7], [2, 5, 8]]
    assert list(islice(_missing(0, 2, None, known), 3)) == [2, 6, 8]


def test_rules_that_fail_end_the_run_with_the_deal() -> None:
    broken = Contest("ape_town", ("greedy", "random"), {"no_such_option": 1}, bytes(32).hex(), 1000)
    with pytest.raises(JobFailed, match="the rules failed in deal 0: BadOptions: "):
        list(deals(JobOrder(broken), 1, 1, {}))
