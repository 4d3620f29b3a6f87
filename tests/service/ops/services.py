"""What the tests do with a running `moonstone serve`: matches of bots on its servers, and its processes."""

from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Final

from events.log import LogUnavailable
from service.container import Service, build
from service.match.model import Match
from service.match.new_match import NewMatch
from service.settings import read
from service.usecases.match_lifecycle import create
from tests.serving import Serving, command
from tests.waiting import until

TIMEOUT_S: Final = 60
"""For steps without a time limit of their own, on a busy machine."""


def service_of(serving: Serving) -> Service:
    """The service on the servers that the workers use."""

    def environ() -> dict[str, str]:
        """The environment of a worker; empty for a moment, between fork and exec."""
        worker = min(serving.pids("-m workers"), default=0)
        content = Path(f"/proc/{worker}/environ").read_text() if worker else ""
        return dict(entry.split("=", 1) for entry in content.split("\0") if "=" in entry)

    return build(read(until(environ, TIMEOUT_S, "a worker has its environment")), listen=False)


def bots(service: Service) -> Match:
    """A match of bots, created once the log answers: the server's process exists before it listens."""
    wanted, key = NewMatch(game="monkeys_on_the_moon", seats=2, bots=("random", "random")), token_hex(4)

    def created() -> Match | None:
        with suppress(LogUnavailable):
            return create(service.ports, "pl_a", wanted, key).match
        return None

    return until(created, TIMEOUT_S, "the log stores the match")


def played(service: Service, match: Match) -> bool:
    return service.ports.history.newest(match.id)[0].status == "finished"


def have_ended(pids: set[int]) -> bool:
    return not [pid for pid in pids if command(pid)]
