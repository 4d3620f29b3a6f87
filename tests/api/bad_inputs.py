"""Invalid inputs, generated from the reference: every field and parameter of every operation with every possible fault.

Nothing here names a field. What a field must not be is asked of its schema: a new field has its cases, and a bound that is
lifted loses them.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

from tests.api.bad_values import edges, fits, resolved, sample, unfit
from tests.api.checked import Json, reference

GAMES: Final = ("ape_town", "four_monkeys", "monkeys_on_the_moon", "monsters_on_the_moon")
Place: TypeAlias = tuple[str | int, ...]


class Edit(NamedTuple):
    """What stands at a place of the body instead: raw text, which need not be JSON; None for nothing."""

    place: Place
    text: str | None


class Case(NamedTuple):
    """A request that is right but for one thing. `game`: of which game its match is. `body`: bytes, edits of a good one, or
    None for none at all.

    `codes` are the problems that it may get; `where` is what `errors` must name, a pointer or a parameter.
    """

    operation: str
    fault: str
    codes: frozenset[str]
    where: str | None = None
    query: str = ""
    headers: Mapping[str, str | None] = {}
    body: bytes | tuple[Edit, ...] | None = ()
    names: Mapping[str, str] = {}
    game: str = "ape_town"


NO_JSON: Final[Mapping[str, str]] = {
    "NaN": "NaN",
    "Infinity": "-Infinity",
    "1e999": "1e999",
    "a fraction": "1.0",
    "an exponent": "1e2",
    "an integer beyond all": str(2**53),
    "4,000 digits": "1" * 4000,
    "NUL": '"a\\u0000b"',
    "half a surrogate pair": '"\\ud800"',
    "a raw control character": '"a\tb"',
    "16 levels": "[" * 16 + "]" * 16,
    "nothing": "",
    "a single quote": "'a'",
}
WORDS: Final = (
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
"""Of queries, percent-encoded before they are sent."""
NOTHING: Final = "&"
"""A query without parameters, those that its operation requires neither."""
HEADERS: Final = (
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


def of_field(operation: str, place: Place, schema: Json, code: str, **case: Any) -> Iterator[Case]:
    pointer = "#/" + "/".join(map(str, place))
    earlier = case.pop("earlier", ())
    for fault, text in NO_JSON.items():
        yield Case(operation, f"{pointer} {fault}", frozenset({"bad-json"}), body=(*earlier, Edit(place, text)), **case)
    for fault, text in unfit(schema):
        yield Case(
            operation, f"{pointer} {fault}", frozenset({code}), pointer, body=(*earlier, Edit(place, text)), **case
        )


def of_object(operation: str, place: Place, schema: Json) -> Iterator[Case]:
    """Faults of an object of the body and of all its fields."""
    refused = frozenset({"invalid-request"})
    pointer = "#" + "".join(f"/{step}" for step in place)
    edit = Edit((*place, "surprise"), "1")
    yield Case(operation, f"{pointer} an unknown field", refused, f"{pointer}/surprise", body=(edit,))
    for name, field in schema["properties"].items():
        at = (*place, name)
        text = json.dumps(sample(field))
        twice = Edit(at, f'{text}, "{name}": {text}')
        yield Case(operation, f"{pointer}/{name} twice", frozenset({"bad-json"}), body=(twice,))
        if name in schema.get("required", ()):
            yield Case(operation, f"{pointer}/{name} missing", refused, f"{pointer}/{name}", body=(Edit(at, None),))
        kinds = resolved(field).get("anyOf", [field])
        if len(kinds) == len(GAMES):
            yield from of_games(operation, at, field)
        else:
            yield from of_field(operation, at, field, "invalid-request")
            for kind in map(resolved, kinds):
                if "properties" in kind:
                    yield from of_object(operation, at, kind)


def of_games(operation: str, place: Place, schema: Json) -> Iterator[Case]:
    """Of an object that each game has another schema for: whatever is no object, then the fields of each game's."""
    for text in ("null", "[]", '"x"', "1", "true"):
        body = (Edit(place, text),)
        yield Case(operation, f"{place[-1]} {text}", frozenset({"invalid-request"}), f"#/{place[-1]}", body=body)
    for game, own in zip(GAMES, resolved(schema)["anyOf"], strict=True):
        kinds = resolved(own).get("oneOf", [own])
        code = "invalid-action" if "oneOf" in resolved(own) else "invalid-options"
        for kind in map(resolved, kinds):
            whole = sample(kind)
            assert fits(kind, whole)
            edits: list[tuple[str, str]] = [(fault, text) for fault, text in unfit(kind) if text.startswith("{")]
            for fault, text in edits:
                earlier = (Edit(("game",), json.dumps(game)),) if code == "invalid-options" else ()
                body = (*earlier, Edit(place, text))
                yield Case(operation, f"{game} {fault}", frozenset({code}), f"#/{place[-1]}", body=body, game=game)


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
    "a comma too many": b'{"a": 1,}',
    "a form": b"name=x",
}
NO_OBJECTS: Final = (b"null", b"[]", b'"x"', b"1", b"true", b"[{}]")
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
    """Faults of a body as such, or of a body where there should be none."""
    if not operation.startswith("POST"):
        yield Case(operation, "a body", frozenset({"bad-request"}), body=b"{}")
        yield Case(operation, "chunks", frozenset({"bad-request"}), headers={"Transfer-Encoding": "chunked"})
    coding = {"Transfer-Encoding": "gzip, chunked"}
    yield Case(operation, "a coding", frozenset({"bad-request"}), headers=coding, body=b"{}")
    yield Case(operation, "too large", frozenset({"body-too-large"}), body=b"{" + b" " * 16_384 + b"}")
    if not operation.startswith("POST"):
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
    for body in NO_OBJECTS:
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
                yield Case(operation, f"{name} missing", refused, name, query=NOTHING)
            for word in (*WORDS, *(str(edge) for edge in edges(schema))):
                if not any(fits(schema, value) for value in read(word, schema)) or "cursor" in name:
                    yield Case(operation, f"{name}={word[:40]!r}", refused, name, query=f"{name}={percent(word)}")
        case "header":
            code = "idempotency-key-invalid" if name == "Idempotency-Key" else "invalid-parameter"
            for word in (one for one in HEADERS if not fits(schema, one.strip())):
                headers = {"Accept": "text/event-stream"} if name == "Last-Event-ID" else {}
                yield Case(
                    operation, f"{name}: {word[:40]!r}", frozenset({code}), name, headers={**headers, name: word}
                )
        case "path":
            codes = frozenset({"match-not-found", "game-not-found", "player-not-found", "seek-not-found", "not-found"})
            for word in ("x", "%00", "%ff", "%20", "..", "x" * 300, "%0d%0a", "%F0%9F%90%92", "{}"):
                yield Case(operation, f"{name} {word[:40]}", codes, names={name: word})


def of_list(operation: str, name: str, schema: Json) -> Iterator[Case]:
    """Faults of a parameter that may be repeated."""
    good = sample(schema["items"])
    lists = [[good] * (schema["maxItems"] + 1), [good, good], *([good, word] for word in ("", " ", "\0", "x" * 300))]
    for words in lists:
        query = "&".join(f"{name}={percent(word)}" for word in words)
        fault = f"{name} {len(words)} times, {words[-1][:40]!r} the last"
        yield Case(operation, fault, frozenset({"invalid-parameter"}), name, query=query)


def read(word: str, schema: Json) -> Iterator[object]:
    """What a word of a query may mean."""
    match resolved(schema)["type"]:
        case "integer" if word.isascii() and word.isdigit() and word == str(int(word)):
            yield int(word)
        case "boolean" if word in {"true", "false"}:
            yield word == "true"
        case "string":
            yield word
        case "array":
            yield [word]


def percent(word: str) -> str:
    return "".join(f"%{byte:02x}" for byte in word.encode())


@cache
def cases() -> tuple[Case, ...]:
    """All cases of all operations."""
    return tuple(_cases())


def _cases() -> Iterator[Case]:
    for path, methods in reference()["paths"].items():
        for method in (verb for verb in methods if verb != "parameters"):
            told, operation = methods[method], f"{method.upper()} {path}"
            for parameter in (*methods.get("parameters", ()), *told.get("parameters", ())):
                yield from of_parameter(operation, parameter)
            if method != "get" and not any(one["name"] == "Idempotency-Key" for one in told.get("parameters", ())):
                headers, refused = {"Idempotency-Key": "a"}, frozenset({"invalid-parameter"})
                yield Case(operation, "a key", refused, "Idempotency-Key", headers=headers)
            yield Case(operation, "?surprise", frozenset({"invalid-parameter"}), "surprise", query="surprise=1")
            yield from of_framing(operation, (schema := body_schema(told)))
            if schema is not None:
                yield from of_object(operation, (), resolved(schema))
            yield from of_caller(operation, told)


def body_schema(told: Json) -> Json | None:
    schema: Json | None = told.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    return schema


def of_caller(operation: str, told: Json) -> Iterator[Case]:
    is_probe = operation.split()[1] in {"/healthz", "/readyz"}
    for host in (*(() if is_probe else ("",)), "a b", "moon/", "moon:x", "moon:65536", "moon@evil", "é"):
        yield Case(operation, f"Host: {host!r}", frozenset({"bad-host"}), headers={"Host": host})
    if "429" in told["responses"] and not is_probe:
        for token in ("", "x", "Bearer", "Bearer  ", "Basic eDp5", "Bearer é", "Bearer x y", f"Bearer {'x' * 300}"):
            headers = {"Authorization": token}
            yield Case(operation, f"Authorization: {token[:40]!r}", frozenset({"token-invalid"}), headers=headers)
    if {"ticket": []} in told["security"]:
        for ticket in ("", "x", "x" * 65, "%ff"):
            codes, nobody = frozenset({"ticket-invalid"}), {"Authorization": None}
            yield Case(operation, f"ticket {ticket}", codes, headers=nobody, query=f"ticket={ticket}")
    if "406" in told["responses"]:
        yield Case(operation, "Accept", frozenset({"not-acceptable"}), headers={"Accept": "image/png"})
