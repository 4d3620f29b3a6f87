"""RFC 9457 problem documents: turns refusals, faults and bad requests into responses."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Final, NoReturn

import msgspec
from flask import Flask, Response
from werkzeug.exceptions import HTTPException

from api.http import address_hints, context, etags, languages
from api.problems.types import PROBLEM_TYPES
from service.errors import Corrupt, Refused, no_match
from service.repository.ports import LogUnavailable
from service.repository.strict_json import BadJSON
from service.views import damaged_match_access

MEDIA_TYPE: Final = "application/problem+json"
MAX_ERRORS: Final = 20
_MAX_DETAIL: Final = 200
_MAX_SENTENCE: Final = 500
"""Maximum number of characters of a detail, which may quote the request."""
_MAX_POINTER: Final = 120

_log = logging.getLogger("moonstone.api")

_BY_STATUS: Final[Mapping[int, str]] = {
    400: "bad-request",
    401: "token-missing",
    403: "forbidden",
    404: "not-found",
    405: "method-not-allowed",
    406: "not-acceptable",
    408: "request-timeout",
    413: "body-too-large",
    415: "unsupported-media-type",
    422: "invalid-request",
    429: "rate-limited",
    500: "internal-error",
}


class FieldError(msgspec.Struct, frozen=True, omit_defaults=True):
    """One of several faults: what is wrong, and where (a JSON pointer into the body, or a parameter's name)."""

    detail: str
    pointer: str | None = None
    parameter: str | None = None


class Problem(msgspec.Struct, frozen=True, omit_defaults=True):
    """A problem document (RFC 9457). `code` is stable, texts are not. Some codes have additional members."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    instance: str
    retryable: bool
    errors: tuple[FieldError, ...] = ()


class Invalid(Exception):
    """The input of a request does not fit a marshmallow schema; `location` is "json" or "query"."""

    def __init__(self, messages: object, location: str) -> None:
        super().__init__(location)
        self.errors = tuple(field_errors(messages, in_body=location == "json"))
        self.code = "invalid-request" if location == "json" else "invalid-parameter"


def _faults(messages: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    match messages:
        case Mapping():
            for key, inner in messages.items():
                yield from _faults(inner, path if key == "_schema" else (*path, str(key)))
        case str():
            yield path, messages
        case Sequence():
            for inner in messages:
                yield from _faults(inner, path)


def field_errors(messages: object, *, in_body: bool) -> Iterator[FieldError]:
    """Marshmallow's nested messages as a flat list of bounded size."""
    for count, (path, text) in enumerate(_faults(messages, ())):
        if count == MAX_ERRORS:
            return
        detail = text[:_MAX_DETAIL]
        if in_body:
            steps = (step.replace("~", "~0").replace("/", "~1") for step in path)
            yield FieldError(detail, pointer="#" + "".join(f"/{step}" for step in steps)[:_MAX_POINTER])
        else:
            yield FieldError(detail, parameter="/".join(path)[:_MAX_POINTER])


def document(
    code: str,
    detail: str,
    *,
    errors: tuple[FieldError, ...] = (),
    facts: Mapping[str, object] | None = None,
) -> dict[str, object]:
    """A problem of `PROBLEM_TYPES` as a JSON object, with `facts` as additional members."""
    kind = PROBLEM_TYPES[code]
    problem = Problem(
        type=f"/problems/{code}",
        title=kind.title,
        status=kind.status,
        detail=detail if len(detail) <= _MAX_SENTENCE else f"{detail[:_MAX_SENTENCE]}…",
        code=code,
        instance=f"urn:uuid:{context.state().id}",
        retryable=kind.retry_after is not None,
        errors=errors,
    )
    return {**(facts or {}), **msgspec.to_builtins(problem)}


def respond(
    code: str,
    detail: str,
    *,
    errors: tuple[FieldError, ...] = (),
    facts: Mapping[str, object] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    kind = PROBLEM_TYPES[code]
    context.state().problem = code
    if kind.status == HTTPStatus.NOT_FOUND and (hint := address_hints.hint(context.current_request().path)):
        detail = f"{detail} {hint}"
    body = msgspec.json.encode(document(code, detail, errors=errors, facts=facts))
    response = Response(body, kind.status, headers, content_type=MEDIA_TYPE)
    facts = facts or {}
    if wait := facts.get("retry_after", kind.retry_after):
        response.headers["Retry-After"] = str(wait)
    match facts:
        case {"version": int(version), "head": str(head)}:
            response.headers["ETag"] = etags.etag_of(version, head)
    if kind.status == 401:
        challenge = 'Bearer error="invalid_token"' if code == "token-invalid" else "Bearer"
        response.headers["WWW-Authenticate"] = challenge
    if code == "scope-missing":
        response.headers["WWW-Authenticate"] = f'Bearer error="insufficient_scope", scope="{facts["scope"]}"'
    return response


def _refused(error: Refused) -> Response:
    if error.code == "engine-too-old" and (hidden := _hidden()):
        return hidden
    if error.details:
        language = languages.preferred()
        return languages.label(respond(error.code, error.details[language], facts=error.facts), language)
    facts = dict(error.facts)
    errors: tuple[FieldError, ...] = ()
    if path := facts.pop("parameter", None):
        # Reported like the faults that a schema finds. With status 422 the fault is in the body.
        in_body = PROBLEM_TYPES[error.code].status == HTTPStatus.UNPROCESSABLE_ENTITY
        messages: object = error.detail
        for step in reversed(path if isinstance(path, tuple) else (path,)):
            messages = {step: messages}
        errors = tuple(field_errors(messages, in_body=in_body))
    return respond(error.code, error.detail, errors=errors, facts=facts)


def _invalid(error: Invalid) -> Response:
    first, *others = error.errors
    others_too = f" {len(others)} more in `errors`." if others else ""
    return respond(error.code, f"{first.pointer or first.parameter}: {first.detail}{others_too}", errors=error.errors)


def _bad_json(error: BadJSON) -> Response:
    return respond("bad-json", str(error))


def _corrupt(error: Corrupt) -> Response:
    _log.error("corrupt match, request %s: %s", context.state().id, error)
    return _hidden() or respond(
        "match-corrupt", f"The stored event of version {error.version} is damaged.", facts={"version": error.version}
    )


def _hidden() -> Response | None:
    """`match-not-found` for strangers to a private match that cannot be folded; None for everyone else."""
    match_id = (context.current_request().view_args or {}).get("match_id")
    try:
        if match_id is None or damaged_match_access.may_learn_of(context.ports(), match_id, context.caller_id()):
            return None
    except LogUnavailable as error:
        return _unavailable(error)
    return _refused(no_match())


def _unavailable(error: LogUnavailable) -> Response:
    code = f"store-{error.reason}"
    return respond(code, PROBLEM_TYPES[code].cause)


def _http(error: HTTPException) -> HTTPException | Response:
    """A problem for an HTTP error of the framework. If its status has no code, its type is `about:blank` (RFC 9457, 4.2.1)."""
    status = error.code or 500
    if status < 400:
        return error
    headers = {
        name: value for name, value in error.get_headers() if name.lower() not in {"content-type", "content-length"}
    }
    code = _BY_STATUS.get(status)
    if code is not None:
        return respond(code, PROBLEM_TYPES[code].cause, headers=headers)
    problem = blank(status, error.name, context.state().id)
    context.state().problem = problem.code
    return Response(msgspec.json.encode(problem), status, headers, content_type=MEDIA_TYPE)


def blank(status: int, phrase: str, request: str) -> Problem:
    """A problem of type `about:blank`, which says only what its status says."""
    return Problem(
        type="about:blank",
        title=phrase,
        status=status,
        detail=phrase,
        code=f"http-{status}",
        instance=f"urn:uuid:{request}",
        retryable=False,
    )


def _unexpected(error: Exception) -> Response:
    _log.error("request %s failed", context.state().id, exc_info=error)
    return respond("internal-error", "The service failed; its log has the details under this id.")


def refuse_without_log(_: str = "") -> NoReturn:
    """The view of every path that needs the log, while the service waits for its log."""
    raise LogUnavailable("unavailable")


def install(app: Flask) -> None:
    """Answer every exception of this app with a problem document."""
    app.register_error_handler(Refused, _refused)
    app.register_error_handler(Invalid, _invalid)
    app.register_error_handler(BadJSON, _bad_json)
    app.register_error_handler(Corrupt, _corrupt)
    app.register_error_handler(LogUnavailable, _unavailable)
    app.register_error_handler(HTTPException, _http)
    app.register_error_handler(Exception, _unexpected)
