"""The Decider depends only on the match, the command, the time and the seed."""

import pytest
from msgspec.structs import replace

from events.record import canonical
from service.errors import NotDue, Refused
from service.match.commands import (
    Act,
    ActAsBot,
    Create,
    Extend,
    Join,
    Leave,
    Resume,
    Score,
    SeatBot,
    Start,
    Suspend,
    TakeDefault,
)
from service.match.decide import decide
from service.match.events import ClockExtended
from service.match.model import Match
from service.match.new_match import NewMatch
from tests.service.arena import COUNTDOWN, Arena, refused
from tests.service.games.toy.game import TOY

SEED = bytes(range(32))


def never() -> bytes:
    raise AssertionError("nothing is drawn here")


def open_match(*players: str) -> Match:
    arena = Arena()
    return arena.match(arena.join(arena.create(seats=3, private=True), *players))


def test_the_same_arguments_give_the_same_events_and_the_match_is_unchanged() -> None:
    arena = Arena()
    table = arena.opened("anna", "ben")
    match = arena.match(table)
    at = arena.time
    before = (match.head, match.state, match.seats)
    command = Act(player="anna", action=arena.legal(table, "anna")[0])
    first, second = (decide(match, command, at, lambda: SEED) for _ in range(2))
    assert first == second
    assert [(draft.type, draft.by) for draft in first] == [("action", "seat:0")]
    assert (match.head, match.state, match.seats) == before


def test_a_creation_needs_no_match_and_every_other_command_does() -> None:
    wanted = NewMatch(game="toy", seats=2, bots=("high", "high"))
    drafts = decide(None, Create(player="host", game=TOY, wanted=wanted), 5, lambda: SEED)
    assert [draft.type for draft in drafts] == ["match_created", "seat_taken", "seat_taken", "match_started"]
    refused("match-not-found", decide, None, Join(player="anna"), 5, never)


def test_the_seed_is_read_only_for_draws_and_for_the_reveal() -> None:
    match = open_match("anna")
    for command in (Join(player="ben", has_join_code=True), SeatBot(player="host", bot="high"), Leave(player="anna")):
        assert decide(match, command, match.at, never)
    full = open_match("anna", "ben")
    with pytest.raises(AssertionError, match="drawn"):
        decide(full, SeatBot(player="host", bot="high"), full.at, never)
    assert (
        decide(match, Leave(player="host"), match.at, lambda: SEED)[1].data
        == b'{"server_seed":"%s"}' % SEED.hex().encode()
    )


@pytest.mark.parametrize(
    "command",
    [
        Join(player="ben"),
        SeatBot(player="ben", bot="high"),
        Start(player="ben"),
        Leave(player="ben"),
        Act(player="ben", action={}),
    ],
    ids=lambda command: type(command).__name__,
)
def test_strangers_get_not_found_for_a_private_match_with_any_precondition(
    command: Join | SeatBot | Start | Leave | Act,
) -> None:
    match = open_match("anna")
    for heads in (None, (), ((1, "0"),), ((match.head.version, match.head.hash),)):
        refused("match-not-found", decide, match, replace(command, if_match=heads), match.at, never)


def test_the_service_s_own_commands_do_not_change_an_open_match() -> None:
    match = open_match("anna")
    assert decide(match, Extend(ms=5), match.at + 10, never) == ()
    refused("match-not-suspended", decide, match, Resume(), match.at, never)
    for command in (Score(), Suspend(reason="KeyError")):
        with pytest.raises(NotDue):
            decide(match, command, match.at, never)


def test_an_outage_is_given_back_before_the_action_that_it_would_have_made_late() -> None:
    arena = Arena()
    table = arena.monkeys("anna", "ben", turn_seconds=60)
    arena.wait(COUNTDOWN)
    match = arena.match(table)
    (decision,) = match.decisions()
    player = ("anna", "ben")[decision.seat]
    command = Act(player=player, action=arena.legal(table, player)[0])
    assert decision.deadline is not None
    with pytest.raises(Refused, match="too-late"):
        decide(match, command, decision.deadline, lambda: SEED)
    drafts = decide(match, command, decision.deadline, lambda: SEED, 1_000)
    assert [draft.type for draft in drafts] == ["clock_extended", "action"]
    assert (drafts[0].by, drafts[0].data) == ("worker", canonical(ClockExtended(1_000, "outage")))


def test_no_consequence_of_a_deadline_comes_before_its_time() -> None:
    arena = Arena()
    table = arena.monkeys("anna", "ben", turn_seconds=60)
    arena.wait(COUNTDOWN)
    match = arena.match(table)
    (decision,) = match.decisions()
    default = TakeDefault(seat=decision.seat, action=decision.on_timeout, reason="clock")
    assert decision.enforced_at is not None
    with pytest.raises(NotDue):
        decide(match, default, decision.enforced_at - 1, lambda: SEED)
    assert [draft.type for draft in decide(match, default, decision.enforced_at, lambda: SEED)] == ["default_action"]


def test_a_tag_of_another_format_is_no_head_of_the_match() -> None:
    match = open_match("anna")
    refusal = refused("stale-version", decide, match, Leave(player="anna", if_match=()), match.at, never)
    assert refusal.facts == {"version": match.head.version, "head": match.head.hash}


@pytest.mark.parametrize(
    "command",
    [
        ActAsBot(seat=0, bot="random", action={"type": "keep"}),
        ActAsBot(seat=1, bot="high", action={"type": "keep"}),
        ActAsBot(seat=9, bot="high", action={"type": "keep"}),
        TakeDefault(seat=-1, action=None, reason="player-left"),
    ],
)
def test_a_command_for_another_or_a_missing_seat_is_not_due(command: ActAsBot | TakeDefault) -> None:
    arena = Arena()
    match = arena.match(arena.toy("anna", bots=("high",)))
    with pytest.raises(NotDue):
        decide(match, command, match.at, never)
