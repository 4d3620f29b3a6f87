"""The reference: OpenAPI 3.1, made from the views, their schemas and the games.."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
import yaml

from api.problems import documents, examples
from api.reference import descriptions, event_schemas
from api.requests import components
from api.requests.blueprint import Api
from service.views.catalogue import AnyGame

TITLE: Final = "Moonstone"
VERSION: Final = "1"
EXAMPLES: Final = Path(__file__).with_name("examples.json")
"""Answers of success from a real run, by operation, status and media type; problems have those of their pages."""
DESCRIPTION: Final = """\
Four board games as an event-sourced service that anyone can check.

Every number is an integer. Answers may gain members and unions may gain types; a client ignores what it does not know.
Every error is a problem document (RFC 9457) whose `code` is stable; each has a page at `/problems/{code}`.
A write on a match may carry an `Idempotency-Key`: sent again with the same key, it is carried out once and answered the
same. Keys are each player's own, and last as long as the match.

How often one may ask is limited, and `RateLimit-Policy` says to what: with a token by the player, without one by the
address and to less. Whoever reads many matches, even finished and public ones, does well to sign up and send a token."""

INFO: Final = {
    "description": DESCRIPTION,
    "contact": {"name": "The operator of this service"},
    "license": {"name": "MIT", "identifier": "MIT"},
}


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: object) -> bool:
        del data
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _represent_text)


def add_components(api: Api, answers: list[type[msgspec.Struct]], games: Mapping[str, AnyGame]) -> None:
    """Put the schemas of all answers and of all games into the reference."""
    found: dict[str, Any] = components.of_games(games)
    found |= components.of_answers([documents.Problem, *answers]) | event_schemas.of_events()
    # Most codes come with members of their own, and linters take silence for a no.
    found["Problem"]["additionalProperties"] = True
    for name, schema in sorted(found.items()):
        api.spec.components.schema(name, schema)


def _unmistakable(value: Any) -> Any:
    """A document without what generators disagree on: something beside a schema's `$ref`, and an object of which nothing
    is said, which is one without members to some.
    """
    match value:
        case {"$ref": str(target)}:
            return {"$ref": target}
        case dict():
            unsaid = value.get("type") == "object" and not value.keys() & {"properties", "additionalProperties"}
            free = {"additionalProperties": True} if unsaid else {}
            return {key: _unmistakable(inner) for key, inner in value.items()} | free
        case list() | tuple():
            return [_unmistakable(inner) for inner in value]
    return value


def _tell_defaults(schema: dict[str, Any]) -> None:
    """Say in words what a property is where it is left out: to generators one that has a `default` is always there."""
    for inner in schema.get("properties", {}).values():
        if "default" in inner:
            default = f"Default: `{msgspec.json.encode(inner.pop('default')).decode()}`."
            inner["description"] = " ".join(filter(None, (inner.get("description"), default)))
        _tell_defaults(inner)


def _add_examples(spec: Mapping[str, Any]) -> None:
    """Put an example into every answer of a body: from a run where it succeeded, else one of each problem that it names."""
    taken: dict[str, Mapping[str, Mapping[str, Any]]] = msgspec.json.decode(EXAMPLES.read_bytes())
    used = {"internal-error"}
    for operation in (one for methods in spec["paths"].values() for one in methods.values() if "responses" in one):
        for status, response in operation["responses"].items():
            for media_type, content in response.get("content", {}).items():
                if media_type == documents.MEDIA_TYPE:
                    codes = re.findall("`([a-z-]+)`", response["description"])
                    content["examples"] = {code: {"$ref": f"#/components/examples/{code}"} for code in codes}
                    used.update(codes)
                elif example := taken.get(operation.get("operationId", ""), {}).get(status, {}).get(media_type):
                    content["examples"] = {"run": example}
    any_problem = spec["components"]["responses"]["Problem"]["content"][documents.MEDIA_TYPE]
    any_problem["examples"] = {"internal-error": {"$ref": "#/components/examples/internal-error"}}
    spec["components"]["examples"] = {code: {"value": examples.example(code)} for code in used}


def document(api: Api) -> dict[str, Any]:
    """The whole reference as a JSON object, in an order that depends on nothing but the code."""
    spec: dict[str, Any] = _unmistakable(api.spec.to_dict())
    order = ("openapi", "info", "servers", "security", "tags", "paths", "components")
    _add_examples(spec)
    spec["components"]["schemas"].pop("PaginationMetadata", None)  # flask-smorest's own, which nothing here uses
    schemas = spec["components"]["schemas"]
    games = tuple(
        components.pascal(game) for game in schemas["Observation"].get("discriminator", {}).get("mapping", ())
    )
    for name, schema in schemas.items():
        descriptions.describe(descriptions.OF_GAMES if name.startswith(games) else descriptions.MEANINGS, name, schema)
        _tell_defaults(schema)
    spec["paths"] = dict(sorted(spec["paths"].items()))
    for operation in (one for methods in spec["paths"].values() for one in methods.values() if "security" in one):
        if {"ticket": []} in operation["security"]:  # which says where it stands
            operation["parameters"] = [one for one in operation["parameters"] if one["name"] != "ticket"]
    spec["components"] = {
        kind: dict(sorted(members.items())) for kind, members in sorted(spec["components"].items()) if members
    }
    return {key: spec[key] for key in order if key in spec}


def render(spec: Mapping[str, Any]) -> str:
    return yaml.dump(spec, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)
