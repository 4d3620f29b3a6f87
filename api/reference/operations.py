"""The operations of the reference: apispec writes them from what the views declare."""

import inspect
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import marshmallow as ma
from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin

from api.problems import documents
from api.problems.types import PROBLEM_TYPES
from api.requests.blueprint import Blueprint, Operation, Route
from api.requests.components import PREFIX
from api.requests.request_headers import parameter
from api.requests.strict_fields import Object

WRITE_PROBLEMS: Final = ("request-timeout", "unsupported-media-type", "invalid-request")
"""Problems of every POST and PATCH, also of one without a body, since it refuses a body."""
EVERYWHERE: Final = (
    "bad-request",
    "body-too-large",
    "bad-host",
    "token-invalid",
    "rate-limited",
    "invalid-parameter",
)
_PATH_PARAMETER: Final = re.compile("<([a-z_]+)>")


def specification(title: str, version: str, info: Mapping[str, Any], resources: Iterable[Blueprint]) -> APISpec:
    """A specification with all operations of the resources, and the schemas of their inputs."""
    schemas = MarshmallowPlugin()
    spec = APISpec(title, version, "3.1.0", plugins=[schemas], info=info, servers=[{"url": "/"}])
    converter: Any = schemas.converter  # APISpec has just created it
    converter.add_attribute_function(_component_of)
    spec.components.response("Problem", _problem_response("Any other problem; `code` says which."))
    for resource in resources:
        spec.tag({"name": resource.name, "description": resource.description})
        for route in resource.routes:
            spec.path(
                _PATH_PARAMETER.sub(r"{\1}", route.rule),
                operations={route.method.lower(): _operation(route, resource.name)},
                parameters=[_path_parameter(name) for name in _PATH_PARAMETER.findall(route.rule)],
            )
    return spec


def _operation(route: Route, tag: str) -> dict[str, Any]:
    operation = route.operation
    summary, _, description = (inspect.getdoc(route.view) or "").partition("\n\n")
    description = "\n\n".join(filter(None, (description, _scope_needed(operation))))
    inputs: dict[str, Any] = {}
    parameters: list[Mapping[str, Any]] = []
    for given in operation.inputs:
        if given.location == "json":
            content = {"application/json": {"schema": given.schema}}
            inputs["requestBody"] = {"required": given.required, "content": content}
        else:
            parameters.append({"in": given.location, "required": given.required, "schema": given.schema})
    parameters += [parameter(header) for header in operation.headers]
    return {
        **({"parameters": parameters} if parameters else {}),
        **inputs,
        "responses": _responses(operation, _problems_of(operation, route.method)),
        "operationId": route.view.__name__,
        "security": _security(operation),
        "summary": summary,
        **({"description": description} if description else {}),
        "tags": [tag],
    }


def _scope_needed(operation: Operation) -> str:
    if operation.scope is None:
        return ""
    return f"{'The' if operation.needs_token else 'If a token is sent, the'} token needs the scope `{operation.scope}`."


def _path_parameter(name: str) -> dict[str, Any]:
    return {"in": "path", "name": name, "required": True, "schema": {"type": "string", "minLength": 1}}


def _security(operation: Operation) -> list[dict[str, list[str]]]:
    """The accepted credentials, with the scope that they need (OpenAPI 3.1, 4.8.30: role names of a scheme)."""
    scopes: list[str] = [] if operation.scope is None else [operation.scope]
    schemes: list[dict[str, list[str]]] = []
    if operation.knows_caller:
        schemes.append({"bearer": scopes})
    if operation.takes_ticket:
        schemes.append({"ticket": scopes})
    if operation.knows_caller and not operation.needs_token:
        schemes.append({})
    return schemes


def _responses(operation: Operation, codes: Iterable[str]) -> dict[str, Any]:
    responses: dict[str, dict[str, Any]] = {}
    for one in operation.answers:
        response = responses.setdefault(str(one.status), {"description": one.description})
        if one.headers is not None:
            response["headers"] = one.headers
        if one.schema is not None:
            response.setdefault("content", {})[one.media_type] = {"schema": one.schema}
    for status, operations in operation.links.items():
        links = {name: {"operationId": name, "parameters": dict(wanted)} for name, wanted in operations.items()}
        responses[str(status)]["links"] = links
    by_status: dict[str, list[str]] = {}
    for code, kind in PROBLEM_TYPES.items():
        if code in codes:
            by_status.setdefault(str(kind.status), []).append(f"`{code}`")
    responses |= {status: _problem_response(", ".join(named)) for status, named in sorted(by_status.items())}
    responses["default"] = {"$ref": PREFIX.replace("schemas", "responses") + "Problem"}
    return responses


def _problems_of(operation: Operation, method: str) -> set[str]:
    codes = {*operation.problems, *EVERYWHERE}
    if method != "GET":
        codes.add("clock-wrong")
    if method in {"POST", "PATCH"}:
        codes.update(WRITE_PROBLEMS)
    if "json" in operation.takes:
        codes.add("bad-json")
    if operation.needs_token:
        codes.add("token-missing")
    if operation.scope is not None:
        codes.add("scope-missing")
    if operation.takes_ticket:
        codes.add("ticket-invalid")
    if "Idempotency-Key" in operation.headers:
        codes.add("idempotency-key-invalid")
    return codes


def _problem_response(description: str) -> dict[str, Any]:
    return {"description": description, "content": {documents.MEDIA_TYPE: {"schema": {"$ref": PREFIX + "Problem"}}}}


def _component_of(_: object, field: ma.fields.Field[Any], **__: object) -> dict[str, str]:
    """The schema that apispec writes for an Object field: a reference to its component."""
    if not isinstance(field, Object):
        return {}
    return {"$ref": PREFIX + field.component} if field.component else {"type": "object"}
