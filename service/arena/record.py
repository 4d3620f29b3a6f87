"""Records a match as a match file while it is played: every move is decided again by the service's Decider, in the same order."""

import hmac
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Final

import msgspec
from msgspec.structs import replace

from service.arena.play import Moved, Played, id_of_match
from service.games.protocol import CLOCK, AnyGame
from service.games.visibility import Seat
from service.match.commands import Act, Command, Create, Join, Ring, Score, TakeDefault
from service.match.events import SHORTEST_CLOCK, MatchClock
from service.match.new_match import NewMatch
from service.match.recording import Recording
from service.match.task import Task, as_of, task
from service.repository.bot_answers import LANGUAGE

_CREATOR: Final = "arena"
_CLOCK: Final = MatchClock(turn_seconds=SHORTEST_CLOCK)


class Record:
    """The record of a match while it is played. All bots are players in it, as bots are that somebody hosts.

    names: in seat order.
    """

    def __init__(
        self, game: AnyGame, options: Mapping[str, object], seed: bytes, names: Sequence[str], rotation: int
    ) -> None:
        match_id = id_of_match(seed, rotation)
        self._recording = Recording(match_id, game, seed, lambda version: _salt(seed, rotation, version))
        clock = None if game.info.keeps_time else _CLOCK
        wanted = NewMatch(game=game.info.id, seats=len(names), options=options, clock=clock)
        self._match = self._recording.carry_out(Create(player=_CREATOR, game=game, wanted=wanted), 0)
        self._players = player_names(names)
        for player in self._players:
            self._match = self._recording.carry_out(Join(player=player), 0)

    def add(self, moved: Moved) -> None:
        """Record a move that was just played."""
        self._match = self._recording.carry_out(_command(moved, self._players), moved.at)

    def task(self, seat: Seat, now: int, limit_ms: int) -> Task:
        """The task of a seat whose turn it is, as the service would send it at `now` (server milliseconds).

        Its deadline is at most `limit_ms` later.
        """
        decision = next(one for one in self._match.decisions() if one.seat == seat)
        found = task(as_of(self._match, decision, now), seat, LANGUAGE)
        if found is None:
            raise RuntimeError("a seat is asked without an open decision")
        if found.decision.deadline is None:
            return found
        deadline = now + limit_ms if decision.by_clock else min(found.decision.deadline, now + limit_ms)
        return replace(found, decision=replace(found.decision, deadline=deadline))

    def first_task(self, now: int, limit_ms: int) -> Task:
        """The task of a seat whose turn it is first, as `task`."""
        return self.task(next(one.seat for one in self._match.decisions() if one.seat != CLOCK), now, limit_ms)

    def finished(self, played: Played) -> Sequence[bytes]:
        """The lines of the match file, after the last move.

        Raises:
            RuntimeError: the Decider has another outcome.
        """
        at = played.moves[-1].at if played.moves else 0
        match = self._recording.carry_out(Score(), at)
        if match.outcome != played.outcome:
            raise RuntimeError("the recorded match has another outcome than the played one")
        return self._recording.lines


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
