"""Values that are invalid for a schema: other types, and values just beyond each bound."""

import json
from collections.abc import Iterator
from typing import Any, Final

from tests.api.checked import Json, reference, validator

VALUES: Final[tuple[object, ...]] = (
    *(None, True, False, 0, 1, -1, 2**53 - 1, "", " ", "x", "5", "true", "null", "\u0001", "a\u202eb", "é" * 300),
    *([], [None], [[]], ["\u0001"], {}, {"surprise": 1}, {"surprise" * 1000: 1}, "surprise" * 1000),
)


def resolved(schema: Json) -> Json:
    while "$ref" in schema:
        schema = reference()["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def fits(schema: Json, value: object) -> bool:
    return validator(schema).is_valid(value)


def types_of(schema: Json) -> list[str]:
    """The types that a value may have; null is never the first of several."""
    return [schema["type"]] if isinstance(schema["type"], str) else schema["type"]


def sample(schema: Json) -> Any:
    """A valid value of a schema."""
    schema = resolved(schema)
    if "enum" in schema:
        return schema["enum"][0]
    for kind in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        return sample(kind)
    match types_of(schema)[0]:
        case "integer":
            return max(schema.get("minimum", 0), 0)
        case "string":
            return "x" * max(schema.get("minLength", 0), 1)
        case "boolean":
            return False
        case "array":
            return [sample(schema["items"])] * max(schema.get("minItems", 0), 1)
    return {name: sample(schema["properties"][name]) for name in schema.get("required", ())}


def beyond_bounds(schema: Json) -> Iterator[object]:
    """Values just beyond each bound of a schema and of each of its alternatives."""
    schema = resolved(schema)
    for kind in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        yield from beyond_bounds(kind)
    for bound, value in schema.items():
        match bound:
            case "minimum" | "maximum":
                yield value + (1 if bound == "maximum" else -1)
            case "minLength" | "maxLength":
                yield "x" * max(value + (1 if bound == "maxLength" else -1), 0)
            case "uniqueItems":
                yield [sample(schema["items"])] * 2
            case "maxItems":
                yield [sample(schema["items"])] * (value + 1)
            case "minItems":
                yield [sample(schema["items"])] * max(value - 1, 0)
            case "enum":
                yield from (str(one).upper() + " " for one in value)
                yield from (f"{one}" for one in value if not isinstance(one, str))
            case "items":
                yield from ([one] for one in (*VALUES, *beyond_bounds(value)))
            case "additionalProperties" if isinstance(value, dict):
                yield from ({"x": one} for one in (*VALUES, *beyond_bounds(value)))
            case "properties":
                yield from invalid_objects(schema)


def invalid_objects(schema: Json) -> Iterator[Json]:
    whole = sample(schema)
    yield {**whole, "surprise": 1}
    for name in whole:
        yield {other: value for other, value in whole.items() if other != name}
    for name, field in schema["properties"].items():
        yield from ({**whole, name: value} for value in (*VALUES, *beyond_bounds(field)))


def invalid_values(schema: Json) -> Iterator[tuple[str, str]]:
    """Invalid values of a field: a name for the case, and the raw JSON."""
    seen = set()
    for value in (*VALUES, *beyond_bounds(schema)):
        text = json.dumps(value)
        if text not in seen and not fits(schema, value):
            seen.add(text)
            yield text if len(text) < 60 else f"{text[:40]}… ({len(text)})", text
