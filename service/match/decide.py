"""The match's Decider: the events of a command, or the reason why it is refused.

`decide` is a pure function of the match, the command and the time. It reads no log, no index and no clock. Players, the
service and the audit all use it, so each rule of a match's life is written once.
"""

import re
from typing import Any, Final

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from events.chain import Draft
from events.record import canonical
from service.errors import NotDue, Refused, no_match
from service.games.visibility import Seat
from service.match.commands import (
    Act,
    ActAsBot,
    AskAbort,
    Command,
    Create,
    Expire,
    Extend,
    Forfeit,
    FreeSeat,
    HandOver,
    Join,
    Leave,
    MatchCommand,
    PlayerCommand,
    ReplaceAbsent,
    Resume,
    Ring,
    SeatBot,
    SeenHead,
    Start,
    Suspend,
    TakeBack,
    TakeDefault,
)
from service.match.events import (
    ClockExtended,
    HandOverReason,
    MatchCreated,
    MatchResumed,
    MatchScored,
    MatchSuspended,
    SeatTaken,
)
from service.match.model import Expiry, Match
from service.match.new_match import NewMatch, checked_options
from service.match.randomness import Chance, commitment
from service.match.refusals import refused
from service.match.rulings import act, act_as_bot, check_due, draws, ring, take_default
from service.match.seating import (
    ask_abort,
    expire,
    free_seat,
    handed_over,
    hosted_seat,
    join,
    leave,
    replace_absent,
    resigned,
    reveal,
    seat_bot,
    start,
    started,
    take_back,
)

_EXCEPTION_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def decide(match: Match | None, command: Command, at: int, chance: Chance, outage_ms: int = 0) -> tuple[Draft, ...]:
    """The events that follow from a command. The tuple is empty if the command changes nothing.

    `match` is None for `Create`. `at` is server time in milliseconds, and not before the match's newest event. `chance`
    returns the match's server seed; it is called only if something is drawn or revealed. `outage_ms` is the length of
    outages since the newest event: a `clock_extended` by this time comes before the events of the command.

    Raises:
        Refused: a player's command is not allowed now; the code says why.
        NotDue: a command of the service is not due.
    """
    if isinstance(command, Create):
        return _create(command, at, chance)
    if match is None:
        raise no_match()
    given_back = match.compensation_ms(outage_ms, at)
    if not given_back:
        return _decide(match, command, at, chance)
    drafts = _decide(replace(match, paused=match.paused + given_back), command, at, chance)
    return (_extended(given_back), *drafts) if drafts else ()


def _decide(match: Match, command: MatchCommand, at: int, chance: Chance) -> tuple[Draft, ...]:
    if isinstance(command, PlayerCommand):
        _check_access(match, command)
        _check_head(match, command.if_match)
    match command:
        case Act():
            return act(match, command, at, chance)
        case ActAsBot():
            return act_as_bot(match, command, at, chance)
        case Join():
            return join(match, command, at, chance)
        case SeatBot():
            return seat_bot(match, command, at, chance)
        case FreeSeat():
            return free_seat(match, command)
        case Start():
            return start(match, command, at, chance)
        case Leave():
            return leave(match, command, chance)
        case AskAbort():
            return ask_abort(match, command.player, chance)
        case TakeBack():
            return take_back(match, command)
        case ReplaceAbsent():
            return replace_absent(match, command, at, chance)
        case TakeDefault():
            return take_default(match, command, at, chance)
        case Ring():
            return ring(match, command, at, chance)
        case Forfeit():
            _check_lost(match, command.seat, at, "resigned")
            return resigned(match, command.seat, "worker", chance)
        case HandOver():
            _check_lost(match, command.seat, at, "seat_handed_over")
            holder = match.seats[command.seat]
            reason: HandOverReason = "bot-failed" if holder is not None and holder.is_hosted else "clock"
            return handed_over(match, command.seat, "worker", reason, chance)
        case Expire():
            return expire(match, at, chance)
        case Extend():
            extended_ms = match.compensation_ms(command.ms, at)
            return (_extended(extended_ms),) if extended_ms else ()
        case Suspend():
            return _suspend(match, command)
        case Resume():
            if match.status != "suspended":
                raise Refused("match-not-suspended", "The match is not suspended.")
            return (Draft("match_resumed", "worker", canonical(MatchResumed())),)
    return _score(match, chance)


def _extended(ms: int) -> Draft:
    return Draft("clock_extended", "worker", canonical(ClockExtended(ms, "outage")))


def _check_access(match: Match, command: PlayerCommand) -> None:
    has_join_code = isinstance(command, Join) and command.has_join_code
    if match.created.private and not (has_join_code or match.is_of(command.player)):
        raise no_match()


def _check_head(match: Match, wanted: tuple[SeenHead, ...] | None) -> None:
    """Check the client's precondition: the match's head is one of `wanted`.

    An older version may belong to this history or to another one. Only the log knows; the use case reads it.
    """
    head = match.head
    if wanted is None or any(version == head.version and head.hash.startswith(start) for version, start in wanted):
        return
    newest = {"version": head.version, "head": head.hash}
    if not wanted:
        raise refused("stale-version.no-tag", **newest)
    if 0 < max(wanted)[0] < head.version:
        raise refused("stale-version", **newest)
    raise refused("history-diverged", **newest)


def _create(command: Create, at: int, chance: Chance) -> tuple[Draft, ...]:
    game, wanted, by = command.game, command.wanted, f"player:{command.player}"
    options = checked_options(game, wanted)
    created = MatchCreated(
        game=game.info.id,
        ruleset=game.info.ruleset,
        options=msgspec.to_builtins(options),
        seats=wanted.seats,
        clock=wanted.clock,
        private=wanted.private,
        manual_start=wanted.manual_start,
        seed_commitment=commitment(chance()),
        **_added_by_format_2(wanted),
    )
    drafts = [Draft("match_created", by, canonical(created))]
    for seat, name in enumerate(wanted.bots):
        hosted = wanted.hosted.get(name)
        taken = SeatTaken(seat, name, "bot") if hosted is None else hosted_seat(seat, hosted)
        drafts.append(Draft("seat_taken", by, canonical(taken)))
    if len(wanted.bots) == wanted.seats and not wanted.manual_start:
        drafts.append(started(game, options, [None] * wanted.seats, at, chance))
    return tuple(drafts)


def _added_by_format_2(wanted: NewMatch) -> dict[str, Any]:
    if wanted.format_number == 1:
        return {}
    return {"format": 2, "rated": wanted.rated, "open_ms": wanted.open_ms, "bot_fallback": wanted.bot_fallback}


def _suspend(match: Match, command: Suspend) -> tuple[Draft, ...]:
    """Does not call the rules, since they have just failed."""
    if match.status != "running":
        raise NotDue(f"a match that is {match.status} is not suspended")
    if not _EXCEPTION_NAME.fullmatch(command.reason):
        raise NotDue("the reason is not the name of an exception")
    return (Draft("match_suspended", "worker", canonical(MatchSuspended(command.reason))),)


def _score(match: Match, chance: Chance) -> tuple[Draft, ...]:
    if match.status != "running" or match.decisions():
        raise NotDue("is scored before the match is over")
    rng = draws(match, chance)
    outcome = match.game.score(match.state, rng)
    scored = MatchScored(outcome, tuple(rng.drawn) or UNSET)
    return Draft("match_scored", "worker", canonical(scored)), reveal(chance)


def _check_lost(match: Match, seat: Seat, at: int, event_type: Expiry) -> None:
    """Check that a seat is lost in this way: its deadline has passed, or it has a hosted bot, which failed in its decision."""
    of_hosted = (one for one in match.decisions() if one.seat == seat and one.called_at is not None)
    if any(one.on_timeout is not None and match.expiry(one) == event_type for one in of_hosted):
        return
    if check_due(match, at, event_type).seat != seat:
        raise NotDue(f"seat {seat} is not the one whose deadline is next")
