"""The Flask app: resources, the checks before them, problems and headers after them, and the OpenAPI reference."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec
from flask import Flask, Request, Response
from flask.sessions import NullSession, SessionInterface, SessionMixin
from werkzeug.middleware.proxy_fix import ProxyFix
from werkzeug.routing import MapAdapter

from api.http import access_log, bodies, compression, context, headers
from api.problems import documents
from api.reference import openapi
from api.requests import checks
from api.requests.blueprint import Blueprint
from api.resources import (
    actions,
    audit,
    bots,
    catalogue,
    docs,
    events,
    health,
    lists,
    metrics,
    mine,
    pictures,
    players,
    problems,
    ratings,
    replay,
    seats,
    seeks,
    streams,
    tasks,
    tokens,
    web,
    webhooks,
)

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

RESOURCES: Final[Sequence[Blueprint]] = (
    catalogue.blueprint,
    players.blueprint,
    bots.blueprint,
    tasks.blueprint,
    tokens.blueprint,
    mine.blueprint,
    webhooks.blueprint,
    lists.blueprint,
    ratings.blueprint,
    seeks.blueprint,
    seats.blueprint,  # matches.py adds its views to this blueprint
    actions.blueprint,
    events.blueprint,
    streams.blueprint,
    pictures.blueprint,
    replay.blueprint,
    audit.blueprint,
    health.blueprint,
    metrics.blueprint,
    problems.blueprint,
)


T = TypeVar("T", bound=Callable[..., Any])


class Sessionless(SessionInterface):
    """No sessions and no cookies: clients send tokens."""

    _none: Final = NullSession()

    def open_session(self, app: Flask, request: Request) -> SessionMixin:
        del app, request
        return self._none


class App(Flask):
    """Flask without sessions and coroutines. All responses pass `process_response` and `wsgi_app`."""

    session_interface = Sessionless()

    def __init__(self, container: context.Container, alive: Callable[[], bool]) -> None:
        super().__init__("moonstone", static_folder=None)
        self.url_map.merge_slashes = False
        self.config.update(MAX_CONTENT_LENGTH=bodies.MAX_BODY, MAX_FORM_PARTS=0, MAX_FORM_MEMORY_SIZE=0)
        self.origins = tuple(container.settings.cors_origins)
        facts = partial(context.RequestState, container, alive)
        self.app_ctx_globals_class = facts  # type: ignore[assignment]  # Flask only calls it

    def ensure_sync(self, func: T) -> T:
        """The function itself: no view is a coroutine, and the check would cost time in each request."""
        return func

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """Route by path and method only, independent of host, scheme and upgrade requests."""
        if request is None:
            return None
        environ = request.environ
        path = environ["PATH_INFO"].encode("latin-1").decode(errors="replace")
        return MapAdapter(self.url_map, "", "/", "", "http", path, request.method, environ.get("QUERY_STRING", ""))

    def process_response(self, response: Response) -> Response:
        request = context.current_request()
        compression.compress(request, response)
        if response.status_code in {HTTPStatus.NO_CONTENT, HTTPStatus.ACCEPTED}:
            # Flask sets it on every response, also without a body.
            response.headers.pop("Content-Type", None)
        access_log.log_request(request, context.state(), response.status_code)
        return response

    def wsgi_app(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        """As in Flask, but adds the common headers last: they need no check, since no part of them comes from a client."""

        def start(status: str, own: headers.Pairs, *error: Any) -> Callable[[bytes], object]:
            fields = headers.with_common(own, context.current_request(), context.state(), self.origins)
            return start_response(status, fields, *error)

        return super().wsgi_app(environ, start)


def create_app(
    container: context.Container,
    *,
    resources: Sequence[Blueprint] = RESOURCES,
    alive: Callable[[], bool] = lambda: True,
) -> App:
    """Create the app for a container of use cases; `alive` comes from the server that runs it."""
    app = App(container, alive)
    settings = container.settings
    if settings.proxies:
        # Only the address is needed: responses do not depend on the scheme, and proxies forward the Host.
        behind = ProxyFix(app.wsgi_app, x_for=settings.proxies, x_proto=0, x_host=0)
        app.wsgi_app = behind  # type: ignore[method-assign]  # as Flask's docs say
    access_log.reset_gauges()
    checks.install(
        app,
        checks.Hosts(frozenset(host.lower() for host in settings.allowed_hosts)),
        checks.Callers(
            *tokens.callers(container.ports),
            container.ports.limits,
            by_token=checks.rate("token", settings.requests_by_token),
            moves=checks.rate(actions.MOVES, settings.moves_by_token),
            by_address=checks.rate("address", settings.requests_by_address),
        ),
    )
    documents.install(app)
    for resource in (*resources, docs.blueprint, web.blueprint):
        app.register_blueprint(resource)
    # Built at the first request for it, since it takes longer than the rest of the startup.
    reference = cache(lambda: openapi.document(resources, container.ports.games))
    app.extensions[docs.REFERENCE] = {
        "yaml": cache(lambda: openapi.render(reference()).encode()),
        "json": cache(lambda: msgspec.json.encode(reference())),
    }
    return app


def create_waiting_app(container: context.Container, alive: Callable[[], bool]) -> App:
    """Create an app for the time without a log: it answers /healthz and /readyz, and refuses everything else."""
    app = App(container, alive)
    documents.install(app)
    app.add_url_rule("/healthz", view_func=health.healthz)
    app.add_url_rule("/readyz", view_func=health.readyz)
    for rule in ("/", "/<path:_>"):
        app.add_url_rule(
            rule,
            "all else",
            documents.refuse_without_log,
            methods=sorted(access_log.METHODS),
            provide_automatic_options=False,
        )
    return app
