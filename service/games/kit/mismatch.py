"""Explains why a value does not match its type: where the fault is, and what would be right there.

msgspec reports the first fault of a value. The expected value comes from the JSON Schema that msgspec generates from
the same type.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeAlias

import msgspec

Schema: TypeAlias = Mapping[str, Any]

MAX_VALUES: Final = 20
"""Maximum number of alternatives in a message."""
MAX_STEP_LENGTH: Final = 40
"""Maximum number of characters of a client's field name in a message."""

_LOCATED: Final = re.compile(r"(?s)(.*?)(?: - at (?:`key` in )?`\$([^`]*)`)?")
_FIELD: Final = re.compile(r"(?s)Object (missing required|contains unknown) field `(.*)`")
_STEP: Final = re.compile(r"\.([^.\[]+)|\[([0-9]+)\]")


class Mismatch(msgspec.Struct, frozen=True):
    """`path` has the names and indices that lead to the value.

    `fault` completes a sentence whose subject is that value.
    """

    path: tuple[str, ...]
    fault: str

    def __str__(self) -> str:
        return f"{'.'.join(step[:MAX_STEP_LENGTH] for step in self.path)} {self.fault}"


def mismatch(kind: type[msgspec.Struct], error: msgspec.ValidationError) -> Mismatch:
    """Explain a validation error that msgspec raised for a value of this type."""
    match = _LOCATED.fullmatch(str(error))
    message, location = (match[1], match[2] or "") if match else (str(error), "")
    # A value under a client's own key (`[...]` in msgspec's path) is reported for the object that contains it.
    path = tuple(name or index for name, index in _STEP.findall(location.partition("[...]")[0]))
    field = _FIELD.fullmatch(message)
    if field is None:
        return Mismatch(path, f"must be {_expected(kind, path)}")
    inner = (*path, field[2])
    if field[1] == "missing required":
        return Mismatch(inner, f"is missing; it must be {_expected(kind, inner)}")
    names = ", ".join(name for schema in _schemas(kind, path) for name in schema.get("properties", ()))
    return Mismatch(inner, f"is unknown; known names: {names or 'none'}")


@cache
def _schema(kind: type[msgspec.Struct]) -> Schema:
    return msgspec.json.schema(kind)


def _schemas(kind: type[msgspec.Struct], path: tuple[str, ...]) -> list[Schema]:
    """The schemas that apply to the value at a path, with references and `anyOf` resolved."""
    whole = _schema(kind)
    found = list(_resolved(whole, whole))
    for step in path:
        found = [
            resolved for schema in found for inner in _children(schema, step) for resolved in _resolved(whole, inner)
        ]
    return found


def _resolved(whole: Schema, schema: Schema) -> Iterator[Schema]:
    if "$ref" in schema:
        yield from _resolved(whole, whole["$defs"][schema["$ref"].rpartition("/")[2]])
    elif "anyOf" in schema:
        for choice in schema["anyOf"]:
            yield from _resolved(whole, choice)
    else:
        yield schema


def _children(schema: Schema, step: str) -> Iterator[Schema]:
    if step in schema.get("properties", {}):
        yield schema["properties"][step]
    elif step.isdecimal() and isinstance(schema.get("items"), dict):
        yield schema["items"]


def _expected(kind: type[msgspec.Struct], path: tuple[str, ...]) -> str:
    return alternatives([words for schema in _schemas(kind, path) for words in _described(schema)]) or "something else"


def alternatives(values: Sequence[str]) -> str:
    """List alternatives in words. A long list is cut to MAX_VALUES entries."""
    shown = list(values)
    if len(shown) > MAX_VALUES:
        shown = [*shown[: MAX_VALUES - 1], f"one of {len(shown) - MAX_VALUES + 1} others"]
    return " or ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:])))


def _described(schema: Schema) -> Iterator[str]:
    match schema:
        case {"enum": [*values]}:
            yield from map(str, values)
        case {"type": "boolean"}:
            yield from ("true", "false")
        case {"type": "integer"}:
            yield "an integer" + _range(schema, "minimum", "maximum")
        case {"type": "string"}:
            yield "text" + _range(schema, "minLength", "maxLength", " characters")
        case {"type": "array"}:
            yield "a list" + _range(schema, "minItems", "maxItems", " items")
        case {"type": "object", "additionalProperties": {"type": "integer"} as values}:
            yield "an object whose values are integers" + _range(values, "minimum", "maximum")
        case {"type": "object"}:
            yield "an object"
        case _:
            yield str(schema.get("type"))


def _range(schema: Schema, least: str, most: str, unit: str = "") -> str:
    if most not in schema:
        return f" from {schema[least]}{unit}" if least in schema else ""
    return f" {'of' if unit else 'from'} {schema.get(least, 0)} to {schema[most]}{unit}"
