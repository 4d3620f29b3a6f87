"""What the service counts of itself, for `/metrics`. Labels are the service's own words, never an id, a token or a name.

All processes of a machine write to files of one folder, each process to its own, and whoever is asked adds them up
(prometheus_client's multi-process mode). Without a folder a process counts for itself.
"""

import os
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, values
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from service.metrics_folder import FOLDER, PROCESS

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
    "How long what a match was owed had been due when it was done: job (bots, scoring) or clock (deadlines).",
    ("kind",),
    buckets=_LATE,
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


class _Overdue(Collector):
    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def collect(self) -> Iterator[GaugeMetricFamily]:
        text = "How long the earliest of all that is owed to matches has been due; it grows while no worker works."
        yield GaugeMetricFamily("moonstone_overdue_seconds", text, self._seconds)


def exposition(overdue: float | None = None) -> bytes:
    """All counts of this machine in Prometheus' text format; `overdue` (seconds) is told where it is known."""
    folder = os.environ.get(FOLDER)
    told = generate_latest(of_folder(folder) if folder else _registry)
    if overdue is not None:
        extra = CollectorRegistry()
        extra.register(_Overdue(overdue))
        told += generate_latest(extra)
    return told
