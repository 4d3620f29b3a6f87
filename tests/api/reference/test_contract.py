"""The reference describes requests, responses and the meaning of their members."""

import re
from collections.abc import Iterator
from typing import Any

from api.reference.descriptions import MEANINGS
from service.games.registry import GAMES
from tests.api.checked import reference


def sent_strings(schema: Any, seen: set[str]) -> Iterator[dict[str, Any]]:
    """Every schema of a string, or of a name, in what a body may hold."""
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


def test_a_string_that_is_sent_is_one_of_a_few_or_has_characters_that_strict_json_takes() -> None:
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
    """Component, name and schema of each property that is no word of a game's, and no component of its own."""
    games = tuple(game.title().replace("_", "") for game in GAMES)
    for component, schema in reference()["components"]["schemas"].items():
        if not component.startswith(games):
            yield from properties_of(component, schema)


def properties_of(component: str, schema: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for name, inner in schema.get("properties", {}).items():
        if "$ref" not in inner:
            yield component, name, inner
            yield from properties_of(component, inner)


def test_every_property_and_parameter_that_is_no_game_s_is_described() -> None:
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


def test_the_glossary_has_no_word_that_nothing_is_called() -> None:
    named = {name for _, name, _ in own_properties()} | {
        f"{component}.{name}" for component, name, _ in own_properties()
    }
    assert MEANINGS.keys() - named == set()
