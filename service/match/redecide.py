"""Turns an event of a match file back into its command and decides it again."""

from collections.abc import Sequence
from dataclasses import replace as replace_parts
from typing import Any, Final

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from events.chain import Draft
from events.record import Event, canonical
from service.errors import NotDue
from service.games.bots import choose_at_random
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
    ReplaceAbsent,
    Resume,
    Ring,
    Score,
    SeatBot,
    Start,
    Suspend,
    TakeBack,
    TakeDefault,
)
from service.match.decide import decide
from service.match.events import (
    AbortReason,
    Acted,
    ClockExtended,
    DefaultReason,
    MatchAborted,
    MatchCreated,
    MatchSuspended,
    SeatHandedOver,
    SeatTaken,
    SeedRevealed,
    codec,
)
from service.match.model import Match, SeatHolder
from service.match.new_match import NewMatch
from service.match.randomness import Chance
from service.match.seat_holder import HostedBot
from service.match.seating import asked, departed

RULED: Final = frozenset(
    {"match_created", "match_started", "action", "default_action", "timer", "seat_handed_over", "match_scored"}
)
"""Events whose data only the rules of their own ruleset can reproduce."""
_DEPARTURES: Final = frozenset({"resigned", "seat_handed_over"})
"""Events by which a person leaves or loses a seat. A match that all others want to abort ends with them."""


class _OfSeat(msgspec.Struct, frozen=True):
    """The field that all events of a seat share."""

    seat: Seat


class _Action(msgspec.Struct, frozen=True):
    seat: Seat
    action: dict[str, Any]


class _Bell(msgspec.Struct, frozen=True):
    label: str


class _Default(msgspec.Struct, frozen=True):
    reason: DefaultReason


def is_current(match: Match) -> bool:
    """Whether the match has the current ruleset. Matches of older rulesets can be folded, but not decided again."""
    return match.game.info.ruleset == match.created.ruleset


def decided_again(match: Match, event: Event, chance: Chance) -> Sequence[Draft]:
    """The events that the command behind an event produces.

    `match` is the match before it; after it for the first event.

    Raises:
        Refused, NotDue: the command is not allowed at this point.
        msgspec.DecodeError: the event's data does not fit its type.
    """
    if not is_current(match):
        return _decided_without_rules(match, event, chance)
    if event.type == "match_suspended" and not match.has_due_work(event.at):
        # `decide` itself cannot check this: it must not call rules that have just failed.
        raise NotDue("nothing was due in which the rules could have failed")
    return decide(None if event.version == 1 else match, _command(match, event), event.at, chance)


def _command(match: Match, event: Event) -> Command:
    """The command from which an event follows."""
    match event.type:
        case "action":
            acted = msgspec.json.decode(event.data, type=_Action)
            holder = _holder(match, acted.seat)
            if holder.kind == "bot":
                return ActAsBot(seat=acted.seat, bot=holder.player, action=acted.action)
            return Act(player=holder.player, action=acted.action)
        case "default_action":
            default: Acted[Any, Any] = codec(match.game).acted(event.data)
            reason = msgspec.json.decode(event.data, type=_Default).reason
            return TakeDefault(seat=default.seat, action=default.action, reason=reason)
        case "timer":
            return Ring(label=msgspec.json.decode(event.data, type=_Bell).label)
        case "match_created" if event.version == 1:
            return _create(match)
        case "seat_taken":
            return _take_seat(match, event, msgspec.json.decode(event.data, type=SeatTaken))
        case "match_started":
            return Start(player=match.creator)
        case "seat_freed":
            return FreeSeat(player=match.creator, seat=_seat(event))
        case "abort_asked":
            return AskAbort(player=_holder(match, _seat(event)).player)
        case "seat_left":
            return Leave(player=_holder(match, _seat(event)).player)
        case "resigned":
            seat = _seat(event)
            return Forfeit(seat=seat) if event.by == "worker" else Leave(player=_holder(match, seat).player)
        case "match_aborted":
            return _abort(match, msgspec.json.decode(event.data, type=MatchAborted).reason)
        case "seat_handed_over":
            return _hand_over(match, event)
        case "clock_extended":
            return Extend(ms=msgspec.json.decode(event.data, type=ClockExtended).ms)
        case "match_suspended":
            return Suspend(reason=msgspec.json.decode(event.data, type=MatchSuspended).reason)
        case "match_resumed":
            return Resume()
        case "match_scored":
            return Score()
    raise NotDue(f"{event.type} is not possible here")


def _take_seat(match: Match, event: Event, taken: SeatTaken) -> Command:
    if taken.kind == "bot":
        return SeatBot(player=match.creator, bot=taken.player, seat=taken.seat)
    hosted = None
    if taken.owner is not UNSET and taken.limit_ms is not UNSET:
        hosted = HostedBot(taken.player, taken.owner, taken.limit_ms)
        if event.by != f"player:{taken.player}":
            return SeatBot(player=match.creator, bot=hosted, seat=taken.seat)
    seed = None if taken.client_seed is UNSET else taken.client_seed
    return Join(player=taken.player, seat=taken.seat, client_seed=seed, has_join_code=True, hosted=hosted)


def _abort(match: Match, reason: AbortReason) -> Command:
    match reason:
        case "creator-left":
            return Leave(player=match.creator)
        case "expired":
            return Expire()
    # An agreed end is decided together with the last request or departure.
    raise NotDue("not all people asked for it")


def _hand_over(match: Match, event: Event) -> Command:
    handed_over = msgspec.json.decode(event.data, type=SeatHandedOver)
    match handed_over.reason:
        case "returned":
            return TakeBack(player=handed_over.player)
        case "absent":
            return ReplaceAbsent(player=_holder(match, _author_seat(event)).player, seat=handed_over.seat)
    return HandOver(seat=handed_over.seat)


def _author_seat(event: Event) -> Seat:
    seat = event.by.removeprefix("seat:")
    if seat == event.by or not (seat.isascii() and seat.isdecimal()):
        raise NotDue(f"{event.by} is no seat")
    return int(seat[:4])


def _create(match: Match) -> Create:
    created = match.created
    wanted = NewMatch(
        game=created.game,
        seats=created.seats,
        options=created.options,
        clock=created.clock,
        private=created.private,
        manual_start=created.manual_start,
        **_added_by_format_2(created),
    )
    return Create(player=match.creator, game=match.game, wanted=wanted)


def _added_by_format_2(created: MatchCreated) -> dict[str, Any]:
    names = ("rated", "open_ms", "bot_fallback") if created.format_number > 1 else ()
    return {"format_number": created.format_number, **{name: getattr(created, name) for name in names}}


def _decided_without_rules(match: Match, event: Event, chance: Chance) -> Sequence[Draft]:
    """Check an event of an older ruleset: the status of the match, and the author."""
    if event.type in RULED - {"match_created", "match_started"} or event.type == "resigned":
        if match.status != "running":
            raise NotDue(f"{event.type} cannot come while the match is {match.status}")
        draft = Draft(event.type, _author(match, event), bytes(event.data))
        if event.type == "match_scored":
            return draft, Draft("seed_revealed", "worker", canonical(SeedRevealed(chance().hex())))
        return departed(match, _seat(event), draft, chance) if event.type in _DEPARTURES else (draft,)
    if event.type == "abort_asked":
        seat = _seat(event)
        if match.status != "running" or match.created.rated is True or not _holder(match, seat).is_present:
            raise NotDue(f"nobody in seat {seat} can ask for it")
        return asked(match, seat, chance)
    bots = (
        {msgspec.json.decode(event.data, type=SeatTaken).player: choose_at_random} if event.type == "seat_taken" else {}
    )
    ruleless = replace(match, game=replace_parts(match.game, setup=lambda *_: (), bots=bots))
    return decide(None if event.version == 1 else ruleless, _command(ruleless, event), event.at, chance)


def _author(match: Match, event: Event) -> str:
    """The author that an event of a running match must have."""
    if event.type in {"match_scored", "timer"}:
        return "worker"
    seat = _seat(event)
    holder = _holder(match, seat)
    if event.type == "seat_handed_over":
        return _hand_over_author(match, event)
    if event.type == "default_action":
        return "worker"
    if holder.resigned or (holder.kind == "bot" and event.type == "resigned"):
        raise NotDue(f"nobody can leave seat {seat} or act in it")
    if event.type == "resigned" and event.by == "worker":
        return "worker"
    return f"bot:{holder.player}" if holder.kind == "bot" else f"seat:{seat}"


def _hand_over_author(match: Match, event: Event) -> str:
    handed_over = msgspec.json.decode(event.data, type=SeatHandedOver)
    if handed_over.reason == "returned":
        if match.created.rated is True:
            raise NotDue("no seat of a rated match is taken back")
        is_lost = match.lost_seat_of(handed_over.player) == handed_over.seat
        if not is_lost or _holder(match, handed_over.seat).account_kind != "human":
            raise NotDue(f"{handed_over.player} did not lose seat {handed_over.seat} to a bot")
        return f"player:{handed_over.player}"
    if handed_over.reason == "absent":
        asker = _author_seat(event)
        if asker == handed_over.seat or not _holder(match, asker).is_present:
            raise NotDue(f"nobody in seat {asker} can ask for it")
        return f"seat:{asker}"
    return "worker"


def _seat(event: Event) -> Seat:
    return msgspec.json.decode(event.data, type=_OfSeat).seat


def _holder(match: Match, seat: Seat) -> SeatHolder:
    holder = match.seats[seat] if 0 <= seat < len(match.seats) else None
    if holder is None:
        raise NotDue(f"nobody has seat {seat}")
    return holder
