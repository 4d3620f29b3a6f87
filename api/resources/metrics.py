"""`/metrics`: the metrics of the service in Prometheus' text format."""

from typing import Final

from flask import Response, request

from api.http import client_address, context
from api.requests.blueprint import Blueprint
from service.errors import Refused
from service.observability import metrics
from service.repository.ports import LogUnavailable

blueprint: Final = Blueprint("metrics", description="Metrics of the service.")

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_FORWARDED: Final = ("X-Forwarded-For", "Forwarded", "Via")


@blueprint.at("/metrics")
@blueprint.answers_with(
    200, {"type": "string"}, description="Prometheus' text format, version 0.0.4.", media_types=("text/plain",)
)
@blueprint.refuses("not-found")
def show_metrics() -> Response:
    """Show the metrics to the operator's programs; everyone else gets `not-found`.

    The setting `MOONSTONE_METRICS` says who may read them; by default these are programs of the same machine.
    """
    audience = context.container().settings.metrics
    if audience == "none" or (audience == "machine" and not _is_of_this_machine()):
        raise Refused("not-found", "Nothing is here.")
    return Response(metrics.exposition(_backlog()), content_type=MEDIA_TYPE)


def _is_of_this_machine() -> bool:
    """Whether the client itself runs on this machine; being sent by a proxy on this machine is not enough."""
    if any(context.header(context.current_request(), name) is not None for name in _FORWARDED):
        return False
    return client_address.is_of_this_machine(request.remote_addr or "")


def _backlog() -> metrics.Backlog | None:
    """What is due in the log; None while it does not answer."""
    ports = context.ports()
    now = ports.now()
    try:
        overdue, calls = (_late_s(now, ports.log.next_due(kinds)) for kinds in (("job", "clock"), ("news", "delivery")))
        bots = ports.log.count_due("bots", now)
        erasures, ratings = len(ports.accounts.erasing()), len(ports.log.scheduled("rating"))
    except LogUnavailable:
        return None
    return metrics.Backlog(overdue, bots, erasures, ratings, calls)


def _late_s(now: int, due: int | None) -> float:
    return 0.0 if due is None else max(now - due, 0) / 1000
