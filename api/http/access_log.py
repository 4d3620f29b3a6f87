"""What is told of every request: a line in the log and a count in the metrics, by the route's template and no more.

Neither holds what came with the request: no token, no query, no body, no id in a path.
"""

import logging
import time
from typing import Final

from flask import Request

from api.http.context import Facts
from service.observability import metrics
from service.observability.logfmt import Line

METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
QUIET: Final = frozenset({"/healthz", "/readyz", "/metrics"})
"""Programs ask for these all the time; a line is written only of what went wrong."""

_log = logging.getLogger("moonstone.access")


def begin() -> None:
    """Forget what a process that died in this one's place could not take back."""
    metrics.STREAMS.set(0)


def tell(asked: Request, facts: Facts, status: int) -> None:
    """Tell of a request that was answered."""
    seconds = time.perf_counter() - facts.began
    method = asked.method if asked.method in METHODS else "other"
    route = asked.url_rule.rule if asked.url_rule else "none"
    metrics.requests(method, route, status).observe(seconds)
    fields = {"request": facts.id, "method": method, "route": route, "status": status, "ms": round(seconds * 1000, 1)}
    _tell(fields, facts.problem)


def tell_of_unread(request: str, status: int, problem: str) -> None:
    """Tell of a request that could not be read, and was answered with a problem."""
    _tell({"request": request, "method": "other", "route": "none", "status": status}, problem)


def _tell(fields: dict[str, object], problem: str | None) -> None:
    if problem is not None:
        metrics.REFUSALS.labels(problem).inc()
        fields["code"] = problem
    level = logging.DEBUG if fields["route"] in QUIET and problem is None else logging.INFO
    if _log.isEnabledFor(level):
        _log.handle(Line(_log.name, level, "request", fields))
