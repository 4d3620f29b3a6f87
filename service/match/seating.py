"""Decides who has which seat, and how a match begins and is aborted: taking, leaving, freeing, losing seats."""

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET

from events.chain import Draft
from events.record import canonical
from service.errors import NotDue, Refused
from service.games.bots import stand_in
from service.games.protocol import AnyGame
from service.games.visibility import Seat
from service.match.chosen_text import fault_of_text
from service.match.commands import FreeSeat, Join, Leave, ReplaceAbsent, SeatBot, Start, TakeBack
from service.match.events import (
    AbortAsked,
    AbortReason,
    HandOverReason,
    MatchAborted,
    MatchStarted,
    Resigned,
    SeatFreed,
    SeatHandedOver,
    SeatLeft,
    SeatTaken,
    SeedRevealed,
)
from service.match.model import ABSENCE_MS, Match
from service.match.new_match import check_bot
from service.match.randomness import Chance, Draws, match_key
from service.match.refusals import refused
from service.match.rulings import check_running
from service.match.seat_holder import HostedBot

# --- before the start -------------------------------------------------------------------------------------------------


def join(match: Match, command: Join, at: int, chance: Chance) -> tuple[Draft, ...]:
    _check_open(match)
    _check_not_seated(match, command.player)
    seed = command.client_seed
    fault = None if seed is None else fault_of_text(seed, match.created.format_number)
    if fault is not None:
        raise Refused("invalid-parameter", f"A client seed {fault}.", parameter="client_seed")
    seat = _free_seat(match, command.seat)
    if command.hosted is None:
        taken = SeatTaken(seat, command.player, "human", UNSET if seed is None else seed)
    else:
        _check_format_2(match)
        taken = hosted_seat(seat, command.hosted, seed)
    return _seated(match, taken, f"player:{command.player}", at, chance)


def seat_bot(match: Match, command: SeatBot, at: int, chance: Chance) -> tuple[Draft, ...]:
    _check_creator(match, command.player)
    _check_open(match)
    _check_unrated(match)
    seat, bot = _free_seat(match, command.seat), command.bot
    if isinstance(bot, HostedBot):
        _check_format_2(match)
        _check_not_seated(match, bot.id)
        taken = hosted_seat(seat, bot)
    else:
        check_bot(match.game, bot)
        taken = SeatTaken(seat, bot, "bot")
    return _seated(match, taken, f"player:{command.player}", at, chance)


def hosted_seat(seat: Seat, bot: HostedBot, client_seed: str | None = None) -> SeatTaken:
    """The data of a seat that a hosted bot takes."""
    seed = UNSET if client_seed is None else client_seed
    return SeatTaken(seat, bot.id, "hosted", seed, bot.owner, bot.limit_ms)


def free_seat(match: Match, command: FreeSeat) -> tuple[Draft, ...]:
    _check_creator(match, command.player)
    _check_open(match)
    _check_format_2(match)
    seat = command.seat
    if not 0 <= seat < len(match.seats) or match.seats[seat] is None:
        raise Refused("seat-free", f"Nobody has seat {seat}.")
    return (Draft("seat_freed", f"player:{command.player}", canonical(SeatFreed(seat))),)


def _seated(match: Match, taken: SeatTaken, by: str, at: int, chance: Chance) -> tuple[Draft, ...]:
    """The event of a taken seat, and the start of the match if this was the last free seat."""
    draft = Draft("seat_taken", by, canonical(taken))
    free = [seat for seat, holder in enumerate(match.seats) if holder is None]
    if free != [taken.seat] or match.created.manual_start:
        return (draft,)
    seeds = match.client_seeds()
    seeds[taken.seat] = None if taken.client_seed is UNSET else taken.client_seed
    return draft, started(match.game, match.options, seeds, at, chance)


def start(match: Match, command: Start, at: int, chance: Chance) -> tuple[Draft, ...]:
    _check_creator(match, command.player)
    _check_open(match)
    if None in match.seats:
        raise Refused("seats-empty", "A match starts when every seat is taken.")
    return (started(match.game, match.options, match.client_seeds(), at, chance),)


def started(game: AnyGame, options: Any, client_seeds: Sequence[str | None], at: int, chance: Chance) -> Draft:
    rng = Draws(lambda: match_key(chance(), client_seeds), {})
    effects = game.setup(len(client_seeds), options, at, rng)
    return Draft("match_started", "worker", canonical(MatchStarted(tuple(rng.drawn), effects)))


def expire(match: Match, at: int, chance: Chance) -> tuple[Draft, ...]:
    """The end of a match that nobody started in time.

    Format 1 cannot say that. There a match ends like one whose creator leaves: first its own seat, if it has one.
    """
    expires_at = match.expires_at
    if expires_at is None or at < expires_at:
        raise NotDue("the match may still wait for players, or does not wait")
    if match.created.format_number > 1:
        return aborted("expired", chance)
    seat = match.seat_of(match.creator)
    left = () if seat is None else (_left(seat),)
    return (*left, *aborted("creator-left", chance))


# --- at any time ------------------------------------------------------------------------------------------------------


def leave(match: Match, command: Leave, chance: Chance) -> tuple[Draft, ...]:
    seat = match.seat_of(command.player)
    if match.status == "open" and seat is None and command.player == match.creator:
        return aborted("creator-left", chance)
    if seat is None:
        raise refused("not-seated.nothing-to-leave")
    if match.status == "open":
        return (_left(seat),)
    if command.only_open:
        raise refused("match-not-open", match_status=match.status)
    check_running(match)
    _check_present(match, seat)
    return resigned(match, seat, f"seat:{seat}", chance)


def _left(seat: Seat) -> Draft:
    return Draft("seat_left", f"seat:{seat}", canonical(SeatLeft(seat)))


def aborted(reason: AbortReason, chance: Chance) -> tuple[Draft, ...]:
    return Draft("match_aborted", "worker", canonical(MatchAborted(reason))), reveal(chance)


def reveal(chance: Chance) -> Draft:
    return Draft("seed_revealed", "worker", canonical(SeedRevealed(chance().hex())))


# --- after the start --------------------------------------------------------------------------------------------------


def ask_abort(match: Match, player: str, chance: Chance) -> tuple[Draft, ...]:
    seat = _own_seat(match, player)
    check_running(match)
    _check_present(match, seat)
    _check_person(match, seat)
    _check_format_2(match)
    _check_unrated(match)
    return asked(match, seat, chance)


def asked(match: Match, seat: Seat, chance: Chance) -> tuple[Draft, ...]:
    """A seat's wish to abort the match, and the end of the match if all other people wish it too."""
    is_new = seat not in match.abort_asked
    wish = (Draft("abort_asked", f"seat:{seat}", canonical(AbortAsked(seat))),) if is_new else ()
    end = aborted("agreed", chance) if match.is_agreed(asking=seat) else ()
    return (*wish, *end)


def resigned(match: Match, seat: Seat, by: str, chance: Chance) -> tuple[Draft, ...]:
    return departed(match, seat, Draft("resigned", by, canonical(Resigned(seat))), chance)


def departed(match: Match, seat: Seat, draft: Draft, chance: Chance) -> tuple[Draft, ...]:
    """The event by which a person leaves or loses a seat, and the end of the match if all who stay ask for it."""
    end = aborted("agreed", chance) if match.is_agreed(leaving=seat) else ()
    return (draft, *end)


def take_back(match: Match, command: TakeBack) -> tuple[Draft, ...]:
    player = command.player
    seat = match.lost_seat_of(player)
    holder = None if seat is None else match.seats[seat]
    if seat is None or holder is None or holder.account_kind != "human":
        raise refused("not-seated.nothing-to-take-back")
    check_running(match)
    _check_format_2(match)
    _check_unrated(match)
    if any(decision.seat == seat for decision in match.decisions()):
        # Otherwise a player could reopen the same decision again and again, each time with the whole time for it.
        raise refused("bot-deciding", seat=seat)
    returned = SeatHandedOver(seat, player, "human", "returned")
    return (Draft("seat_handed_over", f"player:{player}", canonical(returned)),)


def replace_absent(match: Match, command: ReplaceAbsent, at: int, chance: Chance) -> tuple[Draft, ...]:
    asker, seat = _own_seat(match, command.player), command.seat
    check_running(match)
    _check_present(match, asker)
    _check_person(match, asker)
    _check_format_2(match)
    holder = match.seats[seat] if 0 <= seat < len(match.seats) else None
    if holder is None or not holder.is_present or seat == asker:
        raise refused("seat-not-absent.no-other", seat=seat)
    if not any(
        decision.seat == seat and decision.deadline is None and decision.opens_at + ABSENCE_MS <= at
        for decision in match.decisions()
    ):
        raise refused("seat-not-absent", seat=seat)
    return handed_over(match, seat, f"seat:{asker}", "absent", chance)


def handed_over(match: Match, seat: Seat, by: str, reason: HandOverReason, chance: Chance) -> tuple[Draft, ...]:
    """A seat's hand-over to the bot that stands in for people and hosted bots."""
    given = UNSET if match.created.format_number == 1 else reason
    data = SeatHandedOver(seat, stand_in(match.game), "bot", given)
    return departed(match, seat, Draft("seat_handed_over", by, canonical(data)), chance)


# --- checks -----------------------------------------------------------------------------------------------------------


def _check_open(match: Match) -> None:
    if match.status != "open":
        raise refused("match-not-open", match_status=match.status)


def _check_creator(match: Match, player: str) -> None:
    if player != match.creator:
        raise Refused("not-the-creator", "Only the player who created the match can do this.")


def _check_present(match: Match, seat: Seat) -> None:
    holder = match.seats[seat]
    if holder is None or holder.resigned:
        raise refused("not-seated.left-before")


def _check_person(match: Match, seat: Seat) -> None:
    holder = match.seats[seat]
    if holder is None or holder.kind != "human":
        raise refused("not-seated.hosted")


def _check_not_seated(match: Match, player: str) -> None:
    own = match.seat_of(player)
    if own is not None:
        raise refused("already-seated", seat=own)


def _check_format_2(match: Match) -> None:
    if match.created.format_number == 1:
        raise refused("match-too-old")


def _check_unrated(match: Match) -> None:
    if match.created.rated is True:
        raise refused("match-rated")


def _own_seat(match: Match, player: str) -> Seat:
    seat = match.seat_of(player)
    if seat is None:
        raise refused("not-seated.outsider")
    return seat


def _free_seat(match: Match, wanted: Seat | None) -> Seat:
    free = [seat for seat, holder in enumerate(match.seats) if holder is None]
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
