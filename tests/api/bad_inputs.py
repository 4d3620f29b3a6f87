"""Invalid inputs, generated from the reference: every field and parameter of every operation with every possible fault.

The cases follow from the schemas, and no field is named here: a new field gets its cases by itself.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

from tests.api.bad_values import beyond_bounds, fits, invalid_values, resolved, sample
from tests.api.checked import Json, reference
from tests.length import LONG
from tests.service.games.matches import spread

GAMES: Final = ("ape_town", "four_monkeys", "monkeys_on_the_moon", "monsters_on_the_moon")
Path: TypeAlias = tuple[str | int, ...]


class Edit(NamedTuple):
    """Replaces the value at a path of the body by raw text, which need not be JSON; None removes it."""

    path: Path
    text: str | None


class Case(NamedTuple):
    """A request that is valid except for one fault.

    `codes` are the accepted problem codes; `location` is the pointer or parameter that `errors` must name. `body` is raw bytes,
    or edits of a valid body, or None for no body. `game` is the game of its match.
    """

    operation: str
    fault: str
    codes: frozenset[str]
    location: str | None = None
    query: str = ""
    headers: Mapping[str, str | None] = {}
    body: bytes | tuple[Edit, ...] | None = ()
    names: Mapping[str, str] = {}
    game: str = "ape_town"


INVALID_JSON: Final[Mapping[str, str]] = {
    "NaN": "NaN",
    "Infinity": "-Infinity",
    "1e999": "1e999",
    "a fraction": "1.0",
    "an exponent": "1e2",
    "an integer beyond the safe range": str(2**53),
    "4,000 digits": "1" * 4000,
    "NUL": '"a\\u0000b"',
    "half a surrogate pair": '"\\ud800"',
    "a raw control character": '"a\tb"',
    "16 levels": "[" * 16 + "]" * 16,
    "no value": "",
    "a single quote": "'a'",
}
QUERY_VALUES: Final = (
    "",
    "x",
    "-1",
    "01",
    "+1",
    "1.0",
    "1e3",
    " 1",
    "٣",
    "TRUE",
    "yes",
    "null",
    "1" * 30,
    "\u202e",
    "\0",
    "é" * 201,
)
"""Values of query parameters, which are percent-encoded before they are sent."""
NO_PARAMETERS: Final = "&"
"""A query that has no parameters, not even those that the operation requires."""
HEADER_VALUES: Final = (
    "",
    " ",
    "a b",
    "x",
    '"',
    '"x',
    'x"',
    '"a"b"',
    "\\",
    "é",
    "x" * 65,
    '"' + "x" * 65 + '"',
    "-1",
    "1.5",
    "1" * 17,
)


WHOLE: Final = {
    "GET /v1/matches",
    "GET /v1/matches/{match_id}/events",
    "GET /v1/me",
    "POST /v1/matches/{match_id}/leave",
    "POST /v1/players",
}
"""Operations that get every value also in the short form: among them are queries, paths, headers and bodies."""


def of_field(operation: str, path: Path, schema: Json, code: str, **case: Any) -> Iterator[Case]:
    pointer = "#/" + "/".join(map(str, path))
    earlier = case.pop("earlier", ())
    for fault, text in INVALID_JSON.items():
        yield Case(operation, f"{pointer} {fault}", frozenset({"bad-json"}), body=(*earlier, Edit(path, text)), **case)
    for fault, text in invalid_values(schema):
        yield Case(
            operation, f"{pointer} {fault}", frozenset({code}), pointer, body=(*earlier, Edit(path, text)), **case
        )


def of_object(operation: str, path: Path, schema: Json) -> Iterator[Case]:
    """Faults of an object of the body and of all its fields."""
    refused = frozenset({"invalid-request"})
    pointer = "#" + "".join(f"/{step}" for step in path)
    edit = Edit((*path, "surprise"), "1")
    yield Case(operation, f"{pointer} an unknown field", refused, f"{pointer}/surprise", body=(edit,))
    for name, field in schema["properties"].items():
        at = (*path, name)
        text = json.dumps(sample(field))
        twice = Edit(at, f'{text}, "{name}": {text}')
        yield Case(operation, f"{pointer}/{name} twice", frozenset({"bad-json"}), body=(twice,))
        if name in schema.get("required", ()):
            yield Case(operation, f"{pointer}/{name} missing", refused, f"{pointer}/{name}", body=(Edit(at, None),))
        alternatives = resolved(field).get("anyOf", [field])
        if len(alternatives) == len(GAMES):
            yield from of_games(operation, at, field)
        else:
            yield from of_field(operation, at, field, "invalid-request")
            for alternative in map(resolved, alternatives):
                if "properties" in alternative:
                    yield from of_object(operation, at, alternative)


def of_games(operation: str, path: Path, schema: Json) -> Iterator[Case]:
    """Faults of an object whose schema depends on the game: values that are not objects, then faulty fields for each game."""
    for text in ("null", "[]", '"x"', "1", "true"):
        body = (Edit(path, text),)
        yield Case(operation, f"{path[-1]} {text}", frozenset({"invalid-request"}), f"#/{path[-1]}", body=body)
    for game, own in zip(GAMES, resolved(schema)["anyOf"], strict=True):
        alternatives = resolved(own).get("oneOf", [own])
        code = "invalid-action" if "oneOf" in resolved(own) else "invalid-options"
        for alternative in map(resolved, alternatives):
            whole = sample(alternative)
            assert fits(alternative, whole)
            edits: list[tuple[str, str]] = [
                (fault, text) for fault, text in invalid_values(alternative) if text.startswith("{")
            ]
            for fault, text in edits:
                earlier = (Edit(("game",), json.dumps(game)),) if code == "invalid-options" else ()
                body = (*earlier, Edit(path, text))
                yield Case(operation, f"{game} {fault}", frozenset({code}), f"#/{path[-1]}", body=body, game=game)


BODIES: Final[Mapping[str, bytes]] = {
    "not JSON": b"{",
    "cut off": b'{"a": "b',
    "two values": b"{} {}",
    "not UTF-8": b'{"name": "\xff\xfe"}',
    "UTF-16": '{"name": "x"}'.encode("utf-16"),
    "a byte order mark": b"\xef\xbb\xbf{}",
    "raw NUL": b"{}\0",
    "deep": b"[" * 8000,
    "a comment": b"{} // x",
    "a trailing comma": b'{"a": 1,}',
    "a form": b"name=x",
}
NOT_OBJECTS: Final = (b"null", b"[]", b'"x"', b"1", b"true", b"[{}]")
MEDIA_TYPES: Final = (
    *(None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/xml"),
    *(
        "application/json; charset=latin-1",
        "application/json; charset=utf-16",
        "application/json, text/plain",
        "application/problem+json",
        "",
    ),
)


def of_framing(operation: str, schema: Json | None) -> Iterator[Case]:
    """Faults of a body as a whole, or a body of an operation that takes none."""
    if not operation.startswith(("POST", "PATCH")):
        yield Case(operation, "a body", frozenset({"bad-request"}), body=b"{}")
        yield Case(operation, "a chunked body", frozenset({"bad-request"}), headers={"Transfer-Encoding": "chunked"})
    coding = {"Transfer-Encoding": "gzip, chunked"}
    yield Case(operation, "a transfer coding", frozenset({"bad-request"}), headers=coding, body=b"{}")
    yield Case(operation, "too large", frozenset({"body-too-large"}), body=b"{" + b" " * 16_384 + b"}")
    if not operation.startswith(("POST", "PATCH")):
        return
    for media_type in MEDIA_TYPES:
        typed = {"Content-Type": media_type}
        yield Case(operation, f"{media_type}", frozenset({"unsupported-media-type"}), headers=typed, body=b"{ }")
    yield Case(
        operation, "gzip", frozenset({"unsupported-media-type"}), headers={"Content-Encoding": "gzip"}, body=b"{}"
    )
    if schema is not None and schema_requires(schema):
        yield Case(operation, "no body", frozenset({"invalid-request"}), "#", body=None)
        yield Case(operation, "empty", frozenset({"invalid-request"}), "#", body=b"")
    if schema is not None:
        yield Case(operation, "white space", frozenset({"bad-json"}), body=b" \n")
    for fault, body in BODIES.items():
        if schema is not None:
            yield Case(operation, fault, frozenset({"bad-json"}), body=body)
        else:
            yield Case(operation, fault, frozenset({"invalid-request"}), "#", body=body)
    for body in NOT_OBJECTS:
        yield Case(operation, body.decode(), frozenset({"invalid-request"}), "#", body=body)


def schema_requires(schema: Json) -> bool:
    return bool(resolved(schema).get("required"))


def of_parameter(operation: str, parameter: Json) -> Iterator[Case]:
    name, schema = parameter["name"], parameter["schema"]
    match parameter["in"]:
        case "query":
            refused = frozenset({"invalid-parameter"})
            if resolved(schema)["type"] == "array":
                yield from of_list(operation, name, schema)
            else:
                yield Case(operation, f"{name} twice", refused, name, query=f"{name}=1&{name}=1")
            yield Case(operation, f"{name} not UTF-8", refused, name, query=f"{name}=%ff%fe")
            if parameter.get("required"):
                yield Case(operation, f"{name} missing", refused, name, query=NO_PARAMETERS)
            for value in (*QUERY_VALUES, *(str(edge) for edge in beyond_bounds(schema))):
                if not any(fits(schema, meaning) for meaning in read(value, schema)) or "cursor" in name:
                    yield Case(operation, f"{name}={value[:40]!r}", refused, name, query=f"{name}={percent(value)}")
        case "header":
            code = "idempotency-key-invalid" if name == "Idempotency-Key" else "invalid-parameter"
            for value in (one for one in HEADER_VALUES if not fits(schema, one.strip())):
                headers = {"Accept": "text/event-stream"} if name == "Last-Event-ID" else {}
                yield Case(
                    operation, f"{name}: {value[:40]!r}", frozenset({code}), name, headers={**headers, name: value}
                )
        case "path":
            codes = frozenset(
                {
                    "match-not-found",
                    "game-not-found",
                    "player-not-found",
                    "seek-not-found",
                    "token-not-found",
                    "webhook-not-found",
                    "bot-not-found",
                    "not-found",
                }
            )
            for value in ("x", "%00", "%ff", "%20", "..", "x" * 300, "%0d%0a", "%F0%9F%90%92", "{}"):
                yield Case(operation, f"{name} {value[:40]}", codes, names={name: value})


def of_list(operation: str, name: str, schema: Json) -> Iterator[Case]:
    """Faults of a parameter that may be repeated."""
    good = sample(schema["items"])
    lists = [[good] * (schema["maxItems"] + 1), [good, good], *([good, value] for value in ("", " ", "\0", "x" * 300))]
    for values in lists:
        query = "&".join(f"{name}={percent(value)}" for value in values)
        fault = f"{name} {len(values)} times, {values[-1][:40]!r} last"
        yield Case(operation, fault, frozenset({"invalid-parameter"}), name, query=query)


def read(value: str, schema: Json) -> Iterator[object]:
    """The typed values that the text of a query parameter may stand for."""
    match resolved(schema)["type"]:
        case "integer" if value.isascii() and value.isdigit() and value == str(int(value)):
            yield int(value)
        case "boolean" if value in {"true", "false"}:
            yield value == "true"
        case "string":
            yield value
        case "array":
            yield [value]


def percent(value: str) -> str:
    return "".join(f"%{byte:02x}" for byte in value.encode())


@cache
def cases() -> Mapping[str, Sequence[Case]]:
    """The cases of each operation. The short form has all of a few operations, and of the others two of each kind."""
    found: defaultdict[str, defaultdict[object, list[Case]]] = defaultdict(lambda: defaultdict(list))
    for case in _cases():
        found[case.operation][_kind(case)].append(case)
    return {
        operation: [
            case for alike in kinds.values() for case in (alike if LONG or operation in WHOLE else spread(alike, 2))
        ]
        for operation, kinds in found.items()
    }


def _kind(case: Case) -> object:
    """What is faulty, and how it must be answered."""
    edited = tuple(edit.path for edit in case.body) if isinstance(case.body, tuple) else None
    parameter = case.query.partition("=")[0]
    return case.codes, case.location, parameter, frozenset(case.headers), edited, frozenset(case.names), case.game


def _cases() -> Iterator[Case]:
    for path, methods in reference()["paths"].items():
        for method in (verb for verb in methods if verb != "parameters"):
            described, operation = methods[method], f"{method.upper()} {path}"
            for parameter in (*methods.get("parameters", ()), *described.get("parameters", ())):
                yield from of_parameter(operation, parameter)
            known = {one["name"] for one in described.get("parameters", ())}
            for name, value in {"Idempotency-Key": "a", "If-Match": "*"}.items():
                if method != "get" and name not in known:
                    refused = frozenset({"invalid-parameter"})
                    yield Case(operation, f"an {name}", refused, name, headers={name: value})
            yield Case(operation, "?surprise", frozenset({"invalid-parameter"}), "surprise", query="surprise=1")
            yield from of_framing(operation, (schema := body_schema(described)))
            if schema is not None:
                yield from of_object(operation, (), resolved(schema))
            yield from of_caller(operation, described)


def body_schema(described: Json) -> Json | None:
    schema: Json | None = described.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    return schema


def of_caller(operation: str, described: Json) -> Iterator[Case]:
    is_probe = operation.split()[1] in {"/healthz", "/readyz"}
    for host in (*(() if is_probe else ("",)), "a b", "moon/", "moon:x", "moon:65536", "moon@evil", "é"):
        yield Case(operation, f"Host: {host!r}", frozenset({"bad-host"}), headers={"Host": host})
    if "429" in described["responses"] and not is_probe:
        for token in ("", "x", "Bearer", "Bearer  ", "Basic eDp5", "Bearer é", "Bearer x y", f"Bearer {'x' * 300}"):
            headers = {"Authorization": token}
            yield Case(operation, f"Authorization: {token[:40]!r}", frozenset({"token-invalid"}), headers=headers)
    if {"ticket": []} in described["security"]:
        for ticket in ("", "x", "x" * 65, "%ff"):
            codes, no_token = frozenset({"ticket-invalid"}), {"Authorization": None}
            yield Case(operation, f"ticket {ticket}", codes, headers=no_token, query=f"ticket={ticket}")
    if "406" in described["responses"]:
        yield Case(operation, "Accept", frozenset({"not-acceptable"}), headers={"Accept": "image/png"})
