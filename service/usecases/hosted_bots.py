"""Hosted bots: their owners create, change and delete them, and renew their secrets."""

import hmac
import secrets
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from events.record import canonical
from service.errors import Refused
from service.match.events import LONGEST_LIMIT_MS
from service.repository.accounts import Scope, Token, digest_of
from service.repository.bots import PREFIX, Bot, Seating
from service.repository.ports import Player, Ports
from service.repository.signing import SigningKey
from service.usecases.accounts import derived_token, invalid_token, new_token
from service.usecases.created_ids import check_key, created_id, deleted
from service.usecases.erasure import erase

MAX_BOTS: Final = 20
"""Maximum number of hosted bots of a player."""
MAX_MATCHES: Final = 100
"""The largest `max_matches`."""
LONGEST_ABOUT: Final = 300
SCOPES: Final[tuple[Scope, ...]] = ("watch", "play")
"""What the token of a bot may be used for. It cannot change its account, which belongs to the owner."""


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


def create(ports: Ports, owner: Player, wanted: BotSettings, key: str | None = None) -> tuple[OwnBot, str, str]:
    """Create a hosted bot; returns it with its token and the secret that signs calls of it, which are shown once.

    The same `key` and request give the same bot again, as it is now, with the token that it got then; without a key it is a new one.

    Raises:
        Refused: `too-many-bots`; `game-not-found`; `idempotency-key-reused`; `token-invalid` if the owner was erased meanwhile.
    """
    key = key or secrets.token_hex(16)
    bot_id = created_id(ports, PREFIX, owner.id, key, msgspec.to_builtins(wanted))
    check_key(bot_id, ports.bots.of(owner.id))
    # Derived, so that a repetition gets the same one. Nothing of the key is stored, so that the token needs more than the secret.
    token = derived_token(hmac.digest(ports.secret, canonical(["bot-token", owner.id, key]), "sha256"))
    if ports.accounts.in_erasure((bot_id,)):
        raise deleted()
    known, account = ports.bots.find((bot_id,)).get(bot_id), ports.accounts.players((bot_id,)).get(bot_id)
    if known is not None and account is not None:
        return _see(known, account), token, known.key.secret(ports.secret)
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
    ports.accounts.add(player, digest_of(token), Token("", SCOPES, bot.created_at))
    if not ports.accounts.players((owner.id,)):  # a worker may have looked for bots before this one was added
        erase(ports, bot.id)
        raise invalid_token()
    return _see(bot, player), token, bot.key.secret(ports.secret)


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
    secret = new_token()
    if not ports.accounts.replace_all(bot.id, digest_of(secret), Token("", SCOPES, ports.now())):
        raise _deleted()
    return secret


def renew_secret(ports: Ports, owner: str, bot_id: str, key: str) -> str:
    """Replace the secret that signs calls of a bot; returns the new one. The one before stays valid for a day.

    The same `key` again changes nothing, and returns the newest secret.

    Raises:
        Refused: `bot-not-found`.
    """
    own_bot(ports, owner, bot_id)
    now = ports.now()
    bot = ports.bots.change(bot_id, lambda one: msgspec.structs.replace(one, key=one.key.renewed(now, key)))
    if bot is None:
        raise _deleted()
    return bot.key.secret(ports.secret)
