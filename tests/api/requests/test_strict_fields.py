"""Strict fields accept one JSON type within bounds, and every schema of the app consists of them."""

import re
from collections.abc import Iterator
from typing import Any

import marshmallow as ma
import pytest
from marshmallow import fields

from api.app import RESOURCES
from api.requests import strict_fields
from api.requests.blueprint import Blueprint
from service.match import chosen_text
from tests.api.conftest import small_api

OURS = (
    strict_fields.Integer,
    strict_fields.Boolean,
    strict_fields.String,
    strict_fields.Name,
    strict_fields.Choice,
    strict_fields.List,
    strict_fields.Object,
    strict_fields.Flag,
    fields.Nested,
)


def loose(schema: ma.Schema, path: str) -> Iterator[str]:
    """The paths of fields that are not strict, and of schemas that accept unknown fields."""
    if schema.unknown != ma.RAISE:
        yield path
    for name, field in schema.fields.items():
        yield from loose_field(field, f"{path}/{name}")


def loose_field(field: fields.Field[Any], path: str) -> Iterator[str]:
    if not isinstance(field, OURS) or (isinstance(field, fields.Nested) and field.many):
        yield path
    elif isinstance(field, fields.Nested):
        yield from loose(field.schema, path)
    elif isinstance(field, strict_fields.List):
        yield from loose_field(field.inner, f"{path}/*")


def schemas_of(blueprint: Blueprint) -> Iterator[ma.Schema]:
    return (given.schema for route in blueprint.routes for given in route.operation.inputs)


@pytest.mark.parametrize("blueprint", [*RESOURCES, small_api()], ids=lambda blueprint: blueprint.name)
def test_every_schema_is_strict(blueprint: Blueprint) -> None:
    assert [path for schema in schemas_of(blueprint) for path in loose(schema, type(schema).__name__)] == []


class Loose(ma.Schema):
    number = fields.Integer()
    switch = fields.Boolean()
    text = fields.String()
    items = fields.List(fields.Integer())
    inner = strict_fields.List(fields.String(), 3)
    raw = fields.Raw()

    class Meta:
        unknown = ma.INCLUDE


def test_the_check_finds_every_loose_field() -> None:
    names = ["", "/number", "/switch", "/text", "/items", "/inner/*", "/raw"]
    assert list(loose(Loose(), "Loose")) == ["Loose" + name for name in names]


FIELDS: dict[str, tuple[fields.Field[Any], list[object], list[object]]] = {
    "integer": (
        strict_fields.Integer(1, 5),
        [1, 5],
        [0, 6, 10**30, "3", 3.0, True, False, None, [], {}, "٣", " 3 ", "3_0"],
    ),
    "boolean": (strict_fields.Boolean(), [True, False], [0, 1, "true", "yes", "on", None, [], {}]),
    "string": (
        strict_fields.String(5, shortest=1),
        ["a", "ä€😀", "     "],
        ["", "abcdef", 5, None, [], "a\n", "a\x00", "\x7f", "\x85", "\u2028", "\ud800"],
    ),
    "name": (strict_fields.Name(), ["Ada", "👩‍💻"], ["", " ", "x" * 41, " " * 40 + "x", "\u200b", 5, None, [], "a\n"]),
    "pattern": (strict_fields.String(5, pattern="[a-z]+"), ["abc"], ["", "aB", "a1", "abc\n", "ä"]),
    "choice": (strict_fields.Choice("red", "blue"), ["red"], ["Red", "", 1, None, ["red"]]),
    "list": (
        strict_fields.List(strict_fields.Integer(0), 2, shortest=1),
        [[1], [1, 2]],
        [[], [1, 2, 3], "12", {"0": 1}, 1, None, [None]],
    ),
    "unique": (
        strict_fields.List(strict_fields.Integer(0), 3, unique=True),
        [[], [1], [1, 2]],
        [[1, 1], [1, 2, 1], [-1, -1]],
    ),
    "object": (strict_fields.Object(), [{}, {"a": [1]}], [[], "", 1, None, True]),
    "decimal": (
        strict_fields.DecimalInteger(0, 20),
        ["0", "20"],
        ["21", "-1", "+1", "01", "1.0", "", " 1", "٣", "9" * 400, 1],
    ),
    "flag": (strict_fields.Flag(), ["true", "false"], ["True", "1", "", "yes", True]),
}


@pytest.mark.parametrize(("field", "good", "bad"), FIELDS.values(), ids=FIELDS.keys())
def test_a_field_accepts_only_its_own_type(field: fields.Field[Any], good: list[object], bad: list[object]) -> None:
    for value in good:
        accepted = field.deserialize(value)
        assert accepted == value or str(accepted).lower() == value
    for value in bad:
        with pytest.raises(ma.ValidationError):
            field.deserialize(value)


def test_a_list_that_is_too_long_is_refused_before_its_items_are_read() -> None:
    with pytest.raises(ma.ValidationError) as refusal:
        strict_fields.List(strict_fields.Integer(0), 3).deserialize(["x"] * 5000)
    assert len(str(refusal.value.messages)) < 100


def test_the_api_the_audit_and_the_reference_accept_the_same_client_seeds() -> None:
    field = strict_fields.String(64, shortest=1)
    pattern = re.compile(field.metadata["pattern"])
    differing = []
    for character in map(chr, (*range(0xD800), *range(0xE000, 0x10000), 0x1F411)):
        is_refused = strict_fields._CONTROL.search(character) is not None
        if (chosen_text.IN_FORMAT_1.fullmatch(character) is None) != is_refused or (
            pattern.fullmatch(character) is None
        ) != is_refused:
            differing.append(character)
    assert differing == []
    assert [one for one in "a\u202eb\u2066\x85\x00" if strict_fields._CONTROL.search(one)] == list(
        "\u202e\u2066\x85\x00"
    )
