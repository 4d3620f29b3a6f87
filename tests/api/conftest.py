"""A small API for tests: stones, with a list that takes a query, an addition that takes a body, and one route without either."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
import pytest
from flask import Flask, Response
from flask.testing import FlaskClient
from werkzeug.routing import Rule

from api.app import create_app
from api.http.responses import answer
from api.requests import strict_fields
from api.requests.blueprint import Blueprint
from events.feed import Feed
from service.adapters.memory import local_ports
from service.errors import Refused
from service.games.registry import GAMES
from service.repository.ports import Player, Ports, digest_of
from service.settings import Settings, read
from service.usecases import accounts

ANNA: Final = Player("pl_anna", "Anna", 0)
TOKEN: Final = f"{accounts.PREFIX}{'A' * 43}{accounts._check('A' * 43)}"
"""Anna's token, valid in every `Container`."""


def settings(**wanted: Any) -> Settings:
    """The settings of these tests, with some replaced."""
    return replace(read({}), **{"cors_origins": ("*",), **wanted})


class Container:
    """A container of all use cases with a log in memory."""

    def __init__(self, wanted: Settings | None = None, ports: Ports | None = None) -> None:
        self.settings = wanted or settings()
        self.feed = Feed()
        self.ports = ports or local_ports(GAMES, wake=self.feed.wake)
        self.ports.accounts.add(ANNA, digest_of(TOKEN))

    def readiness(self) -> tuple[str, ...]:
        return ()

    def clock_fault(self) -> str | None:
        return None

    def warnings(self) -> tuple[str, ...]:
        return ()


Builder: TypeAlias = Callable[..., tuple[str, str]]
_compile_builder: Final = Rule._compile_builder
_builders: Final[dict[object, Builder]] = {}


def _builder(rule: Rule, append_unknown: bool = True) -> Builder:
    key = (rule.rule, str(rule.defaults), tuple(rule._trace), append_unknown)
    if key not in _builders:
        _builders[key] = _compile_builder(rule, append_unknown)
    return _builders[key]


@pytest.fixture(scope="session", autouse=True)
def compiled_once() -> Iterator[None]:
    """Compile the functions that build the URLs of a route once, and not for the app of each test, where it takes most time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Rule, "_compile_builder", _builder)
        yield


class AddStoneSchema(strict_fields.Schema):
    name = strict_fields.String(20, shortest=1, required=True)
    weight = strict_fields.Integer(0, 100)
    round = strict_fields.Boolean()
    colours = strict_fields.List(strict_fields.Choice("red", "blue"), 3)
    where = strict_fields.Object(component="Action")


class Stone(msgspec.Struct, frozen=True):
    """A stone."""

    name: str
    weight: int = 1


class Stones(msgspec.Struct, frozen=True):
    """Stones."""

    stones: tuple[Stone, ...]
    limit: int


def small_api() -> Blueprint:
    stones = Blueprint("stones", description="Stones.")

    @stones.at("/v1/stones")
    @stones.takes(strict_fields.PageSchema, location="query")
    @stones.answers_with(200, Stones, description="A page of stones.")
    def list_stones(query: Mapping[str, Any]) -> Response:
        """List stones."""
        return answer(Stones((Stone("moonstone"),), query["limit"]))

    @stones.at("/v1/stones", methods=["POST"])
    @stones.knows_caller(required=True, scope="play")
    @stones.takes(AddStoneSchema)
    @stones.answers_with(201, Stone, description="The stone.")
    @stones.refuses("match-full")
    def add_stone(body: Mapping[str, Any]) -> Response:
        """Add a stone."""
        if body["name"] == "boulder":
            raise Refused("match-full", "No room.", room=0)
        return answer(Stone(body["name"]), 201)

    @stones.at("/v1/stones/polish", methods=["POST"])
    @stones.answers_with(200, Stones, description="All stones.")
    def polish() -> Response:
        """Polish all stones."""
        return answer(Stones((), 0))

    return stones


@pytest.fixture
def app() -> Flask:
    return create_app(Container(), resources=(small_api(),))


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


class Problem(NamedTuple):
    """The problem document of a response, after a check of the members that all problems have."""

    status: int
    code: str
    document: dict[str, Any]


def problem(response: Any) -> Problem:
    assert response.content_type == "application/problem+json"
    document = msgspec.json.decode(response.get_data(), type=dict[str, Any])
    assert document["status"] == response.status_code
    assert document["instance"] == f"urn:uuid:{response.headers['X-Request-Id']}"
    assert document["type"] in {f"/problems/{document['code']}", "about:blank"}
    assert document["title"]
    assert document["detail"]
    return Problem(response.status_code, document["code"], document)
