"""`/healthz` and `/readyz`: health checks for supervisors and load balancers."""

from typing import Final

import msgspec
from flask import Response

from api.http import context
from api.http.responses import answer
from api.requests.blueprint import Blueprint
from service.errors import Refused

blueprint: Final = Blueprint("health", description="Whether the process is alive, and whether it can serve.")


class Health(msgspec.Struct, frozen=True):
    """The process is alive."""

    status: str


class Readiness(msgspec.Struct, frozen=True):
    """The process can serve. `warnings` are sentences about what the operator should repair."""

    status: str
    warnings: tuple[str, ...]


@blueprint.at("/healthz")
@blueprint.answers_with(200, Health, description="The process is alive.")
def healthz() -> Response:
    """Show that the process is alive, independent of its log and queue.

    For supervisors, which restart processes that hang.
    """
    return answer(Health("alive"))


@blueprint.at("/readyz")
@blueprint.answers_with(200, Readiness, description="The process can serve.")
@blueprint.refuses("not-ready")
def readyz() -> Response:
    """Show whether the process can serve. For load balancers.

    It can serve if it is not being stopped, if the log is reachable, is the right one and is configured to lose nothing, and
    if its clock differs by at most a second from that of the log's server, since deadlines depend on it. Otherwise it also
    refuses commands and `/v1/me/stream`, with `clock-wrong`.

    Without the queue it can serve too, but each turn of a bot takes about half a second longer; then a warning says what is
    wrong with the queue.
    """
    stopping = () if context.state().alive() else ("the process is being stopped",)
    if faults := (*stopping, *context.container().readiness()):
        raise Refused("not-ready", "This process cannot serve now.", faults=faults)
    return answer(Readiness("ready", context.container().warnings()))
