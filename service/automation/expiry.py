"""Ends matches that nobody started in time."""

from events.record import MatchId
from service.errors import NotDue
from service.match.commands import Expire
from service.match.due_times import due_times
from service.observability import failpoints
from service.repository.ports import Ports
from service.usecases.held_seats import release_seats
from service.usecases.match_index import update_index
from service.usecases.submit import CommandKey, submit


def expire(ports: Ports, match_id: MatchId) -> None:
    """Abort a match that has waited for players for too long.

    If it has started or may still wait, only its due times are set.

    All sweepers may do this at once, and again after a crash: the command id is that of the match's only expiry.
    """
    try:
        expired = submit(ports, match_id, CommandKey("expire", "expire"), Expire())
    except NotDue:
        match, _ = ports.history.newest(match_id)
        ports.log.rearm(match_id, match.head.version, due_times(match))
        return
    failpoints.point("match-expired")
    update_index(ports, expired.match, just_written=not expired.replayed)
    release_seats(ports, expired.match)
