"""Use cases around the play of a match: create, join, add a bot, free a seat, start, leave."""

import hmac
from typing import Final, Literal

import msgspec

from events.chain import NEWEST_FORMAT, Verified, genesis, seal
from events.log import Append
from events.record import MatchId, decode
from service.errors import Corrupt, Refused
from service.games.visibility import Seat
from service.match import randomness
from service.match.commands import Create, FreeSeat, Join, Leave, SeatBot, SeenHead, Start
from service.match.decide import decide
from service.match.facets import facets_of
from service.match.fold import begin, fold_verified
from service.match.model import Match
from service.match.new_match import NewMatch, check_pace, game_named, with_clock
from service.observability import failpoints
from service.repository.bots import is_hosted
from service.repository.news import SeatFreed
from service.repository.ports import Ports
from service.usecases import finding, invitations
from service.usecases.bot_seats import admitted, holder_of, hosted_among, seat_by_creator, seat_itself
from service.usecases.held_seats import count_seats, release_seats
from service.usecases.hints import hint
from service.usecases.match_codes import join_code_of, match_id_of
from service.usecases.match_index import publish, remove_left_match, update_index
from service.usecases.match_lists import admit
from service.usecases.submit import Admit, CommandKey, Submitted, player_key, put, replay, submit
from service.usecases.subscribed import due_with_news

OPEN_MATCHES: Final = 20
"""Maximum number of matches of one player that wait for players."""


def create(ports: Ports, player: str, wanted: NewMatch, key: str, *, seed: bytes | None = None) -> Submitted:
    """Create a match; the creator gets no seat. The same player, key and request give the same match again.

    Raises:
        Refused: `game-not-found`, `bot-not-found`, `invalid-options`, `too-many-open-matches`,
            `idempotency-key-reused`.
    """
    command_key = _creation_key(player, key, wanted)
    old_key = _creation_key(player, key, wanted, format_number=1)
    match_id = match_id_of(ports.secret, player, key)
    return create_as(ports, player, wanted, match_id, command_key, old_key=old_key, seed=seed)


def create_as(
    ports: Ports,
    player: str,
    wanted: NewMatch,
    match_id: MatchId,
    command_key: CommandKey,
    *,
    old_key: CommandKey | None = None,
    seed: bytes | None = None,
) -> Submitted:
    """Create a match with this id, or return the one that has it, if the same command created it, whoever sent it.

    `old_key`: the key of the same command in a release that created format 1.

    Raises:
        Refused: as `create`.
    """
    seen = ports.log.read(match_id, last=1, command=command_key.id).seen
    if seen is not None:
        match, _ = ports.history.newest(match_id)
        if match.created.format_number == 1:
            command_key = old_key or command_key
        return indexed(ports, replay(ports, match, command_key, seen))
    game = game_named(ports.games, wanted.game)
    wanted = with_clock(game, wanted)
    check_pace(wanted.clock)
    hosted = hosted_among(ports, player, wanted.bots, game)
    wanted = msgspec.structs.replace(wanted, hosted={bot.id: holder_of(bot) for bot in hosted})
    with admitted(ports, hosted, match_id):
        return _create(ports, player, wanted, match_id, command_key, seed)


def _create(
    ports: Ports, player: str, wanted: NewMatch, match_id: MatchId, command_key: CommandKey, seed: bytes | None
) -> Submitted:
    game = game_named(ports.games, wanted.game)
    at = ports.now()
    secret_seed = seed or randomness.new_seed()
    drafts = decide(None, Create(player=player, game=game, wanted=wanted), at, lambda: secret_seed)
    if not admit(ports, player, match_id, at, OPEN_MATCHES):
        raise Refused(
            "too-many-open-matches", f"You have {OPEN_MATCHES} matches waiting for players; start or leave one first."
        )
    head = genesis(match_id, game.info.id, game.info.ruleset, wanted.format_number)[1]
    events, _ = seal(head, drafts, at, randomness.new_salts(len(drafts)))
    created = begin(match_id, events[0], ports.games)
    match, verified = fold_verified(created, events[1:])
    ports.index.add(match_id, at, player, private=wanted.private)
    for bot in wanted.hosted:
        ports.index.enrol(bot, match_id, at)
    publish(ports, match)
    finding.add_to_lists(ports, match)
    failpoints.point("create-indexed")
    due, _ = due_with_news(ports, match)
    append = Append(match_id, command_key.id, command_key.digest, head, events, due, secret_seed)
    written = put(ports, match, append, (Verified(decode(events[0]), created.head), *verified))
    if written is None:
        raise Corrupt(1, "the log has a match, but not the command that created it")
    if written.match.created_at != at:  # another copy of the request, sent at the same time, created the match
        ports.index.move(match_id, at, player, None, private=wanted.private)
        ports.index.unfile(match_id, at, facets_of(match))
    if written.match.creator != player:  # another player was first
        ports.index.release(player, match_id, at)
        if written.match.created_at == at:
            remove_left_match(ports, written.match, player)
        else:
            ports.index.dismiss(player, match_id, at)
    failpoints.point("create-appended")
    hint(ports, written.match)
    return indexed(ports, written)


def _creation_key(player: str, key: str, wanted: NewMatch, *, format_number: int = NEWEST_FORMAT) -> CommandKey:
    """The key of a creation: what the client asked for, without what the service fills in.

    A request without a clock has the digest that it had in older releases, so that it may be repeated after an upgrade.
    """
    asked = msgspec.to_builtins(wanted)
    names = ("game", "seats", "options", "bots", "clock", "private", "manual_start")
    no_clock = {"no_clock": True} if format_number > 1 and wanted.clock is None and not wanted.default_clock else {}
    rated = {"rated": True} if wanted.rated else {}
    fallback = {} if wanted.bot_fallback == "default_action" else {"bot_fallback": wanted.bot_fallback}
    return player_key(player, key, {"create": {name: asked[name] for name in names} | no_clock | rated | fallback})


def join(
    ports: Ports,
    player: str,
    match_id: MatchId,
    key: str,
    *,
    seat: Seat | None = None,
    join_code: str | None = None,
    invitation: str | None = None,
    client_seed: str | None = None,
    if_match: tuple[SeenHead, ...] | None = None,
) -> Submitted:
    """Take a free seat, by default the lowest. The last seat starts the match, unless it has manual start.

    Raises:
        Refused: `match-not-found` (also for a wrong join code), `match-not-open`, `already-seated`, `match-full`,
            `seat-taken`, `too-many-seats`, `stale-version`, `history-diverged`; `invitation-expired`; for a hosted bot `bot-busy`.
    """
    command_key = player_key(player, key, {"join": {"seat": seat, "client_seed": client_seed}})
    right_code = join_code_of(ports.secret, match_id)
    expires_at = None if invitation is None else invitations.expires_at(ports.secret, match_id, invitation)
    is_invited = expires_at is not None and ports.now() < expires_at
    command = Join(
        player=player,
        if_match=if_match,
        seat=seat,
        client_seed=client_seed,
        has_join_code=is_invited or hmac.compare_digest((join_code or "").encode(), right_code.encode()),
    )
    try:
        take_seat = seat_itself if is_hosted(player) else submit
        joined = indexed(ports, take_seat(ports, match_id, command_key, command))
    except Refused as refusal:
        if refusal.code == "match-not-found" and expires_at is not None and not is_invited:
            raise Refused("invitation-expired", "This invitation is no longer valid; ask for a new one.") from None
        raise
    if not joined.replayed:
        # Once more, since an earlier leave of the same player may just have removed the entries.
        ports.index.enrol(player, match_id, joined.match.created_at)
        count_seats(ports, joined.match)
        publish(ports, joined.match, (player,))
    return joined


def add_bot(
    ports: Ports,
    player: str,
    match_id: MatchId,
    key: str,
    *,
    bot: str,
    seat: Seat | None = None,
    if_match: tuple[SeenHead, ...] | None = None,
    admit_bots: Admit | None = None,
) -> Submitted:
    """Give a bot, of the game or hosted, a seat. Only the creator may do this. `admit_bots`: see `submit`.

    Raises:
        Refused: what `admit_bots` refuses; `not-the-creator`, `bot-not-found`, `bot-not-allowed`, `bot-busy`,
            `match-not-open`, `match-full`, `seat-taken`, `already-seated`, `stale-version`, `history-diverged`.
    """
    command_key = player_key(player, key, {"bot": {"bot": bot, "seat": seat}})
    command = SeatBot(player=player, if_match=if_match, bot=bot, seat=seat)
    give_seat = seat_by_creator if is_hosted(bot) else submit
    return indexed(ports, give_seat(ports, match_id, command_key, command, admit_bots))


def start(
    ports: Ports,
    player: str,
    match_id: MatchId,
    key: str,
    *,
    if_match: tuple[SeenHead, ...] | None = None,
    admit_bots: Admit | None = None,
) -> Submitted:
    """Start a full match with manual start. Only the creator may do this. `admit_bots`: see `submit`.

    Raises:
        Refused: what `admit_bots` refuses; `not-the-creator`, `match-not-open`, `seats-empty`, `stale-version`,
            `history-diverged`.
    """
    command_key = player_key(player, key, {"start": {}})
    command = Start(player=player, if_match=if_match)
    return indexed(ports, submit(ports, match_id, command_key, command, admit_bots))


def leave(
    ports: Ports,
    player: str,
    match_id: MatchId,
    key: str,
    *,
    only: Literal["open"] | None = None,
    if_match: tuple[SeenHead, ...] | None = None,
    is_conditional: bool = False,
    command_key: CommandKey | None = None,
) -> Submitted:
    """Give up a seat. Before the start it becomes free; later the service takes default actions for it.

    If a creator without a seat leaves an open match, the match is aborted. With `only` or `if_match`, a match that has
    started is not left: a player who means to leave the open match must not resign the running one. `is_conditional`:
    the same for an If-Match that any version fulfils. `command_key` replaces the key of a player's command.

    Raises:
        Refused: `not-seated`, `match-not-open`, `match-over`, `match-suspended`, `stale-version`, `history-diverged`.
    """
    command_key = command_key or player_key(player, key, {"leave": {} if only is None else {"only": only}})
    only_open = only is not None or if_match is not None or is_conditional
    submitted = submit(ports, match_id, command_key, Leave(player=player, if_match=if_match, only_open=only_open))
    _remove_left_match(ports, submitted.match, player)
    return indexed(ports, submitted)


def free_seat(
    ports: Ports,
    player: str,
    match_id: MatchId,
    key: str,
    *,
    seat: Seat,
    if_match: tuple[SeenHead, ...] | None = None,
) -> Submitted:
    """Take a seat of an open match away from its player or bot. Only the creator may do this.

    Raises:
        Refused: `not-the-creator`, `match-not-open`, `seat-free`, `match-too-old`, `stale-version`, `history-diverged`.
    """
    command_key = player_key(player, key, {"free": {"seat": seat}})
    freed = submit(ports, match_id, command_key, FreeSeat(player=player, if_match=if_match, seat=seat))
    version = freed.match.head.version
    before = ports.history.at(match_id, version - 1).seats[seat]
    if before is not None and before.kind != "bot":
        _remove_left_match(ports, freed.match, before.player)
        if before.player != player:
            ports.news.post(before.player, SeatFreed(match_id, version), ports.now())
    return indexed(ports, freed)


def _remove_left_match(ports: Ports, match: Match, player: str) -> None:
    ports.index.release_seat(player, match.id, match.created_at)
    newest = remove_left_match(ports, match, player)
    if newest is not None:
        count_seats(ports, newest)


def indexed(ports: Ports, submitted: Submitted) -> Submitted:
    """Update the index; also on a replay, since the process of the first attempt may have died before this.

    An open match is left where it is: it is in the open list since its creation, and a slow process could put a match
    back there that has started meanwhile.
    """
    match = submitted.match
    if submitted.replayed:
        match, _ = ports.history.newest(match.id)
    if match.status != "open":
        update_index(ports, match, just_written=not submitted.replayed)
        release_seats(ports, match)
    if match.status == "running":
        # Bots may have finished the match meanwhile.
        newest, _ = ports.history.newest(match.id)
        if newest.is_over:
            update_index(ports, newest)
    return submitted
