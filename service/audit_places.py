"""Whether an event may stand where it stands: in this part of the match's life, for this seat, by this author."""

import re
from collections.abc import Callable, Mapping
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET

from events.record import Event
from service.bots.builtin import bots_of, stand_in
from service.characters import CONTROL
from service.match import Match, Sitter, Status
from service.match_events import ClockExtended, MatchAborted, MatchSuspended, SeatHandedOver, SeatTaken

Check: TypeAlias = Literal["chain", "draws", "effects", "actions", "outcome"]

_CLIENT_SEED: Final = re.compile(f"[^{CONTROL}]{{1,64}}")
"""What the API takes."""
_EXCEPTION: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Fault(Exception):
    """What is wrong with a match file, and at which version (0 is the file's first line)."""

    def __init__(self, version: int, check: Check, text: str) -> None:
        super().__init__(f"version {version}: {text}")
        self.version = version
        self.check = check
        self.text = text


class _Seated(msgspec.Struct, frozen=True):
    """What all events of a seat share."""

    seat: int


_STATUSES: Final[Mapping[str, frozenset[Status]]] = {
    "seat_taken": frozenset({"open"}),
    "seat_left": frozenset({"open"}),
    "match_started": frozenset({"open"}),
    "match_aborted": frozenset({"open"}),
    "match_resumed": frozenset({"suspended"}),
    "seed_revealed": frozenset({"finished", "aborted"}),
}
"""When an event of a type may come; all others, while the match is running."""


def is_current(match: Match) -> bool:
    """Whether the match is under the rules of today; of older ones nothing is known but how to fold them."""
    return match.game.info.ruleset == match.created.ruleset


def check_place(match: Match, event: Event) -> None:
    """An event against the match before it.

    Raises:
        Fault: it cannot follow, or is not by whom it should be.
        msgspec.DecodeError: its data is not that of its type.
    """
    if match.status not in _STATUSES.get(event.type, {"running"}):
        raise _fault(event, f"{event.type} cannot follow while the match is {match.status}")
    if event.type != "match_started" and _starts_by_itself(match):
        raise _fault(event, "a full match starts before anything else")
    if event.at != match.at and (event.type == "seed_revealed" or _starts_by_itself(match)):
        raise _fault(event, f"{event.type} comes in one with the event before, at {match.at}")
    author = _AUTHORS.get(event.type, _worker)(match, event)
    if event.by != author:
        raise _fault(event, f"is by {event.by}, not by {author}")


def _starts_by_itself(match: Match) -> bool:
    return match.status == "open" and None not in match.seats and not match.created.manual_start


def _worker(_match: Match, _event: Event) -> str:
    return "worker"


def _taker(match: Match, event: Event) -> str:
    taken = msgspec.json.decode(event.data, type=SeatTaken)
    if not 0 <= taken.seat < len(match.seats) or match.seats[taken.seat] is not None:
        raise _fault(event, f"seat {taken.seat} is not free")
    if taken.kind == "bot":
        if taken.client_seed is not UNSET:
            raise _fault(event, "a bot has no client seed")
        if is_current(match) and taken.player not in bots_of(match.game):
            raise _fault(event, f"no bot {taken.player} plays this game")
        return f"player:{match.creator}"
    if taken.client_seed is not UNSET and not _CLIENT_SEED.fullmatch(taken.client_seed):
        raise _fault(event, "a client seed has 1 to 64 characters, none of them a control character")
    if not taken.player:
        raise _fault(event, "a player has a name")
    if match.seat_of(taken.player) is not None:
        raise _fault(event, f"{taken.player} has a seat already")
    return f"player:{taken.player}"


def _leaver(match: Match, event: Event) -> str:
    seat, sitter = _sitter(match, event)
    if sitter.kind == "bot" or sitter.resigned:
        raise _fault(event, f"nobody can leave seat {seat}")
    clock = match.created.clock
    by_clock = event.type == "resigned" and clock is not None and clock.on_timeout == "resign"
    return "worker" if by_clock and event.by == "worker" else f"seat:{seat}"


def _actor(match: Match, event: Event) -> str:
    seat, sitter = _sitter(match, event)
    if sitter.resigned:
        raise _fault(event, f"the player of seat {seat} left")
    return f"bot:{sitter.player}" if sitter.kind == "bot" else f"seat:{seat}"


def _stand_in(match: Match, event: Event) -> str:
    _sitter(match, event)
    return "worker"


def _heir(match: Match, event: Event) -> str:
    seat, sitter = _sitter(match, event)
    given = msgspec.json.decode(event.data, type=SeatHandedOver)
    clock = match.created.clock
    if clock is None or clock.on_timeout != "bot":
        raise _fault(event, "the clock of this match hands no seat over")
    if sitter.kind == "bot" or sitter.resigned:
        raise _fault(event, f"no person plays seat {seat}")
    if given.kind != "bot" or (is_current(match) and given.player != stand_in(match.game)):
        raise _fault(event, f"the seat goes to the bot {stand_in(match.game)}")
    return "worker"


def _closer(match: Match, event: Event) -> str:
    msgspec.json.decode(event.data, type=MatchAborted)
    if match.seat_of(match.creator) is not None:
        raise _fault(event, "a creator who has a seat leaves the seat, not the match")
    return "worker"


def _starter(match: Match, event: Event) -> str:
    if None in match.seats:
        raise _fault(event, "the match starts with an empty seat")
    return "worker"


def _breaker(_match: Match, event: Event) -> str:
    reason = msgspec.json.decode(event.data, type=MatchSuspended).reason
    if not _EXCEPTION.fullmatch(reason):
        raise _fault(event, "the reason is the name of what the rules raised")
    return "worker"


def _timekeeper(match: Match, event: Event) -> str:
    ms = msgspec.json.decode(event.data, type=ClockExtended).ms
    if ms > event.at - match.at:
        raise _fault(event, f"gives back {ms} ms of {event.at - match.at}")
    return "worker"


_AUTHORS: Final[Mapping[str, Callable[[Match, Event], str]]] = {
    "seat_taken": _taker,
    "seat_left": _leaver,
    "resigned": _leaver,
    "action": _actor,
    "default_action": _stand_in,
    "seat_handed_over": _heir,
    "match_aborted": _closer,
    "match_suspended": _breaker,
    "match_started": _starter,
    "clock_extended": _timekeeper,
}
"""Who must have written an event, once its seat is found to be right."""


def _sitter(match: Match, event: Event) -> tuple[int, Sitter]:
    seat = msgspec.json.decode(event.data, type=_Seated).seat
    sitter = match.seats[seat] if 0 <= seat < len(match.seats) else None
    if sitter is None:
        raise _fault(event, f"nobody has seat {seat}")
    return seat, sitter


def _fault(event: Event, text: str) -> Fault:
    return Fault(event.version, "actions", text)
