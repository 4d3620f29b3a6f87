"""The Flask app: resources, checks before them, problems and headers after them, and the reference of it all."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from functools import cache, partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar

import msgspec
from flask import Flask, Request, Response
from flask.sessions import NullSession, SessionInterface, SessionMixin
from werkzeug.middleware.proxy_fix import ProxyFix
from werkzeug.routing import MapAdapter

from api.http import access_log, bodies, compression, context, headers
from api.http.rate_limit import Limiter, Policy
from api.problems import documents
from api.reference import openapi
from api.requests import checks
from api.requests.blueprint import Api, Blueprint
from api.resources import (
    actions,
    audit,
    catalogue,
    docs,
    events,
    health,
    metrics,
    mine,
    pictures,
    players,
    problems,
    replay,
    seats,
    streams,
)
from service.repository.ports import LogUnavailable
from service.usecases import accounts
from service.views.catalogue import GAMES, AnyGame

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

RESOURCES: Final[Sequence[Blueprint]] = (
    catalogue.blueprint,
    players.blueprint,
    mine.blueprint,
    seats.blueprint,  # of matches too
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
    """Tokens say who asks: nothing is kept for a client, and no cookie is set."""

    _none: Final = NullSession()

    def open_session(self, app: Flask, request: Request) -> SessionMixin:
        del app, request
        return self._none


class App(Flask):
    """Flask for views that are plain functions, for clients without sessions, and with one end for all answers."""

    session_interface = Sessionless()

    def __init__(self, container: context.Container, alive: Callable[[], bool]) -> None:
        super().__init__("moonstone", static_folder=None)
        self.url_map.merge_slashes = False
        # Of a chunked body Flask reads so much and no more, without a word: one byte more shows that it is too large.
        self.config.update(MAX_CONTENT_LENGTH=bodies.MAX_BODY + 1, MAX_FORM_PARTS=0, MAX_FORM_MEMORY_SIZE=0)
        self.limiter = Limiter()
        self.origins = tuple(container.settings.cors_origins)
        facts = partial(context.Facts, container, self.limiter, alive)
        self.app_ctx_globals_class = facts  # type: ignore[assignment]  # Flask calls what it is

    def ensure_sync(self, func: T) -> T:
        """The function itself, so that no call asks whether it is a coroutine."""
        return func

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """Routes by the path alone: whatever the host, the scheme or an upgrade that is asked for, they are the same."""
        if request is None:
            return None
        environ = request.environ
        path = environ["PATH_INFO"].encode("latin-1").decode(errors="replace")
        return MapAdapter(self.url_map, "", "/", "", "http", path, request.method, environ.get("QUERY_STRING", ""))

    def process_response(self, response: Response) -> Response:
        asked = context.asked()
        compression.compress(asked, response)
        if response.status_code == HTTPStatus.NO_CONTENT:
            # Flask gives one to every answer; what is not there has none.
            response.headers.pop("Content-Type", None)
        access_log.tell(asked, context.facts(), response.status_code)
        return response

    def wsgi_app(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        """As Flask's. What every answer carries is added last, past the checks of headers that come from anywhere."""

        def start(status: str, said: headers.Pairs, *error: Any) -> Callable[[bytes], object]:
            told = headers.stamped(said, context.asked(), context.facts(), self.origins)
            return start_response(status, told, *error)

        return super().wsgi_app(environ, start)


def _register(app: Flask, resources: Sequence[Blueprint]) -> Api:
    app.config.update(API_TITLE=openapi.TITLE, API_VERSION=openapi.VERSION, OPENAPI_VERSION="3.1.0")
    bearer = {"type": "http", "scheme": "bearer", "description": "A player's token, as POST /v1/players gives it."}
    api = Api(app, spec_kwargs={"info": openapi.INFO, "servers": [{"url": "/"}]})
    api.spec.components.security_scheme("bearer", bearer)
    ticket = "A ticket for one stream, as POST /v1/stream-tickets gives it to clients that cannot send headers."
    api.spec.components.security_scheme(
        "ticket", {"type": "apiKey", "in": "query", "name": "ticket", "description": ticket}
    )
    for resource in resources:
        api.register_blueprint(resource)
    return api


def describe(resources: Sequence[Blueprint] = RESOURCES, games: Mapping[str, AnyGame] = GAMES) -> Api:
    """The reference of an app that nobody can call."""
    api = _register(Flask("moonstone", static_folder=None), resources)
    openapi.add_components(api, [shape for resource in resources for shape in resource.answers], games)
    return api


def create_app(
    container: context.Container,
    *,
    resources: Sequence[Blueprint] = RESOURCES,
    deadline: bodies.Deadline = nullcontext,
    alive: Callable[[], bool] = lambda: True,
) -> App:
    """The app on a container of use cases; `deadline` and `alive` come from the server that runs it."""
    app = App(container, alive)
    settings = container.settings
    if settings.proxies:
        # Nothing but the address: what is served does not depend on the scheme, and proxies pass the Host on.
        behind = ProxyFix(app.wsgi_app, x_for=settings.proxies, x_proto=0, x_host=0)
        app.wsgi_app = behind  # type: ignore[method-assign]  # as Flask's docs say
    access_log.begin()
    checks.install(
        app,
        checks.Hosts(frozenset(host.lower() for host in settings.allowed_hosts)),
        checks.Callers(
            partial(accounts.authenticate, container.ports),
            partial(accounts.holder, container.ports),
            partial(accounts.find_ticket, container.ports),
            app.limiter,
            by_token=Policy("token", settings.requests_by_token, checks.RATE_WINDOW),
            moves=Policy(actions.MOVES, settings.moves_by_token, checks.RATE_WINDOW),
            by_address=Policy("address", settings.requests_by_address, checks.RATE_WINDOW),
        ),
        checks.Bodies(deadline),
    )
    _register(app, resources)
    app.register_blueprint(docs.blueprint)
    # Made when somebody asks for it, since it takes longer than all the rest of a start.
    reference = cache(lambda: openapi.document(describe(resources, container.ports.games)))
    app.extensions[docs.REFERENCE] = {
        "yaml": cache(lambda: openapi.render(reference()).encode()),
        "json": cache(lambda: msgspec.json.encode(reference())),
    }
    return app


def create_waiting_app(container: context.Container, alive: Callable[[], bool]) -> App:
    """An app that answers /healthz and /readyz, and everything else with `unavailable`, while there is no log."""
    app = App(container, alive)
    documents.install(app)
    app.add_url_rule("/healthz", view_func=health.healthz)
    app.add_url_rule("/readyz", view_func=health.readyz)
    for rule in ("/", "/<path:_>"):
        app.add_url_rule(
            rule, "all else", _unavailable, methods=sorted(access_log.METHODS), provide_automatic_options=False
        )
    return app


def _unavailable(_: str = "") -> NoReturn:
    raise LogUnavailable("unavailable")
