"""Tells the other processes that something of a match is due now. What is due is in the log: a lost hint only delays it."""

from service.match.model import Match
from service.repository.ports import Ports


def has_job(match: Match, now: int) -> bool:
    """Whether a job of the match is due. The newest event may have a later time than `now`, from a faster clock."""
    job_at = match.job_at()
    return job_at is not None and job_at <= max(now, match.at)


def hint(ports: Ports, match: Match) -> None:
    """Notify the workers if a job of the match is due now."""
    if has_job(match, ports.now()):
        ports.jobs.hint(match.id, "turns" if match.has_players else "bots")
    hint_call(ports, match)


def hint_call(ports: Ports, match: Match) -> None:
    """Tell the process that calls hosted bots if one is to be called now."""
    call_at = match.call_at()
    if call_at is not None and call_at <= max(ports.now(), match.at):
        ports.hint_call(match.id)
