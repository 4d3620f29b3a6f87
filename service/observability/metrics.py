"""The service's metrics for `/metrics`. Labels have fixed values of our own, never an id, a token or a name.

Each process of a machine writes to its own file in a common folder. The process that answers `/metrics` adds them up
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
from service.observability.process_id import process_id

_FAST: Final = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_LATE: Final = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 15.0, 60.0, 300.0)
"""The buckets of histograms, in seconds."""


def _name() -> str:
    return _name_of(process_id())


@lru_cache(maxsize=1)
def _name_of(pid: int) -> str:
    """Cached, because it is called at every count. The process id is the key, so that a fork gets a new value."""
    return os.environ.get(PROCESS) or str(pid)


if FOLDER in os.environ:
    values.ValueClass = values.MultiProcessValue(_name)  # type: ignore[no-untyped-call]  # as its docs say

_registry: Final = CollectorRegistry()

EVENTS: Final = Counter(
    "moonstone_events_appended", "Events appended to matches.", ("game", "type"), registry=_registry
)
COMMANDS: Final = Counter(
    "moonstone_commands",
    "Commands sent to the log: appended, replayed (a repeat that changed nothing), conflict (another command came first, "
    "so it is decided again), reused (refused, because its id belongs to another command).",
    ("result",),
    registry=_registry,
)


@lru_cache(maxsize=1024)
def events(game: str, kind: str) -> Counter:
    """The child of `EVENTS` with these labels, cached, because its look-up costs as much as counting."""
    return EVENTS.labels(game, kind)


@lru_cache(maxsize=16)
def commands(result: str) -> Counter:
    """The child of `COMMANDS` with this label, cached as those of `EVENTS`."""
    return COMMANDS.labels(result)


CHAIN_BREAKS: Final = Counter(
    "moonstone_chain_breaks",
    "Reads of a match that failed because its stored events break its chain or do not fit their types. Must stay 0.",
    registry=_registry,
)
DUE_WAIT: Final = Histogram(
    "moonstone_due_wait_seconds",
    "Delay between the due time and the start of work on a match: job (bots' turns, scoring), clock (deadlines), bots (jobs "
    "of matches without people, which have a lower priority).",
    ("kind",),
    buckets=_LATE,
    registry=_registry,
)
JOBS: Final = Counter(
    "moonstone_jobs",
    "Jobs of workers by what caused them: queue (a hint), log (a due entry whose hint was late or lost), deadline (one was "
    "enforced), more (the time of the match's last job was used up).",
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
    "What workers deleted from the queue: hints (all of them, because it held damaged entries) or marks (without an expiry).",
    ("thrown_away",),
    registry=_registry,
)
RATED: Final = Counter(
    "moonstone_matches_rated",
    "Entries of rating streams by game: counted, or not-counted (two of the players met too often that day).",
    ("game", "result"),
    registry=_registry,
)
DELIVERIES: Final = Counter(
    "moonstone_deliveries",
    "Deliveries to webhooks that are over: delivered, failed (no attempt succeeded within a day), outdated (the decision was "
    "taken before an attempt), dropped (the webhook was ended, suspended or removed).",
    ("result",),
    registry=_registry,
)
DELIVERY_ATTEMPTS: Final = Counter(
    "moonstone_delivery_attempts",
    "Attempts of deliveries: succeeded (a status 2xx), or failed.",
    ("result",),
    registry=_registry,
)
BOT_ANSWERS: Final = Histogram(
    "moonstone_bot_answer_seconds", "How long bots think.", ("game",), buckets=_FAST, registry=_registry
)
BOT_CALLS: Final = Counter(
    "moonstone_bot_calls_total", "Calls of hosted bots, by how their tasks ended.", ("outcome",), registry=_registry
)
REQUESTS: Final = Histogram(
    "moonstone_request_seconds",
    "Time from a request to the start of its answer, by route; a stream continues after that.",
    ("method", "route", "status"),
    buckets=_FAST,
    registry=_registry,
)


@lru_cache(maxsize=1024)
def requests(method: str, route: str, status: int) -> Histogram:
    """The child of `REQUESTS` with these labels, cached as those of `EVENTS`."""
    return REQUESTS.labels(method, route, str(status))


REFUSALS: Final = Counter(
    "moonstone_refusals", "Requests answered with a problem, by its code.", ("code",), registry=_registry
)
CLOCK_OFFSET: Final = Gauge(
    "moonstone_clock_offset_seconds",
    "Largest difference between the clock of a process and that of the log's server. Above 1 the process is not ready, and "
    "enforces no deadlines.",
    multiprocess_mode="max",
    registry=_registry,
)
STREAMS: Final = Gauge(
    "moonstone_streams_open", "Live streams that are open.", multiprocess_mode="sum", registry=_registry
)


def of_folder(folder: str) -> CollectorRegistry:
    """The sum of the metrics of all processes that write to a folder."""
    registry = CollectorRegistry()
    MultiProcessCollector(registry, folder)  # type: ignore[no-untyped-call]
    return registry


@dataclass(frozen=True, slots=True)
class Backlog(Collector):
    """What is due in the log.

    overdue: seconds by which the earliest entry of a match with people is late.
    bots: the number of matches of bots alone that wait for a worker.
    erasures: the number of erased accounts whose matches were not all left yet.
    ratings: the number of matches that are over and are not rated yet.
    calls: seconds by which the earliest news or delivery of a webhook is late.
    """

    overdue: float
    bots: int
    erasures: int
    ratings: int
    calls: float

    def collect(self) -> Iterator[GaugeMetricFamily]:
        yield GaugeMetricFamily(
            "moonstone_overdue_seconds",
            "Age of the earliest due entry of a match with people. It grows while no worker runs.",
            self.overdue,
        )
        yield GaugeMetricFamily(
            "moonstone_bot_matches_waiting", "Matches of bots alone that wait for a worker.", self.bots
        )
        yield GaugeMetricFamily(
            "moonstone_erasures_waiting",
            "Erased accounts that wait for a worker, for a minute, or for a suspended match to resume.",
            self.erasures,
        )
        yield GaugeMetricFamily(
            "moonstone_ratings_waiting",
            "Matches that are over and wait for their rating. It grows while no worker runs, or if a rating stream is damaged.",
            self.ratings,
        )
        yield GaugeMetricFamily(
            "moonstone_calls_overdue_seconds",
            "Age of the earliest due entry of a webhook. It grows while no process `calls` runs.",
            self.calls,
        )


def exposition(backlog: Backlog | None = None) -> bytes:
    """All metrics of this machine in Prometheus' text format, with the backlog if it is known."""
    folder = os.environ.get(FOLDER)
    text = generate_latest(of_folder(folder) if folder else _registry)
    if backlog is not None:
        extra = CollectorRegistry()
        extra.register(backlog)
        text += generate_latest(extra)
    return text
