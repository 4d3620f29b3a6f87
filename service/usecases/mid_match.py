"""Use cases in mid-match: abort by agreement, take a seat back from a bot, give that of an absent player to one."""

from events.record import MatchId
from service.games.visibility import Seat
from service.match.commands import AskAbort, PlayersCommand, ReplaceAbsent, SeenHead, TakeBack
from service.repository.ports import Ports
from service.usecases.match_lifecycle import indexed
from service.usecases.submit import CommandKey, Submitted, player_key, submit


def ask_abort(
    ports: Ports, player: str, match_id: MatchId, key: str, *, if_match: tuple[SeenHead, ...] | None = None
) -> Submitted:
    """Ask to abort a running match. It is aborted when all its people ask; an action takes the request back.

    Raises:
        Refused: `not-seated`, `match-not-running`, `match-suspended`, `match-over`, `match-too-old`, `stale-version`,
            `history-diverged`.
    """
    return _changed(ports, match_id, player_key(player, key, {"abort": {}}), AskAbort(player=player, if_match=if_match))


def take_back(
    ports: Ports, player: str, match_id: MatchId, key: str, *, if_match: tuple[SeenHead, ...] | None = None
) -> Submitted:
    """Take back the seat that a bot plays for the player, unless the bot has a decision open.

    Raises:
        Refused: `not-seated`, `bot-deciding`, `match-suspended`, `match-over`, `match-too-old`, `stale-version`,
            `history-diverged`.
    """
    return _changed(
        ports, match_id, player_key(player, key, {"return": {}}), TakeBack(player=player, if_match=if_match)
    )


def replace_absent(
    ports: Ports,
    player: str,
    match_id: MatchId,
    key: str,
    *,
    seat: Seat,
    if_match: tuple[SeenHead, ...] | None = None,
) -> Submitted:
    """Hand the seat of a person who has kept a match without a clock waiting for 14 days over to a bot.

    Raises:
        Refused: `not-seated`, `seat-not-absent`, `match-not-running`, `match-suspended`, `match-over`, `match-too-old`,
            `stale-version`, `history-diverged`.
    """
    command = ReplaceAbsent(player=player, if_match=if_match, seat=seat)
    return _changed(ports, match_id, player_key(player, key, {"replace": {"seat": seat}}), command)


def _changed(ports: Ports, match_id: MatchId, key: CommandKey, command: PlayersCommand) -> Submitted:
    return indexed(ports, submit(ports, match_id, key, command))
