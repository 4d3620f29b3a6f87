"""Seats of hosted bots: who may give them, and how many matches a bot plays at once."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import msgspec

from events.record import MatchId
from service.errors import Corrupt, Refused
from service.games.protocol import AnyGame
from service.match.commands import Join, SeatBot
from service.match.decide import decide
from service.match.events import LONGEST_LIMIT_MS
from service.match.model import Match
from service.match.rulings import no_chance
from service.match.seat_holder import HostedBot
from service.repository.bots import PREFIX, Admitted, Bot, is_hosted
from service.repository.ports import Ports
from service.usecases.accounts import invalid_token
from service.usecases.match_index import IN_FLIGHT_MS
from service.usecases.submit import Admit, CommandKey, Submitted, detecting_divergence, replay, submit

_NOBODY: Final = HostedBot(f"{PREFIX}nobody", "nobody", LONGEST_LIMIT_MS)


def seat_itself(ports: Ports, match_id: MatchId, command_key: CommandKey, command: Join) -> Submitted:
    """Give a hosted bot the seat that it asks for with its own token, in any game.

    Raises:
        Refused: `bot-busy`, `token-invalid` if the bot was deleted meanwhile, and as `submit`.
    """
    match, seen = ports.history.newest(match_id, command_key.id)
    if seen is not None:  # how many matches the bot plays does not matter for a repetition
        return replay(ports, match, command_key, seen)
    bot = ports.bots.find((command.player,)).get(command.player)
    if bot is None:
        raise invalid_token()
    command = msgspec.structs.replace(command, hosted=holder_of(bot))
    _check_rules(ports, match, command)
    with admitted(ports, (bot,), match_id):
        return submit(ports, match_id, command_key, command)


def seat_by_creator(
    ports: Ports, match_id: MatchId, command_key: CommandKey, command: SeatBot, admit_bots: Admit | None
) -> Submitted:
    """Give a hosted bot, which `command` names by its id, a seat.

    Raises:
        Refused: `bot-not-found`, `bot-not-allowed`, `bot-busy`, and as `submit`.
    """
    match, seen = ports.history.newest(match_id, command_key.id)
    if seen is not None:  # what the owner allows now does not matter for a repetition
        return replay(ports, match, command_key, seen)
    # Whoever may not do this anyway must not learn of the bot.
    _check_rules(ports, match, msgspec.structs.replace(command, bot=_NOBODY))
    wanted = command.bot if isinstance(command.bot, str) else command.bot.id
    bot = seated_by(ports, command.player, wanted, match.game)
    command = msgspec.structs.replace(command, bot=holder_of(bot))
    _check_rules(ports, match, command)
    with admitted(ports, (bot,), match_id):
        return submit(ports, match_id, command_key, command, admit_bots)


def _check_rules(ports: Ports, match: Match, command: Join | SeatBot) -> None:
    """Raise what the rules refuse, before anything is noted or said of a hosted bot."""
    with detecting_divergence(ports, match, command):
        decide(match, command, max(ports.now(), match.at), no_chance)


def seated_by(ports: Ports, player: str, bot_id: str, game: AnyGame) -> Bot:
    """A bot that a player may give a seat in a match of this game.

    Raises:
        Refused: `bot-not-found` (also for a bot that is not public, and that the player may not seat), `bot-not-allowed`.
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
    return bot


def hosted_among(ports: Ports, player: str, bots: Sequence[str], game: AnyGame) -> tuple[Bot, ...]:
    """The hosted ones among the bots that a match is created with.

    Raises:
        Refused: as `seated_by`.
    """
    return tuple(seated_by(ports, player, bot, game) for bot in dict.fromkeys(bots) if is_hosted(bot))


def holder_of(bot: Bot) -> HostedBot:
    """What a match records of a bot."""
    return HostedBot(bot.id, bot.owner, bot.limit_ms)


@contextmanager
def admitted(ports: Ports, bots: Sequence[Bot], match_id: MatchId) -> Iterator[None]:
    """Count a match of each of these bots, which get their seats within the block. If the block is refused, it does not count.

    Raises:
        Refused: `bot-busy`.
    """
    at, new = ports.now(), list[str]()
    try:
        for bot in bots:
            if _admit(ports, bot, match_id, at) == "new":
                new.append(bot.id)
        yield
    except Refused:
        for one in new:
            ports.bots.release(one, match_id, at)
        raise
    for bot in bots:
        ports.bots.seat(bot.id, match_id, ports.now())


def _admit(ports: Ports, bot: Bot, match_id: MatchId, at: int) -> Admitted:
    """Count a match of a bot. At the limit, matches that are over are removed first, and those in which it got no seat."""
    limit = bot.max_matches
    answer = ports.bots.admit(bot.id, match_id, at, limit)
    if answer == "full":
        _release_old(ports, bot.id)
        answer = ports.bots.admit(bot.id, match_id, at, limit)
    if answer == "full":
        raise Refused("bot-busy", f"This bot plays {limit} matches, which is as many as its owner allows.")
    return answer


def _release_old(ports: Ports, bot: str) -> None:
    """Remove the matches of a bot in which it does not play. New ones stay: it may be about to get its seat there."""
    settled = {match_id: at for match_id, at in ports.bots.admitted(bot).items() if ports.now() - at > IN_FLIGHT_MS}
    found = ports.history.newest_each(settled)
    for match_id, at in settled.items():
        if not _plays(found[match_id], bot):
            ports.bots.release(bot, match_id, at)


def _plays(match: Match | Corrupt | Refused, bot: str) -> bool:
    if not isinstance(match, Match) or match.is_over:
        return False
    seat = match.seat_of(bot)
    holder = None if seat is None else match.seats[seat]
    return holder is not None and not holder.resigned
