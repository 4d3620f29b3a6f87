"""Plays a whole match in this process, without a server: the same use cases on a log in memory."""

from collections.abc import Mapping, Sequence
from typing import Any

from service.adapters.memory import local_ports
from service.automation.bot_turns import advance
from service.automation.deadlines import enforce
from service.errors import Refused
from service.games.protocol import AnyGame, Rng
from service.games.visibility import Seat
from service.match.due_times import due_times
from service.match.events import MatchClock
from service.match.model import Match
from service.match.new_match import NewMatch
from service.match.randomness import Draws, bot_key, new_seed
from service.repository.ports import Ports
from service.usecases.match_lifecycle import create


def play(
    game: AnyGame,
    bots: Sequence[str],
    options: Mapping[str, Any],
    seed: bytes | None = None,
    clock: MatchClock | None = None,
    key: str = "local",
) -> tuple[Ports, Match]:
    """Play a match of bots from the first event to the revealed seed; returns the ports that hold it, and the match.

    The match's id follows from `key`. The same seed and key give the same match: the bots' random numbers come from the seed too, and
    time is simulated. It begins at 0, and advances to the next due time only when nothing is left to do now.

    Raises:
        Refused: as `service.usecases.match_lifecycle.create`, and `match-suspended` where the rules failed.
    """
    server_seed = seed or new_seed()
    time = 0
    ports = local_ports({game.info.id: game}, lambda: time)
    chances: dict[Seat, Rng] = {}

    def chance_of(seat: Seat) -> Rng:
        if seat not in chances:
            key = bot_key(server_seed, seat)
            chances[seat] = Draws(lambda: key, {})
        return chances[seat]

    wanted = NewMatch(game=game.info.id, seats=len(bots), options=options, bots=tuple(bots), clock=clock)
    match_id = create(ports, "local", wanted, key, seed=server_seed).match.id
    stuck = None
    while due_times(match := ports.history.newest(match_id)[0])["bots"] is not None:
        first = match.first_due()
        clock_at = None if first is None else first.enforced_at
        job_at = match.job_at(after=time) if stuck == match.head else match.job_at()
        time = max(time, min(at for at in (clock_at, job_at) if at is not None))
        if clock_at is not None and clock_at <= time:
            enforce(ports, match_id)
        else:
            advance(ports, match_id, moves=1000, chance_of=chance_of)
            stuck = match.head  # if this stays the head, a bot failed and waits for another seat or for the timer
    if match.status == "suspended":
        raise Refused("match-suspended", "The rules failed, and the match cannot go on.", version=match.head.version)
    return ports, match
