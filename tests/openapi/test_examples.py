"""Every response in the reference has an example, recorded in a run of the service."""

from typing import Any, Final

import msgspec
import pytest

from api.problems import examples
from api.problems.documents import MEDIA_TYPE
from api.problems.types import PROBLEM_TYPES
from api.reference import openapi
from tests.api.checked import reference, validator
from tests.openapi.examples import collect, collect_problems, render


def contents() -> list[tuple[str, str, str, dict[str, Any]]]:
    """Operation, status, media type and content of every answer in the reference."""
    return [
        (operation["operationId"], status, media_type, content)
        for methods in reference()["paths"].values()
        for operation in methods.values()
        if isinstance(operation, dict)
        for status, response in operation["responses"].items()
        for media_type, content in response.get("content", {}).items()
    ]


def test_the_committed_examples_are_those_of_a_run() -> None:
    assert openapi.EXAMPLES.read_bytes() == render(collect()), "make openapi"
    assert examples.RECORDED.read_bytes() == render(collect_problems()), "make openapi"


NOT_RECORDED: Final = {
    "bad-request": "needs a client that closes its connection",
    "bad-host": "answered before the route is known",
    "request-timeout": "takes five seconds",
    "forbidden": "there are no scopes yet",
    "too-many-streams": "needs a server whose streams stay open",
    "match-not-suspended": "only `moonstone resume` gets it",
    "too-early": "needs exact timing",
    "too-late": "needs exact timing",
    "version-conflict": "needs simultaneous commands",
    "match-corrupt": "a fault of the store",
    "ratings-corrupt": "a fault of the store",
    "engine-too-old": "a fault of the store",
    "not-ready": "a fault of the store",
    "internal-error": "an unexpected fault",
}
"""Codes without a recorded example, with the reason. Codes `store-…` have none either."""


def test_every_other_problem_has_a_recorded_example() -> None:
    recorded = msgspec.json.decode(examples.RECORDED.read_bytes()).keys()
    rest = PROBLEM_TYPES.keys() - recorded
    assert {code for code in rest if not code.startswith("store-")} == NOT_RECORDED.keys()
    assert examples.FACTS.keys() <= rest


def test_every_answer_has_an_example() -> None:
    assert [where for *where, content in contents() if not content.get("examples")] == []


def test_every_documented_code_has_an_example_with_its_status() -> None:
    for operation, status, media_type, content in contents():
        if media_type == MEDIA_TYPE:
            for code, example in content["examples"].items():
                assert example == {"$ref": f"#/components/examples/{code}"}
                assert str(reference()["components"]["examples"][code]["value"]["status"]) == status, operation


@pytest.mark.parametrize(
    ("operation", "media_type", "content"),
    [(name, media_type, content) for name, _, media_type, content in contents() if media_type != MEDIA_TYPE],
)
def test_an_example_is_valid_by_its_schema(operation: str, media_type: str, content: dict[str, Any]) -> None:
    (example,) = content["examples"].values()
    value = msgspec.json.decode(msgspec.json.encode(example["value"]))
    validator(content["schema"]).validate(value)
    if media_type == "text/event-stream":
        data = content["schema"]["anyOf"][1]["properties"]["data"]["contentSchema"]
        validator(data).validate(msgspec.json.decode(value["data"]))
    assert operation
