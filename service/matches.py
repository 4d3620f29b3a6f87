"""The life of a match around its play: create, take a seat, start, leave."""

import base64
import hmac
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import UNSET

from events.chain import Draft, genesis, seal
from events.log import Append
from events.record import MatchId, canonical
from service import crash, randomness
from service.command import Submitted, hint, player_command, put, replay, server_seed, submit
from service.errors import Corrupt, Refused, no_match
from service.games.protocol import AnyGame
from service.games.visibility import Seat
from service.lobby import admitted, ending, left, not_ending, shelve
from service.match import Match
from service.match_events import (
    MatchAborted,
    MatchCreated,
    MatchStarted,
    Resigned,
    SeatLeft,
    SeatTaken,
    SeedRevealed,
)
from service.match_fold import begin, fold
from service.new_match import NewMatch, check_bot, checked
from service.play import check_running
from service.ports import Ports
from service.refusals import refused

OPEN_MATCHES: Final = 20
"""That one player may have waiting for players at a time."""


def create(ports: Ports, player: str, wanted: NewMatch, key: str, *, seed: bytes | None = None) -> Submitted:
    """A new match. The same player, key and request are the same match; creating takes no seat.

    Raises:
        Refused: `game-not-found`, `bot-not-found`, `invalid-options`, `too-many-open-matches`,
            `idempotency-key-reused`.
    """
    match_id = _match_id(ports.secret, player, key)
    command = player_command(player, key, {"create": msgspec.to_builtins(wanted)})
    seen = ports.log.read(match_id, last=1, command=command.id).seen
    if seen is not None:
        return _shelved(ports, replay(ports, ports.history.newest(match_id)[0], command, seen))
    game, options = checked(ports.games, wanted)
    at = ports.now()
    if not admitted(ports, player, match_id, at, OPEN_MATCHES):
        raise Refused(
            "too-many-open-matches", f"You have {OPEN_MATCHES} matches waiting for players; start or leave one first."
        )
    secret_seed = seed or randomness.new_seed()
    created = MatchCreated(
        game=game.info.id,
        ruleset=game.info.ruleset,
        options=msgspec.to_builtins(options),
        seats=wanted.seats,
        clock=wanted.clock,
        private=wanted.private,
        manual_start=wanted.manual_start,
        seed_commitment=randomness.commitment(secret_seed),
    )
    drafts = [Draft("match_created", by := f"player:{player}", canonical(created))]
    drafts += [
        Draft("seat_taken", by, canonical(SeatTaken(seat, name, "bot"))) for seat, name in enumerate(wanted.bots)
    ]
    if len(wanted.bots) == wanted.seats and not wanted.manual_start:
        drafts.append(_started(game, wanted.seats, options, at, secret_seed, [None] * wanted.seats))
    head = genesis(match_id, game.info.id, game.info.ruleset)[1]
    events, _ = seal(head, drafts, at, randomness.new_salts(len(drafts)))
    match = fold(begin(match_id, events[0], ports.games), events[1:])
    ports.index.add(match_id, at, player, private=wanted.private)
    crash.point("create-indexed")
    append = Append(match_id, command.id, command.digest, head, events, match.owed(), secret_seed)
    written = put(ports, match, append)
    if written is None:
        raise Corrupt(1, "the log has a match, but not the command that created it")
    if written.match.created_at != at:  # the same request came twice at once, and the other one made the match
        ports.index.move(match_id, at, player, None, private=wanted.private)
    crash.point("create-appended")
    hint(ports, written.match)
    return _shelved(ports, written)


def join(
    ports: Ports,
    player: str,
    match_id: MatchId,
    key: str,
    *,
    seat: Seat | None = None,
    join_code: str | None = None,
    client_seed: str | None = None,
) -> Submitted:
    """Take a free seat, the lowest if none is named. The last seat taken starts the match, unless it is started by hand.

    Raises:
        Refused: `match-not-found` (also for a wrong join code), `match-not-open`, `already-seated`, `match-full`,
            `seat-taken`.
    """

    def decide(match: Match, at: int) -> Sequence[Draft]:
        own = match.seat_of(player)
        let_in = not match.created.private or own is not None or player == match.creator
        if not (let_in or hmac.compare_digest((join_code or "").encode(), join_code_of(ports.secret, match).encode())):
            raise no_match()
        _check_open(match)
        if own is not None:
            raise Refused("already-seated", "You have a seat in this match.", seat=own)
        taken = SeatTaken(_free_seat(match, seat), player, "human", UNSET if client_seed is None else client_seed)
        ports.index.enrol(player, match.id, match.created_at)
        return _filled(ports, match, taken, at, f"player:{player}")

    request = {"join": {"seat": seat, "client_seed": client_seed}}
    joined = _shelved(ports, submit(ports, match_id, player_command(player, key, request), decide))
    if not joined.replayed:
        # Again: an earlier leave of the same player may just have taken the place away.
        ports.index.enrol(player, match_id, joined.match.created_at)
    return joined


def add_bot(ports: Ports, player: str, match_id: MatchId, key: str, *, bot: str, seat: Seat | None = None) -> Submitted:
    """Seat a bot; the creator's right.

    Raises:
        Refused: `not-the-creator`, `bot-not-found`, `match-not-open`, `match-full`, `seat-taken`.
    """

    def decide(match: Match, at: int) -> Sequence[Draft]:
        _check_creator(match, player)
        _check_open(match)
        check_bot(match.game, bot)
        taken = SeatTaken(_free_seat(match, seat), bot, "bot")
        return _filled(ports, match, taken, at, f"player:{player}")

    command = player_command(player, key, {"bot": {"bot": bot, "seat": seat}})
    return _shelved(ports, submit(ports, match_id, command, decide, player=player))


def start(ports: Ports, player: str, match_id: MatchId, key: str) -> Submitted:
    """Start a full match by hand; the creator's right.

    Raises:
        Refused: `not-the-creator`, `match-not-open`, `seats-empty`.
    """

    def decide(match: Match, at: int) -> Sequence[Draft]:
        _check_creator(match, player)
        _check_open(match)
        if None in match.seats:
            raise Refused("seats-empty", "A match starts when every seat is taken.")
        return [_start(ports, match, match.client_seeds(), at)]

    return _shelved(ports, submit(ports, match_id, player_command(player, key, {"start": {}}), decide, player=player))


def leave(ports: Ports, player: str, match_id: MatchId, key: str) -> Submitted:
    """Give up a seat: before the start it is free again, in mid-match it is played by default actions from then on.

    A creator without a seat who leaves an open match ends it.

    Raises:
        Refused: `not-seated`, `match-over`, `match-suspended`.
    """
    announced: list[Match] = []

    def decide(match: Match, at: int) -> Sequence[Draft]:
        seat = match.seat_of(player)
        if match.status == "open" and seat is None and player == match.creator:
            aborted = _aborted(ports, match)
            announced.append(match)
            ending(ports, match, at)
            return aborted
        if seat is None:
            raise refused("not-seated.nothing-to-leave")
        if match.status == "open":
            return [Draft("seat_left", f"seat:{seat}", canonical(SeatLeft(seat)))]
        check_running(match)
        sitter = match.seats[seat]
        if sitter is not None and sitter.resigned:
            raise refused("not-seated.left-before")
        return [Draft("resigned", f"seat:{seat}", canonical(Resigned(seat)))]

    try:
        submitted = submit(ports, match_id, player_command(player, key, {"leave": {}}), decide, player=player)
    except Refused:
        if announced:  # of a match that had gone on already
            not_ending(ports, announced[-1])
        raise
    left(ports, submitted.match, player)
    return _shelved(ports, submitted)


def join_code_of(secret: bytes, match: Match) -> str:
    """The code that lets a player into a private match."""
    return _short(hmac.digest(secret, b"join:" + match.id.encode(), "sha256"), 10)


def seen_join_code(ports: Ports, match: Match, player: str) -> str | None:
    """The join code, for those who may pass it on: the creator and the seats of a private match."""
    if not match.created.private or (player != match.creator and match.seat_of(player) is None):
        return None
    return join_code_of(ports.secret, match)


def _shelved(ports: Ports, submitted: Submitted) -> Submitted:
    """Bring the index up to date; also on a replay, since the first try may have died before this.

    A match is on the open shelf from its creation, and is never put back there: a slow process would undo its start.
    """
    match = submitted.match
    if submitted.replayed:
        match, _ = ports.history.newest(match.id)
    if match.status != "open":
        shelve(ports, match, just_written=not submitted.replayed)
    if match.status == "running":
        # Bots may have played it to its end meanwhile.
        newest, _ = ports.history.newest(match.id)
        if newest.is_over:
            shelve(ports, newest)
    return submitted


def _match_id(secret: bytes, player: str, key: str) -> MatchId:
    return _short(hmac.digest(secret, canonical([player, key]), "sha256"), 26)


def _short(digest: bytes, length: int) -> str:
    return base64.b32encode(digest).decode().lower()[:length]


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
        raise Refused("seat-taken", f"{fault}; {_listed(free)} free.", free=free)
    return wanted


def _listed(free: Sequence[Seat]) -> str:
    seats = ", ".join(map(str, free))
    return f"seat {seats} is" if len(free) == 1 else f"seats {seats} are"


def _filled(ports: Ports, match: Match, taken: SeatTaken, at: int, by: str) -> Sequence[Draft]:
    """A seat taken, and the start if it was the last."""
    drafts = [Draft("seat_taken", by, canonical(taken))]
    empty = [seat for seat, sitter in enumerate(match.seats) if sitter is None]
    if empty == [taken.seat] and not match.created.manual_start:
        seeds = match.client_seeds()
        seeds[taken.seat] = None if taken.client_seed is UNSET else taken.client_seed
        drafts.append(_start(ports, match, seeds, at))
    return drafts


def _start(ports: Ports, match: Match, client_seeds: list[str | None], at: int) -> Draft:
    return _started(match.game, len(match.seats), match.options, at, server_seed(ports, match), client_seeds)


def _started(
    game: AnyGame, seats: int, options: Any, at: int, secret_seed: bytes, client_seeds: list[str | None]
) -> Draft:
    rng = randomness.Draws(lambda: randomness.match_key(secret_seed, client_seeds), {})
    effects = game.setup(seats, options, at, rng)
    return Draft("match_started", "worker", canonical(MatchStarted(tuple(rng.drawn), effects)))


def _aborted(ports: Ports, match: Match) -> Sequence[Draft]:
    return [
        Draft("match_aborted", "worker", canonical(MatchAborted("creator-left"))),
        Draft("seed_revealed", "worker", canonical(SeedRevealed(server_seed(ports, match).hex()))),
    ]
