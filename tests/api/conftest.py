"""A small API for tests: stones, with a list that takes a query, an addition that takes a body, and one route without either."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Final, NamedTuple

import msgspec
import pytest
from flask import Flask, Response
from flask.testing import FlaskClient

from api.app import RESOURCES, App, create_app
from api.http.context import Container as AnyContainer
from api.http.responses import answer
from api.requests import strict_fields
from api.requests.blueprint import Blueprint
from api.resources import docs
from events.feed import Feed
from service.adapters.memory import local_ports
from service.errors import Refused
from service.games.registry import GAMES
from service.repository.ports import Player, Ports, digest_of
from service.settings import Settings, read
from tests.api.raw_parts import TOKEN as TOKEN

ANNA: Final = Player("pl_anna", "Anna", 0)
"""The player whose token is `TOKEN`, in every `Container`."""


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


@cache
def _routed(resources: tuple[Blueprint, ...]) -> App:
    return create_app(Container(), resources=resources)


def app_of(container: AnyContainer, resources: tuple[Blueprint, ...] = tuple(RESOURCES)) -> App:
    """The app of a container. It shares the routes and the reference of one app: to add the routes takes longer than most tests."""
    if container.ports.games is not GAMES:
        return create_app(container, resources=resources)
    app, routed = create_app(container, resources=()), _routed(resources)
    app.url_map, app.view_functions, app.blueprints = routed.url_map, routed.view_functions, routed.blueprints
    app.extensions[docs.REFERENCE] = routed.extensions[docs.REFERENCE]
    return app


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


SMALL: Final = (small_api(),)


@pytest.fixture
def app() -> Flask:
    return app_of(Container(), SMALL)


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
