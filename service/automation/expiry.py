"""Ends matches that nobody started in time."""

from contextlib import suppress

from events.record import MatchId
from service.errors import Corrupt, NotDue, Refused
from service.match.commands import Expire
from service.match.due_times import due_times
from service.observability import failpoints
from service.repository.ports import Ports
from service.usecases.held_seats import count_seats, release_seats
from service.usecases.match_index import update_index
from service.usecases.submit import CommandKey, submit


def expire(ports: Ports, match_id: MatchId) -> None:
    """Abort a match that has waited for players for too long. If it has started or may still wait, only its due times are set.

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


def adopt(ports: Ports) -> int:
    """Set the due times, and count the seats, of open matches that an older release stored; returns how many there were.

    Older processes may still run beside this one and store more, so it is repeated from time to time.
    """
    known = {due.match for due in ports.log.scheduled("open")}
    adopted = 0
    for match_id in {entry.match_id for entry in ports.index.all_open()} - known:
        with suppress(Refused, Corrupt):  # it is not in the log (yet), or cannot be read by this release
            match, _ = ports.history.newest(match_id)
            if match.status == "open":
                count_seats(ports, match)
                adopted += ports.log.rearm(match_id, match.head.version, due_times(match))
    return adopted
