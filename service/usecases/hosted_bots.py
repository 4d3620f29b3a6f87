"""Hosted bots: their owners create, change and delete them, and other players give them seats."""

import secrets
from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from events.record import MatchId
from service.errors import Corrupt, Refused
from service.games.protocol import AnyGame
from service.match.events import LONGEST_LIMIT_MS
from service.match.model import Match
from service.match.seat_holder import HostedBot
from service.repository.accounts import Scope, Token, digest_of
from service.repository.bots import PREFIX, Bot, Seating, is_hosted
from service.repository.ports import Player, Ports
from service.repository.signing import SigningKey
from service.usecases.accounts import invalid_token, new_token
from service.usecases.erasure import erase
from service.usecases.match_index import IN_FLIGHT_MS

MAX_BOTS: Final = 20
"""Maximum number of hosted bots of a player."""
MAX_MATCHES: Final = 100
"""The largest `max_matches`."""
LONGEST_ABOUT: Final = 300
SCOPES: Final[tuple[Scope, ...]] = ("watch", "play")
"""What the token of a bot may be used for. It cannot change its account, which belongs to the owner."""
_MAX_TOKENS: Final = 2
"""A bot has one token, and for a moment the one that replaces it."""


class OwnBot(msgspec.Struct, frozen=True):
    """A hosted bot as its owner sees it. Times are in server milliseconds."""

    id: str
    name: str | None
    created_at: int
    games: tuple[str, ...]
    about: str
    public: bool
    seating: Seating
    max_matches: int
    limit_ms: int
    url: str | None


class BotSettings(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an owner may change of a hosted bot; None leaves it as it is. A `url` of None means that the bot is not called."""

    name: str | None = None
    games: tuple[str, ...] | None = None
    about: str | None = None
    public: bool | None = None
    seating: Seating | None = None
    max_matches: int | None = None
    limit_ms: int | None = None
    url: str | UnsetType | None = UNSET


def create(ports: Ports, owner: Player, wanted: BotSettings) -> tuple[OwnBot, str, str]:
    """Create a hosted bot; returns it with its token and the secret that signs calls of it, which are shown once.

    Raises:
        Refused: `too-many-bots`; `game-not-found`; `token-invalid` if the owner was erased meanwhile.
    """
    bot_id = PREFIX + secrets.token_hex(10)
    defaults = Bot(
        id=bot_id,
        owner=owner.id,
        created_at=ports.now(),
        games=tuple(sorted(ports.games)),
        about="",
        public=False,
        seating="owner",
        max_matches=10,
        limit_ms=LONGEST_LIMIT_MS,
        key=SigningKey(f"bot:{bot_id}"),
    )
    bot = _with(ports, defaults, wanted)
    player = Player(id=bot.id, name=wanted.name or "", created_at=bot.created_at)
    if not ports.bots.add(bot, MAX_BOTS):
        raise Refused("too-many-bots", f"You have {MAX_BOTS} bots; delete one first.")
    secret = new_token()
    ports.accounts.add(player, digest_of(secret), Token("", SCOPES, bot.created_at))
    if not ports.accounts.players((owner.id,)):  # a worker may have looked for bots before this one was added
        erase(ports, bot.id)
        raise invalid_token()
    return _see(bot, player), secret, bot.key.secret(ports.secret)


def _with(ports: Ports, bot: Bot, wanted: BotSettings) -> Bot:
    """A bot with other settings.

    Raises:
        Refused: `game-not-found`.
    """
    games = sorted(set(wanted.games or ()))
    unknown = next((game for game in games if game not in ports.games), None)
    if unknown is not None:
        known = sorted(ports.games)
        raise Refused("game-not-found", f"One of the games does not exist. There are: {', '.join(known)}.", games=known)
    changed = {name: value for name, value in msgspec.structs.asdict(wanted).items() if value is not None}
    changed.pop("name", None)
    changed.pop("url", None)
    if wanted.url is not UNSET:
        changed["url"] = wanted.url
    return msgspec.structs.replace(bot, **(changed | ({"games": tuple(games)} if games else {})))


def _see(bot: Bot, account: Player | None) -> OwnBot:
    shown = msgspec.structs.asdict(bot)
    del shown["owner"], shown["key"]
    return OwnBot(name=None if account is None else account.name, **shown)


def own_bots(ports: Ports, owner: str) -> tuple[OwnBot, ...]:
    """An owner's bots, oldest first."""
    ids = ports.bots.of(owner)
    found, accounts = ports.bots.find(ids), ports.accounts.players(ids)
    return tuple(_see(found[bot], accounts.get(bot)) for bot in ids if bot in found)


def own_bot(ports: Ports, owner: str, bot_id: str) -> Bot:
    """A bot of this owner.

    Raises:
        Refused: `bot-not-found`, the same for a bot of another owner.
    """
    found = ports.bots.find((bot_id,)).get(bot_id)
    if found is None or found.owner != owner:
        raise Refused("bot-not-found", "You have no bot with this id.")
    return found


def change(ports: Ports, owner: str, bot_id: str, wanted: BotSettings) -> OwnBot:
    """Change a bot. Matches that it plays go on as they began.

    Raises:
        Refused: `bot-not-found`, `game-not-found`.
    """
    own_bot(ports, owner, bot_id)
    account = ports.accounts.players((bot_id,)).get(bot_id)
    bot = ports.bots.change(bot_id, lambda one: _with(ports, one, wanted))
    if bot is None:
        raise _deleted()
    if wanted.name is not None:
        account = Player(bot_id, wanted.name, bot.created_at)
        if not ports.accounts.rename(account):
            raise _deleted()
    return _see(bot, account)


def _deleted() -> Refused:
    return Refused("bot-not-found", "This bot was deleted meanwhile.")


def delete(ports: Ports, owner: str, bot_id: str) -> None:
    """Delete a bot: its account is erased, and resigns in all of its matches. Events keep its id, as that of a player.

    Raises:
        Refused: `bot-not-found`.
    """
    erase(ports, own_bot(ports, owner, bot_id).id)


def renew_token(ports: Ports, owner: str, bot_id: str) -> str:
    """Replace the token of a bot; returns the new one, which is shown once. The old one is invalid at once.

    Raises:
        Refused: `bot-not-found`.
    """
    bot = own_bot(ports, owner, bot_id)
    now, secret = ports.now(), new_token()
    digest = digest_of(secret)
    for old in ports.accounts.tokens(bot.id):
        ports.accounts.revoke(bot.id, old, old)
    if ports.accounts.add_token(bot.id, digest, Token("", SCOPES, now), _MAX_TOKENS, now) == "erased":
        raise _deleted()
    return secret


def renew_secret(ports: Ports, owner: str, bot_id: str) -> str:
    """Replace the secret that signs calls of a bot; returns the new one. The one before stays valid for a day.

    Raises:
        Refused: `bot-not-found`.
    """
    own_bot(ports, owner, bot_id)
    now = ports.now()
    bot = ports.bots.change(bot_id, lambda one: msgspec.structs.replace(one, key=one.key.renewed(now)))
    if bot is None:
        raise _deleted()
    return bot.key.secret(ports.secret)


# --- seats ------------------------------------------------------------------------------------------------------------


def seated_by(ports: Ports, player: str, bot_id: str, game: AnyGame, match_id: MatchId) -> HostedBot:
    """A bot that a player is about to give a seat in a match of this game; the match counts as one of the bot's from now on.

    Raises:
        Refused: `bot-not-found` (also for a bot that is not public, and that the player may not seat), `bot-not-allowed`,
            `bot-busy`.
    """
    bot = ports.bots.find((bot_id,)).get(bot_id)
    is_allowed = bot is not None and (bot.seating == "everyone" or player in {bot.owner, bot.id})
    if bot is None or not (is_allowed or bot.public):
        raise Refused("bot-not-found", "There is no hosted bot with this id.")
    if not is_allowed:
        raise Refused("bot-not-allowed", "Only its owner may give this bot a seat.")
    if game.info.id not in bot.games:
        fault = f"This bot does not play {game.info.title}. It plays: {', '.join(bot.games)}."
        raise Refused("bot-not-found", fault)
    return _admitted(ports, bot, match_id)


def seating_itself(ports: Ports, bot_id: str, match_id: MatchId) -> HostedBot:
    """A bot that is about to take a seat itself, with its own token; as `seated_by`, in any game.

    Raises:
        Refused: `bot-busy`; `token-invalid` if the bot was deleted meanwhile.
    """
    bot = ports.bots.find((bot_id,)).get(bot_id)
    if bot is None:
        raise invalid_token()
    return _admitted(ports, bot, match_id)


def _admitted(ports: Ports, bot: Bot, match_id: MatchId) -> HostedBot:
    """Count a match of a bot. At the limit, matches that are over are removed first, and those in which it got no seat."""
    limit = bot.max_matches
    if not ports.bots.admit(bot.id, match_id, ports.now(), limit):
        _release_old(ports, bot.id)
        if not ports.bots.admit(bot.id, match_id, ports.now(), limit):
            raise Refused("bot-busy", f"This bot plays {limit} matches, which is as many as its owner allows.")
    return HostedBot(bot.id, bot.owner, bot.limit_ms)


def _release_old(ports: Ports, bot: str) -> None:
    """Remove the matches of a bot in which it does not play. New ones stay: it may be about to get its seat there."""
    settled = [match_id for match_id, at in ports.bots.admitted(bot).items() if ports.now() - at > IN_FLIGHT_MS]
    found = ports.history.newest_each(settled)
    for match_id in settled:
        if not _plays(found[match_id], bot):
            ports.bots.release(bot, match_id)


def _plays(match: Match | Corrupt | Refused, bot: str) -> bool:
    if not isinstance(match, Match) or match.is_over:
        return False
    seat = match.seat_of(bot)
    holder = None if seat is None else match.seats[seat]
    return holder is not None and not holder.resigned


def hosted_among(
    ports: Ports, player: str, bots: Sequence[str], game: AnyGame, match_id: MatchId
) -> dict[str, HostedBot]:
    """The hosted ones among the bots that a match is created with.

    Raises:
        Refused: as `seated_by`.
    """
    return {bot: seated_by(ports, player, bot, game, match_id) for bot in bots if is_hosted(bot)}
