"""Is a stored match whole? One match at a time and never all of its events at once, until it is over and can be audited."""

from events.record import MatchId, Version
from service.audit.match_file import CHUNK, export
from service.audit.verify import Fault, verify
from service.errors import Corrupt
from service.match.fold import begin, step
from service.match.model import Match
from service.match.randomness import commitment
from service.repository.ports import Ports


def inspect(ports: Ports, match_id: MatchId) -> Match:
    """A stored match, folded from its first event: what is over is audited, of all others the seed is there.

    Raises:
        Fault: the first thing that is wrong.
        Refused: `engine-too-old`: a newer release wrote to the match, so that this one cannot tell.
    """
    match = _folded(ports, match_id)
    if match.server_seed is not None:
        verify(export(ports, match), ports.games)
        return match
    seed = ports.log.seed(match_id)
    if seed is None or commitment(seed) != match.created.seed_commitment:
        raise Fault(match.head.version, "draws", "the seed that the match is committed to is not there")
    return match


def _folded(ports: Ports, match_id: MatchId) -> Match:
    match: Match | None = None
    while True:
        after: Version = match.head.version if match else 0
        events = ports.log.read(match_id, first=after + 1, last=after + CHUNK).events
        try:
            if match is None:
                if not events:
                    raise Fault(0, "chain", "its events are missing")
                match, events = begin(match_id, events[0], ports.games), events[1:]
            for stored in events:
                match = step(match, stored)
        except Corrupt as error:
            raise Fault(error.version, "chain", error.fault) from None
        if match.head.version < after + CHUNK:
            return match
