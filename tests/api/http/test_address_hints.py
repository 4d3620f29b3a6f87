"""A response for an unknown address has a hint about its form."""

from typing import Final

import pytest

from tests.api.checked import Client
from tests.api.conftest import problem

TWO: Final = "Two slashes follow each other"
LAST: Final = "Leave out the slash at the end"
UNFILLED: Final = "the client did not fill a variable in"
SMALL: Final = "lower-case letters only"


@pytest.fixture(scope="module")
def client() -> Client:
    return Client(hasty=True)


@pytest.mark.parametrize(
    ("path", "code", "expected"),
    [
        ("/v1/matches/", "not-found", LAST),
        ("/v1/games/ape_town/", "not-found", LAST),
        ("/v1/matches/x/events/", "not-found", LAST),
        ("/v1//matches", "not-found", TWO),
        ("/v1/matches//events", "not-found", TWO),
        ("/v1/matches/undefined", "match-not-found", UNFILLED),
        ("/v1/matches/undefined/events", "match-not-found", UNFILLED),
        ("/v1/matches/null/legal-actions", "match-not-found", UNFILLED),
        ("/v1/matches/None", "match-not-found", UNFILLED),
        ("/v1/matches/[object Object]", "match-not-found", UNFILLED),
        ("/v1/matches/{id}", "match-not-found", UNFILLED),
        ("/v1/matches/%7Bid%7D", "match-not-found", UNFILLED),
        ("/v1/matches/${match}/events", "match-not-found", UNFILLED),
        ("/v1/matches/:id", "match-not-found", UNFILLED),
        ("/v1/matches/$match", "match-not-found", UNFILLED),
        ("/v1/matches/%25s", "match-not-found", UNFILLED),
        ("/v1/matches/<match_id>", "match-not-found", UNFILLED),
        ("/v1/games/{game}", "game-not-found", UNFILLED),
        ("/v1/Matches", "not-found", SMALL),
        ("/V1/matches", "not-found", SMALL),
        ("/v1/matches/ABCDEFGHIJKLMNOPQRSTUVWXYZ", "match-not-found", SMALL),
        ("/v1/games/Ape_Town", "game-not-found", SMALL),
        ("/problems/Match-Full", "not-found", SMALL),
    ],
)
def test_the_answer_says_what_is_odd_about_the_address(client: Client, path: str, code: str, expected: str) -> None:
    said = problem(client.get(path))
    assert said.code == code
    assert expected in said.document["detail"]


@pytest.mark.parametrize("path", ["/v1/nothing", "/v1/matches/abcdefghijklmnopqrstuvwxyz", "/v1/games/chess", "/x"])
def test_where_nothing_is_odd_nothing_is_added(client: Client, path: str) -> None:
    detail = problem(client.get(path)).document["detail"]
    assert not any(one in detail for one in (TWO, LAST, UNFILLED, SMALL))


def test_an_address_without_a_route_is_answered_with_where_the_routes_are_listed(client: Client) -> None:
    assert "/docs" in problem(client.get("/v1")).document["detail"]


def test_a_long_address_is_quoted_in_part(client: Client) -> None:
    assert len(problem(client.get("/v1/matches/{" + "x" * 1000 + "}")).document["detail"]) < 300
