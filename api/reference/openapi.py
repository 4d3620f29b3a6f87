"""The OpenAPI 3.1 reference, generated from the views, their schemas and the games."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import yaml

try:
    from yaml import CSafeDumper as SafeDumper
except ImportError:  # PyYAML was built without LibYAML
    from yaml import SafeDumper  # type: ignore[assignment]

from api.problems import documents, examples
from api.reference import descriptions, event_schemas, operations, webhook_section
from api.requests import components
from api.requests.blueprint import Blueprint
from service.views.catalogue import AnyGame

TITLE: Final = "Moonstone"
VERSION: Final = "1"
EXAMPLES: Final = Path(__file__).with_name("examples.json")
"""Successful responses of a test run, by operation, status and media type."""
DESCRIPTION: Final = """\
Four board games as an event-sourced service whose matches anyone can verify.

Every number is an integer. Answers may get new members and unions may get new types: ignore what you do not know.
Every error is a problem document (RFC 9457) with a stable `code`; each code has a page at `/problems/{code}`.
A write on a match may have an `Idempotency-Key`: a request that is repeated with the same key is carried out once and gets
the same answer. Each player has its own keys, and a key is valid as long as the match exists. Seeks, bots and webhooks are
created in the same way.

Requests are limited: with a token by player, without a token by address. `RateLimit-Policy` states the limit. Send a token
when you read many matches, even public ones: the limit is higher."""

INFO: Final = {
    "description": DESCRIPTION,
    "contact": {"name": "The operator of this service"},
    "license": {"name": "MIT", "identifier": "MIT"},
}
SECURITY: Final = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "A player's token; POST /v1/players creates one."},
    "ticket": {
        "type": "apiKey",
        "in": "query",
        "name": "ticket",
        "description": "A ticket for one stream; POST /v1/stream-tickets creates one for clients that cannot send headers.",
    },
}


class _Dumper(SafeDumper):
    def ignore_aliases(self, data: object) -> bool:
        del data
        return True


def _represent_text(dumper: SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _represent_text)


def _components(resources: Sequence[Blueprint], games: Mapping[str, AnyGame]) -> dict[str, Any]:
    """The schemas of all answers, events and games."""
    shapes = [one.shape for resource in resources for route in resource.routes for one in route.operation.answers]
    frames = [frame for resource in resources for frame in resource.frames]
    answers = dict.fromkeys(shape for shape in (*shapes, *frames) if isinstance(shape, type))
    found: dict[str, Any] = components.of_games(games)
    found |= components.of_answers([documents.Problem, *answers]) | event_schemas.of_events()
    # Most codes have additional members, and linters assume that none are allowed unless the schema says so.
    found["Problem"]["additionalProperties"] = True
    return found


def _unmistakable(value: Any) -> Any:
    """Remove what code generators interpret differently: members beside a `$ref`, and objects without any members stated."""
    match value:
        case {"$ref": str(target)}:
            return {"$ref": target}
        case dict():
            unspecified = value.get("type") == "object" and not value.keys() & {"properties", "additionalProperties"}
            free = {"additionalProperties": True} if unspecified else {}
            return {key: _unmistakable(inner) for key, inner in value.items()} | free
        case list() | tuple():
            return [_unmistakable(inner) for inner in value]
    return value


def _describe_defaults(schema: dict[str, Any]) -> None:
    """Move defaults into descriptions: code generators expect a property with a `default` to be always present."""
    for inner in schema.get("properties", {}).values():
        if "default" in inner:
            default = f"Default: `{msgspec.json.encode(inner.pop('default')).decode()}`."
            inner["description"] = " ".join(filter(None, (inner.get("description"), default)))
        _describe_defaults(inner)


def _add_examples(spec: Mapping[str, Any]) -> None:
    """Add examples to all responses with a body: recorded ones to successes, and one for each problem code to problems."""
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


def document(resources: Sequence[Blueprint], games: Mapping[str, AnyGame]) -> dict[str, Any]:
    """The whole reference as a JSON object, in a deterministic order."""
    described = operations.specification(TITLE, VERSION, INFO, resources)
    for name, scheme in SECURITY.items():
        described.components.security_scheme(name, scheme)
    for name, schema in sorted(_components(resources, games).items()):
        described.components.schema(name, schema)
    spec: dict[str, Any] = _unmistakable(described.to_dict())
    order = ("openapi", "info", "servers", "security", "tags", "paths", "webhooks", "components")
    _add_examples(spec)
    schemas = spec["components"]["schemas"]
    of_games = tuple(components.pascal(game) for game in games)
    for name, schema in schemas.items():
        descriptions.describe(
            descriptions.OF_GAMES if name.startswith(of_games) else descriptions.MEANINGS, name, schema
        )
        _describe_defaults(schema)
    spec["paths"] = dict(sorted(spec["paths"].items()))
    for operation in (one for methods in spec["paths"].values() for one in methods.values() if "security" in one):
        if any("ticket" in scheme for scheme in operation["security"]):  # the security scheme describes the parameter
            operation["parameters"] = [one for one in operation["parameters"] if one["name"] != "ticket"]
    spec["components"] = {
        kind: dict(sorted(members.items())) for kind, members in sorted(spec["components"].items()) if members
    }
    spec["webhooks"] = webhook_section.section()
    return {key: spec[key] for key in order if key in spec}


def render(spec: Mapping[str, Any]) -> str:
    return yaml.dump(spec, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)
