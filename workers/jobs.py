"""What the queue may ask for: ids in, one use case. Every job is safe to run twice, and safe to lose."""

import logging
import os
from contextlib import nullcontext
from dataclasses import replace
from typing import Final

from events.record import MatchId
from service import bot_turns
from service.adapters.jobs import RqJobs, Unheard, set_aside
from service.container import Service, build
from service.errors import Corrupt, Refused
from service.patience import Limit, Patience
from service.settings import read
from workers.alarm import alarm

_log = logging.getLogger("moonstone.jobs")


class Turns:
    """The jobs' use case on one service; `limit` ends what a bot takes too long for."""

    def __init__(self, service: Service, limit: Limit = nullcontext) -> None:
        # A job plays on by itself, and tells at its end if it could not.
        self._ports = replace(service.ports, jobs=Unheard())
        self._jobs = RqJobs(service.queue_client)
        self._queue = service.queue_client
        self._patience = Patience(limit)

    def advance(self, match_id: MatchId) -> None:
        try:
            if bot_turns.advance(self._ports, match_id, patience=self._patience):
                self._jobs.hint(match_id, "overtime")
        except (Refused, Corrupt) as error:
            _log.error("match %s cannot be played on: %s", match_id, error)
            set_aside(self._queue, match_id)


_turns: Final[list[Turns]] = []
"""RQ calls functions by name, so what they work with belongs to the process."""


def use(service: Service) -> None:
    """Let this process's jobs run on a service that is built already."""
    _turns[:] = [Turns(service, alarm)]


def advance(match_id: MatchId) -> None:
    """Play what a match owes."""
    if not _turns:
        use(build(read(os.environ), listen=False))
    _turns[0].advance(match_id)
