"""Writes a played match as a match file: every move is decided again by the service's Decider, in the same order."""

import hmac
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Final

import msgspec

from service.arena.play import Moved, Played, id_of_match
from service.games.protocol import CLOCK, AnyGame
from service.match.commands import Act, Command, Create, Join, Ring, Score, TakeDefault
from service.match.events import SHORTEST_CLOCK, MatchClock
from service.match.new_match import NewMatch
from service.match.recording import Recording

_CREATOR: Final = "arena"
_CLOCK: Final = MatchClock(turn_seconds=SHORTEST_CLOCK)


def match_file(
    game: AnyGame,
    options: Mapping[str, object],
    seed: bytes,
    names: Sequence[str],
    rotation: int,
    played: Played,
) -> Sequence[bytes]:
    """The lines of the match file. All bots are players in it, as bots are that somebody hosts.

    names: in seat order.

    Raises:
        RuntimeError: the Decider has another outcome.
    """
    recording = Recording(id_of_match(seed, rotation), game, seed, lambda version: _salt(seed, rotation, version))
    clock = None if game.info.keeps_time else _CLOCK
    wanted = NewMatch(game=game.info.id, seats=len(names), options=options, clock=clock)
    recording.carry_out(Create(player=_CREATOR, game=game, wanted=wanted), 0)
    players = player_names(names)
    for player in players:
        recording.carry_out(Join(player=player), 0)
    for moved in played.moves:
        recording.carry_out(_command(moved, players), moved.at)
    at = played.moves[-1].at if played.moves else 0
    match = recording.carry_out(Score(), at)
    if match.outcome != played.outcome:
        raise RuntimeError("the recorded match has another outcome than the played one")
    return recording.lines


def _salt(seed: bytes, rotation: int, version: int) -> str:
    return hmac.digest(seed, b"salt:%d:%d" % (rotation, version), "sha256")[:16].hex()


def _command(moved: Moved, players: Sequence[str]) -> Command:
    if moved.seat == CLOCK:
        return Ring(label=moved.action.label)
    if moved.by_default:
        return TakeDefault(seat=moved.seat, action=moved.action, reason="clock")
    return Act(player=players[moved.seat], action=msgspec.to_builtins(moved.action))


def player_names(names: Sequence[str]) -> Sequence[str]:
    """A name for each seat: a bot that has several seats is numbered from its second seat on."""
    found: list[str] = []
    for name in names:
        numbered = (name if number == 1 else f"{name} ({number})" for number in count(1))
        found.append(next(one for one in numbered if one not in found))
    return found
