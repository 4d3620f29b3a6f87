"""`/healthz` and `/readyz`: for whoever restarts processes, and for whoever sends them requests."""

from typing import Final

import msgspec
from flask import Response

from api.http import context
from api.http.responses import answer
from api.requests.blueprint import Blueprint
from service.errors import Refused

blueprint: Final = Blueprint("health", description="Whether the process lives, and whether it can serve.")


class Health(msgspec.Struct, frozen=True):
    """The process lives."""

    status: str


class Readiness(msgspec.Struct, frozen=True):
    """The process can serve. `warnings` are sentences for the operator: what should be mended all the same."""

    status: str
    warnings: tuple[str, ...]


@blueprint.at("/healthz")
@blueprint.answers_with(200, Health, description="The process lives.")
def healthz() -> Response:
    """Tell that the process lives, whatever its servers do.

    For whoever restarts processes that hang.
    """
    return answer(Health("alive"))


@blueprint.at("/readyz")
@blueprint.answers_with(200, Readiness, description="The process can serve.")
@blueprint.refuses("not-ready")
def readyz() -> Response:
    """Tell whether the process can serve: it is not being stopped; its log answers, is the right one and loses nothing.

    Its clock must agree with that of the log's server to a second, for deadlines are judged by it.

    For whoever sends requests to one process of several. Without the queue it can serve too, but bots take half a second
    more for each turn: then a warning says what is wrong with it.
    """
    stopping = () if context.facts().alive() else ("the process is being stopped",)
    if faults := (*stopping, *context.container().readiness()):
        raise Refused("not-ready", "This process cannot serve now.", faults=faults)
    return answer(Readiness("ready", context.container().warnings()))
