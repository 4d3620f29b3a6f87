"""Blueprints whose views declare their inputs, answers and problems.

The checks before a view (`api.requests.checks`) and the reference (`api.reference.operations`) read these declarations.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeVar, cast

import flask
import marshmallow as ma
import msgspec
from flask import Flask, Request, Response

from api.http import context
from api.problems import documents
from api.requests.components import PREFIX
from api.requests.request_headers import RequestHeader
from api.requests.strict_fields import List
from service.repository import strict_json
from service.repository.accounts import Scope

View = TypeVar("View", bound=Callable[..., Response])

STORE_PROBLEMS: Final = (
    "store-unavailable",
    "store-loading",
    "store-read-only",
    "store-disk",
    "store-full",
    "store-replicas",
)
UNCOUNTED: Final = "uncounted"


class Input(NamedTuple):
    """A part of the request that a schema validates. `location`: "json" (the body) or "query"."""

    schema: ma.Schema
    location: str
    required: bool


class Answer(NamedTuple):
    """A successful response. `shape`: the struct of its body, an OpenAPI schema, or None without a JSON body."""

    status: int
    media_type: str
    shape: type[msgspec.Struct] | Mapping[str, Any] | None
    description: str
    headers: Mapping[str, Any] | None

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The OpenAPI schema of the body."""
        return {"$ref": PREFIX + self.shape.__name__} if isinstance(self.shape, type) else self.shape


class Operation(msgspec.Struct, frozen=True):
    """What a view declares.

    `takes`: where it has input: "json", "query" or both. `repeated`: query parameters that may be repeated.
    `ignores_query`: a page for people, to whose links other sites add parameters. `bucket`: the name of its own rate
    limit, or None. `scope`: what a token must be for, None if any will do. `problems`: codes, besides those of every
    request with the same method. `links`: from a status to the operations that its answer leads to, with their
    parameters.
    """

    inputs: tuple[Input, ...] = ()
    takes: frozenset[str] = frozenset()
    repeated: frozenset[str] = frozenset()
    ignores_query: bool = False
    headers: tuple[RequestHeader, ...] = ()
    bucket: str | None = None
    knows_caller: bool = False
    needs_token: bool = False
    scope: Scope | None = None
    takes_ticket: bool = False
    answers: tuple[Answer, ...] = ()
    problems: tuple[str, ...] = ()
    links: Mapping[int, Mapping[str, Mapping[str, str]]] = MappingProxyType({})


_NO_OPERATION: Final = Operation()
_OPERATIONS: Final[dict[Callable[..., Any], Operation]] = {}
"""What each view declares. Each decorator adds to it."""


def _declared(view: Callable[..., Any]) -> Operation:
    return _OPERATIONS.get(view, _NO_OPERATION)


def _declare(view: View, **declared: Any) -> View:
    _OPERATIONS[view] = msgspec.structs.replace(_declared(view), **declared)
    return view


def _given(request: Request, location: str, lists: Iterable[str]) -> Any:
    """The parsed body (an empty body is an empty object) or query of a request, before validation.

    `lists` are the query parameters that may be repeated.
    """
    if location != "query":
        return strict_json.loads(context.state().body or b"{}")
    return request.args.to_dict() | {name: request.args.getlist(name) for name in lists if name in request.args}


class Route(NamedTuple):
    """A view at a path, in the form of Flask's rules."""

    rule: str
    method: str
    view: Callable[..., Response]

    @property
    def operation(self) -> Operation:
        return _declared(self.view)


class Blueprint(flask.Blueprint):
    """A resource: its views, and what they declare.

    `frames`: what its streams send. The reference describes them, and the schemas of its answers refer to them.
    """

    def __init__(self, name: str, *, description: str, frames: Sequence[type[msgspec.Struct]] = ()) -> None:
        super().__init__(name, __name__)
        self.description = description
        self.frames = frames
        self.routes: list[Route] = []

    def at(self, rule: str, methods: Sequence[str] = ("GET",)) -> Callable[[View], View]:
        """Route a view. Its name becomes the operation's id, and its docstring the summary and description."""

        def decorate(view: View) -> View:
            self.add_url_rule(rule, view_func=view, methods=methods)
            self.routes.extend(Route(rule, method, view) for method in methods)
            return view

        return decorate

    @staticmethod
    def takes(schema: type[ma.Schema], location: str = "json") -> Callable[[View], View]:
        """Validate the body or the query by a schema, and pass the result to the view."""
        # One instance for all requests: creating a schema takes longer than loading with it.
        made = schema()
        required = any(field.required for field in made.fields.values())
        lists = frozenset(
            name for name, field in made.fields.items() if location == "query" and isinstance(field, List)
        )
        # Most queries are optional, and most requests come without one.
        if_absent = MappingProxyType(made.load({})) if location == "query" and not required else None

        def decorate(view: View) -> View:
            @wraps(view)
            def parsed(*before: Any, **path: Any) -> Response:
                request = context.current_request()
                if if_absent is not None and not request.query_string:
                    return view(*before, if_absent, **path)
                try:
                    taken = made.load(_given(request, location, lists))
                except ma.ValidationError as error:
                    raise documents.Invalid(error.messages, location) from error
                return view(*before, taken, **path)

            operation = _declared(view)
            _OPERATIONS[parsed] = msgspec.structs.replace(
                operation,
                inputs=(*operation.inputs, Input(made, location, required)),
                takes=operation.takes | {location},
                repeated=operation.repeated | lists,
            )
            return cast("View", parsed)

        return decorate

    @staticmethod
    def knows_caller(*, required: bool, scope: Scope | None, by_ticket: bool = False) -> Callable[[View], View]:
        """Declare that a view uses the caller. If a token is required, the checks refuse requests without one.

        `scope`: a token that is sent must have it; None if any token will do. `by_ticket`: the query may have a ticket
        instead of a token (its schema has the field `ticket`).
        """
        declared = {"knows_caller": True, "needs_token": required, "scope": scope, "takes_ticket": by_ticket}
        return lambda view: _declare(view, **declared)

    @staticmethod
    def counts_as(bucket: str) -> Callable[[View], View]:
        """Count the requests of a view in a rate limit of their own; with `UNCOUNTED`, in none."""
        return lambda view: _declare(view, bucket=bucket)

    @staticmethod
    def ignores_query(view: View) -> View:
        """Ignore all query parameters of a page for people: other sites add theirs to links, for example `?fbclid=`."""
        return _declare(view, ignores_query=True)

    @staticmethod
    def reads(*headers: RequestHeader) -> Callable[[View], View]:
        """Declare the headers that a view reads."""
        return lambda view: _declare(view, headers=headers)

    @staticmethod
    def answers_with(
        status: int,
        shape: type[msgspec.Struct] | Mapping[str, Any] | None = None,
        *,
        description: str,
        media_types: Sequence[str] = ("application/json",),
        headers: Mapping[str, Any] | None = None,
    ) -> Callable[[View], View]:
        """Declare a successful response of a view. The view itself creates the Response."""
        declared = tuple(
            Answer(status, one, {"type": "string"} if one == "text/html" else shape, description, headers)
            for one in media_types
        )
        return lambda view: _declare(view, answers=(*declared, *_declared(view).answers))

    @staticmethod
    def leads_to(status: int, **operations: Mapping[str, str]) -> Callable[[View], View]:
        """Declare links from a response to operations, with parameters as runtime expressions (OpenAPI 3.1, 4.8.20)."""
        return lambda view: _declare(view, links={**_declared(view).links, status: operations})

    @staticmethod
    def refuses(*codes: str) -> Callable[[View], View]:
        """Declare the problems of a view, besides those of every request with its method."""
        return lambda view: _declare(view, problems=(*codes, *_declared(view).problems))


def operation_of(app: Flask, request: Request) -> Operation:
    """The operation of a request; an empty one if no route matches."""
    return _declared(app.view_functions[request.endpoint]) if request.endpoint else _NO_OPERATION
