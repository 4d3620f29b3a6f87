"""The reference describes requests, responses and the meaning of their members."""

import re
from collections.abc import Iterator
from typing import Any

from api.reference.descriptions import MEANINGS
from service.games.registry import GAMES
from tests.api.checked import reference


def sent_strings(schema: Any, seen: set[str]) -> Iterator[dict[str, Any]]:
    """The schema of every string, and of every property name, that a request body may contain."""
    match schema:
        case {"$ref": str(target)}:
            if target not in seen:
                seen.add(target)
                yield from sent_strings(reference()["components"]["schemas"][target.rpartition("/")[2]], seen)
        case dict():
            if schema.get("type") == "string":
                yield schema
            for name, inner in schema.items():
                if name == "propertyNames":
                    assert inner.get("type") == "string"
                yield from sent_strings(inner, seen)
        case list():
            for inner in schema:
                yield from sent_strings(inner, seen)


def test_every_string_of_a_body_is_an_enum_or_excludes_characters_that_strict_json_refuses() -> None:
    bodies = [
        operation["requestBody"]
        for methods in reference()["paths"].values()
        for operation in methods.values()
        if isinstance(operation, dict) and "requestBody" in operation
    ]
    strings = [schema for body in bodies for schema in sent_strings(body, set()) if "enum" not in schema]
    assert len(strings) > 20
    assert [schema for schema in strings if re.search(schema.get("pattern", ""), "a\0a")] == []


def own_properties() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Component, name and schema of each inline property, without those of the games."""
    games = tuple(game.title().replace("_", "") for game in GAMES)
    for component, schema in reference()["components"]["schemas"].items():
        if not component.startswith(games):
            yield from properties_of(component, schema)


def properties_of(component: str, schema: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for name, inner in schema.get("properties", {}).items():
        if "$ref" not in inner:
            yield component, name, inner
            yield from properties_of(component, inner)


def test_every_property_and_parameter_outside_the_games_is_described() -> None:
    properties = list(own_properties())
    assert len(properties) > 200
    assert [f"{component}.{name}" for component, name, schema in properties if not schema.get("description")] == []
    parameters = [
        (operation["operationId"], parameter)
        for methods in reference()["paths"].values()
        for operation in methods.values()
        if isinstance(operation, dict)
        for parameter in operation.get("parameters", ())
    ]
    assert [
        (operation, parameter["name"])
        for operation, parameter in parameters
        if not parameter.get("description") and parameter["in"] != "path"
    ] == []


def test_the_descriptions_have_no_unused_entry() -> None:
    named = {name for _, name, _ in own_properties()} | {
        f"{component}.{name}" for component, name, _ in own_properties()
    }
    assert MEANINGS.keys() - named == set()
