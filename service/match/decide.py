"""The match's Decider: which events a command brings, or why it is refused.

A pure function of the match, the command and the time. It reads no log, no index and no clock. Players' commands, the
service's own and the audit's all pass here, so that each rule of a match's life is stated once.
"""

import re
from typing import Any, Final

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from events.chain import Draft
from events.record import canonical
from service.errors import NotDue, Refused, no_match
from service.games.bots import stand_in
from service.games.protocol import AnyGame
from service.games.visibility import Seat
from service.match.characters import CONTROL
from service.match.commands import (
    Act,
    ActAsBot,
    Command,
    Create,
    Extend,
    Forfeit,
    HandOver,
    Join,
    Leave,
    MatchCommand,
    PlayerCommand,
    Resume,
    Ring,
    SeatBot,
    SeenHead,
    Start,
    Suspend,
    TakeDefault,
)
from service.match.events import (
    ClockExtended,
    MatchAborted,
    MatchCreated,
    MatchResumed,
    MatchScored,
    MatchStarted,
    MatchSuspended,
    Resigned,
    SeatHandedOver,
    SeatLeft,
    SeatTaken,
    SeedRevealed,
)
from service.match.model import Expiry, Match
from service.match.new_match import check_bot, checked_options
from service.match.randomness import Chance, Draws, commitment, match_key
from service.match.refusals import refused
from service.match.rulings import act, act_as_bot, check_due, check_running, draws, ring, take_default

CLIENT_SEED: Final = re.compile(f"[^{CONTROL}]{{1,64}}")
_EXCEPTION_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def decide(match: Match | None, command: Command, at: int, chance: Chance, outage_ms: int = 0) -> tuple[Draft, ...]:
    """The events that a command brings to a match (None for the match that it creates); none if it changes nothing.

    `at` is server time in milliseconds and not before the match's newest event. `chance` gives the match's server seed;
    it is called only where something is drawn or revealed. `outage_ms`: how long outages took since the newest event; what
    the command brings comes after this time is given back.

    Raises:
        Refused: a player may not have this now; the code says why.
        NotDue: the service asked for something that the match does not owe at this time.
    """
    if isinstance(command, Create):
        return _create(command, at, chance)
    if match is None:
        raise no_match()
    given_back = match.can_be_given_back(outage_ms, at)
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
            return _join(match, command, at, chance)
        case SeatBot():
            return _seat_bot(match, command, at, chance)
        case Start():
            return _start_by_hand(match, command, at, chance)
        case Leave():
            return _leave(match, command, chance)
        case TakeDefault():
            return take_default(match, command, at, chance)
        case Ring():
            return ring(match, command, at, chance)
        case Forfeit():
            _check_expired(match, command.seat, at, "resigned")
            return (Draft("resigned", "worker", canonical(Resigned(command.seat))),)
        case HandOver():
            _check_expired(match, command.seat, at, "seat_handed_over")
            handed_over = SeatHandedOver(command.seat, stand_in(match.game), "bot")
            return (Draft("seat_handed_over", "worker", canonical(handed_over)),)
        case Extend():
            given_back = match.can_be_given_back(command.ms, at)
            return (_extended(given_back),) if given_back else ()
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
    """Whether the newest head is one of those that the client insists on.

    An older version may be of this history or of another one. Only the log can tell; the use case asks it.
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
    )
    drafts = [Draft("match_created", by, canonical(created))]
    drafts += [
        Draft("seat_taken", by, canonical(SeatTaken(seat, name, "bot"))) for seat, name in enumerate(wanted.bots)
    ]
    if len(wanted.bots) == wanted.seats and not wanted.manual_start:
        drafts.append(_start(game, options, [None] * wanted.seats, at, chance))
    return tuple(drafts)


def _join(match: Match, command: Join, at: int, chance: Chance) -> tuple[Draft, ...]:
    _check_open(match)
    own = match.seat_of(command.player)
    if own is not None:
        raise Refused("already-seated", "You have a seat in this match.", seat=own)
    seed = command.client_seed
    if seed is not None and not CLIENT_SEED.fullmatch(seed):
        raise Refused(
            "invalid-parameter", "A client seed has 1 to 64 characters, no control ones.", parameter="client_seed"
        )
    taken = SeatTaken(_free_seat(match, command.seat), command.player, "human", UNSET if seed is None else seed)
    return _seated(match, taken, f"player:{command.player}", at, chance)


def _seat_bot(match: Match, command: SeatBot, at: int, chance: Chance) -> tuple[Draft, ...]:
    _check_creator(match, command.player)
    _check_open(match)
    check_bot(match.game, command.bot)
    taken = SeatTaken(_free_seat(match, command.seat), command.bot, "bot")
    return _seated(match, taken, f"player:{command.player}", at, chance)


def _seated(match: Match, taken: SeatTaken, by: str, at: int, chance: Chance) -> tuple[Draft, ...]:
    """A seat taken, and the start of the match if it was the last."""
    draft = Draft("seat_taken", by, canonical(taken))
    free = [seat for seat, sitter in enumerate(match.seats) if sitter is None]
    if free != [taken.seat] or match.created.manual_start:
        return (draft,)
    seeds = match.client_seeds()
    seeds[taken.seat] = None if taken.client_seed is UNSET else taken.client_seed
    return draft, _start(match.game, match.options, seeds, at, chance)


def _start_by_hand(match: Match, command: Start, at: int, chance: Chance) -> tuple[Draft, ...]:
    _check_creator(match, command.player)
    _check_open(match)
    if None in match.seats:
        raise Refused("seats-empty", "A match starts when every seat is taken.")
    return (_start(match.game, match.options, match.client_seeds(), at, chance),)


def _start(game: AnyGame, options: Any, client_seeds: list[str | None], at: int, chance: Chance) -> Draft:
    rng = Draws(lambda: match_key(chance(), client_seeds), {})
    effects = game.setup(len(client_seeds), options, at, rng)
    return Draft("match_started", "worker", canonical(MatchStarted(tuple(rng.drawn), effects)))


def _leave(match: Match, command: Leave, chance: Chance) -> tuple[Draft, ...]:
    seat = match.seat_of(command.player)
    if match.status == "open" and seat is None and command.player == match.creator:
        return Draft("match_aborted", "worker", canonical(MatchAborted("creator-left"))), _reveal(chance)
    if seat is None:
        raise refused("not-seated.nothing-to-leave")
    if match.status == "open":
        return (Draft("seat_left", f"seat:{seat}", canonical(SeatLeft(seat))),)
    check_running(match)
    sitter = match.seats[seat]
    if sitter is not None and sitter.resigned:
        raise refused("not-seated.left-before")
    return (Draft("resigned", f"seat:{seat}", canonical(Resigned(seat))),)


def _suspend(match: Match, command: Suspend) -> tuple[Draft, ...]:
    """Asks the rules nothing, since they have just failed."""
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
    return Draft("match_scored", "worker", canonical(scored)), _reveal(chance)


def _reveal(chance: Chance) -> Draft:
    return Draft("seed_revealed", "worker", canonical(SeedRevealed(chance().hex())))


def _check_expired(match: Match, seat: Seat, at: int, event_type: Expiry) -> None:
    if check_due(match, at, event_type).seat != seat:
        raise NotDue(f"seat {seat} is not the one whose deadline is next")


def _check_open(match: Match) -> None:
    if match.status != "open":
        raise Refused("match-not-open", "The match has started or ended.", match_status=match.status)


def _check_creator(match: Match, player: str) -> None:
    if player != match.creator:
        raise Refused("not-the-creator", "Only the player who created the match can do this.")


def _free_seat(match: Match, wanted: Seat | None) -> Seat:
    free = [seat for seat, sitter in enumerate(match.seats) if sitter is None]
    if not free:
        raise Refused("match-full", "Every seat is taken.")
    if wanted is None:
        return free[0]
    if wanted not in free:
        fault = f"Seat {wanted} is not free" if 0 <= wanted < len(match.seats) else f"There is no seat {wanted}"
        seats = ", ".join(map(str, free))
        others = f"seat {seats} is" if len(free) == 1 else f"seats {seats} are"
        raise Refused("seat-taken", f"{fault}; {others} free.", free=free)
    return wanted
