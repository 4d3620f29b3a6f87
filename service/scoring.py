"""The end of a match: its outcome by the rules, and the seed laid open."""

from msgspec import UNSET

from events.chain import Draft
from events.record import canonical
from service import crash
from service.command import Command, Submitted, draws, server_seed, write
from service.lobby import ending, shelve
from service.match import Match
from service.match_events import MatchScored, SeedRevealed
from service.ports import Ports


def score(ports: Ports, match: Match) -> Submitted | None:
    """Append `match_scored` and `seed_revealed`, once in effect; None if another command came first."""
    rng = draws(ports, match)
    outcome = match.game.score(match.state, rng)
    drafts = [
        Draft("match_scored", "worker", canonical(MatchScored(outcome, tuple(rng.drawn) or UNSET))),
        Draft("seed_revealed", "worker", canonical(SeedRevealed(server_seed(ports, match).hex()))),
    ]
    command = Command(f"score:{match.head.version}", "score")
    at = max(ports.now(), match.at)
    ending(ports, match, at)
    written = write(ports, match, command, drafts, at)
    if written is not None:
        crash.point("match-scored")
        shelve(ports, written.match, just_written=not written.replayed)
    return written
