"""The access log and the request metrics.

Both have only the template of the route. They contain nothing that a client sent: no token, query, body, or id in a path.
"""

import logging
import time
from typing import Final

from flask import Request

from api.http.context import RequestState
from service.observability import metrics
from service.observability.logfmt import Line

METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
QUIET: Final = frozenset({"/healthz", "/readyz", "/metrics", "/web/<revision>/<path:name>"})
"""Programs poll these routes, and browsers load dozens of files. A request is logged at level INFO only if it failed."""

_log = logging.getLogger("moonstone.access")


def reset_gauges() -> None:
    """Reset the gauges that a worker left which died in this one's slot."""
    metrics.STREAMS.set(0)


def log_request(request: Request, facts: RequestState, status: int) -> None:
    """Log and count a request that was answered."""
    seconds = time.perf_counter() - facts.began
    method = request.method if request.method in METHODS else "other"
    route = request.url_rule.rule if request.url_rule else "none"
    metrics.requests(method, route, status).observe(seconds)
    fields = {"request": facts.id, "method": method, "route": route, "status": status, "ms": round(seconds * 1000, 1)}
    _log_line(fields, facts.problem)


def log_unreadable_request(request_id: str, status: int, problem: str) -> None:
    """Log and count a request that could not be parsed and was answered with a problem."""
    _log_line({"request": request_id, "method": "other", "route": "none", "status": status}, problem)


def _log_line(fields: dict[str, object], problem: str | None) -> None:
    if problem is not None:
        metrics.REFUSALS.labels(problem).inc()
        fields["code"] = problem
    level = logging.DEBUG if fields["route"] in QUIET and problem is None else logging.INFO
    if _log.isEnabledFor(level):
        _log.handle(Line(_log.name, level, "request", fields))
