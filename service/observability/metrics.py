"""What the service counts of itself, for `/metrics`. Labels are the service's own words, never an id, a token or a name.

All processes of a machine write to files of one folder, each process to its own, and whoever is asked adds them up
(prometheus_client's multi-process mode). Without a folder a process counts for itself.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, values
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from service.observability.metrics_folder import FOLDER, PROCESS

_FAST: Final = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_LATE: Final = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 15.0, 60.0, 300.0)


def _name() -> str:
    return _name_of(os.getpid())


@lru_cache(maxsize=1)
def _name_of(pid: int) -> str:
    """Asked for at every count; found out once in each process, also in one that was forked."""
    return os.environ.get(PROCESS) or str(pid)


if FOLDER in os.environ:
    values.ValueClass = values.MultiProcessValue(_name)  # type: ignore[no-untyped-call]  # as its docs say

_registry: Final = CollectorRegistry()

EVENTS: Final = Counter(
    "moonstone_events_appended", "Events appended to matches.", ("game", "type"), registry=_registry
)
COMMANDS: Final = Counter(
    "moonstone_commands",
    "Commands put to the log: appended, replayed (a repeat that changed nothing), conflict (another command came first, "
    "so that it is decided again), reused (refused, for its id is another command's).",
    ("result",),
    registry=_registry,
)
CHAIN_BREAKS: Final = Counter(
    "moonstone_chain_breaks",
    "Reads of a match that failed because its stored events are not what its chain or its types say. Must stay 0.",
    registry=_registry,
)
DUE_WAIT: Final = Histogram(
    "moonstone_due_wait_seconds",
    "How long what a match was owed had been due when it was done: job (bots' turns, scoring) or clock (deadlines); bots: "
    "the jobs of matches without people, which may wait for all others.",
    ("kind",),
    buckets=_LATE,
    registry=_registry,
)
JOBS: Final = Counter(
    "moonstone_jobs",
    "Jobs of workers by what brought them to a match: queue (a hint), log (it was due there, and its hint was late or "
    "lost), deadline (one was enforced), more (the match had used up the time of a job).",
    ("source",),
    registry=_registry,
)
QUEUE_USABLE: Final = Gauge(
    "moonstone_queue_usable",
    "1 while worker processes can take hints from the queue; at 0 they find what is due in the log, half a second later.",
    ("lane",),
    multiprocess_mode="min",
    registry=_registry,
)
QUEUE_REPAIRS: Final = Counter(
    "moonstone_queue_repairs",
    "What workers threw away from the queue: all hints, for it held what is no hint; or marks without an expiry.",
    ("thrown_away",),
    registry=_registry,
)
BOT_ANSWERS: Final = Histogram(
    "moonstone_bot_answer_seconds", "How long bots think.", ("game",), buckets=_FAST, registry=_registry
)
REQUESTS: Final = Histogram(
    "moonstone_request_seconds",
    "Requests by their route, until the answer began; a stream goes on after that.",
    ("method", "route", "status"),
    buckets=_FAST,
    registry=_registry,
)


@lru_cache(maxsize=1024)
def requests(method: str, route: str, status: int) -> Histogram:
    """The part of `REQUESTS` with these labels; its own look-up costs as much as the count."""
    return REQUESTS.labels(method, route, str(status))


REFUSALS: Final = Counter(
    "moonstone_refusals", "Requests answered with a problem, by its code.", ("code",), registry=_registry
)
STREAMS: Final = Gauge(
    "moonstone_streams_open", "Live streams that are open.", multiprocess_mode="sum", registry=_registry
)


def of_folder(folder: str) -> CollectorRegistry:
    """What all processes that count there have counted."""
    registry = CollectorRegistry()
    MultiProcessCollector(registry, folder)  # type: ignore[no-untyped-call]
    return registry


@dataclass(frozen=True, slots=True)
class Backlog(Collector):
    """What is due in the log: seconds by which the earliest entry of a match with people is late, and matches of bots alone."""

    overdue: float
    bots: int

    def collect(self) -> Iterator[GaugeMetricFamily]:
        yield GaugeMetricFamily(
            "moonstone_overdue_seconds",
            "How long the earliest of all that is owed to matches with people has been due; it grows while no worker works.",
            self.overdue,
        )
        yield GaugeMetricFamily(
            "moonstone_bot_matches_waiting", "Matches of bots alone that wait for a worker.", self.bots
        )


def exposition(backlog: Backlog | None = None) -> bytes:
    """All counts of this machine in Prometheus' text format, with the backlog where it is known."""
    folder = os.environ.get(FOLDER)
    told = generate_latest(of_folder(folder) if folder else _registry)
    if backlog is not None:
        extra = CollectorRegistry()
        extra.register(backlog)
        told += generate_latest(extra)
    return told
