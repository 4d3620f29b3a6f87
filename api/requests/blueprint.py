"""flask-smorest with strict bodies and queries, responses from structs, and problems named in the reference."""

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, wraps
from types import MappingProxyType
from typing import Any, Final, TypeVar, cast

import flask_smorest
import marshmallow as ma
import msgspec
from flask import Flask, Request, Response
from flask.views import MethodView

from api.http import context, strict_json
from api.http.request_headers import RequestHeader, parameter
from api.problems import documents
from api.problems.types import PROBLEM_TYPES
from api.requests.components import PREFIX
from api.requests.strict_fields import List, Object

View = TypeVar("View", bound=Callable[..., Response])
Routed = TypeVar("Routed", bound="Callable[..., Response] | type[MethodView]")

WRITE_PROBLEMS: Final = ("request-timeout", "unsupported-media-type", "invalid-request")
"""Problems of every POST, also of one without a body, since it refuses a body."""
STORE_PROBLEMS: Final = (
    "store-unavailable",
    "store-loading",
    "store-read-only",
    "store-disk",
    "store-full",
    "store-replicas",
)
UNCOUNTED: Final = "uncounted"
EVERYWHERE: Final = (
    "bad-request",
    "body-too-large",
    "bad-host",
    "token-invalid",
    "rate-limited",
    "invalid-parameter",
)


def _given(request: Request, location: str, lists: Iterable[str]) -> Any:
    """The parsed body (an empty body is an empty object) or query of a request, before validation.

    `lists` are the query parameters that may be repeated.
    """
    if location != "query":
        return strict_json.loads(request.get_data() or b"{}")
    return request.args.to_dict() | {name: request.args.getlist(name) for name in lists if name in request.args}


class Blueprint(flask_smorest.Blueprint):  # type: ignore[misc]  # flask-smorest has no types
    """A resource: its views with their inputs, responses and problems."""

    def __init__(self, name: str, *, description: str) -> None:
        super().__init__(name, __name__, description=description)
        self.answers: list[type[msgspec.Struct]] = []
        self._prepare_doc_cbks.append(self._prepare_request_doc)
        self._prepare_doc_cbks.append(self._prepare_problems_doc)

    def at(self, rule: str, **options: Any) -> Callable[[Routed], Routed]:
        """Route a MethodView or a view function. The name of a function becomes the operation's id."""

        def decorate(view: Routed) -> Routed:
            if not isinstance(view, type):
                _note(view, operation=view.__name__)
            routed: Routed = self.route(rule, **options)(view)
            return routed

        return decorate

    def takes(self, schema: type[ma.Schema], location: str = "json", **options: Any) -> Callable[[View], View]:
        """Parse the body or the query by a schema and pass the result to the view."""
        # One instance for all requests: creating a schema takes longer than loading with it.
        made = schema()
        options.setdefault("required", any(field.required for field in made.fields.values()))
        lists = frozenset(
            name for name, field in made.fields.items() if location == "query" and isinstance(field, List)
        )
        # Most queries are optional, and most requests come without one.
        if_absent = MappingProxyType(made.load({})) if location == "query" and not options["required"] else None
        describe = self.arguments(made, location=location, **options)

        def decorate(view: View) -> View:
            described = _facts(describe(view))
            # smorest documents 422 under a name that depends on the Python version; problems are documented below.
            described["arguments"].pop("responses", None)

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

            return _note(cast("View", parsed), **described, **({"repeated": lists} if lists else {}))

        return decorate

    def knows_caller(self, *, required: bool, by_ticket: bool = False) -> Callable[[View], View]:
        """Declare that a view uses the caller. If a token is required, the checks refuse requests without one.

        `by_ticket`: the query may have a ticket instead of a token (its schema has the field `ticket`).
        """

        def decorate(view: View) -> View:
            return _note(view, caller="required" if required else "optional", by_ticket=by_ticket)

        return decorate

    @staticmethod
    def counts_as(bucket: str) -> Callable[[View], View]:
        """Count the requests of a view in a rate limit of their own; with `UNCOUNTED`, in none."""

        def decorate(view: View) -> View:
            return _note(view, bucket=bucket)

        return decorate

    def reads(self, *headers: RequestHeader) -> Callable[[View], View]:
        """Declare the headers that a view reads."""

        def decorate(view: View) -> View:
            return _note(view, headers=headers)

        return decorate

    def answers_with(
        self,
        status: int,
        shape: type[msgspec.Struct] | Mapping[str, Any] | None = None,
        *,
        description: str,
        media_types: Sequence[str] = ("application/json",),
        headers: Mapping[str, Any] | None = None,
    ) -> Callable[[View], View]:
        """Declare a response of a view for the reference, by a struct or a schema. The view itself creates the Response."""
        if isinstance(shape, type):
            if shape not in self.answers:
                self.answers.append(shape)
            shape = {"$ref": PREFIX + shape.__name__}

        def decorate(view: View) -> View:
            for media_type in media_types:
                schema = {"type": "string"} if media_type == "text/html" else shape
                describe = self.response(
                    status, schema, description=description, content_type=media_type, headers=headers
                )
                _note(view, **_facts(describe(view)))
            return view

        return decorate

    def leads_to(self, status: int, **operations: Mapping[str, str]) -> Callable[[View], View]:
        """Declare links from a response to operations, with parameters as runtime expressions (OpenAPI 3.1, 4.8.20)."""
        links = {name: {"operationId": name, "parameters": dict(wanted)} for name, wanted in operations.items()}

        def decorate(view: View) -> View:
            return _note(view, links={**_facts(view).get("links", {}), status: links})

        return decorate

    def refuses(self, *codes: str) -> Callable[[View], View]:
        """Declare the problems of a view, besides those of every request with its method."""

        def decorate(view: View) -> View:
            return _note(view, problems=(*_facts(view).get("problems", ()), *codes))

        return decorate

    @staticmethod
    def _prepare_request_doc(doc: dict[str, Any], doc_info: Mapping[str, Any], **_: object) -> dict[str, Any]:
        if "operation" in doc_info:
            doc["operationId"] = doc_info["operation"]
        doc["security"] = []
        if caller := doc_info.get("caller"):
            doc["security"] = [{"bearer": []}, *([{}] if caller == "optional" else [])]
        if doc_info.get("by_ticket"):
            doc["security"].insert(1, {"ticket": []})
        for header in doc_info.get("headers", ()):
            doc.setdefault("parameters", []).append(parameter(header))
        return doc

    @staticmethod
    def _prepare_problems_doc(
        doc: dict[str, Any], doc_info: Mapping[str, Any], *, method: str, **_: object
    ) -> dict[str, Any]:
        codes = [*doc_info.get("problems", ()), *EVERYWHERE]
        headers = doc_info.get("headers", ())
        if method == "post":
            codes.extend(WRITE_PROBLEMS)
        if "requestBody" in doc:
            codes.append("bad-json")
        if doc_info.get("caller") == "required":
            codes.append("token-missing")
        if doc_info.get("by_ticket"):
            codes.append("ticket-invalid")
        if "Idempotency-Key" in headers:
            codes.append("idempotency-key-invalid")
        by_status: dict[int, list[str]] = {}
        for code in PROBLEM_TYPES:
            if code in codes:
                by_status.setdefault(PROBLEM_TYPES[code].status, []).append(code)
        responses = doc.setdefault("responses", {})
        for status, links in doc_info.get("links", {}).items():
            responses[status]["links"] = links
        for status in sorted(by_status):
            responses[str(status)] = problem_response(", ".join(f"`{code}`" for code in by_status[status]))
        responses["default"] = {"$ref": "#/components/responses/Problem"}
        return doc


def _facts(view: Callable[..., Any]) -> dict[str, Any]:
    """A copy of flask-smorest's metadata of a view, which it stores on the view."""
    return copy.deepcopy(getattr(view, "_apidoc", {}))


def _note(view: View, **facts: object) -> View:
    """Add to flask-smorest's metadata of a view. Its own decorators would also wrap the view once more each time."""
    view._apidoc = _facts(view) | facts  # type: ignore[attr-defined]  # noqa: SLF001  # flask-smorest's own attribute
    return view


def problem_response(description: str) -> dict[str, Any]:
    return {"description": description, "content": {documents.MEDIA_TYPE: {"schema": {"$ref": PREFIX + "Problem"}}}}


def _component_of(_: object, field: ma.fields.Field[Any], **__: object) -> dict[str, str]:
    """The schema that apispec writes for an Object field: a reference to its component."""
    if not isinstance(field, Object):
        return {}
    return {"$ref": PREFIX + field.component} if field.component else {"type": "object"}


class Api(flask_smorest.Api):  # type: ignore[misc]  # flask-smorest has no types
    """Registers blueprints and builds the reference. Errors are handled by api.problems.documents, not by flask-smorest."""

    DEFAULT_ERROR_RESPONSE_NAME = None

    def _init_spec(self, **options: Any) -> None:
        super()._init_spec(**options)
        self.ma_plugin.converter.add_attribute_function(_component_of)

    def _register_error_handlers(self) -> None:
        documents.install(self._app)

    def _register_responses(self) -> None:
        self.spec.components.response("Problem", problem_response("Any other problem; `code` says which."))


class Operation(msgspec.Struct, frozen=True):
    """What the checks need to know about a view and method.

    `takes`: where it has input: "json", "query" or both. `repeated`: query parameters that may be repeated. `bucket`: the
    name of its own rate limit, `UNCOUNTED`, or None.
    """

    takes: frozenset[str] = frozenset()
    repeated: frozenset[str] = frozenset()
    headers: tuple[RequestHeader, ...] = ()
    bucket: str | None = None
    needs_token: bool = False
    takes_ticket: bool = False


_NO_OPERATION: Final = Operation()


def operation_of(app: Flask, request: Request) -> Operation:
    """The operation of a request; an empty one if no route matches."""
    return _operation(app.view_functions[request.endpoint], request.method) if request.endpoint else _NO_OPERATION


@cache
def _operation(view: Callable[..., Any], method: str) -> Operation:
    facts = _described(view, method)
    return Operation(
        takes=frozenset(parameter["in"] for parameter in facts.get("arguments", {}).get("parameters", ())),
        repeated=facts.get("repeated", frozenset()),
        headers=facts.get("headers", ()),
        bucket=facts.get("bucket"),
        needs_token=facts.get("caller") == "required",
        takes_ticket=bool(facts.get("by_ticket")),
    )


def _described(view: Callable[..., Any], method: str) -> Mapping[str, Any]:
    """flask-smorest's metadata of a view, or of a MethodView's method. HEAD uses GET."""
    view_class = getattr(view, "view_class", None)
    if view_class is not None:
        view = getattr(view_class, ("get" if method == "HEAD" else method).lower(), view)
    return _facts(view)
